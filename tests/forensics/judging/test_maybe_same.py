"""Messages under one deduplication id whose bodies differ only in what differs at each send: perhaps one work, never for sure."""

import pytest

from forensics.judging import maybe_same
from forensics.judging.judge import judge
from forensics.judging.maybe_same import LONGEST_US, MOST_COUNTED, MOST_NAMED
from tests.forensics.judging.plain import MIN, Around, delivery

SENT = {
    "deduplication_id": "d",
    "group_id": "g",
    "body_shape": "s",
    "is_fifo": True,
    "receive_count": 1,
    "has_effect": True,
    "visibility_timeout_s": 30,
}
DONE, OPEN = {"marker_at": 1}, {}
FIRST = SENT | {"body_md5": "b1", "sent_ms": 0} | DONE
AGAIN = SENT | {"body_md5": "b2", "sent_ms": 420_000, "received_at": 7 * MIN, "consumer": "run 2"} | DONE


def messages(*facts):
    found = judge([delivery(f"m{n}", **{"received_at": 0, **f}) for n, f in enumerate(facts, 1)], Around())
    return {m.item_id: m for m in found.messages}


def intervals(*facts):
    return {name: (m.effects_at_least, m.effects_at_most, m.verdict) for name, m in messages(*facts).items()}


MAYBE = {
    "both were done": (FIRST, AGAIN, {"m1": (1, 2, "probable"), "m2": (1, 2, "probable")}),
    "the second may have been done": (
        FIRST,
        AGAIN | {"marker_at": None},
        {"m1": (1, 2, "probable"), "m2": (0, 2, "possible")},
    ),
    "nobody knows of either": (
        FIRST | {"marker_at": None},
        AGAIN | {"marker_at": None},
        {"m1": (0, 2, "possible"), "m2": (0, 2, "possible")},
    ),
    "the second was stopped": (
        FIRST,
        AGAIN | {"marker_at": None, "guard_at": 1},
        {"m1": (1, 1, "harmless"), "m2": (0, 1, "absorbed")},
    ),
    "the second may hide deliveries": (
        FIRST,
        AGAIN | {"receive_count": None, "received_at": None},
        {"m1": (1, None, "probable"), "m2": (1, None, "probable")},
    ),
    "the longest between them": (
        FIRST,
        AGAIN | {"sent_ms": LONGEST_US // 1000},
        {"m1": (1, 2, "probable"), "m2": (1, 2, "probable")},
    ),
    "longer between them": (FIRST, AGAIN | {"sent_ms": LONGEST_US // 1000 + 1}, {}),
    "times of the sends that nobody logged, and receives that are near": (
        FIRST | {"sent_ms": None},
        AGAIN | {"sent_ms": None},
        {"m1": (1, 2, "probable"), "m2": (1, 2, "probable")},
    ),
    "another body": (FIRST, AGAIN | {"body_shape": "t"}, {}),
    "bodies of which nothing is known but that they differ": (
        FIRST | {"body_shape": None},
        AGAIN | {"body_shape": None},
        {},
    ),
    "another message group": (FIRST, AGAIN | {"group_id": "h"}, {}),
    "another deduplication id": (FIRST, AGAIN | {"deduplication_id": "e"}, {}),
    "another queue": (FIRST, AGAIN | {"queue_arn": "arn:aws:sqs:eu-west-1:123456789012:other"}, {}),
    "different business keys": (FIRST | {"business_keys": ["k"]}, AGAIN | {"business_keys": ["l"]}, {}),
    "a business key that only one shows": (
        FIRST | {"business_keys": ["k"]},
        AGAIN,
        {"m1": (1, 2, "probable"), "m2": (1, 2, "probable")},
    ),
}


UNPLACED = {"queue_arn": "/aws/lambda/charge", "business_keys": ["k"], "receive_count": 1, "visibility_timeout_s": 30}
DAYS_LATER = {"received_at": 9_000 * MIN, "consumer": "run 2"}
OF_AN_UNKNOWN_QUEUE = {
    "both were done": (
        UNPLACED | DONE,
        UNPLACED | DONE | DAYS_LATER,
        {"m1": (1, 2, "probable"), "m2": (1, 2, "probable")},
    ),
    "neither is known to be": (
        UNPLACED | OPEN | {"has_effect": True},
        UNPLACED | OPEN | DAYS_LATER | {"has_effect": True},
        {"m1": (0, 2, "possible"), "m2": (0, 2, "possible")},
    ),
    "of which nobody knows when": (
        UNPLACED | DONE | {"received_at": None},
        UNPLACED | DONE | DAYS_LATER | {"received_at": None},
        {"m1": (1, 2, "probable"), "m2": (1, 2, "probable")},
    ),
    "another key": (UNPLACED | DONE, UNPLACED | DONE | DAYS_LATER | {"business_keys": ["l"]}, {}),
    "in a queue that is known": (
        UNPLACED | DONE,
        UNPLACED | DONE | DAYS_LATER | {"queue_arn": "arn:aws:sqs:eu-west-1:123456789012:other"},
        {},
    ),
}


@pytest.mark.parametrize(("first", "again", "expected"), OF_AN_UNKNOWN_QUEUE.values(), ids=OF_AN_UNKNOWN_QUEUE)
def test_one_business_key_of_an_unknown_queue_may_be_one_work_or_several(first, again, expected):
    assert intervals(first, again) == expected


def test_what_may_be_the_same_by_its_key_alone_was_sent_by_nobody_again():
    found = messages(UNPLACED | DONE, UNPLACED | DONE | DAYS_LATER)

    assert [m.origin for m in found.values()] == [None, None]
    assert found["m2"].effect_sentence.endswith(
        "Counted in is m1, which may be the same work: its business key is the same, and no line tells from which queue either came."
    )


@pytest.mark.parametrize(("first", "again", "expected"), MAYBE.values(), ids=MAYBE)
def test_what_may_be_the_same_work_raises_only_how_often_it_may_have_been_done(first, again, expected):
    assert intervals(first, again) == expected


def test_each_stays_a_work_of_its_own_and_names_the_other():
    found = messages(FIRST, AGAIN)

    assert [(m.work_id, m.related_message_ids, m.maybe_related_message_ids) for m in found.values()] == [
        ("m1", [], ["m2"]),
        ("m2", [], ["m1"]),
    ]
    assert "Counted in is m2, which may be the same work" in found["m1"].effect_sentence


HASHED = {"deduplication_id": "0123456789abcdef" * 4}


@pytest.mark.parametrize(
    "body", [{}, {"body_md5": "b"}, {"body_md5": None, "body_shape": None}], ids=["alike", "equal", "none"]
)
def test_what_was_sent_under_an_id_that_may_be_its_bodys_hash_may_be_one_work(body):
    same = {"body_md5": "b", "body_shape": "s"} | HASHED | body
    found = messages(FIRST | same, AGAIN | same | {"body_shape": body.get("body_shape", "of another time")})

    assert [(m.effects_at_least, m.effects_at_most, m.verdict) for m in found.values()] == [(1, 2, "probable")] * 2
    assert [m.related_message_ids for m in found.values()] == [[], []]
    assert found["m2"].effect_sentence.endswith(
        "Counted in is m1, which may be the same work: its deduplication id is the same, but that may be the hash of its body alone,"
        " and an equal body may be other work."
    )
    [still_open] = found["m2"].origin_open
    assert (
        "which may be the hash of its body alone; an equal body may stand for more than one piece of work" in still_open
    )
    assert "business_key" in still_open


def test_of_an_id_that_may_be_its_bodys_hash_those_are_the_same_work_that_follow_within_hours():
    found = intervals(FIRST | HASHED, AGAIN | HASHED | {"body_md5": "b1", "sent_ms": LONGEST_US // 1000 + 1})

    assert found == {}


def test_where_it_comes_from_stays_open_with_what_would_decide_it():
    found = messages(FIRST, AGAIN)

    assert (found["m1"].origin, found["m1"].origin_open) == (None, [])
    assert found["m2"].origin is None
    [still_open] = found["m2"].origin_open
    assert "it was sent 420 s after m1 under the same deduplication id" in still_open
    assert "business_key" in still_open


def test_one_that_was_done_twice_by_itself_stays_confirmed_and_the_other_does_not_become_it():
    twice = {"receive_count": 2, "received_at": 2 * MIN, "consumer": "run 3"}
    given = [delivery("m1", **FIRST), delivery("m1", **FIRST | twice), delivery("m2", **AGAIN)]

    found = {m.item_id: (m.effects_at_least, m.effects_at_most, m.verdict) for m in judge(given, Around()).messages}

    assert found == {"m1": (2, 3, "confirmed"), "m2": (1, 3, "probable")}


def test_sends_that_follow_one_another_are_counted_together_and_the_nearest_is_named():
    third = AGAIN | {"sent_ms": 2 * LONGEST_US // 1000, "body_md5": "b3", "consumer": "run 3"}
    second = AGAIN | {"sent_ms": LONGEST_US // 1000}

    found = messages(FIRST, second, third)

    assert {name: m.effects_at_most for name, m in found.items()} == {"m1": 3, "m2": 3, "m3": 3}
    assert "2 other messages that may be the same work, the nearest m2" in found["m1"].effect_sentence


def test_equal_bodies_under_an_id_of_several_works_may_be_one_work_too():
    same = {"body_shape": None}
    other = AGAIN | {"body_md5": "b9", "body_shape": None, "sent_ms": 900_000, "consumer": "run 3"}

    found = intervals(FIRST | same, AGAIN | same | {"body_md5": "b1"}, other)

    assert found == {"m1": (1, 2, "probable"), "m2": (1, 2, "probable")}


TOLD = SENT | {"body_md5": "b1", "sent_ms": 0, "effect": "yes"}
LATER = SENT | {"body_md5": "b2", "sent_ms": 420_000, "received_at": 7 * MIN}
HOUR = 3_600_000


def others(of, *works):
    """Say of each work, given its messages, what may be the same."""
    given = [
        [[delivery(f"m{n}{place}", **{"received_at": 0, **facts})] for place, facts in enumerate(work)]
        for n, work in enumerate(works, 1)
    ]
    maybe = of.MaybeSame(given, Around())
    found = [maybe.of(place) for place in range(len(given))]
    return [
        (list(o.message_ids), o.done_at_most, o.is_open, o.earlier[0].item_id if o.earlier else None) for o in found
    ]


NOT_THE_SAME = ([], 0, False, None)
OTHERS = {
    "one alone": ([TOLD], [NOT_THE_SAME]),
    "two of one work": ([TOLD, LATER], [NOT_THE_SAME]),
    "two works": ([TOLD], [LATER], [(["m20"], 1, False, None), (["m10"], 1, False, "m10")]),
    "the later one first": ([LATER], [TOLD], [(["m20"], 1, False, "m20"), (["m10"], 1, False, None)]),
    "both at one moment": (
        [TOLD],
        [LATER | {"sent_ms": 0}],
        [(["m20"], 1, False, None), (["m10"], 1, False, None)],
    ),
    "one that was not done": (
        [TOLD | {"effect": "no"}],
        [LATER],
        [(["m20"], 1, False, None), (["m10"], 0, False, "m10")],
    ),
    "a second work of two messages": (
        [TOLD],
        [LATER, LATER | {"sent_ms": HOUR}],
        [(["m20", "m21"], 2, False, None), (["m10"], 1, False, "m10")],
    ),
    "three, the nearest first": (
        [TOLD],
        [LATER],
        [LATER | {"sent_ms": HOUR}],
        [
            (["m20", "m30"], 2, False, None),
            (["m10", "m30"], 2, False, "m10"),
            (["m20", "m10"], 2, False, "m20"),
        ],
    ),
    "two near, and one long after": (
        [TOLD],
        [LATER],
        [LATER | {"sent_ms": 420_001 + LONGEST_US // 1000}],
        [(["m20"], 1, False, None), (["m10"], 1, False, "m10"), NOT_THE_SAME],
    ),
    "deliveries of the one may hide": (
        [TOLD],
        [LATER | {"receive_count": None, "visibility_timeout_s": None}],
        [(["m20"], 1, True, None), (["m10"], 1, False, "m10")],
    ),
    "no body of either": (
        [TOLD | {"body_shape": None, "body_md5": None}],
        [LATER | {"body_shape": None, "body_md5": None}],
        [NOT_THE_SAME, NOT_THE_SAME],
    ),
    "no deduplication id of either": (
        [TOLD | {"deduplication_id": None}],
        [LATER | {"deduplication_id": None}],
        [NOT_THE_SAME, NOT_THE_SAME],
    ),
    "no time of the one": (
        [TOLD | {"sent_ms": None, "received_at": None}],
        [LATER],
        [NOT_THE_SAME, NOT_THE_SAME],
    ),
    "a work of which only a key is known": (
        [TOLD | {"message_id": None}],
        [LATER],
        [NOT_THE_SAME, NOT_THE_SAME],
    ),
    "different keys": (
        [TOLD | {"business_keys": ["k"]}],
        [LATER | {"business_keys": ["l"]}],
        [NOT_THE_SAME, NOT_THE_SAME],
    ),
    "different events": (
        [TOLD | {"business_keys": ["sns:1"]}],
        [LATER | {"business_keys": ["sns:2"]}],
        [(["m20"], 1, False, None), (["m10"], 1, False, "m10")],
    ),
    "a key that only one shows": (
        [TOLD | {"business_keys": ["k"]}],
        [LATER],
        [(["m20"], 1, False, None), (["m10"], 1, False, "m10")],
    ),
    "a key that one message of the work shows, and another of the other": (
        [TOLD, TOLD | {"business_keys": ["k"]}],
        [LATER | {"business_keys": ["l"]}],
        [NOT_THE_SAME, NOT_THE_SAME],
    ),
}


@pytest.mark.parametrize(("works", "expected"), [(w, e) for *w, e in OTHERS.values()], ids=OTHERS)
def test_each_work_is_told_which_others_may_be_the_same(works, expected):
    assert others(maybe_same, *works) == expected


@pytest.mark.parametrize(("count", "is_bounded"), [(MOST_COUNTED, True), (MOST_COUNTED + 1, False)])
def test_what_recurs_all_the_time_is_not_added_up_and_has_no_upper_bound(count, is_bounded):
    recurring = [
        SENT | {"body_md5": f"b{n}", "sent_ms": n * 360_000, "consumer": f"run {n}"} | DONE for n in range(count)
    ]

    found = messages(*recurring)

    assert {m.effects_at_most for m in found.values()} == ({count} if is_bounded else {None})
    assert max(len(m.maybe_related_message_ids) for m in found.values()) == MOST_NAMED
    assert {m.verdict for m in found.values()} == {"probable"}
