"""Was the work done in this delivery? Each row of the effect table at its borders, and which row wins."""

import pytest

from forensics.judging import effect
from forensics.judging.effect import EFFECTS, count_returned_once
from tests.forensics.judging.plain import delivery

WORKER = {"consumer_kind": "worker"}

EXHAUSTIVE = {"has_effect": True, "is_exhaustive": True, "order_declared": "sequential"}

ALONE = {"order_declared": None, "is_batch_printed": True, "batch_count": 1}

PARTIAL = {"reports_batch_item_failures": True}

WHOLE = {"reports_batch_item_failures": False}

OVER = {"reports_batch_item_failures": False, "run_ended_at": 9}
MAY_BE_DURABLE = {"is_durable": None}
SEVERAL = MAY_BE_DURABLE | {"is_one_of_several": True}
CUT = {"is_not_reached": True, "run_status": "timeout", "order_declared": "sequential"}
LIMITED = {"max_receive_count": 3, "queue_settings_id": "queue:1"}
CASES = {
    "a run of a durable function that ended in success": (
        {**OVER, "is_durable": True},
        ("unknown", "no_item_lines", None),
    ),
    "the same, and the mapping counted no failure": (
        {**OVER, "is_durable": True, "was_given_back": False},
        ("unknown", "no_item_lines", None),
    ),
    "a run of no durable function that came again at its last receive": (
        {**OVER, "is_durable": False, "came_again": True, "receive_count": 3, "max_receive_count": 3},
        ("yes", "returned", 9),
    ),
    "a run of a function that may be durable, and came again": (
        {**OVER, **MAY_BE_DURABLE, "came_again": True, "queue_settings_id": "queue:1"},
        ("unknown", "no_item_lines", None),
    ),
    "of one that may be, at the first of its receives": (
        {**OVER, **MAY_BE_DURABLE, **LIMITED, "receive_count": 1},
        ("yes", "returned", 9),
    ),
    "of one that may be, at a receive without a count": (
        {**OVER, **MAY_BE_DURABLE, **LIMITED, "receive_count": None},
        ("yes", "returned", 9),
    ),
    "of one that may be, at a second receive, whose first no line shows": (
        {**OVER, **MAY_BE_DURABLE, **LIMITED, "receive_count": 2},
        ("unknown", "no_item_lines", None),
    ),
    "of one that may be, at its only receive": (
        {**OVER, **MAY_BE_DURABLE, **LIMITED, "receive_count": 1, "max_receive_count": 1},
        ("unknown", "no_item_lines", None),
    ),
    "the same, and its mapping counted no failure": (
        {**OVER, **MAY_BE_DURABLE, "receive_count": 2, "was_given_back": False},
        ("yes", "returned", 9),
    ),
    "of several, the last of them": ({**OVER, **SEVERAL}, ("unknown", "no_item_lines", None)),
    "of several, the last of them, and the mapping counted no failure": (
        {**OVER, **SEVERAL, **LIMITED, "receive_count": 3, "was_given_back": False},
        ("yes", "returned", 9),
    ),
    "a receive that no log shows, and the logs would have shown a run": (
        {"is_seen": False, "unseen_basis": "never_started", "run_status": None, "consumer_kind": None},
        ("no", "never_started", None),
    ),
    "a receive that no log shows": (
        {"is_seen": False, "unseen_basis": "unseen", "run_status": None, "consumer_kind": None},
        ("unknown", "unseen", None),
    ),
    "an effect line in what may be an earlier receive": (
        {"marker_at": 5, "may_be_same_receive": True},
        ("unknown", "same_receive", None),
    ),
    "nothing in what may be an earlier receive": (
        {**WHOLE, "may_be_same_receive": True},
        ("unknown", "same_receive", None),
    ),
    "nothing in what may be a replay of a durable function": (
        {**EXHAUSTIVE, "may_be_same_receive": True, "is_durable": True},
        ("no", "no_marker", None),
    ),
    "nothing in what may be an earlier receive of a function that is not durable": (
        {**EXHAUSTIVE, "may_be_same_receive": True, "is_durable": False},
        ("unknown", "same_receive", None),
    ),
    "nothing there, and not all that is done is printed": (
        {**WHOLE, "may_be_same_receive": True, "is_durable": True},
        ("unknown", "same_receive", None),
    ),
    "begun by what may be a replay, and a delete was tried, which may be for another run's work": (
        {**EXHAUSTIVE, "may_be_same_receive": True, "is_durable": True, "started_at": 1, "delete_at": 2},
        ("unknown", "same_receive", None),
    ),
    "an effect line there, beside a guard line": (
        {"marker_at": 5, "guard_at": 4, "may_be_same_receive": True},
        ("unknown", "same_receive", None),
    ),
    "a guard line in what may be an earlier receive": (
        {"guard_at": 4, "may_be_same_receive": True},
        ("no", "guard", None),
    ),
    "an effect line": ({"marker_at": 5}, ("yes", "marker", 5)),
    "an effect line at the very first moment": ({"marker_at": 0}, ("yes", "marker", 0)),
    "an effect line beside a guard line": ({"marker_at": 5, "guard_at": 4}, ("yes", "marker", 5)),
    "an effect line in a run that failed": ({"marker_at": 5, "run_status": "timeout"}, ("yes", "marker", 5)),
    "a guard line": ({"guard_at": 4, **WHOLE}, ("no", "guard", None)),
    "a guard line at the very first moment": ({"guard_at": 0, **WHOLE}, ("no", "guard", None)),
    "a guard line in a run whose init failed": ({"guard_at": 4, "run_status": "init_failed"}, ("no", "guard", None)),
    "the idempotency store had the result": ({"idempotency": "already_done", **WHOLE}, ("no", "guard", None)),
    "the idempotency store held its lock": ({"idempotency": "in_progress", **WHOLE}, ("no", "guard", None)),
    "the idempotency store met another payload": (
        {"idempotency": "validation", **WHOLE, "run_ended_at": 9},
        ("yes", "returned", 9),
    ),
    "the init failed": ({"run_status": "init_failed"}, ("no", "never_started", None)),
    "the init failed, and something deleted the message": (
        {"run_status": "init_failed", "started_at": 1, "delete_at": 2},
        ("no", "never_started", None),
    ),
    "the framework says it finished": ({"worker_finished_at": 7, **WORKER}, ("yes", "finished", 7)),
    "the framework says so at the very first moment": (
        {"worker_finished_at": 0, "delete_at": 1, **WORKER},
        ("yes", "finished", 0),
    ),
    "begun, then a delete was attempted": ({"started_at": 1, "delete_at": 2, **PARTIAL}, ("yes", "finished", 2)),
    "a delete whose message nothing shows as begun": (
        {"delete_at": 2, **PARTIAL},
        ("unknown", "no_item_lines", None),
    ),
    "begun, and no delete": ({"started_at": 1, **PARTIAL}, ("unknown", "no_item_lines", None)),
    "begun and deleted at the very first moment": (
        {"started_at": 0, "delete_at": 0, **PARTIAL},
        ("yes", "finished", 0),
    ),
    "a delete by a framework that gave the message up": (
        {"delete_at": 2, "started_at": 1, "run_status": "error", "is_given_up": True, **WORKER},
        ("unknown", "parallel", None),
    ),
    "a worker's delete that a call shows": (
        {"deleted_by_call_at": 3, "run_status": "unknown", **WORKER},
        ("yes", "finished", 3),
    ),
    "a delete that only a call shows of a framework's job, whose end nothing tells": (
        {"deleted_by_call_at": 3, "started_at": 1, "run_status": "unknown", "is_job": True, **WORKER},
        ("unknown", "no_item_lines", None),
    ),
    "a delete that the log shows of a framework's job": (
        {"delete_at": 2, "run_status": "unknown", "is_job": True, **WORKER},
        ("yes", "finished", 2),
    ),
    "Lambda's delete that a call shows": (
        {"deleted_by_call_at": 3, "started_at": 1, "run_status": "unknown", **PARTIAL},
        ("unknown", "no_item_lines", None),
    ),
    "a delete by a worker that had failed": (
        {"delete_at": 2, "started_at": 1, "run_status": "error", "has_failed_first": True, **WORKER},
        ("unknown", "parallel", None),
    ),
    "deleted by a worker that seems to have skipped it": (
        {"delete_at": 2, "run_status": "unknown", "may_be_skipped": True, **WORKER},
        ("unknown", "no_item_lines", None),
    ),
    "finished, as its framework says, and perhaps skipped": (
        {"worker_finished_at": 2, "run_status": "unknown", "may_be_skipped": True, **WORKER},
        ("unknown", "no_item_lines", None),
    ),
    "its effect was told, whatever reads as if it was skipped": (
        {"worker_finished_at": 2, "marker_at": 1, "may_be_skipped": True, **WORKER},
        ("yes", "marker", 1),
    ),
    "deleted by a worker that had failed": (
        {"worker_finished_at": 2, "started_at": 1, "has_failed_first": True, **WORKER},
        ("unknown", "no_item_lines", None),
    ),
    "a delete by a worker": ({"delete_at": 2, "run_status": "unknown", **WORKER}, ("yes", "finished", 2)),
    "finished after all, though its place was not reached": (
        {"is_not_reached": True, "worker_finished_at": 7},
        ("yes", "finished", 7),
    ),
    "not reached": (
        {"is_not_reached": True, "run_status": "timeout", "order_declared": "sequential"},
        ("no", "not_reached", None),
    ),
    "not reached by one of several runs of a plain function": (
        {**CUT, "is_one_of_several": True},
        ("no", "not_reached", None),
    ),
    "not reached by the only run of one that may be durable": ({**CUT, **MAY_BE_DURABLE}, ("no", "not_reached", None)),
    "not reached by one of several runs of one that may be durable": (
        {**CUT, **SEVERAL},
        ("unknown", "no_item_lines", None),
    ),
    "not reached by one of several runs of one that is durable": (
        {**CUT, **SEVERAL, "is_durable": True},
        ("unknown", "no_item_lines", None),
    ),
    "not reached, as the order of other runs has it": (
        {"is_not_reached": True, "run_status": "timeout", "order_inferred": "sequential"},
        ("no", "not_reached", None),
    ),
    "behind what the run was at, and taken at once with it": (
        {"is_not_reached": True, "run_status": "timeout", "order_declared": "parallel", "order_inferred": "sequential"},
        ("unknown", "parallel", None),
    ),
    "behind what the run was at, and nothing tells of an order": (
        {"is_not_reached": True, "run_status": "timeout"},
        ("unknown", "parallel", None),
    ),
    "no marker where each effect has one": (EXHAUSTIVE, ("no", "no_marker", None)),
    "no marker, the response names no failure": ({**EXHAUSTIVE, "has_response": True}, ("no", "no_marker", None)),
    "no marker, and not each effect has one": (
        {**EXHAUSTIVE, "is_exhaustive": False, **WHOLE},
        ("unknown", "no_item_lines", None),
    ),
    "no marker, and an error after which the work may have been done": (
        {**EXHAUSTIVE, "has_error": True, "has_unanswered_error": True},
        ("unknown", "item_failed", None),
    ),
    "no marker, and an error before the work": ({**EXHAUSTIVE, "has_error": True}, ("no", "no_marker", None)),
    "an effect line behind an error": (
        {**EXHAUSTIVE, "has_error": True, "has_unanswered_error": True, "marker_at": 5},
        ("yes", "marker", 5),
    ),
    "a guard line behind an error": ({**WHOLE, "has_error": True, "guard_at": 4}, ("no", "guard", None)),
    "no marker declared": ({**EXHAUSTIVE, "has_effect": False, **WHOLE}, ("yes", "returned", None)),
    "no marker, and another's names nobody": (
        {**EXHAUSTIVE, "has_stray_mark": True},
        ("unknown", "no_item_lines", None),
    ),
    "no marker, order parallel": ({**EXHAUSTIVE, "order_declared": "parallel"}, ("unknown", "no_item_lines", None)),
    "no marker, order inferred": (
        {**EXHAUSTIVE, "order_declared": None, "order_inferred": "sequential"},
        ("no", "no_marker", None),
    ),
    "no marker, order not known": ({**EXHAUSTIVE, **ALONE, "batch_count": 2}, ("unknown", "no_item_lines", None)),
    "no marker, alone in its batch": ({**EXHAUSTIVE, **ALONE}, ("no", "no_marker", None)),
    "no marker, alone in what is known of its batch": (
        {**EXHAUSTIVE, **ALONE, "is_batch_printed": False},
        ("unknown", "no_item_lines", None),
    ),
    "no marker, alone in its batch, order parallel": (
        {**EXHAUSTIVE, **ALONE, "order_inferred": "parallel"},
        ("unknown", "no_item_lines", None),
    ),
    "no marker, and nothing tells how the run ended": (
        {**EXHAUSTIVE, "run_status": "unknown"},
        ("unknown", "no_item_lines", None),
    ),
    "the run returned, no partial responses": ({**WHOLE, "run_ended_at": 9}, ("yes", "returned", 9)),
    "the run returned, and had logged an error": (
        {**WHOLE, "run_ended_at": 9, "has_error": True},
        ("unknown", "item_failed", None),
    ),
    "the run failed, and had logged an error": (
        {**WHOLE, "run_status": "error", "has_error": True},
        ("unknown", "parallel", None),
    ),
    "the run failed, no partial responses": ({**WHOLE, "run_status": "error"}, ("unknown", "parallel", None)),
    "the run returned, partial responses not known": ({"run_ended_at": 9}, ("unknown", "no_item_lines", None)),
    "the run returned a response without it": (
        {**PARTIAL, "has_response": True, "run_ended_at": 9},
        ("yes", "returned", 9),
    ),
    "the run returned a response with it": (
        {**PARTIAL, "has_response": True, "is_named_failure": True},
        ("unknown", "item_failed", None),
    ),
    "named as a failure where partial responses are off": (
        {**WHOLE, "has_response": True, "is_named_failure": True, "run_ended_at": 9},
        ("unknown", "item_failed", None),
    ),
    "named as a failure where partial responses are not known": (
        {"has_response": True, "is_named_failure": True},
        ("unknown", "item_failed", None),
    ),
    "its run named something else as a failure, where partial responses are off": (
        {**WHOLE, "is_malformed_response": True, "run_ended_at": 9},
        ("unknown", "item_failed", None),
    ),
    "its run named others as failures, where partial responses are off": (
        {**WHOLE, "has_response": True, "run_ended_at": 9},
        ("yes", "returned", 9),
    ),
    "named as a failure beside an effect line": (
        {**WHOLE, "is_named_failure": True, "marker_at": 5},
        ("yes", "marker", 5),
    ),
    "named as a failure, and nothing tells how the run ended": (
        {"is_named_failure": True, "run_status": "unknown"},
        ("unknown", "no_item_lines", None),
    ),
    "named as a failure by a worker": ({**WORKER, "is_named_failure": True}, ("unknown", "no_item_lines", None)),
    "the run returned beside a guard line that names nobody": (
        {**WHOLE, "has_stray_guard": True},
        ("unknown", "no_item_lines", None),
    ),
    "the run returned, and a line reads as if a repeat was stopped": (
        {**WHOLE, "may_be_skipped": True},
        ("unknown", "no_item_lines", None),
    ),
    "the same, and each run does the work again": (
        {**WHOLE, "may_be_skipped": True, "is_idempotent": False, "run_ended_at": 9},
        ("yes", "returned", 9),
    ),
    "the same, and no run does": (
        {**WHOLE, "may_be_skipped": True, "is_idempotent": True},
        ("unknown", "no_item_lines", None),
    ),
    "a worker finished, a line reads so, and it does the work each time": (
        {"worker_finished_at": 2, "may_be_skipped": True, "is_idempotent": False, **WORKER},
        ("yes", "finished", 2),
    ),
    "a worker returned": ({**WHOLE, **WORKER}, ("unknown", "no_item_lines", None)),
    "what the run was at": (
        {"is_in_progress": True, "run_status": "timeout", "order_inferred": "sequential"},
        ("unknown", "in_progress", None),
    ),
    "what the run was at, alone": (
        {"is_in_progress": True, "run_status": "crash", "batch_count": 1},
        ("unknown", "in_progress", None),
    ),
    "what the run was at, if it took one after the other": (
        {"is_in_progress": True, "run_status": "crash"},
        ("unknown", "parallel", None),
    ),
    **{
        f"siblings may go on after a {status}": ({"run_status": status}, ("unknown", "parallel", None))
        for status in ("timeout", "error", "crash")
    },
    "a sequential run failed": (
        {"run_status": "error", "order_declared": "sequential"},
        ("unknown", "no_item_lines", None),
    ),
    "nothing was given back, as the mapping counted": (
        {**PARTIAL, "came_again": True, "was_given_back": False, "run_ended_at": 9},
        ("yes", "returned", 9),
    ),
    "nothing was given back, and the response names it": (
        {**PARTIAL, "came_again": True, "was_given_back": False, "is_named_failure": True},
        ("unknown", "item_failed", None),
    ),
    "something was given back, as the mapping counted": (
        {**PARTIAL, "came_again": True, "was_given_back": True},
        ("unknown", "partial_response", None),
    ),
    "came again after a success whose response was not logged": (
        {**PARTIAL, "came_again": True},
        ("unknown", "partial_response", None),
    ),
    "came again after a logged response": (
        {**PARTIAL, "came_again": True, "has_response": True, "is_named_failure": True},
        ("unknown", "item_failed", None),
    ),
    "came again after a logged response beside a guard line that names nobody": (
        {**PARTIAL, "came_again": True, "has_response": True, "has_stray_guard": True},
        ("unknown", "no_item_lines", None),
    ),
    "came again, partial responses not known": ({"came_again": True}, ("unknown", "no_item_lines", None)),
    "did not come again": (PARTIAL, ("unknown", "no_item_lines", None)),
    "came again after nothing told how the run ended": (
        {**PARTIAL, "came_again": True, "run_status": "unknown"},
        ("unknown", "no_item_lines", None),
    ),
}
"""Facts to effect, basis and the time of the line that shows it."""


