"""Configured expressions in words that other engines read as Python does."""

import re

from forensics.possessive import ESCAPE_OR_CLASS

_ASCII = {"d": "0-9", "w": "A-Za-z0-9_", "s": r"\t\n\x0B\f\r "}
_PARTS = re.compile(ESCAPE_OR_CLASS + r"|\(\?P<[A-Za-z_]+>|\(\?:|\(\?|[*+?}]\+|.", re.DOTALL)


_TO_BLANK = re.compile(r"(\(\?P<[A-Za-z_]+>)\\S\+\)")
_OPENS = r"""(?:\\*["'])?"""
_VALUE = r"""[^\s"\\]*[^\s"'\\,;:.)\]}])"""
_CLOSES = r"""["'\\,;:.)\]}]*"""


def bounded(text: str) -> str:
    r"""Return a configured expression in which a group for all up to the next blank is for a value that stands there.

    In a line of JSON the closing quote follows a value, and often no blank up to the line's end; in a sentence a comma, a bracket
    or the full stop.

    >>> re.search(bounded(r"paid (?P<key>\S+)"), '{"message":"paid p-7","level":"INFO"}')["key"]
    'p-7'
    """
    return _TO_BLANK.sub(lambda group: _OPENS + group[1] + _VALUE + _CLOSES, text)


def plainly(text: str) -> str | None:
    r"""Return an expression with its ASCII classes written out; None where it looks around, back or only once.

    >>> plainly(r"paid (?P<key>\d+)"), plainly(r"(?<=done )x")
    ('paid (?P<key>[0-9]+)', None)
    """
    parts = [_plain(part) for part in parts_of(text)]
    return None if None in parts else "".join(map(str, parts))


def parts_of(text: str) -> list[str]:
    """Return what an expression is made of: escapes, classes, the beginnings of groups, possessive quantifiers, any other character."""
    return _PARTS.findall(text)


def _plain(part: str) -> str | None:
    if part[0] == "\\":
        kind = part[1].lower()
        if kind in _ASCII:
            return ("[" if part[1] == kind else "[^") + _ASCII[kind] + "]"
        return None if part[1] in "123456789ZABGb<>" else part
    if part[0] == "[" and len(part) > 1:
        if re.search(r"\\[SWDbB1-9]|&&|--|~~|\[", part[1:]):
            return None
        return re.sub(r"\\.", lambda m: _ASCII.get(m[0][1], m[0]), part)
    return None if part == "(?" or (len(part) == 2 and part[1] == "+") else part
