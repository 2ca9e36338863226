"""What a part of the lake says of itself, in a few plain values: by them a run knows what it need not open."""

from typing import Any

import polars as pl

from forensics.counting.orders import order_counts
from forensics.counting.readiness import handling_counts, invocation_counts, with_failed_alone, with_unmarked


def told_of(invocations: pl.DataFrame, deliveries: pl.DataFrame, handlings: pl.DataFrame) -> dict[str, Any]:
    """Return how much there is of what, of which queues, functions and log groups; ``received`` is first and last, in µs."""
    groups = invocations.group_by("log_group", "function_name").agg(
        has_starts=pl.col("has_start").any(),
        blind=(~pl.col("shows_batch")).sum(),
        has_guard_line=pl.col("has_guard_line").any(),
        has_effect_line=pl.col("shows_effects").any(),
        names_items=pl.col("names_items").any(),
    )
    started = invocations.with_columns(start_at=pl.when("has_start").then("started_at"))
    log_groups = {*deliveries["log_group"].unique().to_list(), *invocations["log_group"].unique().to_list()}
    return {
        "invocations": invocations.height,
        "deliveries": deliveries.height,
        "groups": groups.sort("log_group", "function_name").to_dicts(),
        "workers": _workers(handlings),
        "orders": order_counts(deliveries),
        "of_invocations": with_unmarked(invocation_counts(started), deliveries),
        "of_handlings": with_failed_alone(handling_counts(handlings), deliveries),
        "queues": sorted(deliveries["queue_arn"].unique().to_list()),
        "functions": sorted(deliveries["function_name"].drop_nulls().unique().to_list()),
        "received": _received(deliveries),
        "log_groups": sorted(log_groups),
    }


def _workers(handlings: pl.DataFrame) -> list[dict[str, Any]]:
    """Return by log group of workers whether some handling shows how it was opened, how many do not, and how many show their effect, or tell it again."""
    if handlings.is_empty():
        return []
    opened = pl.col("is_opened")
    told = handlings.group_by("log_group").agg(
        has_starts=opened.any(),
        blind=(~opened).sum(),
        has_effect_line=pl.col("shows_effect").any(),
        effects=pl.col("shows_effect").sum(),
        again=pl.col("tells_again").sum(),
    )
    return told.sort("log_group").with_columns(function_name=None, has_guard_line=False).to_dicts()


def _received(deliveries: pl.DataFrame) -> tuple[int, int] | None:
    """Return when the first and the last delivery was received (µs); None where no delivery is known to have been."""
    at = pl.col("received_at").dt.epoch("us")
    low, high = deliveries.select(low=at.min(), high=at.max()).row(0)
    return None if low is None else (low, high)
