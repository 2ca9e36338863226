"""Each delivery beside the one before it: durations, names, and whether the earlier receive is exact."""

import pytest

from forensics.identity import handle_token
from forensics.judging import pairs
from forensics.judging.calls import Calls
from forensics.rules import RULES
from tests.forensics.judging.plain import LATE, MIN, Around, S, delivery

NO_THROTTLE = {"throttles": (False, [])}
RECEIVES = {
    "its time was logged": ({"received_basis": "first_receive"}, {}, (0, None, 0)),
    "the time of a line": ({"received_basis": "line"}, {}, (0, None, 0)),
    "no log shows it": ({"received_basis": None}, {}, (30_000, "poller", 0)),
    "nobody knows when": ({"received_at": None}, NO_THROTTLE, (30_000, "poller", 0)),
    "as the run began, nobody looked for throttles": ({}, {}, (30_000, "poller", 0)),
    "as the run began, throttled before": ({}, {"throttles": (True, ["t"])}, (30_000, "throttled", 0)),
    "as the run began, no throttle before": ({}, NO_THROTTLE, (0, None, 0)),
    "the same, and no REPORT tells of its init": ({"init_ms": None}, NO_THROTTLE, (10_000, "init", 0)),
    "nor of one that the visibility timeout is shorter than": (
        {"init_ms": None, "visibility_timeout_s": 5},
        NO_THROTTLE,
        (5_000, "init", 0),
    ),
    "of a mapping that gathers its batches": ({"batching_window_s": 5}, NO_THROTTLE, (5_000, "window", 5_000)),
    "the same, and no REPORT": ({"batching_window_s": 5, "init_ms": None}, NO_THROTTLE, (15_000, "window", 5_000)),
    "of one that may gather for longer than it hides": (
        {"batching_window_s": 60},
        NO_THROTTLE,
        (30_000, "window", 30_000),
    ),
    "the same, throttled before": (
        {"batching_window_s": 5},
        {"throttles": (True, ["t"])},
        (30_000, "throttled", 5_000),
    ),
    "of one that does not gather": ({"batching_window_s": 0}, NO_THROTTLE, (0, None, 0)),
}


def held(of, facts, around):
    return tuple(of.held_before(delivery(**{"visibility_timeout_s": 30, "init_ms": 0, **facts}), Around(**around)))


@pytest.mark.parametrize(("facts", "around", "expected"), RECEIVES.values(), ids=RECEIVES)
def test_who_may_have_held_the_message_before_it_counts_as_received(facts, around, expected):
    assert held(pairs, facts, around) == expected


HELD = {
    "for one visibility timeout": ({"visibility_timeout_s": 30}, 60 * S - 30 * S),
    "for the longest one where none is known": ({"visibility_timeout_s": None}, 60 * S - 43_200 * S),
    "not at all": ({"visibility_timeout_s": 0}, 60 * S),
    "from a whole millisecond on": ({"visibility_timeout_s": 30, "received_at": 60 * S + 999}, 60 * S - 30 * S),
}


def held_from(of, facts):
    around, facts = Around(), {"received_at": 60 * S, **facts}
    of.held_before(delivery(received_basis="run_start", **facts), around)
    ((start, end),) = around.asked
    assert end == facts["received_at"]
    return start


@pytest.mark.parametrize(("facts", "start"), HELD.values(), ids=HELD)
def test_a_throttled_poller_holds_a_message_up_to_one_visibility_timeout(facts, start):
    assert held_from(pairs, facts) == start


NAMES = {
    "a run": ({"request_id": "0123456789", "function_name": "charge"}, "run 01234567 of charge"),
    "a run of which only the log group is known": (
        {"request_id": "0123456789", "function_name": None},
        "run 01234567 of /aws/lambda/charge",
    ),
    "a run without a request id": ({"request_id": None, "function_name": "charge"}, "the earlier run"),
    "a run without a name": (
        {"request_id": "0123456789", "function_name": None, "log_group": None},
        "the earlier run",
    ),
    "a worker": ({"consumer_kind": "worker", "log_group": "billing"}, "the worker of billing"),
    "no log shows it": ({"consumer_kind": None, "log_group": None}, "the earlier run"),
}


def name(of, facts):
    d = delivery(**facts)
    return of.consumer_name(d.consumer_kind, d.log_group, d.function_name, d.request_id)


