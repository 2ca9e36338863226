"""Vectors count what runs tell of the order in which they take their batches, as ``forensics.judging.order`` says of one."""

from collections.abc import Iterable
from typing import Any

import polars as pl

from forensics.judging.order import OrderCounts
from forensics.judging.written import Writer

_RUN = "consumer"


def order_counts(deliveries: pl.DataFrame) -> list[dict[str, Any]]:
    """Count runs of several messages per log group and function: ``in_order`` and ``against``; columns are those of deliveries.

    An effect of a message that is not in the printed batch goes on from an earlier run: that one was not in order.
    """
    finished, started = pl.col("finished"), pl.col("started")
    rows = deliveries.filter((pl.col("consumer_kind") == "lambda") & (pl.col("batch_count") > 1)).select(
        _RUN,
        "log_group",
        "function_name",
        "batch_position",
        finished=pl.col("finished_at").to_physical(),
        started=pl.col("started_at").to_physical(),
    )
    rows = rows.filter(finished.is_not_null() | started.is_not_null() | pl.col("batch_position").is_not_null())
    if rows.is_empty():
        return []
    rows = rows.sort(pl.col(_RUN).hash(), "batch_position", nulls_last=True).with_columns(run=pl.col(_RUN).rle_id())
    is_in_batch = pl.col("batch_position").is_not_null()
    done = pl.when(is_in_batch).then(finished)
    rows = rows.with_columns(
        is_inverted=_is_before_the_last(finished, finished)
        | _is_before_the_last(started, finished)
        | _is_before_the_last(started, started),
        done=done,
        is_in_batch=is_in_batch,
        is_of_other=~is_in_batch & finished.is_not_null(),
        is_unbegun=done.is_not_null() & started.is_null(),
    )
    runs = rows.group_by("run").agg(
        pl.col(_RUN, "log_group", "function_name").first(),
        against=pl.col("is_inverted").any() | (pl.col("is_in_batch").any() & pl.col("is_of_other").any()),
        count=pl.col("done").count().cast(pl.Int64),
        first=pl.col("done").min(),
        last=pl.col("done").max(),
        is_all_begun=~pl.col("is_unbegun").any(),
    )
    began = pl.col(_RUN).str.extract(r"\|([0-9]+)(?:\.[0-9]+)?$", 1).cast(pl.Int64) * 1000
    spread = pl.col("last") - pl.col("first")
    is_spaced = (2 * spread >= (pl.col("count") - 1) * (pl.col("first") - began)) & (began > 0)
    tells = (pl.col("count") > 1) & (spread > 0) & (pl.col("is_all_begun") | is_spaced)
    told = runs.with_columns(in_order=(tells & ~pl.col("against")).fill_null(False))
    return (
        told.group_by("log_group", "function_name")
        .agg(pl.col("in_order").sum().cast(pl.Int64), pl.col("against").sum().cast(pl.Int64))
        .filter((pl.col("in_order") > 0) | (pl.col("against") > 0))
        .sort("log_group", "function_name")
        .to_dicts()
    )


def _is_before_the_last(at: pl.Expr, other: pl.Expr) -> pl.Expr:
    """Tell where a time is earlier than the last one known of the rows before it in its run.

    Of times in order the last is the latest, and others are against the order by themselves.
    """
    known = other.is_not_null() & pl.col("batch_position").is_not_null()
    last, of_run = (pl.when(known).then(what).forward_fill().shift(1) for what in (other, pl.col("run")))
    return ((of_run == pl.col("run")) & pl.col("batch_position").is_not_null() & (at < last)).fill_null(False)


def orders_together(parts: Iterable[Iterable[dict[str, Any]]]) -> dict[Writer, OrderCounts]:
    """Return what the parts of a lake tell together."""
    found: dict[Writer, OrderCounts] = {}
    for row in (row for part in parts for row in part):
        writer = row["log_group"], row["function_name"]
        before = found.get(writer, OrderCounts())
        found[writer] = OrderCounts(before.in_order + row["in_order"], before.against + row["against"])
    return found
