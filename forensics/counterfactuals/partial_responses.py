"""Working partial batch responses: the handler names the items that failed, and the others are deleted."""

from forensics.counterfactuals.repeat import (
    CAUSE_OPEN,
    Answer,
    Repeat,
    beyond_settings,
    not_prevented,
    prevented,
    undecided,
)
from forensics.run_ends import UNANSWERED


def partial_responses(repeat: Repeat) -> Answer:
    """Would it have come again, had the function named exactly the items that failed?

    >>> partial_responses(Repeat(cause="batch_collateral", earlier_status="timeout")).outcome
    'not_prevented'
    >>> partial_responses(Repeat(cause="batch_collateral", earlier_status="error")).outcome
    'prevented'
    """
    if (answer := beyond_settings(repeat)) is not None:
        return answer
    if repeat.cause == "undecidable":
        return CAUSE_OPEN
    if repeat.earlier_kind == "worker":
        return not_prevented("a worker deletes each message by itself")
    if repeat.earlier_status in UNANSWERED:
        return not_prevented("a run that times out or crashes returns no response")
    if repeat.cause == "batch_collateral":
        return prevented("the handler raised for another item; naming that one alone deletes this one")
    if repeat.cause == "function_error":
        if repeat.was_alone:
            return not_prevented("it was alone in the run that failed")
        return undecided("nothing tells whether this item or another one raised the error")
    if repeat.cause == "partial_response":
        if repeat.earlier_is_named_failure:
            return not_prevented("the function named this item as failed")
        return prevented("the response named no item rightly, so the whole batch was redelivered")
    return not_prevented("the run's answer had no part in it")
