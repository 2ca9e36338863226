"""How did the delivery end? Each ending at its borders."""

import pytest

from forensics.identity import handle_token
from forensics.judging import ending
from tests.forensics.judging.plain import LATE, Around, S, delivery

LAST_ALLOWED = {"receive_count": 3, "max_receive_count": 3, "run_status": "timeout"}

GIVEN_BACK = {**LAST_ALLOWED, "run_status": "success", "is_named_failure": True}

HIDDEN = 30 * S

POLLED = {"polled_at": HIDDEN}

READ = {"read_until": HIDDEN + 20 * S}

CASES = {
    "a success": ({}, "deleted"),
    "a success still hidden": ({"read_until": HIDDEN}, "deleted"),
    "a success that named it as a failure": (
        {"is_named_failure": True, "reports_batch_item_failures": True},
        "visibility_expired",
    ),
    "which its mapping does not hear": ({"is_named_failure": True, "reports_batch_item_failures": False}, "deleted"),
    "which nobody knows to be heard": ({"is_named_failure": True}, "unknown"),
    "a success whose response named something else": (
        {"is_malformed_response": True, "reports_batch_item_failures": True},
        "visibility_expired",
    ),
    "which its mapping does not read": (
        {"is_malformed_response": True, "reports_batch_item_failures": False},
        "deleted",
    ),
    "which nobody knows to be read": ({"is_malformed_response": True}, "unknown"),
    "a run of unknown end whose response named something else": (
        {"run_status": "unknown", "is_malformed_response": True, "reports_batch_item_failures": True},
        "unknown",
    ),
    "a success whose delete failed": ({"delete_reason": "other"}, "unknown"),
    "a success whose delete failed, and which could have given it back": (
        {"delete_reason": "other", "reports_batch_item_failures": True},
        "unknown",
    ),
    "nothing tells how it ended, and a recorded call deleted it": (
        {"run_status": "unknown", "deleted_by_call_at": S},
        "deleted",
    ),
    "a success whose handle had expired": ({"delete_reason": "expired"}, "delete_refused"),
    "a success whose message was gone": ({"delete_reason": "gone"}, "delete_refused"),
    "refused, and it came again": ({"delete_reason": "expired", "came_again": True}, "delete_refused"),
    "a success, and it came again": ({"came_again": True}, "visibility_expired"),
    "given up by the framework": ({"is_given_up": True, "run_status": "error"}, "deleted"),
    "given up, and it came again": (
        {"is_given_up": True, "run_status": "error", "came_again": True},
        "visibility_expired",
    ),
    "given up, the delete refused": (
        {"is_given_up": True, "run_status": "error", "delete_reason": "gone"},
        "delete_refused",
    ),
    "no log shows it, and it came again": ({"is_seen": False, "came_again": True}, "visibility_expired"),
    "no log shows it, nor what came then": ({"is_seen": False}, "unknown"),
    "failed, and hidden as the log was last read": ({"run_status": "timeout", "read_until": HIDDEN}, "in_flight"),
    "failed, and visible as the log was last read": (
        {"run_status": "timeout", "read_until": HIDDEN + 1},
        "visibility_expired",
    ),
    "failed, and until when it was hidden is not known": (
        {"run_status": "timeout", "hidden_until_at": None},
        "visibility_expired",
    ),
    "failed, and its log group was never read": ({"run_status": "timeout", "read_until": None}, "visibility_expired"),
    **{
        f"ended in {status}": ({"run_status": status}, "visibility_expired")
        for status in ("timeout", "error", "crash", "init_failed")
    },
    "nothing tells how the run ended": ({"run_status": "unknown"}, "unknown"),
    "nothing tells, but the work was done": ({"run_status": "unknown", "effect": "yes"}, "deleted"),
    "nothing tells how the run ended that named it as a failure": (
        {"run_status": "unknown", "is_named_failure": True},
        "unknown",
    ),
    "the work was done before the run failed": ({"run_status": "error", "effect": "yes"}, "visibility_expired"),
    "the work was done, and it is still hidden": (
        {"run_status": "unknown", "effect": "yes", "read_until": HIDDEN},
        "in_flight",
    ),
    "the work was done and the delete failed": (
        {"run_status": "unknown", "effect": "yes", "delete_reason": "other"},
        "unknown",
    ),
    "it was received from the dead-letter queue": (
        {"run_status": "timeout", "received_dead_at": LATE},
        "dead_lettered",
    ),
    "and nothing else tells that it failed": ({"received_dead_at": LATE}, "dead_lettered"),
    "the receive before the last that its queue allows": (
        {"run_status": "timeout", "came_again": True, "received_dead_at": LATE},
        "visibility_expired",
    ),
    "last allowed receive failed, polled since": ({**LAST_ALLOWED, "polled_at": HIDDEN}, "dead_lettered"),
    "last allowed receive failed, polled before": ({**LAST_ALLOWED, "polled_at": HIDDEN - 1}, "visibility_expired"),
    "last allowed receive failed, read for long after, and nobody is known to have polled": (
        LAST_ALLOWED,
        "visibility_expired",
    ),
    "perhaps not polled, but the dead-letter queue grew": (
        {**LAST_ALLOWED, **READ, "grown_at": (HIDDEN,)},
        "dead_lettered",
    ),
    "the dead-letter queue grew, and it is still hidden": (
        {**LAST_ALLOWED, "read_until": HIDDEN, "grown_at": (HIDDEN,)},
        "in_flight",
    ),
    "a run of a durable function was cut off there: another may have gone on": (
        {**LAST_ALLOWED, **POLLED, "is_durable": True},
        "unknown",
    ),
    "the same, and the dead-letter queue grew": (
        {**LAST_ALLOWED, "is_durable": True, "grown_at": (HIDDEN,)},
        "dead_lettered",
    ),
    "a durable function gave it back": (
        {**GIVEN_BACK, "reports_batch_item_failures": True, **POLLED, "is_durable": True},
        "dead_lettered",
    ),
    "one receive is left": ({**LAST_ALLOWED, **POLLED, "receive_count": 2}, "visibility_expired"),
    "received more often than allowed": ({**LAST_ALLOWED, **POLLED, "receive_count": 4}, "dead_lettered"),
    "no receive count": ({**LAST_ALLOWED, **POLLED, "receive_count": None}, "visibility_expired"),
    "no redrive policy": ({**LAST_ALLOWED, **POLLED, "max_receive_count": None}, "visibility_expired"),
    "last allowed receive, and it came again": ({**LAST_ALLOWED, "came_again": True}, "visibility_expired"),
    "last allowed receive, given back by name": (
        {**GIVEN_BACK, "reports_batch_item_failures": True, **POLLED},
        "dead_lettered",
    ),
    "last allowed receive, named as a failure where nobody knows that it is heard": (
        {**GIVEN_BACK, **POLLED},
        "unknown",
    ),
    "that, and the dead-letter queue grew": ({**GIVEN_BACK, "grown_at": (HIDDEN,)}, "dead_lettered"),
    "that, and its run is not known to have succeeded": (
        {**GIVEN_BACK, "run_status": "unknown", "effect": "yes", "grown_at": (HIDDEN,)},
        "deleted",
    ),
    "last allowed receive, a response named something else where nobody knows that it is read": (
        {**LAST_ALLOWED, "run_status": "success", "is_malformed_response": True, "grown_at": (HIDDEN,)},
        "dead_lettered",
    ),
    "last allowed receive, a success": ({**LAST_ALLOWED, "run_status": "success"}, "deleted"),
    "last allowed receive, the delete failed after a success": (
        {**LAST_ALLOWED, "run_status": "success", "delete_reason": "other", "grown_at": (HIDDEN,)},
        "unknown",
    ),
    "last allowed receive, nothing tells how it ended": ({**LAST_ALLOWED, "run_status": "unknown"}, "unknown"),
    "nothing tells, but the dead-letter queue grew": (
        {**LAST_ALLOWED, "run_status": "unknown", "grown_at": (HIDDEN,)},
        "dead_lettered",
    ),
    "the dead-letter queue grew, but the work was done": (
        {**LAST_ALLOWED, "run_status": "unknown", "effect": "yes", "grown_at": (HIDDEN,)},
        "deleted",
    ),
}
"""Facts to ending. ``read_until`` is when the log group was last read, ``polled_at`` when
the queue was polled last, ``grown_at`` when the dead-letter queue grew."""