RETURNED = {"effect": "yes", "basis": "returned", "effect_at": 9}
MARKED = {"effect": "yes", "basis": "marker", "effect_at": 9}
NOT_DONE = {"effect": "no", "basis": "guard"}
OPEN = {"effect": "unknown", "basis": "parallel"}


def answer(of, facts):
    one = delivery(**facts)
    of.decide_effect(one)
    return one.effect, one.basis, one.effect_at


@pytest.mark.parametrize(("facts", "expected"), CASES.values(), ids=CASES)
def test_the_first_row_that_holds_decides(facts, expected):
    assert answer(effect, facts) == expected


def test_every_row_decides_some_case():
    decided = {expected[:2] for _, expected in CASES.values()}

    assert decided == {(effect, basis) for effect, basis, _ in EFFECTS}


FINISHED = {
    "its effect line": ({"marker_at": 5}, 5),
    "the framework's completion": ({"worker_finished_at": 7}, 7),
    "both, the effect line first": ({"marker_at": 5, "worker_finished_at": 7}, 5),
    "an effect line at the very first moment": ({"marker_at": 0, "worker_finished_at": 7}, 0),
    "neither": ({"delete_at": 3, "run_ended_at": 9}, None),
}


def finished(of, facts):
    one = delivery(**facts)
    of.decide_effect(one)
    return one.finished_at


