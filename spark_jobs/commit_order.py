"""Earlier messages of a FIFO group that were finished after later ones."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from spark_jobs.message_groups import is_fifo

_GROUP = ["queue_arn", "group_id"]


def late_commits(deliveries: DataFrame) -> DataFrame:
    """One row per message whose work was done, for the last time, after that of a message of its group sent later.

    Only the last time counts: a batch that is done twice in order leaves what the latest message wrote. Messages sent
    in the same millisecond have no order that the evidence could show. ``deliveries`` is the whole ledger.
    """
    grouped = deliveries.where(is_fifo() & F.col("group_id").isNotNull() & F.col("sent_at").isNotNull())
    maybe_at = F.when(F.col("effect") == "unknown", F.coalesce("run_ended_at", "hidden_until_at", "received_at"))
    items = grouped.groupBy(*_GROUP, "queue", "item_id").agg(
        F.max("message_id").alias("message_id"),
        F.min("sent_at").alias("sent_at"),
        F.max(F.when(F.col("effect") == "yes", F.col("effect_at"))).alias("done_at"),
        F.max(maybe_at).alias("maybe_at"),
        F.flatten(F.collect_list("business_keys")).alias("business_keys"),
        F.max_by("evidence_ids", F.when(F.col("effect") == "yes", F.struct("effect_at", "evidence_ids"))).alias(
            "evidence_ids"
        ),
    )
    done = items.where(F.col("done_at").isNotNull()).withColumn("_us", F.unix_micros("done_at"))
    before = Window.partitionBy(*_GROUP).orderBy("_us").rangeBetween(Window.unboundedPreceding, -1)
    newest = F.max(F.struct("sent_at", "item_id", "message_id", "done_at", "maybe_at", "evidence_ids")).over(before)
    late = done.withColumn("_later", newest).where(F.col("_later.sent_at") > F.col("sent_at"))
    return late.select(
        F.lit("out_of_order_commit").alias("code"),
        "queue_arn",
        "queue",
        "item_id",
        "message_id",
        "group_id",
        F.col("_later.done_at").alias("from_at"),
        F.col("done_at").alias("until_at"),
        F.lit(2).alias("message_count"),
        F.array_sort(F.array_compact(F.array("message_id", F.col("_later.message_id")))).alias("message_ids"),
        F.array_sort(F.array_distinct("business_keys")).alias("business_keys"),
        (F.unix_millis("done_at") - F.unix_millis(F.col("_later.done_at"))).alias("late_ms"),
        F.coalesce(F.col("_later.maybe_at") < F.col("done_at"), F.lit(True)).alias("is_later_settled"),
        F.concat("evidence_ids", F.col("_later.evidence_ids")).alias("evidence_ids"),
    )
