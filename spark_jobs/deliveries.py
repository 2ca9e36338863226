"""The delivery ledger: one message handed to one consumer, once."""

from datetime import timedelta

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from forensics.tables.findings import DELIVERIES

_OF_ONE_DELIVERY = (
    "delivery_index",
    "is_seen",
    "came_again",
    "effect",
    "basis",
    "effect_at",
    "finished_at",
    "ended_by",
    "delete_status",
    "is_in_dead_letter_queue",
)
"""Columns that were filled as if the delivery were its item's only one."""

LONG_POLL = timedelta(seconds=20)
"""The longest a receive waits for messages: a queue that is polled at all is polled again within it."""


def with_evidence(raw: DataFrame) -> DataFrame:
    """Add ``evidence_ids``: the lines that name the message, and the run's end where its outcome rests on that."""
    nothing = F.array().cast("array<string>")
    return raw.withColumns(
        {
            "evidence_ids": F.array_sort(F.array_distinct(F.concat("fact_ids", F.coalesce("end_ids", nothing)))),
            "setting_ids": F.array_compact(F.array("queue_settings_id", "mapping_id", "function_settings_id")),
        }
    )


def with_read_until(raw: DataFrame, borders: DataFrame) -> DataFrame:
    """Add ``_read_until``: until when the log group was read that shows the delivery. Others, read for longer, say nothing of it."""
    read = borders.select("log_group", F.col("read_until").alias("_read_until"))
    return raw.join(F.broadcast(read), "log_group", how="left")


def delivered_once(raw: DataFrame) -> DataFrame:
    """Place each row as its item's only delivery: nothing later contradicts how it ended."""
    return raw.withColumns(
        {
            "delivery_index": F.lit(1),
            "is_seen": F.lit(True),
            "came_again": F.lit(False),
        }
    )


def delivered_again(seen: DataFrame, unseen: DataFrame | None) -> DataFrame:
    """Put the deliveries of the judged items in order, unseen receives among them.

    By receive count where every delivery of the item has one, else by time.
    """
    placed = seen.drop(*_OF_ONE_DELIVERY).withColumns(
        {
            "is_seen": F.lit(True),
            "order_at": F.col("received_at"),
        }
    )
    if unseen is None:
        both = placed.withColumn("unseen_basis", F.lit(None).cast("string"))
    else:
        both = placed.unionByName(
            unseen.withColumnRenamed("basis", "unseen_basis")
            .drop("effect")
            .withColumns(
                {
                    "is_seen": F.lit(False),
                    "order_at": F.coalesce("received_at", "after_at", "before_at"),
                }
            ),
            allowMissingColumns=True,
        )
    item = Window.partitionBy("queue_arn", "item_id")
    all_counted = F.min(F.col("receive_count").isNotNull()).over(item)
    by_count = F.when(F.col("_counted"), F.col("receive_count"))
    ordered = item.orderBy(
        F.asc_nulls_last("_by_count"), "order_at", F.asc_nulls_last("receive_count"), F.asc_nulls_last("consumer")
    )
    indexed = (
        both.withColumn("_counted", all_counted)
        .withColumn("_by_count", by_count)
        .withColumn("delivery_index", F.row_number().over(ordered))
    )
    later = F.lead("delivery_index").over(item.orderBy("delivery_index")).isNotNull()
    return indexed.withColumn("came_again", later).drop("_counted", "_by_count")


def with_ending(deliveries: DataFrame) -> DataFrame:
    """Add ``ended_by`` and ``delete_status``: what became of the delivery as far as the evidence tells.

    A message still hidden when its log group was last read is in flight, not gone. After the last allowed receive a
    message that failed or was given back goes to the dead-letter queue, but only when somebody polls: that queue must
    have grown when the visibility timeout was over (``is_in_dead_letter_queue``), or time enough must have passed.
    Where nothing tells how the receive ended, only that queue's growth counts. A framework that gives a message up
    deletes it.
    """
    status, reason = F.col("run_status"), F.col("delete_reason")
    refused = reason.isin("expired", "gone")
    kept = (status == "success") & ~F.coalesce("is_named_failure", F.lit(False)) & reason.isNull()
    at_limit = F.coalesce(F.col("receive_count") >= F.col("max_receive_count"), F.lit(False))
    over = F.col("hidden_until_at") < F.col("_read_until")
    surely_polled = F.col("hidden_until_at") + F.lit(LONG_POLL) < F.col("_read_until")
    given_back = (status == "success") & F.coalesce("is_named_failure", F.lit(False))
    failed = status.isin("timeout", "error", "crash", "init_failed") | given_back
    untold = (status == "unknown") & (F.col("effect") != "yes")
    moved = (failed & (surely_polled | F.col("is_in_dead_letter_queue"))) | (untold & F.col("is_in_dead_letter_queue"))
    return deliveries.withColumns(
        {
            "ended_by": F.when(
                ~F.col("is_seen"), F.when(F.col("came_again"), "visibility_expired").otherwise("unknown")
            )
            .when(refused, "delete_refused")
            .when(F.col("came_again"), "visibility_expired")
            .when(kept | F.coalesce("is_given_up", F.lit(False)), "deleted")
            .when(at_limit & over & moved, "dead_lettered")
            .when(~over, "in_flight")
            .when((status == "unknown") & (F.col("effect") == "yes") & reason.isNull(), "deleted")
            .when(failed, "visibility_expired")
            .otherwise("unknown"),
            "delete_status": F.when(reason.isin("expired", "gone"), reason).when(reason.isNotNull(), "failed"),
        }
    )


def ledger_columns(deliveries: DataFrame) -> DataFrame:
    """Return exactly the declared columns."""
    return deliveries.select(*DELIVERIES.column_names)