def answer(of, facts):
    facts = {"hidden_until_at": HIDDEN, "read_until": LATE, **facts}
    read_until, grown_at, polled_at = facts.pop("read_until"), facts.pop("grown_at", ()), facts.pop("polled_at", None)
    one = delivery(**facts)
    read = {} if read_until is None else {one.log_group: (-LATE, read_until)}
    of.decide_ending(one, Around(read=read, grown_at=grown_at, polled_at=polled_at))
    return one.ended_by


@pytest.mark.parametrize(("facts", "expected"), CASES.values(), ids=CASES)
def test_a_delivery_ends_as_far_as_the_evidence_tells(facts, expected):
    assert answer(ending, facts) == expected


SLOW = {"run_ended_at": 45 * S, "came_again": True}
OPEN = {"run_status": "unknown", "consumer_kind": "worker", "came_again": True}
"""A handling of which no line tells how it ended."""
HELD = {"received_basis": "run_start", "visibility_timeout_s": 30}
"""A delivery that a poller may have had for its whole visibility timeout before its run began."""
SECOND = {"received_at": 40 * S, "run_status": "timeout"}

UNDER = {
    "a slow handling that then succeeded may have deleted it under the next": (SLOW, SECOND, "unknown"),
    "in the moment it was received again": ({**SLOW, "run_ended_at": 40 * S}, SECOND, "unknown"),
    "one that was over by then did not": ({**SLOW, "run_ended_at": 40 * S - 1}, SECOND, "visibility_expired"),
    "it may have been received as soon as it was visible, and its run begun later": (
        {**SLOW, "run_ended_at": 35 * S},
        {**SECOND, "visible_at": 35 * S},
        "unknown",
    ),
    "before that it was in nobody else's hand": (
        {**SLOW, "run_ended_at": 35 * S - 1},
        {**SECOND, "visible_at": 35 * S},
        "visibility_expired",
    ),
    "one whose end nothing tells may be one": ({**SLOW, "run_ended_at": None}, SECOND, "unknown"),
    "nor how it ended": ({**OPEN}, SECOND, "unknown"),
    "its last line is no end": ({**OPEN, "run_ended_at": 2 * S, "is_end_known": False}, SECOND, "unknown"),
    "a success of which only the last line is known": (
        {**SLOW, "run_ended_at": 2 * S, "is_end_known": False},
        SECOND,
        "unknown",
    ),
    "it gave the message back": (
        {**OPEN, "is_named_failure": True, "reports_batch_item_failures": True},
        SECOND,
        "visibility_expired",
    ),
    "it named the message, and its mapping may not hear that": (
        {**OPEN, "is_named_failure": True},
        SECOND,
        "unknown",
    ),
    "it could have named the message, and did not": (
        {**OPEN, "reports_batch_item_failures": True},
        SECOND,
        "unknown",
    ),
    "it grew, and nothing tells how a slow one ended": (
        {**SLOW, "run_status": "unknown"},
        {**SECOND, **LAST_ALLOWED, "grown_at": (HIDDEN,)},
        "dead_lettered",
    ),
    "its delete failed, and nothing tells its end": ({**OPEN, "delete_reason": "other"}, SECOND, "visibility_expired"),
    "it was killed before": ({**OPEN, "process_ended_at": 40 * S - 1}, SECOND, "visibility_expired"),
    "it was killed just then": ({**OPEN, "process_ended_at": 40 * S}, SECOND, "unknown"),
    "no log shows it": ({**OPEN, "is_seen": False}, SECOND, "visibility_expired"),
    "a function was over at its timeout": (
        {**OPEN, "consumer_kind": "lambda", "function_timeout_s": 30, "run_started_at": 10 * S - 1},
        SECOND,
        "visibility_expired",
    ),
    "just at its timeout": (
        {**OPEN, "consumer_kind": "lambda", "function_timeout_s": 30, "run_started_at": 10 * S},
        SECOND,
        "unknown",
    ),
    "no function runs for longer than a quarter of an hour": (
        {**OPEN, "consumer_kind": "lambda", "run_started_at": 40 * S - 900 * S - 1},
        SECOND,
        "visibility_expired",
    ),
    "a function may run for a quarter of an hour": (
        {**OPEN, "consumer_kind": "lambda", "run_started_at": 40 * S - 900 * S},
        SECOND,
        "unknown",
    ),
    "nothing tells when the function began": (
        {**OPEN, "consumer_kind": "lambda", "run_started_at": None},
        SECOND,
        "unknown",
    ),
    "of an open end it may never have gone to the dead-letter queue": (OPEN, {**SECOND, **LAST_ALLOWED}, "unknown"),
    "unless that queue grew": (OPEN, {**SECOND, **LAST_ALLOWED, "grown_at": (HIDDEN,)}, "dead_lettered"),
    "it grew, but a slow one succeeded": (SLOW, {**SECOND, **LAST_ALLOWED, "grown_at": (HIDDEN,)}, "unknown"),
    "it grew, and nothing tells when a success ended": (
        {**SLOW, "run_ended_at": None},
        {**SECOND, **LAST_ALLOWED, "grown_at": (HIDDEN,)},
        "dead_lettered",
    ),
    "one that failed did not": ({**SLOW, "run_status": "error"}, SECOND, "visibility_expired"),
    "one that gave it back did not": (
        {**SLOW, "is_named_failure": True, "reports_batch_item_failures": True},
        SECOND,
        "visibility_expired",
    ),
    "one that named it may have, where nobody knows that this is heard": (
        {**SLOW, "is_named_failure": True},
        SECOND,
        "unknown",
    ),
    "one whose response named something else did not": (
        {**SLOW, "is_malformed_response": True, "reports_batch_item_failures": True},
        SECOND,
        "visibility_expired",
    ),
    "unless nobody knows that it is read": ({**SLOW, "is_malformed_response": True}, SECOND, "unknown"),
    "one whose delete failed did not": ({**SLOW, "delete_reason": "other"}, SECOND, "visibility_expired"),
    "a FIFO queue refuses the old handle": (
        {**SLOW, "queue": "orders.fifo"},
        {**SECOND, "queue": "orders.fifo"},
        "visibility_expired",
    ),
    "then it may never have gone to the dead-letter queue": (SLOW, {**SECOND, **LAST_ALLOWED}, "unknown"),
    "nor where it was received from there": (SLOW, {**SECOND, "received_dead_at": LATE}, "dead_lettered"),
    "a success is one all the same": (SLOW, {"received_at": 40 * S}, "deleted"),
    "where nothing tells when it was received again, nothing tells that it was in hand": (
        SLOW,
        {**SECOND, "received_at": None},
        "visibility_expired",
    ),
    "a poller may have held it until the run between began, and so it was visible sooner": (
        SLOW,
        {**SECOND, "received_at": 80 * S, "visible_at": 70 * S, "between": HELD},
        "unknown",
    ),
    "but not so much sooner": (
        {**SLOW, "run_ended_at": 40 * S - 1},
        {**SECOND, "received_at": 80 * S, "visible_at": 70 * S, "between": HELD},
        "visibility_expired",
    ),
    "one whose receive is told was not held": (
        SLOW,
        {**SECOND, "received_at": 80 * S, "visible_at": 70 * S, "between": {**HELD, "received_basis": "first_receive"}},
        "visibility_expired",
    ),
    "when it was visible tells that, too": (SLOW, {**SECOND, "received_at": None, "visible_at": 45 * S}, "unknown"),
}
"""The first handling, the last one, and how the last ended; ``visible_at``: when the one between let the message go."""


