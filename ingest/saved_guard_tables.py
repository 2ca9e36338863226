"""Idempotency tables that somebody exported: DynamoDB's export to S3, or the answers of ``aws dynamodb scan`` and its like."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

from forensics.coverage import UNSURE_WHEN
from forensics.errors import ForensicsError
from forensics.lake import Lake
from forensics.sentence import said
from forensics.settings import GuardTable, Settings
from forensics.tables import BY_NAME
from forensics.window import TimeWindow
from ingest import guard_tables
from ingest.coverage import Reading, record
from ingest.file_bytes import FileDamagedError, FileTooLargeError, check_size, pieces, texts
from ingest.file_forms import EXPORT_SUMMARY, Form, FoundFile
from ingest.json_stream import BadJsonError, JsonStream, UnreadableValue
from ingest.quarantine import quarantine_row
from ingest.snapshots import append_changed
from ingest.values import moment

APPEND_ROWS = 50_000
_QUARANTINE = BY_NAME["quarantine"]
_INCREMENTAL = {"Keys", "NewImage", "OldImage", "Metadata"}


class TableUnclearError(ForensicsError):
    """A file of an idempotency table's items does not say which table it is of, and nobody else does."""


@dataclass(frozen=True)
class Source:
    """Which table a file is of, where it is, when it was read, and how many items it had; None where that is not known."""

    table: GuardTable
    account_id: str | None
    region: str | None
    observed_at: datetime
    is_moment_known: bool
    item_count: int | None = None


def sources(
    found: Sequence[FoundFile],
    settings: Settings,
    named: str | None,
    place: tuple[str | None, str | None],
    moments: Mapping[FoundFile, datetime],
    is_moment_known: bool,
) -> dict[FoundFile, Source]:
    """Tell of each file of items or settings which table it is of: by its manifest, by ``named``, or the only one of the settings.

    ``place`` is the account and region that a person said, ``moments`` when files were saved. Raises TableUnclearError.
    """
    manifests = {f.path.parent: f.path for f in found if f.form is Form.GUARD_TABLE and f.path.name == EXPORT_SUMMARY}
    declared = sorted({c.guard_table for c in (*settings.functions, *settings.workers) if c.guard_table})
    told = {}
    for file in found:
        if file.form is not Form.GUARD_TABLE or file.path.name == EXPORT_SUMMARY:
            continue
        folder = file.path.parent
        manifest = manifests.get(folder) or manifests.get(folder.parent)
        if manifest and (of := _of_manifest(manifest, settings)):
            told[file] = of
            continue
        name = named or (declared[0] if len(declared) == 1 else None)
        if name is None:
            known = ", ".join(declared) or "none"
            raise TableUnclearError(
                said(
                    "{file} does not say which idempotency table it is of, and the settings name {known}",
                    file=repr(file.name),
                    known=known,
                ),
                "Give --guard-table NAME; import each table's files by themselves.",
            )
        told[file] = Source(settings.guard_table(name), *place, moments[file], is_moment_known)
    return told


