"""Where a queue's messages went, day by day."""

from typing import Any

import streamlit as st

from forensics.balance import Balance, BalanceDay, balance
from forensics.health import WeekReview, week_bounds
from forensics.sentence import said
from pages._ui.board import Board
from pages._ui.cards import ROW_OF_TWO_LINES, two_line_height
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
_ONLY_WHERE_ANY = ("filtered", "dead_lettered", "expired")
"""Ways out of a queue that a table of a queue which never takes them does without."""
MOST_ODD = 3
"""Days that do not balance and are told above the table, the newest ones; the table has all of its queue."""


def balances(queue: str, review: WeekReview, page: Page) -> None:
    """Show the queue's balance per day of the week, and of all queues what is unexplained and what mappings and consumers do."""
    with busy("Balancing what was sent"):
        found = _balanced(page.board.key, page.board)
    first, last = (day.isoformat() for day in week_bounds(review.week))
    known = [day for day in found.days if day.unexplained is not None and first <= day.day <= last]
    if not known:
        return
    st.subheader(say("Where did the messages go?"), anchor="balance")
    odd = sorted((day for day in known if not day.is_balanced), key=lambda day: day.day)
    for day in odd[-MOST_ODD:]:
        st.warning(plain(f"{day.queue}, {day.day}: {in_words(day.sentence)} {_notes(day)}"))
    for name, texts in found.named.items():
        for text in texts:
            st.warning(plain(f"{name}: {in_words(said('{clause}.', clause=text))}"))
    if mine := [day for day in known if day.queue == queue]:
        _table(queue, mine)


def _table(queue: str, days: list[BalanceDay]) -> None:
    columns = {
        name: words
        for name, words in _NAMES.items()
        if name not in _ONLY_WHERE_ANY or any((n := getattr(day, name)) and n.high for day in days)
    }
    data_table(
        [
            {"Day": day.day}
            | {words: None if (n := getattr(day, name)) is None else str(n) for name, words in columns.items()}
            | {"In words": f"{in_words(day.sentence)} {_notes(day)}".strip()}
            for day in sorted(days, key=lambda day: day.day, reverse=True)
        ],
        told=tuple(_NAMES.values()),
        hide_index=True,
        key="balance",
        placeholder="–",
        row_height=ROW_OF_TWO_LINES,
        height=two_line_height(len(days)),
        column_config={"Day": st.column_config.TextColumn(width=88)}
        | {words: st.column_config.TextColumn(width=100) for words in columns.values()}
        | {"In words": st.column_config.TextColumn(width=300)},
        alt=say("{queue}: sent against what left it, per day", queue=queue),
    )
    st.caption(say("Two ends stand where metrics are approximate, deletes can be repeats, or a finding is undecided."))


def _notes(day: BalanceDay) -> str:
    return " ".join(in_words(note) for note in day.notes)


@st.cache_resource(max_entries=4, show_spinner=False)
def _balanced(key: tuple[Any, ...], _board: Board) -> Balance:
    return balance(_board.findings)
