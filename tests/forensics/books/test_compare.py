"""Books beside logs: what closes, what contradicts, and that neither is believed beyond what it says."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from forensics.books.compare import Booked, Logged, compare

AT = datetime(2026, 11, 20, 5, 12, tzinfo=UTC)
SEEN = (AT, AT + timedelta(minutes=11))
WHOLE = {"charges": [(AT - timedelta(hours=1), AT + timedelta(hours=1))]}


def booked(*amounts, book="charges", currency="EUR"):
    return [
        Booked(book, None, Decimal(a), currency, AT + timedelta(seconds=n), n + 1, f"book:{book}{n}")
        for n, a in enumerate(amounts)
    ]


def line(entries, logged, whole=None):
    (only,) = compare({"pay-1": entries} if entries else {}, {"pay-1": logged} if logged else {}, whole or {})
    return only


PROBABLE = Logged(1, 2, "probable", span=SEEN)
CASES = {
    "probable, booked twice": (booked("5", "5"), PROBABLE, None, "repeated", (2, 2)),
    "probable, booked once by whole books": (booked("5"), PROBABLE, WHOLE, "cleared", (1, 1)),
    "probable, booked once by books that may lack rows": (booked("5"), PROBABLE, None, "open", (1, 2)),
    "no upper bound, booked twice": (
        booked("5", "5"),
        Logged(0, None, "possible", span=SEEN),
        None,
        "repeated",
        (2, None),
    ),
    "done once by the logs, booked twice": (booked("5", "5"), Logged(1, 1, span=SEEN), None, "unlogged", (2, None)),
    "not done by the logs, booked": (booked("5"), Logged(0, 0, span=SEEN), WHOLE, "contradicts", (1, 1)),
    "confirmed, booked once by whole books": (
        booked("5"),
        Logged(2, 2, "confirmed", span=SEEN),
        WHOLE,
        "not_booked",
        (1, 2),
    ),
    "confirmed, booked once by other books": (booked("5"), Logged(2, 2, "confirmed", span=SEEN), None, "open", (2, 2)),
    "confirmed, booked twice": (
        booked("5", "5"),
        Logged(2, 2, "confirmed", span=SEEN),
        None,
        "agrees_repeated",
        (2, 2),
    ),
    "done, not booked": ([], Logged(1, 1, span=SEEN), None, "logs_only", (1, 1)),
    "booked, never delivered": (booked("5"), None, None, "books_only", (1, None)),
    "done once, booked once": (booked("5"), Logged(1, 1, span=SEEN), None, "agrees", (1, 1)),
    "maybe done, not booked in whole books": ([], Logged(0, 1, span=SEEN), WHOLE, "agrees", (0, 0)),
    "paid back again": (booked("5", "-5"), PROBABLE, WHOLE, "cleared", (1, 1)),
}


@pytest.mark.parametrize(("entries", "logged", "whole", "outcome", "interval"), CASES.values(), ids=CASES)
def test_both_sides_come_to(entries, logged, whole, outcome, interval):
    found = line(entries, logged, whole)

    assert (found.outcome, (found.at_least, found.at_most)) == (outcome, interval)
    assert found.sentence.endswith(".")


def test_books_that_are_whole_only_at_another_time_clear_nothing():
    later = {"charges": [(AT + timedelta(minutes=5), AT + timedelta(hours=1))]}

    assert line(booked("5"), PROBABLE, later).outcome == "open"


def test_two_spans_that_meet_are_whole_together_and_two_with_a_gap_are_not():
    meeting = [
        (AT - timedelta(hours=1), AT + timedelta(minutes=5)),
        (AT + timedelta(minutes=5), AT + timedelta(hours=1)),
    ]
    apart = [meeting[0], (AT + timedelta(minutes=6), AT + timedelta(hours=1))]

    assert line(booked("5"), PROBABLE, {"charges": meeting}).outcome == "cleared"
    assert line(booked("5"), PROBABLE, {"charges": apart}).outcome == "open"


def test_two_ledgers_of_the_same_charges_are_not_added_up():
    found = line([*booked("5"), *booked("5", book="bank")], PROBABLE, WHOLE)

    assert (found.booked, found.outcome) == (1, "cleared")


def test_what_is_to_be_refunded_is_all_but_the_first_less_what_was_paid_back():
    found = line(booked("10.10", "10.10", "10.10", "-10.10"), PROBABLE)

    assert found.extra == {"EUR": Decimal("20.20")}
    assert found.to_refund == {"EUR": Decimal("10.10")}
    assert found.to_refund_text == "10.10 EUR"


def test_currencies_are_never_added_to_one_another():
    found = line([*booked("5"), *booked("900", "900", currency="JPY")], PROBABLE)

    assert set(found.amounts) == {"EUR", "JPY"}
