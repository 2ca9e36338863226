"""SQS delivered a second copy: standard queues deliver at least once."""

from forensics.rules.pair import DeliveryPair, seconds
from forensics.rules.ruling import NO_LOG_OF_EARLIER, Ruling, excluded, supported, undecidable
from forensics.run_ends import FAILED
from forensics.sentence import said

NOTHING_ELSE = supported("every other cause is excluded: the standard queue delivered a copy")
"""What ``decide`` says instead where this is the only cause left open."""


def broker_copy(pair: DeliveryPair) -> Ruling:
    """Both runs were fine and it came back inside its visibility timeout, on a standard queue.

    Supported by itself only where a recorded call shows its delete; else ``decide`` takes it when every other cause is excluded.

    >>> broker_copy(DeliveryPair(is_fifo=True)).sentence
    'a FIFO queue does not deliver copies'
    """
    if pair.is_fifo:
        return excluded("a FIFO queue does not deliver copies")
    if not pair.earlier_is_seen:
        return NO_LOG_OF_EARLIER
    if pair.earlier_status in FAILED and not pair.is_short_gap:
        return excluded(
            said(
                "{run} ended in {status}, which brings a message back",
                run=pair.earlier_name,
                status=pair.earlier_status,
            )
        )
    if pair.earlier_delete_reason is not None:
        return excluded("a delete error is in the log")
    if pair.earlier_was_deleted and pair.is_fifo is False and not pair.was_received_while_running:
        return supported(
            "CloudTrail recorded its delete, SQS took it, and the standard queue delivered a copy all the same"
        )
    if pair.is_short_gap is False:
        return excluded(
            said("it was redelivered after {gap}, not inside the visibility timeout", gap=seconds(pair.gap_ms))
        )
    if pair.is_fifo is None:
        return undecidable("nothing tells whether the queue is FIFO", "the queue's settings")
    return undecidable("a standard queue may deliver a copy at any time", "every other cause excluded")
