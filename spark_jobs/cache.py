"""Outputs of earlier runs, reused by content: the one file that knows that there were any.

What a step makes of a unit is kept in ``findings/.cache/<step>/<name>/``. The name is a digest of everything the output
rests on: input files, the settings that bear on them, the code itself. An incremental run is the same run with most names
already there. Any entry can be deleted at any time; those that neither of the newest two runs used are swept.
"""

import functools
import hashlib
import json
import os
import shutil
import uuid
import zlib
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol, cast

import msgspec

from forensics.lake.data_files import sha256_of
from forensics.tables import BY_NAME

_ROOT = Path(__file__).resolve().parent.parent
_CODE = ("forensics", "spark_jobs")
_ENGINES = ("polars", "msgspec", "pyarrow")
_SUMMARY = "summary.json"
_KEPT_RUNS = 2
_KEPT_BEFORE = ".kept"
"""Where releases before this cache kept what their runs made: nothing reads it any more."""

_CHUNK_BYTES = 1024 * 1024

Summary = dict[str, Any]


@functools.cache
def code_digest() -> str:
    """Return a digest of the code that findings rest on, and of the libraries that read with it."""
    found = hashlib.sha256(repr([(name, version(name)) for name in _ENGINES]).encode())
    for folder in _CODE:
        for file in sorted((_ROOT / folder).rglob("*.py")):
            found.update(file.read_bytes())
    return found.hexdigest()


def digest(*parts: object) -> str:
    """Return the name of what rests on these parts and the code."""
    return hashlib.sha256("\n".join([code_digest(), *map(str, parts)]).encode()).hexdigest()[:32]


def checksum_of(file: str) -> str:
    """Return what tells whether an output's file is what was written: SHA-256 of what may be published, else CRC-32.

    A commit names the one; where nobody reads a file but the next step, a tenth of the work tells damage as well.
    """
    stem, ending = os.path.splitext(os.path.basename(file))
    if ending == ".parquet" and stem in BY_NAME:
        return sha256_of(file)
    found = 0
    with open(file, "rb", buffering=0) as content:
        while chunk := content.read(_CHUNK_BYTES):
            found = zlib.crc32(chunk, found)
    return f"{found:08x}"


class Cache:
    """The cached outputs of one lake; cheap to make, and can be sent to other processes."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def entry(self, step: str, name: str) -> Path:
        """Return the folder of an output."""
        return Path(self._folder(step, name))

    def _folder(self, step: str, name: str) -> str:
        return f"{self.root}/{step}/{name}"  # a path is made by parts: ten times the work, and asked for thousands of times

    def summary(self, step: str, name: str) -> Summary | None:
        """Return what a finished output says of itself; None where it is not there, or not whole and so removed."""
        told = self._told(step, name)
        if told is not None and self._is_whole(step, name, told):
            return dict(told["summary"])
        if os.path.exists(self._folder(step, name)):
            self.remove(step, name)
        return None

    def _told(self, step: str, name: str) -> dict[str, Any] | None:
        try:
            with open(f"{self._folder(step, name)}/{_SUMMARY}", "rb") as file:
                told = msgspec.json.decode(file.read())
        except (OSError, ValueError):
            return None
        return told if isinstance(told, dict) and told.keys() == {"summary", "files"} else None

    def _is_whole(self, step: str, name: str, told: dict[str, Any], *, with_content: bool = False) -> bool:
        folder = self._folder(step, name)
        try:
            return all(
                os.stat(path := f"{folder}/{file}").st_size == size
                and (not with_content or checksum_of(path) == checksum)
                for file, (size, checksum) in told["files"].items()
            )
        except (OSError, ValueError, TypeError, AttributeError):
            return False

    def sha256(self, file: Path) -> str:
        """Return the SHA-256 that a table's file had when it was written."""
        told = self._told(file.parent.parent.name, file.parent.name)
        return str(told["files"][file.name][1]) if told and file.stem in BY_NAME else sha256_of(file)

    def remove_damaged(self, used: Iterable[tuple[str, str]]) -> list[str]:
        """Remove those outputs of a run that are not what was written; returns their names."""
        damaged = []
        for step, name in sorted(set(used)):
            told = self._told(step, name)
            if (told is not None or self.entry(step, name).exists()) and not (
                told and self._is_whole(step, name, told, with_content=True)
            ):
                self.remove(step, name)
                damaged.append(f"{step}/{name}")
        return damaged

    def made(self, step: str, name: str, make: Callable[[Path], Summary]) -> Summary:
        """Return the summary of an output, and make it where it is not there; a killed maker leaves nothing under its name."""
        if (found := self.summary(step, name)) is not None:
            return found
        folder = self.entry(step, name)
        draft = folder.with_name(f".{name}-{uuid.uuid4().hex}")
        draft.mkdir(parents=True)
        try:
            summary = make(draft)
            files = {file.name: (file.stat().st_size, checksum_of(str(file))) for file in sorted(draft.iterdir())}
            (draft / _SUMMARY).write_text(json.dumps({"summary": summary, "files": files}))
            try:
                draft.rename(folder)
            except OSError:  # another process was faster
                if self.summary(step, name) is None:
                    raise
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        return summary

    def remove(self, step: str, name: str) -> None:
        """Remove an output."""
        shutil.rmtree(self.entry(step, name), ignore_errors=True)

    def clear(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.root, ignore_errors=True)

    def sweep(self, used: Iterable[tuple[str, str]]) -> None:
        """Note what this run used, and remove what it and the run before it did not, drafts and leftovers of earlier releases included."""
        runs = self.root / "runs"
        runs.mkdir(parents=True, exist_ok=True)
        newest = sorted(int(file.stem) for file in runs.glob("*.json"))
        mine = runs / f"{(newest[-1] if newest else 0) + 1}.json"
        mine.write_text(json.dumps(sorted({f"{step}/{name}" for step, name in used})))
        kept: set[str] = set()
        for number, file in enumerate(sorted(runs.glob("*.json"), key=lambda f: int(f.stem), reverse=True)):
            if number >= _KEPT_RUNS:
                file.unlink()
                continue
            try:
                kept |= set(json.loads(file.read_text()))
            except (ValueError, TypeError):
                file.unlink()
        shutil.rmtree(self.root.with_name(_KEPT_BEFORE), ignore_errors=True)
        for step in self.root.iterdir():
            for entry in step.iterdir() if step != runs and step.is_dir() else ():
                if f"{step.name}/{entry.name}" not in kept:
                    shutil.rmtree(entry, ignore_errors=True)


class Kernel(Protocol):
    """What a step makes of one unit: its entry's files, and what they say of themselves."""

    step: str

    def __call__(self, shared: Any, unit: Mapping[str, Any]) -> Summary:
        """Return the summary of the unit's entry, which is made where it is not there; ``shared`` has the ``cache``."""


def kernel(step: str) -> Callable[[Callable[[Any, Any, Path], Summary]], Kernel]:
    """Let a function that writes into a folder make the entries of a step, named as its units are."""

    def named(make: Callable[[Any, Any, Path], Summary]) -> Kernel:
        @functools.wraps(make)
        def called(shared: Any, unit: Mapping[str, Any]) -> Summary:
            return cast(Cache, shared.cache).made(step, unit["name"], functools.partial(make, shared, unit))

        found = cast(Kernel, called)
        found.step = step
        return found

    return named


def linked(source: Path | str, target: Path | str) -> None:
    """Let a file stand at a second place without copying it where the file system can do that."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