@pytest.mark.parametrize(("facts", "expected"), FINISHED.values(), ids=FINISHED)
def test_work_is_finished_at_its_effect_line_or_the_frameworks_completion(facts, expected):
    assert finished(effect, facts) == expected


IDLE = {
    "an effect line": ({"marker_at": 5}, False),
    "nothing in a run that prints all that it does": (EXHAUSTIVE, True),
    "nothing in one that does not": (WHOLE, False),
    "an environment that never came up": ({"run_status": "init_failed"}, True),
}


def idle(of, facts):
    return of.shows_nothing_done(delivery(**facts))


@pytest.mark.parametrize(("facts", "expected"), IDLE.values(), ids=IDLE)
def test_lines_show_that_nothing_was_done(facts, expected):
    assert idle(effect, facts) is expected


NAMED = {**RETURNED, "is_passing": True, "is_idempotent": False}

ONCE = {
    "two that returned": ([RETURNED, RETURNED], ["yes", "unknown"]),
    "three that returned": ([RETURNED, RETURNED, RETURNED], ["yes", "unknown", "unknown"]),
    "returned after a marked one": ([MARKED, RETURNED], ["yes", "unknown"]),
    "marked after one that returned": ([RETURNED, MARKED], ["yes", "yes"]),
    "returned after one that was not done": ([NOT_DONE, RETURNED], ["no", "yes"]),
    "returned after an open one": ([OPEN, RETURNED], ["unknown", "yes"]),
    "declared not idempotent": ([RETURNED, {**RETURNED, "is_idempotent": False}], ["yes", "yes"]),
    "declared idempotent": ([RETURNED, {**RETURNED, "is_idempotent": True}], ["yes", "unknown"]),
    "a run that only named the message, before one that had it": ([NAMED, RETURNED], ["unknown", "yes"]),
    "only runs that named it": ([NAMED, NAMED, NAMED], ["yes", "unknown", "unknown"]),
    "a run that named it, and one that had it and did not do it": ([NAMED, NOT_DONE], ["unknown", "no"]),
    "a run that had it and failed, and one that named it": ([OPEN, NAMED, NAMED], ["unknown", "unknown", "unknown"]),
}
"""Deliveries of one work in the order of their receives, and the effect of each when counted together."""


def counted(of, facts):
    work = [delivery(**one, received_at=at, delivery_index=at + 1) for at, one in enumerate(facts)]
    of.count_returned_once(reversed(work))
    assert all(d.effect_at == (9 if d.effect == "yes" else None) for d in work)
    return [d.effect for d in work]


@pytest.mark.parametrize(("facts", "expected"), ONCE.values(), ids=ONCE)
def test_returned_counts_once_per_work(facts, expected):
    assert counted(effect, facts) == expected


def test_of_receives_at_one_time_the_smaller_item_counts_first():
    later, earlier = delivery("m2", **RETURNED), delivery("m1", **RETURNED)

    count_returned_once([later, earlier])

    assert (earlier.effect, later.effect) == ("yes", "unknown")


def test_a_receive_whose_time_nobody_knows_counts_first():
    later, earlier = delivery(**RETURNED), delivery("m2", **{**RETURNED, "received_at": None})

    count_returned_once([later, earlier])

    assert (earlier.effect, later.effect) == ("yes", "unknown")
