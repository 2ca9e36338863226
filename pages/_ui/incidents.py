"""The Incidents page's parts: the sentence, the cards, the filters and the table."""

from collections import Counter
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import streamlit as st

from forensics.language import Language
from forensics.people import is_settled, judged
from forensics.report.activity import ALL_GONE, was_active
from forensics.report.faults import Fault
from forensics.report.log_readiness import blind_consumers
from forensics.report.queue_lookup import known_queues, listed_queues
from forensics.report.records import verdict_counts
from forensics.tables.evidence import LOG_EVENTS
from forensics.tables.findings import LOGGING_READINESS, MESSAGES
from forensics.tables.health import SETTING_FINDINGS
from forensics.verdict.interval import AFFECTED
from forensics.words import cells
from pages._ui import marks
from pages._ui.cards import (
    LINES_OF_A_ROW,
    MOST_ROWS_SEEN,
    TEXT_CELL_PX,
    TEXT_PADDING_PX,
    card,
    row,
    row_px,
    two_line_height,
    whole_px,
)
from pages._ui.completeness import share_card
from pages._ui.coverage import was_read_in_full
from pages._ui.linked import unknown_in_link
from pages._ui.nothing_found import not_checked, of_queue
from pages._ui.said import count_text as count
from pages._ui.said import in_words, interval, language, say, term
from pages._ui.setting_checks import answer
from pages._ui.shell import Page
from pages._ui.states import guarded
from pages._ui.tables import data_table
from pages._ui.urltime import Window, read_window
from pages._ui.words import VERDICT_PX, VERDICTS, cause, cause_name, plain, verdict_column

Incident = dict[str, Any]
BARS = 12
"""Bars of a fault's course: in a cell of 50 pixels twice as many are lines that nobody sees on a dark page."""
TABLE_PX, LEAST_PX, FEWEST_PX = 866, 190, 150
"""What a desk of 1360 pixels leaves the table's columns; what the one of what happened has, and at least beside one of long ids."""
PERIODS = {"all": None, "24 h": timedelta(hours=24), "7 days": timedelta(days=7), "28 days": timedelta(days=28)}


def verdict(incident: Incident) -> str:
    """Return the gravest verdict among the incident's messages, as the logs have it: no mark changes it."""
    return next((v for v in VERDICTS if judged(incident)[v]), "possible")


def affected(incident: Incident) -> str:
    """Say how many works were done twice, of those that came again: ``7 to 8 of 10``."""
    if incident["messages"] is None:
        return (
            say("up to {n}", n=incident["messages_at_most"])
            if incident["messages_at_most"] is not None
            else term("unknown")
        )
    counts = verdict_counts(incident)
    return say(
        "{interval} of {total}",
        interval=interval(counts["confirmed"], sum(counts[v] for v in AFFECTED)),
        total=sum(counts.values()),
    )


def filters(found: list[Incident], page: Page) -> tuple[list[Incident], list[Incident], str | None]:
    """Show the filters in the sidebar.

    Returns the incidents that pass, newest first, those of any time that would, and the queue that is asked about.
    """
    queues, kinds = _queues(found, page), sorted({i["primary_cause"] or "undecidable" for i in found})
    choices = {
        "queue": (["all", *queues], Language.maybe),
        "kind": (["all", *kinds], _kind),
        "period": (PERIODS, Language.sentence),
    }
    for key, (known, label) in choices.items():
        if asked := unknown_in_link(key, known, label):
            said = say(
                "{key}={asked} of the link names nothing in data version {data_version}; it is ignored.",
                key=key,
                asked=asked,
                data_version=page.data_version,
            )
            st.warning(plain(said), icon=":material/filter_alt_off:")
    with st.sidebar:
        queue = st.selectbox(say("Queue"), ["all", *queues], key="queue", bind="query-params", format_func=term)
        kind = st.selectbox(
            say("Kind"), ["all", *kinds], key="kind", bind="query-params", format_func=partial(_kind, language())
        )
        period = st.selectbox(say("Period"), list(PERIODS), key="period", bind="query-params", format_func=in_words)
    window = read_window()
    window.notice(page.clock)
    length, until = PERIODS[period], page.board.generation.data_until_at
    if length and until:
        window = window.within(Window(until - length, None))
    of_any_time = [
        i for i in found if queue in ("all", i["queue"]) and kind in ("all", i["primary_cause"] or "undecidable")
    ]
    chosen = [i for i in of_any_time if window.overlaps(i["started_at"], i["ended_at"])]
    newest_first = sorted(chosen, key=lambda i: (i["started_at"], i["incident_id"]), reverse=True)
    return newest_first, of_any_time, None if queue == "all" else queue


