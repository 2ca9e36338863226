"""When nothing of an incident is left to be stopped."""

from datetime import UTC, datetime, timedelta

import pytest

from forensics.report.activity import have_left, state_of
from forensics.report.opening import Opening
from forensics.sentence import plain

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


AT = datetime(2026, 11, 20, 12, tzinfo=UTC)
SAID = {
    "going on": (AT, True, "open", "Stop it now"),
    "going on, and every message was put aside": (AT, False, "nothing left to stop", "If it comes back"),
    "quiet": (AT + timedelta(hours=5), False, "quiet 5 h", "If it comes back"),
    "quiet for days": (AT + timedelta(days=5), False, "quiet 5 d", "If it comes back"),
}


@pytest.mark.parametrize(("until", "is_active", "state", "heading"), SAID.values(), ids=SAID)
def test_the_state_says_open_where_the_moves_are_for_now(until, is_active, state, heading):
    assert plain(state_of({"ended_at": AT}, until, is_active)) == state
    assert Opening("", "", "", (), (), is_active).stop_heading == heading
