"""The lake: Delta tables written through delta-rs only. Nobody else imports deltalake.

Evidence tables take appends that leave out rows whose key is already there. Findings tables are replaced whole,
and one row of ``generations`` says which of their versions belong together: readers resolve that row once.
"""

import fcntl
import hashlib
import json
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.exceptions import CommitFailedError
from deltalake.transaction import AddAction, RemoveAction

from forensics.errors import LakeBusyError, LakeMissingError
from forensics.lake import delta
from forensics.lake.generation import Generation
from forensics.lake.schemas import arrow_schema, to_arrow
from forensics.tables import ALL_TABLES, BY_NAME, EVIDENCE, FINDINGS, GENERATIONS, Table

COMPACT_AT_FILES = 500
"""Small files of one table from which on they are merged: readers open every file."""
SMALL_BYTES = 32 * 1024 * 1024
"""A file of this size is merged no more, so that a growing table is not written anew each time."""


@dataclass(frozen=True)
class Appended:
    """What one append did: rows that were new, and rows whose key was already there."""

    stored_count: int
    already_count: int


class Lake:
    """One lake folder. Cheap to make; every read names or resolves a committed version."""

    def __init__(self, root: str | Path) -> None:
        if "://" in str(root):
            raise LakeMissingError(f"the lake {str(root)!r} is not a local folder", "Give a path on this machine.")
        self.root = Path(root).absolute()
        if "%" in str(self.root):
            raise LakeMissingError(
                f"the lake {str(root)!r} has a per cent sign in its path, which delta-rs takes for an escape",
                "Choose a folder without one.",
            )

    # -- what is there -------------------------------------------------------------------------------------

    def exists(self, table: Table) -> bool:
        """Tell whether the table has at least one commit."""
        return (self.path(table) / "_delta_log").is_dir() and DeltaTable.is_deltatable(str(self.path(table)))

    def path(self, table: Table) -> Path:
        """Return the table's folder."""
        return self.root / table.layer / table.name

    def check_folder(self) -> None:
        """Raise LakeMissingError if there is no folder here."""
        if not self.root.is_dir():
            raise LakeMissingError(
                f"there is no lake at {str(self.root)!r}",
                "Fill one with `doubletake collect --queue NAME`, or try `doubletake demo`.",
            )

    def check(self) -> None:
        """Raise LakeMissingError if there is no lake here, LakeTooNewError if a newer release wrote it."""
        self.check_folder()
        there = [t for t in ALL_TABLES if self.exists(t)]
        if not there:
            raise LakeMissingError(
                f"the lake at {str(self.root)!r} is empty",
                "Fill it with `doubletake collect --queue NAME`, or try `doubletake demo`.",
            )
        for table in there:
            self._open(table)

    def newest_commits(self, tables: tuple[Table, ...] = ALL_TABLES) -> tuple[tuple[str, str, int, int], ...]:
        """Return per table its newest commit: table, file, bytes, when written (ns). Equal as long as nothing was
        committed; found by listing folders, without opening a table.
        """
        return tuple((t.name, *newest) for t in tables if (newest := delta.newest_commit(self.path(t))) is not None)

    def versions(self, tables: tuple[Table, ...] = EVIDENCE) -> dict[str, int]:
        """Return the newest committed version per table; tables without commits are left out."""
        return {t.name: self._open(t).version() for t in tables if self.exists(t)}

    def data_versions(self, tables: tuple[Table, ...] = EVIDENCE) -> dict[str, int]:
        """Return per table the newest version that changed its rows: compaction makes a version, but no new data."""
        found = {}
        for name, version in self.versions(tables).items():
            folder = self.path(BY_NAME[name])
            while version > 0 and not delta.changes_rows(folder, version):
                version -= 1
            found[name] = version
        return found

    def gained(self, inputs: Mapping[str, int]) -> set[str]:
        """Return the evidence tables that hold other rows than at the versions given; a missing version counts as none."""
        return {name for name, version in self.data_versions().items() if version > inputs.get(name, -1)}

    def size_bytes(self, table: Table) -> tuple[int, int]:
        """Return how many files the newest version has, and their bytes; 0 if the table is not there."""
        if not self.exists(table):
            return 0, 0
        sizes = self._open(table).get_add_actions(flatten=True)["size_bytes"].to_pylist()
        return len(sizes), sum(sizes)

    def compact(self, table: Table, at_files: int = COMPACT_AT_FILES) -> int:
        """Merge small files into larger ones where there are many; returns how many there were, 0 if left alone.

        No row changes, and earlier versions stay readable: the small files are kept.
        """
        if not self.exists(table):
            return 0
        handle = self._open(table)
        small = [size for size in handle.get_add_actions(flatten=True)["size_bytes"].to_pylist() if size < SMALL_BYTES]
        if len(small) < at_files:
            return 0
        handle.optimize.compact(target_size=SMALL_BYTES)
        self._flush(table)
        return len(small)

    def files(self, table: Table, version: int | None = None) -> list[str]:
        """Return the Parquet files of one version (None: newest), sorted; empty if the table is not there."""
        if not self.exists(table):
            return []
        return _files_of(self._open(table, version))

    def files_added(self, table: Table, after: int, until: int) -> list[str] | None:
        """Return the files whose rows came after one version, up to another; None if rows also went.

        Merging small files brings no rows; the files it replaced are still there.
        """
        found: list[str] = []
        for version in range(after + 1, until + 1):
            for action in delta.actions(self.path(table), version):
                if action.get("remove", {}).get("dataChange", False):
                    return None
                if action.get("add", {}).get("dataChange", False):
                    found.append(str(self.path(table) / unquote(action["add"]["path"])))
        return found if after <= until and all(Path(file).exists() for file in found) else None

    def commit_digest(self, table: Table, version: int) -> str:
        """Return the SHA-256 of one commit: after a repair another one may have the same number. Empty if it is not there."""
        file = delta.commit_file(self.path(table), version)
        return hashlib.sha256(file.read_bytes()).hexdigest() if file.exists() else ""

    # -- reading -------------------------------------------------------------------------------------------

    def read(
        self,
        table: Table,
        columns: list[str] | None = None,
        where: pc.Expression | None = None,
        version: int | None = None,
    ) -> pa.Table:
        """Read rows of one version (None: newest) as Arrow; no rows if the table is not there."""
        return self.dataset(table, version).to_table(columns=columns, filter=where)

    def count(self, table: Table, version: int | None = None) -> int:
        """Return the number of rows of one version (None: newest); 0 if the table is not there."""
        return self.dataset(table, version).count_rows()

    def dataset(self, table: Table, version: int | None = None) -> ds.Dataset:
        """Return one version as a dataset over its pinned file list."""
        return _dataset_of(table, self.files(table, version))

    # -- evidence ------------------------------------------------------------------------------------------

    def append(self, table: Table, rows: list[dict[str, Any]] | pa.Table, writer: str) -> Appended:
        """Append the rows whose key is not there yet, in one commit, and flush it to the disk.

        ``writer`` is ``source|resource``. Raises LakeBusyError if another process committed for the same writer
        in between: nothing was written then, and the same call may be made again.
        """
        if table.layer != "evidence":
            raise ValueError(f"{table.name} is not an evidence table")
        data = rows if isinstance(rows, pa.Table) else to_arrow(table, rows)
        handle = self._open_or_create(table)
        fresh = self._without_known(table, data, handle)
        already = data.num_rows - fresh.num_rows
        if fresh.num_rows:
            self._commit(table, handle, fresh, writer)
        return Appended(fresh.num_rows, already)

    def _commit(self, table: Table, handle: DeltaTable, fresh: pa.Table, writer: str) -> None:
        """Append in one commit, on top of the very version whose rows were compared, and flush it.

        An error may come back although the commit landed (a lost reply): then it is ours by its token, and done.
        """
        token = uuid.uuid4().hex
        mine = CommitProperties(
            custom_metadata={delta.RUN_TOKEN: token},
            app_transactions=[Transaction(writer, (handle.transaction_version(writer) or 0) + 1)],
        )
        compared = handle.version()
        try:
            write_deltalake(handle, fresh, mode="append", commit_properties=mine)
        except (CommitFailedError, OSError) as problem:
            if not delta.has_landed(self.path(table), compared, token):
                if isinstance(problem, CommitFailedError):
                    raise LakeBusyError(
                        f"another process is writing {table.name} of {writer!r}", "Wait for it, then run this again."
                    ) from problem
                raise
        self._flush(table)

    def _without_known(self, table: Table, data: pa.Table, handle: DeltaTable) -> pa.Table:
        (key,) = table.key
        if data.num_rows == 0:
            return data
        first_of_key = pc.index_in(data[key], value_set=data[key])
        data = data.filter(pc.equal(first_of_key, pa.array(range(data.num_rows), pa.int32())))
        where = None
        if table.time_column:
            span = pc.min_max(data[table.time_column])
            low, high = span["min"].as_py(), span["max"].as_py()
            field = pc.field(table.time_column)
            where = (field >= pa.scalar(low, data[table.time_column].type)) & (
                field <= pa.scalar(high, data[table.time_column].type)
            )
        known = _dataset_of(table, _files_of(handle)).to_table(columns=[key], filter=where)[key]
        return data.filter(pc.invert(pc.is_in(data[key], value_set=known.combine_chunks())))

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
    ) -> Generation:
        """Make the staged files of every findings table visible, the ``generations`` row last.

        ``generation`` holds generation_id, inputs, rules_version and data_until_at. A crash in between leaves
        readers on the generation before.
        """
        versions, counts = {}, {}
        for table in findings:
            versions[table.name], counts[table.name] = self._replace(table, run_id)
        row = {
            **generation,
            "tables": [f"{name}={version}" for name, version in sorted(versions.items())],
            "inputs": [f"{name}={version}" for name, version in sorted(generation["inputs"].items())],
            "row_counts": [f"{name}={rows}" for name, rows in sorted(counts.items())],
        }
        handle = self._open_or_create(GENERATIONS)
        write_deltalake(handle, to_arrow(GENERATIONS, [row]), mode="overwrite")
        self._flush(GENERATIONS)
        found = self.generation()
        assert found is not None
        return found

    def _replace(self, table: Table, run_id: str) -> tuple[int, int]:
        folder = self.staging_folder(table, run_id)
        actions: list[AddAction | RemoveAction] = []
        rows = 0
        for file in sorted(folder.glob("*.parquet")):
            count = pq.read_metadata(file).num_rows
            rows += count
            stat = file.stat()
            if count:
                actions.append(
                    AddAction(
                        str(file.relative_to(self.path(table))),
                        stat.st_size,
                        {},
                        int(stat.st_mtime * 1000),
                        True,
                        json.dumps({"numRecords": count}),
                    )
                )
        handle = self._open_or_create(table)
        handle.create_write_transaction(actions, "overwrite", arrow_schema(table))
        return self._flush(table), rows

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

    def findings(self) -> "Findings":
        """Return a reader pinned to the newest generation.

        Raises LakeMissingError before the first correlation.
        """
        self.check()
        generation = self.generation()
        if generation is None:
            raise LakeMissingError(
                f"the lake at {str(self.root)!r} holds evidence but no findings", "Run `doubletake correlate` first."
            )
        return Findings(self, generation)

    # -- inside --------------------------------------------------------------------------------------------

    @contextmanager
    def writing(self, what: str) -> Iterator[None]:
        """Hold the lake's lock for one kind of work (``collect`` or ``correlate``).

        Raises LakeBusyError if another process holds it, LakeMissingError if nothing can be written there.
        """
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            lock = open(self.root / f".{what}.lock", "w")  # noqa: SIM115 (the with below closes it)
        except OSError as problem:
            raise LakeMissingError(
                f"the lake at {str(self.root)!r} cannot be written: {problem.strerror}",
                "Choose another folder with --lake.",
            ) from problem
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as problem:
                raise LakeBusyError(
                    f"another `doubletake {what}` is writing the lake at {str(self.root)!r}",
                    "Wait for it, then run this again.",
                ) from problem
            yield

    def _open(self, table: Table, version: int | None = None) -> DeltaTable:
        return delta.open_table(self.path(table), table, version)

    def _open_or_create(self, table: Table) -> DeltaTable:
        if not self.exists(table):
            return delta.create_table(self.path(table), table)
        return delta.add_new_columns(self.path(table), table, self._open(table))

    def _flush(self, table: Table) -> int:
        """Flush the newest commit and the files it added, and return its version."""
        version = delta.newest_version(self.path(table))
        delta.flush(self.path(table), version)
        return version


