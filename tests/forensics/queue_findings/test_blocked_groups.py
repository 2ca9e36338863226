"""Who held a FIFO group, for how long, and who waited, at the borders."""

import random
from typing import Any

import pytest
from hypothesis import given

from forensics.queue_findings import Candidate, blocked_groups, is_holding
from forensics.streams.model import Delivery
from tests.forensics.queue_findings.ledgers import at, delivered, groups, stance_of


def failed(**more: Any) -> Delivery:
    """m1, sent at 1 s: its run fails at 10 s."""
    told: dict[str, Any] = {"received": 5, "run_ended": 10, "sent": 1, "ended_by": "visibility_expired"}
    return delivered("m1", **told | more)


def then(received: float = 40, sent: float | None = 9, **more: Any) -> Delivery:
    return delivered("m2", received=received, ended_by="deleted", sent=sent, **more)


STANCES: dict[str, tuple[list[Delivery], list[str]]] = {
    "for a second": ([failed(), then(11.0)], ["supported"]),
    "for a millisecond less": ([failed(), then(10.999)], ["excluded"]),
    "until the moment it was freed": ([failed(), then(10.0)], []),
    "while nobody waited: the next was sent as the stop ended": ([failed(), then(sent=40)], ["excluded"]),
    "while the next was sent a millisecond before the stop ended": ([failed(), then(sent=39.999)], ["supported"]),
    "and no send time is known": ([failed(), then(sent=None)], ["supported"]),
    "by a refused deletion": ([failed(ended_by="delete_refused"), then()], ["supported"]),
    "by a message on its way to the dead-letter queue": ([failed(ended_by="dead_lettered"), then()], ["supported"]),
    "by a failed run that is still in flight": ([failed(ended_by="in_flight"), then()], ["supported"]),
    "by a run in flight that may succeed": ([failed(ended_by="in_flight", run_status="unknown"), then()], []),
    "by a delivery of which nothing tells the end": ([failed(ended_by="unknown"), then()], []),
    "by nobody: a receive that no log shows holds nothing": (
        [failed(is_seen=False, consumer=None, evidence_ids=[]), then()],
        [],
    ),
    "and nothing came after, so nobody is known to have waited": ([failed()], ["excluded"]),
    "and nothing came after, and it was visible as its run ended": ([failed(hidden=10)], []),
    "and nothing came after, of a queue whose timeout nobody knows": ([failed(hidden=None)], []),
    "without an end of its run in evidence": ([failed(run_ended=None), then()], ["supported"]),
    "by nobody: everything got through": ([then(5), delivered("m3", received=9, ended_by="deleted", sent=1)], []),
}


@pytest.mark.parametrize(("deliveries", "stances"), STANCES.values(), ids=STANCES)
def test_a_group_is_held(deliveries, stances):
    assert [stance_of(candidate) for candidate in blocked_groups(deliveries, {})] == stances


def test_no_delivery_blocks_no_group():
    assert blocked_groups([], {}) == []


def test_a_group_that_failed_twice_stood_still_once():
    rows = [
        failed(),
        failed(index=2, received=40, run_ended=41),
        then(70, sent=2),
        delivered("m3", received=71, ended_by="deleted", sent=3),
    ]

    (stop,) = blocked_groups(rows, {"m1": "incident"})

    assert (stop.from_at, stop.until_at, stop.span_ms) == (at(10), at(70), 60_000)
    assert (stop.item_id, stop.incident_id) == ("m1", "incident")
    assert (stop.message_count, stop.message_ids) == (2, ["m2", "m3"])


def test_a_part_of_a_batch_that_got_through_parts_two_stops():
    both: dict[str, Any] = {"received": 40, "run_ended": 41, "consumer": "run-2"}
    rows = [
        failed(),
        failed(index=2, **both),
        then(sent=2, **{k: v for k, v in both.items() if k != "received"}),
        failed(index=3, received=70, ended_by="deleted"),
        delivered("m3", received=70, ended_by="deleted", sent=3),
    ]

    first, second = blocked_groups(rows, {})

    assert (first.from_at, first.until_at, first.message_ids) == (at(10), at(40), ["m2", "m3"])
    assert (second.from_at, second.until_at, second.message_ids) == (at(41), at(70), ["m3"])


