"""What judging asks of all runs together: those whose mapping counts events, and those that may have had messages which no line shows."""

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from forensics.incidents.blind_windows import FailedInvocation, Owner, of_owners
from forensics.judging.event_counts import Run, run_of
from forensics.judging.order import OrderCounts
from forensics.judging.written import BlindStarts, Writer, blind_of
from forensics.run_ends import CUT_OFF
from forensics.settings_in_force import SettingsInForce

_OF_RUN = ("function_name", "queue_arn", "started_at", "ended_at", "end_status", "message_count", "shows_batch")
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
        found += [((log_group, None), BlindStarts(starts, starts, [])) for log_group, starts in unopened.iter_rows()]
    return found


def failed_runs(invocations: Iterable[pl.LazyFrame], owners: Mapping[str, Iterable[Owner]]) -> list[FailedInvocation]:
    """Return the runs that failed whose logs name no message, once for each queue they may be of; ``owners`` by log group."""
    wanted = pl.col("end_status").is_in(list(CUT_OFF)) & pl.col("log_group").is_in(list(owners))
    names = ("log_group", "function_name", "started_at", "ended_at", "end_status", "evidence_ids")
    found: list[FailedInvocation] = []
    for frame in invocations:
        rows = frame.filter(wanted).select(names)
        rows = rows.with_columns(pl.col(n).dt.epoch("us") for n in ("started_at", "ended_at"))
        for run in rows.collect().iter_rows():
            found += of_owners(run, owners[str(run[0])])
    return found


def runs_of_mappings(
    mappings: Iterable[Mapping[str, Any]], invocations: Iterable[pl.LazyFrame]
) -> dict[str, list[Run]]:
    """Return by mapping the runs of its function, whichever queue they were of; only of mappings that count events.

    Messages count only where they are the mapping's queue's, and printed: else nobody knows how many there were.
    """
    counting = {
        row["mapping_uuid"]: (row["queue_arn"], row["function_name"]) for row in mappings if row["counts_events"]
    }
    if not counting:
        return {}
    of_function: dict[str, list[dict[str, Any]]] = {function: [] for _, function in sorted(counting.values())}
    for frame in invocations:
        mine = frame.filter(pl.col("function_name").is_in(list(of_function))).select(_OF_RUN)
        times = mine.with_columns(pl.col(name).dt.epoch("us") for name in ("started_at", "ended_at"))
        for row in times.collect().iter_rows(named=True):
            of_function[row["function_name"]].append(row)
    return {
        uuid: [run_of(row, queue_arn) for row in of_function[function]]
        for uuid, (queue_arn, function) in sorted(counting.items())
    }