def under(of, earlier, last):
    last = dict(last)
    visible_at, queue, grown_at = last.pop("visible_at", None), last.get("queue", "orders"), last.pop("grown_at", ())
    between = {"received_at": S, "received_basis": "line", "run_status": "error", "came_again": True, "queue": queue}
    between = delivery(**between | last.pop("between", {}), hidden_until_at=visible_at)
    item = [delivery(**earlier), between, delivery(hidden_until_at=HIDDEN, **last)]
    of.decide_endings(item, Around(grown_at=grown_at, polled_at=HIDDEN))
    return [d.ended_by for d in item]


def last_under(of, earlier, last):
    return under(of, earlier, last)[-1]


@pytest.mark.parametrize(("earlier", "last", "expected"), UNDER.values(), ids=UNDER)
def test_a_message_may_be_deleted_under_the_last_handling_by_a_slow_one(earlier, last, expected):
    assert under(ending, earlier, last) == ["visibility_expired", "visibility_expired", expected]


LEFT = {
    "reports_batch_item_failures": False,
    "run_ended_at": 2 * S,
    "is_end_known": True,
    "hidden_until_at": HIDDEN,
    "function_timeout_s": 10,
    "came_again": True,
}
"""A success that deleted nothing, of a function whose runs take ten seconds at most."""
FAILED_DEAD = {**SECOND, **LAST_ALLOWED}

