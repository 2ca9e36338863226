"""Each delivery beside the one before it, put to the pure rules."""

from collections.abc import Iterable, Iterator

import pandas as pd
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from forensics.rules import DeliveryPair, decide
from forensics.tables.findings import REDELIVERIES, RULINGS
from spark_jobs.inputs import Inputs
from spark_jobs.throttles import with_throttles

_DECIDED = (
    "cause string, causes array<string>, sentence string, excluded array<string>, would_decide string, "
    "rulings array<struct<code: string, stance: string, sentence: string, would_decide: string>>"
)


def delivery_pairs(ledger: DataFrame) -> DataFrame:
    """Put each delivery of the judged items beside the one before it; the pair's facts as flat columns."""
    in_order = Window.partitionBy("queue_arn", "item_id").orderBy("delivery_index")

    def before(name: str) -> Column:
        return F.lag(name).over(in_order)

    earlier = {
        "earlier_is_seen": "is_seen",
        "earlier_kind": "consumer_kind",
        "earlier_status": "run_status",
        "earlier_error_type": "error_type",
        "earlier_finished_at": "finished_at",
        "earlier_basis": "basis",
        "earlier_effect": "effect",
        "earlier_batch_count": "batch_count",
        "earlier_position": "batch_position",
        "earlier_delete_reason": "delete_reason",
        "earlier_is_named_failure": "is_named_failure",
        "earlier_has_response": "has_response",
        "earlier_response_is_malformed": "is_malformed_response",
        "earlier_is_throttled": "is_throttled",
        "earlier_is_watched": "is_watched",
        "earlier_received_at": "received_at",
        "earlier_received_basis": "received_basis",
        "earlier_run_ended_at": "run_ended_at",
        "earlier_evidence_ids": "evidence_ids",
        "earlier_visibility_timeout_s": "visibility_timeout_s",
        "earlier_function_timeout_s": "function_timeout_s",
        "earlier_visibility_is_assumed": "is_visibility_assumed",
        "earlier_function_timeout_is_assumed": "is_function_timeout_assumed",
        "earlier_batch_size": "batch_size",
        "earlier_reports": "reports_batch_item_failures",
        "earlier_request_id": "request_id",
        "earlier_function_name": "function_name",
        "earlier_log_group": "log_group",
        "earlier_delivery_index": "delivery_index",
    }
    paired = ledger.select(
        "queue_arn",
        "queue",
        "item_id",
        "delivery_index",
        "message_id",
        "receive_count",
        "is_fifo",
        F.col("received_at").alias("later_received_at"),
        F.col("evidence_ids").alias("later_evidence_ids"),
        *[before(column).alias(name) for name, column in earlier.items()],
    ).where(F.col("earlier_delivery_index").isNotNull())
    name = F.when(
        F.col("earlier_kind") == "lambda",
        F.concat(
            F.lit("run "),
            F.substring("earlier_request_id", 1, 8),
            F.lit(" of "),
            F.coalesce("earlier_function_name", "earlier_log_group"),
        ),
    ).otherwise(F.concat(F.lit("the worker of "), F.col("earlier_log_group")))
    return paired.withColumns(
        {
            "gap_ms": F.unix_millis("later_received_at") - F.unix_millis("earlier_received_at"),
            "run_ms": F.unix_millis("earlier_run_ended_at") - F.unix_millis("earlier_received_at"),
        }
    ).withColumns(
        {
            "overlap_ms": F.greatest(F.col("run_ms") - F.col("gap_ms"), F.lit(0)),
            "earlier_name": F.coalesce(name, F.lit("the earlier run")),
            "visibility_timeout_s": F.col("earlier_visibility_timeout_s"),
            "earlier_has_finish_mark": F.col("earlier_finished_at").isNotNull()
            | (F.col("earlier_basis") == "finished"),
            "evidence_ids": F.array_sort(F.array_distinct(F.concat("earlier_evidence_ids", "later_evidence_ids"))),
        }
    )


def with_exact_receives(pairs: DataFrame, inputs: Inputs) -> DataFrame:
    """Add ``earlier_received_is_exact``: the earlier delivery was received when its run began, or its time was logged.

    A throttled poller holds what it received for up to one visibility timeout before a run begins.
    """
    key = ["queue_arn", "item_id", "delivery_index"]
    seconds = F.coalesce("visibility_timeout_s", F.lit(43_200)).cast("long")
    start = F.timestamp_millis(F.unix_millis("earlier_received_at") - seconds * 1000)
    told = with_throttles(pairs, key, start, F.col("earlier_received_at"), inputs)
    exact = (F.col("earlier_received_basis") != "run_start") | (F.col("is_throttled") == F.lit(False))
    return told.withColumn("earlier_received_is_exact", F.coalesce(exact, F.lit(False))).drop(
        "is_throttled", "throttle_ids"
    )


