"""Spans of time: what they hold, what lies between two moments, what several have in common."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.spans import Spans, common_to, holes

MOMENTS = st.integers(0, 12)
PIECES = st.lists(st.tuples(MOMENTS, MOMENTS).map(sorted).map(tuple), max_size=5)
READINGS = st.lists(st.tuples(MOMENTS, st.integers(1, 4)).map(lambda p: (p[0], p[0] + p[1])), max_size=5)
HALVES = [n / 2 for n in range(-2, 32)]


def inside(pieces, at):
    return any(start <= at <= end for start, end in pieces)


@given(PIECES, MOMENTS, MOMENTS)
def test_a_span_is_held_where_every_moment_of_it_is_inside(pieces, start, length):
    end = start + length

    assert Spans(pieces).hold(start, end) == all(inside(pieces, at) for at in HALVES if start <= at <= end)


@given(PIECES)
def test_spans_are_in_order_with_gaps_between_them(pieces):
    merged = list(Spans(pieces))

    assert all(end < later for (_, end), (later, _) in zip(merged, merged[1:], strict=False))
    assert len(Spans(pieces)) == len(merged)


@given(PIECES, MOMENTS, MOMENTS)
def test_between_two_moments_lies_what_is_inside_and_nothing_else(pieces, low, high):
    cut = Spans(pieces).between(low, high)

    assert [inside(cut, at) for at in HALVES] == [inside(pieces, at) and low <= at <= high for at in HALVES]


@given(READINGS, READINGS, MOMENTS, MOMENTS)
def test_common_time_holds_what_all_of_them_hold(one, other, start, length):
    spans = [Spans(one), Spans(other)]
    end = start + length + 1

    assert common_to(spans).hold(start, end) == all(each.hold(start, end) for each in spans)


def test_nothing_has_nothing_in_common():
    assert list(common_to([])) == []
    assert not Spans().hold(1, 1)
    assert not Spans([(0, 9)]).hold(None, 3)
    assert not Spans([(0, 9)]).hold(3, None)


WINDOWS = {
    "touching windows leave no hole": ([(0, 2), (2, 4)], ()),
    "overlapping windows leave no hole": ([(0, 3), (1, 2), (2, 5)], ()),
    "a hole between windows read out of order": ([(6, 9), (0, 2)], ((2, 6),)),
    "a window inside a longer one does not open a hole": ([(0, 9), (1, 2), (9, 10)], ()),
}


@pytest.mark.parametrize(("spans", "between"), WINDOWS.values(), ids=WINDOWS)
def test_holes_between_what_was_read(spans, between):
    assert holes(spans) == list(between)
