"""Tests in several processes: together they are all tests, each once, and one that fails makes the whole run fail."""

import re

import pytest

from tests import processes
from tests.compiled import ROOT, files_of_tests
from tests.parsed import READERS

pytest_plugins = ["pytester"]


@pytest.fixture
def folder(pytester, monkeypatch):
    """A folder with three files of tests, of which one test fails, whose runs know of several processes."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # a third of what so short a run takes
    files = pytester.makepyfile(
        test_short="def test_a(): pass",
        test_longer="def test_b(): pass\ndef test_c(): pass",
        test_longest="def test_d(): pass\ndef test_e(): assert [1] == [2], 'told by the first'",
    )
    knows_of = f"""
        import sys
        sys.path.insert(0, {str(ROOT)!r})
        from pathlib import Path
        from tests import processes
        from tests.processes import *
        processes.compile_sources = lambda number, count: None
        processes.files_of_tests = lambda: sorted(Path({str(files.parent)!r}).rglob("test_*.py"))
        """
    pytester.makeconftest(knows_of)
    monkeypatch.setattr(processes, "files_of_tests", lambda: sorted(files.parent.rglob("test_*.py")))
    return files.parent


def test_groups_are_all_files_and_each_is_of_one():
    every = files_of_tests()

    assert sorted(file for group in processes.groups(every) for file in group) == sorted(every)


def test_what_shares_something_is_of_one_group_and_what_takes_longest_begins():
    named = [[processes._name(file) for file in group] for group in processes.groups(files_of_tests())]

    assert named[0] == ["tests/spark_jobs/test_reuse.py"]
    assert [group for group in named if {*group} & {*READERS}] == [sorted(READERS, key=_largest_first)]
    assert all(len(group) == 1 for group in named[len(processes.LONG) :] if not {*group} & {*READERS})


def _largest_first(name):
    return -(ROOT / name).stat().st_size


@pytest.mark.parametrize("named", [*processes.TOGETHER, *processes.LONG])
def test_files_that_are_named_are_there(named):
    assert any(processes._name(file).startswith(named) for file in files_of_tests())


@pytest.mark.process
def test_every_test_runs_once_and_one_that_fails_makes_all_fail(folder, capfdbinary):
    failed = processes.main(["2"])

    told = capfdbinary.readouterr().out.decode()
    assert failed == 1
    assert re.search(r"4 passed, 1 failed in [\d.]+s \(2 processes\)$", told.strip())
    assert "assert [1] == [2]" in told and told.splitlines()[0].count(".") >= 2 and "F" in told.splitlines()[0]


@pytest.mark.process
def test_where_all_pass_so_does_the_run_though_a_process_has_nothing_to_do(folder, capfdbinary):
    assert processes.main(["4", "-k", "test_b or test_a"]) == 0

    assert "2 passed, 3 deselected in" in capfdbinary.readouterr().out.decode()


@pytest.mark.process
def test_where_files_are_named_only_theirs_run(folder, capfdbinary):
    assert processes.main(["2", "test_longer.py", "test_short.py"]) == 0

    assert "3 passed in" in capfdbinary.readouterr().out.decode()


@pytest.mark.process
def test_a_file_that_cannot_be_read_in_is_told_and_the_others_run(folder, capfdbinary):
    (folder / "test_broken.py").write_text("import there_is_none")

    assert processes.main(["1"]) == 1

    told = capfdbinary.readouterr().out.decode()
    assert "No module named 'there_is_none'" in told
    assert "4 passed" in told.splitlines()[-1] and "1 error" in told.splitlines()[-1]


@pytest.mark.process
def test_a_process_that_dies_is_told_with_the_file_it_died_in(folder, capfdbinary):
    (folder / "test_deadly.py").write_text("import os\ndef test_it(): os.kill(os.getpid(), 9)")

    assert processes.main(["2"]) == 1

    assert re.search(r"ended with SIGKILL in \S*test_deadly\.py", capfdbinary.readouterr().out.decode())


@pytest.mark.process
def test_what_all_tests_share_lives_as_long_as_its_process(folder, capfdbinary):
    shared = "@pytest.fixture(scope='session')\ndef once():\n    yield object()\n"
    conftest = folder / "conftest.py"
    conftest.write_text(f"{conftest.read_text()}\nimport pytest\n{shared}")
    for name in "xyz":
        (folder / f"test_{name}.py").write_text(
            f"import builtins\ndef test_{name}(once):\n    assert builtins.__dict__.setdefault('seen', once) is once\n"
        )

    assert processes.main(["1", "-k", "test_x or test_y or test_z"]) == 0

    assert "3 passed" in capfdbinary.readouterr().out.decode()


@pytest.mark.process
def test_a_file_of_which_no_test_is_asked_for_is_not_even_read_in(folder, capfdbinary):
    unread = folder / "slow" / "test_unread.py"
    unread.parent.mkdir()
    unread.write_text("import there_is_none\nimport pytest\n\npytestmark = pytest.mark.slow\n")
    (unread.parent / "conftest.py").write_text("import there_is_none")

    assert processes.main(["1", "-k", "test_b", "-m", "not slow"]) == 0

    assert "1 passed, 4 deselected in" in capfdbinary.readouterr().out.decode()


@pytest.mark.process
def test_a_file_that_a_run_asks_for_is_read_in_whatever_folder_it_stands_in(folder, capfdbinary):
    asked_for = folder / "slow" / "test_asked_for.py"
    asked_for.parent.mkdir()
    asked_for.write_text("import pytest\n\npytestmark = pytest.mark.slow\n\ndef test_f(): pass\n")

    assert processes.main(["1", "-k", "test_b or test_f", "-m", "not lake"]) == 0

    assert "2 passed, 4 deselected in" in capfdbinary.readouterr().out.decode()
