"""CloudWatch's points of queues and functions as measures of a queue, each truth counted once; and what was read when.

The same minutes can have been read twice, at 60 s and later at 300 s, and values can have been revised.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl

from forensics.coverage import standing
from forensics.identity import queue_name
from forensics.known import Known
from forensics.spans import length

SUMS = {
    "NumberOfMessagesSent": "sent",
    "NumberOfMessagesReceived": "received",
    "NumberOfMessagesDeleted": "deleted",
    "Throttles": "throttles",
    "NumberOfEmptyReceives": "empty_receives",
    "NumberOfDeduplicatedSentMessages": "deduplicated",
    "Invocations": "invocations",
    "Errors": "invocation_errors",
    "RecursiveInvocationsDropped": "recursions_dropped",
    "PolledEventCount": "polled_events",
    "FilteredOutEventCount": "filtered_events",
    "InvokedEventCount": "invoked_events",
    "FailedInvokeEventCount": "failed_invokes",
    "DeletedEventCount": "deleted_events",
}
_AGE, _VISIBLE = "ApproximateAgeOfOldestMessage", "ApproximateNumberOfMessagesVisible"
LEVELS = {
    _AGE: "age",
    _VISIBLE: "visible",
    "ApproximateNumberOfMessagesNotVisible": "in_flight",
    "ApproximateNumberOfMessagesDelayed": "delayed",
}
PASSING = {"NumberOfMessagesSent": "sent_here", "NumberOfMessagesDeleted": "deleted_here"}
"""What came and went within a point, for how far its level can be from the queue at the point's ends."""
_POINT = ("namespace", "resource", "metric", "statistic", "period_s", "point_at")
_HOUR = ("namespace", "resource", "metric", "hour_at")
_OWNER = ("namespace", "resource")

_UTC = pl.Datetime("us", "UTC")
METRICS = pl.Schema(
    {
        "queue_arn": pl.String(),
        "consumer": pl.String(),
        "at": _UTC,
        **dict.fromkeys((*SUMS.values(), *LEVELS.values(), *PASSING.values(), "dead_letter_rise"), pl.Int64()),
        "sum_id": pl.String(),
        "age_id": pl.String(),
        "visible_id": pl.String(),
        "evidence": pl.List(pl.String()),
    }
)
"""One row per queue, metric and hour (sums) or point (levels, what passed in it), UTC; the values of the other metrics are null in it.

``consumer`` is the function of Throttles; ``dead_letter_rise`` is what the queue's dead-letter queue gained at that point;
``evidence`` cites the point where it has to be shown by itself.
"""
READ = pl.Schema(
    {
        "queue_arn": pl.String(),
        "consumer": pl.String(),
        "at": _UTC,
        "metrics_read_s": pl.Int64(),
        "logs_read_s": pl.Int64(),
        "evidence": pl.List(pl.String()),
    }
)
"""One row per queue, day of the zone (``at`` is its start, UTC) and kind of source: the seconds that were read in full.

``consumer`` is null: what was read is of the queue.
"""

Span = tuple[datetime, datetime]


def metric_measures(points: pl.DataFrame, known: Known) -> pl.DataFrame:
    """Measure all of a lake's metric points, in columns of the table ``metric_points``; returns METRICS."""
    if points.is_empty():
        return pl.DataFrame(schema=METRICS)
    newest = _newest(points)
    levels = _levels(newest)
    found = [_sums(newest, known), _own_levels(levels, known), _passing(newest, known), _rises(levels, known)]
    return pl.concat([pl.DataFrame(schema=METRICS), *found], how="diagonal")


def _newest(points: pl.DataFrame) -> pl.DataFrame:
    """Keep of each point the value that was read last."""
    wanted = points.filter(
        pl.col("metric").is_in([*SUMS, *LEVELS]), pl.col("statistic").is_in(["Sum", "Maximum"])
    ).select(*_POINT, "value", "collected_at", "evidence_id")
    is_revised = pl.struct(_POINT).is_duplicated()
    revised = wanted.filter(is_revised).sort("collected_at", "evidence_id")
    newest = pl.concat([wanted.filter(~is_revised), revised.unique(_POINT, keep="last", maintain_order=True)])
    return newest.with_columns(pl.col("point_at").dt.truncate("1h").alias("hour_at"))


