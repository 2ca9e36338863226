"""The run succeeded, yet the message was not deleted."""

from forensics.rules.pair import DeliveryPair, seconds
from forensics.rules.ruling import (
    NO_LOG_OF_EARLIER,
    RESPONSE_OR_COUNTS,
    Ruling,
    excluded,
    maybe_held,
    maybe_raised,
    no_end_of_earlier,
    supported,
    undecidable,
)
from forensics.sentence import said


def delete_ineffective(pair: DeliveryPair) -> Ruling:
    """Success, nothing given back, no error, and again after about one visibility timeout.

    >>> delete_ineffective(DeliveryPair(earlier_status="success", reports_batch_item_failures=False,
    ...     visibility_timeout_s=30, gap_ms=30100, run_ms=900)).stance
    'supported'
    """
    if not pair.earlier_is_seen:
        return NO_LOG_OF_EARLIER
    if pair.earlier_delete_reason is not None:
        return excluded("a delete error is in the log")
    if pair.earlier_status == "unknown":
        return no_end_of_earlier(pair.end_of_earlier)
    if pair.earlier_status != "success":
        return excluded(said("{run} ended in {status}", run=pair.earlier_name, status=pair.earlier_status))
    if pair.earlier_was_deleted:
        return excluded("CloudTrail recorded its delete, and SQS took it")
    if pair.was_received_while_running:
        return excluded("the run outlived the visibility timeout")
    if pair.earlier_is_named_failure:
        return excluded("the function returned this message as failed")
    if pair.earlier_response_is_malformed and pair.reports_batch_item_failures:
        return excluded("a malformed response returned the whole batch")
    if pair.is_short_gap is None and not (pair.is_fifo and pair.was_deleted_in_time):
        what = (
            "the queue's settings" if pair.visibility_timeout_s is None or pair.gap_ms is None else pair.holder_decides
        )
        return undecidable("nothing tells how the gap compares with the visibility timeout", what)
    if pair.was_held_too_long:
        return maybe_held(pair)
    if pair.is_short_gap:
        return excluded(said("it was redelivered after {gap}, before the visibility timeout", gap=seconds(pair.gap_ms)))
    may_be_given_back = pair.earlier_kind == "lambda" and pair.reports_batch_item_failures is not False
    if may_be_given_back and not pair.earlier_has_response:
        if pair.earlier_was_given_back:
            return excluded("the mapping counted every message as deleted that had not failed")
        if pair.earlier_was_given_back is None:
            return undecidable("the function's response is not known", RESPONSE_OR_COUNTS)
    if pair.earlier_may_have_raised:
        return maybe_raised(pair)
    return supported(
        said(
            "{run} succeeded, and the message was redelivered after {gap} without any error",
            run=pair.earlier_name,
            gap=seconds(pair.gap_ms),
        )
    )
