"""Messages whose last delivery did not finish them: poison without a dead-letter queue, and those lost by retention."""

from datetime import datetime

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from spark_jobs.dead_letters import with_queue_settings
from spark_jobs.inputs import Inputs
from spark_jobs.small_frames import frame_of
from spark_jobs.unseen import read_spans

_FAILED = ("timeout", "error", "crash", "init_failed")
_ITEM = ["queue_arn", "item_id"]
_LAST_S = 120
"""Where in its retention a message must still be the queue's oldest: metrics come by the minute."""


def unfinished_messages(ends: DataFrame, judged: DataFrame, told: DataFrame, inputs: Inputs) -> DataFrame:
    """One row per message that was not deleted by its last delivery, with what that delivery tells.

    ``ends`` has at least the deliveries that were not deleted, ``judged`` all that were judged, ``told`` the verdicts
    (messages delivered again).
    """
    again = told.select(*_ITEM, "first_received_at", F.coalesce("receive_count", "deliveries").alias("_receives"))
    by_item = Window.partitionBy(*_ITEM).orderBy(F.desc("delivery_index"))
    of_again = (
        judged.join(F.broadcast(again), _ITEM)
        .withColumns(
            {
                "_last": F.row_number().over(by_item),
                "sent_at": F.min("sent_at").over(Window.partitionBy(*_ITEM)),
            }
        )
        .where((F.col("_last") == 1) & ~F.col("ended_by").isin("deleted", "dead_lettered"))
        .drop("_last")
    )
    once = (
        ends.where(F.col("ended_by").isin("visibility_expired", "delete_refused"))
        .join(F.broadcast(again.select(*_ITEM)), _ITEM, how="left_anti")
        .withColumns(
            {
                "first_received_at": F.col("received_at"),
                "_receives": F.coalesce("receive_count", F.lit(1)),
            }
        )
    )
    both = with_queue_settings(of_again.unionByName(once), inputs)
    failed = F.col("run_status").isin(*_FAILED)
    kept = F.col("ended_by").isin("visibility_expired", "delete_refused") | (
        (F.col("ended_by") == "in_flight") & failed
    )
    return both.withColumn("is_unfinished", kept & ~F.coalesce(F.col("delete_status") == "gone", F.lit(False))).select(
        "queue_arn",
        "queue",
        "item_id",
        "message_id",
        "group_id",
        "first_received_at",
        "received_at",
        "sent_at",
        F.lit(1).alias("message_count"),
        F.array_compact(F.array("message_id")).alias("message_ids"),
        "business_keys",
        F.col("_receives").cast("int").alias("receive_count"),
        "is_unfinished",
        F.col("queue_settings_id").isNotNull().alias("has_settings"),
        F.element_at(F.split("dead_letter_queue_arn", ":"), -1).alias("dead_letter_queue"),
        F.col("message_retention_s").alias("retention_s"),
        F.array_compact(F.concat("evidence_ids", F.array("queue_settings_id"))).alias("evidence_ids"),
    )


def poison_messages(unfinished: DataFrame) -> DataFrame:
    """Return those that were received again and again where no dead-letter queue is known."""
    return (
        unfinished.where((F.col("receive_count") >= 3) & F.col("dead_letter_queue").isNull())
        .withColumns(
            {
                "code": F.lit("poison_without_dlq"),
                "from_at": F.col("first_received_at"),
                "until_at": F.col("received_at"),
            }
        )
        .drop("first_received_at", "received_at", "sent_at", "retention_s")
    )


def outlived_messages(unfinished: DataFrame, inputs: Inputs, data_until: datetime | None) -> DataFrame:
    """Return those whose retention ended inside the evidence, with the queue's oldest age at that time if it fits."""
    ended = (
        unfinished.where(F.col("is_unfinished") & F.col("sent_at").isNotNull() & F.col("retention_s").isNotNull())
        .withColumn("from_at", F.timestamp_millis(F.unix_millis("sent_at") + F.col("retention_s").cast("long") * 1000))
        .where(F.col("from_at") <= F.lit(data_until).cast("timestamp"))
    )
    watched = frame_of(
        inputs.spark, _watched(inputs), "queue_arn string, watched_from timestamp, watched_until timestamp"
    )
    seen = (
        ended.join(F.broadcast(watched), "queue_arn")
        .where((F.col("received_at") >= F.col("watched_from")) & (F.col("from_at") <= F.col("watched_until")))
        .select(*_ITEM, F.lit(True).alias("is_watched"))
        .distinct()
    )
    return (
        ended.join(seen, _ITEM, how="left")
        .join(_ages(ended, inputs), _ITEM, how="left")
        .withColumns(
            {
                "code": F.lit("retention_expired"),
                "until_at": F.lit(None).cast("timestamp"),
                "is_watched": F.coalesce("is_watched", F.lit(False)),
                "evidence_ids": F.array_compact(F.concat("evidence_ids", F.array("_age_id"))),
            }
        )
        .drop("first_received_at", "received_at", "sent_at", "dead_letter_queue", "receive_count", "_age_id")
    )


def _ages(ended: DataFrame, inputs: Inputs) -> DataFrame:
    """Return per message the oldest age of its queue near the end of its retention, where that age is its own.

    A point's maximum was taken at some moment of its period, so the oldest message was sent within a span of that
    length; ``fitting_count`` says how many of the given messages were.
    """
    points = (
        inputs.metric_points()
        .where(F.col("metric") == "ApproximateAgeOfOldestMessage")
        .select(
            F.col("resource").alias("queue"), "point_at", "period_s", "value", F.col("evidence_id").alias("_age_id")
        )
    )
    start_ms, length_ms = F.unix_millis("point_at"), F.col("period_s").cast("long") * 1000
    deadline_ms, sent_ms = F.unix_millis("from_at"), F.unix_millis("sent_at")
    oldest_sent_ms = start_ms - F.col("value") * 1000
    fits = (
        ended.select(*_ITEM, "queue", "from_at", "sent_at")
        .join(points, "queue")
        .where((start_ms <= deadline_ms) & (start_ms + length_ms >= deadline_ms - _LAST_S * 1000))
        .where((sent_ms >= oldest_sent_ms - 2000) & (sent_ms <= oldest_sent_ms + length_ms + 2000))
        .withColumn("fitting_count", F.count(F.lit(1)).over(Window.partitionBy("queue_arn", "_age_id")))
    )
    last = F.struct("point_at", "_age_id")
    return fits.groupBy(*_ITEM).agg(
        F.max_by("value", last).cast("int").alias("age_s"),
        F.max("fitting_count").cast("int").alias("fitting_count"),
        F.max_by("_age_id", last).alias("_age_id"),
    )


def _watched(inputs: Inputs) -> list[tuple[str, datetime, datetime]]:
    """Return per queue the spans (UTC) in which every known consumer's log was read without a gap."""
    groups: dict[str, set[str]] = {}
    for row in inputs.small["consumers"]:
        groups.setdefault(row["queue_arn"], set()).add(row["log_group"])
    read = read_spans(inputs, "log_events")
    spans = []
    for queue, members in sorted(groups.items()):
        common: list[tuple[datetime, datetime]] | None = None
        for group in sorted(members):
            theirs = read.get(group, [])
            common = (
                theirs
                if common is None
                else [(max(a, c), min(b, d)) for a, b in common for c, d in theirs if max(a, c) < min(b, d)]
            )
        spans += [(queue, *span) for span in common or []]
    return spans
