"""Where further message ids of one work come from: which id each is put beside, and what of both is told."""

import pytest

from forensics.clock import moment
from forensics.judging import origins
from forensics.origins import IdPair, Origin
from forensics.settings_in_force import SettingsInForce
from tests.forensics.judging.plain import LATE, Around, S, delivery

SENT = {"m1": {"sent_ms": 0}, "m2": {"sent_ms": 2_500}}


def asked(of, monkeypatch, messages, around=None):
    """Return by item id what the rules are asked."""
    found = {}
    monkeypatch.setattr(of, "origin_of", lambda ids: Origin(None, ids))
    work = [[delivery(item_id, **facts)] for item_id, facts in messages.items()]
    for item_id, origin in of.origins(work, around or Around()).items():
        found[item_id] = origin.sentence
    return found


ORDERS = {
    "by when they were sent": ({"m1": {"sent_ms": 9}, "m2": {"sent_ms": 5}}, {"m1": "m2"}),
    "one whose send is not known, and that was received later": (
        {"m1": {"received_at": 1}, "m2": {"sent_ms": 5}},
        {"m1": "m2"},
    ),
    "one sent at the very first moment": ({"m1": {"sent_ms": 5}, "m2": {"sent_ms": 0}}, {"m1": "m2"}),
    "one whose send is not known comes as it was received": (
        {"m1": {"received_at": 3_000}, "m2": {"sent_ms": 2, "received_at": 4_000}},
        {"m2": "m1"},
    ),
    "sent at one time, by when they were received": (
        {"m1": {"sent_ms": 5, "received_at": 9}, "m2": {"sent_ms": 5, "received_at": 1}},
        {"m1": "m2"},
    ),
    "all at one time, by id": ({"m2": {"sent_ms": 5}, "m1": {"sent_ms": 5}}, {"m2": "m1"}),
    "three in a row": (
        {"m1": {"sent_ms": 1}, "m2": {"sent_ms": 2}, "m3": {"sent_ms": 3}},
        {"m2": "m1", "m3": "m2"},
    ),
    "named after an earlier one than the last": (
        {"m1": {"sent_ms": 1}, "m2": {"sent_ms": 2}, "m3": {"sent_ms": 3, "deduplication_id": "m1"}},
        {"m2": "m1", "m3": "m1"},
    ),
    "sent again under its deduplication id, after another": (
        {
            "m1": {"sent_ms": 1, "deduplication_id": "d"},
            "m2": {"sent_ms": 2, "deduplication_id": "e"},
            "m3": {"sent_ms": 3, "deduplication_id": "d"},
        },
        {"m2": "m1", "m3": "m1"},
    ),
    "named after one that was sent later": (
        {"m1": {"sent_ms": 1, "deduplication_id": "m2"}, "m2": {"sent_ms": 2}},
        {"m1": "m2", "m2": "m1"},
    ),
    "named after itself": ({"m1": {"sent_ms": 1, "deduplication_id": "m1"}, "m2": {"sent_ms": 2}}, {"m2": "m1"}),
    "named after a stranger": ({"m1": {"sent_ms": 1, "deduplication_id": "x"}, "m2": {"sent_ms": 2}}, {"m2": "m1"}),
    "one has no message id": ({"m1": {"sent_ms": 1}, "key:k": {"sent_ms": 2}}, {}),
    "one alone": ({"m1": {"sent_ms": 1}}, {}),
}
"""Messages of one work, and which earlier one each is put beside."""


@pytest.mark.parametrize(("messages", "expected"), ORDERS.values(), ids=ORDERS)
def test_each_id_is_put_beside_the_one_before_it(monkeypatch, messages, expected):
    assert {i: ids.earlier_id for i, ids in asked(origins, monkeypatch, messages).items()} == expected


TOLD = {
    "nothing": ({}, {}, {"has_same_deduplication_id": None, "has_same_body": None}),
    "the same deduplication id": (
        {"deduplication_id": "d"},
        {"deduplication_id": "d"},
        {"has_same_deduplication_id": True},
    ),
    "another deduplication id": (
        {"deduplication_id": "d"},
        {"deduplication_id": "e"},
        {"has_same_deduplication_id": False},
    ),
    "one deduplication id is not known": ({"deduplication_id": "d"}, {}, {"has_same_deduplication_id": None}),
    "the same body": ({"body_md5": "b"}, {"body_md5": "b"}, {"has_same_body": True}),
    "another body": ({"body_md5": "b"}, {"body_md5": "c"}, {"has_same_body": False}),
    "a key in common": (
        {"business_keys": ["j", "k"]},
        {"business_keys": ["k"]},
        {"has_same_business_key": True},
    ),
    "no key in common": ({"business_keys": ["j"]}, {"business_keys": ["k"]}, {"has_same_business_key": False}),
    "the same job": ({"job_id": "j"}, {"job_id": "j"}, {"has_same_job_id": True}),
    "one job is not known": ({}, {"job_id": "j"}, {"has_same_job_id": False}),
    "the first was dead-lettered": ({"ended_by": "dead_lettered"}, {}, {"earlier_was_dead_lettered": True}),
    "the second was dead-lettered": ({}, {"ended_by": "dead_lettered"}, {"earlier_was_dead_lettered": False}),
    "the first may have been, while a log was not read": (
        {"ended_by": "visibility_expired", "dead_letter_queue_arn": "dead"},
        {},
        {"earlier_was_dead_lettered": None},
    ),
    "the first failed, and its queue has no dead-letter queue": (
        {"ended_by": "visibility_expired"},
        {},
        {"earlier_was_dead_lettered": False},
    ),
    "the first was deleted": (
        {"ended_by": "deleted", "dead_letter_queue_arn": "dead", "reports_batch_item_failures": False},
        {},
        {"earlier_was_dead_lettered": False},
    ),
    "the first may have been given back by a response, and was then dead-lettered while a log was not read": (
        {"ended_by": "deleted", "dead_letter_queue_arn": "dead", "reports_batch_item_failures": True},
        {},
        {"earlier_was_dead_lettered": None},
    ),
    "a FIFO queue": ({}, {"is_fifo": True}, {"is_fifo": True}),
    "how long after": ({}, {}, {"sent_gap_s": 2.5}),
    "one send is not known": ({}, {"sent_ms": None}, {"sent_gap_s": None}),
    "nobody asked for move tasks": ({}, {}, {"was_moved_then": None}),
}


