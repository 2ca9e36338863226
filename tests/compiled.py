"""A run of all tests in several processes compiles each source once: every process its share first, then it finds those of the others."""

import compileall
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("cli", "doubletake", "forensics", "ingest", "lab", "pages", "spark_jobs", "tests")


def _by_size() -> list[Path]:
    every = (file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py"))
    return sorted(every, key=lambda file: (-file.stat().st_size, file))


@cache
def files_of_tests() -> list[Path]:
    """Return the files with tests, the longest first."""
    return [file for file in _by_size() if file.name.startswith("test_")]


def share(number: int, count: int) -> list[Path]:
    """Return which sources one of ``count`` processes compiles: of all sizes each has as many.

    A file with tests is compiled by pytest, in the one process that runs it.
    """
    return [file for file in _by_size() if not file.name.startswith("test_")][number::count]


def compile_sources(number: int, count: int) -> None:
    """Compile the share of one process, unless nothing compiled is kept."""
    if not sys.dont_write_bytecode:
        for source in share(number, count):
            compileall.compile_file(source, quiet=2)