def test_the_blocker_is_the_first_failed_message_of_the_batch():
    batch: dict[str, Any] = {
        "consumer": "run",
        "received": 5,
        "run_ended": 10,
        "ended_by": "visibility_expired",
        "sent": 1,
    }
    rows = [delivered(item, batch_position=place, **batch) for item, place in (("a", 3), ("c", 1), ("b", 2))]

    (stop,) = blocked_groups([*rows, then()], {"a": "incident-2", "b": "incident-1"})

    assert stop.item_id == "c"
    assert stop.incident_id == "incident-2"
    assert set(stop.evidence_ids) == {"log:a-1", "log:b-1", "log:c-1", "log:m2-1"}


def test_a_group_is_free_when_the_last_of_a_run_is():
    """A batch whose run has no end in evidence was held at least until the receive of its last message."""
    batch: dict[str, Any] = {"consumer": "run", "ended_by": "visibility_expired", "sent": 1, "run_ended": None}
    rows = [delivered("a", received=5, **batch), delivered("b", received=8, **batch), then()]

    (stop,) = blocked_groups(rows, {})

    assert stop.from_at == at(8)


def test_a_message_that_was_received_before_did_not_wait():
    earlier = then(2, sent=1, index=1)
    rows = [earlier, failed(), then(40, sent=1, index=2)]

    (stop,) = blocked_groups(rows, {})

    assert stop.message_count == 0


def test_one_send_time_is_enough_to_say_that_somebody_waited():
    rows = [failed(), then(sent=None), delivered("m3", received=41, ended_by="deleted", sent=20)]

    (stop,) = blocked_groups(rows, {})

    assert (stop.message_count, stop.message_ids) == (1, ["m3"])


def test_the_group_is_still_held_only_if_the_last_failed_run_is_in_flight():
    again = {"index": 2, "received": 20, "run_ended": 21}
    last_in_flight = [failed(), failed(ended_by="in_flight", **again), then()]
    first_in_flight = [failed(ended_by="in_flight"), failed(**again), then()]

    assert [s.facts.is_going_on for s in blocked_groups(last_in_flight, {})] == [True]
    assert [s.facts.is_going_on for s in blocked_groups(first_in_flight, {})] == [False]


def test_of_many_who_waited_all_are_counted_and_the_first_thousand_named():
    crowd = [delivered(f"w{n:04}", received=40 + n, ended_by="deleted", sent=9) for n in range(1001)]

    (stop,) = blocked_groups([failed(), *crowd], {})

    assert stop.message_count == 1001
    assert stop.message_ids == [f"w{n:04}" for n in range(1000)]


@given(groups())
def test_the_order_of_deliveries_does_not_matter(rows):
    incidents = {"m0": "one", "m1": "two"}
    shuffled = random.Random(7).sample(rows, len(rows))

    assert comparable(blocked_groups(rows, incidents)) == comparable(blocked_groups(shuffled, incidents))


@given(groups())
def test_who_waited_was_sent_before_the_end_and_received_only_then(rows):
    for stop in blocked_groups(rows, {}):
        waiting, untold = set(), False
        for item in {d.item_id for d in rows if d.is_seen}:
            mine = [d for d in rows if d.item_id == item and d.is_seen]
            if stop.until_at is not None and min(d.received_at for d in mine) >= stop.until_at:
                untold |= mine[0].sent_at is None
                waiting |= {item} if mine[0].sent_at is not None and mine[0].sent_at < stop.until_at else set()

        assert stop.message_ids == sorted(waiting)
        assert stop.message_count == (len(waiting) or (None if untold else 0))


@given(groups())
def test_no_run_that_begins_inside_a_stop_finishes_anything(rows):
    for stop in blocked_groups(rows, {}):
        begun: dict[str, int] = {}
        for d in rows:
            if d.is_seen:
                begun[d.consumer] = min(begun.get(d.consumer, d.received_at), d.received_at)
        blocker_began = min(
            begun[d.consumer] for d in rows if d.item_id == stop.item_id and is_holding(d) and d.is_seen
        )
        through = {d.consumer for d in rows if d.is_seen and not is_holding(d) and blocker_began < begun[d.consumer]}
        inside = [c for c in through if stop.from_at < begun[c] < (stop.until_at or 0)]

        assert inside == []


def comparable(stops: list[Candidate]) -> list[tuple[Any, ...]]:
    return [
        (
            s.item_id,
            s.from_at,
            s.until_at,
            s.message_ids,
            sorted(s.evidence_ids),
            sorted(s.business_keys),
            s.facts,
            s.incident_id,
        )
        for s in stops
    ]
