"""Rows that were settled, and what came to them since."""

from collections.abc import Sequence

import polars as pl


def with_numbers(rows: pl.DataFrame, numbers: Sequence[int]) -> pl.DataFrame:
    """Return rows whose ``part`` is a place among these numbers with the number."""
    return rows.with_columns(pl.Series("part", numbers, pl.UInt32).gather(rows["part"]))


def rows_in(new: pl.DataFrame, gone: pl.Series, before: pl.DataFrame, wanted: pl.Expr) -> pl.DataFrame:
    """Return those rows ``wanted``: new ones, and of those of before such as are not ``gone``, a column that says of which no longer to tell."""
    kept = before.filter(wanted)
    return pl.concat([kept.filter(~pl.col(gone.name).is_in(gone.implode())), new.filter(wanted)])
