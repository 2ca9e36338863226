"""One message group makes a FIFO queue one lane: whatever holds one message holds all behind it."""

from forensics.checks.answer import CRITICAL, NOT_HERE, WARNING, Answer, fails, passes, since_set, unknown
from forensics.checks.setup import Setup
from forensics.sentence import counted, said
from forensics.words import seconds_text

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
        when = since_set(setup.timeout_set_at) if setup.timeout_set_at else "in the last 7 days"
        hidden_s = setup.visibility_timeout_s
        return fails(
            CRITICAL,
            said(
                "one message group, batch size {size}, and {timeouts} {when}: each stopped the whole queue{hold}",
                size=setup.batch_size,
                timeouts=counted(timeout_count, "function timeout"),
                when=when,
                hold=said(" for up to {span}", span=f"{hidden_s} s") if hidden_s else "",
            ),
            advice,
            *uses,
        )
    limit_ms = 1000 * setup.function_timeout_s
    whole_ms = setup.item_p99_ms * (setup.batch_size or 1) if setup.item_p99_ms is not None else p99_ms
    if whole_ms is not None and whole_ms >= SHARE * limit_ms:
        takes = "p99 run {span}" if setup.item_p99_ms is None else "a batch of {n} slow items takes {span}"
        return fails(
            WARNING,
            said(
                "one message group, batch size {size}: {what}, and the function timeout is {limit}; a timeout would stop the whole queue",
                size=setup.batch_size,
                what=said(takes, n=setup.batch_size, span=seconds_text(whole_ms)),
                limit=f"{setup.function_timeout_s} s",
            ),
            advice,
            *uses,
        )
    return passes("one message group, and its runs end far below the function timeout", *uses)
