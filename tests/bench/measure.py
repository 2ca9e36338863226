"""Time, CPU time and resident memory of this process and everything it started (the JVM)."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICK = os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")


@dataclass
class Measured:
    """What one piece of work took; memory and CPU are None where the system has no /proc."""

    wall_s: float = 0.0
    cpu_s: float | None = None
    peak_mb: float | None = None


@contextmanager
def measured(every_s: float = 0.1) -> Iterator[Measured]:
    """Measure a block: wall time, CPU time and the highest resident memory of the whole process tree."""
    result = Measured()
    if not _PROC.is_dir():
        begin = time.perf_counter()
        yield result
        result.wall_s = time.perf_counter() - begin
        return
    over = threading.Event()
    peak = [0]

    def watch() -> None:
        while not over.is_set():
            peak[0] = max(peak[0], _tree()[0])
            over.wait(every_s)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    cpu_before, begin = _tree()[1], time.perf_counter()
    try:
        yield result
    finally:
        result.wall_s = time.perf_counter() - begin
        result.cpu_s = (_tree()[1] - cpu_before) / _TICK
        over.set()
        watcher.join()
        result.peak_mb = peak[0] * _PAGE / 1e6


def _tree() -> tuple[int, int]:
    """Return resident pages and CPU ticks of this process, its descendants, and children that have ended."""
    parents: dict[int, int] = {}
    figures: dict[int, tuple[tuple[int, int], int]] = {}
    for entry in _PROC.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended while we looked
        pid = int(entry.name)
        parents[pid] = int(fields[1])
        figures[pid] = ((int(fields[20]), int(fields[21])), sum(int(f) for f in fields[11:15]))
    mine, found = {os.getpid()}, True
    while found:
        more = {pid for pid, parent in parents.items() if parent in mine} - mine
        mine |= more
        found = bool(more)
    sizes = {pid: size for pid, (size, _) in figures.items()}
    known = mine & figures.keys()
    pages = sum(sizes[pid][1] for pid in known if not is_parents(pid, parents, sizes))
    return pages, sum(figures[pid][1] for pid in known)


def is_parents(pid: int, parents: dict[int, int], sizes: dict[int, tuple[int, int]]) -> bool:
    """Tell whether a process shows its parent's memory: it was forked and has not begun a program of its own.

    Java starts short commands all the time; each would count its gigabytes twice for a moment. ``sizes`` are bytes of
    addresses and resident pages.
    """
    return sizes.get(parents[pid]) == sizes[pid]