@pytest.mark.parametrize(("facts", "expected"), NAMES.values(), ids=NAMES)
def test_rules_name_what_got_the_earlier_delivery(facts, expected):
    assert name(pairs, facts) == expected


ONE = {"run_ended_at": 8 * S, "received_basis": "line", "visibility_timeout_s": 30}
OTHER = {"log_stream": "host-b"}
CLOCKS = {
    "a second before the earlier receive, on another host": (
        {},
        {"received_at": -S, **OTHER},
        (None, "by the clocks of two hosts"),
    ),
    "as the earlier one was received": (
        {},
        {"received_at": 0, **OTHER},
        (None, "another host received it 30 s before"),
    ),
    "before the first line of the same host": (
        {},
        {"received_at": -S},
        (None, "before the first line of the earlier handling"),
    ),
    "before the first line of a function's run": (
        {"consumer_kind": "lambda"},
        {"received_at": -S, "consumer_kind": "lambda", **OTHER},
        (None, "before the first line of the earlier handling"),
    ),
    "while the other host had it, inside the timeout": (
        {},
        {"received_at": 5 * S, **OTHER},
        (None, "25 s before the 30 s"),
    ),
    "in another log group of the same stream": (
        {},
        {"received_at": 5 * S, "log_group": "/ecs/other"},
        (None, "another host received it"),
    ),
    "as the earlier one was received, on the same host": ({}, {"received_at": 0}, (0, None)),
    "when the other host was done, a millisecond after": (
        {"run_ended_at": 8 * S + 1000},
        {"received_at": 8 * S, **OTHER},
        (None, "another host received it 22 s before"),
    ),
    "while the same host had it": ({}, {"received_at": 5 * S}, (5_000, None)),
    "while a function had it": ({"consumer_kind": "lambda"}, {"received_at": 5 * S, **OTHER}, (5_000, None)),
    "by a function, after a worker": ({}, {"received_at": 5 * S, "consumer_kind": "lambda", **OTHER}, (5_000, None)),
    "by nobody whose lines were read": ({}, {"received_at": 5 * S, "is_seen": False, **OTHER}, (5_000, None)),
    "when the other host was done": ({}, {"received_at": 8 * S, **OTHER}, (8_000, None)),
    "while it went on, after the timeout": ({"run_ended_at": 40 * S}, {"received_at": 30 * S, **OTHER}, (30_000, None)),
    "while it went on, a moment before that": (
        {"run_ended_at": 40 * S},
        {"received_at": 30 * S - 1000, **OTHER},
        (None, "before the 30 s visibility timeout was over"),
    ),
    "while it went on, after a call let it be visible": (
        {"hidden_until_at": 3 * S, "is_hidden_by_call": True},
        {"received_at": 5 * S, **OTHER},
        (5_000, None),
    ),
    "while it went on, inside what it was extended by": (
        {"run_ended_at": 60 * S, "hidden_until_at": 90 * S, "is_hidden_by_call": True},
        {"received_at": 50 * S, **OTHER},
        (None, "another host received it 40 s before"),
    ),
    "nobody knows until when it went on": ({"run_ended_at": None}, {"received_at": 5 * S, **OTHER}, (5_000, None)),
    "nobody knows its timeout": ({"visibility_timeout_s": None}, {"received_at": 5 * S, **OTHER}, (5_000, None)),
    "nobody knows when": ({}, {"received_at": None, **OTHER}, (None, None)),
}


def clocks(of, earlier, later, told):
    """Return the gap, and what is told of it where it cannot hold."""
    kind = {"consumer_kind": "worker", "is_fifo": True}
    pair = [
        delivery(**{**kind, "record_at": 0, **ONE, **earlier}),
        delivery(**{**kind, "delivery_index": 2, "record_at": later["received_at"], **later}),
    ]
    (found,) = of.redeliveries_of(pair, Around())
    rulings = {ruled.code: ruled for ruled in found.rulings}
    words = rulings["released"].sentence
    return found.gap_ms, told if told is not None and told in words and rulings[
        "released"
    ].stance == "undecidable" else None


@pytest.mark.parametrize(("earlier", "later", "expected"), CLOCKS.values(), ids=CLOCKS)
def test_no_cause_rests_on_a_gap_between_two_clocks_that_cannot_be(earlier, later, expected):
    assert clocks(pairs, earlier, later, expected[1]) == expected


