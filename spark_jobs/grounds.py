"""What judged deliveries rest on besides their own lines, and up to which moment two rounds agree about it.

Whatever a rule asks of the rest of the evidence has a time: a span that was read, a throttled minute, a queue depth. A
delivery asks only about times up to some moment of its own (``over_at``), so what lies behind it cannot change its row.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_jobs.dead_letters import dead_letter_spans
from spark_jobs.deliveries import LONG_POLL
from spark_jobs.in_force import EARLIEST
from spark_jobs.inputs import Inputs
from spark_jobs.throttles import metric_spans, throttled_spans
from spark_jobs.unseen import read_worker_spans, watched_spans

_QUARTER_US = 900_000_000

Spans = dict[str, list[list[int]]]


@dataclass(frozen=True)
class Horizon:
    """From when on (UTC) what was judged may rest on something else: anywhere, and by queue or log group; None: nowhere."""

    at: datetime | None = None
    by_name: Mapping[str, datetime] = field(default_factory=dict)

    def with_moment(self, at: datetime | None) -> "Horizon":
        """Return a horizon that is nowhere behind a moment."""
        known = [moment for moment in (at, self.at) if moment is not None]
        return Horizon(min(known, default=None), self.by_name)

    def is_behind(self, over: Column, names: Column) -> Column:
        """Tell whether what was over at some moment may be judged otherwise; ``names`` are its queue and log groups."""
        is_behind = F.lit(False) if self.at is None else over >= F.lit(self.at)
        if not self.by_name:
            return is_behind
        pairs = [F.lit(part) for name in sorted(self.by_name) for part in (name, self.by_name[name])]
        since = F.create_map(*pairs)
        first = F.array_min(F.transform(names, lambda name: F.try_element_at(since, name)))
        return is_behind | F.coalesce(over >= first, F.lit(False))


@dataclass(frozen=True)
class Grounds:
    """Times are whole microseconds since 1970, UTC: the same after having been written down."""

    fixed: dict[str, str] = field(default_factory=dict)
    """Queue to what has no time: who consumes it, whether all of those show their STARTs, whether it takes dead letters."""
    borders: dict[str, list[int]] = field(default_factory=dict)
    """Log group to from when until when it was read."""
    spans: dict[str, Spans] = field(default_factory=dict)
    """Kind and queue to spans in time order with gaps between them; asked is whether a span of a delivery's lies in one."""
    marks: dict[str, str] = field(default_factory=dict)
    """Quarter of an hour to the digest of what began in it; asked is whether any touches a span of a delivery's."""

    @classmethod
    def of(
        cls, inputs: Inputs, borders: Iterable[tuple[str, datetime, datetime]], show_starts: Collection[str]
    ) -> "Grounds":
        """Gather them; ``show_starts`` are the log groups of which some run shows its START."""
        marked = [("throttle", row[1], row) for row in throttled_spans(inputs)]
        marked += [("dead letter", row[1], row) for row in dead_letter_spans(inputs)]
        spans = {
            "watched": watched_spans(inputs),
            "workers": read_worker_spans(inputs),
            "metrics": metric_spans(inputs),
        }
        return cls(
            _fixed(inputs, show_starts),
            {group: [_micros(low), _micros(high)] for group, low, high in borders},
            {kind: _by_queue(rows) for kind, rows in spans.items()},
            _by_quarter(marked),
        )

    def alike_until(self, earlier: "Grounds") -> Horizon:
        """Return up to when both say the same."""
        names = [
            *((queue, 0) for queue in _differing(self.fixed, earlier.fixed)),
            *self._moved_borders(earlier),
        ]
        for kind in self.spans.keys() | earlier.spans.keys():
            mine, theirs = self.spans.get(kind, {}), earlier.spans.get(kind, {})
            for queue in mine.keys() | theirs.keys():
                first = _first_difference(mine.get(queue, []), theirs.get(queue, []))
                names += [] if first is None else [(queue, first)]
        by_name: dict[str, int] = {}
        for name, moment in names:
            by_name[name] = min(moment, by_name.get(name, moment))
        marks = [int(quarter) * _QUARTER_US for quarter in _differing(self.marks, earlier.marks)]
        return Horizon(_utc(min(marks)) if marks else None, {name: _utc(moment) for name, moment in by_name.items()})

    def _moved_borders(self, earlier: "Grounds") -> Iterator[tuple[str, int]]:
        for group, (low, high) in earlier.borders.items():
            now = self.borders.get(group, [low - 1, high])
            if now[0] != low or now[1] < high:
                yield group, 0
            elif now[1] > high:
                yield group, high


