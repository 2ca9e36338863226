"""The visibility timeout expired while the consumer was still working."""

from forensics.rules.pair import DeliveryPair, seconds
from forensics.rules.ruling import (
    NO_LOG_OF_EARLIER,
    Ruling,
    excluded,
    maybe_held,
    maybe_outlived,
    supported,
    undecidable,
)
from forensics.sentence import said


def visibility_expired(pair: DeliveryPair) -> Ruling:
    """The next delivery was received while this one was still running.

    >>> visibility_expired(DeliveryPair(visibility_timeout_s=30, gap_ms=31000, run_ms=42000)).stance
    'supported'
    """
    if not pair.earlier_is_seen:
        return NO_LOG_OF_EARLIER
    if pair.earlier_delete_reason == "expired":
        return excluded("the refused delete shows it more sharply: the receipt handle had expired")
    if pair.run_ms is None and not pair.was_received_while_running:
        return undecidable("no line tells how long the earlier run took", pair.end_of_earlier)
    if pair.is_short_gap and pair.overlap_ms is not None and pair.overlap_ms > 0 and not (pair.outlived_ms or 0) > 0:
        return excluded(
            said("it was redelivered after {gap}, before the visibility timeout ended", gap=seconds(pair.gap_ms))
        )
    if pair.overlap_ms is not None and pair.overlap_ms > 0:
        return supported(
            said(
                "it was received again after {gap} while {run} went on for {overlap} more",
                gap=seconds(pair.gap_ms),
                run=pair.earlier_name,
                overlap=seconds(pair.overlap_ms),
            )
        )
    if pair.outlived_ms is not None and pair.outlived_ms > 0:
        took = pair.last_line_ms if pair.run_ms is None else pair.run_ms
        return supported(
            said(
                "{run} took {span}, longer than the {limit}",
                run=pair.earlier_name,
                span=seconds(took),
                limit=pair.visibility_words,
            )
        )
    if pair.may_have_outlived:
        return maybe_outlived(pair)
    if pair.was_held_too_long:
        return maybe_held(pair)
    if pair.visibility_timeout_s is None and pair.hidden_ms is None and not pair.took_a_second:
        return excluded(
            said(
                "{run} ended after {span}, and it was received again only after {gap}",
                run=pair.earlier_name,
                span=seconds(pair.run_ms),
                gap=seconds(pair.gap_ms),
            )
        )
    return excluded(
        said(
            "{run} ended after {span}, before the {limit}",
            run=pair.earlier_name,
            span=seconds(pair.run_ms),
            limit=pair.visibility_words,
        )
    )