def test_what_is_open_says_that_clocks_differ():
    kind = {"consumer_kind": "worker", "is_fifo": True, **ONE, "run_status": "unknown", "run_ended_at": None}
    pair = [delivery(record_at=0, **kind), delivery(delivery_index=2, **{**kind, "received_at": -S, **OTHER})]
    (found,) = pairs.redeliveries_of(pair, Around())

    assert found.sentence.startswith(
        "it was received again 1 s before its previous receive, by the clocks of two hosts: they differ by that"
    )
    assert "how far the clocks of the two hosts were apart" in (found.would_decide or "")


WORKER = {"consumer_kind": "worker"}
DURATIONS = {
    "the run ended before the next receive": ({"run_ended_at": 10 * S}, {"received_at": 30 * S}, (30_000, 10_000, 0)),
    "the run went on": ({"run_ended_at": 31 * S}, {"received_at": 30 * S}, (30_000, 31_000, 1_000)),
    "the run's end is not known": ({"run_ended_at": None}, {"received_at": 30 * S}, (30_000, None, 0)),
    "the next receive is not known": ({"run_ended_at": 31 * S}, {"received_at": None}, (None, 31_000, 0)),
    "the receive is not known": (
        {"received_at": None, "run_ended_at": 31 * S},
        {"received_at": 30 * S},
        (None, None, 0),
    ),
    "long after the first moment": (
        {"received_at": LATE, "run_ended_at": LATE + 10 * S},
        {"received_at": LATE + 30 * S},
        (30_000, 10_000, 0),
    ),
    "a worker of which no end is known wrote on": (
        {**WORKER, "run_ended_at": 31 * S, "run_last_line_at": 31 * S, "is_end_known": False},
        {"received_at": 30 * S},
        (30_000, None, 1_000),
    ),
    "a worker's end is known": (
        {**WORKER, "run_ended_at": 10 * S, "run_last_line_at": 31 * S},
        {"received_at": 30 * S},
        (30_000, 10_000, 0),
    ),
    "a line of a function may be late": (
        {"run_ended_at": None, "run_last_line_at": 31 * S},
        {"received_at": 30 * S},
        (30_000, None, 0),
    ),
    "parts of a millisecond": (
        {"received_at": 999, "run_ended_at": 1_000},
        {"received_at": 2_999},
        (2, 1, 0),
    ),
}


def durations(of, earlier, later):
    (found,) = of.redeliveries_of([delivery(**earlier), delivery(**{"delivery_index": 2, **later})], Around())
    return found.gap_ms, found.run_ms, found.overlap_ms


@pytest.mark.parametrize(("earlier", "later", "expected"), DURATIONS.values(), ids=DURATIONS)
def test_durations_are_whole_milliseconds_and_unknown_where_a_time_is(earlier, later, expected):
    assert durations(pairs, earlier, later) == expected


OUTLIVED = {
    "received before its run, which took just the visibility timeout": ("run_start", "visibility_expired"),
    "received at a known time": ("first_receive", "function_timeout"),
}


def outlived(of, basis):
    facts = {
        "visibility_timeout_s": 30,
        "run_ended_at": 30 * S,
        "run_status": "timeout",
        "received_basis": basis,
        "init_ms": 0,
    }
    later = delivery(delivery_index=2, received_at=30 * S)
    (found,) = of.redeliveries_of([delivery(**facts), later], Around(throttles=(False, [])))
    return found.cause


@pytest.mark.parametrize(("basis", "cause"), OUTLIVED.values(), ids=OUTLIVED)
def test_a_run_as_long_as_the_visibility_timeout(basis, cause):
    assert outlived(pairs, basis) == cause


class Asked(Calls):
    """Recorded calls of which only the spans are remembered in which somebody asked for some."""

    def __init__(self):
        super().__init__()
        self.spans = {}

    def was_called(self, queue_arn, operation, receipt_handle, low, high, only_refused=False):
        self.spans[operation, only_refused] = (low, high)
        return


