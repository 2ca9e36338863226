"""The doctor: finds what a power cut or a full disk tore, sets it aside, and has it collected again.

A commit is flushed before it counts, so only the newest can be torn; a disk may spoil any file at any time. Nothing is
deleted: what is set aside lies in ``damaged/`` of the lake. Evidence that went with it is marked in coverage as lost, and
the next collection reads it.
"""

import json
import random
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from forensics.identity import evidence_id
from forensics.lake import commits, data_files, delta
from forensics.lake.delta import LakeDamagedError
from forensics.lake.forgetting import nameless_folders
from forensics.lake.lake import Lake
from forensics.lake.recount import RESOURCE_OF, Gone, Miscount, leaning_on, recount
from forensics.sentence import said
from forensics.tables import ALL_TABLES, EVIDENCE, FINDINGS, GENERATIONS, PEOPLE, Table
from forensics.tables.evidence import COVERAGE

SAMPLE_BYTES = 64 * 1024 * 1024
"""So much of each table is read where not everything is."""
_NOT_READ_AGAIN = {
    **{table.name: ", and what people said there is no longer counted" for table in PEOPLE},
    **dict.fromkeys(
        ("queue_settings", "function_settings", "event_source_mappings", "log_group_settings"),
        ", and earlier states in it cannot be collected again",
    ),
}
"""What a repair adds for tables that no collection fills with the same rows again."""


@dataclass(frozen=True)
class Repair:
    """One thing the doctor found and did, as a sentence; ``is_mended`` is false where a person must look."""

    sentence: str
    is_mended: bool = True


@dataclass
class Look:
    """Which data files are read to their end. Of the others it is seen that they are there, with their size and footer."""

    is_full: bool = False
    file_count: int = 0
    read_count: int = 0
    _left: dict[Path, int] = field(default_factory=dict)

    def takes(self, folder: Path, size_bytes: int, is_new: bool) -> bool:
        """Tell whether to read a file of a table: those of the newest commit always, others as far as the sample goes."""
        self.file_count += 1
        left = self._left.setdefault(folder, SAMPLE_BYTES)
        if not (self.is_full or is_new or left > 0):
            return False
        self._left[folder] -= size_bytes
        self.read_count += 1
        return True


@dataclass(frozen=True)
class Visit:
    """What the doctor did, nothing for a healthy lake, and how many of the data files were read to their end."""

    repairs: tuple[Repair, ...]
    file_count: int
    read_count: int


def heal(lake: Lake, now: datetime | None = None, full: bool = False) -> Visit:
    """Set aside what is torn or damaged and mark what was lost with it. ``full`` reads every file, else a sample.

    Raises LakeMissingError if there is no lake, LakeBusyError while something writes it.
    """
    lake.check_folder()
    now = now or datetime.now(UTC)
    done: list[Repair] = []
    with lake.writing("collect"), lake.writing("correlate"):
        try:
            look = _visit(lake, now, Look(full), done)
        except LakeDamagedError:
            if full:
                raise
            look = _visit(lake, now, Look(is_full=True), done)  # the count met a damaged file outside the sample
    return Visit(tuple(done), look.file_count, look.read_count)


def _visit(lake: Lake, now: datetime, look: Look, done: list[Repair]) -> Look:
    aside = lake.root / "damaged" / f"{now:%Y%m%dT%H%M%S%fZ}"
    gone: list[Gone] = []
    for table in (*EVIDENCE, *PEOPLE):
        done += _heal_table(lake, table, aside, look, gone)
    done += _heal_findings(lake, aside, look)
    done += _sweep(lake)
    if all(repair.is_mended for repair in done):
        lost = {
            (miscount.source, miscount.resource, miscount.read_at): miscount
            for miscount in (*(m for file in gone for m in leaning_on(lake, file)), *recount(lake).miscounts)
        }
        done += [_mark_lost(lake, miscount, now) for miscount in lost.values()]
    return look


def verify_files(lake: Lake) -> tuple[int, list[str]]:
    """Read every file of evidence and findings and change nothing; returns how many, and of each damaged one a sentence."""
    look, found = Look(is_full=True), []
    for table in ALL_TABLES:
        if lake.exists(table):
            folder = lake.path(table)
            found += [
                said("{table}: data file {file} {why}", table=table.name, file=d.file.name, why=d.why)
                for d in _damaged_files(folder, look)
            ]
    return look.file_count, found


def _heal_table(lake: Lake, table: Table, aside: Path, look: Look, gone: list[Gone]) -> Iterator[Repair]:
    folder = lake.path(table)
    if not commits.log_folder(folder).is_dir():
        return
    aside = aside / table.layer / table.name
    for commit, why in _torn_commits(folder):
        _set_aside(folder, commit, aside)
        for file in _checkpoint_of(folder, int(commit.stem)):
            _set_aside(folder, file, aside)
        yield Repair(
            said("{table}: commit {number} {why}; set aside", table=table.name, number=str(int(commit.stem)), why=why)
        )
    for file in _torn_checkpoints(folder):
        _set_aside(folder, file, aside)
        yield Repair(
            said(
                "{table}: checkpoint {file} cannot be read; set aside, the commits hold the same",
                table=table.name,
                file=file.name,
            )
        )
    if not lake.exists(table):
        return
    try:
        handle = DeltaTable(str(folder))
    except DeltaError as problem:
        yield Repair(
            said(
                "{table}: still cannot be opened ({problem}); restore it from a copy",
                table=table.name,
                problem=str(problem),
            ),
            is_mended=False,
        )
        return
    damaged = list(_damaged_files(folder, look))
    for one in damaged:
        if one.file.exists():
            _set_aside(folder, one.file, aside)
        gone += [one.held(table)] if table.name in RESOURCE_OF else []
        yield Repair(
            said(
                "{table}: data file {file} {why}; set aside{rest}",
                table=table.name,
                file=one.file.name,
                why=one.why,
                rest=_NOT_READ_AGAIN.get(table.name, ""),
            )
        )
    if damaged:
        handle.repair()  # takes the missing files out of the newest version
        delta.flush(folder, DeltaTable(str(folder)).version())


