"""Queue health per day and per ISO week of the team's zone, and each consumer's last seven days for the settings checks."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl

from forensics.clock import EPOCH, micros
from forensics.counting.halves import halved
from forensics.counting.measures import KEY, MEASURES, QUARTER_US, VALUES, first_ids, summed, times_of
from forensics.counting.metrics import start_of
from forensics.known import Known
from forensics.tables import Table
from forensics.tables.health import QUEUE_HEALTH, QUEUE_WEEKS

RECENT = timedelta(days=7)
"""How far back from the end of the evidence the settings checks look, from a whole quarter of an hour on."""
DAY, WEEK, RECENTLY = "day", "week", "recent"
_KINDS = pl.Enum([DAY, RECENTLY, WEEK])

_UTC = pl.Datetime("us", "UTC")
_KEY = ("kind", "queue_arn", "first_day", "consumer")
"""A period: ``first_day`` in the zone, null for recent; ``consumer`` null for days and weeks."""
_NUMBER = ("number",)
"""A period's number, by which what is known of it is counted together sooner than by its key."""
_OF_LOGS = {
    "delivery_count": "delivery",
    "redelivery_count": "redelivery",
    "unseen_count": "unlogged",
    "item_count": "item",
    "twice_at_least": "twice_surely",
    "twice_at_most": "twice_maybe",
    "stopped_count": "stopped",
    "run_count": "run",
    "timeout_count": "timeout",
    "error_count": "error",
    "crash_count": "crash",
    "expired_handle_count": "expired_handle",
    "poison_count": "poison",
    "known_dedup_count": "known_dedup",
    "random_dedup_count": "random_dedup",
    "self_sent_count": "self_sent",
    "sent_again_count": "sent_again",
    "dead_lettered_count": "dead_lettered",
}
"""Counts that mean nothing where no log was read: null there, and 0 where the logs show none."""
_OF_METRICS = {
    "sent_count": "sent",
    "received_count": "received",
    "deleted_count": "deleted",
    "throttle_count": "throttles",
    "dead_letter_rise_count": "dead_letter_rise",
    "empty_receive_count": "empty_receives",
    "deduplicated_count": "deduplicated",
    "invocation_count": "invocations",
    "invocation_error_count": "invocation_errors",
    "recursion_dropped_count": "recursions_dropped",
    "polled_event_count": "polled_events",
    "filtered_event_count": "filtered_events",
    "invoked_event_count": "invoked_events",
    "failed_invoke_event_count": "failed_invokes",
    "deleted_event_count": "deleted_events",
}
"""Sums of metrics: null where CloudWatch has no data."""


def of_days(measures: pl.DataFrame, zone: ZoneInfo, data_until: datetime | None) -> pl.DataFrame:
    """Return measures (MEASURES) counted together by consumer and day of the zone, recent ones apart: what periods_of counts.

    May be asked for part by part: to count all of these gives what to count all measures gives.
    """
    return days_together(_dated(measures, zone, data_until))


ROWS_SPARED = 2_000
"""So many rows by day of the last stretch of time at most may still change."""
HASHES_PER_ROW = 4
"""To count a row by day again costs as much as to look at so many hashes."""


def span_of(*measures: pl.DataFrame) -> tuple[int, int] | None:
    """Return the first and the last quarter of an hour of which anything is measured (µs); None where nothing is."""
    at = pl.concat([frame["at"] for frame in measures]).to_physical()
    low, high = at.min(), at.max()
    return None if low is None else (int(low), int(high))  # type: ignore[arg-type]


def recent_within(spans: Iterable[tuple[int, int]], data_until: datetime | None) -> datetime | bool:
    """Return from when on measures of these spans (µs) are recent, a bool where all are or none: all that of_days makes of the end."""
    since = recent_from(data_until)
    at = None if since is None else micros(since)
    are_recent = {at is not None and end >= at for span in spans for end in span}
    return since if since is not None and len(are_recent) > 1 else any(are_recent)


