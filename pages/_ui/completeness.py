"""How complete the evidence of a data version is: for the line under the navigation and the note above a headline."""

import streamlit as st

from forensics.coverage import FROM_FILES
from forensics.lake.findings import rows_of
from forensics.tables.evidence import COVERAGE, LOG_EVENTS, METRIC_POINTS
from pages._ui.board import Board
from pages._ui.clock import Clock
from pages._ui.coverage import Gap, complete_share, unread
from pages._ui.said import count_text as count
from pages._ui.said import in_words, percent, say
from pages._ui.states import guarded
from pages._ui.words import plain

LOGS = (LOG_EVENTS.name,)
"""What verdicts rest on."""
LOGS_AND_METRICS = (LOG_EVENTS.name, METRIC_POINTS.name)
"""What the weekly numbers rest on."""
MOST_GAPS = 3


def read_share(board: Board) -> str:
    """Say which share of the asked time was read; files show what was logged, and never that nothing else was."""
    share, unread_gaps = _read(board)
    if not share and unread_gaps and all(gap.why.startswith(FROM_FILES) for gap in unread_gaps):
        return say("read from files, in part")
    return say("{percent} of the evidence read", percent=percent(share))


def note(board: Board, clock: Clock, sources: tuple[str, ...]) -> None:
    """Name above the headline what of some sources was not read, and what that does to the answers."""
    found = [gap for gap in _read(board)[1] if gap.source in sources]
    if not found:
        return
    lines = [f"- {plain(_words(gap, clock))}" for gap in found[:MOST_GAPS]]
    if len(found) > MOST_GAPS:
        lines.append(say("- and {gap}: the Data page lists all", gap=count(len(found) - MOST_GAPS, "more gap")))
    warn(lines)


def warn(lines: list[str]) -> None:
    """Show the note with its list, which is Markdown."""
    listed = "\n".join(lines)
    st.warning(
        say(
            "**Evidence is incomplete.** What is unknown widens the interval; it is never counted as harmless.\n\n"
            "{listed}",
            listed=listed,
        ),
        icon=":material/rule:",
    )


def _words(gap: Gap, clock: Clock) -> str:
    start, end = clock.minute(gap.start_at), clock.minute(gap.end_at)
    until = end[-5:] if start[:-5] == end[:-5] else end
    why = say(" ({why})", why=in_words(gap.why)) if gap.why else ""
    if gap.why.startswith(FROM_FILES):
        return say(
            "{resource}: {start} to {until} {zone} is known from files; what else was logged then is not, unless "
            "`doubletake import --complete-since` says that they hold everything",
            resource=in_words(gap.resource),
            start=start,
            until=until,
            zone=clock.label(gap.start_at),
        )
    return say(
        "{resource}: {start} to {until} {zone} was not read{why}",
        resource=in_words(gap.resource),
        start=start,
        until=until,
        zone=clock.label(gap.start_at),
        why=why,
    )


def _read(board: Board) -> tuple[float | None, list[Gap]]:
    with guarded(f"table {COVERAGE.name}", board.generation.data_version):
        return _completeness(board.key, board)


@st.cache_data(max_entries=16, show_spinner=False)
def _completeness(key: tuple[str, str], _board: Board) -> tuple[float | None, list[Gap]]:
    rows = rows_of(_board.findings.read(COVERAGE))
    return complete_share(rows), unread(rows)
