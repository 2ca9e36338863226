"""What a part of the lake measures: counted together, exact, and the same however the lake is cut into parts."""

from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from forensics.counting.measures import (
    COUNTS,
    MEASURES,
    MOST_IDS,
    delivery_measures,
    invocation_measures,
    last_causes,
    returned_batches,
    together,
    verdict_measures,
)
from forensics.tables.findings import DELIVERIES, INVOCATIONS, MESSAGES, REDELIVERIES
from tests.spark_jobs.health_world import GROUP, MONDAY, ORDERS, delivery, frame, invocation, minute, unlogged, verdict

SECOND = timedelta(seconds=1)
FIFO = {"queue": "orders.fifo", "queue_arn": ORDERS + ".fifo"}


def measured(*rows, causes=None):
    return delivery_measures(frame(DELIVERIES, list(rows)), causes)


def counts(measures):
    """The counts that are not zero, over everything."""
    return {name: n for name in COUNTS if (n := measures[name].sum())}


def values(measures, name):
    return {row[name]: row["times"] for row in measures.to_dicts() if row[name] is not None}


def test_deliveries_of_one_consumer_and_quarter_of_an_hour_are_one_row():
    found = measured(*(delivery(f"m{n}", 1, minute(n)) for n in range(30)))

    assert found.select("consumer", "at", "delivery", "item").rows() == [
        ("ship", MONDAY, 15, 15),
        ("ship", minute(15), 15, 15),
    ]


def test_measures_of_nothing_are_no_rows_in_the_same_columns():
    nothing = [
        measured(),
        invocation_measures(frame(INVOCATIONS, [])),
        verdict_measures(frame(MESSAGES, [])),
        together(measured()),
    ]

    assert [(found.height, found.schema) for found in nothing] == [(0, MEASURES)] * 4
    assert pl.concat(nothing).is_empty()


COUNTED = {
    "a first delivery": (delivery("a", 1, MONDAY), {"delivery": 1, "item": 1}),
    "a redelivery": (delivery("a", 2, MONDAY), {"delivery": 1, "redelivery": 1}),
    "a first delivery whose receive count says more": (
        delivery("a", 1, MONDAY, count=2),
        {"delivery": 1, "item": 1, "redelivery": 1},
    ),
    "an unlogged receive": (unlogged("a", 1, MONDAY), {"delivery": 1, "item": 1, "unlogged": 1}),
    "a refused delete": (
        delivery("a", 1, MONDAY, ended_by="delete_refused"),
        {"delivery": 1, "item": 1, "expired_handle": 1},
    ),
    "an expired handle whose end is unknown": (
        delivery("a", 1, MONDAY, ended_by=None, delete_status="expired"),
        {"delivery": 1, "item": 1, "expired_handle": 1},
    ),
    "the third receive": (delivery("a", 3, MONDAY), {"delivery": 1, "redelivery": 1, "poison": 1}),
    "the fourth receive": (delivery("a", 4, MONDAY), {"delivery": 1, "redelivery": 1}),
    "the third receive of a FIFO queue, whose age metric leaves nothing out": (
        delivery("a", 3, MONDAY, **FIFO),
        {"delivery": 1, "redelivery": 1},
    ),
    "a worker's handling": (delivery("a", 1, MONDAY, consumer_kind="worker"), {"delivery": 1, "item": 1, "run": 1}),
    "a delivery of a queue nobody knows": (delivery("a", 1, MONDAY, queue_arn=None), {}),
    "a receive at a time nobody knows, of a message that no log shows": (unlogged("a", 1), {}),
}


@pytest.mark.parametrize(("row", "expected"), COUNTED.values(), ids=COUNTED)
def test_a_delivery_counts_for_what_it_was(row, expected):
    assert counts(measured(row)) == expected


ENDS = {
    "invocation in success": ("success", {"run": 1}),
    "invocation that timed out": ("timeout", {"run": 1, "timeout": 1}),
    "invocation in an error": ("error", {"run": 1, "error": 1}),
    "crash": ("crash", {"run": 1, "crash": 1}),
    "environment that did not start": ("init_failed", {"run": 1, "crash": 1}),
    "invocation of which nothing tells how it ended": ("unknown", {"run": 1}),
}


@pytest.mark.parametrize(("status", "expected"), ENDS.values(), ids=ENDS)
def test_an_invocation_counts_by_how_it_ended_and_is_cited_where_it_failed(status, expected):
    found = invocation_measures(frame(INVOCATIONS, [invocation("i", MONDAY, 5, status)]))

    assert counts(found) == expected
    assert found["evidence"].drop_nulls().to_list() == ([["log:i"]] if status not in ("success", "unknown") else [])


VERDICTS = {
    "confirmed": {"twice_surely": 1, "twice_maybe": 1},
    "probable": {"twice_maybe": 1},
    "possible": {"twice_maybe": 1},
    "absorbed": {"stopped": 1},
    "harmless": {},
}


