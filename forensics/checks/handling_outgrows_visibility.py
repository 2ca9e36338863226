"""Declared against observed: how long handling takes against the time a message stays hidden."""

from forensics.advised_visibility import advised_visibility_s, of_handling_s
from forensics.checks.answer import CRITICAL, NO_QUEUE_SETTINGS, WARNING, Answer, either, fails, passes, unknown
from forensics.checks.setup import Setup
from forensics.limits import LONGEST_VISIBILITY_S
from forensics.sentence import said
from forensics.words import seconds_text

SHARE = 0.8


def handling_outgrows_visibility(setup: Setup) -> Answer:
    """Handling, batching window included, ends before the message is visible again: the p99, and even the slowest one.

    >>> handling_outgrows_visibility(Setup("q", "/w", "worker", visibility_timeout_s=30, run_p99_ms=41_200)).sentence
    'visibility timeout 30 s < p99 handling 41.2 s: slow messages can be redelivered while they are worked on'
    """
    if setup.visibility_timeout_s is None:
        return NO_QUEUE_SETTINGS
    uses = ("visibility_timeout_s", "run_p99_ms", "run_max_ms", "function_timeout_s", "batching_window_s")
    if setup.run_p99_ms is None:
        return unknown("no handling of known length was seen", "the consumer's log", *uses)
    needed_ms = setup.run_p99_ms + 1000 * setup.window_s
    slowest_ms = max(needed_ms, (setup.run_max_ms or 0) + 1000 * setup.window_s)
    told = {"took": seconds_text(needed_ms), "hidden": f"{setup.visibility_timeout_s} s"}
    advice = _advice(setup, setup.visibility_timeout_s, slowest_ms)
    if needed_ms > 1000 * setup.visibility_timeout_s:
        return fails(
            CRITICAL,
            said(
                "visibility timeout {hidden} < p99 handling {took}: slow messages can be redelivered while they are worked on",
                **told,
            ),
            advice,
            *uses,
        )
    if slowest_ms > 1000 * setup.visibility_timeout_s:
        return fails(
            WARNING,
            said(
                "visibility timeout {hidden} < slowest handling {slowest} (p99 {took}): that message can have been redelivered while "
                "it was worked on",
                slowest=seconds_text(slowest_ms),
                **told,
            ),
            advice,
            *uses,
        )
    if needed_ms >= SHARE * 1000 * setup.visibility_timeout_s:
        close = said("p99 handling {took} is close to the visibility timeout {hidden}", **told)
        return fails(WARNING, close, advice, *uses)
    return passes(said("visibility timeout {hidden} > p99 handling {took}", **told), *uses)


def _advice(setup: Setup, now_s: int, slowest_ms: int) -> str:
    if now_s >= LONGEST_VISIBILITY_S or slowest_ms >= 1000 * LONGEST_VISIBILITY_S:
        return said("Make handling shorter, or split the work: SQS hides a message for 12 hours at most.")
    by_timeout_s = advised_visibility_s(setup.function_timeout_s, setup.window_s, None) or 0
    is_by_timeout = by_timeout_s > now_s
    wanted_s = by_timeout_s if is_by_timeout else of_handling_s(slowest_ms)
    if wanted_s >= LONGEST_VISIBILITY_S:
        return either(
            said("raise the visibility timeout to {n} s, the longest", n=str(LONGEST_VISIBILITY_S)),
            said("make handling shorter"),
        )
    longer = "raise the visibility timeout to {span} or more (three times the slowest handling, in whole minutes)"
    return either(
        said("raise the visibility timeout to {span} or more" if is_by_timeout else longer, span=f"{wanted_s} s"),
        said("let the consumer extend it while it works"),
    )
