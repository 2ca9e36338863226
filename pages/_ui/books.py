"""What ledgers say: beside an incident's verdicts, and which of them were read."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from forensics.books import Line, book_sums, reconcile, standing, told
from pages._ui.board import Board
from pages._ui.case import case_of
from pages._ui.said import busy, count_text, in_words, interval, say
from pages._ui.shell import Page
from pages._ui.tables import data_table
from pages._ui.words import Colour, plain, verdict_column

MOST_ROWS = 2000
_COLOURS: dict[str, Colour] = {
    "repeated": "red",
    "unlogged": "red",
    "agrees_repeated": "red",
    "not_booked": "orange",
    "contradicts": "orange",
    "open": "yellow",
    "cleared": "green",
}


def beside_verdicts(incident: dict[str, Any], page: Page) -> None:
    """Show what the books say of the incident's messages, with what is to be refunded."""
    lines = case_of(incident["incident_id"], page).books
    if not lines:
        return
    st.subheader(say("What the books say"), anchor="books")
    left = book_sums(lines)["to_refund"]
    closed = sum(line.outcome in ("repeated", "cleared") for line in lines)
    said = [f"**{plain(say('To refund: {left}.', left=left))}**"] if left else []
    if closed:
        said.append(say("They decide {work} that the logs left open.", work=count_text(closed, "work")))
    st.markdown(" ".join([*said, say("A ledger stands beside the logs and overwrites nothing.")]))
    _table(lines, "books")


def _table(lines: Sequence[Line], key: str) -> None:
    words = {line.words: _COLOURS.get(line.outcome, "gray") for line in lines}
    data_table(
        [
            {
                "Key": line.key,
                "Both together": [line.words],
                "Verdict": [line.logged.verdict] if line.logged and line.logged.verdict else [],
                "Logs": interval(line.logged.at_least, line.logged.at_most) if line.logged else None,
                "Entries": line.booked,
                "Booked": line.amounts_text,
                "To refund": line.to_refund_text,
                "In words": line.sentence,
            }
            for line in lines[:MOST_ROWS]
        ],
        told=("In words",),
        hide_index=True,
        key=key,
        placeholder="–",
        height=420 if len(lines) > 10 else "auto",
        column_config={
            "Both together": st.column_config.MultiselectColumn(
                options=list(words), color=list(words.values()), width=190
            ),
            "Verdict": verdict_column(),
            "Logs": st.column_config.TextColumn(
                width=60, help=say("Times the work was done by the logs: for sure, to at most.")
            ),
            "Entries": st.column_config.NumberColumn(width=60, help=say("Rows of the ledger that say it was done.")),
            "In words": st.column_config.TextColumn(width=420),
        },
        alt=say("What the books say of each message"),
    )


def ledgers(page: Page) -> None:
    """Show which ledgers were read, and how far each can be relied on."""
    rows = standing(page.board.lake)
    if not rows:
        return
    st.subheader(say("Ledgers"), anchor="ledgers")
    data_table(
        [
            {
                "Ledger": r["book"],
                "Queue": r["queue"],
                "File": r["file_name"],
                "Key": r["key_column"],
                "Rows": r["entry_count"],
                "New": r["stored_count"],
                "Whole from": page.clock.stamp(r["window_start_at"]) if r["window_start_at"] else say("nobody says so"),
                "to": page.clock.stamp(r["window_end_at"]) if r["window_end_at"] else None,
                "Read": page.clock.stamp(r["read_at"]),
            }
            for r in rows
        ],
        hide_index=True,
        key="ledgers",
        placeholder="–",
        alt=say("Ledgers that were read"),
    )
    with busy("Holding the books against the logs"):
        compared = _compared((*page.board.key, *page.board.people_key), page.board)
    for queue, lines in compared.items():
        head, *rest = told(queue, lines)
        st.markdown("\n".join([plain(in_words(head)), "", *(f"- {plain(in_words(text))}" for text in rest)]))
        if odd := [line for line in lines if line.outcome != "agrees"]:
            _table(odd, f"books_of_{queue}")
    st.caption(say("doubletake reconcile reads one, and takes one back that was read in error."))


@st.cache_resource(max_entries=4, show_spinner=False)
def _compared(key: tuple[Any, ...], _board: Board) -> dict[str, list[Line]]:
    return reconcile(_board.findings)
