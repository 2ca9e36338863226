"""The lake: Delta tables written through delta-rs only. Nobody else imports deltalake.

Evidence tables take appends that leave out rows whose key is already there. Findings tables are replaced whole,
and one row of ``generations`` says which of their versions belong together: readers resolve that row once.
"""

import fcntl
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable, Transaction
from deltalake.transaction import RemoveAction

from forensics.errors import LakeBusyError, LakeMissingError
from forensics.lake import commits, compaction, data_files, delta, reading
from forensics.lake.data_files import DataFile, Digest
from forensics.lake.filters import between
from forensics.lake.findings import Findings
from forensics.lake.generation import Generation
from forensics.lake.schemas import arrow_schema, to_arrow
from forensics.sentence import said
from forensics.tables import ALL_TABLES, BY_NAME, EVIDENCE, FINDINGS, GENERATIONS, Table


@dataclass(frozen=True)
class Appended:
    """What one append did: rows that were new, and rows whose key was already there."""

    stored_count: int
    already_count: int


class Lake:
    """One lake folder. Cheap to make; every read names or resolves a committed version."""

    def __init__(self, root: str | Path) -> None:
        if "://" in str(root):
            raise LakeMissingError(
                said("the lake {where} is not a local folder", where=repr(str(root))), "Give a path on this machine."
            )
        self.root = Path(os.path.normpath(Path(root).absolute()))  # as Delta names its files
        if odd := delta.odd_in(str(self.root)):
            raise LakeMissingError(
                said("the lake {where} has {reason}", where=repr(str(root)), reason=odd), "Choose a folder without one."
            )
        self._folders: dict[str, Path] = {}

    # -- what is there -------------------------------------------------------------------------------------

    def exists(self, table: Table) -> bool:
        """Tell whether the table has at least one commit."""
        return commits.newest_commit(self.path(table)) is not None

    def path(self, table: Table) -> Path:
        """Return the table's folder."""
        folder = self._folders.get(table.name)
        if folder is None:  # a path takes as long to make as to ask the disk about
            folder = self._folders[table.name] = self.root / table.layer / table.name
        return folder

    def check_folder(self) -> None:
        """Raise LakeMissingError if there is no folder here."""
        if not self.root.is_dir():
            raise delta.no_lake_at(self.root)

    def check(self) -> None:
        """Raise LakeMissingError if there is no lake here, LakeTooNewError if a newer release wrote it."""
        self.check_folder()
        there = [t for t in ALL_TABLES if self.exists(t)]
        if not there:
            raise LakeMissingError(
                said("the lake at {path} is empty", path=repr(str(self.root))),
                "Fill it with `doubletake collect QUEUE`, or try `doubletake demo`.",
            )
        self.versions(tuple(there))

    def newest_commits(self, tables: tuple[Table, ...] = ALL_TABLES) -> tuple[tuple[str, str, int, int], ...]:
        """Return per table its newest commit: table, file, bytes, when written (ns). Equal as long as nothing was
        committed; found by listing folders, without opening a table.
        """
        return tuple((t.name, *newest) for t in tables if (newest := commits.newest_commit(self.path(t))) is not None)

    def versions(self, tables: tuple[Table, ...] = EVIDENCE) -> dict[str, int]:
        """Return the newest committed version per table; tables without commits are left out."""
        return {t.name: delta.readable_version(self.path(t), t) for t in tables if self.exists(t)}

    def data_versions(self, tables: tuple[Table, ...] = EVIDENCE) -> dict[str, int]:
        """Return per table the newest version that changed its rows: compaction makes a version, but no new data."""
        return {n: commits.rows_version(self.path(BY_NAME[n]), v) for n, v in self.versions(tables).items()}

    def contents(self, tables: tuple[Table, ...] = EVIDENCE) -> dict[str, str]:
        """Return per table a digest of all files that brought its rows: other rows have another one, in any lake."""
        return {n: commits.content(self.path(BY_NAME[n]), v) for n, v in self.versions(tables).items()}

    def gained(self, inputs: Mapping[str, int]) -> set[str]:
        """Return the evidence tables that hold other rows than at the versions given; a missing version counts as none."""
        return {name for name, version in self.data_versions().items() if version > inputs.get(name, -1)}

    def size_bytes(self, table: Table) -> tuple[int, int]:
        """Return how many files the newest version has, and their bytes; 0 if the table is not there."""
        if not self.exists(table):
            return 0, 0
        sizes = self._open(table).get_add_actions(flatten=True)["size_bytes"].to_pylist()
        return len(sizes), sum(sizes)

    def compact(self, table: Table, at_files: int = compaction.AT_FILES) -> int:
        """Merge small files into larger ones where there are many of about one size; returns how many were merged.

        No row changes, and earlier versions stay readable: the small files are kept. As only files of about one size are
        merged, a row is written anew a few times in all, however long a table is appended to.
        """
        if len(self.files(table)) < at_files:
            return 0
        handle = self._open(table)
        there = pa.table(handle.get_add_actions(flatten=True)).select(["path", "size_bytes", "modification_time"])
        merged, replaced = [], []
        for group in compaction.groups(there.to_pylist(), at_files):
            files = [str(self.path(table) / unquote(file["path"])) for file in group]
            merged.append(data_files.write(self.path(table), table, reading.scan(self.path(table), table, files)))
            replaced += [
                RemoveAction(file["path"], False, int(time.time() * 1000), file["size_bytes"], {}) for file in group
            ]
        if merged:
            data_files.name(self.path(table), table, handle, merged, replaced)
        return len(replaced)

    def files(self, table: Table, version: int | None = None) -> list[str]:
        """Return the Parquet files of one version (None: newest), sorted; empty if the table is not there."""
        if not self.exists(table):
            return []
        return delta.files(self.path(table), table, version)

    # -- reading -------------------------------------------------------------------------------------------

    def read(
        self,
        table: Table,
        columns: list[str] | None = None,
        where: pc.Expression | None = None,
        version: int | None = None,
    ) -> pa.Table:
        """Read rows of one version (None: newest) as Arrow; no rows if the table is not there."""
        files = self.files(table, version)
        with reading.telling_damage(self.path(table), files):
            return data_files.read(table, files, columns, where)

    def scan(
        self,
        table: Table,
        columns: list[str] | None = None,
        where: pc.Expression | None = None,
        version: int | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield rows of one version (None: newest) in small batches: what a table holds may be larger than memory."""
        yield from reading.scan(self.path(table), table, self.files(table, version), columns, where)

    def count(self, table: Table, version: int | None = None, where: pc.Expression | None = None) -> int:
        """Return the number of rows of one version (None: newest); 0 if the table is not there."""
        files = self.files(table, version)
        with reading.telling_damage(self.path(table), files):
            return data_files.dataset(table, files).count_rows(filter=where)

    def check_files(self, tables: Iterable[Table] = ALL_TABLES) -> None:
        """Read every file of the newest versions to its end; raises LakeDamagedError for one that is damaged."""
        for table in tables:
            reading.check(self.path(table), self.files(table))

    # -- evidence ------------------------------------------------------------------------------------------

    def append(self, table: Table, rows: list[dict[str, Any]] | pa.Table, writer: str) -> Appended:
        """Append the rows whose key is not there yet, in one commit, and flush it to the disk.

        ``writer`` is ``source|resource``. Raises LakeBusyError if another process committed for the same writer
        in between: nothing was written then, and the same call may be made again.
        """
        if table.layer != "evidence":
            raise ValueError(f"{table.name} is not an evidence table")
        data = rows if isinstance(rows, pa.Table) else to_arrow(table, rows)
        handle = self._to_write(table)
        fresh = self._without_known(table, data, handle)
        already = data.num_rows - fresh.num_rows
        if fresh.num_rows:
            try:
                self._commit(table, handle, fresh, writer)
            except LakeBusyError:
                if handle is not None or not self.exists(table):
                    raise
                # somebody else created it meanwhile, perhaps with the same rows
                return self.append(table, data, writer)
        elif handle is None:
            delta.create_table(self.path(table), table)
        return Appended(fresh.num_rows, already)

    def _commit(self, table: Table, handle: DeltaTable | None, fresh: pa.Table, writer: str) -> None:
        """Append in one commit, on top of the very version whose rows were compared, and flush it.

        An error may come back although the commit landed (a lost reply): then it is ours by its token, and done.
        """
        last = None if handle is None else handle.transaction_version(writer)
        file = data_files.write(self.path(table), table, fresh.to_batches())
        try:
            data_files.name(
                self.path(table), table, handle, [file], app_transactions=[Transaction(writer, (last or 0) + 1)]
            )
        except LakeBusyError:
            (self.path(table) / file.path).unlink()
            raise

    def known(self, table: Table, rows: list[dict[str, Any]]) -> set[str]:
        """Return which keys of some rows are there already; of all that is stored, only these are held in memory."""
        if not rows or not self.exists(table):
            return set()
        only = [name for name in (*table.key, table.time_column) if name]
        schema = pa.schema([arrow_schema(table).field(name) for name in only])
        few = pa.Table.from_arrays([pa.array([r[f.name] for r in rows], f.type) for f in schema], schema=schema)
        return set(self._known(table, few, self._open(table)).to_pylist())

    def _without_known(self, table: Table, data: pa.Table, handle: DeltaTable | None) -> pa.Table:
        (key,) = table.key
        if data.num_rows == 0:
            return data
        first_of_key = pc.index_in(data[key], value_set=data[key])
        data = data.filter(pc.equal(first_of_key, pa.array(range(data.num_rows), pa.int32())))
        if handle is None:
            return data
        return data.filter(pc.invert(pc.is_in(data[key], value_set=self._known(table, data, handle))))

    def _known(self, table: Table, data: pa.Table, handle: DeltaTable) -> pa.Array:
        (key,) = table.key
        keys, span = data[key].combine_chunks(), None
        if not handle.file_uris():
            return keys.slice(0, 0)
        if table.time_column:
            ends = pc.min_max(data[table.time_column])
            span = between(table.time_column, ends["min"].as_py(), ends["max"].as_py())
        files = [str(self.path(table) / unquote(path)) for path in data_files.may_hold(handle, table, data)]
        stored = reading.scan(self.path(table), table, sorted(files), [key], span, data_files.BATCH_KEYS)
        # Files without a row of that span give an empty batch each: to look that up would cost a table of all keys.
        there = (batch.column(0) for batch in stored if batch.num_rows)
        found = [column.filter(pc.is_in(column, value_set=keys)) for column in there]
        return pa.chunked_array(found, keys.type).combine_chunks()

    # -- findings ------------------------------------------------------------------------------------------

    def staging_folder(self, table: Table, run_id: str) -> Path:
        """Return a fresh folder inside the table for Parquet files that no reader sees until ``publish``."""
        if table.layer != "findings":
            raise ValueError(f"{table.name} is not a findings table")
        return self.path(table) / "data" / run_id

    def publish(
        self,
        run_id: str,
        generation: dict[str, Any],
        findings: tuple[Table, ...] = FINDINGS,
        digest: Digest = data_files.sha256_of,
    ) -> Generation:
        """Make the staged files of every findings table visible, the ``generations`` row last.

        ``generation`` holds its other columns, ``digest`` tells a staged file's SHA-256. A crash in between leaves readers on the one before.
        """
        versions, counts = {}, {}
        flushed = before.versions if (before := self.generation()) else {}
        for table in findings:
            versions[table.name], counts[table.name] = self._replace(table, run_id, digest, flushed.get(table.name))
        row = {
            **generation,
            "tables": [f"{name}={version}" for name, version in sorted(versions.items())],
            "inputs": [f"{name}={version}" for name, version in sorted(generation["inputs"].items())],
            "row_counts": [f"{name}={rows}" for name, rows in sorted(counts.items())],
        }
        handle = self._to_write(GENERATIONS)
        file = data_files.write(self.path(GENERATIONS), GENERATIONS, to_arrow(GENERATIONS, [row]).to_batches())
        data_files.name(self.path(GENERATIONS), GENERATIONS, handle, [file], mode="overwrite")
        found = self.generation()
        assert found is not None
        return found

    def _replace(self, table: Table, run_id: str, digest: Digest, flushed: int | None) -> tuple[int, int]:
        """Name the staged files of a table, unless its newest version holds the very same; a generation names the version ``flushed``, so its files are on the disk."""
        folder, staged = self.path(table), sorted(self.staging_folder(table, run_id).glob("*.parquet"))
        there = delta.readable_version(folder, table) if self.exists(table) else None
        told, is_on_disk = ({}, False) if there is None else (commits.told_of(folder, there), there == flushed)
        every = {path: DataFile.of(folder, path, told=told, was_flushed=is_on_disk, digest=digest) for path in staged}
        files = {path: file for path, file in every.items() if file.row_count}
        row_count = sum(file.row_count for file in files.values())
        is_same = there is not None and (is_on_disk or not files) and commits.holds_only(folder, there, files)
        same = there if is_same else None
        if same is not None and delta.has_all_declared(folder, table, same):
            return same, row_count
        handle = self._to_write(table)
        if handle is None and not files:
            delta.create_table(folder, table)
        if same is not None or (not files and (handle is None or not handle.file_uris())):
            return commits.newest_version(folder), row_count
        return data_files.name(folder, table, handle, [*files.values()], mode="overwrite"), row_count

    def generation(self) -> Generation | None:
        """Return the newest published generation, or None before the first correlation."""
        if not self.exists(GENERATIONS):
            return None
        rows = self.read(GENERATIONS).to_pylist()
        return Generation.of_row(rows[0]) if rows else None

    def generations(self, at_most: int = 50) -> list[Generation]:
        """Return published generations, newest first; publishing the same inputs again counts once."""
        if not self.exists(GENERATIONS):
            return []
        newest = self._open(GENERATIONS).version()
        found: dict[str, Generation] = {}
        for version in range(newest, max(newest - at_most, -1), -1):
            for row in self.read(GENERATIONS, version=version).to_pylist():
                found.setdefault(row["generation_id"], Generation.of_row(row))
        return list(found.values())

    def findings(self) -> Findings:
        """Return a reader pinned to the newest generation.

        Raises LakeMissingError before the first correlation, LakeTooNewError if a newer release wrote any of its tables: what
        it wrote of one is not to be read beside what is known of another.
        """
        self.check()
        generation = self.generation()
        if generation is None:
            raise LakeMissingError(
                said("the lake at {path} holds evidence but no findings", path=repr(str(self.root))),
                "Run `doubletake correlate` first.",
            )
        return Findings(self, generation)

    # -- inside --------------------------------------------------------------------------------------------

    @contextmanager
    def writing(self, what: str) -> Iterator[None]:
        """Hold the lake's lock for one kind of work (``collect`` or ``correlate``).

        Raises LakeBusyError if another process holds it, LakeMissingError if nothing can be written there.
        """
        try:
            self._make_root()
            lock = open(self.root / f".{what}.lock", "w")  # noqa: SIM115 (the with below closes it)
        except OSError as problem:
            raise LakeMissingError(
                said("the lake at {where} cannot be written: {why}", where=repr(str(self.root)), why=problem.strerror),
                "Choose another folder with --lake.",
            ) from problem
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as problem:
                raise LakeBusyError(
                    said(
                        "another `doubletake {command}` is writing the lake at {where}",
                        command=what,
                        where=repr(str(self.root)),
                    ),
                    "Wait for it, then run this again.",
                ) from problem
            yield

    def _make_root(self) -> None:
        """Make the lake's folder for its owner alone, and close one that an earlier release left open to everybody.

        One that its owner opened to a group, and to nobody else, stays as it is.
        """
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = self.root.stat()
        if status.st_mode & 0o007 and status.st_uid == os.getuid():
            self.root.chmod(0o700)

    def _open(self, table: Table, version: int | None = None) -> DeltaTable:
        return delta.open_table(self.path(table), table, version)

    def _to_write(self, table: Table) -> DeltaTable | None:
        """Return the newest version of a table, with all columns declared by now; None where it is not there."""
        if not self.exists(table):
            return None
        return delta.brought_up_to_date(self.path(table), table, self._open(table))
