"""A dead letter of a standard queue keeps its send time: what is left of its retention is all the time to look at it."""

from forensics.checks.answer import NO_QUEUE_SETTINGS, NOT_HERE, NOTE, WARNING, Answer, fails, passes, unknown
from forensics.checks.setup import Setup
from forensics.limits import LONGEST_RETENTION_S
from forensics.sentence import said


def dead_letter_retention(setup: Setup) -> Answer:
    """The dead-letter queue keeps messages longer than the queue itself, or as long as SQS allows.

    >>> dead_letter_retention(
    ...     Setup("q", dead_letter_queue="d", message_retention_s=345_600, dead_letter_retention_s=345_600)
    ... ).severity
    'warning'
    """
    if not setup.has_queue_settings:
        return NO_QUEUE_SETTINGS
    if not setup.dead_letter_queue:
        return NOT_HERE
    own, theirs = setup.message_retention_s, setup.dead_letter_retention_s
    uses = ("message_retention_s", "dead_letter_retention_s", "dead_letter_queue")
    if own is None:
        return NO_QUEUE_SETTINGS
    if theirs is None:
        return unknown(
            said("the settings of {dlq} were not read", dlq=setup.dead_letter_queue),
            "GetQueueAttributes of the dead-letter queue",
            *uses,
        )
    told = {"dlq": setup.dead_letter_queue, "theirs": _days(theirs), "own": _days(own)}
    if theirs > own or theirs >= LONGEST_RETENTION_S:
        return passes(said("{dlq} keeps messages {theirs}, the queue {own}", **told), *uses)
    advice = said("Set the dead-letter queue's retention to 14 days ({n}).", n=f"{LONGEST_RETENTION_S} s")
    if setup.is_fifo:  # by newer words of AWS its clock starts anew at the move; nobody measured it
        return fails(
            NOTE,
            said(
                "{dlq} keeps messages {theirs}, no longer than the queue's own {own}: a FIFO queue counts from the move, by what AWS "
                "says, so that is all the time there is to look at a dead letter",
                **told,
            ),
            advice,
            *uses,
        )
    return fails(
        WARNING,
        said(
            "{dlq} keeps messages {theirs}, no longer than the queue's own {own}: on a standard queue the clock runs from the send, "
            "so a dead letter can be lost soon after it was moved",
            **told,
        ),
        advice,
        *uses,
    )


def _days(value_s: int) -> str:
    """Write a retention.

    >>> _days(345_600), _days(86_400), _days(3600)
    ('4 d', '1 d', '1 h')
    """
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if value_s >= size:
            return f"{value_s / size:.1f}".removesuffix(".0") + f" {unit}"
    return f"{value_s} s"
