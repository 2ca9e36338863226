"""One queue's balance of one day. Every number has two ends: metrics are approximate, and findings can be undecided. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
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


Levels = tuple[Between | None, Between | None]
"""How many waited at the begin of a day, and at its end."""


def balance_of(
    health: Row, dead: Between, expired: Between, notes: tuple[str, ...] = (), levels: Levels | None = None
) -> BalanceDay:
    """Balance a row of ``queue_health``; ``dead`` and ``expired`` are what findings say of its day.

    ``levels`` is what is known from the days around it, too, else its own points tell.
    """
    read_s, length_s = health["metrics_read_s"] or 0, (health["ends_at"] - health["starts_at"]).total_seconds()
    sent_count, deleted_count = health["sent_count"], health["deleted_count"]
    sent = (
        None
        if sent_count is None
        else Between(sent_count - min(health["deduplicated_count"] or 0, sent_count), sent_count)
    )
    filtered = Between(health["filtered_event_count"] or 0, health["filtered_event_count"] or 0)
    deleted = None
    if deleted_count is not None:  # a repeat is deleted again, and counted again
        repeats = min((health["redelivery_count"] or 0) + (health["unseen_count"] or 0), deleted_count)
        deleted = Between(deleted_count - repeats, deleted_count)
    elif sent_count is not None:
        deleted = Between(0, 0)  # CloudWatch has no point where nothing was deleted
    started, ended = levels or _levels(health)
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


def levels_of(days: Sequence[Row], until: datetime | None = None) -> list[Levels]:
    """Return what each of a queue's days begins and ends with; ``until`` is when the evidence ends.

    A day ends when the next one begins: where the metrics of both were read in full, the last points of the one and the first of the
    other tell of one moment, and what both allow stands in both. Where they allow nothing in common each keeps its own: something
    came or went in between.
    """
    found = [_levels(day) for day in days]
    for place, (one, next_one) in enumerate(pairwise(days)):
        ended, started = found[place][1], found[place + 1][0]
        if one["ends_at"] != next_one["starts_at"] or ended is None or started is None:
            continue
        both = Between(max(ended.low, started.low), min(ended.high, started.high))
        if both.low <= both.high and all(_is_read(day, until) for day in (one, next_one)):
            found[place], found[place + 1] = (found[place][0], both), (both, found[place + 1][1])
    return found


def _is_read(day: Row, until: datetime | None) -> bool:
    ends_at = min(day["ends_at"], until) if until else day["ends_at"]
    return bool((day["metrics_read_s"] or 0) >= (ends_at - day["starts_at"]).total_seconds())


def _levels(day: Row) -> Levels:
    read_s = day["metrics_read_s"] or 0
    passing = ceil((day["sent_count"] or 0) / read_s * LEVEL_PERIOD_S) if read_s else 0
    before, after = day["waiting_start_count"], day["waiting_end_count"]
    return _level(before, day.get("waiting_start_least"), passing), _level(after, day.get("waiting_end_least"), passing)


def _level(count: int | None, least: int | None, passing: int) -> Between | None:
    """Return how many waited at the border of a day; generations of earlier releases do not tell the least."""
    if count is None:
        return None
    return Between(max(min(count - passing, count if least is None else least), 0), count)
