"""Eight weeks of four queues as the Spark jobs write them: one in need, one drifting, one quiet, one of which little is known."""

import random
from datetime import date, timedelta
from typing import Any

from forensics.checks import Setup
from forensics.checks.run_near_timeout import run_near_timeout
from forensics.health import week_bounds, weeks_before
from forensics.tables.health import QUEUE_HEALTH, QUEUE_WEEKS, SETTING_FINDINGS
from tests.forensics.health.rows import finding, week_row
from tests.pages import tales
from tests.pages.worlds import Story

WEEK = "2026-W47"
SHARES = {
    "payments.fifo": (2, 3, 2, 4, 3, 5, 4, 41),
    "billing": (30, 32, 31, 30, 29, 31, 32, 32),
    "mail": (1, 2, 1, 1, 2, 1, 2, 1),
}
"""Redeliveries per thousand, week by week."""


def weekly(story: Story) -> None:
    """Add weeks and days of three queues, and the settings checks of their ends."""
    chance = random.Random("queue health")
    for queue, shares in SHARES.items():
        for week, share in zip(weeks_before(WEEK, 8), shares, strict=True):
            if queue == "mail" and week == "2026-W43":
                continue  # a week that nobody collected
            story.add(QUEUE_WEEKS, week_row(queue, week, **_numbers(queue, week, share)))
            monday, _ = week_bounds(week)
            for n in range(7):
                story.add(QUEUE_HEALTH, _day(queue, week, monday + timedelta(days=n), share, chance))
    seen = Setup("", "", "lambda", function_timeout_s=30, run_count=1057, timeout_count=2, run_p99_ms=9400)
    timed_out = run_near_timeout(seen)
    for row in (
        finding(
            "payments.fifo",
            "run_near_timeout",
            sentence=timed_out.sentence,
            advice=timed_out.advice,
            consumer="charge-card",
        ),
        finding("payments.fifo", "drift", None, sentence="no change of the timeouts was seen", consumer="charge-card"),
        finding("billing", "handling_outgrows_visibility", consumer="/ecs/billing-worker"),
        finding(
            "mail",
            "dead_letter_queue_missing",
            "warning",
            consumer="-",
            sentence="no dead-letter queue: a message that always fails is redelivered until its retention ends",
        ),
    ):
        story.add(SETTING_FINDINGS, row)


def _numbers(queue: str, week: str, share: int) -> dict[str, Any]:
    bad = queue == "payments.fifo" and week == WEEK
    handler = {"payments.fifo": 1350, "billing": 41_200, "mail": 900}[queue]
    return {
        "sent_count": 14_000,
        "received_count": 14_000 + 14 * share,
        "deleted_count": 14_000,
        "delivery_count": 14_000 + 14 * share,
        "redelivery_count": 14 * share,
        "item_count": 14_000,
        "twice_at_least": 7 if bad else 0,
        "twice_at_most": 8 if bad else 0,
        "timeout_count": 2 if bad else 0,
        "expired_handle_count": 12 if queue == "billing" else 0,
        "age_p95_s": 612 if bad else 8,
        "age_max_s": 1220 if bad else 20,
        "handler_p99_ms": handler,
    }


def _day(queue: str, week: str, day: date, share: int, chance: random.Random) -> dict[str, Any]:
    sent = chance.randrange(1600, 2400) // (4 if day.weekday() > 4 else 1)
    again = round(sent * share / 1000)
    bad = queue == "payments.fifo" and day.isoformat() == tales.START.date().isoformat()
    whole = week_row(queue, week, **_numbers(queue, week, share))
    return whole | {
        "day": day.isoformat(),
        "sent_count": sent,
        "received_count": sent + again,
        "deleted_count": sent,
        "redelivery_count": again,
        "twice_at_least": 7 if bad else 0,
        "twice_at_most": 8 if bad else 0,
        "timeout_count": 2 if bad else 0,
        "age_max_s": 1220 if bad else chance.randrange(4, 30),
        "age_p95_s": 612 if bad else chance.randrange(1, 8),
        "handler_p50_ms": round(whole["handler_p99_ms"] * chance.uniform(0.3, 0.4)),
        "handler_p95_ms": round(whole["handler_p99_ms"] * chance.uniform(0.6, 0.8)),
        "handler_p99_ms": 30_000 if bad else round(whole["handler_p99_ms"] * chance.uniform(0.9, 1.1)),
    }
