"""The handler raised, so the whole batch was not deleted."""

from forensics.rules.pair import DeliveryPair, seconds
from forensics.rules.ruling import (
    NO_LOG_OF_EARLIER,
    Ruling,
    excluded,
    maybe_copy,
    maybe_held,
    maybe_outlived,
    maybe_raised,
    no_end_of_earlier,
    supported,
    undecidable,
)
from forensics.sentence import said


def function_error(pair: DeliveryPair) -> Ruling:
    """The run ended in an error, and this item has no finish mark.

    >>> function_error(DeliveryPair(earlier_status="error", gap_ms=31_000, earlier_error_type="ValueError")).sentence
    'the earlier run raised ValueError; no line shows that this message was finished'
    """
    if not pair.earlier_is_seen:
        return NO_LOG_OF_EARLIER
    if pair.earlier_status == "unknown" and pair.earlier_kind == "worker" and pair.earlier_delete_reason is not None:
        return excluded("the worker went on to end this message by itself")
    if pair.earlier_status == "unknown":
        return no_end_of_earlier(pair.end_of_earlier)
    is_released = pair.earlier_was_deleted or pair.is_short_gap or pair.was_received_while_running
    if pair.earlier_may_have_raised and not is_released and pair.earlier_was_given_back is not False:
        return maybe_raised(pair)
    if pair.earlier_status != "error":
        return excluded(
            said(
                "{run} ended in {status}, not in an error of the handler",
                run=pair.earlier_name,
                status=pair.earlier_status,
            )
        )
    if pair.is_short_gap and pair.earlier_kind != "worker":
        return excluded(
            said(
                "it was redelivered after {gap}; a failed run is not released before its timeout",
                gap=seconds(pair.gap_ms),
            )
        )
    if pair.may_be_copy:
        return maybe_copy(pair)
    if pair.was_received_while_running:
        return excluded("it was visible again before the run raised")
    if pair.may_have_been_out:
        return maybe_held(pair)
    if pair.earlier_delete_reason is not None and pair.earlier_kind == "worker":
        return excluded("the error came from the delete after the work")
    if pair.may_have_outlived:
        return maybe_outlived(pair)
    what = pair.earlier_error_type or "an error"
    if not pair.earlier_has_finish_mark:
        return supported(
            said("{run} raised {what}; no line shows that this message was finished", run=pair.earlier_name, what=what)
        )
    if pair.was_alone or pair.earlier_kind == "worker":
        return supported(
            said(
                "{run} raised {what} after the work was done; no other message was in the batch",
                run=pair.earlier_name,
                what=what,
            )
        )
    if pair.earlier_is_only_one_begun:
        return supported(
            said(
                "{run} raised {what} after the work was done, and its lines begin no other message",
                run=pair.earlier_name,
                what=what,
            )
        )
    if pair.earlier_is_printed:
        return excluded("this message was finished before the error; it was redelivered with its batch")
    return undecidable(
        "this message was finished before the error, and the batch was not printed", "a line that prints the batch"
    )