def over_at(deliveries: DataFrame) -> Column:
    """Return the moment behind which nothing bears on a delivery: its receives, its run and every wait for it are over.

    Twice the visibility timeout is how long a receive may hide behind the border of what was read.
    """
    times = (
        "received_at",
        "order_at",
        "after_at",
        "before_at",
        "run_ended_at",
        "run_last_line_at",
        "last_fact_at",
        "delete_at",
    )
    twice = F.timestamp_millis(F.unix_millis("received_at") + F.col("visibility_timeout_s").cast("long") * 2000)
    polled = F.col("hidden_until_at") + F.lit(LONG_POLL)
    known = [F.col(name) for name in times if name in deliveries.columns]
    return F.greatest(polled, twice, F.lit(EARLIEST).cast("timestamp"), *known)


def _fixed(inputs: Inputs, show_starts: Collection[str]) -> dict[str, str]:
    told: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for row in inputs.small["consumers"]:
        is_shown = row["kind"] != "lambda" or row["log_group"] in show_starts
        names = (row["queue_name"], row["log_group"], row["kind"], row["function_name"], is_shown)
        told[row["queue_arn"]].append(tuple(str(name) for name in names))
    for row in inputs.small["queue_settings"]:
        if row["dead_letter_queue_arn"]:
            told[row["dead_letter_queue_arn"]].append(("takes dead letters",))
    return {queue: hashlib.sha256(repr(sorted(set(rows))).encode()).hexdigest()[:16] for queue, rows in told.items()}


def first_hidden_change(fresh: DataFrame, replaced: DataFrame) -> datetime | None:
    """Return when the first run began that hides its batch and was not there before, or hid it and is not there now."""
    blind = [
        runs.where(~F.col("shows_records")).select("log_group", "started_at").distinct() for runs in (fresh, replaced)
    ]
    key = ["log_group", "started_at"]
    differing = blind[0].join(blind[1], key, how="left_anti").unionByName(blind[1].join(blind[0], key, how="left_anti"))
    first = differing.agg(F.unix_micros(F.min("started_at"))).collect()[0][0]
    return None if first is None else _utc(first)


def _differing(mine: Mapping[str, str], theirs: Mapping[str, str]) -> list[str]:
    return sorted(name for name in mine.keys() | theirs.keys() if mine.get(name) != theirs.get(name))


def _first_difference(mine: list[list[int]], theirs: list[list[int]]) -> int | None:
    for one, other in zip(mine, theirs, strict=False):
        if one[0] != other[0]:
            return min(one[0], other[0])
        if one[1] != other[1]:
            return min(one[1], other[1])
    longer = max(mine, theirs, key=len)
    return longer[min(len(mine), len(theirs))][0] if len(mine) != len(theirs) else None


def _by_queue(rows: Iterable[tuple[str, datetime, datetime]]) -> Spans:
    found: Spans = defaultdict(list)
    for queue, start, end in sorted(rows):
        found[queue].append([_micros(start), _micros(end)])
    return dict(found)


def _by_quarter(marked: Iterable[tuple[str, datetime, tuple[Any, ...]]]) -> dict[str, str]:
    found: dict[str, list[str]] = defaultdict(list)
    for kind, at, row in marked:
        found[str(_micros(at) // _QUARTER_US)].append(repr((kind, row)))
    return {quarter: hashlib.sha256(repr(sorted(rows)).encode()).hexdigest()[:16] for quarter, rows in found.items()}


def _utc(micros: int) -> datetime:
    return EARLIEST + timedelta(microseconds=micros)


def _micros(at: datetime) -> int:
    return (at - EARLIEST) // timedelta(microseconds=1)
