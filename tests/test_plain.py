"""Tests that are called as they stand: those that ask for nothing, and what comes of them is what pytest says."""

import pytest

from tests.plain import passes

pytest_plugins = ["pytester"]

_SOURCE = """
import pytest

times = []

@pytest.fixture
def a(): return 0

@pytest.fixture(params=[1])
def each(request): pass

def test_nothing(): assert not times
@pytest.mark.parametrize('a, b', [(1, 2)])
def test_two_parameters_at_once(a, b): assert (a, b) == (1, 2)
@pytest.mark.parametrize(['b'], [[1]])
@pytest.mark.parametrize('c', [2])
def test_parameters_one_by_one(b, c): assert (b, c) == (1, 2)
@pytest.mark.parametrize('b', [pytest.param(1, marks=pytest.mark.lately)])
def test_a_mark_that_says_what_it_is(b): assert b == 1
@pytest.mark.parametrize('a', [1])
def test_a_parameter_instead_of_a_fixture(a): assert a == 1

def test_for_pytest_a_fixture(a): pass
def test_for_pytest_a_fixture_with_parameters(each): pass
@pytest.mark.parametrize('a', [1], indirect=True)
def test_for_pytest_a_parameter_by_way_of_a_fixture(a): pass
@pytest.mark.parametrize('b', [1])
def test_for_pytest_a_parameter_beside_a_fixture(a, b): pass
@pytest.mark.usefixtures('a')
def test_for_pytest_a_fixture_by_a_mark(): pass
@pytest.mark.skip
def test_for_pytest_skipped(): pass
@pytest.mark.skipif(True, reason='so')
def test_for_pytest_skipped_for_a_reason(): pass
@pytest.mark.xfail
def test_for_pytest_expected_to_fail(): pass
@pytest.mark.parametrize('b', [pytest.param(1, marks=pytest.mark.xfail)])
def test_for_pytest_one_parameter_is_expected_to_fail(b): pass
@pytest.mark.filterwarnings('error')
def test_for_pytest_with_warnings(): pass

def test_for_pytest_fails(): assert False
def test_for_pytest_fails_by_its_own_word(): pytest.fail()
def test_for_pytest_skips_itself(): pytest.skip()
def test_for_pytest_ends_the_process(): raise SystemExit
def test_for_pytest_fails_the_first_time():
    times.append(1)
    assert len(times) != 1, 'as it did the first time'
def test_for_pytest_the_last(): pass
"""


class _Calling:
    """Calls every test as it stands before pytest runs it."""

    def __init__(self):
        self.passed, self.left = [], []

    def pytest_runtest_protocol(self, item, nextitem):
        (self.passed if passes(item, nextitem) else self.left).append(item.originalname)


@pytest.fixture
def calling(pytester, monkeypatch):
    """What called these tests, and what then came of them when pytest ran all."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(
        test_a=_SOURCE,
        test_of_all="import pytest\n@pytest.fixture(autouse=True)\ndef all(): pass\ndef test_for_pytest_all(): pass\n",
        test_set_up="def setup_function(): pass\ndef test_for_pytest_set_up(): pass\ndef test_for_pytest_too(): pass",
    )
    found = _Calling()
    return found, pytester.inline_run("-W", "ignore", "-p", "no:logging", plugins=[found])


def test_what_asks_for_nothing_but_its_own_parameters_passes_as_it_stands_and_all_else_is_left_to_pytest(calling):
    found, ran = calling
    failed = {report.nodeid.split("::")[1]: str(report.longrepr) for report in ran.getfailures()}

    assert len(found.passed) == 5 and not [name for name in found.passed if "for_pytest" in name]
    assert len(found.left) == 19 and all("for_pytest" in name for name in found.left)
    assert {*failed} == {
        "test_for_pytest_fails",
        "test_for_pytest_fails_by_its_own_word",
        "test_for_pytest_ends_the_process",
        "test_for_pytest_fails_the_first_time",
    }
    assert "as it did the first time" in failed["test_for_pytest_fails_the_first_time"]