def _of_manifest(path: Path, settings: Settings) -> Source | None:
    """Read what an export says of itself; None where it does not name its table and time."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    arn, at = str(told.get("tableArn") or ""), moment(told.get("exportTime"))
    parts = arn.split(":")
    if len(parts) != 6 or not parts[5].startswith("table/") or at is None:
        return None
    count = told.get("itemCount")
    is_named = any(c.guard_table == arn for c in (*settings.functions, *settings.workers))
    table = settings.guard_table(arn if is_named else parts[5].split("/")[1])
    return Source(table, parts[4], parts[3], at, True, count if isinstance(count, int) else None)


@dataclass
class Tally:
    """What came of the files of one import: counts, and what could not be read, in words."""

    seen_count: int = 0
    stored_count: int = 0
    gaps: list[str] = field(default_factory=list)


def store(lake: Lake, of: dict[FoundFile, Source], now: datetime) -> Tally:
    """Append the records and settings of tables, and a coverage row per table and moment, which comes last."""
    tally = Tally()
    by_source = sorted(of.items(), key=lambda told: (_name(told[1]), told[0].name))
    for _, mine in groupby(by_source, key=lambda told: _name(told[1])):
        _store_one(lake, list(mine), tally, now)
    return tally


def _name(source: Source) -> tuple[str, ...]:
    return source.table.name, str(source.account_id), str(source.region), source.observed_at.isoformat()


def _store_one(lake: Lake, files: list[tuple[FoundFile, Source]], tally: Tally, now: datetime) -> None:
    source = files[0][1]
    seen = stored = lost = 0
    is_whole, has_items = True, False
    for file, _ in files:
        rows: list[dict[str, Any]] = []
        try:
            for kind, value in _told(file):
                if kind == "item":
                    row = guard_tables.to_row(value, source.table, source.account_id, source.region, source.observed_at)
                    rows += [row] if row else []
                    lost += row is None
                    has_items = True
                elif kind == "expiry":
                    about = guard_tables.settings_row(source.account_id, source.region, source.table.name, None, value)
                    table = guard_tables.GUARD_TABLE_SETTINGS
                    append_changed(lake, table, "guardtable", "guard_table", [about], source.observed_at)
                else:
                    has_items, is_whole = True, is_whole and kind == "in full"
                if len(rows) >= APPEND_ROWS:
                    seen, stored, rows = seen + len(rows), stored + _append(lake, rows), []
        except (BadJsonError, FileDamagedError, FileTooLargeError) as problem:
            is_whole = False
            tally.gaps.append(said("{name}: {what}", name=file.name, what=problem.sentence))
            told = quarantine_row(guard_tables.GUARD_RECORDS, file.name, str(problem), 0, "", now)
            told["file"] = file.name
            lake.append(_QUARANTINE, [told], f"quarantine|{file.name}")
        seen, stored = seen + len(rows), stored + (_append(lake, rows) if rows else 0)
    tally.seen_count, tally.stored_count = tally.seen_count + seen, tally.stored_count + stored
    if lost:
        tally.gaps.append(
            said(
                "{name}: {count} items have no attribute {key}: name it as key under [[guard_table]]",
                name=files[0][0].name,
                count=lost,
                key=repr(source.table.key),
            )
        )
    if not has_items:
        return
    is_counted = source.item_count is None or source.item_count == seen
    is_all = is_whole and is_counted and not lost
    status, detail = (
        ("ok", None) if is_all and source.is_moment_known else ("partial", UNSURE_WHEN if is_all else "not every item")
    )
    where = (source.table.name, source.account_id, source.region, ())
    reading = Reading(guard_tables.GUARD_RECORDS, *where, status, detail, seen, stored, seen - stored)
    at = source.observed_at
    record(lake, [reading], TimeWindow(at, at + timedelta(milliseconds=1)), at)


def _append(lake: Lake, rows: list[dict[str, Any]]) -> int:
    return lake.append(guard_tables.GUARD_RECORDS, rows, "guard_records|import").stored_count


def _told(file: FoundFile) -> Iterator[tuple[str, Any]]:
    """Yield what a file says: each item, a table's expiry, and that it holds a part only. Raises BadJsonError and its like."""
    check_size(file.path)
    for key, value in JsonStream(texts(pieces(file.path))).documents(frozenset({"Items"})):
        if isinstance(value, UnreadableValue) or not isinstance(value, dict):
            raise FileDamagedError("an item is not an object")
        if key == "Items":
            yield "item", value
        elif isinstance(item := value.get("Item"), dict):
            yield "item", item
        elif isinstance(expiry := value.get("TimeToLiveDescription"), dict):
            yield "expiry", expiry
        elif value.keys() & _INCREMENTAL:
            raise FileDamagedError("it is of an incremental export; give a full one")
        elif "Count" in value:
            is_cut = value.get("LastEvaluatedKey") or value.get("NextToken")
            yield "in part" if is_cut or value["Count"] != value.get("ScannedCount") else "in full", None
