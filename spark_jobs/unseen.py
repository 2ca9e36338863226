"""Receives that only the receive count shows: found, placed in time, and judged."""

from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_jobs.inputs import Inputs
from spark_jobs.read_spans import intersect, read_spans
from spark_jobs.small_frames import frame_of
from spark_jobs.throttles import with_throttles

_MOST_COUNTS = 1000
_LONGEST_WATCH_H = 24


def unseen_receives(deliveries: DataFrame) -> DataFrame:
    """One row per receive count below an item's highest that no log shows, with the span it must lie in.

    Deliveries whose count was not logged may be some of them: that many are left out. A dead-letter queue goes on
    counting where its source stopped, so there only gaps above the lowest seen count are missing.
    """
    item = ["queue_arn", "item_id"]
    per_item = deliveries.groupBy(*item).agg(
        F.first("queue").alias("queue"),
        F.max("message_id").alias("message_id"),
        F.collect_set("receive_count").alias("seen"),
        F.collect_list(F.when(F.col("receive_count").isNotNull(), F.struct("receive_count", "received_at"))).alias(
            "known"
        ),
        F.count(F.when(F.col("receive_count").isNull(), 1)).cast("int").alias("uncounted"),
        F.min("receive_count").alias("lowest"),
        F.max("receive_count").alias("highest"),
        F.max(F.col("dead_letter_source_arn").isNotNull() | F.col("is_dead_letter_queue")).alias("goes_on_counting"),
        F.min("first_receive_ms").alias("first_receive_ms"),
        F.min("sent_ms").alias("sent_ms"),
        F.max("visibility_timeout_s").alias("visibility_timeout_s"),
        F.max("is_fifo").alias("is_fifo"),
        F.max("max_receive_count").alias("max_receive_count"),
        F.max("dead_letter_queue_arn").alias("dead_letter_queue_arn"),
        F.max("group_id").alias("group_id"),
        F.max("deduplication_id").alias("deduplication_id"),
        F.max("body_md5").alias("body_md5"),
        F.flatten(F.collect_set("business_keys")).alias("business_keys"),
        F.flatten(F.collect_list(F.slice("evidence_ids", 1, 1))).alias("evidence_ids"),
    )
    start = F.when(F.col("goes_on_counting"), F.col("lowest")).otherwise(F.lit(1))
    missing = F.array_sort(F.array_except(F.sequence(start, F.least("highest", F.lit(_MOST_COUNTS))), "seen"))
    return (
        per_item.where(F.col("highest").isNotNull() & (F.col("highest") > 1))
        .withColumn("missing", missing)
        .where(F.size("missing") > F.col("uncounted"))
        .withColumn("receive_count", F.explode(F.slice("missing", F.col("uncounted") + 1, F.lit(_MOST_COUNTS))))
        .withColumn(
            "received_at",
            F.when(F.col("receive_count") == 1, F.timestamp_millis("first_receive_ms")),
        )
        .withColumns(
            {
                "after_at": F.coalesce(
                    F.array_max(
                        F.transform(
                            F.filter("known", lambda k: k["receive_count"] < F.col("receive_count")),
                            lambda k: k["received_at"],
                        )
                    ),
                    F.timestamp_millis("first_receive_ms"),
                    F.timestamp_millis("sent_ms"),
                ),
                "before_at": F.array_min(
                    F.transform(
                        F.filter("known", lambda k: k["receive_count"] > F.col("receive_count")),
                        lambda k: k["received_at"],
                    )
                ),
                "business_keys": F.sort_array(F.array_distinct("business_keys")),
                "evidence_ids": F.sort_array(F.array_distinct("evidence_ids")),
            }
        )
        .drop("missing", "seen", "known", "uncounted", "lowest", "highest", "goes_on_counting")
    )