def _queues(found: list[Incident], page: Page) -> list[str]:
    """Return the queues that can be asked about: every one that is known, dead-letter queues where they have incidents or the link asks."""
    with guarded("the queues", page.data_version):
        known = {*_listed(page.board.key, page), *(i["queue"] for i in found)}
        asked = st.query_params.get("queue")
        if asked and asked not in known and _is_known(page.board.key, asked, page):
            known.add(asked)
        return sorted(known)


@st.cache_data(max_entries=8, show_spinner=False)
def _listed(key: tuple[str, str], _page: Page) -> list[str]:
    return listed_queues(_page.board.findings)


@st.cache_data(max_entries=64, show_spinner=False)
def _is_known(key: tuple[str, str], queue: str, _page: Page) -> bool:
    return queue in known_queues(_page.board.findings)


def _kind(spoken: Language, code: str) -> str:
    return spoken.maybe("all" if code == "all" else cause_name(code))


def sentence(ranked: list[Fault], wanted: list[Incident], found: list[Incident], queue: str | None, page: Page) -> str:
    """Answer the page's question in one sentence: of the faults of what is ``wanted``, worst first, it names the first."""
    until = page.board.generation.data_until_at
    if not found:
        if blind := blind_consumers(page.board.records(LOGGING_READINESS, ("level", "==", "blind"))):
            return not_checked(*blind[0])
        return say("No incidents in the data, which ends {data_end}.", data_end=page.data_end)
    if queue and all(i["queue"] != queue for i in found):
        return of_queue(queue, page)
    if not wanted:
        return say(
            "No incidents match this filter ({n} in total); the data ends {data_end}.",
            n=len(found),
            data_end=page.data_end,
        )
    running = [fault for fault in ranked if fault.is_open(until)]
    if running:
        when = (
            say("Open now")
            if page.is_fresh
            else say("Still open where the data ends ({data_end})", data_end=page.data_end)
        )
        more = say(", and {n} more", n=len(running) - 1) if len(running) > 1 else ""
        told = say(
            "{when} on {queue}: {what}{more}.", when=when, queue=running[0].queue, what=_what(running[0]), more=more
        )
        return told + _sure_besides(running, ranked, until)
    worst = ranked[0]
    which = (
        say("The only fault") if len(ranked) == 1 else say("The worst of {fault}", fault=count(len(ranked), "fault"))
    )
    if len(wanted) == 1:
        which = say("The only incident")
    quiet = say(
        "{which}, on {queue}, {state}: {what}.",
        which=which,
        queue=worst.queue,
        state=in_words(worst.state(until)),
        what=_what(worst),
    )
    if any(fault.state(until) == ALL_GONE for fault in ranked):
        return say("No fault is open where the data ends ({data_end}). {quiet}", data_end=page.data_end, quiet=quiet)
    return say(
        "Nothing active in the last hour of data, which ends {data_end}. {quiet}", data_end=page.data_end, quiet=quiet
    )


def _sure_besides(running: list[Fault], ranked: list[Fault], until: datetime | None) -> str:
    """Name the worst that surely happened where nothing that is open is sure: what may be must not hide what was."""
    sure = next((fault for fault in ranked if fault.counts["confirmed"]), None)
    if sure is None or any(fault.counts["confirmed"] for fault in running):
        return ""
    return say(
        " Confirmed, on {queue}, {state}: {what}.",
        queue=sure.queue,
        state=in_words(sure.state(until)),
        what=_what(sure),
    )


def _what(fault: Fault) -> str:
    return f"{in_words(fault.headline)}{f' ({in_words(fault.times)})' if fault.times else ''}"


