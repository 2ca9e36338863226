"""What several message ids of one work say together."""

import pytest

from forensics.report.works import by_work, elsewhere, every_work, repeated_text, with_first_repeats
from tests.forensics.report import world

RETRY = "It was delivered 1 time. The same business key was sent again 2 s later under another message id."
BOTH = "The work came in 2 messages, delivered 2 times in all."
ONCE = {
    "causes": [],
    "receive_count": 1,
    "origin": None,
    "trigger_sentence": "It was delivered 1 time.",
    "first_received_at": world.after(0),
}
AGAIN = ONCE | {"origin": "producer_retry", "trigger_sentence": RETRY, "first_received_at": world.after(3)}


def work_of(*said):
    rows = [world.messages()[n] | {"work_id": "one", **told} for n, told in enumerate(said)]
    (work,) = with_first_repeats(by_work(rows), {})
    return work


def test_a_work_that_was_sent_again_was_first_repeated_when_its_second_id_was_received():
    assert work_of(ONCE, AGAIN)["first_repeat_at"] == world.after(3)
    assert work_of(AGAIN, ONCE)["first_repeat_at"] == world.after(3)
    assert work_of(ONCE)["first_repeat_at"] is None
    assert work_of(ONCE, AGAIN | {"first_received_at": None})["first_repeat_at"] is None


def beside(others, again=None):
    row = world.messages()[0] | {"work_id": "one", "message_id": "m", "item_id": "m", **AGAIN}
    (work,) = with_first_repeats(by_work([row]), again or {}, {"one": others})
    return work


def test_a_work_that_another_incident_had_before_was_first_repeated_here_when_its_message_was_received():
    earlier, later = ("orders-1", world.after(1)), ("orders-2", world.after(9))

    assert beside([earlier])["first_repeat_at"] == world.after(3)
    assert beside([later, ("orders-3", None)])["first_repeat_at"] is None
    assert beside([later], {"m": world.after(5)})["first_repeat_at"] == world.after(5)


def test_the_repeats_of_a_work_say_which_other_incidents_have_a_part_in_them():
    work = beside([("orders-2", None), ("orders-1", None), ("orders-2", None)])

    assert work["other_incident_ids"] == ["orders-1", "orders-2"]
    assert repeated_text(work | {"extra_effects_at_least": 2, "extra_effects_at_most": 2}) == (
        "2, with those of orders-1, orders-2"
    )
    assert repeated_text(beside([]) | {"extra_effects_at_least": 1, "extra_effects_at_most": None}) == "1 or more"


@pytest.mark.parametrize("order", [1, -1])
def test_only_ids_that_were_delivered_or_sent_again_say_why(order):
    assert str(work_of(*[ONCE, AGAIN][::order])["trigger_sentence"]) == f"{BOTH} Message 2 of 2: {RETRY}"
    assert str(work_of(ONCE, ONCE)["trigger_sentence"]) == BOTH
    assert str(work_of(ONCE)["trigger_sentence"]) == ONCE["trigger_sentence"]


def test_ids_that_say_the_same_are_told_once_and_counted():
    told = f"{BOTH} Message 1 of 2, and 1 like it: {RETRY}"

    assert str(work_of(AGAIN, AGAIN)["trigger_sentence"]) == told


def test_where_a_line_names_a_key_alone_deliveries_are_not_added_up():
    assert str(work_of(ONCE, AGAIN | {"message_id": None})["trigger_sentence"]) == RETRY


@pytest.mark.lake
def test_other_incidents_are_asked_for_the_messages_of_works_that_they_share(tmp_path):
    mine, also, others = ({**world.messages()[n], "work_id": "one" if n < 2 else "two"} for n in (0, 1, 0))
    also |= {"incident_id": "orders-2", "message_id": "m2", "item_id": "m2", "first_received_at": world.after(-60)}
    others |= {"incident_id": "orders-3", "message_id": "m3", "item_id": "m3", "work_id": "two"}
    lake = world.save(tmp_path / "lake", {**world.findings(), "messages": [mine, also, others]})
    shared = world.incident() | {"works_shared": 1}

    assert elsewhere(lake.findings(), shared) == {"one": [("orders-2", world.after(-60))]}
    assert elsewhere(lake.findings(), shared | {"works_shared": 0}) == {}
    (work,) = every_work(lake.findings(), shared, elsewhere(lake.findings(), shared))
    assert (work["other_incident_ids"], work["first_repeat_at"]) == (["orders-2"], world.after(0))