def stretches(
    spans: Sequence[Sequence[int]], data_until: datetime | None, most: int
) -> Iterator[tuple[list[int], datetime | bool]]:
    """Yield which of some files, at most so many, are counted together, by time, and what ``recent_within`` says of them.

    ``spans`` are moments (µs) of which each tells something, its first and last among them; a file may tell nothing.
    """
    some = [n for n, ends in enumerate(spans) if ends]
    at = np.array([min(spans[n]) for n in some], np.int64)
    of_unit: dict[str, list[int]] = defaultdict(list)
    for n, unit in zip(some, halved(at, np.ones(len(some)), most), strict=True):
        of_unit[unit].append(n)
    for _, mine in sorted(of_unit.items()):
        yield mine, recent_within(((min(spans[n]), max(spans[n])) for n in mine), data_until)


def periods_of(
    measured: pl.DataFrame, metrics: pl.DataFrame, read: pl.DataFrame, zone: ZoneInfo, data_until: datetime | None
) -> pl.DataFrame:
    """Return what was measured of each queue and period, sorted; ``kind`` is day, week, or recent (per consumer, 7 days).

    ``measured`` is what of_days returned of all parts of the lake, one after the other, ``metrics`` what metric_measures and
    ``read`` what read_measures returned. ``data_until`` is the end of the evidence, UTC; without it nothing is recent.
    Columns are those of queue_health and queue_weeks, and for the checks ``consumer``, ``highest_receive_count``,
    ``largest_batch`` and ``has_one_group``; ``period`` is the day or the week, empty for recent.
    """
    whole = [days_together(measured), *(_dated(frame, zone, data_until) for frame in (metrics, read))]
    counted = _counted(*map(_of_kinds, whole))
    days = counted.select("kind", "first_day").drop_nulls().unique()
    calendar: list[tuple[Any, ...]] = [_on_calendar(kind, day, zone) for kind, day in days.iter_rows()]
    calendar.append((RECENTLY, None, "", "", recent_from(data_until), data_until))
    names = pl.DataFrame(calendar, _NAMES, orient="row")
    every = counted.join(names, ["kind", "first_day"], nulls_equal=True)
    every = every.with_columns(pl.col("kind").cast(pl.String), zone=pl.lit(str(zone)))
    return every.drop("first_day").sort("kind", "queue_arn", "period", "consumer")


def _of_kinds(dated: pl.DataFrame) -> pl.DataFrame:
    """Return what was measured once for its day, once for its week, and where it is recent once for its consumer."""
    nobody, day = pl.lit(None, pl.String).alias("consumer"), pl.col("first_day")
    recent = dated.filter("is_recent", pl.col("consumer").is_not_null())
    return pl.concat(
        [
            dated.with_columns(nobody, kind=pl.lit(DAY, _KINDS)),
            dated.with_columns(nobody, day.dt.truncate("1w"), kind=pl.lit(WEEK, _KINDS)),
            recent.with_columns(pl.lit(None, pl.Date).alias("first_day"), kind=pl.lit(RECENTLY, _KINDS)),
        ]
    )


def _dated(rows: pl.DataFrame, zone: ZoneInfo, data_until: datetime | None) -> pl.DataFrame:
    since = pl.lit(recent_from(data_until), _UTC)
    day = pl.col("at").dt.convert_time_zone(str(zone)).dt.date().alias("first_day")
    return rows.with_columns(day, (pl.col("at") >= since).fill_null(False).alias("is_recent"))


def days_together(dated: pl.DataFrame) -> pl.DataFrame:
    """Return what ``of_days`` returned of some parts with what is of one day and consumer counted together: that counts the same."""
    key = ("queue_arn", "consumer", "first_day", "is_recent")
    every = (summed(dated, key), *(times_of(dated, key, name) for name in VALUES))
    rest = {name: kind for name, kind in dated.schema.items() if name in MEASURES and name not in KEY}
    none = pl.DataFrame(schema={name: dated.schema[name] for name in key} | rest)
    return pl.concat([none, *every], how="diagonal")


def recent_from(data_until: datetime | None) -> datetime | None:
    """Return from when on something is recent, UTC."""
    if data_until is None:
        return None
    at = data_until - RECENT
    return at - (at - EPOCH) % timedelta(microseconds=QUARTER_US)


def queue_health_rows(periods: pl.DataFrame, known: Known) -> list[dict[str, Any]]:
    """Return the rows of queue_health, one per queue and day, sorted."""
    return _rows(periods.filter(pl.col("kind") == DAY).rename({"period": "day"}), QUEUE_HEALTH, known)


