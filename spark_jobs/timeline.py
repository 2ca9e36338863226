"""An incident's timeline: bars and marks, each with the lines that show it."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from forensics.tables.findings import TIMELINE


def timeline(ledger: DataFrame, messages: DataFrame, held: DataFrame | None = None) -> DataFrame:
    """Return the bars (in_flight, handling) and marks of every message that belongs to an incident.

    Affected messages take the first lanes, in the order of their first receive. ``held`` names incidents, as incident_id,
    that are left out; ``ledger`` then need not hold their messages, but works as a whole.
    """
    mine = messages.where(F.col("incident_id").isNotNull()).select(
        "incident_id",
        "queue_arn",
        "item_id",
        F.col("first_received_at").alias("_first"),
        (F.coalesce(F.col("effects_at_most"), F.lit(2)) < 2).alias("_calm"),
    )
    in_incident = Window.partitionBy("incident_id").orderBy("_calm", "_first", "_place", "item_id")
    place = ledger.groupBy("queue_arn", "item_id").agg(F.min("batch_position").alias("_place"))
    lanes = (
        mine.join(place, ["queue_arn", "item_id"], how="left")
        .withColumn("lane", F.row_number().over(in_incident))
        .drop("_first", "_calm", "_place")
    )
    rows = ledger.join(lanes, ["queue_arn", "item_id"])
    done_before = F.coalesce(
        F.max(F.when(F.col("effect") == "yes", True)).over(
            Window.partitionBy("queue_arn", "work_id")
            .orderBy("received_at", "item_id", "delivery_index")
            .rowsBetween(Window.unboundedPreceding, -1)
        ),
        F.lit(False),
    )
    rows = rows.withColumn("_repeat", done_before)
    if held is not None:
        rows = rows.join(F.broadcast(held), "incident_id", how="left_anti")
    marked = rows.withColumn("_mark", F.explode(F.array_compact(F.array(*_marks()))))
    return marked.select(
        "incident_id",
        "item_id",
        F.when(F.col("_mark.kind") == "sent", 0).otherwise(F.col("delivery_index")).alias("delivery_index"),
        "message_id",
        "receive_count",
        "lane",
        F.col("_mark.kind").alias("kind"),
        F.col("_mark.at").alias("at"),
        F.col("_mark.until_at").alias("until_at"),
        F.when(F.col("_mark.kind") == "in_flight", F.col("ended_by")).alias("ended_by"),
        "function_name",
        "consumer",
        F.coalesce(F.col("_mark.source"), F.concat_ws(" ", "log_stream", "request_id"), F.lit("derived")).alias(
            "source"
        ),
        F.col("_mark.label").alias("label"),
        "evidence_ids",
    ).select(*TIMELINE.column_names)


def _marks() -> list[Column]:
    ended = F.coalesce("run_ended_at", "last_fact_at")
    deleted = F.col("ended_by") == "deleted"
    gone_at = F.when(deleted, F.coalesce("delete_at", "run_ended_at", "finished_at"))
    count = F.coalesce(F.concat(F.lit("receive #"), F.col("receive_count")), F.lit("receive count not logged"))
    worked_from = F.coalesce("started_at", F.when(F.col("consumer_kind") == "worker", F.col("received_at")))
    worked_until = F.coalesce("finished_at", ended)
    done = F.col("effect") == "yes"
    derived = F.lit("derived")
    nothing = F.lit(None).cast("string")

    def mark(
        kind: str, at: Column, when: Column, label: Column, until: Column | None = None, source: Column | None = None
    ) -> Column:
        return F.when(
            F.coalesce(when, F.lit(False)) & at.isNotNull(),
            F.struct(
                F.lit(kind).alias("kind"),
                at.alias("at"),
                (F.lit(None) if until is None else until).cast("timestamp").alias("until_at"),
                (nothing if source is None else source).alias("source"),
                label.alias("label"),
            ),
        )

    first = F.col("delivery_index") == 1
    seen = F.col("is_seen")
    status = F.col("run_status")
    until = F.coalesce(gone_at, F.col("hidden_until_at"), ended)
    repeat = done & F.col("_repeat")
    return [
        mark("sent", F.col("sent_at"), first, F.lit("sent")),
        mark("in_flight", F.col("received_at"), seen, F.concat(F.lit("in flight, "), count), until),
        mark("handling", worked_from, seen, F.concat(F.lit("handling, "), count), worked_until),
        mark(
            "effect",
            F.col("effect_at"),
            done & ~F.col("_repeat"),
            F.concat(F.lit("work done ("), F.col("basis"), F.lit(")")),
        ),
        mark("repeat", F.col("effect_at"), repeat, F.concat(F.lit("work done again ("), F.col("basis"), F.lit(")"))),
        mark("timeout", ended, status == "timeout", F.lit("the run timed out")),
        mark(
            "error",
            ended,
            status == "error",
            F.concat(F.lit("the run failed: "), F.coalesce("error_type", F.lit("error"))),
        ),
        mark(
            "crash",
            ended,
            status.isin("crash", "init_failed"),
            F.concat(F.lit("the runtime crashed: "), F.coalesce("error_type", F.lit("no reason given"))),
        ),
        mark("deleted", gone_at, deleted, F.lit("deleted")),
        mark(
            "delete_refused",
            F.col("delete_at"),
            F.col("ended_by") == "delete_refused",
            F.lit("delete refused: the receipt handle has expired"),
        ),
        mark(
            "dead_lettered",
            F.col("hidden_until_at"),
            F.col("ended_by") == "dead_lettered",
            F.lit("moved to the dead-letter queue (not before)"),
            source=derived,
        ),
        mark(
            "unseen",
            F.coalesce("received_at", "order_at"),
            ~seen,
            F.concat(F.lit("received, and no log shows it: "), count),
            source=derived,
        ),
    ]
