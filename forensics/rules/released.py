"""Somebody set the message's visibility timeout to zero or short."""

from forensics.rules.pair import DeliveryPair, seconds
from forensics.rules.ruling import NO_LOG_OF_EARLIER, Ruling, clocks_apart, excluded, supported, undecidable
from forensics.sentence import said
from forensics.terms import CLOCKS_APART


def released(pair: DeliveryPair) -> Ruling:
    """It came back far below the visibility timeout, after the earlier consumer let go of it.

    >>> released(DeliveryPair(is_fifo=True, visibility_timeout_s=30, gap_ms=31000)).stance
    'excluded'
    """
    if not pair.earlier_is_seen:
        return NO_LOG_OF_EARLIER
    if pair.hidden_ms is not None and pair.gap_ms is not None:
        return _as_called(pair.hidden_ms, pair.gap_ms, pair)
    if pair.was_visibility_changed is False:
        return excluded("CloudTrail recorded every call to the queue, and none of ChangeMessageVisibility meanwhile")
    if pair.is_short_gap is None and pair.was_left_to_delete and pair.came_after_its_end:
        return excluded(
            said(
                "{run} succeeded, so Lambda was to delete it, released or not; it was redelivered after that had ended",
                run=pair.earlier_name,
            )
        )
    if pair.clocks_words is not None:
        return clocks_apart(pair.clocks_words)
    if pair.is_short_gap is None:
        what = (
            "the visibility timeout in force"
            if pair.visibility_timeout_s is None
            else "the time of the later receive"
            if pair.gap_ms is None
            else pair.holder_decides
        )
        return undecidable("nothing tells how the gap compares with the visibility timeout", what)
    gap, limit = seconds(pair.gap_ms), pair.visibility_words
    if not pair.is_short_gap:
        return excluded(said("it was redelivered after {gap}, not before the {limit}", gap=gap, limit=limit))
    if pair.may_be_late:
        return undecidable(
            said(
                "it was redelivered after {gap}, inside the {limit}, by the clocks of two hosts, which may differ; no line shows that "
                "anything let go of it",
                gap=gap,
                limit=limit,
            ),
            CLOCKS_APART,
        )
    if pair.is_fifo or (pair.earlier_kind == "worker" and pair.earlier_status == "error"):
        return supported(said("it was redelivered after {gap}, far inside the {limit}", gap=gap, limit=limit))
    return undecidable(
        said(
            "it was redelivered after {gap}, inside the {limit}; a standard queue may also deliver a copy",
            gap=gap,
            limit=limit,
        ),
        "CloudTrail data events of ChangeMessageVisibility",
    )


def _as_called(hidden_ms: int, gap_ms: int, pair: DeliveryPair) -> Ruling:
    """Rule on a message whose visibility a recorded call changed; calls are told in whole seconds."""
    told = said("ChangeMessageVisibility let it be visible again {span} after the receive", span=seconds(hidden_ms))
    if pair.visibility_timeout_s is None:
        return undecidable(
            said("{told}, and nothing tells whether that is early", told=told), "the visibility timeout in force"
        )
    if hidden_ms >= pair.visibility_timeout_s * 1000:
        return excluded(said("{told}, which is not before the {limit}", told=told, limit=pair.visibility_words))
    if gap_ms < hidden_ms - 1000:
        return excluded(
            said("{told}, and it had been redelivered by then, after {gap}", told=told, gap=seconds(gap_ms))
        )
    if pair.has_heartbeat:
        return excluded(said("{told}, as the heartbeats before did: they kept the message", told=told))
    return supported(said("{told}, and it was redelivered after {gap}", told=told, gap=seconds(gap_ms)))