SPANS = {
    "the run ended before the next receive": ({"run_ended_at": 10 * S}, (0, 30 * S), (0, 30 * S)),
    "the run went on": ({"run_ended_at": 40 * S}, (0, 30 * S), (0, 40 * S)),
    "a worker of which no end is known": (
        {**WORKER, "run_ended_at": 10 * S, "is_end_known": False},
        (0, 30 * S),
        (0, None),
    ),
}


def spans(of, facts):
    asked = Asked()
    of.redeliveries_of([delivery(**facts), delivery(received_at=30 * S, delivery_index=2)], Around(calls=asked))
    return asked.spans


SPANS = {
    name: (facts, {("ChangeMessageVisibility", False): changes, ("DeleteMessage", True): deletes})
    for name, (facts, changes, deletes) in SPANS.items()
}


@pytest.mark.parametrize(("facts", "expected"), SPANS.values(), ids=SPANS)
def test_calls_are_asked_for_until_the_next_receive_and_deletes_until_the_run_was_over(facts, expected):
    assert spans(pairs, facts) == expected


HIDDEN = {
    "by a call": ({"is_hidden_by_call": True}, "supported"),
    "by its receive": ({"is_hidden_by_call": False}, "excluded"),
}


def hidden(of, facts):
    """The message was visible again after 5 s, of 30 s, and came after 31 s."""
    earlier = delivery(visibility_timeout_s=30, hidden_until_at=5 * S, received_basis="line", **facts)
    (found,) = of.redeliveries_of([earlier, delivery(received_at=31 * S, is_fifo=True)], Around())
    return {ruled.code: ruled.stance for ruled in found.rulings}["released"]


@pytest.mark.parametrize(("facts", "expected"), HIDDEN.values(), ids=HIDDEN)
def test_a_call_that_hid_it_for_less_is_a_release(facts, expected):
    assert hidden(pairs, facts) == expected


DELETED = {"a call deleted it": ({"deleted_by_call_at": 0}, "supported"), "nothing tells": ({}, "excluded")}


def deleted(of, facts):
    earlier = delivery(visibility_timeout_s=30, run_ended_at=S, received_basis="line", **facts)
    (found,) = of.redeliveries_of([earlier, delivery(received_at=31 * S, is_fifo=False)], Around())
    return {ruled.code: ruled.stance for ruled in found.rulings}["broker_copy"]


@pytest.mark.parametrize(("facts", "expected"), DELETED.values(), ids=DELETED)
def test_a_message_that_a_call_deleted_came_as_a_copy(facts, expected):
    assert deleted(pairs, facts) == expected


ENDED_WELL = {
    "a run that ended well": ({}, "excluded"),
    "one of a durable function, which may have failed later": ({"is_durable": True}, "undecidable"),
    "one of a durable function that failed": ({"is_durable": True, "run_status": "timeout"}, "supported"),
    "one of which nothing tells the end": ({"run_status": None}, "undecidable"),
}


def timed_out(of, facts):
    earlier = delivery(visibility_timeout_s=30, function_timeout_s=5, received_basis="line", **facts)
    (found,) = of.redeliveries_of([earlier, delivery(received_at=31 * S, is_fifo=False)], Around())
    return {ruled.code: ruled.stance for ruled in found.rulings}["function_timeout"]


@pytest.mark.parametrize(("facts", "expected"), ENDED_WELL.values(), ids=ENDED_WELL)
def test_a_durable_execution_may_fail_after_a_run_that_ended_well(facts, expected):
    assert timed_out(pairs, facts) == expected


HANDLE, OTHER_HANDLE, MASKED = (handle_token(text) for text in ("AQEB" + "x" * 200, "AQEB" + "y" * 200, "***"))
ONE_RECEIVE = {
    "one receipt handle": ({"receipt_handle": HANDLE}, {"receipt_handle": HANDLE}, True),
    "two": ({"receipt_handle": HANDLE}, {"receipt_handle": OTHER_HANDLE}, False),
    "two that the log masks": ({"receipt_handle": MASKED}, {"receipt_handle": MASKED}, False),
    "no names": ({}, {}, False),
    "no names, of a FIFO queue": ({}, {"is_fifo": True}, False),
    "one count of a FIFO queue": ({"receive_count": 1}, {"receive_count": 1, "is_fifo": True}, True),
    "one count of a FIFO queue and of its dead-letter queue": (
        {"receive_count": 1},
        {"receive_count": 1, "is_fifo": True, "received_from_arn": "arn:aws:sqs:eu-west-1:123456789012:dlq.fifo"},
        False,
    ),
    "two counts of a FIFO queue": ({"receive_count": 1}, {"receive_count": 2, "is_fifo": True}, False),
    "one count of a standard queue": ({"receive_count": 1}, {"receive_count": 1, "is_fifo": False}, False),
}


