"""The numbers that producers give their messages: gaps, disorder, repeats."""

from typing import Any

import streamlit as st

from forensics.errors import ForensicsError
from forensics.sequence import Sequences, sequences
from pages._ui.board import Board
from pages._ui.shell import Page
from pages._ui.words import plain


def numbered(page: Page) -> None:
    """Show of each queue whose settings name a number what is wrong with it."""
    wanted = [q for q in page.settings.queues if q.sequence]
    if not wanted:
        return
    st.subheader("Did producers send everything, in order?", anchor="sequence")
    for queue in wanted:
        try:
            found = _checked(page.board.key, queue.name, queue.sequence, page.board)
        except ForensicsError as problem:
            st.caption(plain(f"{problem}. {problem.hint}"))
            continue
        st.markdown(plain(found.sentence if found.broken else f"{found.sentence} No gap, none twice, all in order."))
        if found.broken:
            st.dataframe(
                [
                    {"What": b.kind.replace("_", " "), "Group": b.group, "Numbers": b.count, "In words": b.sentence}
                    for b in found.broken
                ],
                hide_index=True,
                key=f"sequence_{queue.name}",
                alt="Numbers that are missing, out of order or there twice",
            )


@st.cache_resource(max_entries=16, show_spinner="Reading the numbers of printed bodies")
def _checked(key: tuple[Any, ...], queue: str, path: str | None, _board: Board) -> Sequences:
    return sequences(_board.findings, queue, path)
