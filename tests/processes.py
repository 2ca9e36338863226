"""All tests in several processes: ``python -m tests.processes 3 -m "not slow"`` runs pytest in three.

Each takes files that no other has taken until none is left, and reads in no others.

Beside pytest-xdist, whose processes collect every file each and hand on every report: of many short tests that is a third of the time.
"""

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import pytest

from tests.compiled import ROOT, compile_sources, files_of_tests
from tests.left_out import left_out
from tests.parsed import READERS
from tests.plain import passes
from tests.threads import set_fewest

OPTION = "--one-of"
TOGETHER = {
    "tests/spark_jobs/test_reuse.py": "in rounds",
    "tests/pages/in_browser/": "in a browser",
    "tests/spark_jobs/test_canary.py": "of many worlds",
    "tests/spark_jobs/test_drawn.py": "of many worlds",
    "tests/spark_jobs/test_imported.py": "of many worlds",
    "tests/spark_jobs/test_mutants.py": "of many worlds",
    "tests/spark_jobs/test_queue_findings_truth.py": "of many worlds",
    "tests/spark_jobs/test_runner.py": "of many worlds",
    "tests/spark_jobs/test_small_worlds.py": "of many worlds",
    "tests/spark_jobs/test_truth.py": "of many worlds",
    "tests/scenarios/": "on Spark",
    "tests/spark_jobs/test_carried.py": "on Spark",
    "tests/spark_jobs/test_carrier.py": "on Spark",
    "tests/spark_jobs/test_context.py": "on Spark",
    **dict.fromkeys(READERS, "of sources"),
}
"""What runs in one process, by how its path begins: what is made there once, a Java, a server or many lakes, is made for all."""
LONG = (
    "tests/spark_jobs/test_reuse.py",
    "tests/pages/in_browser/",
    "tests/scenarios/",
    "tests/spark_jobs/test_truth.py",
    "tests/spark_jobs/test_cluster.py",
    "tests/ingest/test_odd_replies.py",
    "tests/spark_jobs/test_screen.py",
    "tests/spark_jobs/test_joins.py",
    "tests/forensics/suggestions/test_unnamed_guards.py",
    "tests/spark_jobs/test_java_failures.py",
    "tests/ingest/test_collect.py",
    "tests/test_wheel.py",
    "tests/cli/test_demo.py",
    "tests/ingest/test_crashes.py",
    "tests/ingest/test_sources.py",
    "tests/forensics/counting/test_fifo_groups.py",
    "tests/pages/test_pages.py",
    "tests/forensics/report/test_in_browser.py",
    "tests/pages/test_states.py",
    "tests/cli/test_serve.py",
    "tests/cli/test_watch_for_long.py",
    "tests/cli/test_program.py",
    "tests/cli/test_watch.py",
    "tests/test_sign_in.py",
)
"""What takes five seconds of processor time or more, a browser's and a server's included, longest first: begun last, it would
keep one process at work while the others have nothing left. After it the files go by their size."""
_NUMBER_BYTES = 2


def groups(files: Sequence[Path]) -> list[list[Path]]:
    """Return what is taken at once, in the order in which it is begun."""
    by_name: dict[str, list[Path]] = {}
    for file in files:
        by_name.setdefault(_group(_name(file)), []).append(file)
    return sorted(by_name.values(), key=lambda group: (_rank(group), -sum(file.stat().st_size for file in group)))


def _group(name: str) -> str:
    return next((group for start, group in TOGETHER.items() if name.startswith(start)), name)


def _rank(files: Sequence[Path]) -> int:
    names = [_name(file) for file in files]
    return next((rank for rank, start in enumerate(LONG) if any(name.startswith(start) for name in names)), len(LONG))


