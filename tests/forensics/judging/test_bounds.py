"""Can deliveries hide? A gap, the borders of what was read, and what is not known."""

import pytest

from forensics.judging import bounds
from tests.forensics.judging.plain import LATE, Around, S, delivery

TWICE = 60 * S

CASES = {
    "exactly two timeouts between the receives": ({"received_at": TWICE}, {}, False),
    "exactly two timeouts, long after the first moment": (
        {"received_at": LATE // 2 + TWICE},
        {"earlier_received_at": LATE // 2},
        False,
    ),
    "a millisecond more than two timeouts": ({"received_at": TWICE + 1000}, {}, True),
    "less than a millisecond more": ({"received_at": TWICE + 999}, {}, False),
    "nobody knows when the one before was received": ({"received_at": TWICE}, {"earlier_received_at": None}, True),
    "nothing before it": ({"received_at": TWICE}, {"has_earlier": False}, True),
    "nobody knows when it was received": ({"received_at": None}, {}, True),
    "no visibility timeout known": ({"visibility_timeout_s": None}, {}, True),
    "its log group was never read": ({}, {"read": None}, True),
    "no log shows it": ({"log_group": None}, {}, True),
    "the first, received two timeouts after reading began": (
        {"delivery_index": 1, "received_at": 5 * S},
        {"read": (5 * S - TWICE, LATE)},
        False,
    ),
    "the first, received a millisecond earlier": (
        {"delivery_index": 1, "received_at": 5 * S},
        {"read": (5 * S - TWICE + 1000, LATE)},
        True,
    ),
    "the first, sent as reading began": (
        {"delivery_index": 1, "received_at": 5 * S, "sent_ms": 0},
        {"read": (0, LATE)},
        False,
    ),
    "the first, sent a millisecond before reading began": (
        {"delivery_index": 1, "received_at": 5 * S, "sent_ms": 0},
        {"read": (1000, LATE)},
        True,
    ),
    "the second, received soon after reading began": (
        {"delivery_index": 2, "received_at": 5 * S},
        {"read": (5 * S, LATE)},
        False,
    ),
    "the last, two timeouts before reading ended": (
        {"came_again": False, "received_at": 5 * S},
        {"read": (-LATE, 5 * S + TWICE)},
        False,
    ),
    "the last, a millisecond later": (
        {"came_again": False, "received_at": 5 * S},
        {"read": (-LATE, 5 * S + TWICE - 1000)},
        True,
    ),
    "the last, deleted just before reading ended": (
        {"came_again": False, "received_at": 5 * S, "ended_by": "deleted"},
        {"read": (-LATE, 5 * S)},
        False,
    ),
    "not the last, just before reading ended": (
        {"came_again": True, "received_at": 5 * S},
        {"read": (-LATE, 5 * S)},
        False,
    ),
}
"""A delivery 30 s visible, its surroundings, and whether another one can hide beside it."""


def answer(of, facts, around):
    around = {"earlier_received_at": 0, "has_earlier": True, "read": (-LATE, LATE), **around}
    earlier = delivery(received_at=around["earlier_received_at"], visibility_timeout_s=30)
    later = delivery(**{"delivery_index": 2, "visibility_timeout_s": 30, "came_again": True, **facts})
    read = {} if around["read"] is None else {"/aws/lambda/charge": around["read"]}
    return of._hides(earlier if around["has_earlier"] else None, later, Around(read=read))


@pytest.mark.parametrize(("facts", "around", "expected"), CASES.values(), ids=CASES)
def test_a_delivery_can_hide_where_nobody_could_have_seen_it(facts, around, expected):
    assert answer(bounds, facts, around) is expected


COUNTED = {
    "each counted": ([1, 2], False),
    "one of two not counted": ([1, None], True),
    "one alone, not counted": ([None], True),
}


def counted(of, counts):
    item = [delivery(receive_count=count, received_at=90 * S * place) for place, count in enumerate(counts)]
    return of.hidden_possible(item, Around())


@pytest.mark.parametrize(("counts", "expected"), COUNTED.values(), ids=COUNTED)
def test_nothing_hides_where_each_receive_was_counted(counts, expected):
    assert counted(bounds, counts) is expected
