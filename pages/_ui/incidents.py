"""The Incidents page's parts: the sentence, the cards, the filters and the table."""

from datetime import datetime, timedelta
from typing import Any

import streamlit as st

from forensics.tables.evidence import COVERAGE, LOG_EVENTS
from forensics.tables.health import SETTING_FINDINGS
from forensics.verdict.interval import AFFECTED
from forensics.words import count_text as count
from forensics.words import percent
from pages._ui import marks
from pages._ui.cards import ROW_OF_TWO_LINES, card, row, two_line_height
from pages._ui.coverage import complete_share, reach, was_read_in_full
from pages._ui.setting_checks import answer
from pages._ui.shell import Page
from pages._ui.urltime import Window, read_window
from pages._ui.words import VERDICTS, cause, interval, plain, verdict_column

Incident = dict[str, Any]
QUIET_AFTER = timedelta(hours=1)
PERIODS = {"all": None, "24 h": timedelta(hours=24), "7 days": timedelta(days=7), "28 days": timedelta(days=28)}


def verdict(incident: Incident) -> str:
    """Return the gravest verdict among the incident's messages."""
    return next((v for v in VERDICTS if incident[v]), "possible")


def affected(incident: Incident) -> str:
    """Say how many messages were processed twice: ``7 to 8 of 10``."""
    if incident["messages"] is None:
        return f"up to {incident['messages_at_most']:,}" if incident["messages_at_most"] is not None else "unknown"
    suspects = sum(incident[v] or 0 for v in AFFECTED)
    return f"{interval(incident['confirmed'] or 0, suspects)} of {delivered_again(incident):,}"


def delivered_again(incident: Incident) -> int:
    """Count the incident's messages that were delivered more than once."""
    return sum(incident[v] or 0 for v in VERDICTS)


def quiet_for(incident: Incident, until: datetime | None) -> timedelta | None:
    """Return how long before the end of the data its last activity was; None where the data has no end."""
    return until - incident["ended_at"] if until and incident["ended_at"] else None


def is_open(incident: Incident, until: datetime | None) -> bool:
    """Tell whether it was still going on in the last hour of the data."""
    quiet = quiet_for(incident, until)
    return quiet is None or quiet <= QUIET_AFTER


