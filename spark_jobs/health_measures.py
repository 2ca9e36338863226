"""What counts for a queue's health, each as a row with a moment: deliveries, runs, verdicts, what was read."""

from collections import defaultdict
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from forensics.coverage import standing
from spark_jobs.inputs import Inputs
from spark_jobs.small_frames import frame_of

_POISONED_AT = 3
"""From the third receive on, a standard queue's message no longer counts for the age metric."""
_REASONS = {
    "timeout": "function_timeout",
    "error": "function_error",
    "crash": "runtime_crash",
    "init_failed": "runtime_crash",
}
_READ_SCHEMA = (
    "queue_arn string, at timestamp, metrics_read_s int, logs_read_s int, is_read boolean, evidence array<string>"
)


def delivery_measures(deliveries: DataFrame, last_causes: DataFrame, *others: str) -> DataFrame:
    """One row per delivery of the ledger. ``last_causes``: queue_arn, item_id and the cause of its last redelivery.

    ``others``, here and below, are columns that come along.
    """
    deliveries = _dated(deliveries)
    count = F.coalesce("receive_count", "delivery_index")
    is_fifo = F.col("queue").endswith(".fifo")
    is_dead = F.col("ended_by") == "dead_lettered"
    is_refused = (F.col("ended_by") == "delete_refused") | (F.col("delete_status") == "expired")
    dead = (
        deliveries.where(is_dead)
        .join(last_causes, ["queue_arn", "item_id"], how="left")
        .select("queue_arn", F.col("received_at").alias("at"), _reason().alias("dead_letter_reason"), *others)
    )
    done_at = F.coalesce("finished_at", F.when(F.col("consumer_kind") == "worker", F.col("run_ended_at")))
    item_ms = F.unix_millis(done_at) - F.unix_millis("started_at")
    of_worker = F.unix_millis(F.coalesce("run_ended_at", "finished_at")) - F.unix_millis(
        F.coalesce("started_at", "received_at")
    )
    is_worker = F.col("consumer_kind") == "worker"
    is_poison = ~is_fifo & (count == _POISONED_AT)
    rows = deliveries.select(
        "queue_arn",
        "queue",
        F.coalesce("function_name", "log_group").alias("consumer"),
        F.col("received_at").alias("at"),
        F.lit(1).alias("delivery"),
        F.when(count > 1, 1).alias("redelivery"),
        F.when(~F.col("is_seen"), 1).alias("unseen"),
        F.when(F.col("delivery_index") == 1, 1).alias("item"),
        F.when(is_refused, 1).alias("expired_handle"),
        F.when(is_poison, 1).alias("poison"),
        F.when(~is_fifo & (count >= _POISONED_AT), F.unix_seconds("received_at") - F.unix_seconds("sent_at")).alias(
            "poison_age"
        ),
        count.alias("receives"),
        F.when(item_ms >= 0, item_ms).alias("item_ms"),
        F.when(is_worker, 1).alias("run"),
        F.when(is_worker & (of_worker >= 0), of_worker).alias("run_ms"),
        F.when(is_worker, F.try_element_at("evidence_ids", F.lit(1))).alias("run_id"),
        F.when(F.col("is_seen"), F.col("group_id")).alias("first_group"),
        F.when(F.col("is_seen"), F.col("group_id")).alias("last_group"),
        "batch_count",
        F.when(is_dead | is_refused | is_poison, F.slice("evidence_ids", 1, 3)).alias("evidence"),
        *others,
    )
    return rows.unionByName(dead, allowMissingColumns=True)


def _dated(deliveries: DataFrame) -> DataFrame:
    """Put a receive that no log shows, and whose time nobody knows, at the next delivery of its message that was seen."""
    item = ["queue_arn", "item_id"]
    known = F.col("received_at").isNotNull()
    undated = deliveries.where(~known)
    seen = deliveries.where(known).select(
        *item, F.col("delivery_index").alias("seen_index"), F.col("received_at").alias("seen_at")
    )
    is_later = F.col("seen_index") > F.col("delivery_index")
    near = (
        seen.join(F.broadcast(undated.select(*item, "delivery_index")), item)
        .groupBy(*item, "delivery_index")
        .agg(F.coalesce(F.min(F.when(is_later, F.col("seen_at"))), F.max("seen_at")).alias("received_at"))
    )
    placed = undated.drop("received_at").join(near, [*item, "delivery_index"])
    return deliveries.where(known).unionByName(placed)


def _reason() -> Column:
    """How the last delivery ended says why it was given up; where it ended well, the cause of the last redelivery."""
    chain = F.coalesce("last_cause", F.lit("undecidable"))
    for status, code in _REASONS.items():
        chain = F.when(F.col("run_status") == status, code).otherwise(chain)
    return chain


