"""Declared against observed: how close runs come to the function timeout."""

from forensics.checks.answer import (
    CRITICAL,
    NO_FUNCTION_SETTINGS,
    NOT_HERE,
    WARNING,
    Answer,
    counted,
    fails,
    passes,
    seconds,
    unknown,
)
from forensics.checks.setup import Setup

SHARE = 0.8


def run_near_timeout(setup: Setup) -> Answer:
    """The slowest one per cent of the runs ends below four fifths of the function timeout, and none timed out.

    >>> run_near_timeout(Setup("q", "f", "lambda", function_timeout_s=30, run_count=400, run_p99_ms=27_000)).severity
    'warning'
    """
    if not setup.is_lambda:
        return NOT_HERE
    if setup.function_timeout_s is None:
        return NO_FUNCTION_SETTINGS
    uses = ("run_p99_ms", "function_timeout_s", "timeout_count", "run_count")
    if setup.run_count is None or setup.run_p99_ms is None:
        return unknown("no run of known length was seen", "the function's REPORT lines", *uses)
    p99, limit = seconds(setup.run_p99_ms), f"{setup.function_timeout_s} s"
    advice = "Set the batch size so that its slowest items fit, or raise the function timeout (at most 900 s)."
    if setup.timeout_count:
        return fails(
            CRITICAL,
            f"{counted(setup.timeout_count, 'run')} of {setup.run_count:,} hit the function timeout {limit} in the "
            f"last 7 days; p99 run {p99}",
            advice,
            *uses,
        )
    if setup.run_p99_ms >= SHARE * 1000 * setup.function_timeout_s:
        return fails(WARNING, f"p99 run {p99} is close to the function timeout {limit}", advice, *uses)
    return passes(f"p99 run {p99}, function timeout {limit}, no timeout in {setup.run_count:,} runs", *uses)
