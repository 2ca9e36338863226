"""Whether anybody chose the visibility timeout."""

from forensics.advised_visibility import FUNCTION_TIMEOUTS, advised_visibility_s
from forensics.checks.answer import NO_QUEUE_SETTINGS, NOT_HERE, NOTE, WARNING, Answer, either, fails, passes
from forensics.checks.setup import Setup
from forensics.limits import DEFAULT_VISIBILITY_S
from forensics.sentence import said
from forensics.words import span_text


def visibility_default(setup: Setup) -> Answer:
    """The visibility timeout is not left on its 30 s default while handling takes half of it or more.

    >>> visibility_default(Setup("q", "w", "worker", visibility_timeout_s=30, run_p99_ms=15_000)).severity
    'warning'
    """
    if not setup.has_queue_settings:
        return NO_QUEUE_SETTINGS
    if setup.visibility_timeout_s is None:
        return NOT_HERE
    uses = ("visibility_timeout_s", "run_p99_ms", "run_max_ms", "function_timeout_s", "batching_window_s")
    if setup.visibility_timeout_s != DEFAULT_VISIBILITY_S:
        return passes(said("the visibility timeout is {n} s, and not the default", n=setup.visibility_timeout_s), *uses)
    if setup.function_timeout_s is not None and FUNCTION_TIMEOUTS * setup.function_timeout_s <= DEFAULT_VISIBILITY_S:
        enough = "the visibility timeout is the default 30 s, enough for the function timeout of {limit}"
        return passes(said(enough, limit=f"{setup.function_timeout_s} s"), *uses)
    advice = _advice(setup)
    if setup.run_p99_ms is None:
        return fails(
            NOTE, "the visibility timeout is the default 30 s, and nothing tells how long handling takes", advice, *uses
        )
    takes = said(
        "the visibility timeout is the default 30 s, and handling takes {slowest} (p99)",
        slowest=span_text(setup.run_p99_ms),
    )
    if 2 * setup.run_p99_ms >= 1000 * DEFAULT_VISIBILITY_S:
        return fails(WARNING, takes, advice, *uses)
    return passes(takes, *uses)


def _advice(setup: Setup) -> str:
    slowest_ms = max(setup.run_p99_ms or 0, setup.run_max_ms or 0)
    advised_s = advised_visibility_s(setup.function_timeout_s, setup.window_s, slowest_ms)
    if advised_s is None:
        return "Set it above the slowest handling, or let the worker extend it while it works."
    ways = said("set it to {span} or more", span=f"{advised_s} s"), said("let the consumer extend it while it works")
    return either(*ways)
