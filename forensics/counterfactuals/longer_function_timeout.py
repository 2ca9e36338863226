"""A longer function timeout: the run is not cut off."""

from forensics.counterfactuals.repeat import (
    CAUSE_OPEN,
    Answer,
    Repeat,
    beyond_settings,
    not_prevented,
    prevented,
)
from forensics.limits import LONGEST_FUNCTION_TIMEOUT_S
from forensics.sentence import said


def longer_function_timeout(repeat: Repeat) -> Answer:
    """Would it have come again, had the run been allowed to go on?

    >>> longer_function_timeout(Repeat(cause="batch_collateral", earlier_status="timeout", function_timeout_s=30)).outcome
    'prevented'
    """
    if (answer := beyond_settings(repeat)) is not None:
        return answer
    if repeat.cause == "undecidable":
        return CAUSE_OPEN
    if repeat.earlier_kind == "worker":
        return not_prevented("the consumer is no Lambda function")
    if repeat.earlier_status != "timeout" or repeat.cause not in ("function_timeout", "batch_collateral"):
        return not_prevented("no run hit the function timeout")
    if repeat.function_timeout_s is not None and repeat.function_timeout_s >= LONGEST_FUNCTION_TIMEOUT_S:
        return not_prevented("the function timeout was at Lambda's maximum of 900 s")
    if repeat.function_timeout_s is None:
        return prevented("the run hit the function timeout; one longer than the slowest batch lets it finish")
    hit = "the run hit the {limit} function timeout; one longer than the slowest batch lets it finish"
    return prevented(said(hit, limit=f"{repeat.function_timeout_s} s"))
