"""The order of an item's deliveries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.judging import ledger
from tests.forensics.judging.plain import delivery

CASES = {
    "by receive count, whatever the time": (
        [("b", {"receive_count": 2, "order_at": 1}), ("a", {"receive_count": 1, "order_at": 9})],
        "ab",
    ),
    "by time where one was not counted": (
        [("b", {"receive_count": 1, "order_at": 9}), ("a", {"receive_count": None, "order_at": 1})],
        "ab",
    ),
    "of one count by time": (
        [("b", {"receive_count": 2, "order_at": 9}), ("a", {"receive_count": 2, "order_at": 1})],
        "ab",
    ),
    "of one time by count, the uncounted last": (
        [
            ("c", {"receive_count": None, "order_at": 1}),
            ("b", {"receive_count": 2, "order_at": 1}),
            ("a", {"receive_count": 1, "order_at": 1}),
        ],
        "abc",
    ),
    "of one receive by when the run began": (
        [("a", {"order_at": 1, "run_started_at": 9}), ("b", {"order_at": 1, "run_started_at": 2})],
        "ba",
    ),
    "of one time and count by consumer, one unknown last": (
        [(None, {"order_at": 1}), ("b", {"order_at": 1}), ("a", {"order_at": 1})],
        "ab?",
    ),
}
"""Deliveries by consumer, and the consumers in order."""


def answer(of, facts):
    in_order = of.put_in_order([delivery(**{**said, "consumer": consumer}) for consumer, said in facts])
    assert [d.delivery_index for d in in_order] == list(range(1, len(facts) + 1))
    assert [d.came_again for d in in_order] == [True] * (len(facts) - 1) + [False]
    return "".join(d.consumer or "?" for d in in_order)


@pytest.mark.parametrize(("facts", "expected"), CASES.values(), ids=CASES)
def test_deliveries_stand_by_receive_count_else_by_time(facts, expected):
    assert answer(ledger, facts) == expected


_DELIVERED = st.tuples(st.one_of(st.none(), st.integers(1, 3)), st.integers(0, 3))


@given(st.lists(_DELIVERED, min_size=1, max_size=6), st.randoms())
def test_the_order_does_not_depend_on_what_came_first(delivered, chance):
    item = [delivery(consumer=str(n), receive_count=c, order_at=at) for n, (c, at) in enumerate(delivered)]
    shuffled = chance.sample(item, len(item))

    assert ledger.put_in_order(shuffled) == ledger.put_in_order(item)