def run_measures(invocations: DataFrame, *others: str) -> DataFrame:
    """One row per Lambda run whose queue is known."""
    status = F.col("end_status")
    failed = status.isin("timeout", "error", "crash", "init_failed")
    return invocations.where(F.col("queue_arn").isNotNull()).select(
        "queue_arn",
        F.coalesce("function_name", "log_group").alias("consumer"),
        F.col("started_at").alias("at"),
        F.lit(1).alias("run"),
        F.when(status == "timeout", 1).alias("timeout"),
        F.when(status == "error", 1).alias("error"),
        F.when(status.isin("crash", "init_failed"), 1).alias("crash"),
        F.col("duration_ms").alias("run_ms"),
        F.try_element_at("evidence_ids", F.lit(1)).alias("run_id"),
        F.when(failed, F.slice("evidence_ids", 1, 3)).alias("evidence"),
        *others,
    )


def verdict_measures(messages: DataFrame, *others: str) -> DataFrame:
    """One row per message with a verdict, at its first receive."""
    verdict = F.col("verdict")
    affected = verdict.isin("confirmed", "probable", "possible")
    return messages.select(
        "queue_arn",
        F.col("first_received_at").alias("at"),
        F.when(verdict == "confirmed", 1).alias("twice_surely"),
        F.when(affected, 1).alias("twice_maybe"),
        F.when(verdict == "absorbed", 1).alias("stopped"),
        F.when(affected, F.slice("evidence_ids", 1, 3)).alias("evidence"),
        *others,
    )


def last_causes(redeliveries: DataFrame) -> DataFrame:
    """Return the cause of each item's last redelivery."""
    return redeliveries.groupBy("queue_arn", "item_id").agg(F.max_by("cause", "delivery_index").alias("last_cause"))


def read_measures(inputs: Inputs, zone: ZoneInfo) -> DataFrame:
    """One row per queue, day of the zone and kind of source: the seconds that were read in full."""
    rows = _read_rows(inputs.small["coverage"], _sources_by_queue(inputs), zone)
    return frame_of(inputs.spark, rows, _READ_SCHEMA)


def _sources_by_queue(inputs: Inputs) -> dict[str, tuple[str, frozenset[str]]]:
    """Return per queue its name, which is its metrics' resource, and the log groups of its consumers."""
    groups: dict[str, set[str]] = defaultdict(set)
    for group, arn in inputs.queue_arn_by_group.items():
        groups[arn].add(group)
    for row in inputs.small["consumers"]:
        groups[row["queue_arn"]].add(row["log_group"])
    return {arn: (name, frozenset(groups[arn])) for name, arn in inputs.queue_arn_by_name.items()}


def _read_rows(
    coverage: list[dict[str, Any]], sources: dict[str, tuple[str, frozenset[str]]], zone: ZoneInfo
) -> list[tuple[Any, ...]]:
    readings: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in standing(coverage):
        if row["window_start_at"] and row["window_end_at"]:
            readings[row["source"], row["resource"]].append(dict(row))
    rows: list[tuple[Any, ...]] = []
    for arn, (name, groups) in sorted(sources.items()):
        of_metrics = _per_day([r for r in readings["metric_points", name] if r["queue_arn"] in (arn, None)], zone)
        for day, (read_s, ids) in sorted(of_metrics.items()):
            rows.append((arn, _start_of(day, zone), read_s, None, True, ids))
        of_groups = [_per_day(readings["log_events", group], zone) for group in sorted(groups)]
        for day in sorted({d for found in of_groups for d in found}):
            parts = [found.get(day, (0, [])) for found in of_groups]
            read_s = min(p[0] for p in parts)
            rows.append((arn, _start_of(day, zone), None, read_s, read_s > 0, sorted({i for p in parts for i in p[1]})))
    return rows


def _per_day(readings: list[dict[str, Any]], zone: ZoneInfo) -> dict[date, tuple[int, list[str]]]:
    """Return per day how many seconds of it were read, and up to three readings that say so."""
    spans: dict[date, list[tuple[datetime, datetime]]] = defaultdict(list)
    ids: dict[date, set[str]] = defaultdict(set)
    for row in readings:
        at, end = row["window_start_at"], row["window_end_at"]
        while at < end:
            day = at.astimezone(zone).date()
            until = min(_start_of(day + timedelta(days=1), zone), end)
            spans[day].append((at, until))
            ids[day].add(row["evidence_id"])
            at = until
    return {day: (_length_s(parts), sorted(ids[day])[:3]) for day, parts in spans.items()}


def _length_s(spans: list[tuple[datetime, datetime]]) -> int:
    total, reached = timedelta(), None
    for start, end in sorted(spans):
        start = start if reached is None else max(start, reached)
        if end > start:
            total += end - start
            reached = end
    return int(total.total_seconds())


def _start_of(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)
