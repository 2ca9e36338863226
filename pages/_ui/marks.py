"""What people say of an incident: shown beside the verdict, and put there by a small form."""

from datetime import UTC, datetime
from typing import Any

import streamlit as st

from forensics.errors import ForensicsError
from forensics.report.annotations import MARK_WORDS, Annotation, annotate, annotations, marks_text, standing
from forensics.tables.people import MARKS
from pages._ui.access import signed_in_name
from pages._ui.board import Board
from pages._ui.case import case_of
from pages._ui.said import in_words, say, term
from pages._ui.shell import Page
from pages._ui.tables import data_table
from pages._ui.words import plain

Incident = dict[str, Any]
MOST_NAMED = 200
"""Messages that the form offers by name; another is named by its id."""


def badges(incident: Incident, page: Page) -> None:
    """Show the marks that stand on the whole incident, each with who said it and why."""
    _badges(incident["incident_id"], None, page)


def beside_message(verdict: dict[str, Any], page: Page) -> None:
    """Show the marks that stand on a message of an incident, and on the whole incident."""
    if verdict["incident_id"]:
        for item_id in (None, verdict["item_id"]):
            _badges(verdict["incident_id"], item_id, page)


def _said(page: Page, incident_id: str | None = None) -> tuple[Annotation, ...]:
    return _kept(page.board.people_key, incident_id, page.board)


@st.cache_resource(max_entries=64, show_spinner=False)
def _kept(key: tuple[Any, ...], incident_id: str | None, _board: Board) -> tuple[Annotation, ...]:
    return annotations(_board.lake, incident_id)


def _badges(incident_id: str, item_id: str | None, page: Page) -> None:
    for mark in standing(_said(page, incident_id)).get(item_id, ()):
        said = f"{mark.author}, {page.clock.minute(mark.marked_at)}: {mark.reason}"
        st.badge(plain(f"{term(mark.words)} · {mark.author}"), icon=":material/person:", color="blue", help=plain(said))


def of_messages(incident: Incident, page: Page) -> dict[str | None, str]:
    """Return the standing marks per item id, in words."""
    return {k: marks_text(v) for k, v in standing(_said(page, incident["incident_id"])).items() if k}


def of_incidents(page: Page) -> dict[str, str]:
    """Return per incident the marks that stand on the whole of it, in words."""
    found: dict[str, str] = {}
    said = _said(page)
    for incident_id in {a.incident_id for a in said}:
        if marks := standing(a for a in said if a.incident_id == incident_id).get(None):
            found[incident_id] = ", ".join(dict.fromkeys(term(m.words) for m in marks))
    return found


def form(incident: Incident, page: Page) -> None:
    """Offer to mark the incident or one of its messages; the verdict stays as it is."""
    rows = case_of(incident["incident_id"], page).messages[:MOST_NAMED]
    whole = say("the whole incident")
    names = {whole: None} | {
        ", ".join([m["message_id"] or m["item_id"], *(m["business_keys"] or ())]): m["item_id"] for m in rows
    }
    with st.popover(say("Mark"), icon=":material/rate_review:"):
        st.caption(say("A mark stands beside the verdict and never changes it. It is permanent, with your name."))
        name = signed_in_name()
        with st.form("mark", border=False, clear_on_submit=True):
            subject = st.selectbox(say("What"), list(names), key="mark_subject")
            mark = st.selectbox(say("Mark"), MARKS, format_func=lambda m: term(MARK_WORDS[m]), key="mark_word")
            reason = st.text_input(say("Why"), key="mark_reason", max_chars=500)
            author = st.text_input(
                say("Your name"), value=name or "", key="mark_author", disabled=name is not None, max_chars=100
            )
            if st.form_submit_button(say("Save"), key="mark_put"):
                _put(incident, page, names[subject], mark, reason, name or author)
        listed(incident, page)


def _put(incident: Incident, page: Page, item_id: str | None, mark: str, reason: str, author: str) -> None:
    try:
        annotate(page.board.findings, incident["incident_id"], item_id, mark, reason, author, datetime.now(UTC))
    except ForensicsError as problem:
        st.error(
            plain(f"{in_words(f'{str(problem)[:1].upper()}{str(problem)[1:]}.')} {in_words(problem.hint)}"),
            icon=":material/error:",
        )
        return
    except OSError as problem:
        st.error(
            plain(say("The lake cannot be written: {strerror}.", strerror=problem.strerror or problem)),
            icon=":material/error:",
        )
        return
    st.rerun()


def listed(incident: Incident, page: Page) -> None:
    """List every mark that was ever put here, newest first; taken-back ones too."""
    said = _said(page, incident["incident_id"])
    if not said:
        return
    data_table(
        [
            {
                "When": page.clock.minute(a.marked_at),
                "Mark": a.words,
                "Of": a.item_id or term("incident"),
                "Who": a.author,
                "Why": a.reason,
            }
            for a in reversed(said)
        ],
        told=("Mark",),
        hide_index=True,
        key="marks",
        alt=say("Marks that people put on this incident"),
    )
