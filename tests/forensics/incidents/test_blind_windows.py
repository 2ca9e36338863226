"""Queues whose logs name no message: when runs failed is all that can be told, and how many messages they can have held."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.clock import moment
from forensics.incidents.blind_windows import (
    DELETED,
    RECEIVED,
    FailedInvocation,
    MetricPoint,
    blind_queues,
    blind_windows,
)
from forensics.settings_in_force import EARLIEST, LATEST, SettingsInForce
from forensics.tables.findings import INCIDENTS
from tests.forensics.incidents.builders import ARN, at


def in_force(queue=None, function=None, mapping=None, changed_at=None, then=({}, {}, {})) -> SettingsInForce:
    """What holds of each kind of setting until a moment, and then; None: nothing is known."""
    names = ({"queue_arn": ARN}, {"function_name": "charge"}, {"queue_arn": ARN, "function_name": "charge"})
    until = LATEST if changed_at is None else moment(changed_at)
    spans = ((EARLIEST, until), (until, LATEST))
    return SettingsInForce(
        *(
            [
                {**name, **values, "in_force_from": span[0], "in_force_until": span[1]}
                for values, span in zip((now, later), spans, strict=True)
            ]
            if now is not None
            else []
            for name, now, later in zip(names, (queue, function, mapping), then, strict=True)
        )
    )


NOTHING = in_force()
KNOWN = in_force({"visibility_timeout_s": 60, "is_fifo": False}, {"timeout_s": 10}, {"batch_size": 5})


def failed(started: float, ended: float | None = None, status: str = "timeout", **values) -> FailedInvocation:
    ordinary = FailedInvocation(
        ARN, "payments", "/aws/lambda/charge", "charge", at(started), at(ended), status, [f"log:{started}"]
    )
    return ordinary._replace(**values)


G, H = ("g", "charge"), ("h", "charge-b")
BLIND = {
    "no line of its only function names a message": ({G: False}, True),
    "a line does": ({G: True}, False),
    "one of two functions names messages": ({G: False, H: True}, False),
    "its functions did not run": ({}, False),
    "the function of another queue names messages": ({G: False, ("x", "notify"): True}, True),
    "another function of its log group names messages": ({G: False, ("g", "notify"): True}, True),
    "lines of its log group name messages, and nothing tells whose they are": ({G: False, ("g", None): True}, False),
}


@pytest.mark.parametrize(("names_items", "is_blind"), BLIND.values(), ids=BLIND)
def test_a_queue_is_blind_where_lines_were_read_and_none_names_a_message(names_items, is_blind):
    consumers = [(ARN, G), (ARN, H), ("other", ("x", "notify"))]

    assert (ARN in blind_queues(consumers, names_items)) is is_blind


def test_failed_runs_bound_how_many_messages_may_have_been_processed_twice():
    (row,) = blind_windows([failed(0, 10), failed(60, 61, "error"), failed(90, 100)], KNOWN, [])

    assert tuple(row) == INCIDENTS.given_names
    assert row["incident_id"] == "payments-20261122T1200Z"
    assert (row["started_at"], row["ended_at"]) == (at(0), at(100))
    assert (row["messages"], row["messages_at_most"], row["possible"]) == (None, 15, 15)
    assert (row["causes"], row["primary_cause"]) == (["function_timeout=2", "function_error=1"], "function_timeout")
    assert row["headline"] == "Up to 15 messages may have been processed more than once; no line names one"
    assert row["cause_sentence"] == (
        "Of the runs of charge for payments, 2 ran into the timeout and 1 raised an error; "
        "each can have held one batch. What to log is told under logging readiness."
    )
    assert (row["visibility_timeout_s"], row["function_timeout_s"], row["batch_size"]) == (60, 10, 5)
    assert row["evidence_ids"] == ["log:0", "log:60", "log:90"]
    assert {row[c] for c in ("confirmed", "probable", "absorbed", "harmless", "extra_effects_at_least")} == {0}


def test_each_run_is_bound_by_what_was_in_force_when_it_started_and_the_highest_is_told():
    then = ({"visibility_timeout_s": 20, "is_fifo": True}, {"timeout_s": 5}, {"batch_size": 2})
    changing = in_force(
        {"visibility_timeout_s": 60, "is_fifo": False}, {"timeout_s": 10}, {"batch_size": 5}, at(60), then
    )
    (row,) = blind_windows([failed(0, 100), failed(59.9), failed(60)], changing, [])

    assert row["messages_at_most"] == 5 + 5 + 2
    assert (row["visibility_timeout_s"], row["function_timeout_s"], row["batch_size"]) == (60, 10, 5)
    assert row["is_fifo"] is True


def test_functions_are_told_by_name_and_log_groups_where_nothing_names_one():
    (row,) = blind_windows([failed(0, function_name=name) for name in ("z", "b", None, "y", "b")], KNOWN, [])

    assert row["functions"] == ["/aws/lambda/charge", "b", "y", "z"]
    assert row["unread_sources"][0] == "log_events: no line of /aws/lambda/charge, b, y, z names a message"


LARGEST = {
    "a standard queue": ("payments", NOTHING, None, False),
    "a FIFO queue by its name": ("payments.fifo", NOTHING, 10, True),
    "a FIFO queue by its settings": ("payments", in_force({"is_fifo": True}), 10, True),
    "a batch of one": ("payments", in_force(mapping={"batch_size": 1}), 1, False),
}


@pytest.mark.parametrize(("queue", "settings", "at_most", "is_fifo"), LARGEST.values(), ids=LARGEST)
def test_without_a_mapping_a_batch_is_bound_by_what_lambda_allows_of_a_fifo_queue_alone(
    queue, settings, at_most, is_fifo
):
    (row,) = blind_windows([failed(0, queue=queue)], settings, [])

    assert (row["messages_at_most"], row["is_fifo"]) == (at_most, is_fifo)


def test_where_nothing_bounds_a_batch_no_number_of_messages_is_made_up():
    (row,) = blind_windows([failed(0), failed(10)], NOTHING, [])

    assert (row["messages_at_most"], row["possible"], row["extra_effects_at_most"]) == (None, 2, None)
    assert row["headline"] == "The messages of 2 failed runs may have been processed more than once; no line names one"
    assert row["unread_sources"][1] == "event_source_mappings: none tells how many messages charge gets at once"


QUIET = {"15 minutes": (910, 1), "a millisecond more": (910.001, 2)}


@pytest.mark.parametrize(("started", "count"), QUIET.values(), ids=QUIET)
def test_quiet_after_the_end_of_a_run_parts_windows(started, count):
    assert len(blind_windows([failed(0, 10), failed(started)], KNOWN, [])) == count


def test_a_window_of_the_name_of_an_incident_that_messages_tell_of_is_left_out():
    rows = blind_windows([failed(0), failed(1_800)], KNOWN, [], known={"payments-20261122T1200Z"})

    assert [row["incident_id"] for row in rows] == ["payments-20261122T1230Z"]


def test_each_queue_has_windows_of_its_own():
    rows = blind_windows([failed(0, queue_arn="arn:z", queue="z"), failed(5, queue_arn="arn:a", queue="a")], KNOWN, [])

    assert [row["queue"] for row in rows] == ["a", "z"]


def point(metric: str, after: float, value: float, queue: str = "payments") -> MetricPoint:
    return MetricPoint(queue, metric, at(after), 60, value)


def balance(*points: MetricPoint, settings=KNOWN) -> str:
    (row,) = blind_windows([failed(0, 10)], settings, points)
    return row["cause_sentence"].partition("logging readiness.")[2]


def test_what_cloudwatch_counted_stands_beside_the_bound():
    found = balance(
        point(RECEIVED, 0, 1_000), point(RECEIVED, 60, 234), point(DELETED, 0, 34), point(RECEIVED, 0, 9, "other")
    )

    assert found == " CloudWatch counted 1,234 received and 34 deleted, 1,200 receives without a delete."


def test_more_deletes_than_receives_leave_none_without_a_delete():
    assert balance(point(RECEIVED, 0, 3), point(DELETED, 0, 5)).endswith("5 deleted, 0 receives without a delete.")


def test_without_a_count_of_receives_nothing_is_said():
    assert balance(point(DELETED, 0, 5)) == ""


COUNTED = {
    "the period in which the window begins": (KNOWN, -59.9, True),
    "a period that ends as the window begins": (KNOWN, -60, False),
    "within two visibility timeouts": (KNOWN, 129.9, True),
    "two visibility timeouts after the window": (KNOWN, 130, False),
    "within twice SQS's default": (NOTHING, 69.9, True),
    "twice SQS's default after the window": (NOTHING, 70, False),
}


@pytest.mark.parametrize(("settings", "after", "counts"), COUNTED.values(), ids=COUNTED)
def test_metrics_count_until_two_visibility_timeouts_after_the_window(settings, after, counts):
    assert ("CloudWatch" in balance(point(RECEIVED, after, 3), settings=settings)) is counts


runs = st.lists(
    st.builds(
        lambda started, span, status, group: failed(started, started + span, status, log_group=group),
        st.integers(0, 4_000),
        st.integers(0, 900),
        st.sampled_from(["timeout", "error", "crash"]),
        st.sampled_from(["g", "h"]),
    ),
    max_size=6,
)


@given(runs, st.randoms(use_true_random=False))
def test_the_order_of_runs_and_points_does_not_matter(found, random):
    points = [point(RECEIVED, n * 300, n + 0.1) for n in range(9)]
    expected = blind_windows(found, KNOWN, points)
    random.shuffle(found)
    random.shuffle(points)

    assert blind_windows(found, KNOWN, points) == expected
    assert sum(row["messages_at_most"] for row in expected) == 5 * len(found)
