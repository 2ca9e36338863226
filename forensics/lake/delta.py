"""What delta-rs leaves to us: opening with a sentence for what is wrong, new columns, flushing, unclear commits."""

import json
import os
import re
import unicodedata
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote

from deltalake import CommitProperties, DeltaTable, transaction
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from deltalake.schema import Schema
from deltalake.transaction import AddAction, RemoveAction

from forensics.errors import ForensicsError, LakeMissingError, LakeTooNewError
from forensics.lake.commits import (
    RUN_TOKEN,
    actions,
    commit_file,
    commit_stamp,
    newest_commit,
    newest_version,
)
from forensics.lake.handles import opened
from forensics.lake.schemas import described_schema
from forensics.sentence import said
from forensics.tables import Table

SCHEMA_VERSION = 1
_SCHEMA_KEY = "doubletake.schemaVersion"
"""A table without it is of the first version: delta-rs takes no property of ours for a table that begins with rows."""
_KEEP = "interval 3650 days"
CHECKPOINT_EVERY = "20"
"""Opening a table reads every commit since its last checkpoint, all at once: of 100 in 26 ms, 2 MB and 100 threads."""
YOUNG = 20
"""So many commits of a table are read one by one."""
SHORT_BYTES = 128 * 1024
"""Up to here they are read for the files they name as well: more lines than that are opened faster than read."""
MOST_TOLD = 256
"""Tables and versions of which it is kept what their commits say, some kilobytes each."""
REMEMBERED = "interval 1 hours"
"""So long each checkpoint repeats what was removed. Only a vacuum would ask, and nothing of ours deletes evidence."""
_FRAMES = re.compile(r"\s+0: ")
"""Where a reason goes on with a stack of delta-rs."""
_HINT = "Run `doubletake doctor`: it sets what is torn aside, and what was lost is collected again."
_HINT_FILE = "Run `doubletake doctor --full`: it sets damaged files aside, and what was lost is collected again."


class LakeDamagedError(ForensicsError):
    """A table's newest commit cannot be read, or a file of it is not what was written."""


def file_damaged(folder: Path, file: Path, why: str) -> LakeDamagedError:
    """Return the error that says which file of a table is damaged, and how."""
    return LakeDamagedError(
        said("{table} is damaged in its file {file}: it {what}", table=_where(folder), file=file.name, what=why),
        _HINT_FILE,
    )


def _where(folder: Path) -> str:
    return said("table {table} of the lake at {where}", table=folder.name, where=repr(str(folder.parent.parent)))


def odd_in(path: str) -> str | None:
    """Say what in a path delta-rs would take for something else, or refuse; None where it takes the path."""
    if "%" in path:
        return "a per cent sign in its path, which delta-rs takes for an escape"
    if "\\" in path:
        return "a backslash in its path, which delta-rs takes for a folder's end"
    if any(unicodedata.category(char) in ("Cc", "Cs") for char in path):
        return "a control character, or bytes that are not UTF-8, in its path"
    return None


def no_lake_at(root: Path) -> LakeMissingError:
    """Return the error for a place where no folder is."""
    if root.exists():
        return LakeMissingError(
            said("{path} is a file, and a lake is a folder", path=repr(str(root))), "Choose another place with --lake."
        )
    return LakeMissingError(
        said("there is no lake at {path}", path=repr(str(root))),
        "Fill one with `doubletake collect QUEUE`, or try `doubletake demo`.",
    )


def open_table(folder: Path, table: Table, version: int | None = None) -> DeltaTable:
    """Open a table at a version (None: newest); raises LakeDamagedError or LakeTooNewError."""
    where = _where(folder)
    try:
        handle = opened(folder, version)
        newest = commit_file(folder, handle.version())
        # delta-rs takes an empty newest commit for one without rows, and says nothing.
        if version is None and newest.exists() and newest.stat().st_size == 0:
            raise LakeDamagedError(said("{table} cannot be read: its newest commit is empty", table=where), _HINT)
    except TableNotFoundError:
        raise
    except DeltaError as problem:
        raise LakeDamagedError(
            said("{table} cannot be read: {problem}", table=where, problem=_reason(problem)), _HINT
        ) from problem
    if (written := _schema_version(handle.metadata().configuration)) > SCHEMA_VERSION:
        raise LakeTooNewError(
            said(
                "{table} has schema {theirs}; this release reads up to {ours}",
                table=where,
                theirs=written,
                ours=SCHEMA_VERSION,
            ),
            "Upgrade Doubletake, or point --lake at another folder.",
        )
    return handle


