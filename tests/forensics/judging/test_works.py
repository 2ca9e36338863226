"""Which messages are the same work, and what it is called."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.judging import works
from forensics.settings_in_force import SettingsInForce
from tests.forensics.judging.plain import LATE, Around, S, delivery

NOWHERE = {"queue_arn": "/aws/lambda/charge"}
IN_AN_UNKNOWN_QUEUE = {
    "the same business key": (NOWHERE | {"business_keys": ["k"]}, NOWHERE | {"business_keys": ["k"]}, False),
    "the same deduplication id": (NOWHERE | {"deduplication_id": "d"}, NOWHERE | {"deduplication_id": "d"}, False),
    "the same job": (NOWHERE | {"job_id": "j"}, NOWHERE | {"job_id": "j"}, True),
    "named after the other's message id": (NOWHERE, NOWHERE | {"deduplication_id": "m1"}, True),
}

LAST_ALLOWED = {"receive_count": 3, "max_receive_count": 3, "run_status": "timeout"}

HIDDEN = 30 * S

BY_KEY = {"message_id": None}

CASES = {
    "the same deduplication id": ({"deduplication_id": "d"}, {"deduplication_id": "d"}, True),
    "different deduplication ids": ({"deduplication_id": "d"}, {"deduplication_id": "e"}, False),
    "the same deduplication id in another message group": (
        {"deduplication_id": "d", "group_id": "g"},
        {"deduplication_id": "d", "group_id": "h"},
        False,
    ),
    "the same deduplication id, and different business keys": (
        {"deduplication_id": "d", "business_keys": ["k"]},
        {"deduplication_id": "d", "business_keys": ["j"]},
        False,
    ),
    "the same deduplication id, and a business key that only one shows": (
        {"deduplication_id": "d", "business_keys": ["k"]},
        {"deduplication_id": "d"},
        True,
    ),
    "the same deduplication id, and a business key in common": (
        {"deduplication_id": "d", "business_keys": ["k"]},
        {"deduplication_id": "d", "business_keys": ["j", "k"]},
        True,
    ),
    "the same deduplication id, and different event ids": (
        {"deduplication_id": "d", "business_keys": ["sns:1"]},
        {"deduplication_id": "d", "business_keys": ["sns:2"]},
        True,
    ),
    "the same deduplication id, and different bodies": (
        {"deduplication_id": "d", "body_md5": "b"},
        {"deduplication_id": "d", "body_md5": "c"},
        False,
    ),
    "the same deduplication id, and different bodies with a business key in common": (
        {"deduplication_id": "d", "body_md5": "b", "business_keys": ["k"]},
        {"deduplication_id": "d", "body_md5": "c", "business_keys": ["k"]},
        True,
    ),
    "the same deduplication id, different bodies, and a business key that only one shows": (
        {"deduplication_id": "d", "body_md5": "b", "business_keys": ["k"]},
        {"deduplication_id": "d", "body_md5": "c"},
        False,
    ),
    "the same deduplication id, and a body that only one shows": (
        {"deduplication_id": "d", "body_md5": "b"},
        {"deduplication_id": "d"},
        True,
    ),
    "the same deduplication id, and bodies of one event published twice": (
        {"deduplication_id": "d", "body_md5": "b", "business_keys": ["sns:1"]},
        {"deduplication_id": "d", "body_md5": "c", "business_keys": ["sns:2"]},
        True,
    ),
    "named after the other's message id": ({}, {"deduplication_id": "m1"}, True),
    "the same business key": ({"business_keys": ["k"]}, {"business_keys": ["j", "k"]}, True),
    "different business keys": ({"business_keys": ["k"]}, {"business_keys": ["j"]}, False),
    "its business key in lines that name no message": (
        {"business_keys": ["k"]},
        BY_KEY | {"business_keys": ["k"]},
        True,
    ),
    "another key in such lines": ({"business_keys": ["k"]}, BY_KEY | {"business_keys": ["j"]}, False),
    "the same event, published twice": ({"business_keys": ["sns:1"]}, {"business_keys": ["sns:1"]}, True),
    "its event's id in lines that name no message": (
        {"business_keys": ["sns:1"]},
        BY_KEY | {"business_keys": ["sns:1"]},
        False,
    ),
    "the same job": ({"job_id": "j"}, {"job_id": "j"}, True),
    "different jobs": ({"job_id": "j"}, {"job_id": "i"}, False),
    "a job named like the other's key": ({"job_id": "k"}, {"business_keys": ["k"]}, False),
    "a job named like the other's message": ({}, {"job_id": "m1"}, False),
    "a key named like the other's deduplication id": ({"business_keys": ["d"]}, {"deduplication_id": "d"}, False),
    "an equal body alone": ({"body_md5": "b"}, {"body_md5": "b"}, False),
    "the same key in another queue": ({"business_keys": ["k"]}, {"business_keys": ["k"], "queue_arn": "other"}, False),
    "nothing in common": ({}, {}, False),
}
"""What is said of message m1 and of message m2, and whether they are one work."""

WENT = {**LAST_ALLOWED, "body_md5": "b", "hidden_until_at": HIDDEN, "sent_ms": 0}

BACK = {"body_md5": "b", "sent_ms": 60_000}

REDRIVEN = {
    "one went and one came back": ({"m1": WENT, "m2": BACK}, {"m1", "m2"}),
    "one went and two came back": ({"m1": WENT, "m2": BACK, "m3": BACK}, set()),
    "two went and one came back": ({"m1": WENT, "m2": WENT, "m3": BACK}, set()),
    "the other was not brought by a move task": ({"m1": WENT, "m2": {**BACK, "sent_ms": 59_999}}, set()),
    "another body": ({"m1": WENT, "m2": {**BACK, "body_md5": "c"}}, set()),
    "no body known": ({"m1": {**WENT, "body_md5": None}, "m2": {**BACK, "body_md5": None}}, set()),
    "the one before did not go": ({"m1": {**WENT, "receive_count": 2}, "m2": BACK}, set()),
    "in another queue": ({"m1": WENT, "m2": {**BACK, "queue_arn": "other"}}, set()),
    "went again after it came back": ({"m1": WENT, "m2": {**WENT, **BACK}}, {"m1", "m2"}),
}
"""What is said of some messages, and which of them are one work; what was sent a minute after noon or later was moved."""


def works_of(of, items, around=None):
    return [[item[0].item_id for item in work] for work in of.works(items, around or Around())]


def answer(of, first, second):
    return len(works_of(of, [[delivery("m1", **first)], [delivery("m2", **second)]])) == 1


@pytest.mark.parametrize(("first", "second", "are_one"), CASES.values(), ids=CASES)
def test_two_messages_of_a_queue_are_one_work_by_an_id_they_share(first, second, are_one):
    assert answer(works, first, second) is are_one


@pytest.mark.parametrize(("first", "second", "are_one"), IN_AN_UNKNOWN_QUEUE.values(), ids=IN_AN_UNKNOWN_QUEUE)
def test_where_nothing_tells_the_queue_only_ids_that_no_two_queues_share_link(first, second, are_one):
    assert answer(works, first, second) is are_one


def test_a_deduplication_id_of_several_works_in_one_queue_links_in_another():
    shared = {"deduplication_id": "d"}
    several = [[delivery(f"m{n}", **shared, business_keys=[f"k{n}"])] for n in (1, 2)]
    elsewhere = [[delivery(f"n{n}", **shared, queue_arn="other")] for n in (1, 2)]

    assert works_of(works, [*several, *elsewhere]) == [["m1"], ["m2"], ["n1", "n2"]]


QUEUE = "arn:aws:sqs:eu-west-1:123456789012:orders"
OFF_FROM = 100
"""From so many seconds after noon on the queue's deduplication is known not to be content-based."""
HASH = {"deduplication_id": "0123456789abcdef" * 4}
OF_A_BODY = {
    "with the setting on": ("on", HASH, HASH, False),
    "with the setting not known": (None, HASH, HASH, False),
    "of a queue of which nothing is known": ("nothing", HASH, HASH, False),
    "with the setting off": ("off", HASH, HASH, True),
    "and bodies that are equal": ("on", HASH | {"body_md5": "b"}, HASH | {"body_md5": "b"}, False),
    "and bodies that are equal, with the setting off": (
        "off",
        HASH | {"body_md5": "b"},
        HASH | {"body_md5": "b"},
        True,
    ),
    "and one event published twice, in two bodies": (
        "on",
        HASH | {"body_md5": "b", "business_keys": ["sns:1"]},
        HASH | {"body_md5": "c", "business_keys": ["sns:2"]},
        True,
    ),
    "and a business key in common": ("on", HASH | {"business_keys": ["k"]}, HASH | {"business_keys": ["k"]}, True),
    "of a digit less": ("on", *[{"deduplication_id": "0" * 63}] * 2, True),
    "of a digit more": ("on", *[{"deduplication_id": "0" * 65}] * 2, True),
    "in capitals, as SQS writes none": ("on", *[{"deduplication_id": "A" * 64}] * 2, True),
    "set off between the two sends": ("later off", HASH | {"sent_ms": 0}, HASH | {"sent_ms": 200_000}, False),
    "set off before both": ("later off", HASH | {"sent_ms": 150_000}, HASH | {"sent_ms": 200_000}, True),
    "set off before both were received, their sends not known": (
        "later off",
        HASH | {"received_at": 150 * S},
        HASH | {"received_at": 150 * S},
        True,
    ),
}


