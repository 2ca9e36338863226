"""Equal spans: a week that has only begun is compared with the same days of the week before, never with all seven."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from forensics.health.weeks import week_bounds
from forensics.tables.health import QUEUE_WEEKS

Row = Mapping[str, Any]
DAYS = 7
_COUNTS = tuple(
    c.name for c in QUEUE_WEEKS.columns if c.name.endswith("_count") and not c.name.endswith("_max_count")
) + ("twice_at_least", "twice_at_most", "metrics_read_s", "logs_read_s")
"""Columns that add up over days; of the others a week's value is compared as it is."""


def whole_days(week: str, data_until_at: datetime | None, zone: ZoneInfo) -> int:
    """Return how many days of a week the evidence covers to their end; all of them where its end is not known.

    >>> whole_days("2026-W48", datetime(2026, 11, 23, 2, 37, tzinfo=ZoneInfo("UTC")), ZoneInfo("UTC"))
    0
    >>> whole_days("2026-W47", datetime(2026, 11, 23, 2, 37, tzinfo=ZoneInfo("UTC")), ZoneInfo("UTC"))
    7
    """
    if data_until_at is None:
        return DAYS
    first, _ = week_bounds(week)
    return min(max((data_until_at.astimezone(zone).date() - first).days, 0), DAYS)


def opening_week(weeks: Iterable[str], data_until_at: datetime | None, zone: ZoneInfo) -> str:
    """Return the week a review opens on: the newest of which at least one whole day is known, else the newest.

    ``weeks`` are those that were read. Raises ValueError where there is none.

    >>> opening_week(["2026-W47", "2026-W48"], datetime(2026, 11, 23, 2, 37, tzinfo=ZoneInfo("UTC")), ZoneInfo("UTC"))
    '2026-W47'
    """
    newest_first = sorted(weeks, reverse=True)
    return next((week for week in newest_first if whole_days(week, data_until_at, zone)), max(newest_first))


def same_days(
    days: Mapping[str, Row], week: str, count: int, whole_before: Row | None
) -> tuple[Row | None, Row | None]:
    """Return a queue's first ``count`` days of a week, and the same days of the week before, each as one row of queue_weeks.

    ``days`` are the queue's rows of queue_health by day. Where a day of either is missing there is nothing to compare
    (None, None). What does not add up (percentiles, ages) is that of ``whole_before``, the whole week before.
    """
    first, _ = week_bounds(week)
    pair = []
    for monday in (first, first - timedelta(days=DAYS)):
        mine = [days.get((monday + timedelta(days=n)).isoformat()) for n in range(count)]
        if not mine or None in mine:
            return None, None
        pair.append({column: _sum(row[column] for row in mine if row is not None) for column in _COUNTS})
    now, before = pair
    return now, {**(whole_before or dict.fromkeys(QUEUE_WEEKS.column_names)), **before, "compared_days": count}


def _sum(values: Iterable[int | None]) -> int | None:
    known = list(values)
    return None if None in known or not known else sum(value for value in known if value is not None)


__all__ = ["DAYS", "opening_week", "same_days", "whole_days"]
