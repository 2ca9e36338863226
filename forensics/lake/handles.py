"""Tables that are open already: the commits of a table are read again only when there are others.

A table that grew for a year has thousands of commits; opening it reads all of them since the last checkpoint, and one
command opens a table some thirty times.
"""

from pathlib import Path
from typing import Any

from deltalake import DeltaTable

from forensics.lake.commits import commit_stamp, newest_commit, newest_version

MOST = 64
"""Handles kept, a megabyte or two each where many commits follow the checkpoint; a lake has some thirty tables."""
_opened: dict[tuple[Path, int | None], tuple[Any, DeltaTable]] = {}
"""By folder and version (None: newest), with what lay on the disk then: of the newest there is never more than one."""


def opened(folder: Path, version: int | None = None) -> DeltaTable:
    """Return a table at a version (None: newest). Raises what DeltaTable does.

    The first commit is part of what is compared: another one is another table, made anew in the same folder. Who asks for
    the version that is the newest gets the handle of the newest.
    """
    if (
        version is not None
        and version == newest_version(folder)
        and (newest := _held(folder, None)).version() == version
    ):
        return newest
    return _held(folder, version)


def _held(folder: Path, version: int | None) -> DeltaTable:
    asked = newest_commit(folder) if version is None else commit_stamp(folder, version)
    stamps = asked, commit_stamp(folder, 0)
    was, handle = _opened.pop((folder, version), (None, None))
    if handle is None or was != stamps:
        handle = DeltaTable(str(folder), version=version)
    while len(_opened) >= MOST:
        _opened.pop(next(iter(_opened)), None)
    _opened[folder, version] = stamps, handle
    return handle
