"""The log lines behind what a page shows: found by their evidence ids, shown word for word, and the way to them in AWS."""

import re
from datetime import datetime, timedelta
from typing import Any

import streamlit as st

from forensics.console import console_link, insights_query
from forensics.tables.evidence import LOG_EVENTS
from pages._ui.said import say
from pages._ui.shell import Page
from pages._ui.words import plain

Line = dict[str, Any]
MOST_CHARS = 600
"""Characters of a log line in a table cell; a chosen row shows the whole line."""
_REACH = timedelta(hours=1)
"""How far outside an incident's bars the lines behind them are looked for."""
_SENT = "senttimestamp"
_STAMP = re.compile(r"^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]*Z?\]?\s*")
_COLUMNS = ("evidence_id", "account_id", "region", "log_group", "log_stream", "logged_at", "order_in_ms", "line")
_TALL_CHARS, _TALL_PX = 300, 110
"""From this many characters on a line scrolls in a box, so that what stands around it stays in sight."""
_NEIGHBOURS = 5
"""Lines shown before and after the one that was chosen."""
_WIDER = (timedelta(seconds=5), timedelta(minutes=2), timedelta(hours=1))
"""How far around a line its neighbours are looked for: further only where there are too few."""


def cut(line: str) -> str:
    """Return the beginning of a line for a cell, without the time it begins with, and with its length where it is long.

    >>> cut("2026-11-20T05:12:00.200Z charged payment_id=pay_1")
    'charged payment_id=pay_1'
    """
    text = _STAMP.sub("", line.strip()) or line.strip()
    return text if len(text) <= MOST_CHARS else say("{text}… ({n} characters)", text=text[:MOST_CHARS], n=len(text))


def log_lines(page: Page, marks: list[dict[str, Any]]) -> dict[str, Line]:
    """Return the cited log events by evidence id; they are looked for near the marks' times."""
    ids = {i for m in marks for i in _cited(m)}
    times = [m[column] for m in marks for column in ("at", "until_at") if m[column] is not None]
    return _log_events(page, ids, [t.to_pydatetime() if hasattr(t, "to_pydatetime") else t for t in times])


def lines_of(evidence_ids: list[str] | None, start: datetime, end: datetime | None, page: Page) -> None:
    """Show the cited log lines of one run, each with its time, in order; looked for near the run's times."""
    found = _log_events(page, set(evidence_ids or ()), [start, end or start])
    if not found:
        st.caption(say("No log line stands behind this row."))
        return
    lines = sorted(found.values(), key=lambda row: (row["logged_at"], row["evidence_id"]))
    st.caption(plain(f"{page.clock.stamp(start)} · {lines[0]['log_group']} · {lines[0]['log_stream']}"))
    st.code(_told(lines, page), language=None, wrap_lines=True)


def around_switch() -> bool:
    """Show the switch for the lines around a chosen one."""
    return st.toggle(
        say("Lines around it"),
        key="around",
        help=say("The {n} before and after, same stream.", n=_NEIGHBOURS),
    )


def whole_line(line: Line, page: Page, *, around: bool) -> None:
    """Show a log line word for word, where it stands, the ways to it in AWS and, where asked, the lines around it.

    Nothing here is a widget, so that a fragment may show it outside itself.
    """
    tall = len(line["line"]) > _TALL_CHARS
    st.code(line["line"], language=None, wrap_lines=True, height=_TALL_PX if tall else "content")
    st.caption(plain(f"{page.clock.stamp(line['logged_at'])} · {line['log_group']} · {line['log_stream']}"))
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        link = console_link(line)
        st.link_button(
            say("Open in CloudWatch"),
            link or "https://console.aws.amazon.com",
            icon=":material/open_in_new:",
            disabled=link is None,
            help=say("The console at this line's moment in its stream; you sign in there.")
            if link
            else say("No console shows this line: it came from a file or an emulator."),
        )
        with st.popover(say("Logs Insights"), icon=":material/manage_search:"):
            st.caption(
                plain(
                    say("The query that finds this line in {log_group}, around its time:", log_group=line["log_group"])
                )
            )
            st.code(insights_query(line), language=None, wrap_lines=True)
    if around:
        lines = neighbours(line, page)
        before = next((n for n, other in enumerate(lines) if other["evidence_id"] == line["evidence_id"]), 0)
        st.code(_told(lines, page, before), language=None, wrap_lines=True)