def _torn_commits(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield torn commits, the newest first, as far as they go."""
    for commit in sorted(commits.log_folder(folder).glob("?" * 20 + ".json"), reverse=True):
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
    added = {action["add"]["path"] for action in found if "add" in action}
    promised = int((info.get("operationMetrics") or {}).get("num_added_files") or 0)  # what earlier releases wrote
    if len(added) < promised or not set(json.loads(info.get(commits.DIGESTS, "{}"))) <= added:
        return "names fewer files than it added"
    if info.get("operation") == "CREATE TABLE" and not any("metaData" in action for action in found):
        return "lacks its metaData"
    return None


def _checkpoint_of(folder: Path, version: int) -> list[Path]:
    """Return the checkpoint made of a commit, with the pointer to it."""
    log = commits.log_folder(folder)
    found = sorted(log.glob(f"{version:020d}.checkpoint*"))
    pointer = log / "_last_checkpoint"
    return [*found, pointer] if found and pointer.exists() else found


def _torn_checkpoints(folder: Path) -> Iterator[Path]:
    log = commits.log_folder(folder)
    torn = [f for f in sorted(log.glob("*.checkpoint*.parquet")) if data_files.what_is_wrong(f, None, None, whole=True)]
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


@dataclass(frozen=True)
class _Damaged:
    file: Path
    why: str
    stats: Mapping[str, Any]

    def held(self, table: Table) -> Gone:
        first, last = (self.stats.get(f"{end}.{table.time_column}") for end in ("min", "max"))
        resource = RESOURCE_OF[table.name]
        names = {self.stats.get(f"{end}.{resource}") for end in ("min", "max")}
        return Gone(table.name, first, last, names.pop() if len(names) == 1 else None)


def _damaged_files(folder: Path, look: Look) -> Iterator[_Damaged]:
    """Yield live data files that are missing, of another size, or not what was written, as far as they are looked at."""
    handle = DeltaTable(str(folder))
    newest = {a["add"]["path"] for a in commits.actions(folder, handle.version()) if "add" in a}
    known = commits.digests(folder)
    live = pa.table(handle.get_add_actions(flatten=True)).to_pylist()
    random.shuffle(live)  # so that in time every file is in a sample
    for action in live:
        path, size_bytes = action["path"], action["size_bytes"]
        whole = look.takes(folder, size_bytes, path in newest)
        if why := data_files.what_is_wrong(folder / unquote(path), size_bytes, known.get(path), whole):
            yield _Damaged(folder / unquote(path), why, action)


def _heal_findings(lake: Lake, aside: Path, look: Look) -> Iterator[Repair]:
    """Set all findings aside if any of them is damaged: they are made again from the evidence."""
    folder = lake.root / "findings"
    if not folder.is_dir() or not any(_is_damaged(lake, table, look) for table in (*FINDINGS, GENERATIONS)):
        return
    target = aside / "findings"
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(folder, target)
    yield Repair("findings: damaged; set aside as a whole, `doubletake correlate` makes them again")


def _sweep(lake: Lake) -> Iterator[Repair]:
    """Remove what a correlation staged and never published: it can be made again, and nothing refers to it."""
    staged = nameless_folders(lake)
    if not staged:
        return
    size_bytes = sum(file.stat().st_size for folder in staged for file in folder.rglob("*") if file.is_file())
    for folder in staged:
        shutil.rmtree(folder)
    runs = ", ".join(sorted({folder.name for folder in staged}))
    yield Repair(
        said(
            "findings: {n} bytes staged by a correlation that never published them removed ({names})",
            n=size_bytes,
            names=runs,
        )
    )


def _is_damaged(lake: Lake, table: Table, look: Look) -> bool:
    folder = lake.path(table)
    if not commits.log_folder(folder).is_dir():
        return False
    if any(True for _ in _torn_commits(folder)) or any(True for _ in _torn_checkpoints(folder)):
        return True
    if not lake.exists(table):
        return False
    try:
        return any(True for _ in _damaged_files(folder, look))
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
                    "detail": said("{n} rows stored, {m} left", n=miscount.stored_count, m=miscount.found_count),
                    "seen_count": 0,
                    "stored_count": 0,
                    "already_count": 0,
                    "quarantined_count": 0,
                    "is_provisional": False,
                    "collected_at": now,
                }
            )
    lake.append(COVERAGE, rows, "coverage|doctor")
    return Repair(said("{sentence}; the next collection of that window reads it again", sentence=miscount.sentence))