def judge_unseen(unseen: DataFrame, runs: DataFrame, inputs: Inputs) -> DataFrame:
    """Add ``effect``/``basis`` and ``is_throttled`` to unseen receives.

    ``never_started`` only where the logs would have shown a run: every consumer of the queue is a Lambda function
    whose log group was read in full over the whole span and shows STARTs, and no run in the span hides its batch.
    Otherwise ``unseen``: a delivery happened and nothing tells what became of it. ``is_watched`` says that whatever took
    it is none of the known consumers: never started, or the log groups of all its workers were read over the whole span.
    """
    watched = frame_of(
        inputs.spark, watched_spans(inputs), "queue_arn string, watched_from timestamp, watched_until timestamp"
    )
    spans = unseen.select("queue_arn", "item_id", "receive_count", "after_at", "before_at")
    covered = spans.join(F.broadcast(watched), "queue_arn").where(
        (F.col("after_at") >= F.col("watched_from")) & (F.col("before_at") <= F.col("watched_until"))
    )
    hours = F.sequence(F.date_trunc("hour", "after_at"), F.date_trunc("hour", "before_at"), F.expr("interval 1 hour"))
    short = (F.unix_millis("before_at") - F.unix_millis("after_at")) <= _LONGEST_WATCH_H * 3_600_000
    groups_of = _lambda_groups(inputs)
    hourly = covered.where(short).join(F.broadcast(groups_of), "queue_arn").withColumn("hour", F.explode(hours))
    blind_runs = runs.where(~F.col("shows_records")).select(
        "log_group", F.col("started_at").alias("blind_at"), F.date_trunc("hour", "started_at").alias("hour")
    )
    hidden = (
        hourly.join(blind_runs, ["log_group", "hour"])
        .where((F.col("blind_at") >= F.col("after_at")) & (F.col("blind_at") <= F.col("before_at")))
        .select("queue_arn", "item_id", "receive_count")
        .distinct()
    )
    shows_starts = runs.where(F.col("start_at").isNotNull()).select("log_group").distinct()
    key = ["queue_arn", "item_id", "receive_count"]
    clear = (
        covered.where(short)
        .join(
            F.broadcast(groups_of.join(shows_starts, "log_group", how="left_anti").select("queue_arn")),
            "queue_arn",
            how="left_anti",
        )
        .join(hidden, key, how="left_anti")
        .select(*key)
        .distinct()
        .withColumn("_clear", F.lit(True))
    )
    of_workers = frame_of(
        inputs.spark, read_worker_spans(inputs), "queue_arn string, read_from timestamp, read_until timestamp"
    )
    read_in_full = (
        spans.join(F.broadcast(of_workers), "queue_arn")
        .where((F.col("after_at") >= F.col("read_from")) & (F.col("before_at") <= F.col("read_until")))
        .select(*key)
        .distinct()
        .withColumn("_read", F.lit(True))
    )
    told = with_throttles(unseen.drop("is_throttled"), key, F.col("after_at"), F.col("before_at"), inputs)
    return (
        told.join(clear, key, how="left")
        .join(read_in_full, key, how="left")
        .withColumns(
            {
                "is_watched": F.coalesce("_clear", "_read", F.lit(False)),
                "effect": F.when(F.col("_clear"), "no").otherwise("unknown"),
                "basis": F.when(F.col("_clear"), "never_started").otherwise("unseen"),
                "evidence_ids": F.sort_array(
                    F.array_distinct(
                        F.concat("evidence_ids", F.coalesce("throttle_ids", F.array().cast("array<string>")))
                    )
                ),
            }
        )
        .drop("_clear", "_read", "throttle_ids")
    )


def _lambda_groups(inputs: Inputs) -> DataFrame:
    pairs = sorted({(r["queue_arn"], r["log_group"]) for r in inputs.small["consumers"] if r["kind"] == "lambda"})
    return frame_of(inputs.spark, pairs, "queue_arn string, log_group string")


def watched_spans(inputs: Inputs) -> list[tuple[str, datetime, datetime]]:
    """Spans in which every consumer of a queue is a function and its log group was read without a gap."""
    groups: dict[str, set[str]] = {}
    unwatchable = {r["queue_arn"] for r in inputs.small["consumers"] if r["kind"] != "lambda"}
    warn = {r["function_name"] for r in inputs.small["function_settings"] if r["system_log_level"] == "WARN"}
    for row in inputs.small["consumers"]:
        groups.setdefault(row["queue_arn"], set()).add(row["log_group"])
        if row["function_name"] in warn:
            unwatchable.add(row["queue_arn"])
    read = read_spans(inputs, "log_events")
    spans = []
    for queue, members in groups.items():
        if queue not in unwatchable:
            spans += [(queue, *span) for span in intersect([read.get(g, []) for g in sorted(members)])]
    return spans


def read_worker_spans(inputs: Inputs) -> list[tuple[str, datetime, datetime]]:
    """Spans in which the log groups of a queue's workers were all read; only of queues that no function consumes."""
    groups: dict[str, set[str]] = {}
    for row in inputs.small["consumers"]:
        groups.setdefault(row["queue_arn"], set()).add(row["log_group"])
    of_functions = {r["queue_arn"] for r in inputs.small["consumers"] if r["kind"] == "lambda"}
    read = read_spans(inputs, "log_events")
    return [
        (queue, *span)
        for queue, members in sorted(groups.items())
        if queue not in of_functions
        for span in intersect([read.get(g, []) for g in sorted(members)])
    ]
