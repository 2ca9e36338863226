"""What other settings would have made of a queue's messages, replayed on demand."""

from typing import Any

import streamlit as st

from forensics.errors import ForensicsError
from forensics.identity import is_fifo_name
from forensics.limits import LARGEST_BATCH, LARGEST_FIFO_BATCH, LONGEST_FUNCTION_TIMEOUT_S, LONGEST_VISIBILITY_S
from forensics.tables.findings import DELIVERIES
from forensics.what_if import Answer, ask
from pages._ui.board import Board
from pages._ui.said import busy, in_words, of_problem, say, term
from pages._ui.shell import Page
from pages._ui.tables import data_table
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


def what_if(queue: str, page: Page) -> None:
    """Let the reader choose settings of the queue, and show the replay beside what was observed."""
    if queue not in [row["queue"] for row in page.board.spans(DELIVERIES, "queue", "received_at")]:
        return
    st.subheader(say("What if its settings were others?"), anchor="what-if")
    most = LARGEST_FIFO_BATCH if is_fifo_name(queue) else LARGEST_BATCH
    with st.form("what_if", border=True):
        first, second, third, fourth = st.columns(4)
        asked = {
            "visibility_s": first.number_input(
                say("Visibility timeout (s)"), 0, LONGEST_VISIBILITY_S, None, placeholder=say("as it is")
            ),
            "batch_size": second.number_input(say("Batch size"), 1, most, None, placeholder=say("as it is")),
            "timeout_s": third.number_input(
                say("Function timeout (s)"), 1, LONGEST_FUNCTION_TIMEOUT_S, None, placeholder=say("as it is")
            ),
            "max_receives": fourth.number_input("maxReceiveCount", 1, 1_000, None, placeholder=say("as it is")),
        }
        answers = st.selectbox(say("Partial batch responses"), ("as it is", "on", "off"), format_func=term)
        if not st.form_submit_button(say("Replay")):
            return
    changes = {name: value for name, value in asked.items() if value is not None}
    if answers != "as it is":
        changes["partial_responses"] = answers == "on"
    try:
        with busy("Replaying"):
            found = _asked(page.board.key, queue, tuple(changes.items()), page.board)
    except ForensicsError as problem:
        st.warning(plain(f"{of_problem(problem)} {in_words(problem.hint)}"))
        return
    (st.write if found.is_faithful else st.warning)(plain(in_words(found.faithful)))
    if found.beside:
        st.write(plain(in_words(found.beside)))
    for sentence in found.warnings:
        st.warning(plain(in_words(sentence)))
    rows = [{"Settings": row.name, **{words: row.span(key) for key, words in _COLUMNS.items()}} for row in found.rows]
    data_table(rows, told=("Settings",), hide_index=True)
    for sentence in found.assumptions:
        st.caption(plain(say("Assumed: {sentence}", sentence=in_words(sentence))))


@st.cache_data(max_entries=32, show_spinner=False)
def _asked(key: tuple[str, str], queue: str, changes: tuple[tuple[str, Any], ...], _board: Board) -> Answer:
    return ask(_board.findings, queue, dict(changes))
