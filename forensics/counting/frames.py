"""Rows as columns, in the schema of a declared table or another."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
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

    Rows give sentences, the frame has both forms.
    """
    given = [name for name in schema if not name.endswith(MARKED)]
    every: list[Any] = list(rows)
    if not every:
        return no_rows(tuple(schema.items()))
    if not isinstance(every[0], tuple):
        every = [tuple(row[name] for name in given) for row in every]
    columns: dict[str, pl.Series] = {}
    for name, values in zip(given, zip(*every, strict=True), strict=True):
        if (beside := f"{name}{MARKED}") in schema:
            columns[name], columns[beside] = _both_columns(name, beside, schema[name], values)
        else:
            columns[name] = column(name, schema[name], values)
    return pl.DataFrame([columns[name] for name in schema])


def _both_columns(name: str, beside: str, kind: Any, texts: Sequence[Any]) -> tuple[pl.Series, pl.Series]:
    """Return the two columns of sentences or lists of them: one object, which is said of many rows, is told once."""
    once = {id(text): text for text in texts}
    english, form = zip(*map(both_forms, once.values()), strict=True)
    told, forms = column(name, kind, english), column(beside, kind, form)
    if len(once) == len(texts):
        return told, forms
    place = dict(zip(once, range(len(once)), strict=True))
    places = pl.Series([place[id(text)] for text in texts], dtype=pl.UInt32)
    return told.gather(places), forms.gather(places)


def column(name: str, kind: Any, values: Sequence[Any]) -> pl.Series:
    """Return a column; of one that says the same in every row, as most do of a few runs, the one value is told once."""
    if len(values) > 1 and values[0] == values[-1] and values.count(values[0]) == len(values):
        return column(name, kind, values[:1]).new_from_index(0, len(values))
    if isinstance(kind, pl.List):
        return _lists(name, values)
    if kind == UTC_US:
        return pl.Series(name, values, pl.Int64).cast(kind)
    return pl.Series(name, values, kind)


def _lists(name: str, values: Sequence[Any]) -> pl.Series:
    """Return a column of lists by way of Arrow, whose lists cost a tenth of what polars' own do: all that they hold, and how long each is."""
    if None in values:
        return pl.Series(name, pl.from_arrow(pa.array(values, _STRINGS)))
    ends = np.zeros(len(values) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, values), np.int64, len(values)), out=ends[1:])
    held = pl.Series(list(chain.from_iterable(values)), dtype=pl.String).to_arrow()
    return pl.Series(name, pl.from_arrow(pa.LargeListArray.from_arrays(pa.array(ends), held)))


@cache
def no_rows(columns: tuple[tuple[str, Any], ...]) -> pl.DataFrame:
    """Return the frame without rows of these columns: most frames of a small part, and nobody changes one in place."""
    return pl.DataFrame(schema=dict(columns))
