"""Rows of an evidence bundle, put into a lake as they are: they keep their names, so that the same report cites the same rows."""

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forensics.lake import Lake
from forensics.tables import BY_NAME, EVIDENCE
from forensics.tables.evidence import COVERAGE

MAGIC = b"PK\x03\x04"


def is_bundle(path: Path, manifest: str) -> bool:
    """Tell whether a file may be a bundle: a ZIP with a file of that name, or a damaged one. Raises OSError where it cannot be read."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            return False
        try:
            return manifest in zipfile.ZipFile(file).namelist()
        except (zipfile.BadZipFile, NotImplementedError, UnicodeError):
            return True


def store(lake: Lake, rows: Mapping[str, list[dict[str, Any]]]) -> tuple[int, int]:
    """Append rows per table, coverage last; returns how many were new and how many were there already."""
    order = [t.name for t in EVIDENCE if t is not COVERAGE]
    order += [name for name in rows if name not in {t.name for t in EVIDENCE}] + [COVERAGE.name]
    stored = already = 0
    lake.versions()  # a lake that this release cannot read is said before anything is written
    with lake.writing("collect"):
        for name in order:
            if rows.get(name):
                done = lake.append(BY_NAME[name], rows[name], f"{name}|bundle")
                stored, already = stored + done.stored_count, already + done.already_count
    return stored, already
