"""Tests that are called as they stand: those that ask for nothing, and what comes of them is what pytest says."""

import re

import pytest

from tests.plain import passes

pytest_plugins = ["pytester"]


@pytest.fixture
def items(pytester):
    """Return the tests of a source, by name; one behind them is of the same file."""

    def collected(source):
        return {item.name: item for item in pytester.getitems(f"import pytest\n{source}\ndef test_behind(): pass")}

    return collected


@pytest.mark.parametrize(
    "source",
    [
        "def test_it(): assert {}.setdefault(1, 2) == 2",
        "@pytest.mark.parametrize('a, b', [(1, 2)])\ndef test_it(a, b): assert (a, b) == (1, 2)",
        "@pytest.mark.parametrize(['a'], [[1]])\n@pytest.mark.parametrize('b', [2])\ndef test_it(a, b): assert (a, b) == (1, 2)",
        "@pytest.mark.parametrize('a', [pytest.param(1, marks=pytest.mark.slow)])\ndef test_it(a): assert a == 1",
        "@pytest.fixture\ndef a(): return 0\n@pytest.mark.parametrize('a', [1])\ndef test_it(a): assert a == 1",
    ],
    ids=["nothing", "two at once", "one by one", "with a mark that says what it is", "instead of a fixture"],
)
def test_a_test_that_asks_for_nothing_but_its_parameters_passes_as_it_stands(items, source):
    [test, behind] = items(source).values()

    assert passes(test, behind)


_A = "@pytest.fixture\ndef a(): pass\n"


@pytest.mark.parametrize(
    "source",
    [
        f"{_A}def test_it(a): pass",
        "@pytest.fixture(autouse=True)\ndef a(): pass\ndef test_it(): pass",
        "@pytest.fixture(params=[1])\ndef a(request): pass\ndef test_it(a): pass",
        f"{_A}@pytest.mark.parametrize('a', [1], indirect=True)\ndef test_it(a): pass",
        f"{_A}@pytest.mark.parametrize('b', [1])\ndef test_it(a, b): pass",
        "def setup_function(): pass\ndef test_it(): pass",
        "@pytest.mark.skip\ndef test_it(): pass",
        "@pytest.mark.xfail\ndef test_it(): pass",
        "@pytest.mark.skipif(True, reason='so')\ndef test_it(): pass",
        "@pytest.mark.usefixtures('tmp_path')\ndef test_it(): pass",
        "@pytest.mark.parametrize('a', [pytest.param(1, marks=pytest.mark.xfail)])\ndef test_it(a): pass",
        "def test_it(): assert False",
        "def test_it(): pytest.skip()",
        "def test_it(): raise SystemExit",
    ],
)
def test_any_other_is_left_to_pytest(items, source):
    test, *_, behind = items(source).values()

    assert not passes(test, behind)


def test_the_last_of_its_file_is_left_to_pytest_which_ends_there_what_the_file_shares(pytester):
    pytester.makepyfile(test_a="def test_it(): pass\ndef test_last(): pass", test_b="def test_elsewhere(): pass")
    [test, last, elsewhere], _ = pytester.inline_genitems()

    assert passes(test, last)
    assert not passes(last, elsewhere)
    assert not passes(elsewhere, None)


def test_one_that_fails_only_the_first_time_has_failed(pytester):
    pytester.makepyfile(
        "times = []\n"
        "def test_first():\n    times.append(1)\n    assert len(times) != 1, 'as it did the first time'\n"
        "def test_behind(): assert len(times) == 2"
    )

    run = pytester.inline_run(plugins=[_Calling()])

    [failed] = run.getfailures()
    assert re.search("as it did the first time", str(failed.longrepr))
    run.assertoutcome(passed=1, failed=1)


class _Calling:
    """Calls every test as it stands before pytest runs it."""

    def pytest_runtest_protocol(self, item, nextitem):
        passes(item, nextitem)
