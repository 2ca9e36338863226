"""One queue's balance of one day. Every number has two ends: metrics are approximate, and findings can be undecided. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any, NamedTuple

from forensics.sentence import said

Row = Mapping[str, Any]
LEVEL_PERIOD_S = 60
"""A level is the highest of its period: how far the queue was from it at the border, sends in between tell."""


class Between(NamedTuple):
    """A count with its two ends."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,} to {self.high:,}"

    def plus(self, other: "Between") -> "Between":
        """Add another count, whose error has nothing to do with this one's."""
        return Between(self.low + other.low, self.high + other.high)

    def minus(self, other: "Between") -> "Between":
        """Take another count away."""
        return Between(self.low - other.high, self.high - other.low)


@dataclass(frozen=True)
class BalanceDay:
    """sent + waiting before = worked off + filtered + dead-lettered + expired + waiting after + unexplained.

    ``read_share`` is the share of the day whose metrics were read. A positive ``unexplained`` left the queue unseen, a
    negative one came into it unseen. None where a metric that it takes was not read.
    """

    queue: str
    day: str
    sent: Between | None
    waiting_before: Between | None
    worked_off: Between | None
    filtered: Between | None
    dead_lettered: Between
    expired: Between
    waiting_after: Between | None
    unexplained: Between | None
    read_share: float
    notes: tuple[str, ...] = ()

    @property
    def is_balanced(self) -> bool | None:
        """Tell whether nothing need be unexplained; None where a metric is missing."""
        return None if self.unexplained is None else self.unexplained.low <= 0 <= self.unexplained.high

    @property
    def sentence(self) -> str:
        """Say what comes of it."""
        if self.unexplained is None:
            if self.read_share and self.sent is self.waiting_before is self.waiting_after is None:
                return "Its metrics were read and have no point that day: a queue at rest publishes none."
            return "The queue's metrics of that day were not read."
        if self.is_balanced:
            return said("It balances: {n} unexplained.", n=f"{self.unexplained}")
        if self.unexplained.low > 0:
            return said(
                "{n} messages left the queue in a way that nothing shows: a purge, another consumer, a retention that ended.",
                n=f"{self.unexplained}",
            )
        return said(
            "{n} more messages left the queue than came: a redrive into it, or deletes that were repeated.",
            n=f"{Between(-self.unexplained.high, -self.unexplained.low)}",
        )


def balance_of(health: Row, dead: Between, expired: Between, notes: tuple[str, ...] = ()) -> BalanceDay:
    """Balance a row of ``queue_health``; ``dead`` and ``expired`` are what findings say of its day."""
    read_s, length_s = health["metrics_read_s"] or 0, (health["ends_at"] - health["starts_at"]).total_seconds()
    sent_count, deleted_count = health["sent_count"], health["deleted_count"]
    before, after = health["waiting_start_count"], health["waiting_end_count"]
    sent = (
        None
        if sent_count is None
        else Between(sent_count - min(health["deduplicated_count"] or 0, sent_count), sent_count)
    )
    passing = ceil((sent_count or 0) / read_s * LEVEL_PERIOD_S) if read_s else 0
    filtered = Between(health["filtered_event_count"] or 0, health["filtered_event_count"] or 0)
    deleted = None
    if deleted_count is not None:  # a repeat is deleted again, and counted again
        repeats = min((health["redelivery_count"] or 0) + (health["unseen_count"] or 0), deleted_count)
        deleted = Between(deleted_count - repeats, deleted_count)
    elif sent_count is not None:
        deleted = Between(0, 0)  # CloudWatch has no point where nothing was deleted
    started = _level(before, health.get("waiting_start_least"), passing)
    ended = _level(after, health.get("waiting_end_least"), passing)
    unexplained = None
    if sent is not None and deleted is not None and started is not None and ended is not None:
        left = deleted.plus(dead).plus(expired).plus(ended)
        unexplained = sent.plus(started).minus(left)
    return BalanceDay(
        queue=health["queue"],
        day=health["day"],
        sent=sent,
        waiting_before=started,
        worked_off=None
        if deleted is None
        else Between(max(deleted.low - filtered.high, 0), max(deleted.high - filtered.low, 0)),
        filtered=None if health["filtered_event_count"] is None else filtered,
        dead_lettered=dead,
        expired=expired,
        waiting_after=ended,
        unexplained=unexplained,
        read_share=min(read_s / length_s, 1.0) if length_s else 0.0,
        notes=notes,
    )


def _level(count: int | None, least: int | None, passing: int) -> Between | None:
    """Return how many waited at the border of a day; generations of earlier releases do not tell the least."""
    if count is None:
        return None
    return Between(max(min(count - passing, count if least is None else least), 0), count)
