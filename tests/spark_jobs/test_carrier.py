"""Who carries a kernel over its units changes nothing but the time it takes: this process, or Spark's."""

import gc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.errors import ForensicsError
from forensics.lake import Lake
from forensics.tables import FINDINGS
from spark_jobs.carrier import Here, OnSpark, dealt
from spark_jobs.runner import correlate
from tests.oracle import World
from tests.oracle.bundle import fill_lake, settings_of

SEEDS = (3, 7, 11, 14, 24, 301)


class OddError(ForensicsError):
    """What a kernel may say of its unit."""


def shifted(shared: int, unit: int) -> int:
    """Add what all share to a unit."""
    return shared + unit


def refuses_seven(shared: object, unit: int) -> int:
    """Raise at one unit."""
    if unit == 7:
        raise OddError("seven is odd", "Take eight.")
    return unit


def breaks_at_seven(shared: object, unit: int) -> int:
    """Fail as only a bug of ours does."""
    return 1 // (unit - 7)


def looked_through(shared: object, unit: int) -> int:
    """Count what a search for garbage goes through."""
    return len(gc.get_objects())


@given(weights=st.lists(st.integers(0, 200_000), min_size=1, max_size=300), cores=st.integers(1, 16))
def test_each_unit_is_dealt_once_and_heavy_ones_first(weights, cores):
    places = [n for hand in dealt(weights, cores) for n in hand]

    assert sorted(places) == list(range(len(weights)))
    assert [weights[n] for n in places] == sorted(weights, reverse=True)


def last_idle(weights: list[int], speeds: list[float]) -> float:
    """Return for how long some core waits for the last: each takes the next hand when it is done with one."""
    free = [0.0] * len(speeds)
    for hand in dealt(weights, len(speeds)):
        core = free.index(min(free))
        free[core] += sum(weights[n] for n in hand) / speeds[core]
    return max(free) - min(free)


@pytest.mark.parametrize("count", [9, 72, 500], ids="{} units".format)
@pytest.mark.parametrize("slower", [1.0, 0.9, 0.75, 0.6], ids="one at {:.0%}".format)
def test_no_core_waits_longer_than_the_slowest_takes_for_one_unit(count, slower):
    assert last_idle([100] * count, [1.0, slower]) <= 101 / slower


@pytest.mark.parametrize(("count", "most"), [(15, 15), (72, 30), (2_000, 48)])
def test_few_tasks_carry_many_units(count, most):
    assert len(dealt([1_000] * count, 2)) <= most


def test_units_that_weigh_nothing_are_shared_out_too():
    assert max(map(len, dealt([2_000] * 54 + [0] * 72, 2))) < 24


@pytest.fixture(params=["this process", pytest.param("Spark", marks=pytest.mark.spark)])
def carrier(request):
    return Here() if request.param == "this process" else OnSpark(request.getfixturevalue("spark"))


@pytest.mark.parametrize("weights", [None, [n % 5 for n in range(50)]], ids=["alike", "of different weight"])
def test_results_come_in_the_order_of_the_units(carrier, weights):
    assert carrier.map(shifted, 100, list(range(50)), weights) == list(range(100, 150))


def test_no_units_are_no_results(carrier):
    assert carrier.map(shifted, 1, []) == []


def test_what_a_kernel_says_of_its_unit_arrives_as_it_was_said(carrier):
    with pytest.raises(OddError, match="^seven is odd$") as told:
        carrier.map(refuses_seven, None, list(range(20)))

    assert told.value.hint == "Take eight."


def test_a_bug_of_ours_is_no_sentence(carrier):
    with pytest.raises(Exception, match="division") as told:
        carrier.map(breaks_at_seven, None, list(range(20)))

    assert not isinstance(told.value, ForensicsError)


def findings_of(lake: Lake) -> dict[str, list[str]]:
    """Return every row of every findings table."""
    found = lake.findings()
    return {table.name: sorted(map(repr, found.read(table).to_pylist())) for table in FINDINGS}


@pytest.mark.spark
def test_findings_are_the_same_whoever_carries(spark, tmp_path):
    worlds = [World(seed) for seed in SEEDS]
    settings = settings_of(worlds)
    carriers = {"here": Here(), "spark": OnSpark(spark)}
    lakes = {name: fill_lake(worlds, tmp_path / name) for name in carriers}

    made = {name: correlate(lakes[name], settings, carrier=carrier) for name, carrier in carriers.items()}

    assert findings_of(lakes["here"])["messages"]
    assert findings_of(lakes["spark"]) == findings_of(lakes["here"])
    assert made["spark"].row_counts == made["here"].row_counts


@pytest.mark.spark
def test_a_worker_does_not_look_for_garbage_in_what_it_has_imported(spark):
    assert max(OnSpark(spark).map(looked_through, None, list(range(8)))) < 5_000
