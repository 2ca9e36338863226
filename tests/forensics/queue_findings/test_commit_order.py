"""Earlier messages that were finished after later ones, at the borders. m1 was sent before m2, which was done at 50 s."""

import random
from typing import Any

import pytest
from hypothesis import given

from forensics.queue_findings import late_commits
from forensics.streams.model import Delivery
from tests.forensics.queue_findings.ledgers import at, delivered, groups, stance_of


def m1(done: float | None, **more: Any) -> Delivery:
    told: dict[str, Any] = {"received": 5, "ended_by": "deleted", "sent": 1, "done": done}
    return delivered("m1", **told | more)


def m2(done: float | None = 50, **more: Any) -> Delivery:
    told: dict[str, Any] = {"received": 40, "ended_by": "deleted", "sent": 2, "done": done}
    return delivered("m2", **told | more)


def unsure_m2(**more: Any) -> Delivery:
    """m2 is worked on once more, and nothing tells whether it was done."""
    return m2(done=None, index=2, **more)


LATE: dict[str, tuple[list[Delivery], list[str]]] = {
    "a millisecond later": ([m1(50.001), m2()], ["supported"]),
    "at the same moment": ([m1(50), m2()], []),
    "before": ([m1(49), m2()], []),
    "later, but sent in the same millisecond": ([m1(60, sent=2), m2()], []),
    "later, but nothing tells when it was sent": ([m1(60, sent=None), m2()], []),
    "later than one that may not have been done at all": ([m1(60), m2(done=None)], []),
    "later, as far as anything tells": ([m1(None, effect="unknown"), m2()], []),
    "later, and the other may be done once more since": (
        [m1(60), m2(ended_by="visibility_expired"), unsure_m2(received=70, run_ended=72)],
        ["undecidable"],
    ),
    "later, and the other may be done until that moment": (
        [m1(60), m2(ended_by="visibility_expired"), unsure_m2(received=55, run_ended=60)],
        ["undecidable"],
    ),
    "later than whatever the other can have done": (
        [m1(60), m2(ended_by="visibility_expired"), unsure_m2(received=55, run_ended=59.999)],
        ["supported"],
    ),
    "later, and only a timeout bounds the other": (
        [m1(60), m2(ended_by="visibility_expired"), unsure_m2(received=29, hidden=59)],
        ["supported"],
    ),
    "later, and only its receive tells of the other": (
        [m1(60), m2(ended_by="visibility_expired"), unsure_m2(received=61, hidden=None)],
        ["undecidable"],
    ),
}


@pytest.mark.parametrize(("deliveries", "stances"), LATE.values(), ids=LATE)
def test_the_earlier_message_is_done(deliveries, stances):
    assert [stance_of(candidate) for candidate in late_commits(deliveries)] == stances


def test_a_batch_done_twice_in_order_leaves_what_the_later_message_wrote():
    rows = [
        delivered(item, index=index, received=first, ended_by="deleted", sent=sent, done=first + delay)
        for index, first in ((1, 10), (2, 100))
        for item, sent, delay in (("m1", 1, 0), ("m2", 2, 1))
    ]

    assert late_commits(rows) == []


def test_done_once_more_at_the_end_is_late():
    (late,) = late_commits([m1(10), m2(), m1(60, index=2)])

    assert (late.item_id, late.until_at, late.evidence_ids) == ("m1", at(60), ["log:m1-2", "log:m2-1"])
    assert late_commits([m1(60), m2(), m2(70, index=2)]) == []


def test_a_late_commit_names_both_messages_and_their_lines():
    (late,) = late_commits([m1(65.2, business_keys=["b"]), m2()])

    assert (late.item_id, late.message_ids) == ("m1", ["m1", "m2"])
    assert (late.from_at, late.until_at, late.facts.late_ms) == (at(50), at(65.2), 15_200)
    assert (set(late.evidence_ids), late.business_keys) == ({"log:m1-1", "log:m2-1"}, ["b"])


def test_it_is_held_against_the_latest_sent_of_those_done_before():
    m3 = delivered("m3", received=20, ended_by="deleted", sent=3, done=30)

    (late_m1, late_m2) = late_commits([m1(60), m2(), m3])

    assert [c.message_ids for c in (late_m2, late_m1)] == [["m1", "m3"], ["m2", "m3"]]


@given(groups())
def test_the_order_of_deliveries_does_not_matter(rows):
    assert [key(c) for c in late_commits(rows)] == [
        key(c) for c in late_commits(random.Random(7).sample(rows, len(rows)))
    ]


@given(groups())
def test_late_are_those_of_which_a_later_one_was_done_before(rows):
    sent, done = {}, {}
    for d in rows:
        if d.sent_at is not None:
            sent[d.item_id] = d.sent_at
            if d.effect == "yes" and d.effect_at is not None:
                done[d.item_id] = max(done.get(d.item_id, 0), d.effect_at)

    late = {i for i in done if any(done[other] < done[i] and sent[other] > sent[i] for other in done)}

    assert {c.item_id for c in late_commits(rows)} == late


def key(candidate: Any) -> tuple[Any, ...]:
    c = candidate
    return (c.item_id, c.from_at, c.until_at, c.message_ids, c.evidence_ids, sorted(c.business_keys), c.facts)
