"""What the lines of each consumer tell, and what they do not."""

from collections.abc import Collection
from typing import Any

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from forensics.readiness import LogFacts, Readiness, readiness
from forensics.tables.findings import LOGGING_READINESS
from spark_jobs.inputs import Inputs
from spark_jobs.session import spark_schema
from spark_jobs.small_frames import frame_of

_COUNTS = ("handlings", "with_message", "with_count", "with_item_start", "with_effect", "with_response", "with_start")


def logging_readiness(of_runs: Collection[Row], of_workers: Collection[Row], inputs: Inputs) -> DataFrame:
    """One row per queue and log group of a known consumer, given ``run_counts`` and ``counts_of_workers`` per log group."""
    worker_groups = {r["log_group"] for r in of_workers}
    told = {r["log_group"]: r for r in (*of_runs, *of_workers)}
    asks: dict[str, bool] = {}
    for row in inputs.small["event_source_mappings"]:
        asks[row["function_name"]] = bool(row["reports_batch_item_failures"])
    rows = []
    for queue_arn, queue, group, kind, function in _consumers(inputs, worker_groups):
        declared = inputs.consumers_by_group.get(group)
        found = told.get(group)
        said = {name: int(found[name]) if found else 0 for name in _COUNTS}
        ready = readiness(
            LogFacts(
                kind,
                **said,
                asks_response=asks.get(function) if function else False,
                is_effect_declared=bool(declared and declared.effect),
                is_exhaustive=bool(declared and declared.effect_is_exhaustive),
            )
        )
        if found is None:
            ready = Readiness("unread", "No line of this log group is in evidence.", ())
        rows.append(
            _row(queue_arn, queue, group, kind, function, ready, said, sorted(found["samples"]) if found else [])
        )
    names = LOGGING_READINESS.column_names
    return frame_of(inputs.spark, [tuple(r[n] for n in names) for r in rows], spark_schema(LOGGING_READINESS))


def _consumers(inputs: Inputs, worker_groups: Collection[str]) -> list[tuple[str, str, str, str, str | None]]:
    """Return each queue's log groups; where nobody said what writes a group, what its lines turned out to be."""

    def kind(group: str) -> str:
        return "worker" if group in worker_groups else "lambda"

    found = {
        (r["queue_arn"], r["queue_name"], r["log_group"], r["kind"] or kind(r["log_group"]), r["function_name"])
        for r in inputs.small["consumers"]
    }
    return sorted(found, key=lambda c: tuple(str(part) for part in c))


def _row(
    queue_arn: str,
    queue: str,
    group: str,
    kind: str,
    function: str | None,
    ready: Readiness,
    said: dict[str, int],
    samples: list[str],
) -> dict[str, Any]:
    return {
        "queue_arn": queue_arn,
        "queue": queue,
        "log_group": group,
        "consumer_kind": kind,
        "function_name": function,
        "level": ready.level,
        "sentence": ready.sentence,
        "handling_count": said["handlings"],
        "named_count": said["with_message"],
        "counted_count": said["with_count"],
        "item_start_count": said["with_item_start"],
        "effect_count": said["with_effect"],
        "response_count": said["with_response"],
        "start_line_count": said["with_start"],
        "missing": [m.what for m in ready.missing],
        "reasons": [m.why for m in ready.missing],
        "python_lines": [m.python for m in ready.missing],
        "node_lines": [m.node for m in ready.missing],
        "setting_lines": [m.setting or "" for m in ready.missing],
        "evidence_ids": samples,
    }


def counts_of_workers(handlings: DataFrame) -> list[Row]:
    """Return what is counted of the handlings of each log group, one row per handling, and when they began and ended."""
    return (
        handlings.groupBy("log_group")
        .agg(
            F.unix_micros(F.min("first_at")).alias("low"),
            F.unix_micros(F.max("last_at")).alias("high"),
            F.count(F.lit(1)).alias("handlings"),
            F.count("item_id").alias("with_message"),
            F.count(F.when(F.col("shows_count"), 1)).alias("with_count"),
            F.count(F.when(F.col("shows_start"), 1)).alias("with_item_start"),
            F.count(F.when(F.col("shows_effect"), 1)).alias("with_effect"),
            F.lit(0).alias("with_response"),
            F.lit(0).alias("with_start"),
            _samples(F.col("first_id")),
        )
        .collect()
    )


def _samples(evidence_id: Column) -> Column:
    """A few lines that stand for the group, always the same ones."""
    return F.array_compact(F.array(F.min(evidence_id), F.max(evidence_id))).alias("samples")


def run_counts() -> list[Column]:
    """Return what is counted of the runs of a log group."""

    def count(when: Column) -> Column:
        return F.count(F.when(when, 1))

    return [
        F.count(F.lit(1)).alias("handlings"),
        count(F.col("names_items")).alias("with_message"),
        count(F.col("shows_counts")).alias("with_count"),
        count(F.col("shows_starts")).alias("with_item_start"),
        count(F.col("shows_effects")).alias("with_effect"),
        count(F.coalesce("has_response", F.lit(False))).alias("with_response"),
        count(F.col("start_at").isNotNull()).alias("with_start"),
        _samples(F.col("first_mark_id")),
    ]
