"""The verdict per message: how often its work was done for sure, and how often it may have been."""

from collections import Counter
from collections.abc import Iterable, Iterator

import pandas as pd
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from forensics.tables.findings import MESSAGES
from forensics.verdict import effect_sentence, guard_sentence, trigger_sentence, verdict_of

_GUARDS = ("_guards", "_is_guarded", "_lock_ended", "_lock_ended_s", "_other_payloads")
_JUDGED = "verdict string, trigger_sentence string, guard_sentence string, effect_sentence string"


def hidden_possible(ledger: DataFrame, borders: DataFrame) -> DataFrame:
    """Return (queue_arn, item_id) of items whose deliveries can hide: no upper bound holds for them.

    Only where a receive count was not logged: in a gap of more than two visibility timeouts, or near the border of
    what was read. ``borders`` has log_group, read_from, read_until. An unknown visibility timeout hides anything.
    """
    in_order = Window.partitionBy("queue_arn", "item_id").orderBy("delivery_index")
    gap_ms = F.unix_millis("received_at") - F.unix_millis(F.lag("received_at").over(in_order))
    twice_ms = F.col("visibility_timeout_s").cast("long") * 2000
    first = F.col("delivery_index") == 1
    sent_inside = F.coalesce(F.col("sent_at") >= F.col("read_from"), F.lit(False))
    early = first & ~sent_inside & (F.unix_millis("received_at") - F.unix_millis("read_from") < twice_ms)
    is_last = ~F.col("came_again")
    finished = F.col("ended_by") == "deleted"
    late = is_last & ~finished & (F.unix_millis("read_until") - F.unix_millis("received_at") < twice_ms)
    hides = (gap_ms > twice_ms) | early | late | F.col("visibility_timeout_s").isNull() | F.col("read_from").isNull()
    uncounted = F.max(F.col("receive_count").isNull()).over(Window.partitionBy("queue_arn", "item_id"))
    return (
        ledger.join(F.broadcast(borders), "log_group", how="left")
        .withColumns(
            {
                "_hides": F.coalesce(hides, F.lit(True)),
                "_uncounted": uncounted,
            }
        )
        .where(F.col("_hides") & F.col("_uncounted"))
        .select("queue_arn", "item_id")
        .distinct()
        .withColumn("is_unbounded", F.lit(True))
    )


