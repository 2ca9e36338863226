"""The lake's Parquet files: written with checksums, flushed before a commit names them, looked at again later.

Every page carries a checksum, which each read compares. The commit that names a file keeps the SHA-256 of the whole, since
a footer has no checksum of its own. Files of earlier releases have neither: of them only what breaks decoding is seen.
"""

import hashlib
import json
import os
import uuid
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, islice
from pathlib import Path
from threading import Lock
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Transaction
from deltalake.exceptions import CommitFailedError
from deltalake.transaction import AddAction, RemoveAction
from pyarrow import acero

from forensics.errors import LakeBusyError
from forensics.lake import commits, delta
from forensics.lake.schemas import arrow_schema
from forensics.sentence import said
from forensics.tables import Table

ROW_GROUP_ROWS = 100_000
BATCH_ROWS = 16_384
"""Rows that a scan holds at a time, so that memory does not follow the lake."""
BATCH_KEYS = 131_072
"""Keys alone that a scan holds at a time, about 10 MB: each batch is looked up in a table that is made for it."""
FEW_BYTES = 4096
"""Rows of so few bytes gain nothing from zstd, and are written and read in less than half the time without."""
KEPT_FILES_BYTES = 256 * 1024
"""Up to here what is read at once is read by one thread, and kept: of files of some rows, a third of the work is handing them to others."""
KEPT_BYTES = 16 * 1024 * 1024
"""So much of such rows is kept in memory."""
RESOURCES = ("log_group", "resource")
"""Columns that name what was read."""

_CHECKED = ds.ParquetFileFormat(
    default_fragment_scan_options=ds.ParquetFragmentScanOptions(
        page_checksum_verification=True, use_buffered_stream=True, pre_buffer=False
    )
)


@dataclass(frozen=True)
class DataFile:
    """One Parquet file below a table's folder, as a commit names it."""

    path: str
    size_bytes: int
    row_count: int
    sha256: str
    written_ms: int
    spans: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    """Least and greatest value of the columns that tell what is lost with the file; times are UTC."""
    is_flushed: bool = False
    """Its content is known to be on the disk; its name here need not be."""

    @classmethod
    def of(
        cls,
        folder: Path,
        file: Path,
        told: Mapping[commits.Stamp, tuple[int, str]] | None = None,
        *,
        was_flushed: bool = False,
        digest: "Digest | None" = None,
    ) -> "DataFile":
        """Describe a file that is written whole; what an earlier commit ``told`` of the same file is not counted again.

        ``was_flushed``: the files of that commit are known to be on the disk. ``digest`` says what a file was when it was written.
        """
        status = file.stat()
        stamp = status.st_ino, status.st_size, status.st_mtime_ns
        known = (told or {}).get(stamp)
        rows, sha256 = known or (pq.read_metadata(file).num_rows, (digest or sha256_of)(file))
        path, written_ms = str(file).removeprefix(f"{folder}/"), status.st_mtime_ns // 1_000_000
        is_flushed = was_flushed and known is not None
        return cls(path, status.st_size, rows, sha256, written_ms, is_flushed=is_flushed)

    def added(self, is_new_data: bool = True) -> AddAction:
        """Return what names the file in a commit; ``is_new_data`` is False where its rows came from other files."""
        told = {
            "numRecords": self.row_count,
            "minValues": {name: _in_stats(least) for name, (least, _) in self.spans.items()},
            "maxValues": {name: _in_stats(greatest) for name, (_, greatest) in self.spans.items()},
        }
        return AddAction(self.path, self.size_bytes, {}, self.written_ms, is_new_data, json.dumps(told))


def _in_stats(value: Any) -> Any:
    return value.isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else value


Digest = Callable[[Path], str]
"""Tells a file's SHA-256."""


