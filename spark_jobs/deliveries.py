"""The delivery ledger: one message handed to one consumer, once."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from forensics.tables.findings import DELIVERIES

_OF_ONE_DELIVERY = (
    "delivery_index",
    "is_seen",
    "came_again",
    "_data_until",
    "effect",
    "basis",
    "effect_at",
    "finished_at",
    "ended_by",
    "delete_status",
    "is_in_dead_letter_queue",
)
"""Columns that were filled as if the delivery were its item's only one."""


def with_evidence(raw: DataFrame) -> DataFrame:
    """Add ``evidence_ids``: the lines that name the message, and the run's end where its outcome rests on that."""
    nothing = F.array().cast("array<string>")
    return raw.withColumn(
        "evidence_ids",
        F.array_sort(F.array_distinct(F.concat("fact_ids", F.coalesce("end_ids", nothing)))),
    ).withColumn("setting_ids", F.array_compact(F.array("queue_settings_id", "mapping_id", "function_settings_id")))


def delivered_once(raw: DataFrame, data_until: Column) -> DataFrame:
    """Place each row as its item's only delivery: nothing later contradicts how it ended."""
    return (
        raw.withColumn("delivery_index", F.lit(1))
        .withColumn("is_seen", F.lit(True))
        .withColumn("came_again", F.lit(False))
        .withColumn("_data_until", data_until)
    )


def delivered_again(seen: DataFrame, unseen: DataFrame | None, data_until: Column) -> DataFrame:
    """Put the deliveries of the judged items in order, unseen receives among them.

    By receive count where every delivery of the item has one, else by time. ``data_until`` is the last moment the
    evidence knows of: a message still hidden then is in flight, not gone.
    """
    placed = (
        seen.drop(*_OF_ONE_DELIVERY).withColumn("is_seen", F.lit(True)).withColumn("order_at", F.col("received_at"))
    )
    if unseen is None:
        both = placed.withColumn("unseen_basis", F.lit(None).cast("string"))
    else:
        both = placed.unionByName(
            unseen.withColumnRenamed("basis", "unseen_basis")
            .drop("effect")
            .withColumn("is_seen", F.lit(False))
            .withColumn("order_at", F.coalesce("received_at", "after_at", "before_at")),
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
    return indexed.withColumn("came_again", later).withColumn("_data_until", data_until).drop("_counted", "_by_count")


def with_ending(deliveries: DataFrame) -> DataFrame:
    """Add ``ended_by`` and ``delete_status``: what became of the delivery as far as the evidence tells.

    The last allowed receive ends in the dead-letter queue where its run failed or its response gave the message back;
    where nothing tells how it ended, only if that queue showed a message when this one's visibility timeout was over (``is_in_dead_letter_queue``).
    """
    status, reason = F.col("run_status"), F.col("delete_reason")
    refused = reason.isin("expired", "gone")
    kept = (status == "success") & ~F.coalesce("is_named_failure", F.lit(False)) & reason.isNull()
    at_limit = F.coalesce(F.col("receive_count") >= F.col("max_receive_count"), F.lit(False))
    over = F.col("hidden_until_at") < F.col("_data_until")
    given_back = (status == "success") & F.coalesce("is_named_failure", F.lit(False))
    failed = status.isin("timeout", "error", "crash", "init_failed") | given_back
    moved = failed | ((status == "unknown") & (F.col("effect") != "yes") & F.col("is_in_dead_letter_queue"))
    return deliveries.withColumn(
        "ended_by",
        F.when(~F.col("is_seen"), F.when(F.col("came_again"), "visibility_expired").otherwise("unknown"))
        .when(refused, "delete_refused")
        .when(F.col("came_again"), "visibility_expired")
        .when(kept, "deleted")
        .when(at_limit & over & moved, "dead_lettered")
        .when(~over, "in_flight")
        .when((status == "unknown") & (F.col("effect") == "yes") & reason.isNull(), "deleted")
        .when(failed, "visibility_expired")
        .otherwise("unknown"),
    ).withColumn(
        "delete_status",
        F.when(reason.isin("expired", "gone"), reason).when(reason.isNotNull(), "failed"),
    )


def ledger_columns(deliveries: DataFrame) -> DataFrame:
    """Return exactly the declared columns."""
    return deliveries.select(*DELIVERIES.column_names)
