"""Declared against observed: a full batch of slow items against the function timeout."""

from forensics.checks.answer import NO_FUNCTION_SETTINGS, NOT_HERE, WARNING, Answer, either, fails, passes, unknown
from forensics.checks.run_near_timeout import QUICKER
from forensics.checks.setup import Setup
from forensics.limits import LONGEST_FUNCTION_TIMEOUT_S
from forensics.sentence import said
from forensics.words import seconds_text


def batch_outgrows_timeout(setup: Setup) -> Answer:
    """A full batch of items as slow as the p99 fits into the function timeout.

    >>> batch_outgrows_timeout(
    ...     Setup("q", "f", "lambda", batch_size=10, function_timeout_s=30, item_p99_ms=4000)
    ... ).sentence
    'batch size 10 × p99 item 4 s = 40 s > function timeout 30 s: a full batch of slow items cannot end in time'
    """
    if not setup.is_lambda or setup.batch_size in (None, 1):
        return NOT_HERE
    if setup.function_timeout_s is None:
        return NO_FUNCTION_SETTINGS
    uses = ("batch_size", "item_p99_ms", "function_timeout_s")
    if setup.item_p99_ms is None:
        return unknown(
            "nothing tells how long one item takes",
            "a line at the start of each item and one at its effect, named in the settings file",
            *uses,
        )
    whole_ms = (setup.batch_size or 1) * setup.item_p99_ms
    told = {
        "n": setup.batch_size,
        "item": seconds_text(setup.item_p99_ms),
        "whole": seconds_text(whole_ms),
        "limit": f"{setup.function_timeout_s} s",
    }
    if whole_ms > 1000 * setup.function_timeout_s:
        return fails(
            WARNING,
            said(
                "batch size {n} × p99 item {item} = {whole} > function timeout {limit}: a full batch of slow items cannot end in time",
                **told,
            ),
            _advice(setup.function_timeout_s, setup.item_p99_ms),
            *uses,
        )
    return passes(said("batch size {n} × p99 item {item} = {whole} ≤ function timeout {limit}", **told), *uses)


def _advice(timeout_s: int, item_ms: int) -> str:
    fits = 1000 * timeout_s // item_ms
    ways = [said("set the batch size to {n}", n=said("{n} or less", n=fits) if fits > 1 else fits)] if fits else []
    if timeout_s < LONGEST_FUNCTION_TIMEOUT_S:
        ways.append(said("raise the function timeout"))
    return either(*ways or [QUICKER])
