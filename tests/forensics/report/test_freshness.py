"""How fresh an answer is, in words: read until when, newest event of when, anything new."""

from datetime import UTC, datetime, timedelta

import pytest

from forensics.lake import Lake
from forensics.report.freshness import freshness
from forensics.tables.evidence import COVERAGE, LOG_EVENTS
from forensics.window import TimeWindow

pytestmark = pytest.mark.lake

NOW = datetime(2026, 11, 20, 6, tzinfo=UTC)
WINDOW = TimeWindow(NOW - timedelta(hours=6), NOW)


@pytest.fixture
def lake(tmp_path) -> Lake:
    lake = Lake(tmp_path / "lake")
    readings = [("a", 0, "ok"), ("a", 30, "ok"), ("a", 0, "denied"), ("b", 4, "ok"), ("c", 0, "denied")]
    rows = [
        {
            "evidence_id": f"coverage:{n}",
            "source": "log_events",
            "resource": group,
            "window_start_at": WINDOW.start_at,
            "window_end_at": NOW - timedelta(minutes=ago),
            "status": status,
            "collected_at": NOW,
        }
        for n, (group, ago, status) in enumerate(readings)
    ]
    lake.append(COVERAGE, rows, "coverage|test")
    events = [("a", 10, 0), ("a", 300, 1), ("b", 1000, 2)]
    lake.append(
        LOG_EVENTS,
        [
            {"evidence_id": f"log:{n}", "log_group": group, "logged_at": NOW - timedelta(minutes=ago), "line": "x"}
            for group, ago, n in events
        ],
        "log_events|test",
    )
    return lake


TOLD = {
    "one group": (
        ("a",),
        3,
        "Logs are read until 2026-11-20 06:00:00 UTC (now); the newest event is of 2026-11-20 05:50:00 UTC (10 min ago).",
    ),
    "the group that lags": (
        ("a", "b"),
        3,
        "Logs are read until 2026-11-20 05:56:00 UTC (4 min ago); the newest event is of 2026-11-20 05:50:00 UTC (10 min ago).",
    ),
    "quiet": (
        ("b",),
        0,
        "Logs are read until 2026-11-20 05:56:00 UTC (4 min ago); no event lies in this window; nothing is new since they were read before.",
    ),
    "one never read": (
        ("a", "c"),
        1,
        "Not every log group could be read; the newest event is of 2026-11-20 05:50:00 UTC (10 min ago).",
    ),
    "no group": ((), 0, "No log group of this queue is known, so no log was read."),
}


@pytest.mark.parametrize(("groups", "stored_count", "sentence"), TOLD.values(), ids=TOLD)
def test_how_fresh_it_is(groups, stored_count, sentence, lake):
    assert freshness(lake, groups, WINDOW, stored_count, NOW) == sentence
