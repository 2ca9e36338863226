"""The lake: Delta tables written through delta-rs only. Nobody else imports deltalake.

Evidence tables take appends that leave out rows whose key is already there. Findings tables are replaced whole,
and one row of ``generations`` says which of their versions belong together: readers resolve that row once.
"""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from deltalake.transaction import AddAction, RemoveAction

from forensics.errors import ForensicsError, LakeBusyError, LakeMissingError, LakeTooNewError
from forensics.lake.schemas import arrow_schema, to_arrow
from forensics.tables import ALL_TABLES, BY_NAME, EVIDENCE, FINDINGS, GENERATIONS, Table

SCHEMA_VERSION = 1
_SCHEMA_KEY = "doubletake.schemaVersion"
_KEEP = "interval 3650 days"


class LakeDamagedError(ForensicsError):
    """A table's newest commit cannot be read."""


@dataclass(frozen=True)
class Appended:
    """What one append did: rows that were new, and rows whose key was already there."""

    stored_count: int
    already_count: int


@dataclass(frozen=True)
class Generation:
    """One correlation run's findings: table versions that belong together, and what they were made from."""

    generation_id: str
    versions: Mapping[str, int]
    inputs: Mapping[str, int]
    row_counts: Mapping[str, int]
    rules_version: str
    data_until_at: datetime | None

    @property
    def data_version(self) -> str:
        """Short name of this generation for screens and links: 12 characters of its id."""
        return self.generation_id[:12]


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

    def check(self) -> None:
        """Raise LakeMissingError if there is no lake here, LakeTooNewError if a newer release wrote it."""
        if not self.root.is_dir():
            raise LakeMissingError(
                f"there is no lake at {str(self.root)!r}",
                "Fill one with `doubletake collect --queue NAME`, or try `doubletake demo`.",
            )
        there = [t for t in ALL_TABLES if self.exists(t)]
        if not there:
            raise LakeMissingError(
                f"the lake at {str(self.root)!r} is empty",
                "Fill it with `doubletake collect --queue NAME`, or try `doubletake demo`.",
            )
        for table in there:
            self._open(table)

    def versions(self, tables: tuple[Table, ...] = EVIDENCE) -> dict[str, int]:
        """Return the newest committed version per table; tables without commits are left out."""
        return {t.name: self._open(t).version() for t in tables if self.exists(t)}

    def files(self, table: Table, version: int | None = None) -> list[str]:
        """Return the Parquet files of one version (None: newest), sorted; empty if the table is not there."""
        if not self.exists(table):
            return []
        return sorted(unquote(uri) for uri in self._open(table, version).file_uris())

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
        schema = arrow_schema(table)
        files = self.files(table, version)
        if not files:
            return ds.dataset(pa.Table.from_pylist([], schema=schema))
        return ds.dataset(files, schema=schema, format="parquet")

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
        fresh = self._without_known(table, data, handle.version())
        already = data.num_rows - fresh.num_rows
        if fresh.num_rows:
            before = handle.transaction_version(writer) or 0
            try:
                write_deltalake(
                    handle,
                    fresh,
                    mode="append",
                    commit_properties=CommitProperties(app_transactions=[Transaction(writer, before + 1)]),
                )
            except CommitFailedError as problem:
                raise LakeBusyError(
                    f"another process is writing {table.name} of {writer!r}", "Wait for it, then run this again."
                ) from problem
            self._flush(table)
        return Appended(fresh.num_rows, already)

    def _without_known(self, table: Table, data: pa.Table, version: int) -> pa.Table:
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
        known = self.read(table, [key], where, version)[key]
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
        self._flush(table)
        return self._open(table).version(), rows

    def generation(self) -> Generation | None:
        """Return the newest published generation, or None before the first correlation."""
        if not self.exists(GENERATIONS):
            return None
        rows = self.read(GENERATIONS).to_pylist()
        return _generation(rows[0]) if rows else None

    def generations(self, at_most: int = 50) -> list[Generation]:
        """Return published generations, newest first; publishing the same inputs again counts once."""
        if not self.exists(GENERATIONS):
            return []
        newest = self._open(GENERATIONS).version()
        found: dict[str, Generation] = {}
        for version in range(newest, max(newest - at_most, -1), -1):
            for row in self.read(GENERATIONS, version=version).to_pylist():
                found.setdefault(row["generation_id"], _generation(row))
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
        try:
            handle = DeltaTable(str(self.path(table)), version=version)
        except TableNotFoundError:
            raise
        except DeltaError as problem:
            raise LakeDamagedError(
                f"table {table.name} of the lake at {str(self.root)!r} cannot be read: {problem}",
                "Move its newest file in _delta_log aside and collect again.",
            ) from problem
        written = int(handle.metadata().configuration.get(_SCHEMA_KEY) or 1)
        if written > SCHEMA_VERSION:
            raise LakeTooNewError(
                f"table {table.name} of the lake at {str(self.root)!r} has schema {written}; "
                f"this release reads up to {SCHEMA_VERSION}",
                "Upgrade Doubletake, or point --lake at another folder.",
            )
        return handle

    def _open_or_create(self, table: Table) -> DeltaTable:
        if self.exists(table):
            return self._open(table)
        configuration = {
            "delta.logRetentionDuration": _KEEP,
            "delta.deletedFileRetentionDuration": _KEEP,
            "delta.enableExpiredLogCleanup": "false",
            "delta.checkpointInterval": "100",
            _SCHEMA_KEY: str(SCHEMA_VERSION),
        }
        if table.layer == "evidence":
            configuration["delta.appendOnly"] = "true"
        self.path(table).mkdir(parents=True, exist_ok=True)
        handle = DeltaTable.create(
            str(self.path(table)),
            schema=arrow_schema(table),
            mode="ignore",
            configuration=configuration,
            raise_if_key_not_exists=False,
        )
        self._flush(table)
        return handle

    def _flush(self, table: Table) -> None:
        """Flush the newest commit and the files it added; delta-rs never does."""
        folder = self.path(table)
        log = folder / "_delta_log"
        version = self._open(table).version()
        commit = log / f"{version:020d}.json"
        touched = {commit, log, folder}
        if version == 0:
            touched |= {folder.parent, self.root}
        for line in commit.read_text().splitlines():
            if added := json.loads(line).get("add"):
                file = folder / added["path"]
                touched |= {file, file.parent}
        for path in sorted(touched):
            fd = os.open(path, os.O_RDONLY)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)


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


def _generation(row: dict[str, Any]) -> Generation:
    return Generation(
        row["generation_id"],
        _pairs(row["tables"]),
        _pairs(row["inputs"]),
        _pairs(row["row_counts"]),
        row["rules_version"],
        row["data_until_at"],
    )


def _pairs(items: list[str]) -> dict[str, int]:
    return {name: int(number) for name, _, number in (item.rpartition("=") for item in items)}
