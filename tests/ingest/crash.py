"""A collector in a process of its own that dies in the middle of its work, and what may be seen of it afterwards."""

import multiprocessing
import os
import random
import resource
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from types import ModuleType
from unittest import mock

from forensics.errors import LakeBusyError
from forensics.lake import Lake
from forensics.tables import BY_NAME
from forensics.window import TimeWindow
from ingest import log_events
from ingest.collect import collect
from ingest.coverage import Book, Reading, record
from tests.ingest.model_account import ACCOUNT, GROUP, QUEUE, REGION, ModelAccount

T = datetime(2026, 11, 10, tzinfo=UTC)
QUARTER = timedelta(minutes=15)
NOW = T + timedelta(days=3)
WINDOWS, STREAMS, EVENTS = 30, 5, 1500
LONGEST_WAIT_S = 0.04
BUSY = 75


@cache
def events() -> list[tuple[datetime, str, str]]:
    """Return 1,500 events of 5 streams over 30 quarters of an hour; many share a millisecond, some are equal."""
    draw = random.Random(7)
    span_s = WINDOWS * 900
    return [
        (T + timedelta(seconds=draw.randrange(span_s)), f"stream-{draw.randrange(STREAMS)}", f"line {n // 2}")
        for n in range(EVENTS)
    ]


def collect_all(lake: Lake, count: int = WINDOWS) -> None:
    """Collect window after window, as a cron job does; those that coverage calls read are passed over."""
    windows = [TimeWindow(T + QUARTER * n, T + QUARTER * (n + 1)) for n in range(count)]
    arn = f"arn:aws:sqs:{REGION}:{ACCOUNT}:{QUEUE}"
    where = (log_events.LOG_EVENTS, GROUP, ACCOUNT, REGION, (arn,))
    book = Book(lake, TimeWindow(T, T + QUARTER * count))
    for window in [w for w in windows if book.due(*where, w, NOW)]:
        now = NOW + timedelta(microseconds=time.monotonic_ns() // 1000 % 10**10)  # no two runs begin at one moment
        collect(lake, ModelAccount(events()), [QUEUE], window, [GROUP], now=now)


# -- mutants: each takes one promise's mechanism away --------------------------------------------------------


def without_comparison() -> None:
    """Append what is there already, too."""
    Lake._without_known = lambda self, table, data, version: data  # type: ignore[method-assign]


def with_coverage_first() -> None:
    """Say that a window was read before its events are in the lake."""
    ingest = log_events.ingest

    def claim_then_read(
        lake: Lake, group: log_events.LogGroup, window: TimeWindow, collected_at: datetime, *more, **named
    ) -> Reading:
        claim = Reading(log_events.LOG_EVENTS, group.name, group.account_id, group.region, group.queue_arns)
        record(lake, [claim], window, collected_at)
        time.sleep(
            LONGEST_WAIT_S
        )  # a kill that comes as the claim is committed falls in here, however fast the disk is
        return ingest(lake, group, window, *more, collected_at=collected_at, **named)

    log_events.ingest = claim_then_read


def without_lock() -> None:
    """Let several collectors in at once: only the commits themselves keep them apart."""
    from contextlib import nullcontext

    Lake.writing = lambda self, what: nullcontext()  # type: ignore[method-assign, assignment]


# -- what runs in the process --------------------------------------------------------------------------------


def run_and_die(root: str, commits: int, wait_s: float, mutant: Callable[[], None] | None) -> None:
    """Collect; shortly after so many commits have begun, be killed by a signal that nothing can catch."""
    if mutant:
        mutant()
    commit, begun = Lake._commit, []

    def counted(self: Lake, *args) -> None:
        begun.append(1)
        if len(begun) == commits and not wait_s:
            os.kill(os.getpid(), signal.SIGKILL)
        if len(begun) == commits:
            threading.Thread(target=_kill_soon, args=(wait_s,), daemon=True).start()
        commit(self, *args)

    Lake._commit = counted  # type: ignore[method-assign]
    collect_all(Lake(root))


def _kill_soon(wait_s: float) -> None:
    end = time.perf_counter() + wait_s
    while time.perf_counter() < end:
        time.sleep(0.0002)
    os.kill(os.getpid(), signal.SIGKILL)


def run_with_little_room(root: str, most_bytes: int, count: int) -> None:
    """Collect with files that may not grow beyond a size: what a full disk does to a write."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    collect_all(Lake(root), count)


def run_whole(root: str, mutant: Callable[[], None] | None = None, count: int = WINDOWS) -> None:
    """Collect to the end, trying again like a cron job while another collector is at work."""
    if mutant:
        mutant()
    for _ in range(200):
        try:
            return collect_all(Lake(root), count)
        except LakeBusyError:
            time.sleep(0.01)
    raise SystemExit(BUSY)


_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.ingest.crash"])


def process(target: Callable[..., None], *args: object) -> multiprocessing.Process:
    """Start a function in a fresh process; it begins in milliseconds, with everything imported and nothing opened."""
    started = _CONTEXT.Process(target=target, args=args, daemon=True)
    with mock.patch.dict(sys.modules, {"__main__": ModuleType("__main__")}):  # else it runs what a page test left there
        started.start()
    return started  # type: ignore[return-value]


# -- what is seen from outside -------------------------------------------------------------------------------


def ids(root: Path) -> list[str]:
    """Return the event ids in the lake, as often as they are there."""
    lake = Lake(root)
    if not lake.exists(BY_NAME["log_events"]):
        return []
    return lake.read(BY_NAME["log_events"], ["event_id"])["event_id"].to_pylist()


def doubled(root: Path) -> list[str]:
    """Return the ids that are there more than once."""
    return [name for name, count in Counter(ids(root)).items() if count > 1]


def claimed_but_missing(root: Path) -> set[str]:
    """Return the ids of events that lie in a window that coverage calls read, and are not there."""
    lake = Lake(root)
    spans = [
        (row["window_start_at"], row["window_end_at"])
        for row in lake.read(BY_NAME["coverage"]).to_pylist()
        if row["source"] == "log_events" and row["status"] == "ok"
    ]
    claimed = {f"{n:056}" for n, (at, _, _) in enumerate(sorted(events())) for low, high in spans if low <= at < high}
    return claimed - set(ids(root))


def ids_of(count: int = WINDOWS) -> list[str]:
    """Return the ids of the first windows' events, sorted."""
    end_at = T + QUARTER * count
    return [f"{n:056}" for n, (at, _, _) in enumerate(sorted(events())) if at < end_at]