LEFT_TO_DELETE = {
    "another run of its receive may still have been on": (LEFT, FAILED_DEAD, "unknown"),
    "which was over by then, for it was begun while the message was hidden": (
        {**LEFT, "hidden_until_at": HIDDEN - 1},
        FAILED_DEAD,
        "dead_lettered",
    ),
    "of a function that may run for a quarter of an hour": (
        {**LEFT, "function_timeout_s": None, "hidden_until_at": 40 * S - 900 * S},
        FAILED_DEAD,
        "unknown",
    ),
    "and for no longer": (
        {**LEFT, "function_timeout_s": None, "hidden_until_at": 40 * S - 900 * S - 1},
        FAILED_DEAD,
        "dead_lettered",
    ),
    "nothing tells until when it was hidden": ({**LEFT, "hidden_until_at": None}, FAILED_DEAD, "unknown"),
    "nothing tells when it was received again": (LEFT, {**FAILED_DEAD, "received_at": None}, "dead_lettered"),
    "it failed, which tells why it came again": ({**LEFT, "run_status": "error"}, FAILED_DEAD, "dead_lettered"),
    "it may have given the message back": (
        {**LEFT, "reports_batch_item_failures": True},
        FAILED_DEAD,
        "dead_lettered",
    ),
    "out of a FIFO queue, which refuses the old handle": (
        {**LEFT, "queue": "orders.fifo"},
        {**FAILED_DEAD, "queue": "orders.fifo"},
        "dead_lettered",
    ),
    "a worker's": ({**LEFT, "consumer_kind": "worker"}, FAILED_DEAD, "dead_lettered"),
    "the dead-letter queue grew": (LEFT, {**FAILED_DEAD, "grown_at": (HIDDEN,)}, "dead_lettered"),
    "it was received from there": (LEFT, {**FAILED_DEAD, "received_dead_at": LATE}, "dead_lettered"),
    "the queue may have it yet": (LEFT, SECOND, "visibility_expired"),
}
"""The first run, which succeeded, the last one at the receive limit, and how that ended; see ``UNDER``."""


