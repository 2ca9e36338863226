"""watch: a run at an interval, longer waits after failures, a clean end, one line per run."""

import errno
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

import cli
from cli.options import Everywhere
from cli.watch import _Work
from cli.watching import LONGEST_BACK_OFF_S, SLOW_EVERY, Watch, WatchRun, must_judge
from forensics.errors import EndpointUnreachableError, LakeBusyError, QueueUnknownError
from forensics.lake import Generation, Lake
from forensics.settings import Settings
from forensics.tables import BY_NAME
from ingest.coverage import Reading
from tests.ingest import world as worlds
from tests.ingest.world import CREDENTIALS, REGION, World
from tests.waiting import PATIENCE_S

NOW = datetime(2026, 11, 20, 5, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
ROOT = Path(__file__).parents[2]


def generation(number: int = 1) -> Generation:
    return Generation(f"{number:064x}"[::-1], {}, {}, {}, "1", NOW)


class Told:
    """A watch on a played clock: each run takes what it is told to, waiting moves the clock."""

    def __init__(self, *runs, interval_s: float = 60, took_s: float = 2):
        self.lines, self.waits, self.starts = [], [], []
        self.clock_s, self.took_s, self.left = 0.0, took_s, list(runs)
        self.watch = Watch(
            self.one_run, interval_s, self.wait, self.lines.append, lambda: NOW, lambda: self.clock_s, None
        )

    def one_run(self, now):
        self.starts.append(self.clock_s)
        self.clock_s += self.took_s
        done = self.left.pop(0)
        if isinstance(done, BaseException):
            raise done
        return done

    def wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        self.clock_s += seconds
        return not self.left


def test_rounds_begin_at_the_interval_however_long_one_takes():
    told = Told(WatchRun(), WatchRun(), WatchRun())

    assert told.watch.run() == 3
    assert told.starts == [0, 60, 120]


def test_a_round_longer_than_the_interval_is_followed_at_once():
    told = Told(WatchRun(), WatchRun(), took_s=90)
    told.watch.run()

    assert told.starts == [0, 90]


def test_each_round_is_one_line():
    told = Told(
        WatchRun(120, 0, generation(1), True, (("a-1", "7 of 10"),)),
        WatchRun(0, 1, generation(1), False, (("b-2", "3 of 4\nforged"), ("a-1", "7 of 10"))),
    )
    told.watch.run()

    assert told.lines[0] == (
        "2026-11-20T05:12:00Z  120 new log events, 1 incident, data version 100000000000, "
        "evidence until 2026-11-20T05:12:00Z; 2.0 s."
    )
    assert "1 source not readable, 2 incidents, data version 100000000000 as before" in told.lines[1]
    assert told.lines[1].endswith("NEW b-2: 3 of 4\nforged")  # escaped where it is printed


def test_failures_are_told_and_waited_for_ever_longer_until_one_round_works():
    down = EndpointUnreachableError("nothing answers at the AWS endpoint x", "Check the network.")
    told = Told(WatchRun(), *[down] * 8, WatchRun(), down, WatchRun())
    told.watch.run()

    longest = [min(60 * 2**n, LONGEST_BACK_OFF_S) for n in range(1, 9)]
    assert all(0.75 * most <= wait <= most for wait, most in zip(told.waits[1:9], longest, strict=True))
    assert told.waits[10] <= 120
    assert "nothing answers at the AWS endpoint x Check the network. Trying again in" in told.lines[1]


@pytest.mark.parametrize("problem", [QueueUnknownError("no queue 'x'"), ValueError("a bug")], ids=["usage", "bug"])
def test_what_only_a_person_can_mend_ends_it_in_the_first_round(problem):
    told = Told(problem, WatchRun())
    with pytest.raises(type(problem)):
        told.watch.run()

    assert told.lines == []


def test_a_full_disk_is_told_and_waited_for_but_not_in_the_first_round():
    full = OSError(errno.ENOSPC, "No space left on device", "/lake/evidence")
    told = Told(WatchRun(), full, WatchRun())

    assert told.watch.run() == 3
    assert "'/lake/evidence': No space left on device. Trying again in" in told.lines[1]
    with pytest.raises(OSError, match="No space left"):
        Told(full, WatchRun()).watch.run()


def test_a_lake_that_another_process_writes_is_waited_for():
    told = Told(LakeBusyError("another process is writing"), WatchRun())

    assert told.watch.run() == 2


VERSIONS = {"log_events": 4, "coverage": 9, "metric_points": 3}
JUDGE = {
    "nothing judged yet": (None, VERSIONS, None, True),
    "nothing new": (VERSIONS, VERSIONS, NOW - timedelta(days=1), False),
    "a new log event": (VERSIONS | {"log_events": 3}, VERSIONS, NOW, True),
    "a table that is new": (VERSIONS, VERSIONS | {"annotations": 0}, NOW, True),
    "read again, nothing found, just judged": (VERSIONS | {"coverage": 8}, VERSIONS, NOW - SLOW_EVERY / 2, False),
    "read again, nothing found for long": (VERSIONS | {"coverage": 8}, VERSIONS, NOW - SLOW_EVERY, True),
}


@pytest.mark.parametrize(("before", "versions", "judged_at", "expected"), JUDGE.values(), ids=JUDGE)
def test_a_round_judges_only_what_is_worth_it(before, versions, judged_at, expected):
    assert must_judge(before, versions, judged_at, NOW) is expected


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run_command(*args: str) -> tuple[int, str, str]:
        return cli.main(args), *capsys.readouterr()

    return run_command


BAD = {
    "no queue": (["watch"], "no queue was named"),
    "both": (["watch", "a", "--all-queues"], "not both"),
    "no span": (["watch", "a", "--interval", "often"], "--interval 'often' is not a span"),
    "too short": (["watch", "a", "--interval", "1s"], "not between 5 seconds and a day"),
    "no look back": (["watch", "a", "--since", "long ago"], "--since 'long ago' is not a span"),
}


@pytest.mark.parametrize(("args", "sentence"), BAD.values(), ids=BAD)
def test_bad_input_is_one_sentence(args, sentence, run):
    code, out, err = run(*args)

    assert (code, out) == (2, "")
    assert sentence in err
    assert "Traceback" not in err


@pytest.mark.emulator
@pytest.mark.spark
def test_a_watch_follows_a_queue_and_ends_cleanly_on_sigterm(tmp_path):
    """A process of its own, as systemd would run it: two runs and new lines between them, then SIGTERM."""
    with worlds.ministack() as url:
        world = World(url)
        queue = world.queue("orders")
        function = world.function("handle-order", [queue])
        world.log(f"/aws/lambda/{function}", [(1000, "one")])
        command = [sys.executable, "-m", "cli", "watch", queue, "--interval", "5s", "--since", "6h"]
        command += ["--lake", str(tmp_path / "lake"), "--region", REGION, "--endpoint-url", url]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")} | CREDENTIALS
        environment["JAVA_TOOL_OPTIONS"] = "-XX:TieredStopAtLevel=1"  # compiling for days does not pay in two runs
        errors = (tmp_path / "errors").open("w+")
        watching = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True
        )
        # A line that never comes fails the test, it does not hang it.
        too_long = threading.Timer(2 * PATIENCE_S, watching.kill)
        too_long.start()
        try:
            first = watching.stdout.readline()
            just_now = (datetime.now(UTC) - worlds.START) // timedelta(milliseconds=1)
            world.log(f"/aws/lambda/{function}", [(just_now, "two"), (just_now + 1, "three")])
            later = next((line for line in iter(watching.stdout.readline, "") if "2 new log events" in line), None)
        finally:
            watching.send_signal(signal.SIGTERM)
            code = watching.wait(PATIENCE_S)
            too_long.cancel()
    errors.seek(0)

    assert "1 new log event," in first, errors.read()
    assert later
    assert code == 0
    lake = Lake(tmp_path / "lake")
    assert lake.count(BY_NAME["log_events"]) == 3
    assert lake.generation().inputs["log_events"] == lake.versions()["log_events"]


