"""Evidence that AWS will soon delete and nobody has read: what a person should know before it is gone."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from forensics.lake import Lake
from forensics.lake.filters import at_least
from forensics.lake.rows import plain_rows
from forensics.sentence import counted, said
from forensics.tables.evidence import LOG_GROUP_SETTINGS, METRIC_POINTS, QUEUE_SETTINGS
from forensics.words import clock_text

Row = Mapping[str, Any]
Span = tuple[datetime, datetime]
SOON = timedelta(days=2)
MINUTE_POINTS_KEPT = timedelta(days=15)
"""CloudWatch keeps points of a minute this long; then only those of five minutes."""
_OLDEST_MESSAGE = "ApproximateAgeOfOldestMessage"


def expiring(lake: Lake, sources: Iterable[Any], now: datetime) -> tuple[str, ...]:
    """Return a sentence per source and queue whose evidence is about to be lost; ``sources`` as in lake_status."""
    retention = _retention(_latest(plain_rows(lake.read(LOG_GROUP_SETTINGS)), "log_group"))
    told = []
    seen = set()
    for source in sources:
        kept = MINUTE_POINTS_KEPT if source.source == METRIC_POINTS.name else retention.get(source.resource)
        if kept is None or source.source not in ("log_events", METRIC_POINTS.name) or source.resource in seen:
            continue
        if sentence := _about(source, kept, now):
            seen.add(source.resource)
            told.append(sentence)
    return tuple(told) + _messages(lake, now)


def _about(source: Any, kept: timedelta, now: datetime) -> str | None:
    """Say when the oldest moment that was not read, and is still there, will be deleted."""
    if source.read_until_at is None or source.is_from_files:
        return None
    unread: list[Span] = [*source.gaps, (source.read_until_at, now)]
    alive = [max(start, now - kept) for start, end in unread if end > now - kept and start < end]
    if not alive:
        return None
    gone_at = min(alive) + kept
    if gone_at > now + SOON:
        return None
    what = "log group" if source.source == "log_events" else "one-minute metrics of"
    told = {"what": what, "name": source.resource, "days": counted(kept.days, "day")}
    if min(alive) <= now - kept:
        lost = "Being lost: {what} {name} keeps {days}, and what was not read is older. Collect now."
        return said(lost, **told)
    return said(
        "About to be lost: {what} {name} keeps {days}; unread since {since} UTC, deleted from {at} UTC on.",
        since=clock_text(min(alive)),
        at=clock_text(gone_at),
        **told,
    )


def _messages(lake: Lake, now: datetime) -> tuple[str, ...]:
    """Say which queues held a message, when last measured, that its retention ends within two days."""
    kept = {r["queue_name"]: r for r in _latest(plain_rows(lake.read(QUEUE_SETTINGS)), "queue_arn")}
    oldest: dict[str, Row] = {}
    recent = at_least("point_at", now - timedelta(hours=6))
    for point in plain_rows(lake.read(METRIC_POINTS, where=recent)):
        if point["metric"] == _OLDEST_MESSAGE:
            newest = oldest.get(point["resource"])
            if newest is None or point["point_at"] > newest["point_at"]:
                oldest[point["resource"]] = point
    told = []
    for name, last in sorted(oldest.items()):
        retention_s = kept.get(name, {}).get("message_retention_s")
        if not retention_s or not last["value"]:
            continue
        gone_at = last["point_at"] - timedelta(seconds=last["value"]) + timedelta(seconds=retention_s)
        if now < gone_at < now + SOON and last["value"] > retention_s / 2:
            lost = "About to be lost: the oldest message of queue {name} is deleted at {at} UTC."
            told.append(said(lost, name=name, at=clock_text(gone_at)))
    return tuple(told)


def _retention(rows: Iterable[Row]) -> dict[str, timedelta]:
    return {row["log_group"]: timedelta(days=row["retention_days"]) for row in rows if row["retention_days"]}


def _latest(rows: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    found: dict[Any, dict[str, Any]] = {}
    for row in sorted(rows, key=lambda r: r["observed_at"]):
        found[row["account_id"], row["region"], row[name]] = row
    return list(found.values())
