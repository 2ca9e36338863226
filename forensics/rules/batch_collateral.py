"""The message was finished, but its batch failed for another message."""

from forensics.rules.pair import DeliveryPair, seconds
from forensics.rules.ruling import (
    NO_LOG_OF_EARLIER,
    Ruling,
    excluded,
    maybe_copy,
    maybe_held,
    maybe_outlived,
    no_end_of_earlier,
    supported,
    undecidable,
)
from forensics.sentence import said

_FAILED = {
    "timeout": "timed out with other messages of the batch",
    "error": "raised an error with other messages of the batch",
    "crash": "crashed with other messages of the batch",
}


def batch_collateral(pair: DeliveryPair) -> Ruling:
    """This item had finished before its batch failed or timed out.

    >>> batch_collateral(DeliveryPair(earlier_status="timeout", gap_ms=31_000, earlier_has_finish_mark=True,
    ...     earlier_is_printed=True, earlier_batch_count=10)).stance
    'supported'
    """
    if not pair.earlier_is_seen:
        return NO_LOG_OF_EARLIER
    if pair.earlier_kind == "worker":
        return excluded("a worker deletes each message by itself")
    if pair.earlier_status == "unknown":
        return no_end_of_earlier(pair.end_of_earlier)
    failed = _FAILED.get(pair.earlier_status)
    if failed is None:
        return excluded(
            said("{run} ended in {status}: its batch did not fail", run=pair.earlier_name, status=pair.earlier_status)
        )
    if not pair.earlier_has_finish_mark:
        return excluded("no line shows that this message was finished before the batch failed")
    if pair.is_short_gap:
        return excluded(
            said(
                "it was redelivered after {gap}; a failed run is not released before its timeout",
                gap=seconds(pair.gap_ms),
            )
        )
    if pair.may_be_copy:
        return maybe_copy(pair)
    if pair.was_received_while_running:
        return excluded("it was visible again before the batch failed")
    if pair.may_have_been_out:
        return maybe_held(pair)
    if pair.was_alone:
        return excluded("it was alone in its batch")
    if pair.may_have_outlived:
        return maybe_outlived(pair)
    if pair.earlier_is_only_one_begun:
        return excluded(said("the lines of {run} begin no other message", run=pair.earlier_name))
    if not pair.earlier_is_printed and (pair.earlier_batch_count is None or pair.earlier_batch_count <= 1):
        return undecidable(
            "the batch was not printed, so nothing tells of its siblings", "a line that prints the batch"
        )
    return supported(
        said(
            "this message was finished before {run} {failed}; nothing was deleted, so the whole batch was redelivered",
            run=pair.earlier_name,
            failed=failed,
        )
    )
