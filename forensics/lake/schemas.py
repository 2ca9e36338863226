"""Arrow schemas, derived from the declarations."""

from functools import cache
from typing import Any

import pyarrow as pa

from forensics.tables import Table

ARROW_TYPES: dict[str, pa.DataType] = {
    "string": pa.string(),
    "int": pa.int32(),
    "long": pa.int64(),
    "double": pa.float64(),
    "bool": pa.bool_(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "strings": pa.list_(pa.string()),
}


@cache
def arrow_schema(table: Table) -> pa.Schema:
    """Return the Arrow schema of a declared table."""
    return pa.schema([pa.field(c.name, ARROW_TYPES[c.type]) for c in table.columns])


@cache
def described_schema(table: Table) -> pa.Schema:
    """Return the same schema with what each column means, as Delta keeps it: a comment that other programs show."""
    return pa.schema([pa.field(c.name, ARROW_TYPES[c.type], metadata={"comment": c.meaning}) for c in table.columns])


def to_arrow(table: Table, rows: list[dict[str, Any]]) -> pa.Table:
    """Turn rows into an Arrow table of the declared columns; a column that a row lacks is null, sentences get both their forms.

    Raises ValueError for a column that the table does not have.
    """
    names = set(table.column_names)
    for row in rows:
        if extra := row.keys() - names:
            raise ValueError(f"table {table.name} has no column {sorted(extra)[0]!r}")
    rows = table.in_both_forms(rows) if table.sentence_names else rows
    schema = arrow_schema(table)
    return pa.Table.from_arrays([pa.array([row.get(f.name) for row in rows], f.type) for f in schema], schema=schema)
