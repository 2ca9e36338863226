"""Incidents of queues whose logs name no message: when runs failed, and how many messages they can have held at most."""

from collections.abc import Mapping
from datetime import timedelta

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from forensics.tables.findings import INCIDENTS
from spark_jobs.in_force import join_in_force
from spark_jobs.inputs import Inputs
from spark_jobs.small_frames import frame_of

_FAILED = {"timeout": "function_timeout", "error": "function_error", "crash": "runtime_crash"}
_QUIET_MS = 15 * 60 * 1000
_LARGEST_BATCH = {True: 10, False: 10_000}
"""Messages in one invocation at most, on FIFO queues and on standard ones, where the mapping was not read."""
_NONE = "array<string>"


def blind_windows(runs: DataFrame, incidents: DataFrame, inputs: Inputs) -> DataFrame:
    """One incident per stretch of failed runs of a queue none of whose consumers' lines names a message.

    ``messages`` is null, ``messages_at_most`` the failed runs times the batch size in force; no verdict is above
    possible. The metrics' received minus deleted stands beside it in the sentence: it is approximate, so it bounds
    nothing, but where no run failed and it is above zero it is all there is to say.
    """
    queues = [(r["queue_arn"], r["queue_name"], r["log_group"]) for r in inputs.small["consumers"]]
    consumers = frame_of(inputs.spark, sorted(set(queues)), "queue_arn string, queue string, log_group string")
    seen = runs.join(F.broadcast(consumers), "log_group")
    blind = seen.groupBy("queue_arn").agg(F.max("names_items").alias("_any")).where(~F.col("_any")).select("queue_arn")
    failed = (
        seen.where(F.col("end_status").isin(*_FAILED))
        .join(F.broadcast(blind), "queue_arn", how="left_semi")
        .select(
            "queue_arn", "queue", "log_group", "function_name", "started_at", "run_ended_at", "end_status", "mark_ids"
        )
    )
    placed = _with_settings(failed, inputs)
    in_queue = Window.partitionBy("queue_arn").orderBy("started_at", "log_group")
    before = F.max(F.coalesce("run_ended_at", "started_at")).over(in_queue.rowsBetween(Window.unboundedPreceding, -1))
    quiet_ms = F.unix_millis("started_at") - F.unix_millis(before)
    gap_ms = F.greatest(F.coalesce("visibility_timeout_s", F.lit(0)).cast("long") * 2000, F.lit(_QUIET_MS))
    windows = (
        placed.withColumn("_opens", F.when(quiet_ms.isNull() | (quiet_ms > gap_ms), 1).otherwise(0))
        .withColumn("_number", F.sum("_opens").over(in_queue.rowsBetween(Window.unboundedPreceding, Window.currentRow)))
        .groupBy("queue_arn", "queue", "_number")
        .agg(
            F.min("started_at").alias("started_at"),
            F.max(F.coalesce("run_ended_at", "started_at")).alias("ended_at"),
            F.count(F.lit(1)).cast("int").alias("_runs"),
            F.sum(F.coalesce("batch_size", "_largest")).cast("int").alias("messages_at_most"),
            *[F.count(F.when(F.col("end_status") == s, 1)).alias(f"_{s}") for s in _FAILED],
            F.array_sort(F.collect_set(F.coalesce("function_name", "log_group"))).alias("functions"),
            F.max("is_fifo").alias("is_fifo"),
            F.max("visibility_timeout_s").alias("visibility_timeout_s"),
            F.max("function_timeout_s").alias("function_timeout_s"),
            F.max("batch_size").alias("batch_size"),
            F.array_sort(F.array_distinct(F.flatten(F.collect_list("mark_ids")))).alias("evidence_ids"),
        )
        .withColumn("incident_id", F.concat_ws("-", "queue", F.date_format("started_at", "yyyyMMdd'T'HHmm'Z'")))
        .join(incidents.select("incident_id"), "incident_id", how="left_anti")
    )
    return _worded(_with_metrics(windows, inputs)).select(*INCIDENTS.column_names)


def has_blind_queue(names_items: Mapping[str, bool], inputs: Inputs) -> bool:
    """Tell whether of any queue no consumer's lines name a message; by log group with runs, whether some of its lines do."""
    groups: dict[str, set[str]] = {}
    for row in inputs.small["consumers"]:
        if row["log_group"] in names_items:
            groups.setdefault(row["queue_arn"], set()).add(row["log_group"])
    return any(not any(names_items[group] for group in found) for found in groups.values())


