"""When a message can have been moved to the dead-letter queue, and what shows it. Its timeout ends at 130 s."""

import random
from typing import Any

import pytest
from hypothesis import given

from forensics.judging.model import Message
from forensics.queue_findings import Candidate, MetricSeries, found, moved_messages, next_receives
from forensics.streams.model import Delivery
from tests.forensics.queue_findings.ledgers import (
    DEAD_LETTER_QUEUE_ARN,
    DEPTH,
    InForce,
    at,
    delivered,
    groups,
    point,
    stance_of,
    verdict,
)

DLQ = "jobs-dlq.fifo"
KNOWN = InForce(max_receive_count=2, dead_letter_queue_arn=DEAD_LETTER_QUEUE_ARN)


def dead(**more: Any) -> Delivery:
    told: dict[str, Any] = {"received": 100, "hidden": 130, "index": 2, "ended_by": "dead_lettered"}
    return delivered("m1", **told | more)


def moved(
    delivery: Delivery, *points: dict[str, Any], message: Message | None = None, next_at: int | None = None
) -> Candidate:
    verdicts = {"m1": message} if message else {}
    depths = MetricSeries(DEPTH, points)
    (one,) = moved_messages([delivery], verdicts, KNOWN, depths, {"m1": next_at} if next_at else {})
    return one


def depth(seconds: float, value: float, **more: Any) -> dict[str, Any]:
    return point(DEPTH, seconds, value, DLQ, **more)


ARRIVED: dict[str, tuple[list[dict[str, Any]], float | None]] = {
    "was empty and holds one": ([depth(60, 0), depth(120, 1)], 180),
    "held five and holds six": ([depth(60, 5), depth(120, 6)], 180),
    "held five and holds five": ([depth(60, 5), depth(120, 5)], None),
    "held five and holds four": ([depth(60, 5), depth(120, 4)], None),
    "grew in a later minute": ([depth(60, 5), depth(120, 5), depth(180, 6)], 240),
    "grew twice": ([depth(60, 5), depth(180, 7), depth(120, 6)], 180),
    "was not measured before": ([depth(120, 1)], 180),
    "was measured long before only, so counts as empty": ([depth(130 - 901, 5), depth(120, 1)], 180),
    "was measured a quarter of an hour before": ([depth(130 - 900, 5), depth(120, 1)], None),
    "grew in the last moment that counts": ([depth(130 + 900, 1)], 130 + 960),
    "grew too late to say anything": ([depth(130 + 901, 1)], None),
    "was measured until the timeout, not after": ([depth(70, 1)], None),
    "held more over minutes that began before the last": ([depth(-170, 5, period_s=300), depth(60, 0)], None),
    "held as many in the minute that ended with the timeout": ([depth(70, 5), depth(130, 5)], None),
    "was measured until a second after the timeout": ([depth(71, 1)], 131),
    "was measured by two statistics before: the deepest counts": (
        [depth(60, 0, evidence_id="metric:average"), depth(60, 5), depth(120, 5)],
        None,
    ),
    "is measured every five minutes": ([depth(0, 2, period_s=60), depth(60, 3, period_s=300)], 360),
    "is another queue": ([point(DEPTH, 120, 1, "other-dlq.fifo")], None),
    "has only its age measured": ([point("ApproximateAgeOfOldestMessage", 120, 1, DLQ)], None),
    "was never measured": ([], None),
}


@pytest.mark.parametrize(("points", "arrived_by"), ARRIVED.values(), ids=ARRIVED)
def test_the_dead_letter_queue(points, arrived_by):
    candidate = moved(dead(), *points)

    assert candidate.from_at == at(130)
    assert candidate.until_at == (None if arrived_by is None else at(arrived_by))
    assert stance_of(candidate) == ("undecidable" if arrived_by is None else "supported")


def test_the_metric_point_and_the_settings_are_cited():
    candidate = moved(dead(), depth(60, 0), depth(120, 1))

    assert set(candidate.evidence_ids) == {"log:m1-2", "queue:jobs", f"metric:{DLQ}-120"}


