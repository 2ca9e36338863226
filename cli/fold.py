"""Folding lines for a terminal: between words, and between the characters of a language that writes no blanks."""

import re
from unicodedata import east_asian_width

_WIDE = "\u3000-\u9fff\uff00-\uffef"
_PIECE = re.compile(rf"[{_WIDE}][、。，．・：；？！）」』】ー〜…]*|[^\s{_WIDE}]+\s*|\s+")
"""What is never torn: a word with the blanks after it, or a wide character with the marks that may not begin a line."""


def cells(text: str) -> int:
    """Return the columns of a terminal that a text takes."""
    return sum(2 if east_asian_width(c) in "WF" else 1 for c in text)


def fold(text: str, width: int, next_width: int | None = None) -> list[str]:
    """Return the lines of a text; a word wider than the terminal stays whole, so that it can be copied.

    ``next_width`` is that of all lines but the first.

    >>> fold("one two three", 8)
    ['one two', 'three']
    >>> fold("可視性タイムアウトが切れました。", 16)
    ['可視性タイムアウ', 'トが切れました。']
    """
    lines: list[str] = []
    line = ""
    for piece in _PIECE.findall(text):
        room = width if not lines or next_width is None else next_width
        if line and cells((line + piece).rstrip()) > room:
            lines.append(line.rstrip())
            line = piece.lstrip()
        else:
            line += piece
    return [*lines, line.rstrip()]
