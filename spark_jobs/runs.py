"""The runs of functions whose mappings count events: what the counts of a stretch of time are held against."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from forensics.counting.blind import blind_starts
from forensics.judging.event_counts import Run, run_of
from forensics.judging.order import OrderCounts
from forensics.judging.written import BlindStarts, Writer
from forensics.settings_in_force import SettingsInForce
from spark_jobs.parts import all_invocations, read_part

_COLUMNS = ["function_name", "queue_arn", "started_at", "ended_at", "end_status", "message_count", "shows_batch"]


def runs_of_mappings(small: Mapping[str, list[dict[str, Any]]], parts: Sequence[Path]) -> dict[str, list[Run]]:
    """Return by mapping the runs of its function, whichever queue they were of; only of mappings that count events.

    Messages count only where they are the mapping's queue's, and printed: else nobody knows how many there were.
    """
    mappings = {
        row["mapping_uuid"]: (row["queue_arn"], row["function_name"])
        for row in small["event_source_mappings"]
        if row["counts_events"]
    }
    if not mappings:
        return {}
    functions = sorted({function for _, function in mappings.values()})
    frames = [
        all_invocations(part).filter(pl.col("function_name").is_in(functions)).select(_COLUMNS).collect()
        for part in parts
    ]
    of_function: dict[str, list[dict[str, Any]]] = {name: [] for name in functions}
    for frame in frames:
        times = frame.with_columns(pl.col(name).dt.epoch("us") for name in ("started_at", "ended_at"))
        for row in times.iter_rows(named=True):
            of_function[row["function_name"]].append(row)
    return {
        uuid: [run_of(row, queue_arn) for row in of_function[function]]
        for uuid, (queue_arn, function) in sorted(mappings.items())
    }


def blind_starts_of(
    part: Path, in_force: SettingsInForce, orders: Mapping[Writer, OrderCounts]
) -> list[tuple[Writer, BlindStarts]]:
    """Return of each writer of a part when those runs began (µs) that may have had messages which no line shows."""
    handlings = read_part(part, "handlings") if (part / "handlings.parquet").exists() else None
    return blind_starts(all_invocations(part), handlings, in_force, orders)
