"""A maximum concurrency on the mapping: no message is received that the function cannot take."""

from forensics.counterfactuals.repeat import (
    CAUSE_OPEN,
    SAME_RECEIVE,
    SENT_AGAIN,
    Answer,
    Repeat,
    not_prevented,
    prevented,
)
from forensics.terms import INVOKED_AGAIN


def maximum_concurrency(repeat: Repeat) -> Answer:
    """Would it have come again, had the poller kept within the function's concurrency?

    >>> maximum_concurrency(Repeat(cause="throttled")).outcome
    'prevented'
    """
    if repeat.is_sent_again:
        return SENT_AGAIN
    if repeat.cause == INVOKED_AGAIN:
        return SAME_RECEIVE
    if repeat.cause == "undecidable":
        return CAUSE_OPEN
    if repeat.cause == "throttled":
        return prevented("the function was throttled; the poller would not have received what it could not hand on")
    if repeat.earlier_kind == "worker":
        return not_prevented("the consumer is no Lambda function")
    return not_prevented("no throttling had a part in it")