def state(incident: Incident, until: datetime | None) -> str:
    """Say ``open``, or for how long nothing has happened."""
    quiet = quiet_for(incident, until)
    if quiet is None or quiet <= QUIET_AFTER:
        return "open"
    hours = int(quiet.total_seconds() // 3600)
    return f"quiet {hours} h" if hours < 48 else f"quiet {hours // 24} d"


def filters(found: list[Incident], page: Page) -> tuple[list[Incident], list[Incident]]:
    """Show the filters in the sidebar; return the incidents that pass, newest first, and those of any time that would."""
    queues, kinds = sorted({i["queue"] for i in found}), sorted({i["primary_cause"] or "undecidable" for i in found})
    for key, known in (("queue", queues), ("kind", kinds), ("period", list(PERIODS))):
        if (asked := st.query_params.get(key)) and asked not in ("all", *known):
            said = f"{key}={asked} of the link names nothing in data version {page.data_version}; it is ignored."
            st.warning(plain(said), icon=":material/filter_alt_off:")
    with st.sidebar:
        queue = st.selectbox("Queue", ["all", *queues], key="queue", bind="query-params")
        kind = st.selectbox("Kind", ["all", *kinds], key="kind", bind="query-params", format_func=_kind)
        period = st.selectbox("Period", list(PERIODS), key="period", bind="query-params")
    window = read_window()
    window.notice(page.clock)
    length, until = PERIODS[period], page.board.generation.data_until_at
    if length and until:
        window = window.within(Window(until - length, None))
    of_any_time = [
        i for i in found if queue in ("all", i["queue"]) and kind in ("all", i["primary_cause"] or "undecidable")
    ]
    chosen = [i for i in of_any_time if window.overlaps(i["started_at"], i["ended_at"])]
    return sorted(chosen, key=lambda i: (i["started_at"], i["incident_id"]), reverse=True), of_any_time


def _kind(code: str) -> str:
    return "all" if code == "all" else cause(code)


def sentence(wanted: list[Incident], found: list[Incident], page: Page) -> str:
    """Answer the page's question in one sentence."""
    until = page.board.generation.data_until_at
    if not wanted:
        return (
            "No suspicion."
            if not found
            else f"No suspicion under this filter; {count(len(found), 'incident')} without it."
        )
    running = [i for i in wanted if is_open(i, until)]
    if running:
        when = "Open now" if page.is_fresh else "Still open where the data ends"
        worst = max(running, key=lambda i: ((i["confirmed"] or 0), i["started_at"]))
        more = f", and {len(running) - 1} more" if len(running) > 1 else ""
        return f"{when} on {worst['queue']}: {worst['headline']}{more}."
    newest = f"on {wanted[0]['queue']}, {state(wanted[0], until)}: {wanted[0]['headline']}."
    if len(wanted) == 1:
        return f"Nothing open. The only incident, {newest}"
    return f"Nothing open. The newest of {count(len(wanted), 'incident')}, {newest}"


def cards(
    wanted: list[Incident],
    of_any_time: list[Incident],
    coverage: list[dict[str, Any]],
    queues: list[dict[str, Any]],
    page: Page,
) -> None:
    """Show the four numbers; the one of 7 days says so, and does not follow the period that was chosen."""
    until = page.board.generation.data_until_at
    dead = {q["dead_letter_queue_arn"] for q in queues}
    known = {q["queue_arn"] for q in queues if q["queue_arn"] not in dead} | {i["queue_arn"] for i in wanted}
    grid = row(4)
    open_count = sum(is_open(i, until) for i in wanted)
    card(grid, "Open suspicions", f"{open_count:,}", "Active in the last hour of the data.")
    now, before = _twice(of_any_time, until, 0), _twice(of_any_time, until, 7)
    logs = [c for c in coverage if c["source"] == LOG_EVENTS.name]
    compares = until is not None and was_read_in_full(logs, until - timedelta(days=14), until - timedelta(days=7))
    card(
        grid,
        "Processed twice, 7 days",
        interval(*now),
        "Messages whose work was done more than once: for sure, to at most.",
        delta=now[0] - before[0] if compares else None,
        delta_color="inverse",
        delta_description="vs the 7 days before" if compares else None,
    )
    said = (
        "Queues with a settings check that failed, critical or warning, and is no accepted risk. Dead-letter queues are "
        "left out."
    )
    card(grid, "Queues at risk", f"{_at_risk(known, page)} of {len(known):,}", said)
    share = complete_share(coverage)
    said = "Time that was asked of every source and read in full. The Data page shows what is missing."
    card(grid, "Evidence complete", percent(share), said)


def _at_risk(known: set[str], page: Page) -> str:
    """Count the queues whose settings ask for trouble; unknown where none were checked."""
    checks = page.board.records(SETTING_FINDINGS, columns=("queue_arn", "queue", "code", "status", "severity"))
    if not checks:
        return "unknown"
    grave = {c["queue_arn"] for c in checks if answer(c, page) in ("critical", "warning")}
    return f"{len(grave & known):,}"


def _twice(found: list[Incident], until: datetime | None, days_ago: int) -> tuple[int, int]:
    if until is None:
        return 0, 0
    end = until - timedelta(days=days_ago)
    mine = [i for i in found if end - timedelta(days=7) < i["ended_at"] <= end]
    least = sum(i["confirmed"] or 0 for i in mine)
    most = sum((i["confirmed"] or 0) + (i["probable"] or 0) + (i["possible"] or 0) for i in mine)
    return least, most


def nothing_found(found: list[Incident], page: Page) -> None:
    """Say what was checked: nothing found is a good result."""
    if found:
        st.info("Change queue, kind or period in the sidebar to see the others.", icon=":material/filter_alt:")
        return
    no_suspicion(page)


def no_suspicion(page: Page) -> None:
    """Say that nothing was found, in which time, and among how much."""
    checked = page.board.generation.row_counts.get("deliveries", 0)
    spans = reach(page.board.records(COVERAGE, ("source", "==", LOG_EVENTS.name)))
    queues = len({queue for queue, *_ in spans if queue})
    until = page.board.generation.data_until_at or max((end for *_, end, _ in spans), default=None)
    start = min((start for _, _, start, _, _ in spans), default=None)
    when = f" from {page.clock.minute(start)} to {page.clock.minute(until)} {page.clock.label(until)}" if start else ""
    st.success(
        plain(
            f"No message was processed more than once{when}: {count(checked, 'delivery', 'deliveries')} on "
            f"{count(queues, 'queue')} checked. The Data page shows which source was read for which time."
        ),
        icon=":material/check_circle:",
    )


def table(wanted: list[Incident], page: Page) -> str | None:
    """Show the incidents, newest first, and return the id of the one that was clicked."""
    until = page.board.generation.data_until_at
    marked = marks.of_incidents(page)
    rows = [
        {
            "Incident": i["incident_id"],
            "What happened": i["headline"],
            "Queue": i["queue"],
            "Started": page.clock.minute(i["started_at"]),
            "Messages": affected(i),
            "Cause": cause(i["primary_cause"]),
            "Verdict": [verdict(i)],
            "State": " · ".join(filter(None, (state(i, until), marked.get(i["incident_id"])))),
        }
        for i in wanted
    ]
    event = st.dataframe(
        rows,
        hide_index=True,
        key="incidents",
        row_height=ROW_OF_TWO_LINES,
        height=two_line_height(len(rows)),
        on_select="rerun",
        selection_mode=["single-row", "single-cell"],
        column_order=["Verdict", "What happened", "Queue", "Started", "State", "Cause", "Messages", "Incident"],
        column_config={
            "Verdict": verdict_column(),
            "What happened": st.column_config.TextColumn(width=210),
            "Queue": st.column_config.TextColumn(width=104),
            "Started": st.column_config.TextColumn(width=84, help=f"Times in {page.clock.label()}."),
            "State": st.column_config.TextColumn(width=84),
            "Cause": st.column_config.TextColumn(width=112),
            "Messages": st.column_config.TextColumn(
                width=78, help="Processed twice, of those delivered more than once."
            ),
            "Incident": st.column_config.TextColumn(width=98),
        },
        alt="Incidents, newest first",
    )
    picked = [*event["selection"]["rows"], *(row for row, _ in event["selection"]["cells"])]
    return wanted[picked[0]]["incident_id"] if picked else None
