"""Number cards: a label, a value, the same height in a row."""

from typing import Any

import streamlit as st

MOST_CHARS = 13
"""Characters of a value that a card of a six-card row shows."""


def row(cards: int) -> Any:
    """Return a grid that puts this many cards in a row on a desk, and two on a phone."""
    return st.grid(cards, min_column_width=122 if cards > 4 else 160, gap="small")


def card(grid: Any, label: str, value: str, help: str | None = None, **more: Any) -> None:
    """Show one number; one too long for its card is written shorter, then with its whole below it."""
    if len(value) > MOST_CHARS:
        value = value.replace(" to ", "–")
    if len(value) > MOST_CHARS and " of " in value:
        head, _, tail = value.partition(" of ")
        value, more = head, {"delta": f"of {tail}", "delta_color": "off", "delta_arrow": "off"} | more
    grid.metric(label, value, help=help, border=True, height="stretch", **more)
