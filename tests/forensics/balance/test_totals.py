"""What a queue's days add up to."""

from dataclasses import replace

import pytest

from forensics.balance import BalanceDay, Between, per_queue

SOME = Between(5, 5)
DAY = BalanceDay("orders", "2026-11-01", SOME, SOME, SOME, None, SOME, SOME, SOME, Between(-1, 2), 1.0)


def days(*unexplained):
    return [replace(DAY, day=f"2026-11-{n:02}", unexplained=u) for n, u in enumerate(unexplained, start=1)]


CASES = {
    "all balance": ([Between(0, 1), Between(-2, 0)], "All 2 days balance.", Between(-2, 1)),
    "one day": ([Between(0, 1)], "Its one day balances.", Between(0, 1)),
    "one does not": (
        [Between(0, 1), Between(2, 4)],
        "1 of 2 days does not balance: 2026-11-02.",
        Between(2, 5),
    ),
    "more than are named": (
        [Between(1, 1)] * 4 + [None],
        "4 of 4 days do not balance: 2026-11-04, 2026-11-03, 2026-11-02, ….",
        Between(4, 4),
    ),
    "no metrics": ([None], "No day of it can be balanced: its metrics were not read, or have no point.", None),
}


@pytest.mark.parametrize(("unexplained", "sentence", "total"), CASES.values(), ids=CASES)
def test_a_queue_says_which_of_its_days_do_not_balance(unexplained, sentence, total):
    (queue,) = per_queue(days(*unexplained))

    assert (queue.sentence, queue.unexplained) == (sentence, total)
    assert queue.total("sent") == Between(5 * len(unexplained), 5 * len(unexplained))


def test_the_queue_with_most_odd_days_comes_first():
    well = replace(DAY, queue="mail")
    odd = replace(DAY, queue="orders", unexplained=Between(3, 3))

    assert [q.queue for q in per_queue([well, odd])] == ["orders", "mail"]
