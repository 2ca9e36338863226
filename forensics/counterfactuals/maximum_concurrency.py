"""A maximum concurrency on the mapping: no message is received that the function cannot take."""

from forensics.counterfactuals.repeat import (
    CAUSE_OPEN,
    Answer,
    Repeat,
    beyond_settings,
    not_prevented,
    prevented,
)


def maximum_concurrency(repeat: Repeat) -> Answer:
    """Would it have come again, had the poller kept within the function's concurrency?

    >>> maximum_concurrency(Repeat(cause="throttled")).outcome
    'prevented'
    """
    if (answer := beyond_settings(repeat)) is not None:
        return answer
    if repeat.cause == "undecidable":
        return CAUSE_OPEN
    if repeat.cause == "throttled":
        return prevented("the function was throttled; the poller would not have received what it could not hand on")
    if repeat.earlier_kind == "worker":
        return not_prevented("the consumer is no Lambda function")
    return not_prevented("no throttling had a part in it")
