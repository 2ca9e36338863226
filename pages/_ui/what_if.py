"""What other settings would have made of a queue's messages, replayed on demand."""

from typing import Any

import streamlit as st

from forensics.errors import ForensicsError
from forensics.tables.findings import DELIVERIES
from forensics.what_if import Answer, ask
from pages._ui.board import Board
from pages._ui.shell import Page
from pages._ui.words import plain

_COLUMNS = {
    "repeats": "Repeats",
    "redelivered": "Redelivered",
    "dead_lettered": "Dead-lettered",
    "blocked_s": "Blocked (s)",
    "wait_p50_s": "Wait, median (s)",
    "wait_p95_s": "Wait, p95 (s)",
    "failed_runs": "Failed runs",
    "runs": "Runs",
}


def what_if(page: Page) -> None:
    """Let the reader choose a queue and settings, and show the replay beside what was observed."""
    queues = [row["queue"] for row in page.board.spans(DELIVERIES, "queue", "received_at")]
    if not queues:
        return
    st.subheader("What if its settings were others?", anchor="what-if")
    with st.form("what_if", border=True):
        queue = st.selectbox("Queue", queues)
        first, second, third, fourth = st.columns(4)
        asked = {
            "visibility_s": first.number_input("Visibility timeout (s)", 0, 43_200, None, placeholder="as it is"),
            "batch_size": second.number_input("Batch size", 1, 10_000, None, placeholder="as it is"),
            "timeout_s": third.number_input("Function timeout (s)", 1, 900, None, placeholder="as it is"),
            "max_receives": fourth.number_input("maxReceiveCount", 1, 1_000, None, placeholder="as it is"),
        }
        answers = st.selectbox("Partial batch responses", ("as it is", "on", "off"))
        if not st.form_submit_button("Replay"):
            return
    changes = {name: value for name, value in asked.items() if value is not None}
    if answers != "as it is":
        changes["partial_responses"] = answers == "on"
    try:
        found = _asked(page.board.key, queue, tuple(changes.items()), page.board)
    except ForensicsError as problem:
        st.warning(plain(f"{problem}. {problem.hint}"))
        return
    (st.write if found.is_faithful else st.warning)(plain(found.faithful))
    for sentence in found.warnings:
        st.warning(plain(sentence))
    rows = [{"Settings": row.name, **{words: row.span(key) for key, words in _COLUMNS.items()}} for row in found.rows]
    st.dataframe(rows, hide_index=True)
    for sentence in found.assumptions:
        st.caption(plain(f"Assumed: {sentence}"))


@st.cache_data(max_entries=32, show_spinner="Replaying")
def _asked(key: tuple[str, str], queue: str, changes: tuple[tuple[str, Any], ...], _board: Board) -> Answer:
    return ask(_board.findings, queue, dict(changes))
