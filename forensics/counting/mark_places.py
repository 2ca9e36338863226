"""Where the values of a configured mark stand in every line of one shape.

A shape hides digits and ids. Where nothing that an expression asks for bears on what is hidden, it matches each line of the
shape as it matches the shape itself, at the same places, and nobody has to search the lines.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as expressions  # type: ignore[attr-defined]
from typing import Any, NamedTuple

from forensics.parsers.expressions import parts_of
from forensics.streams.shapes import OTHER_ID, SEND

_DIGITS = frozenset("0123456789")
_HEX = _DIGITS | frozenset("abcdefABCDEF")
_ID = re.compile(f"(?={OTHER_ID})")
_HIDDEN_HEX, _HIDDEN_DIGIT = "\x02", "\x03"
_TELLS_NOTHING = {op.ANY, op.AT}
"""Parts that take any character but the line's end, or a place: what a shape hides is neither a line's end nor beside one."""


class Place(NamedTuple):
    """Where a value begins, and how long it is, in characters."""

    at: int
    length: int


class _Read(NamedTuple):
    """What is known of an expression whose classes take all digits or none."""

    texts: frozenset[str]
    """Its fixed texts."""
    widest: re.Pattern[str]
    """It, with ids as ``_HIDDEN_HEX``, where a class that takes some letters of ids takes all."""
    blind: frozenset[int]
    """Groups whose classes take all letters of ids or none."""


def places_in(shape: str, pattern: str) -> dict[str, Place] | None:
    r"""Return where the named groups of a mark's expression stand in each line of a shape; None where that differs, or may.

    A group that takes no part in the match, or matches nothing, is left out.

    >>> places_in("paid p_00 (0 EUR)", r"paid (?P<key>[a-z0-9_]+) ")
    {'key': Place(at=5, length=4)}
    >>> places_in("paid p_00 (0 EUR)", r"paid (?P<key>p_1[0-9]) ") is None
    True
    """
    read = _read(pattern)
    if read is None or SEND in shape or _HIDDEN_HEX in shape or _HIDDEN_DIGIT in shape:
        return None
    ids = _with_hidden_ids(shape)
    if any(_may_meet_hidden(text, ids.replace("0", _HIDDEN_DIGIT)) for text in read.texts):
        return None
    match = read.widest.search(ids)
    if match is None or any(
        not any(begin <= place < end for begin, end in map(match.span, read.blind))
        for place in range(*match.span())
        if ids[place] == _HIDDEN_HEX
    ):
        return None
    spans = {name: match.span(name) for name in match.re.groupindex}
    return {name: Place(begin, end - begin) for name, (begin, end) in spans.items() if end > begin}


def _with_hidden_ids(shape: str) -> str:
    found = list(shape)
    for match in _ID.finditer(shape):
        for place in range(match.start(), match.start() + len(OTHER_ID)):
            if found[place] != "-":
                found[place] = _HIDDEN_HEX
    return "".join(found)


def _may_meet_hidden(text: str, hidden: str) -> bool:
    """Tell whether a text may stand in some line of a shape where the shape hides something."""
    return any(_HIDDEN_HEX in found[1] or _HIDDEN_DIGIT in found[1] for found in _placed(text).finditer(hidden))


@lru_cache(maxsize=10_000)
def _placed(text: str) -> re.Pattern[str]:
    return re.compile(f"(?=({''.join(map(_or_hidden, text))}))")


def _or_hidden(char: str) -> str:
    may_be = (_HIDDEN_HEX if char in _HEX else "") + (_HIDDEN_DIGIT if char in _DIGITS else "")
    return f"[{char}{may_be}]" if may_be else re.escape(char)


class _TellsDigitsApartError(Exception):
    """A part of an expression may match one digit and not another."""


@lru_cache(maxsize=256)
def _read(pattern: str) -> _Read | None:
    """Read an expression; None where some part of it may tell digits apart."""
    parsed = expressions.parse(pattern)
    if parsed.state.flags & (re.IGNORECASE | re.MULTILINE):
        return None
    blind = set(parsed.state.groupdict.values())
    try:
        texts = frozenset(_texts_of(parsed, frozenset(), blind))
    except _TellsDigitsApartError:
        return None
    return _Read(texts, re.compile("".join(map(_widest, parts_of(pattern)))), frozenset(blind))


def _texts_of(parts: Any, groups: frozenset[int], blind: set[int]) -> Iterator[str]:
    """Yield the fixed texts of an expression; ``blind`` loses the groups that are not."""
    text = ""
    for kind, value in [*parts, (None, None)]:
        if kind is op.LITERAL:
            text += chr(value)
            continue
        if text:
            yield text
            text = ""
        if kind is op.SUBPATTERN:
            group, flags_on, flags_off, inner = value
            if flags_on or flags_off:
                raise _TellsDigitsApartError
            yield from _texts_of(inner, groups | {group}, blind)
        elif kind is op.BRANCH:
            for inner in value[1]:
                yield from _texts_of(inner, groups, blind)
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT):
            yield from _texts_of(value[2], groups, blind)
        elif kind in (op.IN, op.NOT_LITERAL):
            taken = _named_in(value if kind is op.IN else [(op.LITERAL, value)])
            if taken & _DIGITS not in (_DIGITS, frozenset()):
                raise _TellsDigitsApartError
            if taken not in (_HEX, frozenset()):
                blind -= groups
        elif kind is not None and kind not in _TELLS_NOTHING:
            raise _TellsDigitsApartError


def _named_in(members: Any) -> frozenset[str]:
    """Return which characters of ids a class names, whether it takes them or all others."""
    named = set()
    for kind, value in members:
        if kind is op.LITERAL:
            named.add(chr(value))
        elif kind is op.RANGE:
            named |= {char for char in _HEX if value[0] <= ord(char) <= value[1]}
        elif kind is not op.NEGATE:
            raise _TellsDigitsApartError
    return _HEX & named


def _widest(part: str) -> str:
    if part == "$":
        return r"\Z"  # vectors' engine takes no line's end behind it
    if part[0] != "[" or len(part) == 1:
        return part
    ((kind, members),) = expressions.parse(part)
    if kind is not op.IN:
        return part
    opening = "[^" if part[1] == "^" else "["
    named = _named_in(members)
    if named != _HEX and (not named or opening == "[^"):
        return part
    rest = part[len(opening) :]
    return opening + _HIDDEN_HEX + ("\\" if rest[0] == "]" else "") + rest
