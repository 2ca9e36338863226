"""What several message ids of one work say together."""

import pytest

from forensics.report.works import by_work, with_first_repeats
from tests.forensics.report import world

RETRY = "It was delivered 1 time. The same business key was sent again 2 s later under another message id."
ONCE = {
    "causes": [],
    "origin": None,
    "trigger_sentence": "It was delivered 1 time.",
    "first_received_at": world.after(0),
}
AGAIN = {"causes": [], "origin": "producer_retry", "trigger_sentence": RETRY, "first_received_at": world.after(3)}


def work_of(*said):
    rows = [world.messages()[n] | {"work_id": "one", **told} for n, told in enumerate(said)]
    (work,) = with_first_repeats(by_work(rows), {})
    return work


def test_a_work_that_was_sent_again_was_first_repeated_when_its_second_id_was_received():
    assert work_of(ONCE, AGAIN)["first_repeat_at"] == world.after(3)
    assert work_of(AGAIN, ONCE)["first_repeat_at"] == world.after(3)
    assert work_of(ONCE)["first_repeat_at"] is None
    assert work_of(ONCE, AGAIN | {"first_received_at": None})["first_repeat_at"] is None


@pytest.mark.parametrize("order", [1, -1])
def test_only_ids_that_were_delivered_or_sent_again_say_why(order):
    assert str(work_of(*[ONCE, AGAIN][::order])["trigger_sentence"]) == RETRY
    assert str(work_of(ONCE, ONCE)["trigger_sentence"]) == "It was delivered 1 time."
