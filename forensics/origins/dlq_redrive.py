"""The message was redriven from the dead-letter queue: a new id for an old message."""

from forensics.origins.ids import IdPair
from forensics.rules.ruling import Ruling, excluded, supported, undecidable


def dlq_redrive(ids: IdPair) -> Ruling:
    """The deduplication id is the old message id, or a move task was on when it was sent and the body is the same.

    >>> dlq_redrive(IdPair(is_fifo=True, is_named_after_earlier=True)).stance
    'supported'
    """
    if ids.is_named_after_earlier:
        return supported(
            f"its deduplication id is the message id of {ids.earlier_id}: SQS gives it that when it moves a message to a "
            "dead-letter queue, and keeps it in a redrive"
        )
    if ids.shown_by:
        return excluded(f"{ids.shown_by} shows that it was sent, not moved")
    if ids.has_same_body is False:
        return excluded("its body is another one; a redrive keeps the body")
    if ids.was_moved_then and ids.earlier_was_dead_lettered and ids.has_same_body:
        return supported(
            f"a move task out of the dead-letter queue was on when it was sent, {ids.earlier_id} had gone to the "
            "dead-letter queue, and the bodies are the same"
        )
    if not ids.earlier_was_dead_lettered:
        return excluded(f"nothing shows {ids.earlier_id} in the dead-letter queue")
    if ids.was_moved_then is None:
        return undecidable(
            f"{ids.earlier_id} had gone to the dead-letter queue; nothing tells whether somebody redrove it",
            "the dead-letter queue's move tasks, which SQS keeps for its last ten",
        )
    if ids.was_moved_then:
        return undecidable(
            "a move task was on when it was sent, but the logs do not show both bodies",
            "md5OfBody in the printed batch",
        )
    return excluded("no move task out of the dead-letter queue was on when it was sent")
