"""Units are carried where their output is not there yet, and whoever waits hears how far that is."""

from types import SimpleNamespace

import pytest

from forensics.errors import ForensicsError
from spark_jobs.cache import Cache, kernel
from spark_jobs.carried import Carried, Unheard
from spark_jobs.carrier import Here, OnSpark

UNITS = [{"name": name, "lines": lines} for name, lines in (("a", 10), ("b", 300), ("c", 20), ("d", 100))]


class Heard:
    def __init__(self) -> None:
        self.said: list[tuple[int, int, str]] = []

    def step(self, words: str) -> None:
        raise AssertionError(words)

    def done(self, over: int, of: int, what: str) -> None:
        self.said.append((over, of, what))


@kernel("length")
def length(shared, unit, folder):
    """Stand in for a step: the output is the unit's number of lines."""
    return {"lines": unit["lines"]}


@pytest.fixture
def cache(tmp_path) -> Cache:
    return Cache(tmp_path)


def carried(cache, carrier, units=UNITS, what="log events read"):
    heard = Heard()
    made = Carried(cache, carrier, heard).map(
        length, SimpleNamespace(cache=cache), units, [u["lines"] for u in units], what
    )
    assert [summary["lines"] for summary in made] == [u["lines"] for u in units]
    return heard.said


def test_one_hears_how_much_is_over_after_each_unit(cache):
    assert carried(cache, Here()) == [(over, 430, "log events read") for over in (0, 10, 310, 330, 430)]


def test_what_an_earlier_run_made_is_over_from_the_start(cache):
    carried(cache, Here(), UNITS[:2])

    assert [over for over, _, _ in carried(cache, Here())] == [310, 330, 430]


def test_nothing_is_said_where_everything_is_there(cache):
    carried(cache, Here())

    assert carried(cache, Here()) == []


def test_a_unit_alone_is_made_in_this_process_and_several_are_carried(cache):
    class Nobody:
        def map(self, *_):
            raise AssertionError("carried")

    assert [over for over, _, _ in carried(cache, Nobody(), UNITS[:1])] == [0, 10]
    with pytest.raises(AssertionError, match="carried"):
        carried(cache, Nobody(), UNITS[:3])


def test_steps_that_count_nothing_are_silent(cache):
    assert carried(cache, Here(), what="") == []


@pytest.mark.spark
def test_spark_tells_what_its_tasks_have_done(cache, spark, monkeypatch):
    monkeypatch.setattr("spark_jobs.carrier._LOOK_EVERY_S", 0.01)
    said = carried(cache, OnSpark(spark))

    assert {(of, what) for _, of, what in said} == {(430, "log events read")}
    counts = [over for over, _, _ in said]
    assert counts[0] == 0
    assert counts == sorted(counts)


@pytest.mark.spark
def test_a_failure_with_a_sentence_comes_back_from_spark_as_it_was_raised(cache, spark):
    @kernel("broken")
    def broken(shared, unit, folder):
        raise ForensicsError(f"{unit['name']} cannot be read", "Mend it.")

    with pytest.raises(ForensicsError, match="a cannot be read") as told:
        Carried(cache, OnSpark(spark), Unheard()).map(broken, SimpleNamespace(cache=cache), UNITS[:2])

    assert told.value.hint == "Mend it."
