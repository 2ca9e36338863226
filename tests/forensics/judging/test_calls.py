"""Recorded calls to SQS: whose delete and release they are, who received, who sent, and what their absence tells."""

import pytest

from forensics.clock import moment as moment_of
from forensics.identity import handle_token
from forensics.judging.calls import CHANGE, DELETE, RECEIVE, Calls, add_calls, add_receive, give_marks_to_deletes
from forensics.judging.judge import judge
from forensics.judging.sends import SEND
from forensics.judging.surroundings import Surroundings
from forensics.spans import Spans
from tests.forensics.judging.around import PAYMENTS, at, moment, read
from tests.forensics.judging.plain import MIN, S, delivery

MINE, OTHER = handle_token("AQEB" + "m" * 100), handle_token("AQEB" + "o" * 100)
EXPIRED = "Value RH for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired."
QUEUE = {"queue_arn": PAYMENTS, "queue": "payments"}
_numbers = iter(range(10_000))


def call(second: float, operation: str, **said):
    plain = dict.fromkeys(
        (
            "message_id",
            "receipt_handle",
            "visibility_timeout_s",
            "deduplication_id",
            "actor",
            "error_code",
            "error_text",
        )
    )
    known = {"called_at": moment_of(round(second * S)), "operation": operation, "queue_arn": PAYMENTS}
    return {**plain, "evidence_id": f"send:{next(_numbers)}", **known, **said}


def handled(**facts):
    return delivery(**QUEUE, **{"receipt_handle": MINE, "received_at": 0, "consumer_kind": "worker", **facts})


def with_calls(*rows, read_spans=None, **facts):
    d = handled(**facts)
    add_calls(d, Calls(rows, read_spans))
    return d


TOLD = {
    "a refused delete": (
        [call(40, DELETE, receipt_handle=MINE, error_code="InvalidParameterValue", error_text=EXPIRED)],
        {"delete_reason": "expired", "delete_at": 40 * S, "deleted_by_call_at": None},
    ),
    "a delete refused for another reason": (
        [call(40, DELETE, receipt_handle=MINE, error_code="AccessDenied", error_text="no")],
        {"delete_reason": "other"},
    ),
    "a delete that SQS took": (
        [call(40, DELETE, receipt_handle=MINE)],
        {"delete_reason": None, "delete_at": None, "deleted_by_call_at": 40 * S},
    ),
    "one that it took after it had refused another": (
        [call(40, DELETE, receipt_handle=MINE, error_code="Throttled"), call(41, DELETE, receipt_handle=MINE)],
        {"delete_reason": None, "deleted_by_call_at": 41 * S},
    ),
    "somebody else's": ([call(40, DELETE, receipt_handle=OTHER)], {"deleted_by_call_at": None, "evidence_ids": []}),
    "one whose handle is hidden": ([call(40, DELETE)], {"deleted_by_call_at": None, "evidence_ids": []}),
    "a release": (
        [call(5, CHANGE, receipt_handle=MINE, visibility_timeout_s=0)],
        {"hidden_until_at": 5 * S, "is_hidden_by_call": True},
    ),
    "the last of several changes": (
        [
            call(9, CHANGE, receipt_handle=MINE, visibility_timeout_s=60),
            call(5, CHANGE, receipt_handle=MINE, visibility_timeout_s=0),
        ],
        {"hidden_until_at": 69 * S},
    ),
    "a refused change": (
        [call(5, CHANGE, receipt_handle=MINE, visibility_timeout_s=0, error_code="InvalidParameterValue")],
        {"is_hidden_by_call": False},
    ),
}


@pytest.mark.parametrize(("rows", "expected"), TOLD.values(), ids=TOLD)
def test_calls_with_its_handle_tell_of_a_delivery(rows, expected):
    told = with_calls(*rows)

    assert {name: getattr(told, name) for name in expected} == expected


def test_what_the_log_says_of_its_delete_stays():
    refused = call(40, DELETE, receipt_handle=MINE, error_code="AccessDenied")

    assert with_calls(refused, delete_reason="expired", delete_at=39 * S).delete_reason == "expired"


