"""The numbers that producers give their messages: gaps, disorder, repeats."""

from typing import Any

import streamlit as st

from forensics.errors import ForensicsError
from forensics.sequence import Sequences, sequences
from pages._ui.board import Board
from pages._ui.cards import ROW_OF_TWO_LINES, two_line_height
from pages._ui.said import busy, in_words, of_problem, say
from pages._ui.shell import Page
from pages._ui.tables import data_table
from pages._ui.words import plain


def numbered(name: str, page: Page) -> None:
    """Show what is wrong with the queue's numbers, where its settings name one."""
    wanted = [q for q in page.settings.queues if q.sequence and q.name == name]
    if not wanted:
        return
    st.subheader(say("Did producers send everything, in order?"), anchor="sequence")
    for queue in wanted:
        try:
            with busy("Reading the numbers of printed bodies"):
                found = _checked(page.board.key, queue.name, queue.sequence, page.board)
        except ForensicsError as problem:
            st.caption(plain(f"{of_problem(problem)} {in_words(problem.hint)}"))
            continue
        st.markdown(
            plain(in_words(found.sentence) + ("" if found.broken else say(" No gap, none twice, all in order.")))
        )
        if found.broken:
            data_table(
                [
                    {"What": b.kind.replace("_", " "), "Group": b.group, "Numbers": b.count, "In words": b.sentence}
                    for b in found.broken
                ],
                told=("What", "In words"),
                hide_index=True,
                key=f"sequence_{queue.name}",
                row_height=ROW_OF_TWO_LINES,
                height=two_line_height(len(found.broken)),
                column_config={
                    "What": st.column_config.TextColumn(width=110),
                    "Group": st.column_config.TextColumn(width=150),
                    "Numbers": st.column_config.NumberColumn(width=80),
                    "In words": st.column_config.TextColumn(width=560),
                },
                alt=say("Numbers that are missing, out of order or there twice"),
            )


@st.cache_resource(max_entries=16, show_spinner=False)
def _checked(key: tuple[Any, ...], queue: str, path: str | None, _board: Board) -> Sequences:
    return sequences(_board.findings, queue, path)
