"""Declared against observed: how close runs come to the function timeout."""

from forensics.checks.answer import CRITICAL, NO_FUNCTION_SETTINGS, NOT_HERE, WARNING, Answer, fails, passes, unknown
from forensics.checks.setup import Setup
from forensics.words import count_text, seconds_text

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
    run_count, timeout_count, p99_ms = setup.under_this_timeout
    uses: tuple[str, ...] = ("run_p99_ms", "function_timeout_s", "timeout_count", "run_count")
    when, earlier = "in the last 7 days", ""
    if setup.timeout_set_at is not None:
        uses = ("function_timeout_s", *_SINCE)
        when = f"since it was set {setup.timeout_set_at:%d %b %H:%M} UTC"
        earlier = _earlier(setup)
    limit = f"{setup.function_timeout_s} s"
    if run_count is None or p99_ms is None:
        return unknown(
            f"no run of known length was seen{f' {when} ({limit})' if earlier else ''}{earlier}",
            "the function's REPORT lines",
            *uses,
        )
    p99 = seconds_text(p99_ms)
    advice = "Set the batch size so that its slowest items fit, or raise the function timeout (at most 900 s)."
    if timeout_count:
        return fails(
            CRITICAL,
            f"{count_text(timeout_count, 'run')} of {run_count:,} hit the function timeout {limit} {when}; p99 run {p99}{earlier}",
            advice,
            *uses,
        )
    if p99_ms >= SHARE * 1000 * setup.function_timeout_s:
        return fails(WARNING, f"p99 run {p99} is close to the function timeout {limit}{earlier}", advice, *uses)
    since = f" {when}" if setup.timeout_set_at else ""
    return passes(
        f"p99 run {p99}, function timeout {limit}, no timeout in {count_text(run_count, 'run')}{since}{earlier}", *uses
    )


_SINCE = (
    "timeout_set_at",
    "since_run_count",
    "since_timeout_count",
    "since_run_p99_ms",
    "earlier_timeout_count",
    "earlier_limit_ms",
)


def _earlier(setup: Setup) -> str:
    """Say how many runs an earlier timeout stopped, and where: what is in force now did not stop them."""
    if not setup.earlier_timeout_count:
        return ""
    was = f"then {seconds_text(setup.earlier_limit_ms)}" if setup.earlier_limit_ms else "then shorter"
    return f"; before, {count_text(setup.earlier_timeout_count, 'run')} hit the timeout ({was})"
