"""FIFO groups that stood still behind a failed delivery, and who waited."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from spark_jobs.message_groups import is_fifo

_MOST_IDS = 1000
_FAILED = ("timeout", "error", "crash", "init_failed")
_GROUP = ["queue_arn", "group_id"]


def blocked_groups(deliveries: DataFrame, told: DataFrame) -> DataFrame:
    """One row per span in which nothing of a FIFO group got through: from the end of the first failed run of a row of
    failed runs until a run was handed something that it did finish, or until nothing more is seen.

    ``deliveries`` is the whole ledger. Only groups that the logs name; a message without its group claims nothing.
    """
    fifo = deliveries.where(is_fifo() & F.col("group_id").isNotNull() & F.col("is_seen"))
    held = _held()
    groups = fifo.where(held).select(*_GROUP).distinct()
    rows = fifo.join(F.broadcast(groups), _GROUP, how="left_semi").join(
        F.broadcast(told.select("queue_arn", "item_id", "incident_id")), ["queue_arn", "item_id"], how="left"
    )
    return _with_waiting(_stops(_runs(rows)), rows)


def _held() -> Column:
    """The delivery kept its group locked after its run: it was not deleted."""
    still = (F.col("ended_by") == "in_flight") & F.col("run_status").isin(*_FAILED)
    return F.col("ended_by").isin("visibility_expired", "delete_refused", "dead_lettered") | still


def _runs(rows: DataFrame) -> DataFrame:
    """One row per consumer and group: when it got messages of the group, when it was done, and whether it held it."""
    is_held = _held()
    first = F.struct("batch_position", "item_id")
    return rows.groupBy(*_GROUP, "queue", "consumer").agg(
        F.min("received_at").alias("received_at"),
        F.max(F.coalesce("run_ended_at", "received_at")).alias("freed_at"),
        F.max(F.when(is_held, F.col("hidden_until_at"))).alias("hidden_until_at"),
        F.max(is_held).alias("is_held"),
        F.max(~is_held).alias("got_through"),
        F.max(F.when(is_held, F.col("ended_by") == "in_flight")).alias("is_going_on"),
        F.max(F.when(is_held, F.col("incident_id"))).alias("incident_id"),
        F.min_by(F.struct("item_id", "message_id"), F.when(is_held, first)).alias("_blocker"),
        F.flatten(F.collect_list(F.when(is_held, F.col("business_keys")))).alias("business_keys"),
        F.flatten(F.collect_list(F.when(is_held, F.col("evidence_ids")))).alias("evidence_ids"),
    )


def _stops(runs: DataFrame) -> DataFrame:
    """One row per row of failed runs in which nothing got through but, at most, a part of the first one's batch."""
    in_order = Window.partitionBy(*_GROUP).orderBy("received_at", "consumer")
    so_far = in_order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    counted = runs.withColumns(
        {
            "_stop": F.count(F.when(F.col("got_through"), 1)).over(so_far),
            "_next_at": F.lead("received_at").over(in_order),
        }
    )
    place = F.struct("received_at", "consumer")
    stops = (
        counted.where(F.col("is_held"))
        .groupBy(*_GROUP, "queue", "_stop")
        .agg(
            F.min_by("freed_at", place).alias("from_at"),
            F.max_by("_next_at", place).alias("until_at"),
            F.max_by("is_going_on", place).alias("is_going_on"),
            F.max("hidden_until_at").alias("hidden_until_at"),
            F.max("incident_id").alias("incident_id"),
            F.min_by("_blocker", place).alias("_blocker"),
            F.array_sort(F.array_distinct(F.flatten(F.collect_list("business_keys")))).alias("business_keys"),
            F.array_sort(F.array_distinct(F.flatten(F.collect_list("evidence_ids")))).alias("evidence_ids"),
        )
    )
    return stops.where(F.coalesce(F.col("until_at") > F.col("from_at"), F.col("hidden_until_at") > F.col("from_at")))


def _with_waiting(stops: DataFrame, rows: DataFrame) -> DataFrame:
    """Add the messages that were sent before the stop was over and received only then."""
    shown_first = F.struct("received_at", "evidence_ids")
    firsts = rows.groupBy(*_GROUP, "item_id").agg(
        F.min("received_at").alias("first_at"),
        F.min("sent_at").alias("sent_at"),
        F.max("message_id").alias("waiting_id"),
        F.min_by(F.element_at("evidence_ids", 1), F.when(F.col("received_at").isNotNull(), shown_first)).alias(
            "waiting_evidence_id"
        ),
    )
    waiting = F.col("sent_at") < F.col("until_at")
    behind = (
        stops.select(*_GROUP, "_stop", "until_at")
        .join(firsts, _GROUP)
        .where(F.col("first_at") >= F.col("until_at"))
        .groupBy(*_GROUP, "_stop")
        .agg(
            F.count(F.when(waiting, 1)).cast("int").alias("_waiting"),
            F.max(F.col("sent_at").isNull()).alias("_unknown"),
            F.slice(F.array_sort(F.collect_set(F.when(waiting, F.col("waiting_id")))), 1, _MOST_IDS).alias(
                "message_ids"
            ),
            F.min_by("waiting_evidence_id", F.struct("first_at", "waiting_evidence_id")).alias("_next_evidence_id"),
        )
    )
    count = F.when(F.col("_unknown") & (F.col("_waiting") == 0), None).otherwise(F.coalesce("_waiting", F.lit(0)))
    return stops.join(behind, [*_GROUP, "_stop"], how="left").select(
        F.lit("fifo_group_blocked").alias("code"),
        "queue_arn",
        "queue",
        F.col("_blocker.item_id").alias("item_id"),
        F.col("_blocker.message_id").alias("message_id"),
        "incident_id",
        "group_id",
        "from_at",
        "until_at",
        count.alias("message_count"),
        F.coalesce("message_ids", F.array().cast("array<string>")).alias("message_ids"),
        "business_keys",
        count.alias("waiting_count"),
        F.coalesce("is_going_on", F.lit(False)).alias("is_going_on"),
        F.array_compact(F.concat("evidence_ids", F.array("_next_evidence_id"))).alias("evidence_ids"),
    )
