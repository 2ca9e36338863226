"""The doctor: finds what a power cut or a full disk tore, sets it aside, and has it collected again.

A commit is flushed before it counts, so only the newest can be torn. Nothing is deleted: what is set aside lies in
``damaged/`` of the lake. Evidence that went with it is marked in coverage as lost, and the next collection reads it.
"""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from forensics.identity import evidence_id
from forensics.lake import delta
from forensics.lake.lake import Lake
from forensics.lake.recount import Miscount, recount
from forensics.tables import EVIDENCE, FINDINGS, GENERATIONS, Table
from forensics.tables.evidence import COVERAGE


@dataclass(frozen=True)
class Repair:
    """One thing the doctor found and did, as a sentence; ``is_mended`` is false where a person must look."""

    sentence: str
    is_mended: bool = True


def heal(lake: Lake, now: datetime | None = None) -> list[Repair]:
    """Set aside what is torn and mark what was lost with it; returns what was done, nothing for a healthy lake.

    Raises LakeMissingError if there is no lake, LakeBusyError while something writes it.
    """
    lake.check_folder()
    now = now or datetime.now(UTC)
    with lake.writing("collect"), lake.writing("correlate"):
        aside = lake.root / "damaged" / f"{now:%Y%m%dT%H%M%S%fZ}"
        done = [repair for table in EVIDENCE for repair in _heal_table(lake, table, aside)]
        done += _heal_findings(lake, aside)
        if all(repair.is_mended for repair in done):
            done += [_mark_lost(lake, miscount, now) for miscount in recount(lake).miscounts]
    return done


def _heal_table(lake: Lake, table: Table, aside: Path) -> Iterator[Repair]:
    folder = lake.path(table)
    if not delta.log_folder(folder).is_dir():
        return
    aside = aside / table.layer / table.name
    for commit, why in _torn_commits(folder):
        _set_aside(folder, commit, aside)
        for file in _checkpoint_of(folder, int(commit.stem)):
            _set_aside(folder, file, aside)
        yield Repair(f"{table.name}: commit {int(commit.stem)} {why}; set aside")
    for file in _torn_checkpoints(folder):
        _set_aside(folder, file, aside)
        yield Repair(f"{table.name}: checkpoint {file.name} cannot be read; set aside, the commits hold the same")
    if not lake.exists(table):
        return
    try:
        handle = DeltaTable(str(folder))
    except DeltaError as problem:
        yield Repair(f"{table.name}: still cannot be opened ({problem}); restore it from a copy", is_mended=False)
        return
    damaged = list(_damaged_files(folder, handle))
    for file, why in damaged:
        if file.exists():
            _set_aside(folder, file, aside)
        yield Repair(f"{table.name}: data file {file.name} {why}; set aside")
    if damaged:
        handle.repair()  # takes the missing files out of the newest version
        delta.flush(folder, DeltaTable(str(folder)).version())


