"""Can deliveries hide? A gap, the borders of what was read, how the last one ended, and what is not known."""

import pytest

from forensics.judging import bounds
from tests.forensics.judging.plain import LATE, Around, S, delivery

TWICE = 60 * S
BESIDE = {"visibility_timeout_s": 30, "received_at": 5 * S}


class Watched(Around):
    """Surroundings in which every run named its messages from one moment to another."""

    def __init__(self, start, end):
        super().__init__()
        self.start, self.end = start, end

    def is_watched(self, queue_arn, after, before):
        return self.start <= after <= before <= self.end


BEFORE = {
    "every run was named for two timeouts": ({}, (5 * S - TWICE, 5 * S), False),
    "for a microsecond less": ({}, (5 * S - TWICE + 1, 5 * S), True),
    "not up to the receive": ({}, (-LATE, 5 * S - 1), True),
    "nobody knows when it was received": ({"received_at": None}, (-LATE, LATE), True),
    "no visibility timeout known": ({"visibility_timeout_s": None}, (-LATE, LATE), True),
}
"""The first delivery seen, when every run was named, and whether another one can hide before it."""


def before(of, facts, watched):
    return of._hides_before(delivery(**{**BESIDE, **facts}), Watched(*watched))


@pytest.mark.parametrize(("facts", "watched", "expected"), BEFORE.values(), ids=BEFORE)
def test_a_delivery_can_hide_before_the_first_where_runs_name_no_message(facts, watched, expected):
    assert before(bounds, facts, watched) is expected


AFTER = {
    "every run was named for two timeouts": ({}, (5 * S, 5 * S + TWICE), False),
    "for a microsecond less": ({}, (5 * S, 5 * S + TWICE - 1), True),
    "not from the receive on": ({}, (5 * S + 1, LATE), True),
    "no run was named, and it ended its message": ({"ended_by": "in_flight"}, (0, 0), False),
    "no run was named, and it was moved away": ({"ended_by": "dead_lettered"}, (0, 0), False),
    "no run was named, and it succeeded": ({"ended_by": "deleted"}, (0, 0), True),
    "nobody knows when it was received": ({"received_at": None, "ended_by": "in_flight"}, (-LATE, LATE), True),
    "no visibility timeout known": ({"visibility_timeout_s": None, "ended_by": "in_flight"}, (-LATE, LATE), True),
}
"""The last delivery seen, when every run was named, and whether another one can follow."""


def after(of, facts, watched):
    return of._hides_after(delivery(**{**BESIDE, **facts}), Watched(*watched))


@pytest.mark.parametrize(("facts", "watched", "expected"), AFTER.values(), ids=AFTER)
def test_a_delivery_can_follow_the_last_where_runs_name_no_message(facts, watched, expected):
    assert after(bounds, facts, watched) is expected


BETWEEN = {
    "exactly two timeouts": (0, {"received_at": TWICE}, False),
    "a microsecond more": (0, {"received_at": TWICE + 1}, True),
    "nobody knows when the one before was received": (None, {"received_at": TWICE}, True),
    "nobody knows when it was received": (0, {"received_at": None}, True),
    "no visibility timeout known": (0, {"received_at": TWICE, "visibility_timeout_s": None}, True),
}
"""When the earlier one was received, the later one, and whether another can hide between them."""


def between(of, earlier_at, facts):
    later = delivery(**{"visibility_timeout_s": 30, **facts})
    return of._hides_between(delivery(received_at=earlier_at, visibility_timeout_s=30), later)


@pytest.mark.parametrize(("earlier_at", "facts", "expected"), BETWEEN.values(), ids=BETWEEN)
def test_a_delivery_can_hide_in_a_gap_of_more_than_two_timeouts(earlier_at, facts, expected):
    assert between(bounds, earlier_at, facts) is expected


COUNTED = {
    "each counted": ([1, 2], "unknown", False),
    "one of two not counted, and the message went on": ([1, None], "unknown", True),
    "one of two not counted, and the last one ended it": ([1, None], "in_flight", False),
    "one alone, not counted": ([None], "in_flight", False),
    "three, with a gap before the last": ([None, None, 9], "in_flight", True),
    "one of which only the key is known": (["key", None], "in_flight", True),
    "one before which runs named no message": (["early"], "in_flight", True),
}


def counted(of, counts, ended_by):
    item_id = "key:pay_1" if "key" in counts else "m1"
    around = Watched(0 if "early" in counts else -LATE, LATE if ended_by != "unknown" else 0)
    counts = [count if isinstance(count, int) else None for count in counts]
    item = [
        delivery(item_id, receive_count=count, received_at=(200 if count == 9 else 40 * n) * S, visibility_timeout_s=30)
        for n, count in enumerate(counts)
    ]
    item[-1].ended_by = ended_by
    return of.hidden_possible(item, around)


@pytest.mark.parametrize(("counts", "ended_by", "expected"), COUNTED.values(), ids=COUNTED)
def test_a_bound_holds_where_every_delivery_was_counted_or_none_finds_room(counts, ended_by, expected):
    assert counted(bounds, counts, ended_by) is expected