def _files_of(handle: DeltaTable) -> list[str]:
    return sorted(unquote(uri) for uri in handle.file_uris())


def _dataset_of(table: Table, files: list[str]) -> ds.Dataset:
    schema = arrow_schema(table)
    if not files:
        return ds.dataset(schema.empty_table())
    return ds.dataset(files, schema=schema, format="parquet")


class Findings:
    """Reads the findings of one generation, and the evidence it was made from. Times are UTC."""

    def __init__(self, lake: Lake, generation: Generation) -> None:
        self.lake = lake
        self.generation = generation

    def read(self, table: Table, columns: list[str] | None = None, where: pc.Expression | None = None) -> pa.Table:
        """Read rows of a findings table as of this generation, or of an evidence table as it was read then."""
        pinned = self.generation.versions if table.layer == "findings" else self.generation.inputs
        if table.name not in pinned:
            return arrow_schema(table).empty_table().select(columns or list(table.column_names))
        return self.lake.read(table, columns, where, pinned[table.name])

    def evidence_rows(self, evidence_ids: list[str]) -> dict[str, list[dict[str, Any]]]:
        """Return the cited evidence rows per table name; every id that resolves is in exactly one of them."""
        wanted = pa.array(sorted(set(evidence_ids)), pa.string())
        found = {}
        for name in self.generation.inputs:
            rows = self.read(BY_NAME[name], where=pc.field("evidence_id").isin(wanted)).to_pylist()
            if rows:
                found[name] = rows
        return found