@pytest.mark.parametrize(("failed_at", "expected"), [(40 * S + 900_000, True), (41 * S, False), (None, False)])
def test_a_delete_after_a_failure_gave_the_message_up(failed_at, expected):
    told = with_calls(call(40, DELETE, receipt_handle=MINE), worker_failed_at=failed_at)

    assert told.has_failed_first is expected


@pytest.mark.parametrize(
    ("facts", "ended_at"),
    [
        ({"run_ended_at": 5 * S, "is_end_known": False}, 40 * S),
        ({"run_ended_at": 50 * S, "is_end_known": False}, 50 * S),
        ({"run_ended_at": 5 * S, "is_end_known": True}, 5 * S),
    ],
)
def test_a_worker_is_on_until_its_delete_where_its_log_tells_no_end(facts, ended_at):
    d = with_calls(call(40, DELETE, receipt_handle=MINE), **facts)

    assert (d.run_ended_at, d.is_end_known) == (ended_at, True)


def test_who_deletes_a_functions_message_tells_nothing_of_its_run():
    d = with_calls(call(40, DELETE, receipt_handle=MINE), consumer_kind="lambda", run_ended_at=5, is_end_known=False)

    assert (d.run_ended_at, d.is_end_known) == (5, False)


LATER = {"receipt_handle": OTHER, "received_at": 31 * S, "marker_at": 39 * S, "evidence_ids": ["log:mark"]}
GIVEN = {
    "it was still on, and then deleted its message": ({}, LATER, True),
    "until the second of its delete was over": ({}, {**LATER, "marker_at": 41 * S - 1}, True),
    "not what was told behind that": ({}, {**LATER, "marker_at": 41 * S}, False),
    "it shows its own work": ({"marker_at": S}, LATER, False),
    "a guard stopped it": ({"guard_at": S}, LATER, False),
    "its log tells its delete": ({"delete_at": 39 * S}, LATER, False),
    "its log tells no delete, as the call does": ({"delete_at": 40 * S}, LATER, True),
    "nobody deleted it": ({"receipt_handle": "of nobody"}, LATER, False),
    "a function had it": ({"consumer_kind": "lambda"}, LATER, False),
    "another stream tells the work": ({}, {**LATER, "log_stream": "another"}, False),
    "another log group does": ({}, {**LATER, "log_group": "another"}, False),
    "no line shows the later one": ({}, {**LATER, "is_seen": False}, False),
}


@pytest.mark.parametrize(("slower", "later", "is_given"), GIVEN.values(), ids=GIVEN)
def test_a_mark_is_of_the_slower_handling_that_deleted_its_message_behind_it(slower, later, is_given):
    item = [handled(**slower), handled(**later)]
    had = [d.marker_at for d in item]
    give_marks_to_deletes(item, Calls([call(40, DELETE, receipt_handle=MINE)]))

    assert [d.marker_at for d in item] == ([later["marker_at"], None] if is_given else had)
    assert ("log:mark" in item[0].evidence_ids) is is_given


def test_of_several_marks_the_last_before_its_delete_is_the_slower_ones():
    item = [handled(), handled(**{**LATER, "marker_at": 38 * S}), handled(**LATER)]
    give_marks_to_deletes(item, Calls([call(40, DELETE, receipt_handle=MINE)]))

    assert [d.marker_at for d in item] == [39 * S, 38 * S, None]


def test_each_of_two_slow_handlings_gets_its_mark_back():
    second = {**LATER, "marker_at": 39 * S}
    third = {
        "receipt_handle": handle_token("AQEB" + "t" * 100),
        "received_at": 62 * S,
        "marker_at": 70 * S,
        "guard_at": 63 * S,
    }
    item = [handled(), handled(**second), handled(**third)]
    deletes = call(40, DELETE, receipt_handle=MINE), call(70, DELETE, receipt_handle=OTHER)
    give_marks_to_deletes(item, Calls(deletes))

    assert [(d.marker_at, d.guard_at) for d in item] == [(39 * S, None), (70 * S, None), (None, 63 * S)]