def by_one_receive(of, earlier, later):
    (found,) = of.redeliveries_of([delivery(**earlier), delivery(**later)], Around())
    return "by one receive" in found.sentence


@pytest.mark.parametrize(("earlier", "later", "expected"), ONE_RECEIVE.values(), ids=ONE_RECEIVE)
def test_two_runs_that_had_one_receive_are_said_to(earlier, later, expected):
    assert by_one_receive(pairs, earlier, later) is expected


AT_ONCE = {
    "the second run began when the first was over": ({"run_started_at": 9 * S}, 0),
    "the second run began before": ({"run_started_at": 3 * S}, 2_000),
    "nothing tells when the second run began": ({}, 0),
    "another receive, and nothing tells when its run began": ({"receipt_handle": OTHER_HANDLE}, 5_000),
}


def at_once(of, facts):
    earlier = delivery(received_basis="line", receipt_handle=HANDLE, run_ended_at=5 * S)
    later = delivery(**{"received_basis": "line", "receipt_handle": HANDLE, **facts})
    (found,) = of.redeliveries_of([earlier, later], Around())
    return found.overlap_ms


AGAIN_AT = {
    "by the same receive": ({"run_started_at": 9 * S}, (9 * S, None)),
    "by the same receive, and nothing tells when its run began": ({}, (None, None)),
    "by another receive": ({"receipt_handle": OTHER_HANDLE, "run_started_at": 9 * S}, (8 * S, 8_000)),
}


def again_at(of, facts):
    earlier = delivery(received_at=0, receipt_handle=HANDLE, run_started_at=1 * S)
    later = delivery(**{"received_at": 8 * S, "receipt_handle": HANDLE, **facts})
    (found,) = of.redeliveries_of([earlier, later], Around())
    return found.again_at, found.gap_ms


@pytest.mark.parametrize(("facts", "expected"), AGAIN_AT.values(), ids=AGAIN_AT)
def test_it_came_again_when_it_was_received_or_when_a_second_run_of_one_receive_began(facts, expected):
    assert again_at(pairs, facts) == expected


@pytest.mark.parametrize(("facts", "expected"), AT_ONCE.values(), ids=AT_ONCE)
def test_two_runs_of_one_receive_were_at_work_at_once_from_when_the_second_began(facts, expected):
    assert at_once(pairs, facts) == expected


FINISHES = {
    "nothing says that it finished": ({}, False),
    "its effect line": ({"finished_at": 5, "basis": "marker"}, True),
    "its effect line at the very first moment": ({"finished_at": 0, "basis": "marker"}, True),
    "its delete": ({"basis": "finished"}, True),
    "the run returned": ({"basis": "returned"}, False),
}


def finished(of, facts):
    (found,) = of.redeliveries_of([delivery(**facts), delivery()], Around())
    return found.earlier_has_finish_mark


@pytest.mark.parametrize(("facts", "expected"), FINISHES.values(), ids=FINISHES)
def test_an_earlier_delivery_has_a_finish_mark_by_its_own_lines_only(facts, expected):
    assert finished(pairs, facts) is expected


PRINTED = {
    "the batch was printed": ({"is_batch_printed": True, "batch_count": 2}, (True, "excluded")),
    "the batch was not printed": ({"is_batch_printed": False, "batch_count": 2}, (False, "undecidable")),
    "only its first message was printed": (
        {"batch_position": 1, "record_at": 1, "batch_count": 1},
        (False, "undecidable"),
    ),
}


BEGUN = {
    "no line begins it": ({"started_at": None}, "undecidable"),
    "it alone is begun": ({}, "function_timeout"),
    "it alone is begun, at the very first moment": ({"started_at": 0}, "function_timeout"),
    "it alone is begun, by a worker": ({"consumer_kind": "worker"}, "worker_killed"),
    "nothing is known of others": ({"batch_count": None}, "undecidable"),
    "another one is named, too": ({"batch_count": 2}, "batch_collateral"),
    "an effect's line may be another one's": ({"has_stray_mark": True}, "undecidable"),
    "the batch is printed: it had another one, which was not begun": (
        {"is_batch_printed": True, "batch_count": 2},
        "batch_collateral",
    ),
}


