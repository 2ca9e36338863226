"""When runs began that may have had messages which no line shows: lines' silence does not tell what they did."""

from collections.abc import Mapping

import polars as pl

from forensics.judging.order import OrderCounts
from forensics.judging.written import BlindStarts, Writer, blind_of
from forensics.settings_in_force import SettingsInForce

_BY = ("log_group", "function_name", "queue_arn", "in_hand_count", "order_if_all_shown", "begins_items")


def blind_starts(
    invocations: pl.LazyFrame,
    handlings: pl.LazyFrame | None,
    in_force: SettingsInForce,
    orders: Mapping[Writer, OrderCounts],
) -> list[tuple[Writer, BlindStarts]]:
    """Return by writer when those invocations and workers' handlings of a part began (µs).

    Columns of an invocation are those of ``forensics.streams.invocations``, of a handling of ``forensics.streams.handlings``.
    """
    runs = invocations.filter(~pl.col("shows_batch")).group_by(_BY).agg(pl.col("started_at").dt.epoch("us"))
    found = blind_of(runs.collect().iter_rows(), in_force, orders)
    if handlings is not None:
        of_workers = handlings.filter(~pl.col("is_opened")).group_by("log_group")
        unopened = of_workers.agg(pl.col("first_at").dt.epoch("us")).collect()
        found += [((log_group, None), BlindStarts(starts, starts)) for log_group, starts in unopened.iter_rows()]
    return found
