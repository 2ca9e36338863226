"""How fresh an answer is: until when logs were read, and of when the newest of them is."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from forensics.lake import Generation, Lake
from forensics.lake.filters import between, one_of
from forensics.lake.rows import plain_rows
from forensics.sentence import joined, said
from forensics.tables.evidence import COVERAGE, LOG_EVENTS
from forensics.window import TimeWindow
from forensics.words import clock_text, span_text


def freshness(lake: Lake, log_groups: Sequence[str], window: TimeWindow, stored_count: int, now: datetime) -> str:
    """Say it of some log groups and a window, in a sentence; ``stored_count`` is what this run added."""
    if not log_groups:
        return "No log group of this queue is known, so no log was read."
    coverage = plain_rows(lake.read(COVERAGE, where=one_of("resource", log_groups)))
    read_until = _least_latest(
        [r["window_end_at"] for r in coverage if r["resource"] == group and r["status"] == "ok"] for group in log_groups
    )
    known = lake.read(
        LOG_EVENTS,
        ["logged_at"],
        one_of("log_group", log_groups) & between("logged_at", window.start_at, window.end_at),
    )["logged_at"].to_pylist()
    parts = [
        said("Logs are read until {at}", at=_when(read_until, now))
        if read_until
        else "Not every log group could be read"
    ]
    parts.append(
        said("the newest event is of {at}", at=_when(max(known), now)) if known else "no event lies in this window"
    )
    if stored_count == 0:
        parts.append("nothing is new since they were read before")
    return said("{parts}.", parts=joined(parts, "; "))


def logs_left_out(generation: Generation) -> list[str]:
    """Return a sentence where a data version left log events out, as ``correlate --since`` asked."""
    if generation.data_since_at is None:
        return []
    sentence = said(
        "Log events before {at} UTC are left out of data version {version}, so what they show was not checked: "
        "`doubletake correlate` reads all.",
        at=clock_text(generation.data_since_at),
        version=generation.data_version,
    )
    return [sentence]


def _least_latest(times_by_group: Iterable[list[datetime]]) -> datetime | None:
    """Return until when every group was read; None if one never was."""
    latest = [max(times, default=None) for times in times_by_group]
    return None if None in latest else min(t for t in latest if t)


def _when(at: datetime, now: datetime) -> str:
    ago_ms = (now - at).total_seconds() * 1000
    span = span_text(abs(ago_ms) // 1000 * 1000)
    phrase = (
        "{at} UTC (now)" if abs(ago_ms) < 1000 else "{at} UTC ({span} ago)" if ago_ms > 0 else "{at} UTC ({span} ahead)"
    )
    return said(phrase, at=clock_text(at)[:19], span=span)