@pytest.mark.parametrize(("name", "expected"), VERDICTS.items(), ids=VERDICTS)
def test_a_verdict_counts_at_its_messages_first_receive(name, expected):
    found = verdict_measures(frame(MESSAGES, [verdict("a", name, minute(16), "log:1")]))

    assert counts(found) == expected
    assert found["at"].to_list() == [minute(15)]


def test_a_work_under_two_message_ids_counts_once_at_its_first_receive():
    sent, again = verdict("b", "confirmed", minute(16), "log:b"), verdict("a", "confirmed", minute(40), "log:a")
    found = verdict_measures(frame(MESSAGES, [row | {"work_id": "a"} for row in (again, sent)]))

    assert counts(found) == {"twice_surely": 1, "twice_maybe": 1}
    assert found["at"].to_list() == [minute(15)]
    assert found["evidence"].to_list() == [["log:b"]]


def test_an_unlogged_receive_counts_at_the_next_delivery_that_is_logged():
    found = measured(unlogged("a", 1), delivery("a", 2, minute(20)), unlogged("a", 3), delivery("a", 4, minute(40)))

    assert found.select("consumer", "at", "unlogged").rows() == [
        (None, minute(15), 1),
        (None, minute(30), 1),
        ("ship", minute(15), 0),
        ("ship", minute(30), 0),
    ]


def test_an_unlogged_receive_after_the_last_logged_one_counts_there():
    found = measured(delivery("a", 1, minute(20)), unlogged("a", 2))

    assert found.select("at", "unlogged").rows() == [(minute(15), 1), (minute(15), 0)]


def test_lengths_are_kept_value_by_value_and_never_negative():
    def handled(item, start, end):
        return delivery(item, 1, MONDAY, started_at=MONDAY + start * SECOND, finished_at=MONDAY + end * SECOND)

    found = measured(handled("a", 0, 2), handled("b", 1, 3), handled("c", 0, 7), handled("d", 3, 2))

    assert values(found, "item_ms") == {2000: 2, 7000: 1}
    assert values(found, "run_ms") == {}


def test_a_length_is_the_difference_of_whole_milliseconds():
    start = MONDAY + timedelta(microseconds=999)
    found = measured(delivery("a", 1, MONDAY, started_at=start, finished_at=MONDAY + timedelta(microseconds=1000)))

    assert values(found, "item_ms") == {1: 1}


def test_a_workers_handling_is_a_run_from_its_start_or_else_the_receive_to_its_end():
    worker = {"consumer_kind": "worker", "function_name": None, "log_group": "/app/worker"}
    found = measured(
        delivery("a", 1, MONDAY, run_ended_at=MONDAY + 3 * SECOND, **worker),
        delivery("b", 1, MONDAY, started_at=MONDAY + SECOND, run_ended_at=MONDAY + 3 * SECOND, **worker),
        delivery("c", 1, MONDAY, **worker),
        delivery("d", 1, MONDAY, run_ended_at=MONDAY - 9 * SECOND, **worker),  # clocks that disagree
    )

    assert (values(found, "run_ms"), values(found, "item_ms")) == ({3000: 1, 2000: 1}, {2000: 1})
    assert found.filter(pl.col("run") > 0).select("consumer", "run", "slowest_ms", "slowest_id").rows() == [
        ("/app/worker", 4, 3000, "log:a:1")
    ]


def test_of_invocations_as_long_as_each_other_the_last_by_id_stands_for_the_slowest():
    runs = [invocation(name, MONDAY, ms) for name, ms in (("b", 9), ("c", 9), ("z", 8), ("y", None))]

    found = invocation_measures(frame(INVOCATIONS, runs))

    assert found.filter(pl.col("run") > 0).select("slowest_ms", "slowest_id").rows() == [(9, "log:c")]


REASONS = {
    "a timeout": ({"run_status": "timeout"}, "function_timeout"),
    "an error": ({"run_status": "error"}, "function_error"),
    "a crash": ({"run_status": "crash"}, "runtime_crash"),
    "an environment that did not start": ({"run_status": "init_failed"}, "runtime_crash"),
    "success, and the cause of the last redelivery": ({"run_status": "success"}, "throttled"),
    "no status, and the cause of the last redelivery": ({"run_status": None}, "throttled"),
    "success, and never redelivered": ({"run_status": "success", "item_id": "other"}, "undecidable"),
}


@pytest.mark.parametrize(("more", "reason"), REASONS.values(), ids=REASONS)
def test_a_message_was_given_up_for_how_its_last_delivery_ended(more, reason):
    told = [
        {"queue_arn": ORDERS, "item_id": "a", "delivery_index": index, "cause": cause}
        for index, cause in ((3, "throttled"), (2, "slow_handler"))
    ]
    row = delivery("a", 4, MONDAY, ended_by="dead_lettered") | more

    found = measured(row, causes=last_causes(frame(REDELIVERIES, told)))

    assert values(found, "dead_letter_reason") == {reason: 1}
    assert values(measured(row), "dead_letter_reason") == {reason if reason != "throttled" else "undecidable": 1}