class Panic(BaseException):
    """What a library in Rust ends with: no Exception to Python."""


def test_a_full_disk_is_waited_for_whoever_says_it_and_a_bug_is_not():
    told = Told(WatchRun(), Panic("called `Result::unwrap()` on an `Err` value: No space left on device"), WatchRun())

    assert told.watch.run() == 3
    assert "The disk is full; nothing is half-written. Trying again in" in told.lines[1]
    with pytest.raises(Panic):
        Told(WatchRun(), Panic("index out of bounds"), WatchRun()).watch.run()
    with pytest.raises(KeyboardInterrupt):
        Told(WatchRun(), KeyboardInterrupt(), WatchRun()).watch.run()


def test_after_a_sleep_longer_than_since_the_next_run_reads_on_where_the_last_whole_one_ended(tmp_path, monkeypatch):
    failed = Reading(BY_NAME["log_events"], "/g", None, None, (), "failed")
    denied = replace(failed, status="denied")
    asked, outcomes = [], [(), (failed,), (denied,), ()]

    def collected(lake, aws, queues, window, *more, now):
        asked.append(((NOW - window.start_at) / HOUR, (NOW - window.end_at) / HOUR))
        return SimpleNamespace(readings=outcomes.pop(0))

    monkeypatch.setattr("ingest.collect.collect", collected)
    work = _Work(Everywhere(lake=str(tmp_path)), ["orders"], "6h", [], None, _aws=[])
    for hours_ago in (40, 20, 10, 0):
        work._collect(Lake(tmp_path), Settings(), NOW - hours_ago * HOUR)

    assert asked == [(46, 40), (40, 20), (40, 10), (10, 0)]
