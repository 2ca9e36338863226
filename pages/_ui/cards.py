"""Number cards: a label, a value, the same height in a row."""

from collections.abc import Iterable
from typing import Any

import streamlit as st

from forensics.words import cells
from pages._ui.said import say

MOST_CHARS = 13
"""Characters of a value that a card of a six-card row shows."""
ROW_PX = 35
"""Pixels of a table row of one line: Streamlit's own."""
ROW_OF_TWO_LINES = 68
"""Pixels of a table row in which a long sentence wraps."""
LINES_OF_A_ROW, LINE_PX, TEXT_CELL_PX, TEXT_PADDING_PX = 3, 20, 7, 20
"""Lines that such a row shows, the pixels of a further one and of a letter, and what a cell leaves free."""
HEADER_PX = 38
MOST_ROWS_SEEN = 10
"""Rows of such a table before it scrolls."""

NAME_CHAR_PX, NAME_PADDING_PX, LEAST_NAME_PX, MOST_NAME_PX = 7, 20, 90, 160


def row_px(texts: Iterable[tuple[str, int]]) -> int:
    """Return the pixels of a table's rows in which every text, each with the width of its column, is there to its last line."""
    lines = (_lines(text, (px - TEXT_PADDING_PX) // TEXT_CELL_PX) for text, px in texts)
    return ROW_OF_TWO_LINES + LINE_PX * max(0, max(lines, default=0) - LINES_OF_A_ROW)


def lines_px(texts: Iterable[tuple[str, int]]) -> int:
    """Return the same where every text may fit on one line: Streamlit breaks no line in rows of less than ``ROW_OF_TWO_LINES``."""
    told = list(texts)
    return (
        row_px(told) if any(_lines(text, (px - TEXT_PADDING_PX) // TEXT_CELL_PX) > 1 for text, px in told) else ROW_PX
    )


def _lines(text: str, width: int) -> int:
    """Return the lines that a cell takes for a text of which ``width`` letters fit on one: it breaks at spaces, and inside what is longer.

    >>> _lines("been processed more than once", 19), _lines("webhooks-20261115T0111Z", 19), _lines("", 19)
    (2, 2, 1)
    """
    count, used = 1, 0
    for word in map(cells, text.split()):
        if used and used + 1 + word > width:
            count, used = count + 1, 0
        more = max(0, word - 1) // width
        count, used = count + more, used + bool(used) + word - more * width
    return count


def two_line_height(rows: int, row_height: int = ROW_OF_TWO_LINES) -> int:
    """Return the pixels of a table whose rows have two lines, or are ``row_height`` pixels high."""
    return row_height * min(rows, MOST_ROWS_SEEN) + HEADER_PX


def whole_px(names: Iterable[str]) -> int:
    """Return the pixels of a column in which the longest name stays on one line: a broken id cannot be read out or found."""
    return max(LEAST_NAME_PX, NAME_PADDING_PX + NAME_CHAR_PX * max(map(len, names), default=0))


def name_px(names: Iterable[str]) -> int:
    """Return the pixels of a pinned column in which the longest name stays on one line, as far as that leaves a phone room."""
    return min(whole_px(names), MOST_NAME_PX)


def row(cards: int) -> Any:
    """Return a grid that puts this many cards in a row on a desk, and two on a phone."""
    return st.grid(cards, min_column_width=122 if cards > 4 else 160, gap="small")


def card(grid: Any, label: str, value: str, help: str | None = None, **more: Any) -> None:
    """Show one number; one too long for its card is written shorter, then with its whole below it."""
    if len(value) > MOST_CHARS:
        value = value.replace(" to ", "–")
    of = next((joint for joint in (" of ", " / ") if joint in value), None)
    if len(value) > MOST_CHARS and of:
        head, _, tail = value.partition(of)
        value, more = head, {"delta": say("of {total}", total=tail), "delta_color": "off", "delta_arrow": "off"} | more
    grid.metric(label, value, help=help, border=True, height="stretch", **more)
