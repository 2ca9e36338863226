"""What is received from a dead-letter queue counts with the queue that set its message aside, if it is the same work there."""

import pytest

from forensics.judging import dead_letters
from forensics.judging.judge import judge
from tests.forensics.judging.plain import MIN, Around, S, delivery

ARN = "arn:aws:sqs:eu-west-1:123456789012:"
ORDERS, MAILS, DEAD = f"{ARN}orders", f"{ARN}mails", f"{ARN}orders-dlq"
SOURCES = {DEAD: [ORDERS]}
CHARGED = r"charged (?P<key>\S+)"


def of_dead(**facts):
    """A delivery out of the dead-letter queue, two minutes later, to a function of its own."""
    known = {"queue_arn": DEAD, "queue": "orders-dlq", "log_group": "/aws/lambda/again", "consumer": "run 2"}
    return {"received_at": 2 * MIN, "receive_count": 2, "evidence_ids": ["two", "three"], **known, **facts}


def of_source(**facts):
    return {"receive_count": 1, "evidence_ids": ["one"], **facts}


SAME = {"effect_declared": CHARGED}
COUNTED = {
    "both print one effect line": ([of_source(**SAME), of_dead(**SAME)], SOURCES, ["orders, moved", "orders from DLQ"]),
    "another line": (
        [of_source(**SAME), of_dead(effect_declared="archived (?P<key>.+)")],
        SOURCES,
        ["orders, moved", "orders-dlq"],
    ),
    "nobody says what their lines are like": ([of_source(), of_dead()], SOURCES, ["orders, moved", "orders-dlq"]),
    "only of its own queue's": ([of_source(**SAME), of_dead()], SOURCES, ["orders, moved", "orders-dlq"]),
    "one function for both": (
        [of_source(function_name="charge"), of_dead(function_name="charge")],
        SOURCES,
        ["orders, moved", "orders from DLQ"],
    ),
    "one worker for both": (
        [of_source(consumer_kind="worker"), of_dead(consumer_kind="worker", log_group="/aws/lambda/charge")],
        SOURCES,
        ["orders, moved", "orders from DLQ"],
    ),
    "two functions in one log group": (
        [of_source(function_name="charge"), of_dead(function_name="again", log_group="/aws/lambda/charge")],
        SOURCES,
        ["orders, moved", "orders-dlq"],
    ),
    "no queue is known to set messages aside there": (
        [of_source(**SAME), of_dead(**SAME)],
        {},
        ["orders", "orders-dlq"],
    ),
    "another queue is": ([of_source(**SAME), of_dead(**SAME)], {DEAD: [MAILS]}, ["orders", "orders-dlq"]),
    "of two queues one had it": (
        [of_source(**SAME), of_dead(**SAME)],
        {DEAD: [MAILS, ORDERS]},
        ["orders, moved", "orders from DLQ"],
    ),
    "of two queues both had it": (
        [of_source(**SAME), of_source(queue_arn=MAILS, queue="mails"), of_dead(**SAME)],
        {DEAD: [MAILS, ORDERS]},
        ["orders", "mails", "orders-dlq"],
    ),
    "a queue that is its own": ([of_source(queue_arn=DEAD), of_dead(**SAME)], {DEAD: [DEAD]}, ["orders", "orders-dlq"]),
    "seen in its own queue only later": (
        [of_source(received_at=2 * MIN, **SAME), of_dead(**SAME)],
        SOURCES,
        ["orders", "orders-dlq"],
    ),
    "nobody knows when in its own": (
        [of_source(received_at=None, **SAME), of_dead(**SAME)],
        SOURCES,
        ["orders", "orders-dlq"],
    ),
    "nor when out of the dead-letter queue": (
        [of_source(**SAME), of_dead(received_at=None, **SAME)],
        SOURCES,
        ["orders", "orders-dlq"],
    ),
    "named in passing": (
        [of_source(is_passing=True, **SAME), of_dead(is_passing=True, **SAME)],
        SOURCES,
        ["orders, moved", "orders from DLQ"],
    ),
    "the message is not named": (
        [of_source(message_id=None, **SAME), of_dead(message_id=None, **SAME)],
        SOURCES,
        ["orders", "orders-dlq"],
    ),
    "another message": ([of_source(message_id="m2", **SAME), of_dead(**SAME)], SOURCES, ["orders", "orders-dlq"]),
    "after the last of several receives, in whatever order": (
        [of_source(receive_count=2, received_at=MIN), of_source(), of_dead(receive_count=3, **SAME)],
        SOURCES,
        ["orders, moved", "orders", "orders-dlq"],
    ),
    "after the last in time, where none was counted": (
        [of_source(receive_count=None, received_at=MIN), of_source(receive_count=None), of_dead(receive_count=None)],
        SOURCES,
        ["orders, moved", "orders", "orders-dlq"],
    ),
    "one of several before prints the line": (
        [of_source(), of_source(receive_count=2, received_at=MIN, **SAME), of_dead(receive_count=3, **SAME)],
        SOURCES,
        ["orders", "orders, moved", "orders from DLQ"],
    ),
}
"""Deliveries of one message, which queues set messages aside where, and what each is told to be."""


def counted(of, deliveries, sources, consumed=()):
    made = [delivery("m1", **facts) for facts in deliveries]
    of.count_with_source(made, sources, consumed)
    return [
        d.queue + ", moved" * (d.received_dead_at == 2 * MIN) + " from DLQ" * (d.received_from_arn == DEAD)
        for d in made
    ]


