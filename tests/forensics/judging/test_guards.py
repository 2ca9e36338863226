"""Which guard stopped a repeat, whether one is in place, and whether its lock had ended."""

import pytest

from forensics.judging import guards
from tests.forensics.judging.plain import Around, delivery

STOPPED = {"basis": "guard", "effect": "no"}

KINDS = {
    "a configured guard line": ({"guard_at": 4}, "line"),
    "its record in the table held": ({"is_answered_by_record": True}, "record"),
    "the framework refused": ({"guard_at": 4, "is_refused": True}, "refused"),
    "the idempotency store had the result": ({"idempotency": "already_done"}, "already_done"),
    "the idempotency store held its lock": ({"idempotency": "in_progress"}, "in_progress"),
    "a guard line beside another payload": ({"guard_at": 4, "idempotency": "validation"}, "line"),
}


def kind(of, facts):
    return of.guard_kind(delivery(**STOPPED, **facts))


@pytest.mark.parametrize(("facts", "expected"), KINDS.values(), ids=KINDS)
def test_a_repeat_was_stopped_by_a_kind_of_guard(facts, expected):
    assert kind(guards, facts) == expected


KILLED = {"run_status": "timeout", "effect": "unknown", "function_timeout_s": 30}
RAN = {"effect": "yes"}

LOCKS = {
    "killed, then it ran": (KILLED, RAN, True),
    "killed, then nobody knows whether it ran": (KILLED, {"effect": "unknown"}, True),
    "killed after it was done": ({**KILLED, "effect": "yes"}, RAN, True),
    "killed before it began": ({**KILLED, "effect": "no"}, RAN, False),
    "raised, then it ran": ({**KILLED, "run_status": "error"}, RAN, False),
    "killed, then stopped": (KILLED, {"effect": "no"}, False),
    "killed, then no log shows it": (KILLED, {"effect": "unknown", "is_seen": False}, False),
}


def lock(of, earlier, later):
    return of.has_lock_ended(delivery(**earlier), delivery(**later))


@pytest.mark.parametrize(("earlier", "later", "has_ended"), LOCKS.values(), ids=LOCKS)
def test_a_lock_ends_when_the_run_before_is_killed_at_its_deadline(earlier, later, has_ended):
    assert lock(guards, earlier, later) is has_ended


ON = {"effect": "yes", "run_ended_at": 10, "received_at": 0}
OVERLAPS = {
    "received while the run before was on": (ON, {"effect": "yes", "received_at": 9}, True),
    "received as it ended": (ON, {"effect": "yes", "received_at": 10}, False),
    "the first did not do the work": ({**ON, "effect": "unknown"}, {"effect": "yes", "received_at": 9}, False),
    "the second did not": (ON, {"effect": "unknown", "received_at": 9}, False),
    "its end is but a last line": ({**ON, "is_end_known": False}, {"effect": "yes", "received_at": 9}, False),
    "its end is not known": ({**ON, "run_ended_at": None}, {"effect": "yes", "received_at": 9}, False),
    "the receive is not known": (ON, {"effect": "yes", "received_at": None}, False),
}


def overlap(of, earlier, later):
    return of.has_overlapped(delivery(**earlier), delivery(**later))


@pytest.mark.parametrize(("earlier", "later", "expected"), OVERLAPS.values(), ids=OVERLAPS)
def test_two_runs_that_did_the_work_were_on_at_once(earlier, later, expected):
    assert overlap(guards, earlier, later) is expected


