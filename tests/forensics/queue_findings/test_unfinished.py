"""Messages that were never finished, at the borders."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.judging.model import Message
from forensics.queue_findings import (
    Candidate,
    MetricSeries,
    outlived_messages,
    poison_messages,
    unfinished_messages,
    watched_spans,
)
from forensics.streams.model import Delivery
from tests.forensics.queue_findings.ledgers import (
    AGE,
    DEAD_LETTER_QUEUE_ARN,
    InForce,
    at,
    delivered,
    groups,
    point,
    stance_of,
    verdict,
)

WHOLE = [(at(-60), at(7200))]
END = at(7200)
RETENTION = InForce(message_retention_s=900)
NO_DLQ = InForce(max_receive_count=None)


def last(ended_by: str = "visibility_expired", **more: Any) -> Delivery:
    told: dict[str, Any] = {"received": 180, "index": 3}
    return delivered("m1", ended_by=ended_by, **told | more)


def poison(delivery: Delivery, message: Message | None, in_force: InForce = NO_DLQ) -> list[str]:
    verdicts = {message.item_id: message} if message else {}
    return [stance_of(c) for c in poison_messages(unfinished_messages([delivery], verdicts, in_force))]


THRICE = verdict("m1", receives=3, seen=2)

POISON: dict[str, tuple[Delivery, Message | None, InForce, list[str]]] = {
    "received three times": (last(), THRICE, NO_DLQ, ["supported"]),
    "received twice": (last(), verdict("m1", receives=2, seen=3), NO_DLQ, []),
    "seen three times, not counted": (last(), verdict("m1", receives=None, seen=3), NO_DLQ, ["supported"]),
    "seen twice, not counted": (last(), verdict("m1", receives=None, seen=2), NO_DLQ, []),
    "deleted in the end": (last("deleted"), THRICE, NO_DLQ, []),
    "moved in the end": (last("dead_lettered"), THRICE, NO_DLQ, []),
    "refused its deletion in the end": (last("delete_refused"), THRICE, NO_DLQ, ["supported"]),
    "gone when it was to be deleted": (last("delete_refused", delete_status="gone"), THRICE, NO_DLQ, ["undecidable"]),
    "still hidden after another failure": (last("in_flight"), THRICE, NO_DLQ, ["supported"]),
    "still being worked on": (last("in_flight", run_status="unknown"), THRICE, NO_DLQ, ["undecidable"]),
    "last handed to somebody whose end nothing tells": (last("unknown"), THRICE, NO_DLQ, ["undecidable"]),
    "of a queue that sets such messages aside": (
        last(),
        THRICE,
        InForce(dead_letter_queue_arn=DEAD_LETTER_QUEUE_ARN),
        [],
    ),
    "of a queue that nothing tells of": (last(), THRICE, InForce(), ["undecidable"]),
    "of a queue whose dead-letter queue was set later": (
        last(),
        THRICE,
        InForce(["dead_letter_queue_arn"], max_receive_count=None),
        ["undecidable"],
    ),
    "seen once, as its third receive": (last(), None, NO_DLQ, ["supported"]),
    "seen once, not counted": (last(receive_count=None), None, NO_DLQ, []),
    "seen once, its end unknown": (last("unknown"), None, NO_DLQ, []),
    "not in its last delivery": (last(came_again=True), THRICE, NO_DLQ, []),
}


@pytest.mark.parametrize(("delivery", "message", "in_force", "stances"), POISON.values(), ids=POISON)
def test_poison_is_a_message(delivery, message, in_force, stances):
    assert poison(delivery, message, in_force) == stances


def test_poison_lasts_from_the_first_receive_to_the_last():
    (candidate,) = poison_messages(unfinished_messages([last()], {"m1": THRICE}, NO_DLQ))

    assert (candidate.from_at, candidate.until_at, candidate.span_ms) == (at(0), at(180), 180_000)
    assert candidate.evidence_ids == ["log:m1-3", "queue:jobs"]


# Sent at 10 s, retention 900 s: over at 910 s. The message would be 890 s old where the point of [850, 910) ends.


def lost(**more: Any) -> Delivery:
    told: dict[str, Any] = {"received": 20, "ended_by": "visibility_expired", "sent": 10}
    return delivered("m1", **told | more)


def outlived(
    ends: list[Delivery],
    *ages: dict[str, Any],
    watched: list[tuple[int, int]] = WHOLE,
    until: int | None = END,
    in_force: InForce = RETENTION,
    verdicts: dict[str, Message] | None = None,
) -> list[Candidate]:
    unfinished = unfinished_messages(ends, verdicts or {}, in_force)
    return outlived_messages(unfinished, MetricSeries(AGE, ages), watched, until)


def age(seconds: float, value: float, **more: Any) -> dict[str, Any]:
    return point(AGE, seconds, value, **more)


FITTING = age(850, 880)

OUTLIVED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "was the oldest in its last minute": ({}, ["supported"]),
    "was not the oldest: that one was younger": ({"ages": [age(850, 400)]}, ["undecidable"]),
    "was in a queue whose age nobody measured": ({"ages": []}, ["undecidable"]),
    "was in a queue of which another's age is known": (
        {"ages": [age(850, 880, resource="other")]},
        ["undecidable"],
    ),
    "was sent 2 s before the oldest can have been": ({"ages": [age(850, 838)]}, ["supported"]),
    "was sent 3 s before the oldest can have been": ({"ages": [age(850, 837)]}, ["undecidable"]),
    "was sent 2 s after the oldest can have been": ({"ages": [age(850, 902)]}, ["supported"]),
    "was sent 3 s after the oldest can have been": ({"ages": [age(850, 903)]}, ["undecidable"]),
    "was as old within five minutes": ({"ages": [age(700, 930, period_s=300)]}, ["supported"]),
    "was the oldest two minutes before its end": ({"ages": [age(730, 740)]}, ["supported"]),
    "was the oldest more than two minutes before its end": ({"ages": [age(729, 739)]}, ["undecidable"]),
    "was the oldest when its retention ended": ({"ages": [age(910, 900)]}, ["supported"]),
    "was the oldest only after that": ({"ages": [age(910.001, 900)]}, ["undecidable"]),
    "was read up to the last moment": ({"watched": [(at(20), at(910))]}, ["supported"]),
    "was not read in the last moment": ({"watched": [(at(20), at(909))]}, ["undecidable"]),
    "was not read when it was received": ({"watched": [(at(21), at(7200))]}, ["undecidable"]),
    "was read in two parts": ({"watched": [(at(0), at(500)), (at(500), at(7200))]}, ["undecidable"]),
    "is over as the evidence ends": ({"until": at(910)}, ["supported"]),
    "is not over where the evidence ends": ({"until": at(909)}, []),
    "has no end of the evidence to be held against": ({"until": None}, []),
    "was finished": ({"ends": [lost(ended_by="deleted")]}, []),
    "was received for the last time, so that whoever polled moved it": (
        {"ends": [lost(receive_count=3, max_receive_count=3)]},
        [],
    ),
    "may be received once more": ({"ends": [lost(receive_count=2, max_receive_count=3)]}, ["supported"]),
    "may have been finished": ({"ends": [lost(ended_by="unknown")]}, []),
    "was gone when it was to be deleted": (
        {"ends": [lost(ended_by="delete_refused", delete_status="gone")]},
        [],
    ),
    "was sent nobody knows when": ({"ends": [lost(sent=None)]}, []),
    "is of a queue that nothing tells of": ({"in_force": InForce()}, []),
    "is of a queue whose retention nothing tells": ({"in_force": NO_DLQ}, []),
    "came again and was sent when its verdict says": (
        {"ends": [lost(sent=None)], "verdicts": {"m1": verdict("m1", sent=10)}},
        ["supported"],
    ),
}


@pytest.mark.parametrize(("case", "stances"), OUTLIVED.values(), ids=OUTLIVED)
def test_a_message_that_outlived_its_retention(case, stances):
    told = dict(case)
    ends, ages = told.pop("ends", [lost()]), told.pop("ages", [FITTING])

    assert [stance_of(c) for c in outlived(ends, *ages, **told)] == stances


def test_what_was_lost_has_a_beginning_and_no_end():
    (candidate,) = outlived([lost()], FITTING)

    assert (candidate.from_at, candidate.until_at, candidate.span_ms) == (at(910), None, None)
    assert candidate.evidence_ids == ["log:m1-1", "queue:jobs", "metric:jobs.fifo-850"]


def test_an_age_that_fits_two_messages_is_neither_ones_own():
    twin = delivered("m2", received=21, ended_by="visibility_expired", sent=11)

    candidates = outlived([lost(), twin], FITTING)

    assert [c.facts.fitting_count for c in candidates] == [2, 2]
    assert [stance_of(c) for c in candidates] == ["undecidable"] * 2


def test_an_age_that_only_the_other_fits_is_its_own():
    later = delivered("m2", received=100, ended_by="visibility_expired", sent=100)

    candidates = outlived([lost(), later], FITTING, age(940, 880, evidence_id="metric:later"))

    assert [(c.item_id, c.facts.fitting_count) for c in candidates] == [("m1", 1), ("m2", 1)]


def test_the_last_age_that_fits_is_told():
    (candidate,) = outlived([lost()], age(790, 830), age(850, 880.9), age(730, 770))

    assert candidate.facts.age_s == 880


@given(groups(), st.randoms())
def test_the_order_of_deliveries_and_of_points_does_not_matter(rows, order):
    in_force = InForce(message_retention_s=20)
    ages = [age(minute, value) for minute in range(-60, 60, 15) for value in (0, 20)]
    ages = [row | {"evidence_id": f"metric:{number}"} for number, row in enumerate(ages)]
    shuffled, points = order.sample(rows, len(rows)), order.sample(ages, len(ages))

    assert outlived(rows, *ages, in_force=in_force) == outlived(shuffled, *points, in_force=in_force)
    assert poison_messages(unfinished_messages(rows, {}, NO_DLQ)) == poison_messages(
        unfinished_messages(shuffled, {}, NO_DLQ)
    )


def test_what_is_watched_was_read_of_every_consumer():
    read = {"a": [(0, 10), (20, 40)], "b": [(5, 30)]}

    assert watched_spans({"a", "b"}, read) == [(5, 10), (20, 30)]
    assert watched_spans(["a"], read) == read["a"]
    assert watched_spans(["a", "unread"], read) == []
    assert watched_spans([], read) == []


def test_spans_that_only_touch_have_no_moment_in_common():
    assert watched_spans(["a", "b"], {"a": [(0, 5)], "b": [(5, 9)]}) == []


def test_shuffled_spans_of_many_consumers_have_the_same_in_common():
    read = {f"g{n}": [(n, n + 50), (60, 100 - n)] for n in range(5)}
    names = list(read)
    random.Random(7).shuffle(names)

    assert watched_spans(names, read) == watched_spans(sorted(read), read) == [(4, 50), (60, 96)]