def queue_weeks_rows(periods: pl.DataFrame, known: Known) -> list[dict[str, Any]]:
    """Return the rows of queue_weeks, one per queue and ISO week, sorted."""
    return _rows(periods.filter(pl.col("kind") == WEEK), QUEUE_WEEKS, known)


def _rows(periods: pl.DataFrame, table: Table, known: Known) -> list[dict[str, Any]]:
    named = periods.with_columns(
        pl.col("queue_arn").str.split(":").list.last().alias("queue"),
        pl.col("queue_arn").is_in(sorted(known.dead_letter_queue_arns)).alias("is_dead_letter_queue"),
    )
    return named.select(table.column_names).to_dicts()


_NAMES: dict[str, Any] = {
    "kind": _KINDS,
    "first_day": pl.Date,
    **dict.fromkeys(("period", "week"), pl.String),
    **dict.fromkeys(("starts_at", "ends_at"), _UTC),
}
"""The name of a day or a week, its ISO week, and where it starts and ends (UTC, half-open)."""


def _on_calendar(kind: str, day: date, zone: ZoneInfo) -> tuple[str, date, str, str, datetime, datetime]:
    year, number, _ = day.isocalendar()
    week = f"{year}-W{number:02d}"
    name, length = (day.isoformat(), 1) if kind == DAY else (week, 7)
    return kind, day, name, week, start_of(day, zone), start_of(day + timedelta(days=length), zone)


def _counted(measures: pl.DataFrame, metrics: pl.DataFrame, read: pl.DataFrame) -> pl.DataFrame:
    """Count together what is alike in _KEY: one row per period of which anything is known."""
    periods = pl.concat([frame.select(_KEY) for frame in (measures, metrics, read)]).unique().with_row_index("number")
    measures, metrics, read = (
        frame.join(periods, _KEY, nulls_equal=True).drop(_KEY) for frame in (measures, metrics, read)
    )
    of_logs = summed(measures, _NUMBER)
    of_metrics = _metrics_together(metrics)
    of_read = read.group_by(_NUMBER).agg(pl.col("metrics_read_s", "logs_read_s").sum())
    runs, items = times_of(measures, _NUMBER, "run_ms"), times_of(measures, _NUMBER, "item_ms")
    each_s = metrics.filter(pl.col("age").is_not_null()).group_by(*_NUMBER, "age").agg(pl.len().alias("times"))
    shown_by = [of_logs.select(*_NUMBER, pl.concat_list("slowest_id").alias("evidence"))]
    shown_by += [
        of_metrics.select(*_NUMBER, pl.concat_list(name).alias("evidence"))
        for name in ("age_id", "visible_id", "sum_id")
    ]
    cited = pl.concat([frame.select(*_NUMBER, "evidence") for frame in (of_logs, metrics, read, *shown_by)])
    parts = [
        of_logs.drop("evidence"),
        of_metrics,
        of_read,
        percentiles(runs, _NUMBER, "run_ms", {"handler_p50_ms": 0.5, "handler_p95_ms": 0.95, "handler_p99_ms": 0.99}),
        runs.group_by(_NUMBER).agg(pl.col("run_ms").max().alias("handler_max_ms")),
        percentiles(items, _NUMBER, "item_ms", {"item_p99_ms": 0.99}),
        percentiles(each_s, _NUMBER, "age", {"age_p95_s": 0.95}),
        _reasons(measures),
        first_ids(cited, _NUMBER).rename({"evidence": "evidence_ids"}),
    ]
    for part in parts:
        periods = periods.join(part, _NUMBER, how="left")
    return _in_columns(periods)


