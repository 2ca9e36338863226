"""Stretches of time in which works are judged together: halves of halves, named by where they begin and how long they are."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from forensics.counting.halves import halved

SHORTEST_US = 2**20
MOMENTS = st.lists(st.integers(-(2**48), 2**52) | st.integers(0, 2**24), max_size=60)


def spans(at: list[int], most: int) -> list[tuple[int, int]]:
    names = halved(np.array(at, np.int64), np.ones(len(at)), most)
    return [(int(begin), int(length)) for begin, _, length in (name.rpartition("-") for name in names)]


@given(MOMENTS, st.integers(1, 20))
def test_each_moment_lies_in_its_unit_and_no_unit_that_can_be_halved_holds_too_many(at, most):
    found = spans(at, most)
    assert all(begin <= moment < begin + length for moment, (begin, length) in zip(at, found, strict=True))
    assert all(count <= most or length <= SHORTEST_US for (_, length), count in Counter(found).items())


@given(MOMENTS, st.integers(1, 20))
def test_no_unit_is_halved_that_would_have_held_all(at, most):
    for begin, length in set(spans(at, most)):
        whole = begin // (2 * length) * 2 * length
        inside = sum(whole <= moment < whole + 2 * length for moment in at)
        assert inside > most or length == 2**47


@given(MOMENTS, st.integers(1, 20), st.randoms())
def test_the_order_of_moments_changes_no_name(at, most, random):
    named = dict(zip(at, spans(at, most), strict=True))
    random.shuffle(at)
    assert dict(zip(at, spans(at, most), strict=True)) == named
