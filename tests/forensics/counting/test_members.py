"""Which messages make an incident is the same, whichever verdicts were there before."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.counting import members
from forensics.counting.membership import VERDICT_SCHEMA, membership
from forensics.counting.settled_rows import rows_in

SCHEMA = VERDICT_SCHEMA | {"part": pl.UInt32}
NOON = 1_795_348_800
Verdict = tuple[str, int | None, int | None, int | None, int | None, bool, int]
"""Queue, first receive, last receive and last activity (seconds after noon), visibility timeout, whether affected, and part."""


@pytest.fixture(autouse=True, scope="module")
def units_are_small():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(members, "MESSAGES_PER_UNIT", 3)
        yield


def frame(verdicts: list[tuple[int, Verdict]]) -> pl.DataFrame:
    rows = [
        (
            f"arn:{queue}",
            queue,
            f"m{n:02}",
            f"w{n}",
            *(None if at is None else (NOON + at) * 10**6 for at in times),
            *more,
        )
        for n, (queue, *times, timeout, is_affected, part) in verdicts
        for more in [(timeout, is_affected, None, part)]
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


seconds = st.integers(0, 40).map(lambda n: n * 300)


@st.composite
def verdicts(draw) -> Verdict:
    first = draw(st.none() | seconds)
    last = None if first is None else first + draw(seconds) // 8
    active = None if draw(st.integers(0, 5)) == 0 else (last or draw(seconds)) + draw(st.integers(0, 900))
    timeout = draw(st.sampled_from([None, 30, 600]))
    return (
        draw(st.sampled_from(["a", "b.fifo"])),
        first,
        last,
        active,
        timeout,
        draw(st.booleans()),
        draw(st.integers(0, 4)),
    )


def placed(old: pl.DataFrame, new: pl.DataFrame) -> tuple[pl.DataFrame, list[dict], dict[int, str]]:
    """Return members, units and what is told by part, where new verdicts come to old ones."""
    before = members.settled([old])
    now, again = members.placed([new], before)
    incidents, told = members.told_of(before, members.told_by_part(before.members), now, again)
    found = rows_in(now.members, again, before.members, pl.lit(True)).drop("place")
    return found.sort("item_id"), members.units_of(incidents), told


@given(st.lists(verdicts(), max_size=14), st.data())
def test_incidents_are_the_same_whichever_verdicts_were_there_before(drawn, data):
    every = list(enumerate(drawn))
    is_new = data.draw(st.lists(st.booleans(), min_size=len(every), max_size=len(every)))
    old, new = ([one for one, there in zip(every, is_new, strict=True) if there is of] for of in (False, True))

    found, units, told = placed(frame(old), frame(new))

    at_once = membership(frame(every)).drop("visibility_timeout_s", "is_affected", "batch_position").sort("item_id")
    assert found.rows() == at_once.select(found.columns).rows()
    assert (units, told) == placed(frame([]), frame(every))[1:]
    assert sum(unit["messages"] for unit in units) == found.height
    assert (
        sorted({part for unit in units for part in unit["part"]})
        == sorted(told)
        == found["part"].unique().sort().to_list()
    )


def test_only_the_incident_that_goes_on_is_looked_at_again():
    old = [("a", at, at, at + 1, 30, True, 0) for at in (0, 2_000, 4_000)]
    before = members.settled([frame(list(enumerate(old)))])

    now, again = members.placed([frame([(7, ("a", 4_500, 4_500, 4_501, 30, True, 1))])], before)

    assert list(again) == [2]
    assert sorted(now.members["item_id"]) == ["m02", "m07"]


def test_a_queue_of_which_nothing_new_is_told_is_left_alone():
    old = [("a", 0, 0, 1, 30, True, 0), ("b.fifo", 0, 0, 1, 30, True, 0)]
    before = members.settled([frame(list(enumerate(old)))])

    now, again = members.placed([frame([(7, ("a", 100, 100, 101, 30, True, 1))])], before)

    assert set(now.members["queue"]) == {"a"}
    assert list(before.incidents["queue_arn"][again]) == ["arn:a"]