def _with_settings(failed: DataFrame, inputs: Inputs) -> DataFrame:
    at = F.col("started_at")
    placed = join_in_force(
        failed,
        inputs.queue_settings,
        {"queue_arn": "queue_arn"},
        at,
        {"visibility_timeout_s": "visibility_timeout_s", "is_fifo": "is_fifo"},
    )
    placed = join_in_force(
        placed,
        inputs.mappings,
        {"queue_arn": "queue_arn", "function_name": "function_name"},
        at,
        {"batch_size": "batch_size"},
    )
    placed = join_in_force(
        placed, inputs.function_settings, {"function_name": "function_name"}, at, {"timeout_s": "function_timeout_s"}
    )
    is_fifo = F.coalesce("is_fifo", F.col("queue").endswith(".fifo"))
    largest = F.when(is_fifo, _LARGEST_BATCH[True]).otherwise(_LARGEST_BATCH[False])
    return placed.withColumn("is_fifo", is_fifo).withColumn("_largest", largest)


def _with_metrics(windows: DataFrame, inputs: Inputs) -> DataFrame:
    """Add ``_received`` and ``_deleted`` over each window and two visibility timeouts more; null where not read."""
    points = [
        (p["resource"], p["point_at"], p["point_at"] + timedelta(seconds=p["period_s"]), p["metric"], p["value"])
        for metric in ("NumberOfMessagesReceived", "NumberOfMessagesDeleted")
        for p in inputs.metrics_where(metric)
    ]
    frame = frame_of(
        inputs.spark, points, "queue string, _from timestamp, _until timestamp, _metric string, _value double"
    )
    later_ms = F.unix_millis("ended_at") + F.coalesce("visibility_timeout_s", F.lit(30)).cast("long") * 2000
    counted = (
        windows.select("incident_id", "queue", "started_at", F.timestamp_millis(later_ms).alias("_later"))
        .join(F.broadcast(frame), "queue")
        .where((F.col("_until") > F.col("started_at")) & (F.col("_from") < F.col("_later")))
        .groupBy("incident_id")
        .agg(
            F.sum(F.when(F.col("_metric") == "NumberOfMessagesReceived", F.col("_value")))
            .cast("long")
            .alias("_received"),
            F.sum(F.when(F.col("_metric") == "NumberOfMessagesDeleted", F.col("_value")))
            .cast("long")
            .alias("_deleted"),
        )
    )
    return windows.join(counted, "incident_id", how="left")


def _worded(windows: DataFrame) -> DataFrame:
    nothing = F.array().cast(_NONE)

    def count(column: Column, noun: str) -> Column:
        return F.concat(F.format_number(column, 0), F.lit(f" {noun}"), F.when(column == 1, F.lit("")).otherwise("s"))

    ranked = F.array_sort(
        F.array_compact(
            F.array(
                *[
                    F.when(F.col(f"_{s}") > 0, F.struct((-F.col(f"_{s}")).alias("minus"), F.lit(c).alias("code")))
                    for s, c in _FAILED.items()
                ]
            )
        )
    )
    ended = F.array_compact(
        F.array(
            *[
                F.when(F.col(f"_{s}") > 0, F.concat(F.format_number(f"_{s}", 0), F.lit(f" {words}")))
                for s, words in (
                    ("timeout", "ran into the timeout"),
                    ("error", "raised an error"),
                    ("crash", "crashed"),
                )
            ]
        )
    )
    balance = F.when(
        F.col("_received").isNotNull(),
        F.concat(
            F.lit(" CloudWatch counted "),
            F.format_number("_received", 0),
            F.lit(" received and "),
            F.format_number(F.coalesce("_deleted", F.lit(0)), 0),
            F.lit(" deleted, "),
            F.format_number(F.greatest(F.col("_received") - F.coalesce("_deleted", F.lit(0)), F.lit(0)), 0),
            F.lit(" receives without a delete."),
        ),
    ).otherwise("")
    return (
        windows.withColumn("_ranked", ranked)
        .withColumns(
            {
                "causes": F.transform("_ranked", lambda r: F.concat_ws("=", r["code"], (-r["minus"]).cast("string"))),
                "primary_cause": F.get("_ranked", F.lit(0))["code"],
                "headline": F.concat(
                    F.lit("Up to "),
                    count(F.col("messages_at_most"), "message"),
                    F.lit(" may have been processed more than once; no line names one"),
                ),
                "cause_sentence": F.concat(
                    F.lit("Of the runs of "),
                    F.array_join("functions", ", "),
                    F.lit(" for "),
                    F.col("queue"),
                    F.lit(", "),
                    F.array_join(ended, " and "),
                    F.lit("; each can have held one batch. What to log is told under logging readiness."),
                    balance,
                ),
                "messages": F.lit(None).cast("int"),
                "possible": F.col("messages_at_most"),
            }
        )
        .withColumns({v: F.lit(0) for v in ("confirmed", "probable", "absorbed", "harmless", "extra_effects_at_least")})
        .withColumns(
            {
                "first_repeat_at": F.lit(None).cast("timestamp"),
                "group_count": F.lit(None).cast("int"),
                "blocked_ms": F.lit(None).cast("bigint"),
                "certainty": F.lit("inferred"),
                "excluded": nothing,
                "unread_sources": F.array(
                    F.concat(
                        F.lit("log_events: no line of "), F.array_join("functions", ", "), F.lit(" names a message")
                    )
                ),
            }
        )
    )