def cards(
    ranked: list[Fault],
    wanted: list[Incident],
    of_any_time: list[Incident],
    coverage: list[dict[str, Any]],
    queues: list[dict[str, Any]],
    page: Page,
) -> None:
    """Show the four numbers; the one of 7 days says so, and does not follow the period that was chosen.

    What is open is counted as the sentence above and the table below count it: in faults.
    """
    until = page.board.generation.data_until_at
    dead = {q["dead_letter_queue_arn"] for q in queues}
    known = {q["queue_arn"] for q in queues if q["queue_arn"] not in dead} | {i["queue_arn"] for i in wanted}
    is_checked = bool(of_any_time or page.board.generation.row_counts.get("deliveries"))  # else a nought would be calm
    grid = row(4)
    incidents = count(sum(was_active(i, until) and not is_settled(i) for i in wanted), "incident")
    said = say("Active in the last hour of the data: {incidents}.", incidents=incidents)
    then = {} if page.is_fresh else {"delta": page.as_of}
    card(
        grid,
        say("Open faults"),
        f"{sum(f.is_open(until) for f in ranked):,}" if is_checked else term("unknown"),
        said,
        delta_color="off",
        delta_arrow="off",
        **then,  # what is open now nobody knows
    )
    now, before = _twice(of_any_time, until, 0, page), _twice(of_any_time, until, 7, page)
    logs = [c for c in coverage if c["source"] == LOG_EVENTS.name]
    since = page.board.generation.data_since_at
    compares = until is not None and was_read_in_full(logs, until - timedelta(days=14), until - timedelta(days=7))
    compares = compares and (since is None or since <= until - timedelta(days=14))
    card(
        grid,
        say("Done twice, 7 days"),
        interval(*now) if is_checked else term("unknown"),
        say(
            "Works that were done more than once: for sure, to at most. One that came under two message ids "
            "counts once. The arrow compares what is sure with the 7 days before."
        ),
        delta=now[0] - before[0] if compares and is_checked else None,
        delta_color="inverse",
        delta_description=say("vs 7 days before") if compares and is_checked else None,
    )
    said = say(
        "Queues with a settings check that failed, critical or warning, and is no accepted risk. Dead-letter "
        "queues are left out."
    )
    at_risk = _at_risk(known, page)
    card(
        grid,
        say("Queues at risk"),
        term("unknown") if at_risk is None or not known else say("{some} of {total}", some=at_risk, total=len(known)),
        said,
    )
    said = say("Time that was asked of every source and read in full. The Data page shows what is missing.")
    share_card(grid, coverage, page.board, page.clock, said)


def _at_risk(known: set[str], page: Page) -> int | None:
    """Count the queues whose settings ask for trouble; None where none were checked."""
    checks = page.board.records(SETTING_FINDINGS, columns=("queue_arn", "queue", "code", "status", "severity"))
    if not checks:
        return None
    grave = {c["queue_arn"] for c in checks if answer(c, page) in ("critical", "warning")}
    return len(grave & known)


def _twice(found: list[Incident], until: datetime | None, days_ago: int, page: Page) -> tuple[int, int]:
    if until is None:
        return 0, 0
    end = until - timedelta(days=days_ago)
    mine = [i for i in found if end - timedelta(days=7) < i["ended_at"] <= end]
    counts = [verdict_counts(i) for i in mine]
    shared = [i["incident_id"] for i in mine if i["works_shared"]]
    if len(shared) > 1:
        counts.append(_counted_again(shared, page))
    return sum(c["confirmed"] for c in counts), sum(c[v] for c in counts for v in AFFECTED)


def _counted_again(incident_ids: list[str], page: Page) -> dict[str, int]:
    """Return per verdict, below zero, how often incidents that share works count one more than once."""
    rows = page.board.records(
        MESSAGES,
        ("incident_id", "in", tuple(incident_ids)),
        columns=("incident_id", "queue_arn", "work_id", "verdict"),
    )
    counted = page.people.messages(rows)
    seen = {(r["queue_arn"], r["work_id"], r["incident_id"]): r["verdict"] for r in counted}
    once = {key[:2]: verdict for key, verdict in seen.items()}
    each, works = Counter(seen.values()), Counter(once.values())
    return {v: works[v] - each[v] for v in VERDICTS}


