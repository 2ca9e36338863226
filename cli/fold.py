"""Folding lines for a terminal: between words, and between the characters of a language that writes no blanks."""

import re

from forensics.words import cells

_WIDE = "\u3000-\u9fff\uff00-\uffef"
_OPENING = "（「『【"
_PIECE = re.compile(
    rf"[{_OPENING}]*(?:(?![{_OPENING}])[{_WIDE}][、。，．・：；？！）」』】ー〜…]*|[^\s{_WIDE}]+\s*)|[{_OPENING}]+|\s+"
)
"""What is never torn: a word with the blanks after it, or a wide character with the marks that may not begin a line; with what
opens a bracket before it."""


def fold(text: str, width: int, next_width: int | None = None) -> list[str]:
    """Return the lines of a text; a word wider than the terminal stays whole, so that it can be copied.

    ``next_width`` is that of all lines but the first.

    >>> fold("one two three", 8)
    ['one two', 'three']
    >>> fold("可視性タイムアウトが切れました。", 16)
    ['可視性タイムアウ', 'トが切れました。']
    >>> fold("再配信あり（2026-11-25 から）", 12)
    ['再配信あり', '（2026-11-25', 'から）']
    """
    starts = [0, *breaks(text, width, next_width)]
    lines = [text[start:end].strip() for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    return [text[: starts[1] if starts[1:] else None].rstrip(), *lines[1:]]


def breaks(text: str, width: int, next_width: int | None = None) -> list[int]:
    """Return where in a text its second line begins, its third, and so on.

    >>> breaks("one two three", 8)
    [8]
    """
    begins: list[int] = []
    line = ""
    place = 0
    for piece in _PIECE.findall(text):
        room = width if not begins or next_width is None else next_width
        if line.strip() and cells((line + piece).rstrip()) > room:
            begins.append(place)
            line = piece.lstrip()
        else:
            line += piece
        place += len(piece)
    return begins
