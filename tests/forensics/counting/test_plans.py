"""Who is judged with whom is the same, whichever rows were looked at before."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.counting import plans
from forensics.counting.digests import owners_digest
from forensics.counting.halves import stretch_of
from forensics.counting.item_hashes import HASH_SCHEMA
from forensics.counting.settled_rows import rows_in

SCHEMA = HASH_SCHEMA | {"part": pl.UInt32}
row = st.tuples(
    st.integers(0, 12),
    st.integers(1, 9),
    st.sampled_from([0, 1, 2, 4, 5]),
    st.integers(0, 30).map(lambda n: n << 21),
    st.integers(0, 4),
)


@pytest.fixture(autouse=True, scope="module")
def units_are_small():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plans, "ROWS_PER_UNIT", 3)
        yield


def frame(rows: list[tuple[int, int, int, int, int]]) -> pl.DataFrame:
    every = [(hashed, owner, flags, at, at - 1, at + 1, part) for hashed, owner, flags, at, part in sorted(set(rows))]
    return pl.DataFrame(every, schema=SCHEMA, orient="row")


def told(before: plans.Settled) -> plans.Told:
    return plans.planned(before.rows.drop("group").clear(), before)[2]


@given(st.lists(row, max_size=30), st.data())
def test_a_plan_is_the_same_whichever_rows_were_there_before(rows, data):
    every = frame(rows)
    is_new = pl.Series(
        data.draw(st.lists(st.booleans(), min_size=every.height, max_size=every.height)), dtype=pl.Boolean
    )
    new = every.filter(
        pl.col("hash").is_in(every.filter(is_new)["hash"].implode())
    )  # of a hash that is new all rows come
    before = plans.settled(every.filter(~is_new))
    at_once = plans.settled(every)

    fresh, touched, found = plans.planned(new, before, told(before))

    assert found == told(at_once)
    columns = ["part", "owner", "low", "high", "first_at", "last_at", "is_other", "began"]
    for name, unit in found.units.items():
        low, high = stretch_of(name)
        wanted = pl.col("began").is_between(low, high, closed="left")
        mine = rows_in(fresh, touched, before.members, wanted).sort("part", "owner")
        assert (
            mine.select(columns).rows() == at_once.members.filter(wanted).sort("part", "owner").select(columns).rows()
        )
        assert unit["messages"] == mine["owner"].n_unique()
        assert [one["part"] for one in unit["pieces"]] == mine["part"].unique().sort().to_list()
        for piece in unit["pieces"]:
            of_part = mine.filter(pl.col("part") == piece["part"])
            assert piece["owners"] == owners_digest(of_part["owner"])
            assert (piece["low"], piece["high"]) == (of_part["low"].min(), of_part["high"].max())


def test_what_no_new_row_touches_is_told_as_it_was():
    before = plans.settled(frame([*((1, n, 5, 0, 0) for n in (1, 2, 3)), (9, 9, 3, 2**40, 1)]))
    noted = told(before)

    fresh, touched, found = plans.planned(frame([(9, 9, 3, 2**40, 1), (9, 9, 5, 2**41, 2)]), before, noted)

    assert set(fresh["owner"]) == {9}
    assert list(touched) == [9]
    first, second = found.units
    assert found.units[first] is noted.units[first]
    assert found.units[second]["rows"] == noted.units[second]["rows"] + 1
    assert found.by_part[0] is noted.by_part[0]
