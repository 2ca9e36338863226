"""Whether a batch is taken one message after the other, as runs tell."""

import pytest

from forensics.judging.judge import judge
from forensics.judging.order import ItemTimes, Order, OrderCounts, is_in_order
from tests.forensics.judging.plain import Around, delivery

S = 1_000_000


def times(text: str) -> list[ItemTimes]:
    """Read "5-100 -210" as: begun at 5 and finished at 100; finished at 210."""
    parts = [part.split("-") for part in text.split()]
    return [ItemTimes(int(a) if a else None, int(b) if b else None) for a, b in parts]


RUNS = {
    "each begun when the one before was finished": ("5-100 100-210 211-300", True),
    "the second begun before the first was finished": ("5-100 99-210", False),
    "the third begun before the first was finished": ("5-100 - 99-", False),
    "all begun at once, finished in order": ("5-100 6-101 7-102", False),
    "finished in another order": ("-100 -99", False),
    "finished one after the other, in even steps": ("-100 -200 -300", True),
    "finished together": ("-100 -101 -102", None),
    "two, finished a little apart": ("-100 -149", None),
    "two, finished half as far apart as from the beginning": ("-100 -150", True),
    "one of two finished": ("-100 -", None),
    "finished at the same moment": ("1-100 100-100", None),
    "one of two begun": ("5-100 -120", None),
    "begun in another order": ("5- 4-", False),
    "only starts": ("5- 6- 7-", None),
    "the one that was not finished begun behind": ("5-100 101-200 201-", True),
    "nothing": ("", None),
}


@pytest.mark.parametrize(("text", "expected"), RUNS.values(), ids=RUNS)
def test_a_run_that_began_at_0_was_in_order(text, expected):
    assert is_in_order(0, times(text)) is expected


def test_ends_alone_tell_of_no_order_where_nothing_tells_when_the_run_began():
    assert is_in_order(None, times("-100 -200")) is None
    assert is_in_order(None, times("-200 -100")) is False


COUNTS = {
    "too few runs": (OrderCounts(29, 0), Order(None)),
    "as many as it needs": (OrderCounts(30, 0), Order("sequential", 30)),
    "many": (OrderCounts(4_999, 0), Order("sequential", 2_000)),
    "one against it": (OrderCounts(4_999, 1), Order("parallel", 1)),
    "one alone": (OrderCounts(0, 1), Order("parallel", 1)),
    "none": (OrderCounts(), Order(None)),
}


@pytest.mark.parametrize(("counts", "expected"), COUNTS.values(), ids=COUNTS)
def test_runs_together_make_an_order(counts, expected):
    assert counts.order == expected


def judged(order: Order, **facts):
    """A message behind the one at which its run failed; the next run did its work."""
    first = {"run_status": "error", "is_not_reached": True, "receive_count": 1, "batch_count": 2, **facts}
    again = {"receive_count": 2, "received_at": 60 * S, "marker_at": 61 * S, "consumer": "run 2", **facts}
    (message,) = judge([delivery(**first), delivery(**again)], Around(order=order)).messages
    return message


def test_what_an_inferred_order_decides_is_inferred_and_says_from_how_many_runs():
    message = judged(Order("sequential", 200))

    assert (message.verdict, message.effects_at_most, message.certainty) == ("harmless", 1, "inferred")
    assert "At least 200 runs" in message.effect_sentence


def test_a_declared_order_is_not_inferred():
    message = judged(Order("parallel", 1), order_declared="sequential")

    assert (message.verdict, message.certainty) == ("harmless", "proved")
    assert "runs" not in message.effect_sentence


@pytest.mark.parametrize("order", [Order(), Order("parallel", 3)], ids=["unknown", "parallel"])
def test_without_an_order_siblings_may_have_gone_on(order):
    message = judged(order)

    assert (message.verdict, message.effects_at_most) == ("probable", 2)
