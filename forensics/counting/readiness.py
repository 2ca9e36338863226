"""What the lines of each consumer tell, and what they do not: counted per log group and function, part by part."""

from collections.abc import Iterable

import polars as pl

from forensics.readiness import Counts, added
from forensics.run_ends import FAILED

BY = ("log_group", "function_name")
"""Functions may share a log group; a worker has no name."""


def invocation_counts(invocations: pl.DataFrame) -> list[Counts]:
    """Count what the invocations of a part show, per log group and function, sorted; columns as in ``forensics.streams.invocations``."""
    return _counted(
        invocations,
        ("first_line_at", "last_line_at", "first_mark_id"),
        with_message=pl.col("names_items").sum(),
        with_count=pl.col("shows_counts").sum(),
        with_item_start=pl.col("shows_starts").sum(),
        with_effect=pl.col("shows_effects").sum(),
        with_response=pl.col("has_response").sum(),
        with_start=pl.col("has_start").sum(),
    )


def with_unmarked(counts: Iterable[Counts], deliveries: pl.DataFrame) -> list[Counts]:
    """Add how many messages of each were received once and deleted without the effect line that every work is to print, and one of them.

    Only a first receive counts: a guard may have stopped a later one. What was received again may have been given back.
    """
    again = deliveries.filter(pl.col("receive_count") > 1)["item_id"]
    is_unmarked = (pl.col("basis") == "no_marker") & (pl.col("ended_by") == "deleted") & (pl.col("receive_count") == 1)
    found = deliveries.filter(is_unmarked, ~pl.col("item_id").is_in(again.implode())).group_by(BY)
    told = {(group, name): more for group, name, *more in found.agg(pl.len(), pl.col("item_id").min()).iter_rows()}
    rows = [(row, told.get((row["log_group"], row["function_name"]), [0, None])) for row in counts]
    return [{**row, "unmarked": count, "unmarked_id": example} for row, (count, example) in rows]


def with_failed_alone(counts: Iterable[Counts], deliveries: pl.DataFrame) -> list[Counts]:
    """Add to a worker's counts how many of its deliveries are known by the line of their failure, and by none before it."""
    says = (pl.col(name).is_not_null() for name in ("receive_count", "started_at", "finished_at", "effect_at"))
    is_last = pl.col("received_at") == pl.col("run_ended_at")
    failed = deliveries.filter(
        pl.col("consumer_kind") == "worker", pl.col("run_status").is_in(FAILED), is_last, ~pl.any_horizontal(*says)
    )
    found = dict(failed.group_by("log_group").len().iter_rows())
    return [{**row, "failed_alone": found.get(row["log_group"], 0)} for row in counts]


def handling_counts(handlings: pl.DataFrame) -> list[Counts]:
    """Count what a worker's handlings of a part show, per log group, sorted.

    Columns: log_group, first_at, last_at, first_id (a line), item_id, shows_count, shows_start, shows_effect.
    """
    return _counted(
        handlings.with_columns(function_name=pl.lit(None, pl.String)),
        ("first_at", "last_at", "first_id"),
        with_message=pl.col("item_id").count(),
        with_count=pl.col("shows_count").sum(),
        with_item_start=pl.col("shows_start").sum(),
        with_effect=pl.col("shows_effect").sum(),
        with_response=pl.lit(0),
        with_start=pl.lit(0),
    )


def _counted(rows: pl.DataFrame, names: tuple[str, str, str], **counts: pl.Expr) -> list[Counts]:
    if rows.is_empty():
        return []
    first, last, sample = names
    samples = pl.concat_list(pl.col(sample).min(), pl.col(sample).max()).list.drop_nulls()
    return (
        rows.group_by(BY)
        .agg(
            pl.len().cast(pl.Int64).alias("handlings"),
            *[count.cast(pl.Int64).alias(name) for name, count in counts.items()],
            samples.alias("samples"),
            pl.col(first).min().to_physical().alias("first_at"),
            pl.col(last).max().to_physical().alias("last_at"),
        )
        .sort(BY)
        .to_dicts()
    )


def together(parts: Iterable[Iterable[Counts]]) -> list[Counts]:
    """Count the parts of a lake together; returns the counts per log group and function, sorted."""
    found: dict[tuple[str, str | None], Counts] = {}
    for part in parts:
        for counts in part:
            key = (counts["log_group"], counts["function_name"])
            found[key] = added(found[key], counts) if key in found else counts
    return [found[key] for key in sorted(found, key=lambda key: (key[0], key[1] or ""))]
