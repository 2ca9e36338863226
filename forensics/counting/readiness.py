"""What the lines of each consumer tell, and what they do not: counted per log group, part by part."""

from collections.abc import Iterable

import polars as pl

from forensics.readiness import COUNTS, Counts


def invocation_counts(invocations: pl.DataFrame) -> list[Counts]:
    """Count what the invocations of a part show, per log group, sorted; columns as in ``forensics.streams.invocations``."""
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


def handling_counts(handlings: pl.DataFrame) -> list[Counts]:
    """Count what a worker's handlings of a part show, per log group, sorted.

    Columns: log_group, first_at, last_at, first_id (a line), item_id, shows_count, shows_start, shows_effect.
    """
    return _counted(
        handlings,
        ("first_at", "last_at", "first_id"),
        with_message=pl.col("item_id").count(),
        with_count=pl.col("shows_count").sum(),
        with_item_start=pl.col("shows_start").sum(),
        with_effect=pl.col("shows_effect").sum(),
        with_response=pl.lit(0),
        with_start=pl.lit(0),
    )


def _counted(rows: pl.DataFrame, names: tuple[str, str, str], **counts: pl.Expr) -> list[Counts]:
    first, last, sample = names
    samples = pl.concat_list(pl.col(sample).min(), pl.col(sample).max()).list.drop_nulls()
    return (
        rows.group_by("log_group")
        .agg(
            pl.len().cast(pl.Int64).alias("handlings"),
            *[count.cast(pl.Int64).alias(name) for name, count in counts.items()],
            samples.alias("samples"),
            pl.col(first).min().to_physical().alias("first_at"),
            pl.col(last).max().to_physical().alias("last_at"),
        )
        .sort("log_group")
        .to_dicts()
    )


def together(parts: Iterable[Iterable[Counts]]) -> dict[str, Counts]:
    """Count the parts of a lake together; returns the counts by log group."""
    found: dict[str, Counts] = {}
    for part in parts:
        for counts in part:
            group = counts["log_group"]
            found[group] = _sum(found[group], counts) if group in found else counts
    return {group: found[group] for group in sorted(found)}


def _sum(one: Counts, other: Counts) -> Counts:
    samples = [*one["samples"], *other["samples"]]
    return {
        "log_group": one["log_group"],
        **{name: one[name] + other[name] for name in COUNTS},
        "samples": [min(samples), max(samples)] if samples else [],
        "first_at": min(one["first_at"], other["first_at"]),
        "last_at": max(one["last_at"], other["last_at"]),
    }
