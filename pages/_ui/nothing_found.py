"""What the Incidents page says where it has none: what was checked, and of whom nothing was."""

from typing import Any

import streamlit as st

from forensics.commands import in_lake
from forensics.report.log_readiness import all_clear, blind_consumers, not_checked_text, nothing_checked
from forensics.sentence import clause, said
from forensics.tables.evidence import COVERAGE, LOG_EVENTS
from forensics.tables.findings import LOGGING_READINESS
from pages._ui.coverage import reach
from pages._ui.place import lake_path
from pages._ui.said import count_text as count
from pages._ui.said import in_words, say
from pages._ui.shell import Page
from pages._ui.words import plain, with_commands

Incident = dict[str, Any]
MOST_NOT_CHECKED = 5


def not_checked(queue: str, consumer: str, are_failures_named: bool) -> str:
    """Say that nothing a consumer was handed could be checked, and what to do."""
    return in_lake(in_words(not_checked_text(queue, consumer, are_failures_named)), lake_path())


def of_queue(queue: str, page: Page) -> str:
    """Say of a queue without an incident how much of it was checked, as the commands say it, and of whom nothing was."""
    told = (in_words(sentence) for sentence in _told(page.board.key, queue, page))
    return " ".join(in_lake(one, lake_path()) for one in told)


@st.cache_resource(max_entries=64, show_spinner=False)
def _told(key: tuple[str, str], queue: str, _page: Page) -> list[str]:
    findings = _page.board.findings
    unchecked = [said("{clause}.", clause=clause(text)) for text in nothing_checked(findings, queue)]
    clear = all_clear(findings, queue)
    return [*unchecked, *([clear] if clear else [])]


def nothing_found(found: list[Incident], page: Page) -> None:
    """Say what was checked: nothing found is a good result."""
    if found:
        st.info(say("Change queue, kind or period in the sidebar to see the others."), icon=":material/filter_alt:")
        return
    no_suspicion(page)


def no_suspicion(page: Page) -> None:
    """Say that nothing was found, in which time, and among how much."""
    checked = page.board.generation.row_counts.get("deliveries", 0)
    spans = reach(page.board.records(COVERAGE, ("source", "==", LOG_EVENTS.name)), page.board.generation.data_since_at)
    queues = len({queue for queue, *_ in spans if queue})
    until = page.board.generation.data_until_at or max((end for *_, end, _ in spans), default=None)
    start = min((start for _, _, start, _, _ in spans), default=None)
    when = (
        say(
            " from {start} to {end} {zone}",
            start=page.clock.minute(start),
            end=page.clock.minute(until),
            zone=page.clock.label(until),
        )
        if start
        else ""
    )
    if told := blind_consumers(page.board.records(LOGGING_READINESS, ("level", "==", "blind"))):
        listed = [f"- {with_commands(not_checked(*one))}" for one in told[:MOST_NOT_CHECKED]]
        if more := len(told) - len(listed):
            listed.append(say("- and {consumer}: the Data page lists all", consumer=count(more, "more consumer")))
        st.warning(say("**Not checked.**\n\n{listed}", listed="\n".join(listed)), icon=":material/visibility_off:")
    if not checked:
        st.info(
            say("No delivery was found{when}, so nothing was checked.", when=when), icon=":material/hourglass_empty:"
        )
        return
    show, icon = (st.info, ":material/info:") if told else (st.success, ":material/check_circle:")
    show(
        plain(
            say(
                "No repeat was found{when}: {deliveries} on {queue} checked. The Data page shows which source was read for which time.",
                when=when,
                deliveries=count(checked, "delivery", "deliveries"),
                queue=count(queues, "queue"),
            )
        ),
        icon=icon,
    )
