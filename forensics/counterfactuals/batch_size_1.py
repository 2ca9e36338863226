"""Batch size 1: no message can fall with another."""

from forensics.counterfactuals.repeat import (
    CAUSE_OPEN,
    Answer,
    Repeat,
    beyond_settings,
    not_prevented,
    prevented,
    undecided,
)

_OWN = {"function_timeout": "timed out", "function_error": "failed", "runtime_crash": "crashed"}


def batch_size_1(repeat: Repeat) -> Answer:
    """Would it have come again, had each run got one message?

    >>> batch_size_1(Repeat(cause="batch_collateral")).outcome
    'prevented'
    >>> batch_size_1(Repeat(cause="function_timeout", earlier_batch_count=10, earlier_is_printed=True)).outcome
    'undecided'
    """
    if (answer := beyond_settings(repeat)) is not None:
        return answer
    if repeat.earlier_kind == "worker":
        return not_prevented("a worker deletes each message by itself")
    if repeat.cause == "batch_collateral":
        return prevented("it was finished before its batch failed; alone it would have been deleted")
    if how := _OWN.get(repeat.cause):
        if repeat.was_alone:
            return not_prevented(f"it was alone in the run that {how}")
        return undecided(
            f"it was not finished when its run {how}; alone it might have been, or have ended the same way"
        )
    if repeat.cause == "partial_response":
        if repeat.earlier_is_named_failure:
            return not_prevented("the function returned this very message as failed")
        return prevented("a response that named no item rightly returned the whole batch")
    if repeat.cause in ("visibility_expired", "handle_expired"):
        if repeat.was_alone:
            return not_prevented("it was alone in its run")
        return undecided("a run of one message is shorter, and nothing tells whether short enough")
    if repeat.cause == "undecidable":
        return CAUSE_OPEN
    return not_prevented("the size of the batch had no part in it")
