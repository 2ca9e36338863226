"""Tests in shares: ``python -m tests.shares 2 -m "not slow"`` runs pytest in two processes, each over half of the files.

Beside pytest-xdist, whose processes collect every file each and hand on every report: of many short tests that is a third of the time.
What passed is counted at the end, and has no dot of its own: to write ten thousand took a twentieth of the time.
"""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.compiled import ROOT, files_of_tests
from tests.parsed import READERS

OPTION = "--share"
SECONDS = {
    "tests/cli/test_japanese.py": 3.2,
    "tests/cli/test_named_commands.py": 1.9,
    "tests/cli/test_narrow.py": 2,
    "tests/forensics/charts/test_figures.py": 3.7,
    "tests/forensics/counting/test_periods.py": 1.3,
    "tests/forensics/counting/test_recent.py": 1,
    "tests/forensics/redrive/test_script.py": 1.1,
    "tests/forensics/report/test_language.py": 1.4,
    "tests/forensics/suggestions/test_outcomes.py": 1.4,
    "tests/forensics/test_bodies.py": 2.1,
    "tests/forensics/test_language.py": 1,
    "tests/forensics/test_language_errors.py": 1.3,
    "tests/forensics/test_redaction.py": 1.6,
    "tests/forensics/test_regions.py": 1.5,
    "tests/forensics/test_said_answers.py": 1.1,
    "tests/ingest/test_file_parts.py": 1.1,
    "tests/oracle/test_untold.py": 1.5,
    "tests/spark_jobs/test_queue_findings.py": 1.2,
    "tests/spark_jobs/test_screen.py": 5,
    "tests/test_docs.py": 1.5,
}
"""What the quick check takes for the files that cost a second and more, two of them at a time."""
BYTES_PER_SECOND = 120_000
"""Of the rest this much is read, and what it says is tested, in a second: their sizes tell which cost more."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run be told which share of the files is its own."""
    parser.addoption(
        OPTION,
        metavar="N/COUNT",
        help="collect the Nth of COUNT shares of the test files, which take about as long each",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Leave the files of other shares out, unread."""
    if said := config.getoption(OPTION):
        number, count = map(int, said.split("/"))
        config.pluginmanager.register(_Share(set(files_of_tests()) - set(dealt(files_of_tests(), count)[number - 1])))


class _Share:
    """Leaves out what other processes collect."""

    def __init__(self, others: set[Path]) -> None:
        self._others = others

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Ignore a file of another share; of any other path others decide."""
        return True if collection_path in self._others else None

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Count what passed, and write nothing of it."""
        return ("passed", "", "") if report.passed and report.when == "call" else None


def dealt(files: Sequence[Path], count: int) -> list[list[Path]]:
    """Deal files out to shares, what takes longest first, each to the one that has least; what reads sources stays together."""
    shares: list[list[Path]] = [[] for _ in range(count)]
    taken_s = [0.0] * count
    readers = [file for file in files if _name(file) in READERS]
    rest = [[file] for file in files if _name(file) not in READERS]
    for together in sorted([readers, *rest], key=_seconds, reverse=True):
        least = taken_s.index(min(taken_s))
        shares[least] += together
        taken_s[least] += _seconds(together)
    return shares


def _seconds(files: Sequence[Path]) -> float:
    return sum(SECONDS.get(_name(file)) or file.stat().st_size / BYTES_PER_SECOND for file in files)


def _name(file: Path) -> str:
    return str(file).removeprefix(f"{ROOT}/")


def main(argv: Sequence[str]) -> int:
    """Run the shares at once, what each prints by itself; returns 1 where any of them failed; one may have nothing to run."""
    count, *args = argv
    command = [sys.executable, "-m", "pytest", *args]
    running = [
        subprocess.Popen([*command, OPTION, f"{number}/{count}"], stdout=subprocess.PIPE if number > 1 else None)
        for number in range(1, int(count) + 1)
    ]
    for process in running:
        told, _ = process.communicate()
        sys.stdout.buffer.write(told or b"")
        sys.stdout.buffer.flush()
    return int(
        any(process.returncode not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) for process in running)
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
