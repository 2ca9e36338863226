"""JSON paths as the settings file takes them, ``$.order.ids[0]``: the one reader for bodies, log lines and marks."""

import json
import re
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any

import msgspec

from forensics.possessive import compiled

_STEP_TEXT = r"\.([A-Za-z_][A-Za-z0-9_-]*)|\[([0-9]+)\]"
_STEP = re.compile(_STEP_TEXT)
_PATH = re.compile(rf"\$(?:{_STEP_TEXT})*")
_QUOTED = compiled(r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|\\.", re.DOTALL)
"""A quoted string, or an escape outside of one: passed over, so that no unclosed quote is searched for its end twice."""
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
"""One half of a surrogate pair, which no file can hold."""


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant, strict=False)
_AS_PRINTED = json.JSONDecoder(parse_constant=_no_constant, parse_float=str, strict=False)


def is_path(text: str) -> bool:
    """Tell whether this is a path that can be read here.

    >>> is_path("$.payment_id"), is_path("$..id"), is_path("payment_id")
    (True, False, False)
    """
    return _PATH.fullmatch(text) is not None


@lru_cache(maxsize=256)
def steps_of(path: str) -> tuple[str | int, ...]:
    """Return a path's names and indexes from the outside in.

    >>> steps_of("$.order.ids[0]")
    ('order', 'ids', 0)
    """
    return tuple(name or int(index) for name, index in _STEP.findall(path))


def value_at(whole: Any, steps: Sequence[str | int]) -> Any:
    """Return what stands there in a decoded value; None where nothing does."""
    for step in steps:
        if isinstance(step, str) and isinstance(whole, dict):
            whole = whole.get(step)
        elif isinstance(step, int) and isinstance(whole, list) and step < len(whole):
            whole = whole[step]
        else:
            return None
    return whole


def value_in(text: str, path: str) -> Any:
    """Return what stands there in a JSON text, a decimal number as the text that was printed; None where nothing does.

    What follows the JSON value is not looked at; strings may stand in single quotes.

    >>> value_in('{"amount": 1.10}', "$.amount"), value_in("{'ids': [7]}", "$.ids[0]")
    ('1.10', 7)
    """
    start = text.lstrip(" \t\r\n")
    if not start or start[0] not in '{["0123456789-tfn' + "'":
        return None
    steps = steps_of(path)
    try:
        value = value_at(_decoded(start, _DECODER), steps)
        if isinstance(value, float):
            value = value_at(_decoded(start, _AS_PRINTED), steps)
    except (ValueError, RecursionError):
        return None
    return _writable(value) if isinstance(value, str) else value


def text_in(text: str, path: str) -> str | None:
    """Return what stands there as text: strings, numbers, true and false as printed, objects and lists as compact JSON.

    None for null and where nothing stands; ``$`` is the whole text, JSON or not.

    >>> text_in('{"order": {"id": 7, "paid": true}}', "$.order")
    '{"id":7,"paid":true}'
    >>> text_in("p-7", "$")
    'p-7'
    """
    return text_reader(path)(text)


@lru_cache(maxsize=256)
def text_reader(path: str) -> Callable[[str], str | None]:
    """Return ``text_in`` of one path, for many texts."""
    if path == "$":
        return str
    reader = _reader_of(path)
    if reader is None:
        return partial(_text_of_value, path=path)
    decode, value_of = reader

    def read(text: str) -> str | None:
        """Take the text or whole number that stands there in one JSON object, its other values passed over; else look at all of it."""
        try:
            found = value_of(decode(text))
        except (msgspec.MsgspecError, RecursionError):
            return _text_of_value(text, path)
        if not isinstance(found, str):
            return str(found)
        plain = found if found.isascii() else _writable(found)
        return plain or _text_of_value(text, path)

    return read


def _text_of_value(text: str, path: str) -> str | None:
    value = value_in(text, path)
    if value is None or isinstance(value, str):
        return value
    try:
        return _writable(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    except RecursionError:
        return None


def _reader_of(path: str) -> tuple[Callable[[str], Any], Callable[[Any], Any]] | None:
    """Return what decodes a JSON text for one path, and what takes the value out of that; None where the path goes into lists."""
    steps = steps_of(path)
    kind: Any = str | int
    for depth, step in reversed(list(enumerate(steps))):
        if isinstance(step, int):
            return None
        default = kind() if depth < len(steps) - 1 else ""
        field = msgspec.field(name=step, default_factory=partial(_same, default))
        kind = msgspec.defstruct(f"At{depth}", [("value", kind, field)], gc=False)
    return msgspec.json.Decoder(kind).decode, attrgetter(".".join(["value"] * len(steps)))


def _same(default: Any) -> Any:
    return default


def _writable(text: str) -> str | None:
    return None if not text.isascii() and _HALF_CHARACTER.search(text) else text


def _decoded(text: str, decoder: json.JSONDecoder) -> Any:
    try:
        whole, _ = decoder.raw_decode(text)
    except ValueError:
        if "'" not in text:
            raise
        whole, _ = decoder.raw_decode(_QUOTED.sub(_in_double_quotes, text))
    return whole


def _in_double_quotes(quoted: re.Match[str]) -> str:
    inside = quoted[0]
    if inside[0] != "'":
        return inside
    return '"' + inside[1:-1].replace("\\'", "'").replace('"', '\\"') + '"'