def decided(pairs: DataFrame) -> DataFrame:
    """Add every rule's answer to each pair. The only place where rows reach Python; they are few by now."""
    schema = f"queue_arn string, item_id string, delivery_index int, {_DECIDED}"
    asked = pairs.select("queue_arn", "item_id", "delivery_index", *_ASKED)
    answers = asked.mapInPandas(_ask, schema)
    return pairs.join(answers, ["queue_arn", "item_id", "delivery_index"])


_ASKED = {
    "is_fifo": "is_fifo",
    "visibility_timeout_s": "visibility_timeout_s",
    "earlier_function_timeout_s": "function_timeout_s",
    "earlier_visibility_is_assumed": "visibility_is_assumed",
    "earlier_function_timeout_is_assumed": "function_timeout_is_assumed",
    "earlier_batch_size": "batch_size",
    "earlier_reports": "reports_batch_item_failures",
    "earlier_is_seen": "earlier_is_seen",
    "earlier_kind": "earlier_kind",
    "earlier_name": "earlier_name",
    "earlier_status": "earlier_status",
    "earlier_error_type": "earlier_error_type",
    "earlier_has_finish_mark": "earlier_has_finish_mark",
    "earlier_batch_count": "earlier_batch_count",
    "earlier_position": "earlier_is_printed",
    "earlier_delete_reason": "earlier_delete_reason",
    "earlier_is_named_failure": "earlier_is_named_failure",
    "earlier_has_response": "earlier_has_response",
    "earlier_response_is_malformed": "earlier_response_is_malformed",
    "earlier_effect": "earlier_effect",
    "earlier_is_throttled": "is_throttled",
    "earlier_is_watched": "earlier_is_watched",
    "earlier_received_is_exact": "earlier_received_is_exact",
    "run_ms": "run_ms",
    "gap_ms": "gap_ms",
}
"""Pair column to the rules' name for it."""

_INTEGERS = {"visibility_timeout_s", "function_timeout_s", "batch_size", "earlier_batch_count", "run_ms", "gap_ms"}
_FLAGS = {
    "earlier_is_seen",
    "earlier_has_finish_mark",
    "earlier_is_named_failure",
    "earlier_has_response",
    "earlier_response_is_malformed",
    "earlier_is_watched",
    "earlier_received_is_exact",
    "visibility_is_assumed",
    "function_timeout_is_assumed",
}


def _ask(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for batch in batches:
        plain = {column: _plain(batch[column], name) for column, name in _ASKED.items()}
        answers = [
            decide(DeliveryPair(**dict(zip(_ASKED.values(), values, strict=True))))
            for values in zip(*plain.values(), strict=True)
        ]
        yield pd.DataFrame(
            {
                "queue_arn": batch["queue_arn"],
                "item_id": batch["item_id"],
                "delivery_index": batch["delivery_index"],
                "cause": [a.cause for a in answers],
                "causes": [a.causes for a in answers],
                "sentence": [a.sentence for a in answers],
                "excluded": [a.excluded for a in answers],
                "would_decide": [a.would_decide for a in answers],
                "rulings": [
                    [
                        {"code": c, "stance": r.stance, "sentence": r.sentence, "would_decide": r.would_decide}
                        for c, r in a.rulings
                    ]
                    for a in answers
                ],
            }
        )


def _plain(column: pd.Series, name: str) -> list[object]:
    if name == "earlier_is_printed":
        return [not pd.isna(v) for v in column]
    if name in _FLAGS:
        return [bool(v) if not pd.isna(v) else False for v in column]
    values = [None if pd.isna(v) else v for v in column]
    if name in _INTEGERS:
        return [None if v is None else int(v) for v in values]
    return values


def redeliveries(pairs: DataFrame) -> DataFrame:
    """Each redelivery with its cause, its rivals excluded in words, and the evidence of both deliveries."""
    return pairs.select(*REDELIVERIES.column_names)


def rulings(pairs: DataFrame, *others: str) -> DataFrame:
    """Every rule's answer for every redelivery; ``others`` are columns to keep beside the table's."""
    kept = ("queue_arn", "item_id", "delivery_index", "evidence_ids", *others)
    ruled = pairs.select(*kept, F.explode("rulings").alias("ruling"))
    return ruled.select(*kept, "ruling.*").select(*RULINGS.column_names, *others)
