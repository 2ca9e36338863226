"""What was not read stays named until a reading makes it good."""

from datetime import UTC, datetime, timedelta

import pytest

from spark_jobs.unread import unread

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def reading(status: str, start: int, end: int, read: int, resource: str = "g") -> dict:
    """Minutes after noon."""
    at = [NOON + timedelta(minutes=n) for n in (start, end, read)]
    return {
        "account_id": "123456789012",
        "region": "eu-west-1",
        "source": "log_events",
        "resource": resource,
        "status": status,
        "window_start_at": at[0],
        "window_end_at": at[1],
        "collected_at": at[2],
    }


CASES = {
    "never read again": ([reading("denied", 0, 60, 60)], 1),
    "read again in full": ([reading("denied", 0, 60, 60), reading("ok", 0, 60, 70)], 0),
    "read again in two parts": (
        [reading("failed", 0, 60, 60), reading("ok", 30, 90, 90), reading("ok", 0, 30, 95)],
        0,
    ),
    "read again with a hole": ([reading("failed", 0, 60, 60), reading("ok", 0, 20, 70), reading("ok", 21, 60, 70)], 1),
    "read well before it failed": ([reading("ok", 0, 60, 50), reading("lost", 0, 60, 60)], 1),
    "another log group was read": ([reading("denied", 0, 60, 60), reading("ok", 0, 60, 70, "h")], 1),
    "files, and the API before": ([reading("ok", 0, 60, 50), reading("partial", 5, 50, 60)], 0),
    "files, and the API for less": ([reading("ok", 10, 60, 70), reading("partial", 5, 50, 60)], 1),
    "all well": ([reading("ok", 0, 60, 60)], 0),
}


@pytest.mark.parametrize(("coverage", "missing"), CASES.values(), ids=CASES)
def test_a_gap_is_named_until_it_is_made_good(coverage, missing):
    assert len(unread(coverage)) == missing
