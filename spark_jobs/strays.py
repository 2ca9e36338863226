"""Effect lines that stand in another delivery than their own, given back where the printed batches tell whose they are."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

_PLACE = ["log_group", "log_stream", "item_id"]
_EARLIEST = ("marker_at", "guard_at", "started_at")
_LISTS = ("fact_ids", "evidence_ids", "business_keys")


def with_strays_returned(seen: DataFrame) -> DataFrame:
    """Return the judged deliveries without those that only work left over from an earlier run made up.

    What a handler started and did not wait for may go on in the next run of the same environment and write its lines
    there. The printed batch of that run does not hold the message: no delivery happened, and the lines belong to the
    newest earlier run of the stream whose batch does.
    """
    left = seen.where(_is_left_over())
    if left.isEmpty():
        return _shared_by_key(seen)
    homes = seen.where(F.col("batch_position").isNotNull()).select(
        *_PLACE, F.col("consumer").alias("_home"), F.col("received_at").alias("_home_at")
    )
    of = (
        left.join(homes, _PLACE)
        .where(F.col("_home_at") <= F.col("received_at"))
        .groupBy("consumer", "item_id")
        .agg(F.max_by("_home", "_home_at").alias("_home"))
    )
    moved = (
        left.join(of, ["consumer", "item_id"])
        .groupBy(F.col("_home").alias("consumer"), "item_id")
        .agg(
            *[F.min(c).alias(f"_{c}") for c in _EARLIEST],
            *[F.flatten(F.collect_list(c)).alias(f"_{c}") for c in _LISTS],
        )
    )
    kept = seen.join(of.select("consumer", "item_id"), ["consumer", "item_id"], how="left_anti")
    together = kept.join(moved, ["consumer", "item_id"], how="left")
    for column in _EARLIEST:
        together = together.withColumn(column, F.coalesce(column, f"_{column}")).drop(f"_{column}")
    for column in _LISTS:
        together = together.withColumn(column, _joined(column, f"_{column}")).drop(f"_{column}")
    return _shared_by_key(together)


def _is_left_over() -> Column:
    return (
        (F.col("consumer_kind") == "lambda")
        & F.col("is_batch_printed")
        & F.col("batch_position").isNull()
        & F.col("message_id").isNotNull()
    )


def _joined(ours: str, theirs: str) -> Column:
    both = F.concat(F.col(ours), F.coalesce(F.col(theirs), F.array().cast("array<string>")))
    return F.array_sort(F.array_distinct(both))


def _shared_by_key(seen: DataFrame) -> DataFrame:
    """Spread effect lines that name a business key over the messages of one batch that share it, in batch order."""
    key = F.when(F.size("business_keys") == 1, F.col("business_keys")[0])
    shared = Window.partitionBy("consumer", "_key")
    ranked = shared.orderBy(F.col("key_marker_count") == 0, F.asc_nulls_last("batch_position"), "item_id")
    lines = F.sum("key_marker_count").over(shared)
    is_spread = F.col("_key").isNotNull() & (lines >= F.row_number().over(ranked)) & F.col("marker_at").isNull()
    return (
        seen.withColumn("_key", key)
        .withColumns(
            {
                "_is_spread": is_spread,
                "_last_marker_at": F.max("marker_at").over(shared),
                "_key_ids": F.array_distinct(F.flatten(F.collect_list("evidence_ids").over(shared))),
            }
        )
        .withColumns(
            {
                "marker_at": F.when(F.col("_is_spread"), F.col("_last_marker_at")).otherwise(F.col("marker_at")),
                "evidence_ids": F.when(F.col("_is_spread"), F.array_sort("_key_ids")).otherwise(F.col("evidence_ids")),
            }
        )
        .drop("_key", "_is_spread", "_last_marker_at", "_key_ids")
    )
