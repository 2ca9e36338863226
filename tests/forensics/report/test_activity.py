"""When nothing of an incident is left to be stopped."""

import pytest

from forensics.report.activity import have_left

DEAD, BACK = "dead_lettered", "visibility_expired"


def ends(*of_deliveries):
    return [
        {"item_id": item, "delivery_index": index, "ended_by": ended_by}
        for item, every in zip("ab", of_deliveries, strict=True)
        for index, ended_by in enumerate(every, 1)
    ]


LOST = {"code": "retention_expired", "item_id": "b"}
LEFT = {
    "all were dead-lettered": (ends([BACK, DEAD], [DEAD]), [], True),
    "one was dead-lettered, one was lost": (ends([DEAD], [BACK]), [LOST], True),
    "one is still in the queue": (ends([DEAD], [BACK]), [], False),
    "one was deleted, and the next may be hit": (ends([DEAD], [BACK, "deleted"]), [], False),
    "one came back out of the dead-letter queue": (ends([DEAD], [DEAD, BACK]), [], False),
    "another finding about the queue": (ends([DEAD], [BACK]), [LOST | {"code": "fifo_group_blocked"}], False),
}


@pytest.mark.parametrize(("deliveries", "on_queue", "expected"), LEFT.values(), ids=LEFT)
def test_nothing_is_left_where_every_message_was_put_aside_or_lost(deliveries, on_queue, expected):
    assert have_left("ab", deliveries, on_queue) is expected


def test_where_no_message_is_named_nothing_tells():
    assert not have_left([], [], [])
