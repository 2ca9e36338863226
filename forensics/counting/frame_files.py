"""Frames as files: Parquet for what is read by columns, Arrow's own form for what is mapped.

The same rows give the same bytes. Many frames of a small part have no rows, and to write one costs as much as some thousand
rows do (0.7 ms): what such a file holds is made once for its columns.
"""

from functools import cache
from io import BytesIO
from pathlib import Path
from typing import IO, cast

import polars as pl
import pyarrow as pa


def write_parquet(
    rows: pl.DataFrame, file: Path, row_group_size: int | None = None, *, has_statistics: bool = True
) -> None:
    """Write rows as Parquet; ``has_statistics`` where readers leave out groups of rows by what is least and greatest in them."""
    if rows.is_empty():
        file.write_bytes(_parquet_without_rows(tuple(rows.schema.items()), has_statistics))
    else:
        _as_parquet(rows, file, row_group_size, has_statistics)


def write_mapped(rows: pl.DataFrame, file: Path) -> None:
    """Write rows so that a reader gets what it looks at from the disk, and no more: in one piece, or it would copy them."""
    if rows.is_empty():
        file.write_bytes(_mapped_without_rows(tuple(rows.schema.items())))
    else:
        _as_mapped(rows, file)


def mapped(file: Path) -> pl.DataFrame:
    """Return what ``write_mapped`` wrote."""
    with pa.memory_map(str(file)) as there, pa.ipc.open_file(there) as opened:
        return cast(pl.DataFrame, pl.from_arrow(opened.read_all()))


def _as_parquet(rows: pl.DataFrame, to: Path | IO[bytes], row_group_size: int | None, has_statistics: bool) -> None:
    rows.write_parquet(
        to, compression="zstd", compression_level=1, row_group_size=row_group_size, statistics=has_statistics
    )


def _as_mapped(rows: pl.DataFrame, to: Path | IO[bytes]) -> None:
    rows.write_ipc(to, compression="uncompressed", record_batch_size=max(rows.height, 1))


@cache
def _parquet_without_rows(columns: tuple[tuple[str, pl.DataType], ...], has_statistics: bool) -> bytes:
    content = BytesIO()
    _as_parquet(pl.DataFrame(schema=dict(columns)), content, None, has_statistics)
    return content.getvalue()


@cache
def _mapped_without_rows(columns: tuple[tuple[str, pl.DataType], ...]) -> bytes:
    content = BytesIO()
    _as_mapped(pl.DataFrame(schema=dict(columns)), content)
    return content.getvalue()
