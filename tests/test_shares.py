"""The quick check in shares: together they are all tests, each once, and one that fails makes the check fail."""

import pytest

from tests import shares
from tests.compiled import ROOT, files_of_tests
from tests.parsed import READERS

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.process


@pytest.fixture
def folder(pytester, monkeypatch):
    """A folder with three files of tests, of which one test fails, whose runs know shares."""
    files = pytester.makepyfile(
        test_short="def test_a(): pass",
        test_longer="def test_b(): pass\ndef test_c(): pass",
        test_longest="def test_d(): pass\ndef test_e(): assert False, 'told by the first'",
    )
    root = files.parent
    pytester.makeconftest(
        f"""
        import sys
        sys.path.insert(0, {str(shares.__file__.removesuffix("/tests/shares.py"))!r})
        from pathlib import Path
        from tests import shares
        from tests.shares import *
        shares.files_of_tests = lambda: sorted(Path({str(root)!r}).glob("test_*.py"), key=lambda f: -f.stat().st_size)
        """
    )
    return root


@pytest.mark.parametrize("count", [1, 2, 5])
def test_shares_are_all_files_and_each_is_of_one(count):
    every = files_of_tests()

    assert sorted(file for share in shares.dealt(every, count) for file in share) == sorted(every)


def test_no_share_takes_much_longer_and_what_reads_sources_is_in_one():
    dealt = shares.dealt(files_of_tests(), 2)

    assert abs(shares._seconds(dealt[0]) - shares._seconds(dealt[1])) < 0.1
    assert {number for number, share in enumerate(dealt) for name in READERS if ROOT / name in share} in ({0}, {1})


@pytest.mark.parametrize("named", [*READERS, *shares.SECONDS])
def test_files_that_are_named_are_there(named):
    assert ROOT / named in files_of_tests()


def test_each_process_runs_its_files_and_one_that_fails_makes_all_fail(folder, capfdbinary):
    failed = shares.main(["2"])

    told = capfdbinary.readouterr().out.decode()
    assert failed == 1
    assert "1 failed, 1 passed" in told and "3 passed" in told


def test_where_all_pass_so_does_the_check_though_a_share_has_nothing_to_run(folder, capfdbinary):
    assert shares.main(["3", "-k", "test_b or test_a"]) == 0

    assert capfdbinary.readouterr().out.decode().count("1 passed") == 2
