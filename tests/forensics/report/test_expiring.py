"""What AWS will delete before anybody has read it is said in time, and nothing else is."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from forensics.lake import Lake
from forensics.report.lake_status import lake_status
from forensics.tables import BY_NAME

pytestmark = pytest.mark.lake

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
DAY = timedelta(days=1)
WHERE = {"account_id": "1", "region": "eu-west-1"}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


def keeps(lake: Lake, days: int | None) -> None:
    row = WHERE | {"evidence_id": f"loggroup:{days}", "log_group": "/g", "retention_days": days, "observed_at": NOW}
    lake.append(BY_NAME["log_group_settings"], [row], "x")


def read(lake: Lake, first: float, last: float, source: str = "log_events", resource: str = "/g") -> None:
    """Say that a source was read between so many days before now."""
    row = WHERE | {
        "evidence_id": f"coverage:{source}-{first}-{last}",
        "source": source,
        "resource": resource,
        "window_start_at": NOW - first * DAY,
        "window_end_at": NOW - last * DAY,
        "status": "ok",
        "collected_at": NOW - last * DAY,
    }
    lake.append(BY_NAME["coverage"], [row], "x")


def told(lake: Lake) -> tuple[str, ...]:
    return lake_status(lake, NOW).expiring


def test_a_group_that_nobody_read_for_long_is_about_to_lose_what_is_unread(lake):
    keeps(lake, 7)
    read(lake, 10, 6)

    assert told(lake) == (
        "About to be lost: log group /g keeps 7 days; unread since 2026-11-14 12:00:00.000 UTC, "
        "deleted from 2026-11-21 12:00:00.000 UTC on.",
    )


def test_a_group_read_lately_is_not(lake):
    keeps(lake, 7)
    read(lake, 10, 1)

    assert told(lake) == ()


def test_a_group_that_keeps_everything_is_not(lake):
    keeps(lake, None)
    read(lake, 400, 300)

    assert told(lake) == ()


def test_what_is_being_lost_now_is_said_so(lake):
    keeps(lake, 3)
    read(lake, 10, 5)

    assert told(lake) == ("Being lost: log group /g keeps 3 days, and what was not read is older. Collect now.",)


def test_a_hole_between_readings_counts_too(lake):
    keeps(lake, 7)
    read(lake, 10, 6.5)
    read(lake, 6, 0)

    assert "unread since 2026-11-14 00:00:00.000 UTC" in told(lake)[0]


def test_a_hole_that_is_gone_already_is_no_news(lake):
    keeps(lake, 7)
    read(lake, 30, 20)
    read(lake, 10, 0)

    assert told(lake) == ()


def test_minute_points_are_kept_for_15_days(lake):
    read(lake, 20, 14, "metric_points", "orders")

    assert "one-minute metrics of orders keeps 15 days" in told(lake)[0]


def test_the_oldest_message_of_a_queue_is_said_before_its_retention_ends(lake):
    queue = {"evidence_id": "queue:q", "queue_arn": "arn:q", "queue_name": "orders-dlq", "message_retention_s": 345_600}
    lake.append(BY_NAME["queue_settings"], [WHERE | queue | {"observed_at": NOW}], "x")
    read(lake, 1, 0, "metric_points", "orders-dlq")
    for hours, age_d in ((3, 3.4), (2, 3.5)):
        point = {"evidence_id": f"metric:{hours}", "metric": "ApproximateAgeOfOldestMessage", "resource": "orders-dlq"}
        at = NOW - timedelta(hours=hours)
        lake.append(BY_NAME["metric_points"], [WHERE | point | {"point_at": at, "value": age_d * 86_400}], "x")

    assert told(lake) == (
        "About to be lost: the oldest message of queue orders-dlq is deleted at 2026-11-20 22:00:00.000 UTC.",
    )


def test_growth_and_files_are_told(lake):
    read(lake, 1, 0)
    for number, days in enumerate((1, 2, 30)):
        at = NOW - days * DAY
        row = WHERE | {"evidence_id": f"log:{number}", "logged_at": at, "collected_at": at, "line": "x"}
        lake.append(BY_NAME["log_events"], [row], "x")
    status = lake_status(lake, NOW)

    assert (status.grown_rows, status.file_count) == (2, 4)
    assert 0 < status.grown_bytes < status.size_bytes
    assert "2 new log events" in " ".join(status.sentences())


def test_what_the_doctor_marked_as_lost_is_a_gap_again(lake):
    read(lake, 3, 2)
    read(lake, 2, 1)
    read(lake, 1, 0)
    (row,) = [r for r in lake.read(BY_NAME["coverage"]).to_pylist() if r["window_start_at"] == NOW - 2 * DAY]
    lost = row | {"evidence_id": "coverage:lost", "status": "lost", "collected_at": NOW}
    lake.append(BY_NAME["coverage"], [lost], "x")
    (source,) = lake_status(lake, NOW).sources

    assert source.gaps == ((NOW - 2 * DAY, NOW - DAY),)
