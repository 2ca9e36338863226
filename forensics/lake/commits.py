"""The commits of a table as files: which there are, and what they say."""

import hashlib
import json
import os
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from deltalake.exceptions import TableNotFoundError

from forensics.errors import LakeUnreadableError
from forensics.sentence import said

RUN_TOKEN = "doubletake.run"  # noqa: S105
"""Key in a commit's info: names the append that made it, so that an unclear one can be found again."""
DIGESTS = "doubletake.sha256"
"""Key in a commit's info: a JSON object of the paths it added, each with the SHA-256 of the file."""
CONTENT = "doubletake.content"
"""Key in a commit's info: tells the rows of that version from all others, by the SHA-256 of every file that brought some."""

Newest = tuple[str, int, int]
"""The newest commit's file name, its bytes, and when it was written (ns)."""
Stamp = tuple[int, int, int]
"""A file's inode, its bytes, and when it was written (ns)."""
_COMMIT = re.compile(r"\d{20}\.json")
_seen: dict[Path, tuple[int, Stamp]] = {}
"""Per table the newest commit that was seen, and what it looked like then."""


def log_folder(folder: Path) -> Path:
    """Return the folder of a table's commits."""
    return folder / "_delta_log"


def commit_file(folder: Path, version: int) -> Path:
    """Return the file of one commit."""
    return Path(_named(folder, version))


def _named(folder: Path, version: int) -> str:
    return f"{folder}/_delta_log/{version:020d}.json"  # a path is made by parts: ten times the work, and asked for all the time


def newest_commit(folder: Path) -> Newest | None:
    """Return the newest commit's file name, bytes, and when it was written (ns); None where there is none.

    Looked for from the newest that was seen before: a table that is watched for a year has hundreds of thousands.
    """
    version, stamp = _seen.get(folder, (-1, None))
    if stamp is None or commit_stamp(folder, version) != stamp:
        version = _newest_listed(folder)
        stamp = commit_stamp(folder, version) if version >= 0 else None
    while stamp is not None and (next_stamp := commit_stamp(folder, version + 1)) is not None:
        version, stamp = version + 1, next_stamp
    if stamp is None:
        _seen.pop(folder, None)
        return None
    _seen[folder] = version, stamp
    return f"{version:020d}.json", *stamp[1:]


def _newest_listed(folder: Path) -> int:
    try:
        with os.scandir(log_folder(folder)) as entries:
            return max((int(e.name[:-5]) for e in entries if _COMMIT.fullmatch(e.name)), default=-1)
    except (FileNotFoundError, NotADirectoryError):
        return -1
    except OSError as problem:
        raise _unreadable(log_folder(folder), problem) from problem


def newest_version(folder: Path) -> int:
    """Return the number of a table's newest commit, found by listing; raises TableNotFoundError where there is none."""
    newest = newest_commit(folder)
    if newest is None:
        raise TableNotFoundError(f"no commit in {str(log_folder(folder))!r}")
    return int(newest[0].partition(".")[0])


def stamp_of(file: Path | str) -> Stamp | None:
    """Return what tells one writing of a file from another; None where there is no file, LakeUnreadableError where none can tell."""
    try:
        status = os.stat(file)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        raise _unreadable(file, problem) from problem
    return status.st_ino, status.st_size, status.st_mtime_ns


def commit_stamp(folder: Path, version: int) -> Stamp | None:
    """Return what tells one writing of a commit from another; None where there is no such commit."""
    return stamp_of(_named(folder, version))


def _unreadable(path: Path | str, problem: OSError) -> LakeUnreadableError:
    return LakeUnreadableError(
        said("{path} of the lake cannot be read: {problem}", path=repr(str(path)), problem=problem.strerror or problem),
        "Check its permissions, and the disk.",
    )


def actions(folder: Path, version: int, *, unread: Iterable[str] = ()) -> Iterator[dict[str, Any]]:
    """Yield the actions of one commit, one a line; kinds that are to stay ``unread`` are left out where their lines are whole."""
    begins = tuple(f'{{"{kind}":' for kind in unread)
    for line in commit_file(folder, version).read_text("utf-8").split("\n"):  # a line may hold U+2028
        if line and not (line.startswith(begins) and line.endswith("}}")):
            yield json.loads(line)


def changes_rows(folder: Path, version: int) -> bool:
    """Tell whether a commit changed what the table holds; compaction and new columns did not."""
    return any(
        action.get(kind, {}).get("dataChange", False)
        for action in actions(folder, version)
        for kind in ("add", "remove")
    )


def rows_version(folder: Path, version: int) -> int:
    """Return the newest version up to one that changed the table's rows."""
    while version > 0 and not changes_rows(folder, version):
        version -= 1
    return version


def content(folder: Path, version: int) -> str:
    """Return what tells the rows of a version from all others; the number alone where the commit does not say it."""
    version = rows_version(folder, version)
    return str(_info(actions(folder, version)).get(CONTENT, version))


def content_with(folder: Path, version: int, sha256s: Iterable[str]) -> str:
    """Return what tells the rows of a version, and those of further files, from all others; -1: before the first version."""
    before = content(folder, version) if version >= 0 else "0"
    return hashlib.sha256("\n".join([before, *sorted(sha256s)]).encode()).hexdigest()[:32]


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file that a commit named with one, by path below the table's folder."""
    found: dict[str, str] = {}
    for commit in sorted(log_folder(folder).glob("?" * 20 + ".json")):
        for action in actions(folder, int(commit.stem)):
            found.update(json.loads(action.get("commitInfo", {}).get(DIGESTS, "{}")))
    return found


def replaced_by(folder: Path, version: int) -> set[str] | None:
    """Return the files of a version of a table that is always replaced whole, by their paths in its folder.

    They stand in the last commit of rows, which is found without opening the table. None where that added to others.
    """
    written = _last_written(folder, version)
    info = _info(written)
    if info.get("operation") == "WRITE" and info.get("operationParameters", {}).get("mode") != "Overwrite":
        return None
    return {action["add"]["path"] for action in written if "add" in action}


def told_of(folder: Path, version: int) -> dict[Stamp, tuple[int, str]]:
    """Return rows and SHA-256 of the files that the last commit of rows named, by what tells one writing of a file from another."""
    written = _last_written(folder, version)
    sums: dict[str, str] = json.loads(_info(written).get(DIGESTS, "{}"))
    found = {}
    for added in (action["add"] for action in written if "add" in action):
        path = unquote(added["path"])
        stamp, rows = stamp_of(folder / path), json.loads(added.get("stats") or "{}").get("numRecords")
        if stamp is not None and path in sums and rows is not None:
            found[stamp] = rows, sums[path]
    return found


def holds_only(folder: Path, version: int, files: Collection[Path]) -> bool:
    """Tell whether a version of a table that is always replaced whole has these files and no others, by whatever names."""
    if (named := replaced_by(folder, version)) is None or len(named) != len(files):
        return False
    stamps = {stamp_of(folder / unquote(path)) for path in named}
    return None not in stamps and stamps == {*map(stamp_of, files)}


def _last_written(folder: Path, version: int) -> list[dict[str, Any]]:
    for earlier in range(version, -1, -1):
        found = list(actions(folder, earlier, unread=("remove",)))
        if _info(found).get("operation") == "WRITE" or any("add" in action for action in found):
            return found
    return []


def _info(found: Iterable[dict[str, Any]]) -> dict[str, Any]:
    return next((action["commitInfo"] for action in found if "commitInfo" in action), {})