def _reason(problem: Exception) -> str:
    """Return why delta-rs cannot read a table, without the frames of its own code that follow some reasons."""
    return _FRAMES.split(str(problem), maxsplit=1)[0]


def _schema_version(configuration: Mapping[str, str | None]) -> int:
    return int(configuration.get(_SCHEMA_KEY) or 1)


def readable_version(folder: Path, table: Table) -> int:
    """Return the newest version of a table that this release reads; raises what open_table raises.

    A young table's commits say it themselves, in a twentieth of the time that opening it takes: whoever reads a lake asks for
    all of its tables, and opens few.
    """
    version = newest_version(folder)
    if (told := _told_by_young(folder, version)) is None or _schema_version(told.configuration) > SCHEMA_VERSION:
        return open_table(folder, table).version()
    return version


def has_all_declared(folder: Path, table: Table, version: int) -> bool:
    """Tell whether a young table has all that is declared of it; False where only opening it tells."""
    if (told := _told_by_young(folder, version)) is None:
        return False
    return told.columns.issuperset(table.column_names) and told.configuration.items() >= _properties(table).items()


def files(folder: Path, table: Table, version: int | None = None) -> list[str]:
    """Return the Parquet files of a version (None: newest), sorted; raises what open_table raises.

    The commits of a young table name them without its being opened, as readable_version says.
    """
    at = newest_version(folder) if version is None else version
    told = _told_by_young(folder, at)
    if told is None or told.files is None or _schema_version(told.configuration) > SCHEMA_VERSION:
        return sorted(map(unquote, open_table(folder, table, version).file_uris()))
    return list(told.files)


@dataclass(frozen=True)
class _Told:
    """What the commits of a young table say it is at one version."""

    configuration: Mapping[str, str | None]
    columns: frozenset[str]
    files: tuple[str, ...] | None
    """Sorted; None where the commits are too long to be read for them."""


_told: dict[tuple[Path, int], tuple[object, _Told]] = {}
"""By folder and version, with what tells its last and its first commit from others: another first one is another table."""


def _told_by_young(folder: Path, version: int) -> _Told | None:
    """Return what a young table's commits say it is; None where only opening it tells."""
    if version > YOUNG:
        return None
    stamps = commit_stamp(folder, version), commit_stamp(folder, 0)
    was, told = _told.pop((folder, version), (None, None))
    if told is None or was != stamps:
        try:
            told = _read_young(folder, version)
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return None  # opening it tells what is wrong
    if told is not None:
        while len(_told) >= MOST_TOLD:
            _told.pop(next(iter(_told)), None)
        _told[folder, version] = stamps, told
    return told


def _read_young(folder: Path, version: int) -> _Told | None:
    versions = range(version + 1)
    is_short = sum(os.path.getsize(commit_file(folder, earlier)) for earlier in versions) <= SHORT_BYTES
    metadata: dict[str, Any] = {}
    live: set[str] = set()
    is_whole = False
    for earlier in versions:
        written = list(actions(folder, earlier, unread=() if is_short else ("add", "remove")))
        metadata = next((action["metaData"] for action in written if "metaData" in action), metadata)
        live -= {action["remove"]["path"] for action in written if "remove" in action}
        live |= {action["add"]["path"] for action in written if "add" in action}
        is_whole = any("commitInfo" in action for action in written)
    _schema_version(metadata["configuration"])
    columns = frozenset(field["name"] for field in json.loads(metadata["schemaString"])["fields"])
    files = tuple(sorted(f"{folder}/{unquote(path)}" for path in live)) if is_short else None
    return _Told(metadata["configuration"], columns, files) if is_whole else None


