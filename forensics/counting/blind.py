"""Runs that may have had messages which no line shows: what they did is not told by their lines' silence."""

import polars as pl

from forensics.judging.written import Blind, blind_of
from forensics.settings_in_force import SettingsInForce

_BY = ("log_group", "function_name", "queue_arn", "record_count", "begins_items")


def blind_runs(invocations: pl.LazyFrame, handlings: pl.LazyFrame | None, in_force: SettingsInForce) -> list[Blind]:
    """Return the invocations and workers' handlings of a part that may have had messages which no line shows.

    Columns of an invocation are those of ``forensics.streams.invocations``, of a handling of ``forensics.streams.handlings``.
    """
    runs = invocations.filter(~pl.col("shows_batch")).group_by(_BY).agg(pl.col("started_at").dt.epoch("us"))
    found = blind_of(runs.collect().iter_rows(), in_force)
    if handlings is not None:
        of_workers = handlings.filter(~pl.col("is_opened")).group_by("log_group")
        unopened = of_workers.agg(pl.col("first_at").dt.epoch("us")).collect()
        found += [Blind(log_group, None, False, starts) for log_group, starts in unopened.iter_rows()]
    return found