def test_a_delete_after_a_failure_tells_nothing_where_the_worker_finished_after_all():
    told = with_calls(call(40, DELETE, receipt_handle=MINE), worker_failed_at=0, worker_finished_at=39 * S)

    assert told.has_failed_first is False


RECEIVES = {
    "one at that time": ([call(0, RECEIVE, message_id="m1", receipt_handle=MINE)], 40 * S),
    "one long before": ([call(-9, RECEIVE, message_id="m1", receipt_handle=MINE)], None),
    "two at that time": (
        [
            call(-1, RECEIVE, message_id="m1", receipt_handle=OTHER),
            call(0, RECEIVE, message_id="m1", receipt_handle=MINE),
        ],
        None,
    ),
}


@pytest.mark.parametrize(("receives", "deleted_at"), RECEIVES.values(), ids=RECEIVES)
def test_a_recorded_receive_tells_the_handle_that_the_log_does_not(receives, deleted_at):
    told = with_calls(*receives, call(40, DELETE, receipt_handle=MINE), receipt_handle=None)

    assert told.deleted_by_call_at == deleted_at


ALL = {PAYMENTS: Spans([(-MIN, 10 * MIN)])}
ABSENCE = {
    "none, all recorded, and others of its kind elsewhere": ([call(500, CHANGE)], ALL, False),
    "none, and nothing of its kind was ever recorded": ([call(5, DELETE)], ALL, None),
    "none, not all recorded": ([call(500, CHANGE)], {}, None),
    "one with another handle": ([call(5, CHANGE, receipt_handle=OTHER)], ALL, False),
    "one with its handle": ([call(5, CHANGE, receipt_handle=MINE)], ALL, True),
    "one whose handle is hidden": ([call(5, CHANGE)], ALL, True),
    "one in the last second": ([call(31, CHANGE)], ALL, True),
    "one after it": ([call(32, CHANGE)], ALL, False),
}


@pytest.mark.parametrize(("rows", "read_spans", "expected"), ABSENCE.values(), ids=ABSENCE)
def test_that_nobody_changed_its_visibility_needs_every_call(rows, read_spans, expected):
    assert Calls(rows, read_spans).was_called(PAYMENTS, CHANGE, MINE, 0, 30 * S) is expected


def unlogged(**facts):
    return delivery(
        **QUEUE,
        **{
            "is_seen": False,
            "unseen_basis": "never_started",
            "received_at": None,
            "after_at": 0,
            "before_at": 100 * S,
            **facts,
        },
    )


WHO = {
    "somebody else": ("ana", ("ana", True, "unseen")),
    "the same as received it otherwise": ("worker", ("worker", False, "never_started")),
}


@pytest.mark.parametrize(("actor", "expected"), WHO.values(), ids=WHO)
def test_who_made_a_receive_that_no_log_shows(actor, expected):
    rows = [
        call(0, RECEIVE, message_id="m1", actor="worker"),
        call(40, RECEIVE, message_id="m1", actor=actor),
    ]
    hidden = unlogged()
    add_receive(hidden, [handled(), hidden], Calls(rows))

    assert (hidden.receiver, hidden.is_other_receiver, hidden.unseen_basis) == expected
    assert hidden.received_at == 40 * S


def test_two_unlogged_receives_are_not_told_apart():
    rows = [call(40, RECEIVE, message_id="m1", actor="ana")]
    hidden = unlogged()
    add_receive(hidden, [hidden, unlogged()], Calls(rows))

    assert hidden.receiver is None


# -- what comes of it ------------------------------------------------------------------------------------------

START = at(0)


def worked(minute: float, **facts):
    more = {"visibility_timeout_s": 120, "hidden_until_at": at(minute + 2), "received_basis": "line", "is_fifo": False}
    started = {"received_at": at(minute), "run_started_at": at(minute), "run_ended_at": at(minute) + 2 * S}
    return handled(**{"run_status": "success", "consumer": f"run {minute}", **started, **more, **facts})


def rows_at(*calls):
    return [c | {"called_at": moment(minute)} for minute, c in calls]


