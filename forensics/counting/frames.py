"""Rows as columns, in the schema of a declared table or another."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import polars as pl
import pyarrow as pa

from forensics.sentence import both_forms
from forensics.tables import Table
from forensics.tables.schema import MARKED

UTC_US = pl.Datetime("us", "UTC")
_TYPES: dict[str, pl.DataType | type[pl.DataType]] = {
    "string": pl.String,
    "int": pl.Int32,
    "long": pl.Int64,
    "double": pl.Float64,
    "bool": pl.Boolean,
    "timestamp": UTC_US,
    "strings": pl.List(pl.String),
}


def schema_of(table: Table) -> dict[str, Any]:
    """Return the frame schema of a declared table."""
    return {c.name: _TYPES[c.type] for c in table.columns}


_STRINGS = pa.large_list(pa.large_string())


def frame(rows: Iterable[tuple[Any, ...]] | Iterable[Mapping[str, Any]], schema: Mapping[str, Any]) -> pl.DataFrame:
    """Return rows as a frame; times are whole microseconds in the rows, UTC timestamps in the frame.

    Lists by way of Arrow, whose arrays of lists cost a tenth of what polars' own do. Rows give sentences, the frame has both forms.
    """
    given = [name for name in schema if not name.endswith(MARKED)]
    every = [row if isinstance(row, tuple) else tuple(row[name] for name in given) for row in rows]
    if not every:
        return no_rows(tuple(schema.items()))
    columns: dict[str, Any] = dict(zip(given, zip(*every, strict=True), strict=True))
    for name in (name for name in given if f"{name}{MARKED}" in schema):
        once = {id(text): text for text in columns[name]}  # one object is said of many rows
        told = {key: both_forms(text) for key, text in once.items()}
        columns[name], columns[f"{name}{MARKED}"] = zip(*[told[id(text)] for text in columns[name]], strict=True)
    return pl.DataFrame([_column(name, kind, columns[name]) for name, kind in schema.items()])


def _column(name: str, kind: Any, values: Sequence[Any]) -> pl.Series:
    """Return a column; of one that says the same in every row, as most do of a few runs, the one value is told once."""
    if len(values) > 1 and values[0] == values[-1] and values.count(values[0]) == len(values):
        return _column(name, kind, values[:1]).new_from_index(0, len(values))
    if isinstance(kind, pl.List):
        return pl.Series(name, pl.from_arrow(pa.array(values, _STRINGS)))
    if kind == UTC_US:
        return pl.Series(name, values, pl.Int64).cast(kind)
    return pl.Series(name, values, kind)


@cache
def no_rows(columns: tuple[tuple[str, Any], ...]) -> pl.DataFrame:
    """Return the frame without rows of these columns: most frames of a small part, and nobody changes one in place."""
    return pl.DataFrame(schema=dict(columns))