def _in_columns(periods: pl.DataFrame) -> pl.DataFrame:
    read_s = pl.col("logs_read_s").fill_null(0)
    was_read = (read_s > 0) | (pl.col("delivery") > 0) | (pl.col("run") > 0)
    of_logs = [pl.when(was_read).then(pl.col(name).fill_null(0)).alias(column) for column, name in _OF_LOGS.items()]
    return periods.select(
        *_KEY,
        pl.col("metrics_read_s").fill_null(0),
        read_s,
        *of_logs,
        *[pl.col(name).alias(column) for column, name in _OF_METRICS.items()],
        pl.col("dead_letter_reasons").fill_null([]),
        "age_p95_s",
        pl.col("age").alias("age_max_s"),
        pl.col("visible").alias("backlog_max_count"),
        pl.col("in_flight").alias("in_flight_max_count"),
        "waiting_start_count",
        "waiting_end_count",
        "waiting_start_least",
        "waiting_end_least",
        "handler_p50_ms",
        "handler_p95_ms",
        "handler_p99_ms",
        "handler_max_ms",
        "item_p99_ms",
        pl.col("poison_age").alias("poison_age_s"),
        pl.col("receives").alias("highest_receive_count"),
        pl.col("batch_count").alias("largest_batch"),
        (pl.col("first_group") == pl.col("last_group")).alias("has_one_group"),
        pl.col("evidence_ids").fill_null([]),
    )


def _metrics_together(metrics: pl.DataFrame) -> pl.DataFrame:
    """Sums and highest levels, with the line of the highest: of equal ones the last by id."""

    def highest(name: str) -> pl.Expr:
        return pl.col(f"{name}_id").filter(pl.col(name) == pl.col(name).max()).max()

    def total(name: str) -> pl.Expr:
        return pl.when(pl.col(name).count() > 0).then(pl.col(name).sum()).alias(name)

    def border(take: Callable[[pl.Expr], pl.Expr]) -> pl.Expr:
        """Messages in the queue at the first or last point of the period; null unless both of its levels are known."""
        visible, hidden, delayed = (take(pl.col(n).drop_nulls()) for n in ("visible", "in_flight", "delayed"))
        return visible + hidden + delayed.fill_null(0)

    def least(take: Callable[[pl.Expr], pl.Expr], passing: str) -> pl.Expr:
        """The fewest there can have been: a level is the highest of its point, and what passed in it may be part of it."""
        at = take(pl.col("at").filter(pl.col("visible").is_not_null()))
        return (border(take) - pl.col(passing).filter(pl.col("at") == at).sum()).clip(0)

    return (
        metrics.sort("at")
        .group_by(_NUMBER, maintain_order=True)
        .agg(
            *[total(name) for name in _OF_METRICS.values()],
            pl.col("age", "visible", "in_flight").max(),
            border(pl.Expr.first).alias("waiting_start_count"),
            border(pl.Expr.last).alias("waiting_end_count"),
            least(pl.Expr.first, "sent_here").alias("waiting_start_least"),
            least(pl.Expr.last, "deleted_here").alias("waiting_end_least"),
            highest("age"),
            highest("visible"),
            pl.col("sum_id").max(),
        )
    )


def _reasons(measures: pl.DataFrame) -> pl.DataFrame:
    """How the deliveries before the moves to the dead-letter queue ended, as code=count, the most frequent first."""
    code = "dead_letter_reason"
    said = pl.concat_str(code, pl.lit("="), "times")
    in_order = times_of(measures, _NUMBER, code).sort("times", code, descending=[True, False])
    return in_order.group_by(_NUMBER, maintain_order=True).agg(
        said.alias("dead_letter_reasons"), pl.col("times").sum().alias("dead_lettered")
    )


def percentiles(times: pl.DataFrame, key: Sequence[str], value: str, parts: dict[str, float]) -> pl.DataFrame:
    """Return percentiles of values that were each measured ``times`` times, whole numbers rounded down, per ``key``.

    ``parts`` names each percentile and gives its share; between two neighbours it is interpolated linearly.
    """
    ranked = (
        times.group_by(*key, value)
        .agg(pl.col("times").sum())
        .sort(value)
        .with_columns(pl.col("times").cum_sum().over(key).alias("_up_to"))
    )
    values, up_to = pl.col(value), pl.col("_up_to")
    found = []
    for name, share in parts.items():
        place = (up_to.max() - 1) * share
        lower = values.filter(up_to > place.floor()).first()
        higher = values.filter(up_to > place.ceil()).first()
        between = (place.ceil() - place) * lower + (place - place.floor()) * higher
        found.append(pl.when(lower == higher).then(lower).otherwise(between.floor()).cast(pl.Int64).alias(name))
    return ranked.group_by(key, maintain_order=True).agg(found)
