"""Which guard stopped a repeat, whether one is in place, and whether its lock had ended."""

import pytest

from forensics.judging import guards
from tests.forensics.judging.plain import Around, delivery

STOPPED = {"basis": "guard", "effect": "no"}

KINDS = {
    "a configured guard line": ({"guard_at": 4}, "line"),
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


GROUP = "/aws/lambda/charge"
SHOWN = {"groups_with_guard_lines": frozenset({GROUP})}
GUARDED = {"has_guard": True}

WORKS = {
    "nothing tells of a guard": ([[{}, {}]], {}, ({}, False, False, None, 0)),
    "a guard is declared": ([[{}, GUARDED]], {}, ({}, True, False, None, 0)),
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