def _name(file: Path) -> str:
    return str(file).removeprefix(f"{ROOT}/")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run be told which of how many it is, where it takes files from, and whom it tells."""
    parser.addoption(OPTION, metavar="NUMBER,COUNT,TAKE,TELL", help="for tests.processes")


def pytest_configure(config: pytest.Config) -> None:
    """Take files from a pipe, where others take them, too."""
    if said := config.getoption(OPTION):
        number, count, take, tell = map(int, said.split(","))
        compile_sources(number, count)
        config.pluginmanager.register(_OneOfSeveral(take, tell, config.option.markexpr))


class _OneOfSeveral:
    """Collects and runs group after group, as many as it gets."""

    def __init__(self, take: int, tell: int, marks: str) -> None:
        for pipe in (take, tell):
            os.set_inheritable(pipe, False)  # what tests leave running would keep it open
        self._take, self._tell = take, tell
        files = files_of_tests()
        self._groups = groups(files)
        self._left_out = left_out(files, marks)
        self._folders = {folder for file in files if file not in self._left_out for folder in file.parents}
        self._modules: dict[Path, pytest.Module] = {}
        self._is_listing = False
        self._has_taken = False
        self._told: Counter[str] = Counter()
        self._collected = 0

    def _say(self, **said: Any) -> None:
        os.write(self._tell, json.dumps({"process": os.getpid(), **said}).encode() + b"\n")

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> bool:
        """Collect the next group, the same as for any other process; nothing where none is left."""
        if not self._modules:
            self._is_listing = True
            session.perform_collect()
            self._is_listing = False
        number = os.read(self._take, _NUMBER_BYTES)
        self._has_taken = bool(number)
        group = self._groups[int.from_bytes(number)] if number else []
        asked_for = [module for file in group if (module := self._modules.get(file))]
        session.items = [item for module in asked_for for item in session.genitems(module)]
        hook = session.config.hook
        hook.pytest_collection_modifyitems(session=session, config=session.config, items=session.items)
        hook.pytest_collection_finish(session=session)
        self._collected += len(session.items)
        return True

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leave what no test is asked for of unread, and the fixtures of folders that hold nothing else."""
        is_left_out = collection_path in self._left_out or (
            collection_path.is_dir() and collection_path not in self._folders
        )
        return is_left_out or None

    @pytest.hookimpl(tryfirst=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> pytest.CollectReport | None:
        """Leave every file unread until it is taken: the folders around them are collected once, for theirs are the fixtures."""
        if not self._is_listing or not isinstance(collector, pytest.Module):
            return None
        self._modules[collector.path] = collector
        return pytest.CollectReport(collector.nodeid, "passed", None, [])

    def _items(self, session: pytest.Session) -> Iterator[pytest.Item]:
        while self._has_taken:
            yield from session.items
            self._say(counts=self._counts(session), of_group=True)
            session.config.hook.pytest_collection(session=session)

    def _has_passed(self, item: pytest.Item) -> None:
        report = pytest.TestReport(item.nodeid, item.location, {}, "passed", None, "call")
        self._reporter(item).stats.setdefault("passed", []).append(report)

    def _reporter(self, of: pytest.Item | pytest.Session) -> Any:
        return of.config.pluginmanager.get_plugin("terminalreporter")

    def _counts(self, session: pytest.Session) -> dict[str, int]:
        """Return how many tests came out how since this was asked before."""
        reporter = self._reporter(session)
        now = Counter({name: len(reports) for name, reports in reporter.stats.items() if name})
        since, self._told = now - self._told, now
        return dict(since)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run every test of each group, and collect the next before the last of them lets go of what all share."""
        if session.config.option.collectonly:
            return True
        items = self._items(session)
        item, file = next(items, None), None
        while item is not None:
            if item.path != file:
                file = item.path
                self._say(begun=_name(file))
            following = next(items, None)
            if passes(item, following):
                self._has_passed(item)
            else:
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.shouldfail or session.shouldstop:
                raise session.Interrupted(session.shouldfail or session.shouldstop)
            item = following
        self._say(counts=self._counts(session), of_group=False)  # of the very last test
        session.testscollected = self._collected
        return True

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Count what passed, and write nothing of it: to write ten thousand dots took a twentieth of the quick check's time."""
        return ("passed", "", "") if report.passed and report.when == "call" else None


class _Progress:
    """What the processes have told: a dot for each group that is over, and the sum of all counts."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.running: dict[int, str] = {}
        self._rest = b""

    def hear(self, told: bytes) -> None:
        *lines, self._rest = (self._rest + told).split(b"\n")
        for line in lines:
            said = json.loads(line)
            if "begun" in said:
                self.running[said["process"]] = said["begun"]
            else:
                self.counts.update(said["counts"])
                has_failed = {"failed", "error"} & {*said["counts"]}
                sys.stdout.write("F" if has_failed else "." if said["of_group"] else "")
                sys.stdout.flush()


def main(argv: Sequence[str]) -> int:
    """Run as many processes as the first word says, what each prints by itself behind it; returns 1 where any of them failed."""
    count, *args = argv
    began_at_s = time.monotonic()
    progress = _Progress()
    with ExitStack() as open_files:
        take, tell, listen = _pipes(len(groups(files_of_tests())), open_files)
        printed, running = [], []
        for number in range(int(count)):
            command = [sys.executable, "-m", __spec__.name, *args, OPTION, f"{number},{count},{take},{tell}"]
            printed.append(open_files.enter_context(tempfile.TemporaryFile()))
            running.append(subprocess.Popen(command, stdout=printed[-1], pass_fds=(take, tell)))
        _follow(running, listen, progress)
        for process, lines in zip(running, printed, strict=True):
            _print(process, lines, progress)
    ordered = sorted(progress.counts, key=lambda name: (name != "passed", name))
    counts = ", ".join(f"{progress.counts[name]} {name}" for name in ordered if name != "warnings")
    print(f"{counts or 'no tests ran'} in {time.monotonic() - began_at_s:.2f}s ({count} processes)")
    return int(
        any(process.returncode not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) for process in running)
    )


def _one_of_them(argv: Sequence[str]) -> int:
    set_fewest()  # before polars is imported
    from forensics.counting.in_this_thread import in_this_thread

    return in_this_thread(lambda: pytest.main([*argv]))


def _pipes(count: int, open_files: ExitStack) -> tuple[int, int, int]:
    """Return where numbers of groups are taken from, where processes tell, and where that is heard."""
    take, numbers = os.pipe()
    os.write(numbers, b"".join(number.to_bytes(_NUMBER_BYTES) for number in range(count)))
    os.close(numbers)
    listen, tell = os.pipe()
    os.set_blocking(listen, False)
    for pipe in (take, tell, listen):
        open_files.callback(os.close, pipe)
    return take, tell, listen


def _follow(running: Sequence[subprocess.Popen[bytes]], listen: int, progress: _Progress) -> None:
    with selectors.DefaultSelector() as told:
        told.register(listen, selectors.EVENT_READ)
        while True:
            have_ended = all(process.poll() is not None for process in running)
            if told.select(timeout=0 if have_ended else 0.2):
                progress.hear(os.read(listen, 65_536))
            elif have_ended:
                break
    print()


def _print(process: subprocess.Popen[bytes], printed: IO[bytes], progress: _Progress) -> None:
    sys.stdout.flush()
    printed.seek(0)
    sys.stdout.buffer.write(printed.read())
    if process.returncode < 0:
        ended = signal.Signals(-process.returncode).name
        file = progress.running.get(process.pid, "its first file")
        print(f"a process ended with {ended} in {file}, or while it read in the next")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit((_one_of_them if OPTION in sys.argv else main)(sys.argv[1:]))
