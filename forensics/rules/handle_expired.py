"""The delete after the work was refused: the receipt handle had expired."""

from forensics.rules.pair import DeliveryPair
from forensics.rules.ruling import NO_LOG_OF_EARLIER, Ruling, excluded, supported, undecidable
from forensics.sentence import joined


def handle_expired(pair: DeliveryPair) -> Ruling:
    """The earlier consumer's delete was refused with "The receipt handle has expired".

    Only FIFO queues refuse; on a standard queue the absence of the error excludes nothing.

    >>> handle_expired(DeliveryPair(earlier_kind="worker", earlier_delete_reason="expired")).stance
    'supported'
    """
    if not pair.earlier_is_seen:
        return NO_LOG_OF_EARLIER
    if pair.earlier_delete_reason == "expired":
        return supported("the delete was refused: the receipt handle has expired")
    if pair.was_delete_refused is False:
        return excluded("CloudTrail recorded every delete of the queue, and none was refused meanwhile")
    if pair.outlived_ms is None and pair.took_a_second:
        return excluded("the earlier run took no longer than a second, and no visibility timeout is shorter")
    if pair.outlived_ms is None:
        what = _lacking(pair)
        return undecidable("nothing tells whether the delete came in time", what)
    if pair.outlived_ms <= 0:
        return excluded("the earlier run ended before the visibility timeout, so its handle was still good")
    if pair.earlier_kind == "lambda":
        return undecidable(
            "the run outlived the visibility timeout; the poller's delete leaves no log line",
            "the mapping's DeletedEventCount metric",
        )
    if pair.is_fifo:
        return undecidable(
            "the run outlived the visibility timeout, but no refused delete is in the logs",
            "the worker's delete call in its log",
        )
    return undecidable(
        "the run outlived the visibility timeout; a standard queue accepts such a delete without a word",
        "CloudTrail data events of DeleteMessage",
    )


def _lacking(pair: DeliveryPair) -> str:
    """Name what would tell whether the delete came in time: what of both is not known."""
    if pair.visibility_timeout_s is not None or pair.hidden_ms is not None:
        return pair.end_of_earlier
    if pair.run_ms is not None:
        return "the queue's settings"
    return joined((pair.end_of_earlier, "the queue's settings"), "; ")