def begun(of, facts):
    done = delivery(
        **{
            "run_status": "timeout",
            "is_end_known": True,
            "run_ended_at": 30 * S,
            "batch_count": 1,
            "started_at": S,
            "finished_at": 29 * S,
            "visibility_timeout_s": 180,
            **facts,
        }
    )
    (found,) = of.redeliveries_of([done, delivery(received_at=181 * S)], Around())
    return found.cause


@pytest.mark.parametrize(("facts", "cause"), BEGUN.values(), ids=BEGUN)
def test_of_a_run_that_prints_what_it_begins_the_only_one_begun_was_at_hand(facts, cause):
    """Its work was done; whether the run was cut off there or at a sibling, the lines of siblings tell."""
    assert begun(pairs, facts) == cause


RAISED = {
    "by a custom runtime": ({}, "undecidable"),
    "by one of Lambda's own": ({"is_runtime_lambdas": True}, "delete_ineffective"),
    "and no error was logged": ({"has_error": False}, "delete_ineffective"),
    "and its handler logged its response": ({"has_response": True}, "delete_ineffective"),
    "by a worker": ({"consumer_kind": "worker"}, "delete_ineffective"),
}


def raised(of, facts):
    ended = delivery(
        **{
            "run_status": "success",
            "is_end_known": True,
            "run_ended_at": 2 * S,
            "has_error": True,
            "visibility_timeout_s": 180,
            "reports_batch_item_failures": False,
            **facts,
        }
    )
    (found,) = of.redeliveries_of([ended, delivery(received_at=181 * S)], Around())
    return found.cause


@pytest.mark.parametrize(("facts", "cause"), RAISED.values(), ids=RAISED)
def test_a_run_that_logged_an_error_may_have_raised_it_where_its_runtime_need_not_say_so(facts, cause):
    assert raised(pairs, facts) == cause


LATE_LINES = {
    "its first line is missing, and the others come after the later receive": ({}, (None, 8_000, "visibility_expired")),
    "its other lines come at the moment of the later receive": (
        {"received_at": 31 * S},
        (0, 8_000, "visibility_expired"),
    ),
    "the later receive was printed by no line": ({"later": {"is_seen": False}}, (None, 0, "undecidable")),
    "its first line is there: it had been in hand for long, or clocks are apart": (
        {"started_at": 32 * S},
        (None, 0, "undecidable"),
    ),
    "its record is there: it had been in hand for long, or clocks are apart": (
        {"record_at": 32 * S},
        (None, 0, "undecidable"),
    ),
}


def late_lines(of, facts):
    """A worker's handling of which lines stand after the receive that followed it."""
    told = {"consumer_kind": "worker", "is_fifo": True, "visibility_timeout_s": 30, "log_group": "/ecs/worker"}
    times = {"received_at": 32 * S, "run_ended_at": 39 * S, "run_last_line_at": 39 * S, "last_fact_at": 39 * S}
    of_later = {"received_at": 31 * S, "receive_count": 2, **facts.get("later", {})}
    of_earlier = {name: value for name, value in facts.items() if name != "later"}
    earlier = delivery(**{**told, **times, "receive_count": 1, **of_earlier})
    (found,) = of.redeliveries_of([earlier, delivery(**told, **of_later)], Around())
    return found.gap_ms, found.overlap_ms, found.cause


@pytest.mark.parametrize(("facts", "expected"), LATE_LINES.values(), ids=LATE_LINES)
def test_a_receive_of_which_only_later_lines_are_left_is_not_timed_by_them(facts, expected):
    assert late_lines(pairs, facts) == expected


BATCHES = {
    "another message was in hand": (2, 2, "batch_collateral"),
    "another was only named, as one that it sends is": (2, 1, "undecidable"),
    "nothing tells which of them were in hand": (2, None, "batch_collateral"),
    "it was the only one that was named": (1, 1, "undecidable"),
}


