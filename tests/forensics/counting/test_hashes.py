"""Hashes that stand more than once, and which parts are looked through once and for all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.counting.hashes import (
    in_one,
    met,
    parts_of,
    places_of,
    repeated,
    settled_counts,
    settled_parts,
    shard_bounds,
    shared_in,
)

some = st.lists(st.integers(0, 12), max_size=12)


def in_order(values: list[int]) -> np.ndarray:
    return np.array(sorted(values), np.uint64)


@given(some, some)
def test_hashes_are_found_as_one_by_one(mine, others):
    every, order = in_one(parts := [in_order(mine), in_order(others)])

    assert every.tolist() == sorted(mine + others)
    assert np.concatenate(parts)[order].tolist() == every.tolist()
    assert parts_of(order, parts).tolist() == (order >= len(mine)).tolist()
    twice = {one for one in mine + others if (mine + others).count(one) > 1 or one in (0, 1)}
    assert every[shared_in(every, in_order([0, 1]))].tolist() == [one for one in every if one in twice]
    assert repeated(every).tolist() == sorted({one for one in mine + others if (mine + others).count(one) > 1})
    assert met(in_order(mine), in_order(others)).tolist() == sorted(set(mine) & set(others))
    places = places_of(in_order(others), np.unique(in_order(mine)))
    assert sorted(places.tolist()) == [n for n, one in enumerate(sorted(others)) if one in mine]


SIZES = {
    "nothing": ([], 0),
    "few": ([10_000, 10_000], 0),
    "enough to be one": ([10_000, 10_001], 2),
    "a few more": ([20_001, 20_000], 1),
    "a long history, and little that is new": ([1_000_000] * 9 + [8_000] * 30, 9),
    "a long history, and enough that is new": ([1_000_000] * 9 + [8_000] * 38, 47),
}


@pytest.mark.parametrize(("sizes", "count"), SIZES.values(), ids=SIZES)
def test_what_is_taken_as_one_grows_by_shares_of_it(sizes, count):
    assert max(settled_counts(sizes), default=0) == count


def test_the_earliest_parts_are_taken_as_one():
    assert settled_parts([30, 10, 20], [1, 15_000, 15_000]) == [1, 2]


def test_of_what_costs_more_to_look_at_again_less_stands_beside_what_is_in_one():
    assert settled_parts([1, 2, 3], [3_000, 1_000, 400]) == []
    assert settled_parts([1, 2, 3], [3_000, 1_000, 400], weight=8) == [0]


def test_what_new_parts_change_is_spared():
    assert settled_parts([1, 2, 3, 4], [30_000, 15_000, 6_000, 2_000], spared=7_999) == [0, 1, 2]
    assert settled_parts([1, 2, 3, 4], [30_000, 15_000, 6_000, 2_000], spared=8_000) == [0]
    assert settled_parts([1], [30_000], spared=30_000) == []


@given(st.lists(st.integers(0, 60_000), max_size=40))
def test_what_is_appended_leaves_what_was_taken_as_one_or_adds_to_it(sizes):
    counts = [max(settled_counts(sizes[:n]), default=0) for n in range(len(sizes) + 1)]

    assert counts == sorted(counts)
    assert all(now in (before, n) for n, (before, now) in enumerate(zip(counts, counts[1:], strict=False), 1))


@pytest.mark.parametrize("row_count", [0, 1, 8_000_000, 8_000_001, 50_000_000])
def test_ranges_are_of_all_hashes(row_count):
    bounds = shard_bounds(row_count)

    assert (bounds[0][0], bounds[-1][1]) == (0, 2**64 - 1)
    assert all(high + 1 == low for (_, high), (low, _) in zip(bounds, bounds[1:], strict=False))
