"""Findings of earlier runs, forgotten: what is kept is what the newest generations name."""

import shutil
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote

from forensics.lake import commits
from forensics.lake.generation import Generation
from forensics.lake.lake import Lake
from forensics.lake.rows import plain_rows
from forensics.tables import FINDINGS, GENERATIONS, Table

KEEP_GENERATIONS = 5
"""So many generations of findings can be read still."""


def forget_generations(lake: Lake, keep: int = KEEP_GENERATIONS) -> None:
    """Remove files of findings that none of the newest generations names, and what a killed run staged.

    Whatever folders are called: a clock may have been set back. Older findings can be made again from the evidence.
    """
    for folder in nameless_folders(lake, keep):
        shutil.rmtree(folder, ignore_errors=True)


def nameless_folders(lake: Lake, keep: int = KEEP_GENERATIONS) -> list[Path]:
    """Return the folders of findings that neither a kept generation names nor the newest version of their table."""
    newest = {t.name: commits.newest_version(lake.path(t)) for t in (*FINDINGS, GENERATIONS) if lake.exists(t)}
    named = {table.name: {newest[table.name]} for table in FINDINGS if table.name in newest}
    last = newest.get(GENERATIONS.name, -1)
    for version in range(last, max(last - keep, -1), -1):
        for row in plain_rows(lake.read(GENERATIONS, version=version)):
            for name, number in Generation.of_row(row).versions.items():
                named.setdefault(name, set()).add(number)
    found = []
    for table in FINDINGS:
        kept = {folder for number in named.get(table.name, ()) for folder in _folders(lake, table, number)}
        data = lake.path(table) / "data"
        found += [folder for folder in sorted(data.iterdir()) if folder not in kept] if data.is_dir() else []
    return found


def _folders(lake: Lake, table: Table, version: int) -> set[Path]:
    """Return where the files of a version are: thousands in one folder, or in a few."""
    folder = lake.path(table)
    named = _named(folder, version, commits.commit_stamp(folder, version))
    if named is None:  # as no release wrote findings; better asked than removed
        return {Path(file).parent for file in lake.files(table, version)}
    return {folder / unquote(name) for name in named}


@lru_cache(maxsize=1024)
def _named(folder: Path, version: int, _: commits.Stamp | None) -> set[str] | None:
    """Return the folders that a version names, which is the same for one writing of its commit; a run asks for what those before it did."""
    paths = commits.replaced_by(folder, version)
    return None if paths is None else {path.rpartition("/")[0] for path in paths}
