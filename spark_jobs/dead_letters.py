"""Whether a dead-letter queue held messages when one could have arrived there."""

from datetime import timedelta
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_jobs.inputs import Inputs

_SETTLE = timedelta(minutes=15)
"""SQS may move a message only when somebody polls, and CloudWatch shows queue depths with some delay."""


def with_dead_letter_sign(deliveries: DataFrame, inputs: Inputs) -> DataFrame:
    """Add ``is_in_dead_letter_queue``: the queue's dead-letter queue showed a message soon after this one's timeout.

    A sign, not a proof: metrics carry no message ids. Only the last allowed receive is looked at.
    """
    shown = inputs.spark.createDataFrame(_spans(inputs), "_queue string, _from timestamp, _until timestamp")
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


def _spans(inputs: Inputs) -> list[tuple[Any, ...]]:
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