@pytest.mark.parametrize(("earlier", "last", "expected"), LEFT_TO_DELETE.values(), ids=LEFT_TO_DELETE)
def test_a_message_that_a_success_left_in_its_queue_may_be_deleted_by_a_run_that_no_line_tells_of(
    earlier, last, expected
):
    assert under(ending, earlier, last) == ["visibility_expired", "visibility_expired", expected]


LEFT_FOR_SURE = {
    "its mapping hears no failures": ({"reports_batch_item_failures": False}, True),
    "its mapping may hear them": ({}, False),
    "it hears them, and the response was logged": ({"has_response": True}, True),
    "which named something else": ({"has_response": True, "is_malformed_response": True}, False),
    "counts tell that it was not given back": ({"was_given_back": False}, True),
    "a worker had it": ({"consumer_kind": "worker"}, True),
    "nothing tells how it ended": ({"run_status": "unknown", "reports_batch_item_failures": False}, False),
}


def left_for_sure(of, facts):
    return of.was_left_to_delete(delivery(**facts))


@pytest.mark.parametrize(("facts", "expected"), LEFT_FOR_SURE.values(), ids=LEFT_FOR_SURE)
def test_a_success_left_its_message_to_be_deleted_where_it_gave_it_back_to_nobody(facts, expected):
    assert left_for_sure(ending, facts) == expected


HAD = {"receipt_handle": handle_token("AQEB" + "x" * 200)}
DEAD = {"received_from_arn": "arn:aws:sqs:eu-west-1:123456789012:orders-dlq"}

ACROSS = {
    "what comes next is from the dead-letter queue": ([{}, DEAD], [("dead_lettered", S), ("deleted", None)]),
    "more than once": (
        [{}, DEAD, DEAD],
        [("dead_lettered", S), ("visibility_expired", None), ("deleted", None)],
    ),
    "what comes next is from its own queue": ([{}, {}], [("visibility_expired", None), ("deleted", None)]),
    "it was never seen in its own queue": ([DEAD, DEAD], [("visibility_expired", None), ("deleted", None)]),
    "two runs had one receive": ([HAD, HAD], [("deleted", None), ("deleted", None)]),
    "so had three": ([HAD, HAD, HAD], [("deleted", None), ("deleted", None), ("deleted", None)]),
    "and then it came again": (
        [HAD, HAD, {}],
        [("visibility_expired", None), ("visibility_expired", None), ("deleted", None)],
    ),
    "and then it was in the dead-letter queue": (
        [HAD, HAD, DEAD],
        [("unknown", None), ("dead_lettered", 2 * S), ("deleted", None)],
    ),
    "nothing, and it failed": ([{"run_status": "timeout"}], [("visibility_expired", None)]),
    "a late line of its own queue": ([DEAD, {}], [("visibility_expired", None), ("deleted", None)]),
}
"""Deliveries a second after one another, each with how it ended, and when it was received from the dead-letter queue next."""