def around_content_based(setting):
    if setting == "nothing":
        return Around()
    value = {"on": True, "off": False, "later off": False, None: None}[setting]
    since = {
        "observed_at": datetime.fromtimestamp(OFF_FROM, UTC),
        "last_modified_at": datetime.fromtimestamp(OFF_FROM, UTC),
    }
    if setting != "later off":
        since = {"observed_at": datetime(1970, 1, 1, tzinfo=UTC), "last_modified_at": None}
    row = {"queue_arn": QUEUE, "evidence_id": "q", "content_based_deduplication": value, **since}
    return Around(in_force=SettingsInForce.of([row], [], []))


def of_a_body(of, setting, first, second):
    items = [[delivery("m1", **first)], [delivery("m2", **second)]]
    return len(works_of(of, items, around_content_based(setting))) == 1


@pytest.mark.parametrize(("setting", "first", "second", "are_one"), OF_A_BODY.values(), ids=OF_A_BODY)
def test_what_may_be_the_hash_of_a_body_links_no_more_than_an_equal_body(setting, first, second, are_one):
    assert of_a_body(works, setting, first, second) is are_one


def redriven(of, messages):
    items = [[delivery(item_id, **facts)] for item_id, facts in messages.items()]
    return {i for work in works_of(of, items, Around(moved_from=60 * S)) if len(work) > 1 for i in work}


