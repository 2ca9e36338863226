"""When was a queue polled last? Each answer at its border."""

import pytest

from forensics.judging import polls
from tests.forensics.judging.around import PAYMENTS, at, poll

POLLED = {
    "polls that brought nothing": ([poll(5)], True),
    "polls that brought messages": ([poll(5, "NumberOfMessagesReceived")], True),
    "some of them later": ([poll(6), poll(4)], True),
    "a period that began before": ([poll(4)], False),
    "none in that time": ([poll(5, value=0.0)], False),
    "another queue": ([poll(5, resource="mails")], False),
    "the same name in another region": ([poll(5, region="us-east-1")], False),
    "the same name in another account": ([poll(5, account_id="999999999999")], False),
    "another metric": ([poll(5, "NumberOfMessagesDeleted")], False),
    "nothing measured": ([], False),
}


def polled(of, points):
    return of.Polls(points).after(PAYMENTS, at(5))


@pytest.mark.parametrize(("points", "expected"), POLLED.values(), ids=POLLED)
def test_a_queue_was_polled_where_its_metrics_count_a_receive_from_then_on(points, expected):
    assert polled(polls, points) is expected
