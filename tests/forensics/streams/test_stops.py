"""What a worker had in hand when its process was told to stop, and how its handlings end."""

from dataclasses import replace

import pytest

from forensics.settings import Consumer
from forensics.streams.deliveries import gathered
from forensics.streams.handlings import delivery_of
from tests.forensics.streams.worker_streams import GROUP, NOON, handlings, stream

S = 1_000_000
STOP = "worker_stopping"
STOPS = {
    "the one message that was begun": (["record A", STOP], {"A": 2}),
    "the last that was begun, where one worker writes the stream": (
        ["record A", "effect A", "record B", STOP],
        {"A": None, "B": 4},
    ),
    "none, where several workers share the stream": (
        ["record A", "record B", "effect A", STOP],
        {"A": None, "B": None},
    ),
    "not the message of which something was said since it was begun, where no line tells an end": (
        ["started A", "mention A", STOP],
        {"A": None},
    ),
    "not what was begun before the last, where only failures are told": (
        ["started A", "mention A", "started B", "worker_failed B", "started C", STOP],
        {"A": None, "B": None, "C": 6},
    ),
    "all that were begun and not ended, where ends are told": (
        ["worker_started A", "worker_started B", "worker_started C", "worker_finished B", STOP],
        {"A": 5, "B": None, "C": 5},
    ),
    "nothing that was begun before an earlier stop": (["record A", STOP, 5, STOP], {"A": 2}),
    "not what it went on to write of": (["record A", STOP, "effect A"], {"A": None}),
    "its task, where it names tasks by a key": (
        ["worker_started key=T", "worker_started key=U", "worker_finished key=U", STOP],
        {"key:T": 4, "key:U": None},
    ),
}


@pytest.mark.parametrize(("said", "expected"), STOPS.values(), ids=STOPS)
def test_a_stop_is_about(said, expected):
    found = {h.item_id: delivery_of(h, GROUP).stopped_at for h in handlings(*said)}

    assert found == {item: None if second is None else NOON + second * S for item, second in expected.items()}


def test_a_stop_is_about_what_was_done_and_not_deleted_where_the_worker_is_said_to_tell_its_deletes():
    says_deletes = replace(GROUP, consumer=Consumer(deleted=r"deleted (?P<message_id>\S+)"))
    found = {
        group.consumer.deleted: delivery_of(handling, group).stopped_at
        for group in (GROUP, says_deletes)
        for handling in handlings("started A", "effect A", STOP, group=group)
    }

    assert list(found.values()) == [None, NOON + 3 * S]


def test_a_stop_is_no_word_of_the_message():
    (handling,) = handlings("record A", 600, STOP)
    delivery = delivery_of(handling, GROUP)

    assert (delivery.run_last_line_at, delivery.is_end_known) == (NOON + S, False)


ENDS = {
    "its finish": (["record A", "worker_finished A"], True, "success"),
    "its acknowledgement": (["record A", "worker_acknowledged A"], True, "success"),
    "an acknowledgement of what had failed": (["record A", "worker_failed A", "worker_acknowledged A"], True, "error"),
    "its failure": (["record A", "worker_failed A"], True, "error"),
    "its delete that failed": (["record A", "worker_delete_failed A"], True, "unknown"),
    "no line": (["record A", "effect A"], False, "unknown"),
}


@pytest.mark.parametrize(("said", "is_known", "status"), ENDS.values(), ids=ENDS)
def test_the_end_of_a_handling_is_told_by(said, is_known, status):
    (handling,) = handlings(*said)
    delivery = delivery_of(handling, GROUP)

    assert (delivery.is_end_known, delivery.run_status) == (is_known, status)


def test_only_a_stop_is_known_of_a_message():
    fact = stream(STOP)[0].fact._replace(message_id="A")

    assert gathered("A", [fact]).first_fact_at == NOON + S
