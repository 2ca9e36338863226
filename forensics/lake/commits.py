"""The commits of a table as files: which there are, and what they say."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deltalake.exceptions import TableNotFoundError

RUN_TOKEN = "doubletake.run"  # noqa: S105
"""Key in a commit's info: names the append that made it, so that an unclear one can be found again."""
DIGESTS = "doubletake.sha256"
"""Key in a commit's info: a JSON object of the paths it added, each with the SHA-256 of the file."""

Newest = tuple[str, int, int]
"""The newest commit's file name, its bytes, and when it was written (ns)."""
Stamp = tuple[int, int, int]
"""A file's inode, its bytes, and when it was written (ns)."""


def log_folder(folder: Path) -> Path:
    """Return the folder of a table's commits."""
    return folder / "_delta_log"


def commit_file(folder: Path, version: int) -> Path:
    """Return the file of one commit."""
    return log_folder(folder) / f"{version:020d}.json"


def newest_commit(folder: Path) -> Newest | None:
    """Return the newest commit's file name, bytes, and when it was written (ns); None where there is none."""
    try:
        with os.scandir(log_folder(folder)) as entries:
            newest = max((e for e in entries if e.name.endswith(".json")), key=lambda e: e.name, default=None)
            if newest is None:
                return None
            status = newest.stat()
    except OSError:
        return None
    return newest.name, status.st_size, status.st_mtime_ns


def newest_version(folder: Path) -> int:
    """Return the number of a table's newest commit, found by listing; raises TableNotFoundError where there is none."""
    newest = newest_commit(folder)
    if newest is None:
        raise TableNotFoundError(f"no commit in {str(log_folder(folder))!r}")
    return int(newest[0].partition(".")[0])


def stamp_of(file: Path) -> Stamp | None:
    """Return what tells one writing of a file from another; None where there is no file."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def actions(folder: Path, version: int) -> Iterator[dict[str, Any]]:
    """Yield the actions of one commit, one a line."""
    for line in commit_file(folder, version).read_text("utf-8").split("\n"):  # a line may hold U+2028
        if line:
            yield json.loads(line)


def changes_rows(folder: Path, version: int) -> bool:
    """Tell whether a commit changed what the table holds; compaction and new columns did not."""
    return any(
        action.get(kind, {}).get("dataChange", False)
        for action in actions(folder, version)
        for kind in ("add", "remove")
    )


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file that a commit named with one, by path below the table's folder."""
    found: dict[str, str] = {}
    for commit in sorted(log_folder(folder).glob("?" * 20 + ".json")):
        for action in actions(folder, int(commit.stem)):
            found.update(json.loads(action.get("commitInfo", {}).get(DIGESTS, "{}")))
    return found
