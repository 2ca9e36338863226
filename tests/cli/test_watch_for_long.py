"""A watch of many runs in which the network, the disk, credentials and Java fail, and the machine sleeps, as it is drawn."""

import errno
import gc
import os
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cli import watch as watching_command
from cli.options import Everywhere
from cli.watch import _Work
from cli.watching import Watch
from forensics.errors import CredentialsError, EndpointUnreachableError, SparkEndedError
from forensics.lake import Lake, data_files
from forensics.settings import Settings
from forensics.tables import BY_NAME
from forensics.tables import findings as T
from ingest.clients import AwsRefusedError
from spark_jobs import runner
from spark_jobs.carrier import Here
from tests.ingest.model_account import GROUP, QUEUE, ModelAccount

pytestmark = pytest.mark.slow

RUNS = int(os.environ.get("DOUBLETAKE_WATCH_RUNS", "45"))
"""In the suite; `make soak` does 500."""
MOST_MORE_BYTES = 100_000_000
SEED = 20
T0 = datetime(2026, 11, 20, 5, tzinfo=UTC)
CORRELATE = runner.correlate
TABLES = (T.DELIVERIES, T.MESSAGES, T.REDELIVERIES, T.INCIDENTS)


def received(number: int, count: int) -> str:
    message_id = f"{number:08x}-0000-4000-8000-000000000000"
    return str({"MessageId": message_id, "Body": "{}", "Attributes": {"ApproximateReceiveCount": str(count)}})


FAULTS = ("network", "credentials", "throttled", "java", "disk", "panic")
SAID = ("nothing answers", "refuses these credentials", "Java ended", "disk is full", "No space left")


class FailingPanic(BaseException):
    """What a library in Rust ends with on a full disk: no Exception to Python."""


class Story:
    """Time, an account that logs as time goes by, and what goes wrong with the machine in each run."""

    def __init__(self, folder: Path, draw: random.Random) -> None:
        self.draw, self.now = draw, T0 + timedelta(hours=6)
        self.account = ModelAccount([])
        self.lake = Lake(folder / "lake")
        self.fault: str | None = None
        self.number = 0
        self.lines: list[str] = []
        self.sizes: list[int] = []
        self.deck: list[str] = []
        self.log(T0 + timedelta(minutes=1))

    def log(self, at: datetime) -> None:
        self.number += 1
        count = 2 if self.number % 3 == 0 else 1
        self.account.events.append((at, "worker", received(self.number - (count == 2), count)))

    def call(self, service: str, operation: str, demand: str | None = None, **asked: Any) -> dict[str, Any]:
        if self.fault == "network":
            raise EndpointUnreachableError("nothing answers at the AWS endpoint", "Check the network.")
        if self.fault == "credentials":
            raise CredentialsError("AWS refuses these credentials", "Sign in again.")
        if self.fault == "throttled" and operation == "filter_log_events":
            raise AwsRefusedError("FilterLogEvents", "ThrottlingException", "not now", "failed", True)
        return getattr(self.account, operation)(**asked)

    def correlate(self, *args: Any, **named: Any) -> Any:
        if self.fault == "java":
            raise SparkEndedError("Spark's Java ended while it was needed (status -9); nothing was published.")
        named.pop("spark", None)
        return CORRELATE(*args, **named, carrier=Here())

    def write(self, write: Callable[..., Any], *args: Any) -> Any:
        if self.fault == "disk":
            raise OSError(errno.ENOSPC, "No space left on device")
        if self.fault == "panic":
            raise FailingPanic("called Result::unwrap() on an Err value: No space left on device")
        return write(*args)

    def wait(self, seconds: float) -> bool:
        """Let time go on, sometimes far longer than was asked for: the machine slept."""
        before = self.now
        self.now += timedelta(seconds=seconds)
        if self.draw.random() < 0.02:
            self.now += timedelta(hours=self.draw.uniform(1, 20))
        for _ in range(self.draw.choice((0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2))):
            self.log(before + (self.now - before) * self.draw.random())
        self.account.events.sort()
        self.account.asked.clear()
        if self.fault is None and self.draw.random() < 0.25:
            if not self.deck:
                self.deck = self.draw.sample(FAULTS, len(FAULTS))
            self.fault = self.deck.pop()
        elif self.draw.random() < 0.6:
            self.fault = None
        if len(self.lines) % 10 == 0:
            gc.collect()
            self.sizes.append(resident_bytes())
        return False


def resident_bytes() -> int:
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if statm.exists() else 0


def rows(lake: Lake, table: Any) -> list[str]:
    return sorted(map(str, lake.findings().read(table).to_pylist()))


def test_whatever_fails_on_the_way_the_evidence_is_whole_and_judged_as_if_from_nothing(tmp_path, monkeypatch):
    story = Story(tmp_path, random.Random(SEED))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(watching_command, "accesses", lambda chosen, settings: [story.account])
    monkeypatch.setattr(story.account, "call", story.call)
    monkeypatch.setattr(runner, "correlate", story.correlate)
    monkeypatch.setattr(data_files, "write", partial(story.write, data_files.write))
    monkeypatch.setattr(_Work, "_spark", lambda self: None)
    work = _Work(Everywhere(lake=str(story.lake.root)), [QUEUE], "6h", [f"{GROUP}={QUEUE}"], None)
    watch = Watch(
        work.one_run, 60, story.wait, story.lines.append, lambda: story.now, lambda: story.now.timestamp(), RUNS
    )

    assert watch.run() == RUNS
    story.fault = None
    story.now += timedelta(minutes=20)
    work.one_run(story.now)

    stored = story.lake.read(BY_NAME["log_events"], ["line"])["line"].to_pylist()
    assert sorted(stored) == sorted(line for _, _, line in story.account.events)
    found = {table.name: rows(story.lake, table) for table in TABLES}
    assert found["deliveries"]
    CORRELATE(story.lake, Settings(), carrier=Here(), force=True)
    assert {table.name: rows(story.lake, table) for table in TABLES} == found

    failed = [line for line in story.lines if "Trying again" in line]
    assert len({words for words in SAID for line in failed if words in line}) >= 3
    assert len(story.lines) == RUNS
    assert max(story.sizes[-3:]) < story.sizes[2] + MOST_MORE_BYTES, f"memory follows the runs: {story.sizes}"
