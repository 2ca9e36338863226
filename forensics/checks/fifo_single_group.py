"""One message group makes a FIFO queue one lane: whatever holds one message holds all behind it."""

from forensics.checks.answer import CRITICAL, NOT_HERE, WARNING, Answer, fails, passes, unknown
from forensics.checks.setup import Setup
from forensics.words import count_text, seconds_text

SHARE = 0.5
"""From this share of the function timeout on, a run of the slowest items is too close to it."""


def fifo_single_group(setup: Setup) -> Answer:
    """A FIFO queue with a single message group and batches above one has items so quick that a batch cannot time out.

    >>> fifo_single_group(
    ...     Setup("q.fifo", "f", "lambda", is_fifo=True, has_one_group=True, batch_size=10, function_timeout_s=30,
    ...           run_count=9, item_p99_ms=4000)
    ... ).severity
    'warning'
    """
    if not setup.is_fifo or not setup.is_lambda or setup.batch_size in (None, 1):
        return NOT_HERE
    uses = (
        "has_one_group",
        "batch_size",
        "item_p99_ms",
        "run_p99_ms",
        "function_timeout_s",
        "timeout_count",
        "visibility_timeout_s",
        *(() if setup.timeout_set_at is None else ("timeout_set_at", "since_run_count", "since_timeout_count")),
    )
    if setup.has_one_group is None:
        return unknown("no message group was logged", "a line that prints the event, with MessageGroupId", *uses)
    if not setup.has_one_group:
        return passes("more than one message group was seen", *uses)
    run_count, timeout_count, p99_ms = setup.under_this_timeout
    if setup.function_timeout_s is None or not run_count:
        return unknown(
            "one message group; nothing tells how long its runs take", "the function's settings and its log", *uses
        )
    advice = (
        "Set the batch size to 1, or use one message group per customer or order, so that a slow item holds only its "
        "own group."
    )
    if timeout_count:
        when = (
            f"since it was set {setup.timeout_set_at:%d %b %H:%M} UTC" if setup.timeout_set_at else "in the last 7 days"
        )
        hold = f" for up to {setup.visibility_timeout_s} s" if setup.visibility_timeout_s else ""
        return fails(
            CRITICAL,
            f"one message group, batch size {setup.batch_size}, and {count_text(timeout_count, 'function timeout')} "
            f"{when}: each stopped the whole queue{hold}",
            advice,
            *uses,
        )
    limit_ms = 1000 * setup.function_timeout_s
    whole_ms = setup.item_p99_ms * (setup.batch_size or 1) if setup.item_p99_ms is not None else p99_ms
    if whole_ms is not None and whole_ms >= SHARE * limit_ms:
        what = (
            f"a batch of {setup.batch_size} slow items takes {seconds_text(whole_ms)}"
            if setup.item_p99_ms is not None
            else f"p99 run {seconds_text(whole_ms)}"
        )
        return fails(
            WARNING,
            f"one message group, batch size {setup.batch_size}: {what}, and the function timeout is "
            f"{setup.function_timeout_s} s; a timeout would stop the whole queue",
            advice,
            *uses,
        )
    return passes("one message group, and its runs end far below the function timeout", *uses)
