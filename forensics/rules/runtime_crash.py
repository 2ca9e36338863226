"""The runtime died under the handler: out of memory, exit, killed, failed init."""

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


def runtime_crash(pair: DeliveryPair) -> Ruling:
    """The run crashed below its time limit, and this item has no finish mark.

    >>> runtime_crash(DeliveryPair(earlier_status="crash", gap_ms=31_000, earlier_error_type="Runtime.OutOfMemory")).stance
    'supported'
    """
    if not pair.earlier_is_seen:
        return NO_LOG_OF_EARLIER
    if pair.earlier_kind == "worker":
        return excluded("a worker took it, not a Lambda function")
    if pair.earlier_status == "unknown":
        return no_end_of_earlier(pair.end_of_earlier)
    what = pair.earlier_error_type or "no reason given"
    if pair.earlier_status == "init_failed":
        return supported(
            said("{run} failed in its init ({what}); the handler never began", run=pair.earlier_name, what=what)
        )
    if pair.earlier_status != "crash":
        return excluded(
            said(
                "{run} ended in {status}; the runtime did not crash", run=pair.earlier_name, status=pair.earlier_status
            )
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
        return excluded("it was visible again before the runtime crashed")
    if pair.may_have_been_out:
        return maybe_held(pair)
    if pair.may_have_outlived:
        return maybe_outlived(pair)
    if not pair.earlier_has_finish_mark or pair.was_alone or pair.earlier_is_only_one_begun:
        return supported(said("the runtime of {run} crashed ({what})", run=pair.earlier_name, what=what))
    if pair.earlier_is_printed:
        return excluded("this message was finished before the crash; it was redelivered with its batch")
    return undecidable(
        "this message was finished before the crash, and the batch was not printed", "a line that prints the batch"
    )
