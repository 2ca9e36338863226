"""The list of what is kept between rounds, and whether all of it is still there."""

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from forensics.lake.delta import flush_path

_NAME = "manifest.json"
SHELF = "shelf"
"""Column by which the rows of a folder are parted into shelves."""


@dataclass
class Part:
    """A folder of runs, handlings and statements of one round, and how many of the first two it has."""

    name: str
    runs_count: int


@dataclass
class Manifest:
    """What is kept, and until where it reaches: all of one published run of the correlation."""

    key: str
    groups: dict[str, str]
    log_version: int
    log_commit: str
    """SHA-256 of that version's commit."""
    until: str
    """End of what was known, ISO UTC: settings in force are compared up to there."""
    in_force: list[str]
    parts: list[Part] = field(default_factory=list)
    schemas: dict[str, str] = field(default_factory=dict)
    files: dict[str, list[str]] = field(default_factory=dict)
    """Findings table to its files, relative to the lake, whose rows hold as long as their streams and items do."""
    shelves: dict[str, int] = field(default_factory=dict)
    """Shelves of judged works, and how many items stand on each; also those of the measures of findings files."""
    grounds: dict[str, Any] = field(default_factory=dict)
    """What judged works rest on besides their lines, as ``Grounds``."""
    guarded: list[str] = field(default_factory=list)
    """Log groups in which an idempotency line showed a guard."""
    rows: dict[str, int] = field(default_factory=dict)
    """Every kept file to its rows: one that is gone would leave out runs, and nobody would notice."""


def shelf_folders(folder: Path, shelf: str) -> list[Path]:
    """Return the folders of one shelf, one per table that has rows on it."""
    works, _, number = shelf.partition("/")
    return sorted((folder / works).glob(f"*/{SHELF}={number}"))


def rows_of(folder: Path) -> int:
    """Count the rows of the files below a folder."""
    return sum(pq.read_metadata(file).num_rows for file in folder.rglob("*.parquet"))


def read_manifest(folder: Path, root: Path) -> Manifest | None:
    """Return what is kept, or None where it is not there, not whole or of another form. ``root`` is the lake's."""
    try:
        told = json.loads((folder / _NAME).read_text(encoding="utf-8"))
        manifest = Manifest(**{**told, "parts": [Part(**part) for part in told["parts"]]})
        is_whole = _rows_kept(folder, manifest) == manifest.rows
        for file in (file for files in manifest.files.values() for file in files):
            pq.read_metadata(root / file)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return manifest if manifest.parts and is_whole else None


def write_manifest(folder: Path, manifest: Manifest, run_id: str) -> None:
    """Make a round's outcome count, and remove what it does not name. Its own files are flushed before."""
    manifest.rows = _rows_kept(folder, manifest)
    mine = [kept for kept in _folders(folder, manifest) if str(kept.relative_to(folder)).startswith(run_id)]
    above = {parent for kept in mine for parent in kept.parents if folder in parent.parents}
    for path in (*above, *mine, *(file for kept in mine for file in kept.rglob("*"))):
        flush_path(path)
    written = folder / f"{_NAME}.{run_id}"
    written.write_text(json.dumps(asdict(manifest)), encoding="utf-8")
    flush_path(written)
    os.replace(written, folder / _NAME)
    flush_path(folder)
    named = {part.name for part in manifest.parts} | {shelf.partition("/")[0] for shelf in manifest.shelves}
    for stale in folder.iterdir():
        if stale.is_dir() and stale.name not in named:
            shutil.rmtree(stale, ignore_errors=True)
    for stale in folder.glob(f"*/*/{SHELF}=*"):
        if f"{stale.parts[-3]}/{stale.name.partition('=')[2]}" not in manifest.shelves:
            shutil.rmtree(stale, ignore_errors=True)


def _folders(folder: Path, manifest: Manifest) -> Iterator[Path]:
    yield from (folder / part.name for part in manifest.parts)
    for shelf in manifest.shelves:
        yield from shelf_folders(folder, shelf)


def _rows_kept(folder: Path, manifest: Manifest) -> dict[str, int]:
    """Count the rows of every kept file; raises OSError or ValueError where one is not whole."""
    files = (file for kept in _folders(folder, manifest) for file in kept.rglob("*.parquet"))
    return {str(file.relative_to(folder)): pq.read_metadata(file).num_rows for file in files}