def test_what_ended_badly_is_cited_and_the_rest_is_not():
    found = measured(
        delivery("fine", 1, MONDAY),
        delivery("dead", 1, MONDAY, ended_by="dead_lettered", evidence_ids=["log:4", "log:3", "log:2", "log:1"]),
        delivery("third", 3, MONDAY),
    )

    assert found["evidence"].drop_nulls().to_list() == [["log:2", "log:3", "log:4", "log:third:3"]]


def test_a_quarter_of_an_hour_cites_no_more_than_a_row_of_findings():
    rows = [delivery(f"m{n:03}", 3, MONDAY) for n in range(MOST_IDS + 50)]

    found = measured(*reversed(rows))

    assert found["evidence"].drop_nulls().to_list() == [[f"log:m{n:03}:3" for n in range(MOST_IDS)]]


def test_poison_is_as_old_as_its_last_receive():
    sent_at = MONDAY - timedelta(hours=2)
    found = measured(*(delivery("a", n, minute(n), sent_at=sent_at) for n in (1, 2, 3, 4)))

    assert found["poison_age"].max() == 2 * 3600 + 4 * 60


def test_message_groups_are_told_apart_by_the_first_and_the_last():
    found = measured(*(delivery(name, 1, MONDAY, group_id=name, **FIFO) for name in ("g2", "g1", "g3")))

    assert found.select("first_group", "last_group").drop_nulls().rows() == [("g1", "g3")]


def returned(*rows):
    return returned_batches(frame(DELIVERIES, list(rows)))


def test_a_batch_that_came_again_after_success_is_counted_by_message():
    again = {"ended_by": "visibility_expired", "batch_count": 3, "consumer": "run"}

    found = returned(
        delivery("a", 1, MONDAY, **again),
        delivery("b", 1, MONDAY, **again),
        delivery("c", 1, MONDAY, **again | {"ended_by": "deleted"}),
        delivery("d", 1, MONDAY, **again | {"run_status": "error", "consumer": "failed"}),
        delivery("e", 1, MONDAY, **again | {"batch_count": 1, "consumer": "alone"}),
        delivery("f", 1, MONDAY, **again | {"function_name": None, "consumer": "worker"}),
    )

    assert found.rows() == [(ORDERS, "ship", "run", 3, MONDAY, 2, "log:a:1")]


TIMES = st.datetimes(datetime(2026, 3, 28), datetime(2026, 3, 30)).map(lambda at: at.replace(tzinfo=UTC))
MAYBE = st.none() | TIMES


ITEMS, RECEIVES, ARNS = st.integers(0, 6), st.integers(1, 4), st.sampled_from(("arn:q:orders", "arn:q:carts.fifo"))
COUNT_AT = [st.sampled_from((None, index, index + 1)) for index in range(5)]
DELIVERY = st.fixed_dictionaries(
    {
        "received_at": MAYBE,
        "is_seen": st.booleans(),
        "consumer_kind": st.sampled_from(("lambda", "worker", None)),
        "function_name": st.sampled_from(("ship", None)),
        "log_group": st.sampled_from((GROUP, None)),
        "started_at": MAYBE,
        "finished_at": MAYBE,
        "run_ended_at": MAYBE,
        "sent_at": MAYBE,
        "group_id": st.sampled_from(("g1", "g2", None)),
        "ended_by": st.sampled_from(("deleted", "dead_lettered", "delete_refused", None)),
        "run_status": st.sampled_from(("success", "timeout", "crash", None)),
    }
)


@st.composite
def some_deliveries(draw):
    rows = []
    for item in range(draw(ITEMS)):
        arn = draw(ARNS)
        for index in range(1, draw(RECEIVES) + 1):
            told = draw(DELIVERY)
            at, count = told.pop("received_at"), draw(COUNT_AT[index])
            about = {"queue_arn": arn, "queue": arn.rpartition(":")[2], "receive_count": count}
            rows.append(delivery(f"m{item}", index, at, **about, **told))
    return rows


@settings(max_examples=25)
@given(some_deliveries(), st.integers(1, 4), st.randoms(use_true_random=False))
def test_parts_counted_together_are_the_whole_however_it_is_cut(rows, parts, random):
    part_of = {row["item_id"]: random.randrange(parts) for row in rows}
    cut = [[row for row in rows if part_of[row["item_id"]] == n] for n in range(parts)]
    found = [measured(*random.sample(part, len(part))) for part in cut]
    random.shuffle(found)

    assert_frame_equal(together(pl.concat(found)), measured(*rows))
    assert_frame_equal(together(measured(*rows)), measured(*rows))


@settings(max_examples=25)
@given(st.lists(st.tuples(TIMES, st.none() | st.integers(0, 9), st.sampled_from(tuple(ENDS.values())))), st.data())
def test_invocations_of_two_parts_are_those_of_one(drawn, data):
    rows = [invocation(f"i{n}", at, ms, end[0]) for n, (at, ms, end) in enumerate(drawn)]
    here = data.draw(st.integers(0, len(rows)))
    found = [invocation_measures(frame(INVOCATIONS, part)) for part in (rows[here:], rows[:here])]

    assert_frame_equal(together(pl.concat(found)), invocation_measures(frame(INVOCATIONS, rows)))
