"""Vectors mask what differs between lines that say the same: the ids and digits in them, on the bytes of many lines at once."""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa

from forensics.parsers.json_lines import ERROR_LEVEL_NEEDLES
from forensics.parsers.mentions import SEND_NEEDLE
from forensics.streams.shapes import OTHER_ID, SEND

_LINES_AT_ONCE = 8_192
"""What so many hold stays in a processor's own memory."""
_DIGITS = bytes.maketrans(b"0123456789", b"0" * 10)
_HEX = b"0123456789abcdefABCDEF"
_AS_HEX = bytes(ord("h") if byte in _HEX else ord("-") if byte == ord("-") else 0 for byte in range(256))
_ID = b"hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh"
_ID_LENGTH = len(_ID)
_AS_ID = np.frombuffer(OTHER_ID.encode(), np.uint8)
_HEX_OR_DASH = _HEX.decode() + "-"
_AS_ZEROS = str.maketrans("123456789", "0" * 9)
_KEPT = {needle.encode(): np.frombuffer(needle.encode(), np.uint8) for needle in ERROR_LEVEL_NEEDLES}
_KEPT[SEND_NEEDLE.encode()] = np.frombuffer(SEND.encode(), np.uint8)
_NEEDLES_KEPT = 10_000
_MASKED_NEEDLE = SEND_NEEDLE.translate(_AS_ZEROS)


class Shapes(NamedTuple):
    """The shapes of some lines: ``texts`` has each once, ``of_lines`` says for each line which is its own (null for null)."""

    texts: pl.Series
    of_lines: pl.Series


def shapes_of(lines: pl.Series) -> Shapes:
    """Return the shapes of lines."""
    known: dict[str, int] = {}
    parts = [pl.Series([], dtype=pl.UInt32)]
    there = lines.drop_nulls()  # what is null still has its bytes, and they would be masked, too
    for first in range(0, len(there), _LINES_AT_ONCE):
        shapes = masked(there.slice(first, _LINES_AT_ONCE))
        texts = shapes.unique()
        numbers = pl.Series([known.setdefault(text, len(known)) for text in texts], dtype=pl.UInt32)
        parts.append(numbers.gather(shapes.cast(pl.Enum(texts)).to_physical()))
    found = pl.concat(parts)
    if len(there) < len(lines):
        is_there = lines.is_not_null()
        found = found.gather(pl.select(pl.when(is_there).then(is_there.cum_sum() - 1)).to_series())
    return Shapes(pl.Series(list(known), dtype=pl.String), found)


def masked(lines: pl.Series) -> pl.Series:
    """Return texts with each id as ``OTHER_ID``, the needle of sends as ``SEND``, and every digit but an error level's as 0; lengths stay.

    >>> masked(pl.Series(["pay_17 é", "did 8C0FEE00-0000-4000-8000-000000000001!"])).to_list()
    ['pay_00 é', 'did ffffffff-ffff-ffff-ffff-ffffffffffff!']
    >>> masked(pl.Series(['{"level":50,"time":17}', '{"level":30,"time":17}'])).to_list()
    ['{"level":50,"time":00}', '{"level":00,"time":00}']
    """
    array = lines.rechunk().to_arrow().cast(pa.large_string())
    validity, offsets, data = array.buffers()
    if data is None:
        return lines
    borders = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    raw = data.to_pybytes()
    text = np.frombuffer(bytearray(raw.translate(_DIGITS)), np.uint8)
    _overwrite(text, _ids_in(text, borders), _AS_ID)
    for needle, kept in _KEPT.items():
        if needle in raw:
            places = _places_of(needle, raw)
            _overwrite(text, places[_are_inside(places, len(needle), borders)], kept)
    same = pa.LargeStringArray.from_buffers(len(array), offsets, pa.py_buffer(text), validity, -1, array.offset)
    return pl.Series(lines.name, pl.from_arrow(same))


def _ids_in(text: np.ndarray, borders: np.ndarray) -> np.ndarray:
    """Return where ids begin, as one pattern that goes from left to right would find them."""
    dashes = np.flatnonzero(text == ord("-"))
    if len(dashes) < 4:
        return dashes[:0]
    first = dashes[:-3]
    is_spaced = (dashes[1:-2] - first == 5) & (dashes[2:-1] - first == 10) & (dashes[3:] - first == 15)
    begins = first[is_spaced] - 8
    begins = begins[_are_inside(begins, _ID_LENGTH, borders)]
    windows = np.lib.stride_tricks.sliding_window_view(text, _ID_LENGTH)[begins] if len(begins) else begins
    begins = begins[np.frombuffer(windows.tobytes().translate(_AS_HEX), f"S{_ID_LENGTH}") == _ID]
    if (np.diff(begins) >= _ID_LENGTH).all():
        return begins
    kept = [-_ID_LENGTH]
    for begin in begins.tolist():  # ids that share characters: the first of them is one
        if begin - kept[-1] >= _ID_LENGTH:
            kept.append(begin)
    return np.array(kept[1:])


def _places_of(needle: bytes, text: bytes) -> np.ndarray:
    found = [text.find(needle)]
    while found[-1] >= 0:
        found.append(text.find(needle, found[-1] + len(needle)))
    return np.array(found[:-1])


def _are_inside(begins: np.ndarray, length: int, borders: np.ndarray) -> np.ndarray:
    """Tell what begins and ends within one line."""
    line = np.searchsorted(borders, begins, "right")
    return (line > 0) & (line < len(borders)) & (begins + length <= borders[np.minimum(line, len(borders) - 1)])


def _overwrite(text: np.ndarray, begins: np.ndarray, with_what: np.ndarray) -> None:
    if len(begins):
        np.lib.stride_tricks.sliding_window_view(text, len(with_what), writeable=True)[begins] = with_what


def hold_any(shapes: pl.Series, needles: Iterable[str]) -> pl.Series:
    """Tell of shapes whether a line of theirs may hold one of some texts; surely not where this is false."""
    wanted = sorted({form for needle in needles for form in _in_shapes(needle)})
    return shapes.str.replace_all(SEND, _MASKED_NEEDLE, literal=True).str.contains_any(wanted)


@lru_cache(maxsize=_NEEDLES_KEPT)
def _in_shapes(needle: str) -> frozenset[str]:
    """Return what stands in shapes for a text that is not empty: itself, masked, or what of it stands outside of an id."""
    behind = len(needle) - len(needle.lstrip(_HEX_OR_DASH))
    before = len(needle) - len(needle.rstrip(_HEX_OR_DASH))
    if behind == len(needle):
        return frozenset((needle.translate(_AS_ZEROS), OTHER_ID))
    cuts = [(first, last) for first in range(behind + 1) for last in range(before + 1)]
    outside = masked(pl.Series([needle[first : len(needle) - last] for first, last in cuts]))
    found = set()
    for (first, last), form in zip(cuts, outside, strict=True):  # what an id took, no other one takes
        ids = OTHER_ID[-12:] * bool(first), OTHER_ID[:9] * bool(last)
        found.add(f"{ids[0]}{form}{ids[1]}".replace(SEND, _MASKED_NEEDLE))
    return frozenset(found)
