"""What was read: coverage rows to shares and gaps."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

from forensics.coverage import TRAIL, is_from_files, standing, tells_of_files
from forensics.identity import queue_name
from forensics.language import of_call
from forensics.sentence import plain
from forensics.spans import length, without

Span = tuple[datetime, datetime]


def gaps(coverage: list[dict[str, Any]]) -> dict[tuple[str, str], list[Span]]:
    """Return per (source, resource) the time that was asked for and never read in full."""
    asked, read = _asked_and_read(coverage)
    return {key: without(spans, read.get(key, [])) for key, spans in asked.items()}


class Gap(NamedTuple):
    """One stretch of time of one source that was asked for and never read; times are UTC."""

    source: str
    resource: str
    start_at: datetime
    end_at: datetime
    why: str


def unread(coverage: list[dict[str, Any]]) -> list[Gap]:
    """Return every gap with what made it, of an error its names alone; the newest first."""
    errors = {(r["source"], r["resource"]): r["detail"] or r["status"] for r in coverage if r["status"] != "ok"}
    found = [
        Gap(source, resource or source, start, end, _short(errors.get((source, resource), "")))
        for (source, resource), spans in gaps(coverage).items()
        for start, end in spans
    ]
    return sorted(found, key=lambda gap: (gap.end_at, gap.resource), reverse=True)


def _short(detail: str) -> str:
    call, _ = of_call(plain(detail))
    return call.removesuffix(": ") or detail


def complete_share(coverage: list[dict[str, Any]]) -> float | None:
    """Return the share of the asked time that was read in full, over all sources; None if nothing was asked."""
    asked, _ = _asked_and_read(coverage)
    total = sum((length(spans) for spans in asked.values()), timedelta())
    missing = sum((length(spans) for spans in gaps(coverage).values()), timedelta())
    return None if not total else 1 - missing / total


def are_files_alone(share: float | None, found: list[Gap]) -> bool:
    """Tell whether files were read and nothing else was asked: how much of everything they hold, no share can say."""
    return not share and bool(found) and all(tells_of_files(gap.why) for gap in found)


def is_read_from_files(coverage: list[dict[str, Any]]) -> bool:
    """Tell the same of rows of coverage."""
    return are_files_alone(complete_share(coverage), unread(coverage))


def _asked_and_read(coverage: list[dict[str, Any]]) -> tuple[dict[Any, list[Span]], dict[Any, list[Span]]]:
    asked, read = defaultdict(list), defaultdict(list)
    for row in coverage:
        key, span = (row["source"], row["resource"]), (row["window_start_at"], row["window_end_at"])
        if None in span:
            continue
        asked[key].append(span)
    for row in standing(coverage):
        span = (row["window_start_at"], row["window_end_at"])
        if None not in span:
            read[row["source"], row["resource"]].append(span)
    return asked, read


def reach(
    coverage: list[dict[str, Any]], since: datetime | None = None
) -> list[tuple[str, str, datetime, datetime, int]]:
    """Return per queue and resource from when to when it was asked for, and how many gaps are inside.

    What lies before ``since`` was left out.
    """
    missing = gaps(coverage)
    found: dict[tuple[str, str], tuple[datetime, datetime, int]] = {}
    for row in coverage:
        start, end = row["window_start_at"], row["window_end_at"]
        if start is None or end is None:
            continue
        key = (queue_name(row["queue_arn"]) or "", row["resource"] or "")
        if since and end <= since:
            continue
        start = max(start, since) if since else start
        holes = sum(not since or until > since for _, until in missing[row["source"], row["resource"]])
        low, high, _ = found.get(key, (start, end, 0))
        found[key] = (min(low, start), max(high, end), holes)
    return [(*key, *found[key]) for key in sorted(found)]


def was_read_in_full(coverage: list[dict[str, Any]], start: datetime, end: datetime) -> bool:
    """Tell whether every source of these was read without a gap from start to end; none at all was not."""
    asked, read = _asked_and_read(coverage)
    return bool(asked) and not any(without([(start, end)], read.get(key, [])) for key in asked)


def by_day(coverage: list[dict[str, Any]]) -> dict[tuple[str, date], str]:
    """Return per queue and UTC day: ``complete``, ``partial``, ``missing`` or ``files``, over all its sources.

    A day counts for what was asked of it: an hour that nobody asked for is not missing.
    ``files``: all that is known of it is what files hold.
    """
    asked, read = defaultdict(list), defaultdict(list)
    others: set[tuple[str, date]] = set()
    for row in coverage:
        start, end = row["window_start_at"], row["window_end_at"]
        if start is None or end is None:
            continue
        queue = _of_whom(row)
        for day, low, high in _days(start, end):
            key = (queue, day, row["source"], row["resource"])
            asked[key].append((low, high))
            if not is_from_files(row["status"], row["detail"]):
                others.add(key[:2])
    for row in standing(coverage):
        start, end = row["window_start_at"], row["window_end_at"]
        if start is None or end is None:
            continue
        queue = _of_whom(row)
        for day, low, high in _days(start, end):
            read[queue, day, row["source"], row["resource"]].append((low, high))
    found: dict[tuple[str, date], list[tuple[timedelta, timedelta]]] = defaultdict(list)
    for key, spans in asked.items():
        whole = length(spans)
        found[key[:2]].append((whole, whole - length(without(spans, read.get(key, [])))))
    states = {key: _state(parts) for key, parts in found.items()}
    return {key: "files" if state != "complete" and key not in others else state for key, state in states.items()}


def _of_whom(row: dict[str, Any]) -> str:
    """Return whose day a reading counts for: its queue's, or its resource's; look-ups of single calls are CloudTrail's."""
    resource = row["resource"] or row["source"]
    return queue_name(row["queue_arn"]) or (TRAIL if resource.startswith(f"{TRAIL} ") else resource)


def _days(start: datetime, end: datetime) -> Iterator[tuple[date, datetime, datetime]]:
    start, end = start.astimezone(UTC), end.astimezone(UTC)
    while start < end:
        midnight = datetime.combine(start.date() + timedelta(days=1), datetime.min.time(), UTC)
        yield start.date(), start, min(midnight, end)
        start = midnight


def _state(parts: list[tuple[timedelta, timedelta]]) -> str:
    asked = sum((a for a, _ in parts), timedelta())
    read = sum((r for _, r in parts), timedelta())
    if read == asked:
        return "complete"
    return "partial" if read else "missing"