OF_ONE = {
    "both failed": ([{**LAST_ALLOWED, **HAD}] * 2, (), ["unknown", "dead_lettered"]),
    "the first succeeded": ([HAD, {**LAST_ALLOWED, **HAD}], (), ["unknown", "unknown"]),
    "nothing tells how the first ended": (
        [{"run_status": "unknown"} | HAD, {**LAST_ALLOWED, **HAD}],
        (),
        ["unknown", "unknown"],
    ),
    "and the dead-letter queue grew": ([HAD, {**LAST_ALLOWED, **HAD}], (HIDDEN,), ["unknown", "dead_lettered"]),
    "nothing tells how one of another receive ended": (
        [{"queue": "orders.fifo", "run_status": "unknown"}, {**LAST_ALLOWED, **HAD, "queue": "orders.fifo"}],
        (),
        ["visibility_expired", "dead_lettered"],
    ),
    "one of another receive succeeded": (
        [{"queue": "orders.fifo"}, {**LAST_ALLOWED, **HAD, "queue": "orders.fifo"}],
        (),
        ["visibility_expired", "dead_lettered"],
    ),
    "the first succeeded, out of a FIFO queue": (
        [{"queue": "orders.fifo"} | HAD, {**LAST_ALLOWED, **HAD, "queue": "orders.fifo"}],
        (),
        ["unknown", "unknown"],
    ),
    "nothing tells how the first ended, out of a FIFO queue": (
        [{"run_status": "unknown", "queue": "orders.fifo"} | HAD, {**LAST_ALLOWED, **HAD, "queue": "orders.fifo"}],
        (),
        ["unknown", "unknown"],
    ),
}
"""Two runs, when the dead-letter queue grew, and how each ended."""


def of_one(of, item, grown_at):
    item = [
        delivery(came_again=place == 0, **{"hidden_until_at": HIDDEN, "received_at": place} | facts)
        for place, facts in enumerate(item)
    ]
    of.decide_endings(item, Around(grown_at=grown_at, polled_at=HIDDEN))
    return [d.ended_by for d in item]


@pytest.mark.parametrize(("item", "grown_at", "expected"), OF_ONE.values(), ids=OF_ONE)
def test_a_run_of_the_last_receive_that_succeeded_may_be_the_one_that_the_poller_went_by(item, grown_at, expected):
    assert of_one(ending, item, grown_at) == expected


def across(of, item):
    item = [
        delivery(
            received_at=n * S, came_again=n + 1 < len(item), fact_ids=[f"line {n}"], evidence_ids=[f"line {n}"], **facts
        )
        for n, facts in enumerate(item)
    ]
    of.decide_endings(item, Around())
    return [(d.ended_by, d.received_dead_at) for d in item]


@pytest.mark.parametrize(("item", "expected"), ACROSS.values(), ids=ACROSS)
def test_what_is_received_from_the_dead_letter_queue_had_been_moved_there(item, expected):
    assert across(ending, item) == expected


CITED = {"the first line of it": (["two", "three"], ["one", "two"])}
"""The lines of a receive from the dead-letter queue, and those that show how the delivery before it ended."""


def cited(of, lines):
    item = [delivery(evidence_ids=["one"], came_again=True), delivery(evidence_ids=lines, **DEAD)]
    of.decide_endings(item, Around())
    return item[0].evidence_ids


@pytest.mark.parametrize(("lines", "expected"), CITED.values(), ids=CITED)
def test_a_move_is_shown_by_the_line_of_the_receive_from_the_dead_letter_queue(lines, expected):
    assert cited(ending, lines) == expected


def test_a_message_that_was_received_once_and_may_be_received_no_more_is_dead_lettered():
    item = [delivery(hidden_until_at=HIDDEN, **LAST_ALLOWED)]

    ending.decide_endings(item, Around(polled_at=HIDDEN))

    assert item[0].ended_by == "dead_lettered"


RUN = {**LAST_ALLOWED, "received_at": 0, "visibility_timeout_s": 30, "init_ms": 0}

