"""A run of all tests in several processes compiles each source once: every process its share first, then it finds those of the others."""

import compileall
import importlib
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("cli", "doubletake", "forensics", "ingest", "lab", "pages", "spark_jobs", "tests")


def _by_size() -> list[Path]:
    every = (file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py"))
    return sorted(every, key=lambda file: (-file.stat().st_size, file))


@cache
def files_of_tests() -> list[Path]:
    """Return the files with tests, the longest first."""
    return [file for file in _by_size() if file.name.startswith("test_")]


def share(number: int, count: int) -> tuple[list[Path], list[str]]:
    """Return which sources one of ``count`` processes compiles, and which test modules it imports before it collects all.

    Of all sizes each has as many.
    """
    sources = [file for file in _by_size() if not file.name.startswith("test_")]
    names = [".".join(file.relative_to(ROOT).with_suffix("").parts) for file in files_of_tests()]
    return sources[number::count], names[number::count]


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Compile a share where everything is going to be imported; a test module as pytest rewrites it, by importing it."""
    config = session.config
    worker = getattr(config, "workerinput", None)
    if worker is None or sys.dont_write_bytecode or config.args != config.getini("testpaths"):
        return
    sources, names = share(int(worker["workerid"].removeprefix("gw")), worker["workercount"])
    for source in sources:
        compileall.compile_file(source, quiet=2)
    capture = config.pluginmanager.get_plugin("capturemanager")
    capture.resume_global_capture()
    for name in names:
        with suppress(Exception, pytest.skip.Exception):  # what is wrong with it is told when it is collected
            importlib.import_module(name)
    capture.suspend_global_capture()
    capture.read_global_capture()
