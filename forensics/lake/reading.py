"""Reads that tell damage as damage: which file it is in, and what to do."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from forensics.lake import commits, data_files, delta
from forensics.tables import Table


def check(folder: Path, files: list[str]) -> None:
    """Read files of a table to their end; raises LakeDamagedError for the first that is not what was written."""
    known = commits.digests(folder) if files else {}
    for file in map(Path, files):
        if why := data_files.what_is_wrong(file, None, known.get(str(file.relative_to(folder))), whole=True):
            raise delta.file_damaged(folder, file, why)


@contextmanager
def telling_damage(folder: Path, files: list[str]) -> Iterator[None]:
    """Turn what a reader stumbles over into LakeDamagedError with the file's name, if one of the files is damaged."""
    try:
        yield
    except (pa.ArrowException, OSError):
        check(folder, files)
        raise


def scan(
    folder: Path,
    table: Table,
    files: list[str],
    columns: list[str] | None = None,
    where: pc.Expression | None = None,
    batch_rows: int = data_files.BATCH_ROWS,
) -> Iterator[pa.RecordBatch]:
    """Yield rows in small batches, as data_files.scan does; raises LakeDamagedError."""
    batches = data_files.scan(table, files, columns, where, batch_rows)
    while True:
        with telling_damage(folder, files):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch
