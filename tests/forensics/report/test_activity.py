"""When nothing of an incident is left to be stopped."""

from datetime import UTC, datetime, timedelta

import pytest

from forensics.report.activity import ALL_GONE, OPEN, have_left, is_open, state_of, state_of_all, with_gone
from forensics.report.opening import Opening
from forensics.sentence import plain

DEAD, BACK = "dead_lettered", "visibility_expired"


def ends(*of_deliveries):
    return [
        {"item_id": item, "delivery_index": index, "ended_by": ended_by}
        for item, every in zip("ab", of_deliveries, strict=True)
        for index, ended_by in enumerate(every, 1)
    ]


LOST = {"code": "retention_expired", "item_id": "b", "stance": "supported"}
LEFT = {
    "all were dead-lettered": (ends([BACK, DEAD], [DEAD]), [], True),
    "one was dead-lettered, one was lost": (ends([DEAD], [BACK]), [LOST], True),
    "one may have been lost": (ends([DEAD], [BACK]), [LOST | {"stance": "undecidable"}], False),
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
    "going on": (AT, (), "open", "Stop it now"),
    "nothing tells how far the data reaches": (None, (), "open", "Stop it now"),
    "going on, and every message was put aside": (AT, ("i",), "nothing left to stop", "If it comes back"),
    "quiet, and every message was put aside": (AT + timedelta(hours=5), ("i",), "quiet 5 h", "If it comes back"),
    "quiet": (AT + timedelta(hours=5), (), "quiet 5 h", "If it comes back"),
    "quiet for days": (AT + timedelta(days=5), (), "quiet 5 d", "If it comes back"),
}


@pytest.mark.parametrize(("until", "gone", "state", "heading"), SAID.values(), ids=SAID)
def test_the_state_says_open_where_the_moves_are_for_now(until, gone, state, heading):
    [row] = with_gone([{"incident_id": "i", "ended_at": AT}], gone)

    assert plain(state_of(row, until)) == state
    assert is_open(row, until) == (state == OPEN)
    assert Opening("", "", "", (), (), is_open(row, until)).stop_heading == heading


TOGETHER = {
    "one is open": (("i",), 0, 0, OPEN),
    "one is quiet, of the other nothing is left": (("i",), 0, 5, ALL_GONE),
    "of neither anything is left": (("i", "j"), 0, 0, ALL_GONE),
    "both are quiet": ((), 5, 7, "quiet 5 h"),
}


@pytest.mark.parametrize(("gone", "one", "other", "state"), TOGETHER.values(), ids=TOGETHER)
def test_incidents_are_open_together_where_one_of_them_is(gone, one, other, state):
    ended = {"i": AT - timedelta(hours=one), "j": AT - timedelta(hours=other)}
    rows = with_gone([{"incident_id": name, "ended_at": at} for name, at in ended.items()], gone)

    assert plain(state_of_all(rows, AT)) == state
