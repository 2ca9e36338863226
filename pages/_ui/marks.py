"""What people say of an incident: shown beside the verdict, counted where it sets works aside, put there by a small form."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from forensics.errors import ForensicsError
from forensics.people import Annotation, Marks, SetAside, annotate, aside_text, judged, marks_text
from forensics.people.marks import MARK_WORDS, MOST_COMMENT
from forensics.report.faults import Fault
from forensics.report.opening import headline
from forensics.sentence import said
from forensics.tables.people import MARKS
from pages._ui.access import signed_in_name
from pages._ui.case import case_of
from pages._ui.said import in_words, of_problem, say, term
from pages._ui.shell import Page
from pages._ui.tables import data_table
from pages._ui.words import plain

Incident = dict[str, Any]
MOST_NAMED = 200
"""Messages that the form offers by name; another is named by its id."""


def badges(incident: Incident, page: Page) -> None:
    """Show the marks that stand on the whole incident, each with who said it and why."""
    _badges(page.people.of(incident["incident_id"]).whole, page)


def beside_message(verdict: dict[str, Any], page: Page) -> None:
    """Show the marks that stand on a message, and what is left of a mark that no longer holds."""
    marks = page.people.of(verdict["incident_id"])
    _badges(marks.of([verdict["item_id"]]), page)
    if why := marks.outdated.get(verdict["item_id"]):
        st.caption(plain(in_words(said("It counts all the same: the mark was {why}.", why=why))))


def _badges(marks: Iterable[Annotation], page: Page) -> None:
    for mark in marks:
        said = f"{mark.author}, {page.clock.minute(mark.marked_at)}: {mark.reason}"
        st.badge(plain(f"{term(mark.words)} · {mark.author}"), icon=":material/person:", color="blue", help=plain(said))


def by_the_logs(page: Page, headline_then: str = "") -> None:
    """Offer the logs' own figures, without what people set aside; ``headline_then`` tells the first of them."""
    st.button(
        plain(say("By the logs alone: {headline}", headline=in_words(headline_then)))
        if headline_then
        else say("By the logs alone"),
        key="by_the_logs",
        icon=":material/visibility:",
        type="tertiary",
        on_click=page.leave_marks_out,
        help=say("Show every figure without what people set aside."),
    )


def of_incident(incident: Incident, page: Page) -> None:
    """Say under an incident's first lines what the logs alone say, where people set something aside."""
    if incident.get("set_aside"):
        by_the_logs(page, headline(judged(incident)))


def of_works(aside: Iterable[SetAside], page: Page) -> None:
    """Say what people set aside here, and offer the figures without."""
    if told := aside_text(aside):
        st.caption(f":material/person: {plain(in_words(said('Set aside, {aside}.', aside=told)))}")
        by_the_logs(page)


def of_messages(incident: Incident, page: Page) -> dict[str | None, str]:
    """Return the standing marks per item id, in words; one that no longer holds says why."""
    marks = page.people.of(incident["incident_id"])
    found: dict[str | None, str] = {item: marks_text(said) for item, said in marks.of_items.items()}
    return found | {item: f"{found.get(item, '')}, {why}" for item, why in marks.outdated.items()}


def of_fault(fault: Fault, page: Page) -> list[str]:
    """Return the marks that stand on whole incidents of a fault, in words; a fix after which it came back is none: "not fixed" fits its cell."""
    whole = [mark for name in fault.incident_ids for mark in page.people.of(name).whole]
    fixed_at = max((mark.marked_at for mark in whole if mark.mark == "fixed"), default=None)
    came_back = fixed_at is not None and fault.newest["started_at"] > fixed_at
    words = [say("not fixed") if mark.mark == "fixed" and came_back else term(mark.words) for mark in whole]
    return list(dict.fromkeys(words))


def form(incident: Incident, page: Page) -> None:
    """Offer to mark or comment the incident or one of its messages; the verdict stays as it is."""
    rows = case_of(incident["incident_id"], page).messages[:MOST_NAMED]
    whole = say("the whole incident")
    names = {whole: None} | {
        ", ".join([m["message_id"] or m["item_id"], *(m["business_keys"] or ())]): m["item_id"] for m in rows
    }
    with st.popover(say("Mark"), icon=":material/rate_review:"):
        st.caption(
            say(
                "A mark stands beside the verdict and never changes it. A false alarm, and what was charged once, no longer "
                "counts. It is permanent, with your name, and stays on these messages."
            )
        )
        name = signed_in_name()
        with st.form("mark", border=False, clear_on_submit=True):
            subject = st.selectbox(say("What"), list(names), key="mark_subject")
            mark = st.selectbox(say("Mark"), MARKS, format_func=lambda m: term(MARK_WORDS[m]), key="mark_word")
            reason = st.text_area(say("Why, or your comment"), key="mark_reason", max_chars=MOST_COMMENT, height=80)
            author = st.text_input(
                say("Your name"), value=name or "", key="mark_author", disabled=name is not None, max_chars=100
            )
            if st.form_submit_button(say("Save"), key="mark_put"):
                _put(incident, page, names[subject], mark, reason, name or author)
        listed(page.people.of(incident["incident_id"]), page)


def _put(incident: Incident, page: Page, item_id: str | None, mark: str, reason: str, author: str) -> None:
    try:
        annotate(page.board.findings, incident["incident_id"], item_id, mark, reason, author, datetime.now(UTC))
    except ForensicsError as problem:
        st.error(
            plain(f"{of_problem(problem)} {in_words(problem.hint)}"),
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


def comments(incident: Incident, page: Page) -> None:
    """Show what people wrote, oldest first."""
    said = [a for a in page.people.of(incident["incident_id"]).said if a.mark == "comment"]
    if not said:
        return
    st.subheader(say("Comments"), anchor="comments")
    for one in said:
        about = f" · `{one.item_id.replace('`', '')}`" if one.item_id else ""
        st.markdown(f"**{plain(one.author)}**, {page.clock.minute(one.marked_at)}{about}: {plain(one.reason)}")


def listed(marks: Marks, page: Page) -> None:
    """List every mark that was ever put here, newest first, with what it does today; taken-back ones too."""
    if not marks.said:
        return
    data_table(
        [
            {
                "When": page.clock.minute(a.marked_at),
                "Mark": a.words,
                "Today": in_words(page.people.state_of(a)),
                "Of": a.item_id or term("incident"),
                "Who": a.author,
                "Why": a.reason,
            }
            for a in reversed(marks.said)
        ],
        told=("Mark",),
        hide_index=True,
        key="marks",
        alt=say("Marks that people put on this incident"),
    )
