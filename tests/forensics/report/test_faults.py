"""Incidents that are one fault: what they have in common, how they are ranked, and what is said of them together."""

from datetime import UTC, datetime, timedelta

import pytest

from forensics.report.faults import fault_record, faults
from forensics.tables.findings import INCIDENTS

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


def incident(n, queue="orders", hours=0.0, **more):
    at = NOON + timedelta(hours=hours)
    ordinary = {
        "incident_id": f"{queue}-{n}",
        "queue": queue,
        "queue_arn": f"arn:aws:sqs:eu-west-1:111122223333:{queue}",
        "started_at": at,
        "ended_at": at + timedelta(minutes=1),
        "messages": 3,
        "works": 3,
        "works_shared": 0,
        "works_confirmed": 1,
        "works_probable": 2,
        "confirmed": 1,
        "probable": 2,
        "primary_cause": "visibility_expired",
        "trigger": "visibility_expired",
        "headline": f"headline {n}",
        "visibility_timeout_s": 30,
        "function_timeout_s": 20,
        "batch_size": 1,
        "extra_effects_at_least": 1,
        "extra_effects_at_most": 3,
    }
    return dict.fromkeys(INCIDENTS.column_names) | ordinary | more


def ids(found):
    return [list(fault.incident_ids) for fault in found]


def test_incidents_of_one_queue_with_one_trigger_and_the_same_settings_are_one_fault():
    found = faults([incident(n, hours=n) for n in range(5)], None)
    [fault] = found

    assert (fault.times, fault.repeats) == ("5 times in 4 h 1 min", (5, 15))
    assert fault.headline == "5 to 15 of 15 redelivered messages were processed more than once"
    assert fault.newest["incident_id"] == "orders-4"


SENT_TWICE = {
    "messages": 6,
    "confirmed": 2,
    "probable": 4,
    "primary_cause": "producer_retry",
    "trigger": "producer_retry",
}
CALLED = {
    "sent in several messages": (SENT_TWICE, SENT_TWICE, "works"),
    "some redelivered, some under several ids": ({}, {"messages": 4, "probable": 3}, "works"),
    "sent again, the first id in another incident": ({**SENT_TWICE, "works_shared": 1}, SENT_TWICE, "works"),
    "nothing tells that any was redelivered": ({"primary_cause": None}, {"primary_cause": None}, "messages"),
}


@pytest.mark.parametrize(("one", "other", "noun"), CALLED.values(), ids=CALLED)
def test_a_fault_calls_redelivered_only_what_was(one, other, noun):
    [fault] = faults([incident(1, **{**other, "trigger": "x"}), incident(2, **{**one, "trigger": "x"})], None)

    assert fault.headline == f"2 to 6 of 6 {noun} were processed more than once"


APART = {
    "another queue": {"queue": "mail", "queue_arn": "arn:aws:sqs:eu-west-1:111122223333:mail"},
    "another trigger": {"trigger": "function_error"},
    "another visibility timeout": {"visibility_timeout_s": 60},
    "a function timeout that nothing tells": {"function_timeout_s": None},
    "another batch size": {"batch_size": 10},
}


@pytest.mark.parametrize("more", APART.values(), ids=APART)
def test_what_has_something_else_is_another_fault(more):
    assert len(faults([incident(1), incident(2, **more)], None)) == 2


def test_what_finished_and_what_did_not_of_one_cut_off_batch_is_one_fault():
    timed_out = {"trigger": "function_timeout"}
    mine = [
        incident(1, primary_cause="batch_collateral", **timed_out),
        incident(2, primary_cause="function_timeout", **timed_out),
    ]

    assert len(faults(mine, None)) == 1


def test_open_ones_stand_first_then_those_with_most_repeats_for_sure_then_the_newest():
    until = NOON + timedelta(hours=9)
    ranked = [
        incident("open", "a", 8.5, extra_effects_at_least=0),
        incident("worst", "b", 0, extra_effects_at_least=24),
        incident("newer", "c", 5),
        incident("older", "d", 4),
    ]

    assert ids(faults(ranked[::-1], until)) == [["a-open"], ["b-worst"], ["c-newer"], ["d-older"]]


def test_a_repeat_counts_as_often_as_its_queue_weighs():
    rows = [
        incident("few", "payments", 0, extra_effects_at_least=7),
        incident("many", "newsletter", 0, extra_effects_at_least=75),
    ]

    assert ids(faults(rows, NOON)) == [["newsletter-many"], ["payments-few"]]
    assert ids(faults(rows, NOON, weights={"payments": 20})) == [["payments-few"], ["newsletter-many"]]


def test_a_work_that_two_incidents_hold_counts_once():
    rows = [
        {"incident_id": f"orders-{n}", "queue_arn": incident(n)["queue_arn"], "work_id": "w", "verdict": "confirmed"}
        for n in (1, 2)
    ]
    [fault] = faults([incident(n, works_shared=1) for n in (1, 2)], None, rows)

    assert fault.counts["confirmed"] == 1


STATES = {
    "in the last hour of the data": (0.5, "open"),
    "quiet for no longer than it was before": (2, "recurring, quiet 1 h"),
    "quiet for longer": (9, "quiet 8 h"),
}


@pytest.mark.parametrize(("after", "state"), STATES.values(), ids=STATES)
def test_a_fault_that_keeps_coming_back_is_recurring_and_not_quiet(after, state):
    [fault] = faults([incident(n, hours=2 * n) for n in range(3)], None)

    assert fault.state(NOON + timedelta(hours=4 + after)) == state


def test_other_queues_with_the_same_trigger_and_settings_are_named():
    found = faults([incident(1), incident(2, "mail"), incident(3, "exports", trigger="throttled")], None)

    assert {f.queue: f.elsewhere for f in found} == {"orders": ("mail",), "mail": ("orders",), "exports": ()}


def test_a_fault_has_the_same_name_in_every_data_version():
    first, second = faults([incident(1)], None), faults([incident(1), incident(2)], NOON)

    assert first[0].fault_id == second[0].fault_id
    assert first[0].fault_id.startswith("orders-visibility_expired-")


def test_incidents_in_equal_stretches_of_time():
    [fault] = faults([incident(n, hours=hours) for n, hours in enumerate((0, 0.1, 5, 10))], None)

    assert fault.bars(NOON, NOON + timedelta(hours=10), 5) == [2, 0, 1, 0, 1]


def test_a_record_is_plain_values():
    record = fault_record(faults([incident(1), incident(2, hours=3)], None)[0], None)

    assert (record["incidents"], record["repeats_at_least"], record["repeats_at_most"]) == (2, 2, 6)
    assert record["started_at"] == "2026-11-22T12:00:00.000Z"
