"""Tests in shares: ``python -m tests.shares 2 -m "not slow"`` runs pytest in two processes, each over every second file.

Beside pytest-xdist, whose processes collect every file each and hand on every report: of many short tests that is a third of the time.
"""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.compiled import files_of_tests

OPTION = "--share"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run be told which share of the files is its own."""
    parser.addoption(
        OPTION,
        metavar="N/COUNT",
        help="collect the Nth of COUNT shares of the test files; of all sizes each has as many",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Leave the files of other shares out, unread."""
    if said := config.getoption(OPTION):
        number, count = map(int, said.split("/"))
        config.pluginmanager.register(_Others(set(files_of_tests()) - set(files_of_tests()[number - 1 :: count])))


class _Others:
    """Files that other processes collect."""

    def __init__(self, files: set[Path]) -> None:
        self._files = files

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Ignore a file of another share; of any other path others decide."""
        return True if collection_path in self._files else None


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