def sha256_of(file: Path | str) -> str:
    """Return the SHA-256 of a file's content."""
    with open(file, "rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def write(folder: Path, table: Table, batches: Iterable[pa.RecordBatch]) -> DataFile:
    """Write one file into a table's folder and flush it; what cannot be written whole is not left there."""
    file = folder / f"part-{uuid.uuid4()}.parquet"
    schema = arrow_schema(table)
    spans: dict[str, tuple[Any, Any]] = {}
    groups = _row_groups(batches, schema)
    begins = list(islice(groups, 1))
    compression = "snappy" if sum(group.get_total_buffer_size() for group in begins) <= FEW_BYTES else "zstd"
    row_count = 0
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with pq.ParquetWriter(file, schema, compression=compression, write_page_checksum=True) as writer:
            for group in chain(begins, groups):
                writer.write_table(group)
                row_count += group.num_rows
                for name in _spanned(table):
                    ends = [value for value in pc.min_max(group[name]).as_py().values() if value is not None]
                    if ends := [*spans.get(name, ()), *ends]:
                        spans[name] = min(ends), max(ends)
        delta.flush_path(file)
        status = file.stat()
        return DataFile(file.name, status.st_size, row_count, sha256_of(file), status.st_mtime_ns // 1_000_000, spans)
    except BaseException:
        file.unlink(missing_ok=True)
        raise


def _spanned(table: Table) -> list[str]:
    if table.time_column is None:
        return list(table.key)
    return [name for name in (table.time_column, *RESOURCES) if name in table.column_names]


def may_hold(handle: DeltaTable, table: Table, data: pa.Table) -> list[str]:
    """Return the files of a table's version in which rows of the same keys may stand, by what their commits say; their paths.

    Rows of one key have one time. Of a table without times the keys tell themselves: most of its files hold one row.
    """
    column = table.time_column or table.key[0]
    wanted = sorted(set(data[column].to_pylist()) - {None})
    told = pa.table(handle.get_add_actions(flatten=True))
    ends = (told[name].to_pylist() for name in ("path", f"min.{column}", f"max.{column}"))
    return [
        path
        for path, least, greatest in zip(*ends, strict=True)
        if least is None or greatest is None or bisect_left(wanted, least) < bisect_right(wanted, greatest)
    ]


def _row_groups(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    held: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        held.append(batch)
        count += batch.num_rows
        if count >= ROW_GROUP_ROWS:
            yield pa.Table.from_batches(held, schema)
            held, count = [], 0
    if held:
        yield pa.Table.from_batches(held, schema)


def name(
    folder: Path,
    table: Table,
    handle: DeltaTable | None,
    files: list[DataFile],
    replaced: list[RemoveAction] | None = None,
    mode: Literal["append", "overwrite"] = "append",
    app_transactions: list[Transaction] | None = None,
) -> int:
    """Name written files in one commit, with their digests, and flush it; returns its version.

    ``handle`` None: the table is not there, and this is its first commit. An error may come back although the commit landed (a lost reply): then it is ours by its token, and done. Raises
    LakeBusyError where another writer was there first. ``replaced`` are files whose rows these files hold, and no others.
    """
    token = uuid.uuid4().hex
    told = {commits.RUN_TOKEN: token, commits.DIGESTS: json.dumps({file.path: file.sha256 for file in files})}
    compared = -1 if handle is None else handle.version()
    if table.layer == "evidence" and replaced is None:
        told[commits.CONTENT] = commits.content_with(folder, compared, (file.sha256 for file in files))
    properties = CommitProperties(custom_metadata=told, app_transactions=app_transactions)
    added = [file.added(is_new_data=replaced is None) for file in files]
    try:
        if handle is None:
            delta.create(folder, table, added, properties)
        else:
            delta.commit(handle, [*added, *(replaced or [])], mode, table, properties)
    except (CommitFailedError, OSError) as problem:
        if not delta.has_landed(folder, compared, token):
            if isinstance(problem, CommitFailedError):
                raise LakeBusyError(
                    said("another process is writing {what}", what=table.name), "Wait for it, then run this again."
                ) from problem
            raise
    version = commits.newest_version(folder)
    delta.flush(folder, version, {file.path for file in files if file.is_flushed})
    return version


def dataset(table: Table, files: list[str]) -> ds.Dataset:
    """Return files of one table as a dataset that compares checksums as it reads."""
    schema = arrow_schema(table)
    return ds.dataset(files, schema=schema, format=_CHECKED) if files else ds.dataset(schema.empty_table())


def read(table: Table, files: list[str], columns: list[str] | None, where: pc.Expression | None) -> pa.Table:
    """Return rows of files; of a few small ones they are kept, and read again only where a file is another one."""
    statuses = [os.stat(file) for file in files]
    if sum(status.st_size for status in statuses) > KEPT_FILES_BYTES:
        return dataset(table, files).to_table(columns=columns, filter=where)
    schema = arrow_schema(table)
    parts = [_kept.rows(table, *one) for one in zip(files, statuses, strict=True)]
    rows = pa.concat_tables(parts) if parts else schema.empty_table()
    if where is not None and rows.num_rows:
        asked = [
            acero.Declaration("table_source", acero.TableSourceNodeOptions(rows)),
            acero.Declaration("filter", acero.FilterNodeOptions(where)),
        ]
        rows = acero.Declaration.from_sequence(asked).to_table(use_threads=False)
    return rows if columns is None else rows.select(columns)


class _Kept:
    """Rows of small files as they were last read, the latest up to some bytes: what is asked of a lake, is asked again."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[tuple[commits.Stamp, pa.Schema], pa.Table]] = {}
        self._bytes = 0
        self._lock = Lock()

    def rows(self, table: Table, file: str, status: os.stat_result) -> pa.Table:
        """Return all rows of a file that looks like this."""
        known_by = (status.st_ino, status.st_size, status.st_mtime_ns), arrow_schema(table)
        was, rows = self._held.get(file, (None, None))
        if was == known_by:
            return rows
        rows = _whole(table, file)
        with self._lock:
            self._forget(file)
            self._held[file] = known_by, rows
            self._bytes += rows.get_total_buffer_size()
            while self._bytes > KEPT_BYTES:
                self._forget(next(iter(self._held)))
        return rows

    def _forget(self, file: str) -> None:
        if file in self._held:
            self._bytes -= self._held.pop(file)[1].get_total_buffer_size()


_kept = _Kept()


def _whole(table: Table, file: str) -> pa.Table:
    schema = arrow_schema(table)
    with pq.ParquetFile(file, page_checksum_verification=True) as parquet:
        if parquet.schema_arrow.equals(schema):  # as nearly all are; a dataset takes twice as long to begin
            return pa.Table.from_arrays(parquet.read(use_threads=False).columns, schema=schema)
    return dataset(table, [file]).to_table(use_threads=False)


def scan(
    table: Table,
    files: list[str],
    columns: list[str] | None = None,
    where: pc.Expression | None = None,
    batch_rows: int = BATCH_ROWS,
) -> Iterator[pa.RecordBatch]:
    """Yield rows in small batches, one file after another, in as little memory as that takes."""
    yield from dataset(table, files).to_batches(
        columns=columns, filter=where, batch_size=batch_rows, batch_readahead=1, fragment_readahead=1, use_threads=False
    )


def what_is_wrong(file: Path, size_bytes: int | None, sha256: str | None, whole: bool) -> str | None:
    """Say in what a file is not as it was committed; None where nothing is seen. Without ``whole`` only its end is read."""
    if not file.exists():
        return "is missing"
    if size_bytes is not None and (there := file.stat().st_size) != size_bytes:
        return said("has {n} bytes instead of {m}", n=there, m=size_bytes)
    try:
        if whole and sha256 is not None:
            return None if sha256_of(file) == sha256 else "is not what was written"
        with pq.ParquetFile(file, page_checksum_verification=True) as parquet:
            for _ in parquet.iter_batches(BATCH_ROWS) if whole else ():
                pass
    except PermissionError:
        raise
    except (pa.ArrowException, OSError):
        return "cannot be read"
    return None
