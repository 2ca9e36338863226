"""Where a queue's messages went, day by day."""

from typing import Any

import streamlit as st

from forensics.balance import Balance, BalanceDay, balance
from pages._ui.board import Board
from pages._ui.said import busy, in_words, say
from pages._ui.shell import Page
from pages._ui.tables import data_table
from pages._ui.words import plain

_NAMES = {
    "sent": "Sent",
    "waiting_before": "Waiting before",
    "worked_off": "Worked off",
    "filtered": "Filtered away",
    "dead_lettered": "Dead-lettered",
    "expired": "Expired",
    "waiting_after": "Waiting after",
    "unexplained": "Unexplained",
}


MOST_ODD = 3
"""Days that do not balance and are told above the table, the newest ones; the table has all."""


def balances(page: Page) -> None:
    """Show each queue's balance per day, what is unexplained, and what its mappings and consumers do."""
    with busy("Balancing what was sent"):
        found = _balanced(page.board.key, page.board)
    days = [day for day in found.days if day.unexplained is not None]
    if not days:
        return
    st.subheader(say("Where did the messages go?"), anchor="balance")
    odd = sorted((day for day in days if not day.is_balanced), key=lambda day: day.day)
    for day in odd[-MOST_ODD:]:
        st.warning(plain(f"{day.queue}, {day.day}: {in_words(day.sentence)} {_notes(day)}"))
    for name, texts in found.named.items():
        for text in texts:
            st.warning(plain(f"{name}: {in_words(f'{text}.')}"))
    data_table(
        [
            {"Queue": day.queue, "Day": day.day}
            | {words: None if (n := getattr(day, name)) is None else str(n) for name, words in _NAMES.items()}
            | {"In words": f"{in_words(day.sentence)} {_notes(day)}".strip()}
            for day in sorted(days, key=lambda day: day.day, reverse=True)
        ],
        told=tuple(_NAMES.values()),
        hide_index=True,
        key="balance",
        placeholder="–",
        column_config={"In words": st.column_config.TextColumn(width=420)},
        alt=say("Sent against what left each queue, per day"),
    )
    st.caption(say("Two ends stand where metrics are approximate, deletes can be repeats, or a finding is undecided."))


def _notes(day: BalanceDay) -> str:
    return " ".join(in_words(note) for note in day.notes)


@st.cache_resource(max_entries=4, show_spinner=False)
def _balanced(key: tuple[Any, ...], _board: Board) -> Balance:
    return balance(_board.findings)
