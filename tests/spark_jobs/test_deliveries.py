"""What became of a delivery after the last line about it."""

from datetime import UTC, datetime, timedelta

import pytest

from spark_jobs.deliveries import with_ending, with_read_until

pytestmark = pytest.mark.spark

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
COLUMNS = (
    "log_group string, run_status string, effect string, receive_count int, hidden_until_at timestamp,"
    " is_in_dead_letter_queue boolean, is_named_failure boolean, delete_reason string, max_receive_count int,"
    " is_seen boolean, came_again boolean, is_given_up boolean"
)


def endings(spark, *deliveries, read_until):
    """Return how deliveries of two allowed receives ended, hidden until noon; ``read_until`` in seconds from noon by group."""
    rows = [
        (
            group,
            "error" if status == "given up" else status,
            "unknown",
            count,
            NOON,
            has_grown,
            False,
            None,
            2,
            True,
            False,
            status == "given up",
        )
        for group, status, count, has_grown in deliveries
    ]
    borders = [(group, NOON - timedelta(hours=1), NOON + timedelta(seconds=s)) for group, s in read_until.items()]
    read = spark.createDataFrame(borders, "log_group string, read_from timestamp, read_until timestamp")
    frame = with_ending(with_read_until(spark.createDataFrame(rows, COLUMNS), read))
    return [row["ended_by"] for row in frame.select("ended_by").collect()]


def test_a_group_read_for_longer_says_nothing_of_another_groups_messages(spark):
    failed = [("a", "error", 1, False), ("b", "error", 1, False)]

    assert endings(spark, *failed, read_until={"a": -60, "b": 60}) == ["in_flight", "visibility_expired"]


@pytest.mark.parametrize(
    ("status", "has_grown", "read_until_s", "expected"),
    [
        ("error", False, 10, "visibility_expired"),  # no poll may have moved it yet
        ("error", True, 10, "dead_lettered"),
        ("error", False, 20, "visibility_expired"),
        ("error", False, 21, "dead_lettered"),
        ("timeout", False, 3600, "dead_lettered"),
        ("unknown", False, 3600, "unknown"),
        ("unknown", True, 10, "dead_lettered"),
        ("error", True, 0, "in_flight"),
        ("given up", True, 3600, "deleted"),  # by the framework, which does not wait for the queue
    ],
)
def test_a_message_is_dead_lettered_only_when_a_poll_can_have_moved_it(
    spark, status, has_grown, read_until_s, expected
):
    assert endings(spark, ("a", status, 2, has_grown), read_until={"a": read_until_s}) == [expected]
