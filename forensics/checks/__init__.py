"""What the settings of a queue and its consumer ask for: one check per file, each a pure function of a Setup."""

from collections.abc import Callable, Iterator

from forensics.checks.answer import (
    DOES_NOT_APPLY,
    FAILS,
    PASSES,
    SEVERITIES,
    UNKNOWN,
    Answer,
)
from forensics.checks.batch_outgrows_timeout import batch_outgrows_timeout
from forensics.checks.concurrency_limit import concurrency_limit
from forensics.checks.dead_letter_queue_missing import dead_letter_queue_missing
from forensics.checks.dead_letter_retention import dead_letter_retention
from forensics.checks.drift import drift
from forensics.checks.fifo_single_group import fifo_single_group
from forensics.checks.guard_missing import guard_missing
from forensics.checks.handling_outgrows_visibility import handling_outgrows_visibility
from forensics.checks.in_flight_quota import in_flight_quota
from forensics.checks.logging_readiness import logging_readiness
from forensics.checks.mapping_disabled import mapping_disabled
from forensics.checks.mapping_filters import mapping_filters
from forensics.checks.mapping_metrics_off import mapping_metrics_off
from forensics.checks.max_receive_count import max_receive_count
from forensics.checks.partial_responses import partial_responses
from forensics.checks.random_deduplication_ids import random_deduplication_ids
from forensics.checks.receives_outlast_retention import receives_outlast_retention
from forensics.checks.recursion import recursion
from forensics.checks.responses_ignored import responses_ignored
from forensics.checks.run_near_timeout import run_near_timeout
from forensics.checks.setup import Setup
from forensics.checks.several_consumers import several_consumers
from forensics.checks.short_polling import short_polling
from forensics.checks.visibility_below_advice import visibility_below_advice
from forensics.checks.visibility_below_timeout import visibility_below_timeout
from forensics.checks.visibility_default import visibility_default

Check = Callable[[Setup], Answer]

QUEUE_CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        dead_letter_queue_missing,
        max_receive_count,
        dead_letter_retention,
        receives_outlast_retention,
        in_flight_quota,
        several_consumers,
    )
}
"""Checks of a queue whoever consumes it: one row a queue."""

CONSUMER_CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        visibility_below_timeout,
        visibility_below_advice,
        handling_outgrows_visibility,
        run_near_timeout,
        batch_outgrows_timeout,
        drift,
        fifo_single_group,
        partial_responses,
        concurrency_limit,
        logging_readiness,
        mapping_metrics_off,
        visibility_default,
        random_deduplication_ids,
        short_polling,
        recursion,
        mapping_disabled,
        mapping_filters,
        responses_ignored,
        guard_missing,
    )
}
"""Checks of a queue and one of its consumers: one row each."""

CHECKS: dict[str, Check] = QUEUE_CHECKS | CONSUMER_CHECKS
"""Every check by its code."""


def answers(setup: Setup, checks: dict[str, Check]) -> Iterator[tuple[str, Answer]]:
    """Ask some checks about one setup; yields (code, answer) of those that apply."""
    for code, check in checks.items():
        answer = check(setup)
        if answer.status != DOES_NOT_APPLY:
            yield code, answer


__all__ = [
    "CHECKS",
    "CONSUMER_CHECKS",
    "FAILS",
    "PASSES",
    "QUEUE_CHECKS",
    "SEVERITIES",
    "UNKNOWN",
    "Answer",
    "Check",
    "Setup",
    "answers",
]
