"""Rows of queue_weeks, setting_findings and incidents for tests of the weekly review."""

from datetime import UTC, datetime, timedelta
from typing import Any

from forensics.checks import Setup
from forensics.checks.handling_outgrows_visibility import handling_outgrows_visibility
from forensics.health import week_bounds
from forensics.tables.health import QUEUE_WEEKS, SETTING_FINDINGS

Row = dict[str, Any]
ACCOUNT = "arn:aws:sqs:eu-west-1:111122223333:"
COUNTS = [c.name for c in QUEUE_WEEKS.columns if c.name.endswith("_count")]


def week_row(queue: str, week: str, **numbers: Any) -> Row:
    """Return a week in which a queue was read in full and nothing bad happened, but for the given numbers."""
    monday, _ = week_bounds(week)
    start = datetime(monday.year, monday.month, monday.day, tzinfo=UTC)
    quiet: Row = dict.fromkeys(QUEUE_WEEKS.column_names) | dict.fromkeys(COUNTS, 0)
    return (
        quiet
        | {
            "queue_arn": ACCOUNT + queue,
            "queue": queue,
            "week": week,
            "zone": "UTC",
            "starts_at": start,
            "ends_at": start + timedelta(days=7),
            "is_dead_letter_queue": False,
            "metrics_read_s": 604_800,
            "logs_read_s": 604_800,
            "delivery_count": 1000,
            "item_count": 1000,
            "run_count": 500,
            "twice_at_least": 0,
            "twice_at_most": 0,
            "stopped_count": 0,
            "dead_letter_reasons": [],
            "age_p95_s": 4,
            "age_max_s": 9,
            "handler_p50_ms": 400,
            "handler_p95_ms": 900,
            "handler_p99_ms": 1200,
            "handler_max_ms": 2100,
            "evidence_ids": [f"coverage:{queue}:{week}"],
        }
        | numbers
    )


SLOW = handling_outgrows_visibility(Setup("", visibility_timeout_s=30, run_p99_ms=41_200))


def finding(queue: str, code: str, severity: str | None = "critical", consumer: str = "f", **more: Any) -> Row:
    """Return an answer of a settings check; a severity means that it failed."""
    return (
        dict.fromkeys(SETTING_FINDINGS.column_names)
        | {
            "queue_arn": ACCOUNT + queue,
            "queue": queue,
            "consumer": consumer,
            "code": code,
            "status": "fails" if severity else "passes",
            "severity": severity,
            "sentence": SLOW.sentence,
            "advice": SLOW.advice if severity else None,
            "numbers": ["visibility_timeout_s=30"],
            "evidence_ids": ["queue:1"],
        }
        | more
    )