def messages(ledger: DataFrame, decided: DataFrame, unbounded: DataFrame, origin: DataFrame) -> DataFrame:
    """One row per judged item. Its interval is that of its work: every delivery of every message of the work.

    ``ledger`` has work_id, effect and basis; ``decided`` the causes per redelivery; ``origin`` where further ids of one
    work come from.
    """
    work = ["queue_arn", "work_id"]
    item = ["queue_arn", "item_id"]
    yes, maybe = F.col("effect") == "yes", F.col("effect") == "unknown"
    with_bounds = ledger.join(F.broadcast(unbounded), item, how="left")
    per_work = with_bounds.groupBy(*work).agg(
        F.count(F.when(yes, 1)).cast("int").alias("effects_at_least"),
        F.count(F.when(yes | maybe, 1)).cast("int").alias("_at_most"),
        F.max("is_unbounded").alias("_unbounded"),
        F.min(F.when(yes, F.col("basis").isin("marker", "finished"))).alias("_is_proved"),
        F.array_sort(F.collect_list("guard_kind")).alias("_guards"),
        F.max("is_guarded_group").alias("_is_guarded"),
        F.max("is_lock_ended").alias("_lock_ended"),
        F.max("lock_ended_s").alias("_lock_ended_s"),
        F.count(F.when(F.col("idempotency") == "validation", 1)).cast("int").alias("_other_payloads"),
        F.array_sort(F.collect_set(F.when(yes, F.col("basis")))).alias("_bases"),
        F.array_sort(F.collect_set("message_id")).alias("_ids"),
    )
    per_item = ledger.groupBy(*item).agg(
        F.first("queue").alias("queue"),
        F.max("message_id").alias("message_id"),
        F.first("work_id").alias("work_id"),
        F.count(F.lit(1)).alias("_rows"),
        F.count(F.when(F.col("is_seen"), 1)).cast("int").alias("deliveries"),
        F.max("receive_count").alias("receive_count"),
        F.min("received_at").alias("first_received_at"),
        F.max("received_at").alias("last_received_at"),
        F.max(F.coalesce("run_ended_at", "received_at")).alias("last_active_at"),
        F.min("sent_at").alias("sent_at"),
        F.max("group_id").alias("group_id"),
        F.max("deduplication_id").alias("deduplication_id"),
        F.max(F.col("ended_by") == "dead_lettered").alias("is_dead_lettered"),
        F.array_sort(F.array_distinct(F.flatten(F.collect_list("business_keys")))).alias("business_keys"),
        F.array_sort(F.array_distinct(F.flatten(F.collect_list("evidence_ids")))).alias("evidence_ids"),
        F.max("visibility_timeout_s").alias("visibility_timeout_s"),
    )
    causes = decided.groupBy(*item).agg(
        F.array_distinct(
            F.flatten(
                F.transform(
                    F.array_sort(
                        F.collect_list(
                            F.struct(
                                "delivery_index",
                                F.when(F.size("causes") > 0, F.col("causes"))
                                .otherwise(F.array(F.lit("undecidable")))
                                .alias("causes"),
                            )
                        )
                    ),
                    lambda c: c["causes"],
                )
            )
        ).alias("causes")
    )
    joined = (
        per_item.join(per_work, work)
        .join(causes, item, how="left")
        .join(origin, item, how="left")
        .withColumns(
            {
                "causes": F.coalesce("causes", F.array().cast("array<string>")),
                "effects_at_most": F.when(F.coalesce("_unbounded", F.lit(False)), None).otherwise(F.col("_at_most")),
                "certainty": F.when(F.col("_is_proved"), "proved").otherwise("inferred"),
                "related_message_ids": F.array_remove("_ids", F.col("message_id")),
            }
        )
        .withColumn(
            "related_message_ids", F.coalesce("related_message_ids", F.col("_ids"), F.array().cast("array<string>"))
        )
        .where((F.col("_rows") > 1) | (F.size("related_message_ids") > 0))
    )
    asked = joined.select(
        *item,
        "effects_at_least",
        "effects_at_most",
        *_GUARDS,
        "_bases",
        "causes",
        "deliveries",
        "receive_count",
        "origin_sentence",
    )
    judged = asked.mapInPandas(_judge, f"queue_arn string, item_id string, {_JUDGED}")
    return joined.join(judged, item).drop("_at_most", "_unbounded", "_is_proved", "_bases", "_ids", "_rows", *_GUARDS)


def _judge(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for batch in batches:
        rows = []
        for row in batch.to_dict("records"):
            at_least, at_most = int(row["effects_at_least"]), _number(row["effects_at_most"])
            guards = Counter(row["_guards"])
            causes, bases = list(row["causes"]), list(row["_bases"])
            rows.append(
                (
                    row["queue_arn"],
                    row["item_id"],
                    verdict_of(at_least, at_most, bool(guards)),
                    trigger_sentence(
                        causes, int(row["deliveries"]), _number(row["receive_count"]), row["origin_sentence"]
                    ),
                    guard_sentence(
                        guards,
                        bool(row["_is_guarded"]),
                        _number(row["_lock_ended_s"]),
                        bool(row["_lock_ended"]),
                        int(row["_other_payloads"]),
                    ),
                    effect_sentence(at_least, at_most, bases),
                )
            )
        yield pd.DataFrame(
            rows,
            columns=["queue_arn", "item_id", "verdict", "trigger_sentence", "guard_sentence", "effect_sentence"],
        )


def _number(value: float | None) -> int | None:
    return None if value is None or pd.isna(value) else int(value)


def in_incidents(judged: DataFrame, membership: DataFrame) -> DataFrame:
    """Add each message's incident, and return exactly the declared columns."""
    return judged.join(membership, ["queue_arn", "item_id"], how="left").select(*MESSAGES.column_names)


__all__ = ["hidden_possible", "in_incidents", "messages"]
