"""The quick check in shares: together they are all tests, each once, and one that fails makes the check fail."""

import pytest

from tests import shares
from tests.compiled import files_of_tests

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


def test_shares_are_all_files_and_each_is_of_one():
    every = files_of_tests()

    assert sorted(file for number in range(2) for file in every[number::2]) == sorted(every)


def test_each_process_runs_its_files_and_one_that_fails_makes_all_fail(folder, capfdbinary):
    failed = shares.main(["2"])

    told = capfdbinary.readouterr().out.decode()
    assert failed == 1
    assert "1 failed, 2 passed" in told and "2 passed" in told.replace("1 failed, 2 passed", "")


def test_where_all_pass_so_does_the_check_though_a_share_has_nothing_to_run(folder, capfdbinary):
    assert shares.main(["3", "-k", "test_b or test_a"]) == 0

    assert capfdbinary.readouterr().out.decode().count("1 passed") == 2
