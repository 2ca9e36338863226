"""The folder for what Spark writes while it works: lines of evidence, so nobody else may read it, and none may stay."""

import atexit
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

PREFIX = "doubletake-spark-"
_ALIVE = ".alive"
_held: list[int] = []
"""Locks that end with the process, however it ends."""


def scratch_folder() -> Path:
    """Return a fresh folder, ours alone, that goes with this process; those of killed processes go now."""
    sweep(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    lock = os.open(folder / _ALIVE, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    _held.append(lock)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def sweep(parent: Path) -> list[Path]:
    """Remove our folders whose process is gone; returns them. Those of others are left alone."""
    removed = []
    for folder in parent.glob(f"{PREFIX}*"):
        try:
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            lock = os.open(folder / _ALIVE, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:  # one that is just being made has no lock yet
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
            removed.append(folder)
        except BlockingIOError:
            pass
        finally:
            os.close(lock)
    return removed