HIDDEN_FOR_SURE = {
    "by the first receive that SQS tells": ({**RUN, "received_basis": "first_receive"}, False, HIDDEN),
    "by the start of its run": ({**RUN, "received_basis": "run_start"}, False, HIDDEN),
    "which its poller may have gathered for": (
        {**RUN, "received_basis": "run_start", "batching_window_s": 5},
        False,
        HIDDEN - 5 * S,
    ),
    "which may have been throttled before": ({**RUN, "received_basis": "run_start"}, None, 0),
    "until a call set another end": (
        {**RUN, "received_basis": "run_start", "is_hidden_by_call": True},
        None,
        HIDDEN,
    ),
    "nobody knows for how long": (
        {**RUN, "received_at": None, "hidden_until_at": None, "received_dead_at": LATE},
        False,
        None,
    ),
    "it was not moved": ({**RUN, "receive_count": 2, "received_basis": "first_receive"}, False, None),
}
"""How its last receive is known, whether it was throttled, and until when it was hidden for sure."""


def hidden(of, facts, is_throttled):
    item = [delivery(**{"hidden_until_at": HIDDEN} | facts)]
    of.decide_endings(item, Around(polled_at=HIDDEN, throttles=(is_throttled, [])))
    return item[0].hidden_at_least_until


@pytest.mark.parametrize(("facts", "is_throttled", "expected"), HIDDEN_FOR_SURE.values(), ids=HIDDEN_FOR_SURE)
def test_a_message_that_was_moved_was_hidden_until_then_for_sure(facts, is_throttled, expected):
    assert hidden(ending, facts, is_throttled) == expected


STATUSES = {
    "the handle had expired": ("expired", "expired"),
    "the message was gone": ("gone", "gone"),
    "anything else": ("other", "failed"),
    "nothing went wrong": (None, None),
}


def status(of, reason):
    one = delivery(delete_reason=reason)
    of.decide_ending(one, Around())
    return one.delete_status


@pytest.mark.parametrize(("reason", "expected"), STATUSES.values(), ids=STATUSES)
def test_a_delete_that_went_wrong_says_how(reason, expected):
    assert status(ending, reason) == expected


SIGNS = {
    "at the limit, and the queue grew": ({**LAST_ALLOWED}, (HIDDEN,), True),
    "at the limit": ({**LAST_ALLOWED}, (), False),
    "one receive is left, and the queue grew": ({**LAST_ALLOWED, "receive_count": 2}, (HIDDEN,), False),
}


def sign(of, facts, grown_at):
    one = delivery(**facts, hidden_until_at=HIDDEN)
    of.decide_ending(one, Around(grown_at=grown_at))
    return one.is_in_dead_letter_queue


@pytest.mark.parametrize(("facts", "grown_at", "is_there"), SIGNS.values(), ids=SIGNS)
def test_the_dead_letter_queue_shows_only_what_was_received_for_the_last_time(facts, grown_at, is_there):
    assert sign(ending, facts, grown_at) is is_there


SURE = {
    "a success": ({}, True),
    "named as a failure": ({"is_named_failure": True, "reports_batch_item_failures": True}, False),
    "named as a failure, which nobody knows to be heard": ({"is_named_failure": True}, False),
    "named as a failure, which is not heard": ({"is_named_failure": True, "reports_batch_item_failures": False}, True),
    "its delete failed": ({"delete_reason": "other"}, False),
    "it came again": ({"came_again": True}, False),
    "its effect was told once more": ({"lone_mark_count": 1}, False),
    "its effect was told once more while it was in hand": ({"told_again_count": 1}, False),
    "its worker tried it again, and did the work in both": ({"done_more_count": 1}, False),
    "its worker tried it again": ({"maybe_more_count": 1}, False),
    "its lines may be of two deliveries": ({"may_be_two": True}, False),
    "its delete may be of a further delivery": (
        {"consumer_kind": "worker", "is_fifo": True, "hidden_until_at": 0, "marker_at": 0, "worker_finished_at": 2 * S},
        False,
    ),
    "no log shows it": ({"is_seen": False}, False),
    "the run failed": ({"run_status": "error"}, False),
    "nothing tells how the run ended": ({"run_status": "unknown", "effect": "yes"}, False),
    "given up by the framework": ({"is_given_up": True, "run_status": "error"}, False),
}


def sure(of, facts):
    return of.ends_surely(delivery(**facts))


