"""How complete the evidence of a data version is: for the line under the navigation and the note above a headline."""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from forensics.coverage import lacks_its_time, tells_of_files
from forensics.lake.findings import rows_of
from forensics.tables.evidence import COVERAGE, LOG_EVENTS, METRIC_POINTS
from pages._ui.board import Board
from pages._ui.cards import card
from pages._ui.clock import Clock
from pages._ui.coverage import Gap, are_files_alone, complete_share, is_read_from_files, unread
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
    if is_of_files(board):
        return say("read from files, in part")
    if board.generation.data_since_at:
        return say("evidence checked in part")
    return say("{percent} of the evidence read", percent=percent(_read(board)[0]))


def is_of_files(board: Board) -> bool:
    """Tell whether files are all that was read."""
    return are_files_alone(*_read(board))


def share_card(
    grid: DeltaGenerator, coverage: list[dict[str, Any]], board: Board, clock: Clock, said: str | None = None
) -> None:
    """Show how complete the evidence is; of files no share can be told, for nobody knows what else was logged.

    Of logs that were left out none is told either: a share of time, of metrics too, would look as if next to nothing lacked.
    """
    if since := board.generation.data_since_at:
        only = say("logs from {at} only", at=clock.day(since))
        card(grid, say("Evidence complete"), say("in part"), said, delta=only, delta_color="off", delta_arrow="off")
    elif is_read_from_files(coverage):
        card(grid, say("Evidence complete"), say("not known"), said_of_files())
    else:
        card(grid, say("Evidence complete"), percent(complete_share(coverage)), said)


def said_of_files() -> str:
    """Say what files tell, and how to say that they are everything."""
    return say(
        "The files were read. Whether they hold everything that was logged is not known, unless "
        "an import with --complete-since says so."
    )


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
    if tells_of_files(gap.why) and lacks_its_time(gap.source):
        return say(
            "{resource} is known from files; when the table was read is not, unless an import with --observed-at says so",
            resource=in_words(gap.resource),
        )
    if tells_of_files(gap.why):
        return say(
            "{resource}: {start} to {until} {zone} is known from files; what else was logged then is not, unless "
            "an import with --complete-since says that they hold everything",
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