def create_table(folder: Path, table: Table) -> None:
    """Create a table without rows, unless another process was faster."""
    with suppress(CommitFailedError):
        create(folder, table, [], CommitProperties())
        flush(folder, 0)


def create(folder: Path, table: Table, files: list[AddAction], told: CommitProperties) -> None:
    """Create a table whose first commit names files; raises CommitFailedError where another writer was there first.

    Of two who create at once delta-rs lets the second one write over the first as soon as it may try again: so it may not.
    """
    folder.mkdir(parents=True, exist_ok=True)
    told.max_commit_retries = 0
    try:
        transaction.create_table_with_add_actions(
            str(folder),
            Schema.from_arrow(described_schema(table)),
            files,
            description=table.grain,
            configuration=_properties(table),
            commit_properties=told,
        )
    except DeltaError as problem:
        if newest_commit(folder) is None:
            raise
        raise CommitFailedError(str(problem)) from problem


def _properties(table: Table) -> dict[str, str]:
    properties = {
        "delta.logRetentionDuration": _KEEP,
        "delta.enableExpiredLogCleanup": "false",
        "delta.checkpointInterval": CHECKPOINT_EVERY,
        "delta.deletedFileRetentionDuration": REMEMBERED,
    }
    return properties | ({"delta.appendOnly": "true"} if table.layer == "evidence" else {})


def brought_up_to_date(folder: Path, table: Table, handle: DeltaTable) -> DeltaTable:
    """Give a table of an earlier release the columns and properties declared since; its rows have null there."""
    there = {field.name for field in handle.schema().fields}
    missing = [field for field in Schema.from_arrow(described_schema(table)).fields if field.name not in there]
    set_already = handle.metadata().configuration
    changed = {name: value for name, value in _properties(table).items() if set_already.get(name) != value}
    if not missing and not changed:
        return handle
    before = handle.version()
    with suppress(CommitFailedError):  # another process was faster, with the same
        if missing:
            handle.alter.add_columns(missing)
        if changed:
            handle.alter.set_table_properties(changed)
    handle = DeltaTable(str(folder))
    for version in range(before + 1, handle.version() + 1):
        flush(folder, version)
    return handle


def commit(
    handle: DeltaTable,
    changes: list[AddAction | RemoveAction],
    mode: Literal["append", "overwrite"],
    table: Table,
    properties: CommitProperties,
) -> None:
    """Name files that are written in one commit; raises CommitFailedError where another writer was there first."""
    handle.create_write_transaction(changes, mode, described_schema(table), commit_properties=properties)


def has_landed(folder: Path, after: int, token: str) -> bool:
    """Tell whether a commit after a version carries the token: an error came back, but the commit may be there."""
    newest = -1 if newest_commit(folder) is None else newest_version(folder)
    return any(
        action.get("commitInfo", {}).get(RUN_TOKEN) == token
        for version in range(after + 1, newest + 1)
        for action in actions(folder, version)
    )


def flush(folder: Path, version: int, flushed: Collection[str] = ()) -> None:
    """Flush a commit and the files it added to the disk; delta-rs never does. Raises LakeDamagedError if it is torn.

    Of files whose content was ``flushed`` before, by path, only the new name is flushed, with its folder.
    """
    try:
        written = list(actions(folder, version))
    except ValueError as problem:
        raise LakeDamagedError(
            said("{table} cannot be read: {problem}", table=_where(folder), problem=_reason(problem)), _HINT
        ) from problem
    if not written:
        raise LakeDamagedError(said("{table} cannot be read: its newest commit is empty", table=_where(folder)), _HINT)
    commit = commit_file(folder, version)
    touched = {commit, commit.parent, folder, *commit.parent.glob(f"{commit.stem}.checkpoint*")}
    if version == 0:
        touched |= {folder.parent, folder.parent.parent}
    for action in written:
        if added := action.get("add"):
            file = folder / added["path"]
            touched |= {file.parent} if added["path"] in flushed else {file, file.parent}
    for path in sorted(touched):
        flush_path(path)


def flush_path(path: Path) -> None:
    """Flush one file or folder to the disk."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