def _sums(newest: pl.DataFrame, known: Known) -> pl.DataFrame:
    """Sum each hour once: of two readings at different periods the one that saw more."""
    is_peak = pl.col("value") == pl.col("value").max()
    per_hour = (
        newest.filter(pl.col("statistic") == "Sum")
        .group_by(*_HOUR, "period_s")
        .agg(pl.col("value").sum(), pl.col("evidence_id").filter(is_peak).max().alias("sum_id"))
        .sort("value", "period_s")
        .unique(_HOUR, keep="last", maintain_order=True)
    )
    # Only throttles are cited one by one: of the others the reading that brought them is cited.
    is_cited = (pl.col("metric") == "Throttles") & (pl.col("value") > 0)
    return per_hour.join(_owners(known), _OWNER).select(
        "queue_arn",
        "consumer",
        pl.col("hour_at").alias("at"),
        *[_value_of(metric, name) for metric, name in SUMS.items()],
        "sum_id",
        pl.when(is_cited).then(pl.concat_list("sum_id")).alias("evidence"),
    )


def _levels(newest: pl.DataFrame) -> pl.DataFrame:
    """Take each level from the finest period that an hour was read at."""
    levels = newest.filter(pl.col("statistic") == "Maximum", pl.col("metric").is_in(list(LEVELS)))
    finest = levels.group_by(_HOUR).agg(pl.col("period_s").min())
    return levels.join(finest, [*_HOUR, "period_s"], how="semi")


def _own_levels(levels: pl.DataFrame, known: Known) -> pl.DataFrame:
    own = levels.join(_owners(known).filter(pl.col("consumer").is_null()), _OWNER)
    metric = pl.col("metric")
    return own.select(
        "queue_arn",
        pl.col("point_at").alias("at"),
        *[_value_of(name, level) for name, level in LEVELS.items()],
        pl.when(metric == _AGE).then("evidence_id").alias("age_id"),
        pl.when(metric == _VISIBLE).then("evidence_id").alias("visible_id"),
    )


def _passing(newest: pl.DataFrame, known: Known) -> pl.DataFrame:
    """What came and went in each point; of two readings of it the one that saw more."""
    sums = newest.filter(pl.col("statistic") == "Sum", pl.col("metric").is_in(list(PASSING)))
    here = sums.group_by(*_OWNER, "metric", "point_at", maintain_order=True).agg(pl.col("value").max())
    return here.join(_owners(known).filter(pl.col("consumer").is_null()), _OWNER).select(
        "queue_arn", pl.col("point_at").alias("at"), *[_value_of(name, passed) for name, passed in PASSING.items()]
    )


def _rises(levels: pl.DataFrame, known: Known) -> pl.DataFrame:
    """What the dead-letter queue of each queue gained from one point to the next; the first point is a baseline."""
    sources = {
        (r["queue_arn"], queue_name(r["dead_letter_queue_arn"]))
        for r in known.queue_settings
        if r["dead_letter_queue_arn"]
    }
    of_sources = _frame(sorted(sources), {"queue_arn": pl.String(), "resource": pl.String()})
    in_time = levels.filter(pl.col("metric") == _VISIBLE).join(of_sources, "resource").sort("point_at", "evidence_id")
    gained = pl.col("value").diff().over("queue_arn", "resource")
    return in_time.with_columns(pl.max_horizontal(gained, pl.lit(0.0)).cast(pl.Int64).alias("dead_letter_rise")).select(
        "queue_arn",
        pl.col("point_at").alias("at"),
        "dead_letter_rise",
        pl.when(pl.col("dead_letter_rise") > 0).then(pl.concat_list("evidence_id")).alias("evidence"),
    )


