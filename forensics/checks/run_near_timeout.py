"""Declared against observed: how close runs come to the function timeout."""

from forensics.checks.answer import (
    CRITICAL,
    NO_FUNCTION_SETTINGS,
    NOT_HERE,
    WARNING,
    Answer,
    either,
    fails,
    passes,
    since_set,
    unknown,
)
from forensics.checks.setup import Setup
from forensics.limits import LONGEST_FUNCTION_TIMEOUT_S
from forensics.sentence import counted, said
from forensics.words import seconds_text

SHARE = 0.8
QUICKER = said(
    "make one item's work shorter: no run may take longer than {limit}", limit=f"{LONGEST_FUNCTION_TIMEOUT_S} s"
)
"""What is left to do where neither a smaller batch nor a longer timeout can be had."""


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
    is_new = setup.timeout_set_at is not None
    when = since_set(setup.timeout_set_at) if setup.timeout_set_at is not None else "in the last 7 days"
    if is_new:
        uses = ("function_timeout_s", *_SINCE)
    limit = f"{setup.function_timeout_s} s"
    if run_count is None or p99_ms is None:
        since_told = said("no run of known length was seen {when} ({limit})", when=when, limit=limit)
        told = since_told if is_new and setup.earlier_timeout_count else "no run of known length was seen"
        return unknown(_with_earlier(told, setup, is_new), "the function's REPORT lines", *uses)
    p99 = seconds_text(p99_ms)
    advice = _advice(setup)
    if timeout_count:
        hit = said(
            "{runs} of {total} hit the function timeout {limit} {when}; p99 run {slowest}",
            runs=counted(timeout_count, "run"),
            total=run_count,
            limit=limit,
            when=when,
            slowest=p99,
        )
        return fails(CRITICAL, _with_earlier(hit, setup, is_new), advice, *uses, "batch_size")
    if p99_ms >= SHARE * 1000 * setup.function_timeout_s:
        close = said("p99 run {slowest} is close to the function timeout {limit}", slowest=p99, limit=limit)
        return fails(WARNING, _with_earlier(close, setup, is_new), advice, *uses, "batch_size")
    runs = counted(run_count, "run")
    well = (
        said(
            "p99 run {slowest}, function timeout {limit}, no timeout in {runs} {when}",
            slowest=p99,
            limit=limit,
            runs=runs,
            when=when,
        )
        if is_new
        else said(
            "p99 run {slowest}, function timeout {limit}, no timeout in {runs}", slowest=p99, limit=limit, runs=runs
        )
    )
    return passes(_with_earlier(well, setup, is_new), *uses)


def _advice(setup: Setup) -> str:
    """Name what Lambda takes: no smaller batch than of one, no longer timeout than the longest."""
    ways = [] if setup.batch_size == 1 else [said("set the batch size so that its slowest items fit")]
    if (setup.function_timeout_s or 0) < LONGEST_FUNCTION_TIMEOUT_S:
        ways.append(said("raise the function timeout (at most {n} s)", n=str(LONGEST_FUNCTION_TIMEOUT_S)))
    return either(*ways or [QUICKER])


_SINCE = (
    "timeout_set_at",
    "since_run_count",
    "since_timeout_count",
    "since_run_p99_ms",
    "earlier_timeout_count",
    "earlier_limit_ms",
)


def _with_earlier(told: str, setup: Setup, is_new: bool) -> str:
    """Say besides how many runs an earlier timeout stopped, and where: what is in force now did not stop them."""
    if not is_new or not setup.earlier_timeout_count:
        return told
    limit_ms = setup.earlier_limit_ms
    return said(
        "{told}; before, {runs} hit the timeout ({was})",
        told=told,
        runs=counted(setup.earlier_timeout_count, "run"),
        was=said("then {span}", span=seconds_text(limit_ms)) if limit_ms else "then shorter",
    )