def causes(deliveries, rows, coverage=()):
    judged = judge(deliveries, Surroundings(send_records=rows, coverage=coverage))
    return [again.cause for again in judged.redeliveries]


def test_a_recorded_release_on_a_standard_queue_is_the_cause():
    came_early = [worked(0), worked(1, receipt_handle=OTHER)]
    released = rows_at((0.5, call(0, CHANGE, receipt_handle=MINE, visibility_timeout_s=0)))

    assert causes(came_early, []) == ["undecidable"]
    assert causes(came_early, released) == ["released"]


def test_without_any_release_among_all_calls_it_was_a_copy():
    came_early = [worked(0), worked(1, receipt_handle=OTHER)]
    elsewhere = rows_at((50, call(0, CHANGE, receipt_handle=OTHER, visibility_timeout_s=0)))
    whole = [read(-1, 60, PAYMENTS, "send_records")]

    assert causes(came_early, elsewhere, whole) == ["broker_copy"]
    assert causes(came_early, elsewhere) == ["undecidable"]


def test_a_message_that_was_deleted_and_came_all_the_same_is_a_copy():
    again = [worked(0), worked(2.1, receipt_handle=OTHER)]
    deleted = rows_at((0.1, call(0, DELETE, receipt_handle=MINE)))

    assert causes(again, []) == ["delete_ineffective"]
    assert causes(again, deleted) == ["broker_copy"]


def test_recorded_sends_tell_when_and_by_whom_the_same_work_was_sent():
    work = [worked(0, item_id="m1", business_keys=["pay-1"]), worked(0.5, item_id="m2", business_keys=["pay-1"])]
    sent = rows_at(
        (-5, call(0, SEND, message_id="m2", actor="arn:aws:iam::1:role/shop")),
        (-1, call(0, SEND, message_id="m1", actor="arn:aws:iam::1:role/retries")),
    )
    judged = {m.message_id: m for m in judge(work, Surroundings(send_records=sent)).messages}

    assert (judged["m1"].origin, judged["m2"].origin) == ("producer_retry", None)
    assert "240 s later" in judged["m1"].trigger_sentence
    assert "role/retries" in judged["m1"].trigger_sentence
    assert [sent[1]["evidence_id"] in judged[m].evidence_ids for m in ("m1", "m2")] == [True, False]


def test_sqs_own_send_in_a_redrive_proves_no_producer():
    work = [worked(0, item_id="m1", business_keys=["pay-1"]), worked(0.5, item_id="m2", business_keys=["pay-1"])]

    def said(actor):
        sent = rows_at((-5, call(0, SEND, message_id="m1")), (-1, call(0, SEND, message_id="m2", actor=actor)))
        return {m.message_id: m.trigger_sentence for m in judge(work, Surroundings(send_records=sent)).messages}["m2"]

    assert "CloudTrail's record of SendMessage" in said("shop")
    assert "CloudTrail's record of SendMessage" not in said("sqs.amazonaws.com")


def test_calls_bear_on_works_of_their_queue_and_time():
    asked = ([PAYMENTS], ["/aws/lambda/charge"], at(10), at(20))
    plain = Surroundings().bearing(*asked)
    inside = Surroundings(send_records=rows_at((15, call(0, DELETE, receipt_handle=MINE))))
    later = Surroundings(send_records=rows_at((900, call(0, DELETE, receipt_handle=MINE))))
    whole = Surroundings(coverage=[read(0, 60, PAYMENTS, "send_records")])

    assert len({plain, inside.bearing(*asked), later.bearing(*asked), whole.bearing(*asked)}) == 4


def test_what_a_receive_asked_for_wins_over_the_queues_visibility_timeout():
    row = call(0, RECEIVE, message_id="m1", receipt_handle=MINE, visibility_timeout_s=5)
    d = with_calls(row, visibility_timeout_s=120, hidden_until_at=120 * S, receipt_handle=None)

    assert (d.visibility_timeout_s, d.hidden_until_at, d.evidence_ids) == (5, 5 * S, [row["evidence_id"]])