def _value_of(metric: str, name: str) -> pl.Expr:
    return pl.when(pl.col("metric") == metric).then(pl.col("value")).cast(pl.Int64).alias(name)


def _owners(known: Known) -> pl.DataFrame:
    """Return whose metric a (namespace, resource) is: a queue's own, a function's for each queue it consumes, a mapping's."""
    queues = [(arn, None, "AWS/SQS", name) for name, arn in sorted(known.queue_arn_by_name.items())]
    pairs = {(r["queue_arn"], r["function_name"]) for r in known.consumers if r["queue_arn"] and r["function_name"]}
    functions = [(arn, function, "AWS/Lambda", function) for arn, function in sorted(pairs)]
    mappings = {
        (r["queue_arn"], r["function_name"], "AWS/Lambda", r["mapping_uuid"])
        for r in known.event_source_mappings
        if r["mapping_uuid"]
    }
    columns = ("queue_arn", "consumer", *_OWNER)
    return _frame([*queues, *functions, *sorted(mappings, key=str)], dict.fromkeys(columns, pl.String()))


def read_measures(known: Known, zone: ZoneInfo) -> pl.DataFrame:
    """Return how long each queue's metrics, and all log groups of its consumers, were read; returns READ."""
    return _frame(list(_read_rows(known.coverage, _sources_by_queue(known), zone)), READ)


def _sources_by_queue(known: Known) -> dict[str, tuple[str, frozenset[str]]]:
    """Return per queue its name, which is its metrics' resource, and the log groups of its consumers."""
    groups: dict[str, set[str]] = defaultdict(set)
    for group, arn in known.queue_arn_by_group.items():
        groups[arn].add(group)
    for row in known.consumers:
        groups[row["queue_arn"]].add(row["log_group"])
    return {arn: (name, frozenset(groups[arn])) for name, arn in known.queue_arn_by_name.items()}


def _read_rows(
    coverage: Iterable[Mapping[str, Any]], sources: Mapping[str, tuple[str, frozenset[str]]], zone: ZoneInfo
) -> Iterable[tuple[Any, ...]]:
    readings: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in standing(coverage):
        if row["window_start_at"] and row["window_end_at"]:
            readings[row["source"], row["resource"]].append(row)
    for arn, (name, groups) in sorted(sources.items()):
        of_metrics = _per_day([r for r in readings["metric_points", name] if r["queue_arn"] in (arn, None)], zone)
        for day, (read_s, ids) in sorted(of_metrics.items()):
            yield arn, None, start_of(day, zone), read_s, None, ids
        of_groups = [_per_day(readings["log_events", group], zone) for group in sorted(groups)]
        for day in sorted({d for found in of_groups for d in found}):
            parts = [found.get(day, (0, [])) for found in of_groups]
            ids = sorted({i for _, of_part in parts for i in of_part})
            yield arn, None, start_of(day, zone), None, min(s for s, _ in parts), ids


def _per_day(readings: Iterable[Mapping[str, Any]], zone: ZoneInfo) -> dict[date, tuple[int, list[str]]]:
    """Return per day how many seconds of it were read, and up to three readings that say so."""
    spans: dict[date, list[Span]] = defaultdict(list)
    ids: dict[date, set[str]] = defaultdict(set)
    for row in readings:
        at, end = row["window_start_at"], row["window_end_at"]
        while at < end:
            day = at.astimezone(zone).date()
            until = min(start_of(day + timedelta(days=1), zone), end)
            spans[day].append((at, until))
            ids[day].add(row["evidence_id"])
            at = until
    return {day: (int(length(parts).total_seconds()), sorted(ids[day])[:3]) for day, parts in spans.items()}


def start_of(day: date, zone: ZoneInfo) -> datetime:
    """Return the start of a day of a zone, UTC; where the clocks skip midnight, when they do."""
    return datetime.combine(day, time(), zone).astimezone(UTC)


def _frame(rows: list[tuple[Any, ...]], schema: Mapping[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=pl.Schema(schema), orient="row")