DONE, AGAIN = {"effect": "yes", "effect_at": 1_500_000}, {"effect": "yes", "effect_at": 7_201_499_999}
MISSED = {
    "done again, with an idempotency library": ([[DONE, AGAIN]], True, (False, 1, 7199)),
    "done again, to the second": (
        [[DONE, {"effect": "yes", "effect_at": 7_201_500_000}]],
        True,
        (False, 1, 7200),
    ),
    "done again, without one": ([[DONE, AGAIN]], False, (False, 1, None)),
    "not done again": ([[DONE, {"effect": "no"}]], True, (False, 1, None)),
    "not done before": ([[{"effect": "no"}, AGAIN]], True, (False, 1, None)),
    "done three times, the longest gap": (
        [[DONE, AGAIN, {"effect": "yes", "effect_at": 7_202_499_999}]],
        True,
        (False, 1, 7199),
    ),
    "two runs at once tell of no expiry": ([[{**DONE, **ON}, {**AGAIN, "received_at": 9}]], True, (True, 1, None)),
    "under two ids": ([[DONE], [AGAIN]], True, (False, 2, None)),
    "under one id": ([[DONE], [{"effect": "unknown"}]], True, (False, 1, None)),
    "under a business key alone": ([[{**DONE, "message_id": None}], [AGAIN]], True, (False, 1, None)),
}
"""Each item's deliveries, whether a library's line is shown, and: at once, done under how many ids, longest gap."""


def missed(of, work, shows_line):
    around = Around(groups_with_guard_lines=frozenset({"/aws/lambda/charge"}) if shows_line else frozenset())
    found = of.guards_of([[delivery(**facts) for facts in item] for item in work], around)
    return found.overlapped, found.ids_done, found.record_gap_s


@pytest.mark.parametrize(("work", "shows_line", "expected"), MISSED.values(), ids=MISSED)
def test_what_can_have_let_a_repeat_pass(work, shows_line, expected):
    assert missed(guards, work, shows_line) == expected


GROUP = "/aws/lambda/charge"
SHOWN = {"groups_with_guard_lines": frozenset({GROUP})}
GUARDED = {"has_guard": True}

WORKS = {
    "nothing tells of a guard": ([[{}, {}]], {}, ({}, False, False, None, 0)),
    "a guard is declared": ([[{}, GUARDED]], {}, ({}, True, False, None, 0)),
    "a table is named": ([[{}, {"guard_table": "done"}]], {}, ({}, True, False, None, 0)),
    "a line shows a guard": ([[{}, {}]], SHOWN, ({}, True, False, None, 0)),
    "a line shows it in another log group": ([[{"log_group": "other"}]], SHOWN, ({}, False, False, None, 0)),
    "only the second is in a guarded group": ([[{"log_group": "other"}, {}]], SHOWN, ({}, True, False, None, 0)),
    "only the first is in a guarded group": ([[{}, {"log_group": "other"}]], SHOWN, ({}, True, False, None, 0)),
    "stopped twice": ([[RAN, STOPPED, STOPPED]], {}, ({"line": 2}, False, False, None, 0)),
    "stopped in two messages": (
        [[RAN, STOPPED], [{**STOPPED, "is_refused": True}]],
        {},
        ({"line": 1, "refused": 1}, False, False, None, 0),
    ),
    "other payloads": (
        [[{"idempotency": "validation"}], [{"idempotency": "validation"}]],
        {},
        ({}, False, False, None, 2),
    ),
    "a lock ended": ([[KILLED, RAN]], SHOWN, ({}, True, True, 30, 0)),
    "a lock ended where a guard is only declared": ([[KILLED, {**RAN, **GUARDED}]], {}, ({}, True, False, None, 0)),
    "a lock ended, the function timeout not known": (
        [[{**KILLED, "function_timeout_s": None}, RAN]],
        SHOWN,
        ({}, True, True, None, 0),
    ),
    "locks ended after different times": (
        [[{**KILLED, "function_timeout_s": 60}, KILLED, RAN]],
        SHOWN,
        ({}, True, True, 60, 0),
    ),
    "the other message was killed": ([[KILLED], [RAN]], SHOWN, ({}, True, False, None, 0)),
}
"""Each item's deliveries in order, surroundings, and: stopped, in place, lock ended, after how long, other payloads."""


def answer(of, work, around):
    found = of.guards_of([[delivery(**facts) for facts in item] for item in work], Around(**around))
    return dict(found.stopped), found.is_in_place, found.lock_ended, found.lock_ended_s, found.other_payloads


@pytest.mark.parametrize(("work", "around", "expected"), WORKS.values(), ids=WORKS)
def test_a_work_says_what_guards_did_in_all_its_deliveries(work, around, expected):
    assert answer(guards, work, around) == expected