@pytest.mark.parametrize(("facts", "expected"), SURE.values(), ids=SURE)
def test_only_a_success_ends_surely(facts, expected):
    assert sure(ending, facts) is expected


@pytest.mark.parametrize("facts", [facts for facts, is_sure in SURE.values() if is_sure])
@pytest.mark.parametrize("read_until", [-LATE, 0, LATE, None])
def test_what_ends_surely_is_deleted_until_whenever_its_log_was_read(facts, read_until):
    assert answer(ending, {**facts, **LAST_ALLOWED, "run_status": "success", "read_until": read_until}) == "deleted"


LEFT = {**LAST_ALLOWED, "ended_by": "visibility_expired"}

MOVED = {
    "it went": ({"ended_by": "dead_lettered"}, True),
    "left at its limit, and nobody is known to have polled": (LEFT, True),
    "a receive was left": ({**LEFT, "receive_count": 2}, False),
    "it came again": ({**LEFT, "came_again": True}, False),
    "it may have been deleted": ({**LEFT, "ended_by": "unknown"}, False),
    "still hidden": ({**LEFT, "hidden_until_at": LATE}, False),
}


def moved(of, facts):
    return of.may_have_moved(delivery(**{"hidden_until_at": HIDDEN, **facts}), Around())


@pytest.mark.parametrize(("facts", "expected"), MOVED.values(), ids=MOVED)
def test_what_is_left_at_its_limit_may_have_been_moved_by_whoever_polled(facts, expected):
    assert moved(ending, facts) is expected


HEARD = {
    "it named the message": ({"is_named_failure": True}, True),
    "its response named something else": ({"is_malformed_response": True}, True),
    "it named nothing": ({}, False),
    "its mapping hears no failures": ({"is_named_failure": True, "reports_batch_item_failures": False}, False),
    "its mapping hears them": ({"is_named_failure": True, "reports_batch_item_failures": True}, False),
    "it failed": ({"is_named_failure": True, "run_status": "error"}, False),
}


def heard(of, facts):
    return of.may_have_been_given_back(delivery(**facts))


@pytest.mark.parametrize(("facts", "expected"), HEARD.values(), ids=HEARD)
def test_what_a_success_says_of_failures_gives_the_message_back_if_its_mapping_hears_that(facts, expected):
    assert heard(ending, facts) is expected


REFUSED_LATE = {"consumer_kind": "worker", "hidden_until_at": 30 * S, "delete_reason": "other", "delete_at": 36 * S}
ENDED_LATE = REFUSED_LATE | {"is_fifo": True, "delete_reason": None, "delete_at": None, "worker_finished_at": 36 * S}

ENDS_ANOTHER = {
    "its delete failed long behind the work": ({}, True),
    "a moment behind it": ({"marker_at": 35 * S}, False),
    "a microsecond more": ({"marker_at": 35 * S - 1}, True),
    "no line tells the work": ({"marker_at": None}, False),
    "it may be received no more": ({"receive_count": 1, "max_receive_count": 1}, False),
    "when it was just visible again": ({"hidden_until_at": 36 * S}, True),
    "a microsecond before": ({"hidden_until_at": 36 * S + 1}, False),
    "nobody knows when it was": ({"hidden_until_at": None}, False),
    "a function tried it": ({"consumer_kind": "lambda"}, False),
    "SQS refused it": ({"delete_reason": "expired"}, False),
    "no line tells a delete": ({"delete_reason": None, "delete_at": None}, False),
    "a FIFO queue took it": (ENDED_LATE, True),
    "a standard queue took it": (ENDED_LATE | {"is_fifo": False}, False),
    "a FIFO queue refused it, and its framework ended the job": (ENDED_LATE | {"delete_reason": "expired"}, False),
    "a FIFO queue took it just when the message was visible again": (ENDED_LATE | {"hidden_until_at": 36 * S}, True),
    "a FIFO queue took it before": (ENDED_LATE | {"hidden_until_at": 36 * S + 1}, False),
}
"""What is known of a worker's last delivery, and whether its late end may be that of a further one."""


def ends_another(of, facts):
    return of.may_have_ended_another(delivery(**{"marker_at": 5 * S, **REFUSED_LATE, **facts}))


@pytest.mark.parametrize(("facts", "expected"), ENDS_ANOTHER.values(), ids=ENDS_ANOTHER)
def test_a_late_end_may_be_that_of_a_further_delivery(facts, expected):
    assert ends_another(ending, facts) is expected
