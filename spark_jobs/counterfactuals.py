"""Which change would have prevented the repeats of an incident: every repeat put to every change, then counted."""

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from forensics.counterfactuals import PREVENTED, UNDECIDED, Repeat, answers
from forensics.tables.findings import COUNTERFACTUALS

_ITEM = ["queue_arn", "item_id"]
_CITED = 100
"""Repeats of one incident whose evidence is cited; the others are in the redeliveries table."""
_FROM_PAIR = {
    "earlier_kind": "earlier_kind",
    "earlier_status": "earlier_status",
    "earlier_batch_count": "earlier_batch_count",
    "earlier_position": "earlier_is_printed",
    "earlier_is_named_failure": "earlier_is_named_failure",
    "earlier_has_finish_mark": "earlier_has_finish_mark",
    "earlier_batch_size": "batch_size",
    "visibility_timeout_s": "visibility_timeout_s",
    "earlier_function_timeout_s": "function_timeout_s",
    "run_ms": "run_ms",
}
"""Pair column to the counterfactuals' name for it."""


def repeats(ledger: DataFrame, pairs: DataFrame, told: DataFrame, members: DataFrame) -> DataFrame:
    """One row per repeat of affected work: a delivery that did it, or may have, after an earlier one did or may have.

    ``ledger`` holds the judged deliveries with their work_id, ``pairs`` the decided redeliveries, ``told`` the verdicts.
    """
    by_time = (
        Window.partitionBy("queue_arn", "work_id")
        .orderBy(F.coalesce("received_at", "order_at"), "item_id", "delivery_index")
        .rowsBetween(Window.unboundedPreceding, -1)
    )
    maybe = F.col("effect") != "no"
    again = (
        ledger.withColumns(
            {
                "_before": F.count(F.when(maybe, 1)).over(by_time),
                "_done": F.count(F.when(F.col("effect") == "yes", 1)).over(by_time),
            }
        )
        .where(maybe & (F.col("_before") > 0))
        .select(
            *_ITEM,
            "queue",
            "delivery_index",
            F.when(F.col("_done") > 0, "yes").otherwise("unknown").alias("earlier_effect"),
            F.col("is_fifo"),
            F.col("evidence_ids").alias("_own_ids"),
        )
    )
    paired = pairs.select(*_ITEM, "delivery_index", "cause", "evidence_ids", *_FROM_PAIR)
    affected = members.where(F.col("is_affected")).select(*_ITEM, "incident_id")
    return (
        again.join(affected, _ITEM)
        .join(paired, [*_ITEM, "delivery_index"], how="left")
        .join(told.select(*_ITEM, "origin"), _ITEM, how="left")
        .withColumns(
            {
                "cause": F.coalesce("cause", "origin", F.lit("undecidable")),
                "evidence_ids": F.coalesce("evidence_ids", "_own_ids"),
            }
        )
        .drop("origin", "_own_ids")
    )


def counterfactuals(repeated: DataFrame) -> DataFrame:
    """One row per incident and change: how many of its repeats it would have prevented, and why."""
    asked = repeated.select("incident_id", *_ITEM, "queue", "cause", "is_fifo", "earlier_effect", *_FROM_PAIR)
    answered = asked.mapInPandas(
        _ask, "incident_id string, queue_arn string, queue string, change string, outcome string, reason string"
    )
    of = ["incident_id", "queue_arn", "queue", "change"]
    counted = answered.groupBy(*of, "outcome").agg(
        F.count(F.lit(1)).cast("int").alias("n"), F.mode("reason", True).alias("reason")
    )

    def count_of(outcome: str) -> Column:
        return F.coalesce(F.sum(F.when(F.col("outcome") == outcome, F.col("n"))), F.lit(0)).cast("int")

    place = F.when(F.col("outcome") == PREVENTED, 1).when(F.col("outcome") == UNDECIDED, 2).otherwise(3)
    said = F.concat(F.format_string("%,d ", "n"), F.translate("outcome", "_", " "), F.lit(": "), F.col("reason"))
    per_change = counted.groupBy(*of).agg(
        F.sum("n").cast("int").alias("repeats"),
        count_of(PREVENTED).alias("prevented"),
        count_of(UNDECIDED).alias("undecided"),
        F.array_sort(F.collect_list(F.struct(place.alias("place"), said.alias("said")))).alias("_said"),
    )
    return (
        per_change.join(_cited(repeated), "incident_id", how="left")
        .withColumns(
            {
                "prevented_percent": F.floor(F.col("prevented") * 100 / F.col("repeats")).cast("int"),
                "reason": F.concat_ws("; ", F.transform("_said", lambda s: s["said"])),
            }
        )
        .select(*COUNTERFACTUALS.column_names)
    )


def _cited(repeated: DataFrame) -> DataFrame:
    first = Window.partitionBy("incident_id").orderBy("item_id", "delivery_index")
    return (
        repeated.withColumn("_place", F.row_number().over(first))
        .where(F.col("_place") <= _CITED)
        .groupBy("incident_id")
        .agg(F.array_sort(F.array_distinct(F.flatten(F.collect_list("evidence_ids")))).alias("evidence_ids"))
    )


def _ask(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    known = {**_FROM_PAIR, "cause": "cause", "is_fifo": "is_fifo", "earlier_effect": "earlier_effect"}
    for batch in batches:
        rows = []
        for row in batch.to_dict("records"):
            facts = {name: _plain(row[column], name) for column, name in known.items()}
            repeat = Repeat(**{name: value for name, value in facts.items() if value is not None})
            for change, answer in answers(repeat):
                rows.append((row["incident_id"], row["queue_arn"], row["queue"], change, *answer))
        yield pd.DataFrame(rows, columns=["incident_id", "queue_arn", "queue", "change", "outcome", "reason"])


def _plain(value: Any, name: str) -> Any:
    if name == "earlier_is_printed":
        return not pd.isna(value)
    if pd.isna(value):
        return None
    return int(value) if isinstance(value, float) else value
