"""What rests on an absence is provisional until its time was read again, a day later, or was sealed."""

from datetime import timedelta

import pytest

from forensics.clock import micros
from forensics.judging import provisional
from forensics.judging.finality import Finality
from forensics.judging.judge import judge
from forensics.judging.provisional import delivery_final_at
from tests.forensics.judging.around import CHARGE, MAILER, PAYMENTS, at, consumer, moment, read
from tests.forensics.judging.plain import Around, delivery

DAY = 24 * 60
ENDS_AT = micros(moment(45) + timedelta(days=1))
"""A day after the end of the quarter of an hour in which the run below ended."""


def reading(collected: float, **more):
    return read(0, 120, collected=collected) | more


READINGS = {
    "never read": ([], ENDS_AT),
    "read at once": ([reading(121)], ENDS_AT),
    "read again after two hours": ([reading(121), reading(260)], ENDS_AT),
    "read again a day later": ([reading(121), reading(DAY + 60)], None),
    "a day later, before the run had ended": ([reading(DAY + 30)], ENDS_AT),
    "another log group read a day later": ([read(0, 120, MAILER, collected=DAY + 60)], ENDS_AT),
    "a day later, and refused": ([reading(DAY + 60, status="denied")], ENDS_AT),
    "sealed": ([reading(121, is_sealed=True)], None),
    "sealed while it settled": ([read(0, 40, collected=41, provisional=True) | {"is_sealed": True}], ENDS_AT),
    "sealed, and damaged since": (
        [reading(121, is_sealed=True), reading(130, status="lost")],
        ENDS_AT,
    ),
}


def run(**facts):
    """A delivery whose run lasted from 12:30 to 12:40."""
    ordinary = {"effect": "no", "basis": "not_reached", "received_at": at(30), "run_ended_at": at(40)}
    return delivery(**{"log_group": CHARGE, "queue_arn": PAYMENTS, "receive_count": 1, **ordinary, **facts})


@pytest.mark.parametrize(("readings", "expected"), READINGS.values(), ids=READINGS)
def test_an_item_that_was_not_reached_is_final_once_its_run_was_read_again(readings, expected):
    assert delivery_final_at(run(), Finality(readings)) == expected


BASES = {
    "no line of its work": ({"basis": "no_marker"}, ENDS_AT),
    "an item not reached": ({"basis": "not_reached"}, ENDS_AT),
    "a run that never started": (
        {"basis": "never_started", "is_seen": False, "after_at": at(20), "before_at": at(40)},
        ENDS_AT,
    ),
    "an environment that said its init failed": ({"basis": "never_started", "run_status": "init_failed"}, None),
    "a guard's line": ({"basis": "guard"}, None),
    "its effect line": ({"effect": "yes", "basis": "marker"}, None),
    "work in progress": ({"effect": "unknown", "basis": "in_progress"}, None),
}


def effect(of, facts):
    return of.delivery_final_at(run(**facts), Finality([reading(121)], [consumer()]))


@pytest.mark.parametrize(("facts", "expected"), BASES.values(), ids=BASES)
def test_only_what_rests_on_a_missing_line_is_provisional(facts, expected):
    assert effect(provisional, facts) == expected


def test_a_run_that_never_started_is_final_when_every_consumer_of_the_queue_was_read_again():
    never = run(basis="never_started", is_seen=False, after_at=at(20), before_at=at(40))
    consumers = [consumer(), consumer(log_group=MAILER)]
    one, both = [reading(DAY + 60)], [reading(DAY + 60), read(0, 120, MAILER, collected=DAY + 60)]

    assert delivery_final_at(never, Finality(one, consumers)) == ENDS_AT
    assert delivery_final_at(never, Finality(both, consumers)) is None


BOUNDS = {
    "counts logged, and deleted": ([{"ended_by": "deleted"}], 1, None),
    "counts logged, and not yet ended": ([{"ended_by": "visibility_expired"}], 1, ENDS_AT),
    "a count not logged": ([{"ended_by": "deleted", "receive_count": None}], 1, ENDS_AT),
    "no bound at all": ([{"ended_by": "visibility_expired", "receive_count": None}], None, None),
    "work done, by a line, in every delivery": ([{"ended_by": "deleted"}, {"ended_by": "deleted"}], 2, None),
}


