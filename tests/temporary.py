"""Where tests put files that go with them: in memory where there is room, since a lake waits for the disk at every commit."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")
ENOUGH_BYTES = 4 * 1024**3
ON_DISK = os.environ.setdefault("DOUBLETAKE_TESTS_ON_DISK", tempfile.gettempdir())
"""Where temporary files would lie else, for what is linked from the disk and for what is large."""
_PREFIX = f"doubletake-tests-{os.getuid()}-"


def in_memory() -> None:
    """Let this process and those that it starts use a fresh folder in memory, unless there is no room or ``TMPDIR`` says where."""
    if "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK | os.X_OK):
        return
    for folder in MEMORY.glob(f"{_PREFIX}*"):
        if not Path("/proc", folder.name.removeprefix(_PREFIX)).exists():  # that of a killed run
            shutil.rmtree(folder, ignore_errors=True)
    there = os.statvfs(MEMORY)
    if there.f_bavail * there.f_frsize < ENOUGH_BYTES or there.f_flag & os.ST_NOEXEC:
        return
    mine = MEMORY / f"{_PREFIX}{os.getpid()}"
    mine.mkdir(mode=0o700)
    atexit.register(_give_back, mine, os.getpid())
    os.environ["TMPDIR"] = str(mine)
    tempfile.tempdir = None


def _give_back(folder: Path, pid: int) -> None:
    if os.getpid() == pid:  # a forked child ends as well
        shutil.rmtree(folder, ignore_errors=True)
