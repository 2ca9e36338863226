"""Messages that went to a dead-letter queue: when they can have been moved, and what shows that they arrived."""

from datetime import timedelta
from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from spark_jobs.in_force import join_in_force
from spark_jobs.inputs import Inputs
from spark_jobs.message_groups import MessageGroups
from spark_jobs.small_frames import frame_of

_SETTLE = timedelta(minutes=15)
"""SQS may move a message only when somebody polls, and CloudWatch shows queue depths with some delay."""


def with_dead_letter_sign(deliveries: DataFrame, inputs: Inputs) -> DataFrame:
    """Add ``is_in_dead_letter_queue``: the queue's dead-letter queue showed a message soon after this one's timeout.

    A sign, not a proof: metrics carry no message ids. Only the last allowed receive is looked at.
    """
    shown = frame_of(inputs.spark, dead_letter_spans(inputs), "_queue string, _from timestamp, _until timestamp")
    at_limit = F.col("receive_count") >= F.col("max_receive_count")
    hits = (
        deliveries.where(at_limit)
        .select("dead_letter_queue_arn", "hidden_until_at")
        .distinct()
        .join(
            F.broadcast(shown),
            (F.col("dead_letter_queue_arn") == F.col("_queue"))
            & (F.col("hidden_until_at") <= F.col("_until"))
            & (F.col("hidden_until_at") >= F.col("_from")),
        )
        .select("dead_letter_queue_arn", "hidden_until_at", F.lit(True).alias("is_in_dead_letter_queue"))
        .distinct()
    )
    return deliveries.join(hits, ["dead_letter_queue_arn", "hidden_until_at"], how="left").withColumn(
        "is_in_dead_letter_queue", F.coalesce("is_in_dead_letter_queue", F.lit(False))
    )


def with_queue_settings(deliveries: DataFrame, inputs: Inputs) -> DataFrame:
    """Add what the queue's settings said of dead letters and retention when each delivery was received."""
    return join_in_force(
        deliveries,
        inputs.queue_settings,
        {"queue_arn": "queue_arn"},
        F.col("received_at"),
        {
            "max_receive_count": "max_receive_count",
            "dead_letter_queue_arn": "dead_letter_queue_arn",
            "message_retention_s": "message_retention_s",
            "evidence_id": "queue_settings_id",
        },
    )


def moved_messages(ends: DataFrame, groups: MessageGroups | None, told: DataFrame, inputs: Inputs) -> DataFrame:
    """One row per message whose last delivery ended in the dead-letter queue, with the interval of its work.

    ``ends`` has all such deliveries, ``groups`` those of FIFO queues; ``told`` are the verdicts. A message is moved by a
    receive, so not before it is visible again (``from_at``), and not after the next receive of its FIFO group or the first
    metric point in which the dead-letter queue has grown (``until_at``), whichever is earlier.
    """
    dead = with_queue_settings(ends.where(F.col("ended_by") == "dead_lettered"), inputs).withColumn(
        "from_at", F.col("hidden_until_at")
    )
    verdicts = told.select("queue_arn", "item_id", "effects_at_least", "effects_at_most", F.lit(True).alias("_told"))
    yes, maybe = F.col("effect") == "yes", F.col("effect") != "no"
    with_interval = dead.join(F.broadcast(verdicts), ["queue_arn", "item_id"], how="left").withColumns(
        {
            "effects_at_least": F.coalesce("effects_at_least", yes.cast("int")),
            "effects_at_most": F.when(F.col("_told"), F.col("effects_at_most")).otherwise(maybe.cast("int")),
        }
    )
    key = ["queue_arn", "item_id"]
    placed = with_interval.join(_arrivals(dead, inputs), key, how="left")
    if groups is None:
        placed = placed.withColumn("_next_at", F.lit(None).cast("timestamp"))
    else:
        placed = placed.join(groups.next_receives(dead), key, how="left")
    return placed.select(
        F.lit("dead_lettered").alias("code"),
        "queue_arn",
        "queue",
        "item_id",
        "message_id",
        "group_id",
        "from_at",
        F.least("_arrived_by", "_next_at").alias("until_at"),
        F.lit(1).alias("message_count"),
        F.array_compact(F.array("message_id")).alias("message_ids"),
        "business_keys",
        "effects_at_least",
        "effects_at_most",
        "receive_count",
        "max_receive_count",
        F.col("queue_settings_id").isNotNull().alias("has_settings"),
        F.element_at(F.split("dead_letter_queue_arn", ":"), -1).alias("dead_letter_queue"),
        F.col("_arrived_by").isNotNull().alias("is_in_dead_letter_queue"),
        F.array_compact(F.concat("evidence_ids", F.array("queue_settings_id", "_arrival_id"))).alias("evidence_ids"),
    )


def _arrivals(dead: DataFrame, inputs: Inputs) -> DataFrame:
    """Return per message the end of the first metric point in which its dead-letter queue had grown since the timeout."""
    points = (
        inputs.metric_points()
        .where(F.col("metric") == "ApproximateNumberOfMessagesVisible")
        .select("resource", "point_at", "period_s", "value", F.col("evidence_id").alias("_arrival_id"))
    )
    end = F.timestamp_millis(F.unix_millis("point_at") + F.col("period_s").cast("long") * 1000)
    near = (
        dead.select(
            "queue_arn",
            "item_id",
            "from_at",
            F.element_at(F.split("dead_letter_queue_arn", ":"), -1).alias("resource"),
        )
        .join(points.withColumn("_end", end), "resource")
        .where(
            (F.col("point_at") >= F.col("from_at") - F.expr("interval 15 minutes"))
            & (F.col("point_at") <= F.col("from_at") + F.expr("interval 15 minutes"))
        )
    )
    before = F.max_by(
        F.when(F.col("_end") <= F.col("from_at"), F.col("value")),
        F.when(F.col("_end") <= F.col("from_at"), F.col("point_at")),
    ).over(Window.partitionBy("queue_arn", "item_id"))
    grown = near.withColumn("_before", F.coalesce(before, F.lit(0.0))).where(
        (F.col("_end") > F.col("from_at")) & (F.col("value") > F.col("_before"))
    )
    return grown.groupBy("queue_arn", "item_id").agg(
        F.min("_end").alias("_arrived_by"),
        F.min_by("_arrival_id", F.struct("_end", "_arrival_id")).alias("_arrival_id"),
    )


def dead_letter_spans(inputs: Inputs) -> list[tuple[Any, ...]]:
    """Times after which a message is known to have been in a dead-letter queue within the settling time."""
    queues = {
        r["dead_letter_queue_arn"].rpartition(":")[2]: r["dead_letter_queue_arn"]
        for r in inputs.small["queue_settings"]
        if r["dead_letter_queue_arn"]
    }
    spans = []
    for point in inputs.metrics_where("ApproximateNumberOfMessagesVisible"):
        if arn := queues.get(point["resource"]):
            end = point["point_at"] + timedelta(seconds=point["period_s"])
            spans.append((arn, point["point_at"] - _SETTLE, end))
    return spans