def test_it_was_moved_before_the_earlier_of_the_next_receive_and_the_growth():
    grown = depth(120, 1)

    assert moved(dead(), grown, next_at=at(150)).until_at == at(150)
    assert moved(dead(), grown, next_at=at(200)).until_at == at(180)
    assert moved(dead(), next_at=at(200)).until_at == at(200)


def test_it_was_not_moved_before_it_was_visible_had_its_poller_received_it_early():
    """Its run began at 100 s; what the dead-letter queue held is looked up where its timeout ends by that."""
    candidate = moved(dead(hidden_at_least_until=at(113)), depth(60, 0), depth(120, 1))

    assert (candidate.from_at, candidate.until_at) == (at(113), at(180))
    assert moved(dead(hidden_at_least_until=at(130), received_dead_at=at(120))).from_at == at(120)
    assert moved(dead()).from_at == at(130)


EFFECTS: dict[str, tuple[str, Message | None, tuple[int, int | None], str]] = {
    "once, as its only delivery shows": ("yes", None, (1, 1), "repeats"),
    "maybe once": ("unknown", None, (0, 1), "may_repeat"),
    "never": ("no", None, (0, 0), "safe"),
    "as often as the verdict says": ("no", verdict("m1", at_least=0, at_most=2), (0, 2), "may_repeat"),
    "without an upper bound": ("no", verdict("m1", at_least=0, at_most=None), (0, None), "may_repeat"),
    "never in any delivery": ("no", verdict("m1", at_least=0, at_most=0), (0, 0), "safe"),
}


@pytest.mark.parametrize(("effect", "message", "interval", "redrive"), EFFECTS.values(), ids=EFFECTS)
def test_the_work_was_done(effect, message, interval, redrive):
    candidate = moved(dead(effect=effect), message=message)
    (row,) = found([candidate])

    assert (candidate.effects_at_least, candidate.effects_at_most) == interval
    assert row["redrive"] == redrive


def test_without_a_snapshot_of_the_queue_nothing_tells_of_a_dead_letter_queue():
    (candidate,) = moved_messages([dead()], {}, InForce(), MetricSeries(DEPTH), {})

    assert stance_of(candidate) == "undecidable"
    assert not candidate.facts.has_settings


def test_only_what_ended_in_the_dead_letter_queue_was_moved():
    others = [
        delivered("m", received=1, ended_by=end)
        for end in ("deleted", "visibility_expired", "delete_refused", "in_flight", "unknown")
    ]

    assert moved_messages(others, {}, KNOWN, MetricSeries(DEPTH), {}) == []


NEXT: dict[str, tuple[list[Delivery], dict[str, int]]] = {
    "a receive before it was visible again is not it": ([delivered("m2", received=129.999, ended_by="deleted")], {}),
    "a receive at that moment is": ([delivered("m2", received=130, ended_by="deleted")], {"m1": at(130)}),
    "the first of several is": (
        [delivered(f"m{s}", received=s, ended_by="deleted") for s in (170, 150, 160)],
        {"m1": at(150)},
    ),
    "a receive that no log shows is, where its time is known": (
        [delivered("m2", received=140, ended_by="unknown", is_seen=False)],
        {"m1": at(140)},
    ),
    "one without a time is not": ([delivered("m2", received=None, ended_by="unknown", is_seen=False)], {}),
}


@pytest.mark.parametrize(("others", "expected"), NEXT.values(), ids=NEXT)
def test_the_next_receive_of_the_group(others, expected):
    assert next_receives([dead(), *others]) == expected


@given(groups())
def test_the_next_receive_is_the_first_from_the_end_of_the_timeout_on(rows):
    received = [d.received_at for d in rows if d.received_at is not None]
    expected = {
        d.item_id: min(later)
        for d in rows
        if d.ended_by == "dead_lettered" and (later := [at for at in received if at >= d.hidden_until_at])
    }

    assert next_receives(rows) == expected


@given(groups())
def test_the_order_of_deliveries_does_not_matter(rows):
    shuffled = random.Random(7).sample(rows, len(rows))

    assert moved_messages(rows, {}, KNOWN, MetricSeries(DEPTH), {}) == moved_messages(
        shuffled, {}, KNOWN, MetricSeries(DEPTH), {}
    )