def _torn_commits(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield torn commits, the newest first, as far as they go."""
    for commit in sorted(delta.log_folder(folder).glob("?" * 20 + ".json"), reverse=True):
        why = _what_tore(commit)
        if why is None:
            return
        yield commit, why


def _what_tore(commit: Path) -> str | None:
    content = commit.read_bytes()
    if not content.strip(b"\0 \r\n"):
        return "is empty"
    try:
        found = [json.loads(line) for line in content.decode().split("\n") if line]
    except ValueError:
        return "is cut off or overwritten"
    if not all(isinstance(action, dict) for action in found):
        return "holds something else"
    info = next((action["commitInfo"] for action in found if "commitInfo" in action), None)
    if info is None:
        return "lacks its commitInfo"
    added = sum("add" in action for action in found)
    if added < int((info.get("operationMetrics") or {}).get("num_added_files") or 0):
        return "names fewer files than it added"
    if info.get("operation") == "CREATE TABLE" and not any("metaData" in action for action in found):
        return "lacks its metaData"
    return None


def _checkpoint_of(folder: Path, version: int) -> list[Path]:
    """Return the checkpoint made of a commit, with the pointer to it."""
    log = delta.log_folder(folder)
    found = sorted(log.glob(f"{version:020d}.checkpoint*"))
    pointer = log / "_last_checkpoint"
    return [*found, pointer] if found and pointer.exists() else found


def _torn_checkpoints(folder: Path) -> Iterator[Path]:
    log = delta.log_folder(folder)
    torn = [file for file in sorted(log.glob("*.checkpoint*.parquet")) if not _is_parquet(file)]
    yield from torn
    pointer = log / "_last_checkpoint"
    if not pointer.exists():
        return
    try:
        version = json.loads(pointer.read_bytes())["version"]
        is_there = any(f not in torn for f in log.glob(f"{version:020d}.checkpoint*.parquet"))
    except (ValueError, KeyError, TypeError):
        is_there = False
    if not is_there:
        yield pointer


def _damaged_files(folder: Path, handle: DeltaTable) -> Iterator[tuple[Path, str]]:
    """Yield live data files that are missing, of another size, or unreadable; those of the newest commit are read."""
    newest = {a["add"]["path"] for a in delta.actions(folder, handle.version()) if "add" in a}
    for action in pa.table(handle.get_add_actions(flatten=True)).to_pylist():
        file = folder / action["path"]
        if not file.exists():
            yield file, "is missing"
        elif file.stat().st_size != action["size_bytes"]:
            yield file, f"has {file.stat().st_size:,} bytes instead of {action['size_bytes']:,}"
        elif not _is_parquet(file, whole=action["path"] in newest):
            yield file, "cannot be read"


def _is_parquet(file: Path, whole: bool = False) -> bool:
    try:
        with pq.ParquetFile(file) as parquet:
            if whole:
                for _ in parquet.iter_batches():
                    pass
    except (pa.ArrowException, OSError):
        return False
    return True


def _heal_findings(lake: Lake, aside: Path) -> Iterator[Repair]:
    """Set all findings aside if any of them is damaged: they are made again from the evidence."""
    folder = lake.root / "findings"
    if not folder.is_dir() or not any(_is_damaged(lake, table) for table in (*FINDINGS, GENERATIONS)):
        return
    target = aside / "findings"
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(folder, target)
    yield Repair("findings: damaged; set aside as a whole, `doubletake correlate` makes them again")


def _is_damaged(lake: Lake, table: Table) -> bool:
    folder = lake.path(table)
    if not delta.log_folder(folder).is_dir():
        return False
    if any(True for _ in _torn_commits(folder)) or any(True for _ in _torn_checkpoints(folder)):
        return True
    if not lake.exists(table):
        return False
    try:
        return any(True for _ in _damaged_files(folder, DeltaTable(str(folder))))
    except DeltaError:
        return True


def _set_aside(folder: Path, file: Path, aside: Path) -> None:
    target = aside / file.relative_to(folder)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(file, target)


def _mark_lost(lake: Lake, miscount: Miscount, now: datetime) -> Repair:
    """Say in coverage that readings no longer count, so that their windows are read again."""
    rows: list[dict[str, Any]] = []
    now = max(now, miscount.read_at)  # not before what it revokes, whatever the clock says today
    for start_at, end_at in miscount.windows:
        for queue_arn in miscount.queue_arns:
            what = (miscount.account_id, miscount.region, miscount.source, miscount.resource, queue_arn)
            times = (start_at.isoformat(), end_at.isoformat(), "lost", now.isoformat())
            rows.append(
                {
                    "evidence_id": evidence_id("coverage", *what, *times),
                    "account_id": miscount.account_id,
                    "region": miscount.region,
                    "source": miscount.source,
                    "resource": miscount.resource,
                    "queue_arn": queue_arn,
                    "window_start_at": start_at,
                    "window_end_at": end_at,
                    "status": "lost",
                    "detail": f"{miscount.stored_count} rows stored, {miscount.found_count} left",
                    "seen_count": 0,
                    "stored_count": 0,
                    "already_count": 0,
                    "quarantined_count": 0,
                    "is_provisional": False,
                    "collected_at": now,
                }
            )
    lake.append(COVERAGE, rows, "coverage|doctor")
    return Repair(f"{miscount.sentence}; the next collection of that window reads it again")
