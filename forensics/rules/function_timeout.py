"""The function's timeout killed the run that held the message."""

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


def function_timeout(pair: DeliveryPair) -> Ruling:
    """The run timed out, and this item has no finish mark.

    >>> function_timeout(DeliveryPair(earlier_status="timeout", function_timeout_s=30, run_ms=30000, gap_ms=31000)).stance
    'supported'
    """
    if not pair.earlier_is_seen:
        return NO_LOG_OF_EARLIER
    if pair.earlier_kind == "worker":
        return excluded("a worker took it, not a Lambda function")
    if pair.earlier_status == "unknown":
        return no_end_of_earlier(pair.end_of_earlier)
    if pair.earlier_status != "timeout":
        return excluded(
            said("{run} ended in {status}, not in a timeout", run=pair.earlier_name, status=pair.earlier_status)
        )
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
        return excluded("it was visible again before the run timed out")
    if pair.may_have_been_out:
        return maybe_held(pair)
    if pair.may_have_outlived:
        return maybe_outlived(pair)
    limit = said("the {limit}", limit=pair.function_timeout_words)
    if not pair.earlier_has_finish_mark:
        return supported(
            said("{run} hit {limit}; no line shows that this message was finished", run=pair.earlier_name, limit=limit)
        )
    if pair.was_alone:
        return supported(
            said(
                "{run} hit {limit} after the work was done; the message was alone in its batch",
                run=pair.earlier_name,
                limit=limit,
            )
        )
    if pair.earlier_is_only_one_begun:
        return supported(
            said(
                "{run} hit {limit} after the work was done, and its lines begin no other message",
                run=pair.earlier_name,
                limit=limit,
            )
        )
    if pair.earlier_is_printed:
        return excluded("this message was finished before the timeout; it was redelivered with its batch")
    return undecidable(
        "this message was finished before the timeout, and the batch was not printed", "a line that prints the batch"
    )
