"""Views that people keep: a page with its filters under a name, in the sidebar of every page."""

from datetime import UTC, datetime

import streamlit as st

from forensics.errors import ForensicsError
from forensics.people import View, delete_view, save_view, views
from pages._ui.access import signed_in_name
from pages._ui.board import Board
from pages._ui.said import in_words, of_problem, say
from pages._ui.words import plain

FILES = {"": "app.py"}


def kept(board: Board, path: str) -> None:
    """List the views that are kept, and offer to keep the one on the screen; ``path`` is this page's in its address."""
    found = _kept(board)
    with st.popover(say("Views"), icon=":material/bookmark:", width="stretch"):
        for view in found:
            st.page_link(
                FILES.get(view.page, f"pages/{view.page}.py"),
                label=plain(view.view),
                icon=":material/bookmark:",
                query_params=view.keys,
                help=plain(f"{view.author}, {view.saved_at:%Y-%m-%d}"),
            )
        if not found:
            st.caption(say("No view is kept."))
        name = signed_in_name()
        with st.form("view", border=False, clear_on_submit=True):
            called = st.text_input(say("Keep this page with its filters as"), key="view_name", max_chars=80)
            author = st.text_input(say("Your name"), value=name or "", key="view_author", disabled=name is not None)
            if st.form_submit_button(say("Keep"), key="view_keep"):
                _change(lambda: save_view(board.lake, called, path, _keys(), name or author, datetime.now(UTC)))
        if found:
            gone = st.selectbox(say("Delete a view"), [v.view for v in found], index=None, key="view_gone")
            if gone and st.button(say("Delete"), key="view_delete"):
                _change(lambda: delete_view(board.lake, gone, name or "-", datetime.now(UTC)))


def _kept(board: Board) -> list[View]:
    try:
        return views(board.lake)
    except ForensicsError:
        return []


def _keys() -> dict[str, str]:
    return {str(key): str(value) for key, value in st.query_params.to_dict().items()}


def _change(do: object) -> None:
    try:
        do()  # type: ignore[operator]
    except ForensicsError as problem:
        st.error(plain(f"{of_problem(problem)} {in_words(problem.hint)}"))
        return
    except OSError as problem:
        st.error(plain(say("The lake cannot be written: {strerror}.", strerror=problem.strerror or str(problem))))
        return
    st.rerun()