@pytest.mark.parametrize(("deliveries", "sources", "expected"), COUNTED.values(), ids=COUNTED)
def test_the_work_is_the_same_where_one_consumer_or_one_line_tells_it(deliveries, sources, expected):
    assert counted(dead_letters, deliveries, sources) == expected


CONSUMED = {
    "it consumes both": ({(ORDERS, "again"), (DEAD, "again")}, "orders from DLQ"),
    "a queue besides": ({(MAILS, "again"), (ORDERS, "charge"), (DEAD, "again")}, "orders-dlq"),
}
"""Who consumes which queue, and what becomes of a dead letter that the function "again" received, and another before."""


def consumed_by(of, consumed):
    deliveries = [of_source(function_name="charge"), of_dead(function_name="again")]
    return counted(of, deliveries, SOURCES, consumed)[1]


@pytest.mark.parametrize(("consumed", "expected"), CONSUMED.values(), ids=CONSUMED)
def test_the_work_is_the_same_where_the_function_consumes_both_queues(consumed, expected):
    assert consumed_by(dead_letters, consumed) == expected


def test_a_move_is_told_by_the_first_receive_from_the_dead_letter_queue():
    again = delivery("m1", **of_dead(received_at=3 * MIN, evidence_ids=["four"]))
    made = [delivery("m1", **of_source()), again, delivery("m1", **of_dead())]

    dead_letters.count_with_source(made, SOURCES, ())

    assert (made[0].received_dead_at, made[0].evidence_ids) == (2 * MIN, ["one", "two"])


MADE = {
    "the line of the receive from there": (
        [of_source(), of_dead()],
        ["one", "two"],
    ),
    "nothing, where none was": ([of_source()], ["one"]),
}


def cited(of, deliveries):
    made = [delivery("m1", **facts) for facts in deliveries]
    of.count_with_source(made, SOURCES, ())
    return made[0].evidence_ids


@pytest.mark.parametrize(("deliveries", "ids"), MADE.values(), ids=MADE)
def test_a_delivery_before_a_move_cites_also(deliveries, ids):
    assert cited(dead_letters, deliveries) == ids


QUEUES = {
    "one sets messages aside": ([(ORDERS, DEAD), (DEAD, None)], {DEAD: [ORDERS]}),
    "two, and one was asked twice": ([(ORDERS, DEAD), (MAILS, DEAD), (ORDERS, DEAD)], {DEAD: [MAILS, ORDERS]}),
    "none": ([(ORDERS, None)], {}),
}


def sources(of, rows):
    return of.sources_of([{"queue_arn": arn, "dead_letter_queue_arn": dead} for arn, dead in rows])


@pytest.mark.parametrize(("rows", "expected"), QUEUES.values(), ids=QUEUES)
def test_settings_tell_who_sets_messages_aside_where(rows, expected):
    assert sources(dead_letters, rows) == expected


FIFO = {
    "a FIFO queue with one": ([ORDERS], [(ORDERS, True, DEAD)], True),
    "a FIFO queue without": ([f"{ARN}pays.fifo"], [(f"{ARN}pays.fifo", True, None)], False),
    "a standard queue with one": ([ORDERS], [(ORDERS, False, DEAD)], False),
    "a FIFO queue of which nothing is known": ([f"{ARN}pays.fifo"], [(ORDERS, False, None)], True),
    "a standard queue of which nothing is known": ([ORDERS], [], False),
}


def has_fifo(of, consumed, rows):
    settings = [{"queue_arn": arn, "is_fifo": is_fifo, "dead_letter_queue_arn": dead} for arn, is_fifo, dead in rows]
    return bool(of.has_fifo_dead_letters([{"queue_arn": arn} for arn in consumed], settings))


@pytest.mark.parametrize(("consumed", "rows", "expected"), FIFO.values(), ids=FIFO)
def test_a_fifo_queue_may_have_dead_letters(consumed, rows, expected):
    assert has_fifo(dead_letters, consumed, rows) is expected


def judged(*deliveries):
    made = [delivery("m1", visibility_timeout_s=30, **facts) for facts in deliveries]
    return judge(made, Around(dead_letter_sources=SOURCES))


FAILED = {"run_status": "error", "marker_at": S, "has_effect": True, "batch_count": 1, **SAME}


def test_work_that_the_consumer_of_the_dead_letter_queue_did_again_was_done_twice():
    found = judged(of_source(**FAILED), of_dead(marker_at=2 * MIN + S, has_effect=True, **SAME))

    (message,) = found.messages
    assert (message.queue_arn, message.verdict, message.is_dead_lettered) == (ORDERS, "confirmed", True)
    assert (message.effects_at_least, message.effects_at_most, message.deliveries, message.receive_count) == (
        2,
        2,
        2,
        2,
    )
    assert [(d.queue_arn, d.polled_arn, d.ended_by) for d in found.ledger] == [
        (ORDERS, ORDERS, "dead_lettered"),
        (ORDERS, DEAD, "deleted"),
    ]


def test_who_merely_reports_dead_letters_did_not_do_the_work_again():
    found = judged(of_source(**FAILED), of_dead())

    assert found.messages == []
    assert [(d.queue_arn, d.ended_by) for d in found.ledger] == [(ORDERS, "dead_lettered"), (DEAD, "deleted")]