def table(ranked: list[Fault], page: Page) -> Fault | None:
    """Show the faults, the worst first, and return the one that was clicked."""
    until = page.board.generation.data_until_at
    first = min(fault.started_at for fault in ranked)
    last = until or max(fault.ended_at for fault in ranked)
    course = ["Times", "Over time"] if any(len(fault.incidents) > 1 for fault in ranked) else []
    rows = [
        {
            "Incident": f.newest["incident_id"],
            "What happened": f"{f.queue}: {in_words(f.headline)}",
            "Times": len(f.incidents),
            "Over time": f.bars(first, last, BARS) if len(f.incidents) > 1 else None,  # one incident has no course
            "Last": page.clock.minute(f.ended_at),
            "Repeats": interval(*f.repeats),
            "Cause": cause(f.trigger),
            "Verdict": [f.verdict],
            "State": " · ".join(filter(None, (in_words(f.state(until)), *marks.of_fault(f, page)))),
        }
        for f in ranked
    ]
    is_english = language().code == "en"
    px = {"Verdict": VERDICT_PX[is_english], "Last": 92, "Cause": 114 if is_english else 106}
    px |= {"State": 76, "Repeats": 62} if is_english else {"State": 90, "Repeats": 74}
    px |= {"Times": 46, "Over time": 66} if course else {}
    texts, ids = ([row[name] for row in rows] for name in ("What happened", "Incident"))
    px["What happened"], px["Incident"] = widths_px(texts, ids, TABLE_PX - sum(px.values()))
    own_column = ["Incident"] if px["Incident"] else []
    if not own_column:
        for told in rows:
            with_id = "{what} · last: {id}" if told["Times"] > 1 else "{what} · {id}"
            told["What happened"] = say(with_id, what=told["What happened"], id=told["Incident"])
    high = row_px((row[name], px[name]) for row in rows for name in ("What happened", "State", "Cause"))
    event = data_table(
        rows,
        hide_index=True,
        key="incidents",
        row_height=high,
        height=two_line_height(len(rows), high),
        on_select="rerun",
        selection_mode=["single-row", "single-cell"],
        column_order=[
            "Verdict",
            "What happened",
            *course,
            "Last",
            "State",
            "Repeats",
            "Cause",
            *own_column,
        ],
        column_config={
            "Verdict": verdict_column(),
            "What happened": st.column_config.TextColumn(width=px["What happened"]),
            "Times": st.column_config.NumberColumn(
                width=px.get("Times"), help=say("Incidents with the same trigger and settings.")
            ),
            "Over time": st.column_config.BarChartColumn(
                width=px.get("Over time"),
                y_min=0,
                help=say(
                    "Incidents from {start} to {end}.", start=page.clock.minute(first), end=page.clock.minute(last)
                ),
            ),
            "Last": st.column_config.TextColumn(
                width=px["Last"],
                help=say("When it was last active; {zone}.", zone=page.clock.label()),
            ),
            "State": st.column_config.TextColumn(width=px["State"]),
            "Repeats": st.column_config.TextColumn(
                width=px["Repeats"], help=say("Times that work was done beyond the first.")
            ),
            "Cause": st.column_config.TextColumn(width=px["Cause"]),
            "Incident": st.column_config.TextColumn(width=px["Incident"] or None, help=say("The last one.")),
        },
        alt=say("Faults, the worst first"),
    )
    opens = say("A click on a row opens it.")
    st.caption(opens if len(rows) <= MOST_ROWS_SEEN else f"{count(len(rows), 'fault')}. {opens}")
    picked = [*event["selection"]["rows"], *(row for row, _ in event["selection"]["cells"])]
    return ranked[picked[0]] if picked else None


def widths_px(texts: list[str], ids: list[str], room_px: int) -> tuple[int, int]:
    """Return the pixels of what happened and of the ids, in which nothing is pushed out at the right.

    Ids stay on one line: where a column of theirs leaves too little for the texts, it is 0 pixels wide, and each stands at its text's end.
    """
    whole = whole_px(ids)
    if room_px - whole < FEWEST_PX:
        return min(max(LEAST_PX, whole), room_px), 0
    wanted = max(LEAST_PX, *(TEXT_PADDING_PX + -(-cells(text) // LINES_OF_A_ROW) * TEXT_CELL_PX for text in texts))
    return min(wanted, room_px - whole), whole
