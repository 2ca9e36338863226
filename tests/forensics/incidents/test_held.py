"""How long failed deliveries held their FIFO groups."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.incidents.held import GroupDelivery, held_ms
from tests.forensics.incidents.builders import at


def handed(item, consumer, received, ended=None, hidden=None, ended_by="visibility_expired", group="g"):
    return GroupDelivery(group, consumer, at(received), at(ended), at(hidden), ended_by, item)


AFFECTED = {"a": "first", "b": "second"}
CASES = {
    "from the end of the run to the next receive": (
        [handed("a", "r1", 0, 10, 30), handed("a", "r2", 31.5, 40, 60, "deleted")],
        {"first": 21_500},
    ),
    "to the end of the visibility timeout where nobody received more": (
        [handed("a", "r1", 0, 10, 30)],
        {"first": 20_000},
    ),
    "no end of the run: from the receive": ([handed("a", "r1", 0, None, 30)], {"first": 30_000}),
    "no timeout known and nobody received more": ([handed("a", "r1", 0, 10)], {"first": 0}),
    "received before the run had ended": (
        [handed("a", "r1", 0, 50, 30), handed("a", "r2", 31, 40, 60, "deleted")],
        {"first": 0},
    ),
    "deleted: nothing was held": ([handed("a", "r1", 0, 10, 30, "deleted")], {}),
    "refused and dead-lettered deliveries hold too": (
        [handed("a", "r1", 0, 10, 30, "delete_refused"), handed("a", "r2", 40, 50, 70, "dead_lettered")],
        {"first": 30_000 + 20_000},
    ),
    "a batch holds its group once, until its last message is visible": (
        [handed("a", "r1", 0, 10, 30), handed("c", "r1", 0, 12, 32)],
        {"first": 20_000},
    ),
    "another message of the group was next": (
        [handed("a", "r1", 0, 10, 30), handed("c", "r2", 25, 40, 60, "deleted")],
        {"first": 15_000},
    ),
    "what was next came in two receives": (
        [handed("a", "r1", 0, 10, 30), handed("c", "r2", 25, 40), handed("d", "r2", 22, 40)],
        {"first": 12_000},
    ),
    "another group's receive ends nothing": (
        [handed("a", "r1", 0, 10, 30), handed("c", "r2", 25, 40, 60, "deleted", "h")],
        {"first": 20_000},
    ),
    "one run failed messages of two incidents": (
        [handed("a", "r1", 0, 10, 30), handed("b", "r1", 0, 10, 30)],
        {"second": 20_000},
    ),
    "two groups of one incident add up": (
        [handed("a", "r1", 0, 10, 30), handed("a", "r2", 0, 20, 30, group="h")],
        {"first": 30_000},
    ),
    "who failed was not affected": ([handed("c", "r1", 0, 10, 30)], {}),
    "no group logged": (
        [handed("a", "r1", 0, 10, 30, group=None), handed("c", "r2", 15, group=None)],
        {"first": 5_000},
    ),
}


@pytest.mark.parametrize(("deliveries", "held"), CASES.values(), ids=CASES)
def test_failed_deliveries_hold_their_group(deliveries, held):
    assert held_ms(deliveries, AFFECTED) == held


@given(
    st.lists(
        st.builds(
            handed,
            st.sampled_from("abc"),
            st.sampled_from(["r1", "r2", "r3"]),
            st.integers(0, 4),
            st.sampled_from([None, 3, 6]),
            st.sampled_from([None, 5, 9]),
            st.sampled_from(["visibility_expired", "deleted"]),
            st.sampled_from([None, "g", "h"]),
        ),
        max_size=8,
    ),
    st.randoms(use_true_random=False),
)
def test_the_order_of_deliveries_does_not_matter(deliveries, random):
    expected = held_ms(deliveries, AFFECTED)
    random.shuffle(deliveries)

    assert held_ms(deliveries, AFFECTED) == expected
