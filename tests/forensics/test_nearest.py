import pytest

from forensics.language import Language
from forensics.nearest import near, queues_hint

QUEUES = ["mail", "payments", "payments-dlq", "payments-eu"]


def test_the_nearest_name_comes_first_and_what_is_far_not_at_all():
    assert near("paymets", QUEUES)[0] == "payments"
    assert near("x", QUEUES) == []


@pytest.mark.parametrize("known", [QUEUES[:2], QUEUES[:3], QUEUES], ids=["one", "two", "three"])
def test_names_that_may_be_meant_are_joined_in_japanese_too(known):
    said = Language("ja").sentence(queues_hint("paymets", known))

    assert " or " not in said
    assert said.startswith("もしかして：payments")


def test_an_arn_is_like_the_queues_whose_name_it_ends_with():
    assert queues_hint("arn:aws:sqs:eu-west-1:111122223333:mial", QUEUES).startswith("Did you mean mail? ")


def test_where_there_is_no_queue_that_is_said():
    assert queues_hint("mail", []) == "There is: no queue at all."