@pytest.mark.parametrize(("messages", "linked"), REDRIVEN.values(), ids=REDRIVEN)
def test_a_body_links_where_one_message_went_and_one_was_moved_back(messages, linked):
    assert redriven(works, messages) == linked


def test_a_body_links_nothing_where_no_move_task_is_known():
    items = [[delivery("m1", **WENT)], [delivery("m2", **BACK)]]

    assert works_of(works, items) == [["m1"], ["m2"]]


def test_what_a_late_line_seems_to_bring_again_may_have_gone_too():
    late = [delivery("m1", **WENT, came_again=True), delivery("m1", received_at=LATE)]
    items = [late, [delivery("m2", **WENT)], [delivery("m3", **BACK)]]

    assert works_of(works, items, Around(moved_from=60 * S)) == [["m1"], ["m2"], ["m3"]]


def test_a_work_is_named_by_its_smallest_item_and_linked_through_others():
    keys = {"m1": ["a"], "m2": ["c"], "m3": ["b", "c"], "m4": ["a", "b"]}
    items = [[delivery(item_id, business_keys=held)] for item_id, held in keys.items()]

    assert works_of(works, items) == [["m1", "m2", "m3", "m4"]]
    assert {d.work_id for item in items for d in item} == {"m1"}


BESIDE_A_KEY = {"a message that sorts before it": ("0a1b", "0a1b"), "one that sorts behind it": ("zz-9", "zz-9")}


def named(of, message_id):
    mine, line = delivery(message_id, business_keys=["k"]), delivery("key:k", business_keys=["k"])
    of.works([[line], [mine]], Around())
    assert (mine.is_beside_messages, line.is_beside_messages) == (False, True)
    (name,) = {mine.work_id, line.work_id}
    return name


@pytest.mark.parametrize(("message_id", "expected"), BESIDE_A_KEY.values(), ids=BESIDE_A_KEY)
def test_a_work_is_named_by_a_message_beside_lines_that_name_its_key_alone(message_id, expected):
    assert named(works, message_id) == expected


def test_a_link_said_in_any_delivery_links_the_message():
    twice = [delivery("m1"), delivery("m1", business_keys=["k"])]
    other = [delivery("m2", business_keys=["k"])]

    assert works_of(works, [twice, other]) == [["m1", "m2"]]


def _components(keys):
    """The slow way: grow each set until nothing more shares a key with it."""
    found = []
    for item_id in keys:
        work = {item_id}
        while more := {o for o in keys for i in work if o not in work and set(keys[o]) & set(keys[i])}:
            work |= more
        found.append(frozenset(work))
    return set(found)


@given(st.dictionaries(st.sampled_from("pqrstuvwxyz"), st.lists(st.integers(0, 9), max_size=3), max_size=9))
def test_works_are_the_connected_items_whatever_they_share(keys):
    items = [[delivery(item_id, business_keys=[str(k) for k in held])] for item_id, held in sorted(keys.items())]

    found = works.works(items, Around())

    assert {frozenset(item[0].item_id for item in work) for work in found} == _components(keys)
    assert all(d.work_id == min(i[0].item_id for i in work) for work in found for item in work for d in item)