@pytest.mark.parametrize(("first", "second", "expected"), TOLD.values(), ids=TOLD)
def test_rules_are_told_what_both_ids_have_in_common(monkeypatch, first, second, expected):
    messages = {"m1": {**SENT["m1"], **first}, "m2": {**SENT["m2"], **second}}

    ids = asked(origins, monkeypatch, messages, Around(unread=(-LATE, LATE)))["m2"]

    assert {name: getattr(ids, name) for name in expected} == expected


def test_a_move_task_is_asked_for_when_the_later_one_was_sent(monkeypatch):
    moved = asked(origins, monkeypatch, SENT, Around(moved_from=2 * S))
    not_moved = asked(origins, monkeypatch, SENT, Around(moved_from=3 * S))

    assert (moved["m2"].was_moved_then, not_moved["m2"].was_moved_then) == (True, False)


def test_of_the_first_that_is_named_after_another_nothing_else_is_told(monkeypatch):
    messages = {"m1": {"sent_ms": 1, "deduplication_id": "m2", "is_fifo": True}, "m2": {"sent_ms": 2}}

    assert asked(origins, monkeypatch, messages)["m1"] == IdPair(
        earlier_id="m2", is_fifo=True, has_same_deduplication_id=None, is_named_after_earlier=True
    )


SET_LATER = {
    "it was left behind": ("visibility_expired", True, None),
    "nothing tells how it ended": ("unknown", True, None),
    "its delete was refused": ("delete_refused", True, None),
    "it was still hidden": ("in_flight", True, False),
    "it was deleted": ("deleted", True, False),
    "left behind in a queue that had none": ("visibility_expired", False, False),
}


@pytest.mark.parametrize(("ended_by", "is_set_later", "expected"), SET_LATER.values(), ids=SET_LATER)
def test_a_dead_letter_queue_that_was_set_later_may_have_been_there_before(
    monkeypatch, ended_by, is_set_later, expected
):
    """Its redrive policy was changed an hour after the receive, and read then."""
    changed = moment(3_600 * S) if is_set_later else None
    snapshot = {
        "queue_arn": "q",
        "dead_letter_queue_arn": "dead" if is_set_later else None,
        "evidence_id": "queue",
        "last_modified_at": changed,
        "observed_at": moment(7_200 * S),
    }
    around = Around(in_force=SettingsInForce.of([snapshot], [], []))
    facts = {"queue_arn": "q", "received_at": S}
    messages = {"m1": {"sent_ms": 1, "ended_by": ended_by, **facts}, "m2": {"sent_ms": 2, **facts}}

    assert asked(origins, monkeypatch, messages, around)["m2"].earlier_was_dead_lettered is expected


def test_what_any_delivery_says_of_a_message_counts(monkeypatch):
    first = [delivery("m1", sent_ms=1), delivery("m1", body_md5="b", ended_by="dead_lettered")]
    second = [delivery("m2", sent_ms=2, body_md5="b"), delivery("m2")]
    monkeypatch.setattr(origins, "origin_of", lambda ids: Origin(None, ids))

    ids = origins.origins([first, second], Around())["m2"].sentence

    assert (ids.has_same_body, ids.earlier_was_dead_lettered) == (True, True)


def test_who_sent_each_of_them_is_told_as_the_printed_batches_say(monkeypatch):
    messages = {"m1": {"sent_ms": 1, "sender_id": "AROA1:shop"}, "m2": {"sent_ms": 2}}
    silent = asked(origins, monkeypatch, messages)["m2"]
    told = asked(origins, monkeypatch, messages | {"m2": {"sent_ms": 2, "sender_id": "AROA2:batch"}})["m2"]

    assert (silent.earlier_sender, silent.sender) == ("AROA1:shop", None)
    assert (told.earlier_sender, told.sender) == ("AROA1:shop", "AROA2:batch")
