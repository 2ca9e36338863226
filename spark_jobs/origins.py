"""Where the further message ids of one work come from: each beside the one sent before it, put to the pure rules."""

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from forensics.origins import IdPair, origin_of
from spark_jobs.inputs import Inputs
from spark_jobs.redrives import was_moved

_ORIGIN = "queue_arn string, item_id string, origin string, origin_sentence string"


def origins(ledger: DataFrame, inputs: Inputs) -> DataFrame:
    """Return (queue_arn, item_id, origin, origin_sentence) for every message of a work but its first."""
    items = (
        ledger.where(F.col("message_id").isNotNull())
        .groupBy("queue_arn", "work_id", "item_id")
        .agg(
            F.min("sent_at").alias("sent_at"),
            F.max("deduplication_id").alias("deduplication_id"),
            F.max("body_md5").alias("body_md5"),
            F.max("job_id").alias("job_id"),
            F.max("is_fifo").alias("is_fifo"),
            F.max(F.coalesce(F.col("ended_by") == "dead_lettered", F.lit(False))).alias("was_dead_lettered"),
            F.array_distinct(F.flatten(F.collect_list("business_keys"))).alias("business_keys"),
            F.min("received_at").alias("received_at"),
        )
    )
    work = Window.partitionBy("queue_arn", "work_id")
    by_sent = work.orderBy(F.asc_nulls_last("sent_at"), "received_at", "item_id")

    def before(name: str) -> Column:
        return F.lag(name).over(by_sent)

    named_after = F.array_contains(F.collect_set("item_id").over(work), F.col("deduplication_id"))
    pairs = (
        items.withColumns(
            {
                "earlier_id": before("item_id"),
                "has_same_deduplication_id": before("deduplication_id") == F.col("deduplication_id"),
                "has_same_body": before("body_md5") == F.col("body_md5"),
                "has_same_job_id": before("job_id") == F.col("job_id"),
                "has_same_business_key": F.arrays_overlap(before("business_keys"), "business_keys"),
                "earlier_was_dead_lettered": before("was_dead_lettered"),
                "is_named_after_earlier": named_after & (F.col("deduplication_id") != F.col("item_id")),
            }
        )
        .withColumns(
            {
                "earlier_id": F.when(F.col("is_named_after_earlier"), F.col("deduplication_id")).otherwise(
                    F.col("earlier_id")
                ),
                "sent_gap_ms": F.unix_millis("sent_at") - F.unix_millis(before("sent_at")),
            }
        )
        .where(F.col("earlier_id").isNotNull())
        .withColumn("was_moved_then", was_moved(inputs, F.col("queue_arn"), F.col("sent_at")))
    )
    asked = pairs.select("queue_arn", "item_id", *[c for c in pairs.columns if c in IdPair._fields], "sent_gap_ms")
    return asked.mapInPandas(_ask, _ORIGIN)


def _ask(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for batch in batches:
        rows = []
        for row in batch.to_dict("records"):
            gap_ms = row.pop("sent_gap_ms")
            queue_arn, item_id = row.pop("queue_arn"), row.pop("item_id")
            known: dict[str, Any] = {name: None if pd.isna(value) else value for name, value in row.items()}
            flags = ("has_same_business_key", "has_same_job_id", "is_named_after_earlier")
            known |= {name: bool(known[name]) for name in (*flags, "earlier_was_dead_lettered")}
            same_id = known["has_same_deduplication_id"]
            known["has_same_deduplication_id"] = None if same_id is None else bool(same_id)
            known["sent_gap_s"] = None if pd.isna(gap_ms) else round(gap_ms / 1000, 3)
            rows.append((queue_arn, item_id, *origin_of(IdPair(**known))))
        yield pd.DataFrame(rows, columns=["queue_arn", "item_id", "origin", "origin_sentence"])