READ_ONCE, KNOWN = [reading(121)], [consumer()]


def bound(of, item, at_most, readings=READ_ONCE, consumers=KNOWN):
    known = {"effect": "yes", "basis": "marker", "visibility_timeout_s": 60}
    work = [[run(**{**known, **facts}) for facts in item]]
    return of.work_final_at(work, at_most, Finality(readings, consumers))


@pytest.mark.parametrize(("item", "at_most", "expected"), BOUNDS.values(), ids=BOUNDS)
def test_a_bound_that_rests_on_no_hidden_delivery_is_provisional(item, at_most, expected):
    assert bound(provisional, item, at_most) == expected


UNCOUNTED = {"ended_by": "deleted", "receive_count": None}
PRECISELY = {"is_sealed": True}
SPANS = {
    "two visibility timeouts after the last receive": ([UNCOUNTED], [read(0, 32) | PRECISELY], None),
    "one second less": ([UNCOUNTED], [read(0, 32 - 1 / 60) | PRECISELY], ENDS_AT),
    "two visibility timeouts before the first receive": ([UNCOUNTED], [read(28, 60) | PRECISELY], None),
    "one second later": ([UNCOUNTED], [read(28 + 1 / 60, 60) | PRECISELY], ENDS_AT),
    "an unknown timeout": (
        [UNCOUNTED | {"visibility_timeout_s": None, "received_at": at(45)}],
        [read(0, 45) | PRECISELY],
        None,
    ),
    "its own log group, of which nobody knows the queue": ([UNCOUNTED], [read(0, 60, MAILER) | PRECISELY], ENDS_AT),
    "a first receive that nobody knows": ([UNCOUNTED | {"received_at": None}, UNCOUNTED], [], None),
    "a last receive that nobody knows": ([UNCOUNTED, UNCOUNTED | {"received_at": None}], [], None),
}


def spanned(of, item, readings):
    return bound(of, item, 1, readings, ())


@pytest.mark.parametrize(("item", "readings", "expected"), SPANS.values(), ids=SPANS)
def test_a_bound_asks_for_two_visibility_timeouts_around_what_was_seen(item, readings, expected):
    assert spanned(provisional, item, readings) == expected


CAUSES = {
    "throttled": ("throttled", ENDS_AT),
    "received by someone unseen": ("unseen_receive", ENDS_AT),
    "a copy of the broker": ("broker_copy", ENDS_AT),
    "a timeout, by its line": ("function_timeout", None),
}


def cause(of, code):
    return of.redelivery_final_at(code, run(), Finality([reading(121)]))


@pytest.mark.parametrize(("code", "expected"), CAUSES.values(), ids=CAUSES)
def test_a_cause_that_only_missing_lines_show_is_provisional(code, expected):
    assert cause(provisional, code) == expected


def charged_then(second_effect: dict):
    first = {
        "receive_count": 1,
        "received_at": at(30),
        "marker_at": at(31),
        "has_effect": True,
        "run_status": "timeout",
    }
    second = {
        "receive_count": 2,
        "received_at": at(35),
        "run_ended_at": at(40),
        "has_effect": True,
        "is_exhaustive": True,
    }
    exact = {"order_declared": "sequential", "log_group": CHARGE, "queue_arn": PAYMENTS, "visibility_timeout_s": 60}
    return [delivery(**first, **exact), delivery(consumer="run 2", **second, **exact, **second_effect)]


@pytest.mark.parametrize(
    ("readings", "expected"),
    [([reading(121)], (True, "inferred", "harmless")), ([reading(DAY + 60)], (False, "proved", "harmless"))],
    ids=["read once", "read again"],
)
def test_a_verdict_that_rests_on_a_missing_line_is_never_proved_before_it_is_final(readings, expected):
    around = Around(finality=Finality(readings, [consumer()]))
    judged = judge(charged_then({}), around)
    [message] = judged.messages

    assert (message.is_provisional, message.certainty, message.verdict) == expected
    assert [d.is_provisional for d in judged.ledger] == [False, expected[0]]


def test_work_that_lines_show_twice_is_proved_however_early_it_was_read():
    [message] = judge(
        charged_then({"marker_at": at(36)}), Around(finality=Finality([reading(41)], [consumer()]))
    ).messages

    assert (message.verdict, message.certainty, message.is_provisional) == ("confirmed", "proved", False)
