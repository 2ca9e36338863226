"""The Questions page's parts: one question, its answer in one sentence, and what that rests on."""

from datetime import UTC, datetime, timedelta
from typing import Any

import streamlit as st

from forensics.report.csv_text import to_csv
from forensics.report.questions import COLUMNS, QUESTIONS, Reply, refund, still, why
from forensics.sentence import said
from pages._ui.said import in_words, say
from pages._ui.shell import Page
from pages._ui.states import guarded
from pages._ui.tables import data_table
from pages._ui.words import cause, plain

_HEADS = {
    "queue": "Queue",
    "message_id": "Message",
    "message_ids": "Messages",
    "business_keys": "Keys",
    "verdict": "Verdict",
    "sentence": "What happened",
    "marks": "Marked",
    "incident_id": "Incident",
    "cause": "Cause",
    "state": "State",
    "last_at": "Last",
    "times": "Times",
    "repeats": "Repeats",
    "since_the_change": "Since the change",
    "do": "Do",
    "to_refund": "To refund",
}
_TOLD = ("What happened", "State", "Repeats", "Since the change", "Do", "Verdict")


def choose() -> str:
    """Show the three questions and return the one that is asked."""
    linked = st.query_params.get("ask")
    if linked and linked not in QUESTIONS:
        known = ", ".join(QUESTIONS)
        st.warning(plain(say("ask={asked} of the link is ignored: there is {known}.", asked=linked, known=known)))
    asked = st.segmented_control(
        say("Question"),
        list(QUESTIONS),
        default=linked if linked in QUESTIONS else "why",
        required=True,
        key="question",
        format_func=lambda name: say(QUESTIONS[name]),
        label_visibility="collapsed",
    )
    st.query_params["ask"] = chosen = asked or "why"
    return chosen


def answer(question: str, page: Page) -> Reply | None:
    """Answer it; nothing before it is said what it is about."""
    if question == "why":
        key = st.text_input(
            say("Message id or business key"), key="about", bind="query-params", placeholder=say("an id or a key")
        )
        if not key:
            st.caption(say("The payment, order or message that a customer or finance names."))
            return None
    with guarded("the answer", page.data_version):
        if question == "why":
            return why(page.board.findings, key, page.people)
        if question == "still":
            stale = timedelta(minutes=page.settings.team.stale_after_min)
            return still(page.board.findings, page.people, datetime.now(UTC), stale)
        return refund(page.board.findings, page.people)


def show(reply: Reply, page: Page) -> None:
    """Say the answer, then the rows it rests on; a click on one opens its incident."""
    st.subheader(plain(in_words(said("{clause}.", clause=reply.sentence))), anchor=False)
    if not reply.rows:
        return
    event = data_table(
        [_row(row) for row in reply.rows],
        told=_TOLD,
        hide_index=True,
        key=f"answer_{reply.question}",
        on_select="rerun",
        selection_mode=["single-row", "single-cell"],
        placeholder="–",
        alt=say(QUESTIONS[reply.question]),
    )
    if reply.question == "refund":
        st.download_button(
            "CSV",
            lambda: to_csv(list(reply.rows), COLUMNS["refund"]).encode(),
            file_name="refunds.csv",
            mime="text/csv",
            icon=":material/download:",
            on_click="ignore",
        )
    picked = [*event["selection"]["rows"], *(row for row, _ in event["selection"]["cells"])]
    incident = reply.rows[picked[0]]["incident_id"] if picked else None
    if incident:
        st.switch_page("pages/incident.py", query_params=page.link(incident=incident))
    st.caption(say("A click on a row opens its incident."))


def _row(row: dict[str, Any]) -> dict[str, Any]:
    shown = {_HEADS[name]: value for name, value in row.items() if name in _HEADS}
    for name in ("Keys", "Messages"):
        if name in shown:
            shown[name] = ", ".join(shown[name] or ())
    if "Cause" in shown:
        shown["Cause"] = cause(shown["Cause"])
    return shown
