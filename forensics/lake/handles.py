"""Tables that are open already: the commits of a table are read again only when there are others.

A table that grew for a year has thousands of commits; opening it reads all of them since the last checkpoint, and one
command opens a table some thirty times.
"""

from pathlib import Path
from typing import Any

from deltalake import DeltaTable

from forensics.lake.commits import commit_file, newest_commit, stamp_of

MOST = 128
"""Handles kept; a lake has some thirty tables."""
_opened: dict[tuple[Any, ...], DeltaTable] = {}


def opened(folder: Path, version: int | None = None) -> DeltaTable:
    """Return a table at a version (None: newest). Raises what DeltaTable does.

    The first commit is part of what is compared: another one is another table, made anew in the same folder.
    """
    asked = newest_commit(folder) if version is None else (version, stamp_of(commit_file(folder, version)))
    key = (folder, version is None, asked, stamp_of(commit_file(folder, 0)))
    handle = _opened.pop(key, None) or DeltaTable(str(folder), version=version)
    while len(_opened) >= MOST:
        _opened.pop(next(iter(_opened)), None)
    _opened[key] = handle
    return handle
