"""Declared against observed: how long handling takes against the time a message stays hidden."""

from forensics.checks.answer import CRITICAL, NO_QUEUE_SETTINGS, WARNING, Answer, fails, passes, unknown
from forensics.checks.setup import Setup
from forensics.words import seconds_text

SHARE = 0.8


def handling_outgrows_visibility(setup: Setup) -> Answer:
    """Handling, batching window included, ends before the message is visible again: the p99, and even the slowest one.

    >>> handling_outgrows_visibility(Setup("q", "/w", "worker", visibility_timeout_s=30, run_p99_ms=41_200)).sentence
    'visibility timeout 30 s < p99 handling 41.2 s: slow messages can be redelivered while they are worked on'
    """
    if setup.visibility_timeout_s is None:
        return NO_QUEUE_SETTINGS
    uses = ("visibility_timeout_s", "run_p99_ms", "run_max_ms", "batching_window_s")
    if setup.run_p99_ms is None:
        return unknown("no handling of known length was seen", "the consumer's log", *uses)
    needed_ms = setup.run_p99_ms + 1000 * setup.window_s
    took, hidden = seconds_text(needed_ms), f"visibility timeout {setup.visibility_timeout_s} s"
    slowest_ms = max(needed_ms, (setup.run_max_ms or 0) + 1000 * setup.window_s)
    advice = (
        f"Raise the visibility timeout to {-(-3 * slowest_ms // 1000)} s or more, or let the consumer extend it while "
        "it works."
    )
    if needed_ms > 1000 * setup.visibility_timeout_s:
        return fails(
            CRITICAL,
            f"{hidden} < p99 handling {took}: slow messages can be redelivered while they are worked on",
            advice,
            *uses,
        )
    if slowest_ms > 1000 * setup.visibility_timeout_s:
        return fails(
            WARNING,
            f"{hidden} < slowest handling {seconds_text(slowest_ms)} (p99 {took}): that message can have been "
            "redelivered while it was worked on",
            advice,
            *uses,
        )
    if needed_ms >= SHARE * 1000 * setup.visibility_timeout_s:
        return fails(WARNING, f"p99 handling {took} is close to the {hidden}", advice, *uses)
    return passes(f"{hidden} > p99 handling {took}", *uses)