def neighbours(line: Line, page: Page) -> list[Line]:
    """Return the lines of the same stream around one, that one included, in the order of the stream."""
    found: list[Line] = []
    for reach in _WIDER:
        rows = page.board.records(
            LOG_EVENTS,
            ("logged_at", ">=", line["logged_at"] - reach),
            ("logged_at", "<=", line["logged_at"] + reach),
            ("log_group", "==", line["log_group"]),
            ("log_stream", "==", line["log_stream"]),
            columns=_COLUMNS,
        )
        same = [r for r in rows if (r["account_id"], r["region"]) == (line["account_id"], line["region"])]
        unique = {r["evidence_id"]: r for r in same}
        found = sorted(unique.values(), key=lambda r: (r["logged_at"], r["order_in_ms"] or 0, r["evidence_id"]))
        place = next((n for n, r in enumerate(found) if r["evidence_id"] == line["evidence_id"]), 0)
        if place >= _NEIGHBOURS and len(found) - place > _NEIGHBOURS:
            break
    return found[max(place - _NEIGHBOURS, 0) : place + _NEIGHBOURS + 1]


def line_of(mark: dict[str, Any], lines: dict[str, Line]) -> Line | None:
    """Return the cited line that tells of the mark: of a receive the first one, else the nearest in time.

    A send is told by the printed event with its ``SentTimestamp``.
    """
    cited = [lines[i] for i in _cited(mark) if i in lines]
    if not cited or mark["at"] is None:
        return None
    if mark["kind"] == "sent":  # the printed event tells when; the run's first line does not
        cited = [row for row in cited if _SENT in row["line"].lower() and _names(row, mark)] or cited
    if mark["kind"] in ("sent", "in_flight"):
        return min(cited, key=lambda row: (row["logged_at"], row["evidence_id"]))
    if mark["kind"] == "timeout":
        cited = [row for row in cited if "timed out" in row["line"] or "timeout" in row["line"]] or cited
    return min(cited, key=lambda row: (abs(row["logged_at"] - mark["at"]), row["evidence_id"]))


def _told(lines: list[Line], page: Page, chosen: int | None = None) -> str:
    """Write lines below one another, each with its time; the chosen one is pointed at."""
    time, _ = page.clock.fitting(line["logged_at"] for line in lines)
    point = ["" if chosen is None else "▶ " if n == chosen else "  " for n in range(len(lines))]
    return "\n".join(f"{p}{time(line['logged_at'])}  {cut(line['line'])}" for p, line in zip(point, lines, strict=True))


def _log_events(page: Page, evidence_ids: set[str], times: list[datetime]) -> dict[str, Line]:
    ids = tuple(sorted(i for i in evidence_ids if i.startswith("log:")))
    if not ids or not times:
        return {}
    rows = page.board.records(
        LOG_EVENTS,
        ("logged_at", ">=", min(times) - _REACH),
        ("logged_at", "<=", max(times) + _REACH),
        ("evidence_id", "in", ids),
        columns=_COLUMNS,
    )
    return {row["evidence_id"]: row for row in rows}


def _names(row: Line, mark: dict[str, Any]) -> bool:
    return bool(mark["message_id"]) and mark["message_id"] in row["line"]


def _cited(mark: dict[str, Any]) -> list[str]:
    ids = mark["evidence_ids"]
    return [] if ids is None else list(ids)