def in_batch(of, named, in_hand):
    """A function's run that printed no batch, and timed out after it had finished this message."""
    earlier = delivery(
        run_status="timeout",
        finished_at=5,
        run_ended_at=9 * S,
        is_fifo=True,
        visibility_timeout_s=30,
        batch_count=named,
        in_hand_count=in_hand,
    )
    (found,) = of.redeliveries_of([earlier, delivery(received_at=31 * S, is_fifo=True)], Around())
    return found.cause


@pytest.mark.parametrize(("named", "in_hand", "expected"), BATCHES.values(), ids=BATCHES)
def test_a_batch_failed_for_another_message_where_another_was_in_hand(named, in_hand, expected):
    assert in_batch(pairs, named, in_hand) == expected


PRINTED_BY_WORKERS = {"a worker printed it": ({"record_at": 0}, True), "a worker did not": ({}, False)}


def printed_by_worker(of, facts):
    (found,) = of.redeliveries_of([delivery(consumer_kind="worker", **facts), delivery()], Around())
    return found.earlier_is_printed


@pytest.mark.parametrize(("facts", "expected"), PRINTED_BY_WORKERS.values(), ids=PRINTED_BY_WORKERS)
def test_what_a_worker_prints_is_all_it_has_in_hand(facts, expected):
    assert printed_by_worker(pairs, facts) == expected


def printed(of, facts):
    """A run that timed out after it had finished this message: for another one of its batch, if it was not alone."""
    earlier = delivery(run_status="timeout", finished_at=5, is_fifo=True, **facts)
    (found,) = of.redeliveries_of([earlier, delivery(is_fifo=True)], Around())
    stances = {ruled.code: ruled.stance for ruled in found.rulings}
    return found.earlier_is_printed, stances["function_timeout"]


@pytest.mark.parametrize(("facts", "expected"), PRINTED.values(), ids=PRINTED)
def test_a_batch_was_printed_where_places_in_it_are_known(facts, expected):
    assert printed(pairs, facts) == expected


def test_each_delivery_but_the_first_is_a_redelivery_that_every_rule_was_asked_about():
    item = [
        delivery(
            run_status="timeout", evidence_ids=["a", "c"], visibility_timeout_s=30, is_batch_printed=True, batch_count=2
        ),
        delivery(received_at=1 * MIN, delivery_index=2, receive_count=2, is_fifo=True, evidence_ids=["b", "c"]),
        delivery(received_at=2 * MIN, delivery_index=3, evidence_ids=["d"]),
    ]

    first, second = pairs.redeliveries_of(item, Around())

    assert [r.delivery_index for r in (first, second)] == [2, 3]
    assert first.evidence_ids == ["a", "b", "c"]
    assert (first.cause, first.visibility_timeout_s, first.is_fifo) == ("function_timeout", 30, True)
    assert (first.earlier_status, first.earlier_is_printed, first.earlier_batch_count) == ("timeout", True, 2)
    assert second.earlier_is_printed is False
    assert [r.code for r in first.rulings] == list(RULES)
    assert (first.earlier_received_at, first.later_received_at) == (0, 1 * MIN)


def test_a_message_delivered_once_has_no_redelivery():
    assert pairs.redeliveries_of([delivery()], Around()) == []


class Unread:
    """Nothing was read again yet."""

    def of_groups(self, log_groups, start, end):
        return LATE

    def of_queue(self, queue_arn, start, end):
        return LATE


NOT_SEEN = {"is_seen": False, "is_watched": True, "is_throttled": False, "run_status": None}
PROVISIONAL = {
    "a receive that only missing lines explain, read once": (NOT_SEEN, {"finality": Unread()}, True),
    "the same, read again": (NOT_SEEN, {}, False),
    "a timeout, read once": ({"run_status": "timeout"}, {"finality": Unread()}, False),
}


def provisional(of, earlier, around):
    around = Around(throttles=(False, []), would_be_logged=True, **around)
    pair = [delivery(receive_count=1, **earlier), delivery(receive_count=2, received_at=MIN)]
    [redelivery] = of.redeliveries_of(pair, around)
    return redelivery.is_provisional


@pytest.mark.parametrize(("earlier", "around", "expected"), PROVISIONAL.values(), ids=PROVISIONAL)
def test_a_cause_that_rests_on_missing_lines_is_provisional_until_they_were_read_again(earlier, around, expected):
    assert provisional(pairs, earlier, around) is expected
