"""Waiting times per queue and day: percentiles with their intervals, and the share over what was promised."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from math import isinf
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from forensics.errors import QueueUnknownError
from forensics.estimates import percentile, percentile_interval, share_interval
from forensics.lake import Findings
from forensics.lake.filters import equals
from forensics.lake.rows import plain_rows
from forensics.sentence import said
from forensics.settings import Settings
from forensics.tables.findings import DELIVERIES
from forensics.words import percent, span_text

_COLUMNS = [
    "queue",
    "queue_arn",
    "item_id",
    "sent_at",
    "received_at",
    "effect",
    "ended_by",
    "effect_at",
    "finished_at",
    "run_ended_at",
]


@dataclass(frozen=True)
class Percentiles:
    """Percentiles of some times in seconds, each with the 95 % interval of its order statistics; infinite where few tell."""

    count: int
    p50_s: float
    p95_s: float
    p99_s: float
    p95_between_s: tuple[float, float]

    @classmethod
    def of(cls, times_s: Sequence[float]) -> "Percentiles | None":
        """Return the percentiles; None where there is no time."""
        if not times_s:
            return None
        ranked = sorted(times_s)
        values = [percentile(ranked, share) for share in (0.5, 0.95, 0.99)]
        return cls(len(ranked), values[0], values[1], values[2], percentile_interval(ranked, 0.95))

    @property
    def words(self) -> str:
        """Say median and p95, this with its interval."""
        low, high = ("?" if isinf(end) else span_text(1000 * end) for end in self.p95_between_s)
        p50, p95 = span_text(1000 * self.p50_s), span_text(1000 * self.p95_s)
        return said("{median}, p95 {high} ({a} to {b})", median=p50, high=p95, a=low, b=high)


@dataclass(frozen=True)
class WaitingDay:
    """A queue's messages that were sent on one day of the team's zone. Times are in seconds from the send.

    ``undone`` counts those of which no line shows that they were done. ``over`` of ``promised`` messages took longer than the
    promise, those that were not done within it until the evidence ends among them; None without a promise.
    """

    queue: str
    day: date
    sent: int
    received: Percentiles | None
    done: Percentiles | None
    undone: int
    promise_s: int | None
    promised: int
    over: int | None

    @property
    def over_words(self) -> str:
        """Say which share was over the promise, with its 95 % interval."""
        if self.over is None or not self.promised:
            return ""
        low, high = share_interval(self.over, self.promised)
        return said("{share} ({a} to {b})", share=percent(self.over / self.promised), a=percent(low), b=percent(high))


def waiting_days(
    findings: Findings, settings: Settings, queue: str | None = None, promise_s: int | None = None
) -> list[WaitingDay]:
    """Return every queue's waiting times day by day; raises QueueUnknownError for a queue without a delivery.

    ``promise_s`` holds for all queues that the settings make no promise for.
    """
    rows = _items(findings, queue)
    if queue is not None and not rows:
        raise QueueUnknownError(
            said("no delivery of a queue {queue} tells when it was sent", queue=repr(queue)),
            "`doubletake status` lists the queues.",
        )
    until = findings.generation.data_until_at
    zone = settings.team.local
    by_day: dict[tuple[str, date], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_day[row["queue"], row["sent_at"].astimezone(zone).date()].append(row)
    found = []
    for (name, day), mine in sorted(by_day.items()):
        promise = settings.queue(name).promise_s or promise_s
        received = [_s(r["sent_at"], r["received_at"]) for r in mine if r["received_at"]]
        done = [_s(r["sent_at"], r["done_at"]) for r in mine if r["done_at"]]
        promised, over = _promised(mine, promise, until)
        found.append(
            WaitingDay(
                queue=name,
                day=day,
                sent=len(mine),
                received=Percentiles.of([t for t in received if t >= 0]),
                done=Percentiles.of([t for t in done if t >= 0]),
                undone=len(mine) - len(done),
                promise_s=promise,
                promised=promised,
                over=over,
            )
        )
    return found


def _promised(rows: Sequence[dict[str, Any]], promise_s: int | None, until: datetime | None) -> tuple[int, int | None]:
    """Count the messages whose promise can be told by the end of the evidence, and those that were over it."""
    if promise_s is None:
        return 0, None
    told = over = 0
    for row in rows:
        ended = row["done_at"] or until
        waited = _s(row["sent_at"], ended) if ended else 0.0
        if row["done_at"] or waited > promise_s:
            told += 1
            over += waited > promise_s
    return told, over


def _items(findings: Findings, queue: str | None) -> list[dict[str, Any]]:
    """Return per message its send, its first receive and when its work was first done, times UTC."""
    where = None if queue is None else equals("queue", queue) | equals("queue_arn", queue)
    table = findings.read(DELIVERIES, _COLUMNS, where)
    is_done = pc.or_(pc.equal(table["effect"], "yes"), pc.fill_null(pc.equal(table["ended_by"], "deleted"), False))
    ended = pc.coalesce(table["effect_at"], table["finished_at"], table["run_ended_at"])
    done_at = pc.if_else(pc.fill_null(is_done, False), ended, pa.scalar(None, ended.type))
    grouped = table.append_column("done_at", done_at).group_by(["queue", "queue_arn", "item_id"])
    found = grouped.aggregate([("sent_at", "min"), ("received_at", "min"), ("done_at", "min")])
    rows = plain_rows(found.filter(pc.is_valid(found["sent_at_min"])))
    return [
        {"queue": r["queue"], **{name: r[f"{name}_min"] for name in ("sent_at", "received_at", "done_at")}}
        for r in rows
    ]


def _s(start: datetime, end: datetime) -> float:
    return (end - start).total_seconds()
