"""The message was redriven from the dead-letter queue: a new id for an old message."""

from forensics.origins.ids import IdPair
from forensics.rules.ruling import Ruling, excluded, supported, undecidable
from forensics.sentence import said


def dlq_redrive(ids: IdPair) -> Ruling:
    """The deduplication id is the old message id, or a move task was on when it was sent and the body is the same.

    >>> dlq_redrive(IdPair(is_fifo=True, is_named_after_earlier=True)).stance
    'supported'
    """
    if ids.is_named_after_earlier:
        return supported(
            said(
                "its deduplication id is the message id of {id}: SQS gives it that when it moves a message to a dead-letter queue, "
                "and keeps it in a redrive",
                id=ids.earlier_id,
            )
        )
    if ids.shown_by:
        return excluded(said("{record} shows that it was sent, not moved", record=ids.shown_by))
    if ids.has_same_body is False:
        return excluded("its body is another one; a redrive keeps the body")
    if ids.was_moved_then and ids.earlier_was_dead_lettered and ids.has_same_body:
        return supported(
            said(
                "a move task out of the dead-letter queue was on when it was sent, {id} had gone to the dead-letter queue, and the "
                "bodies are the same",
                id=ids.earlier_id,
            )
        )
    if ids.earlier_was_dead_lettered is False:
        return excluded(said("nothing shows {id} in the dead-letter queue", id=ids.earlier_id))
    if ids.was_moved_then is False:
        return excluded("no move task out of the dead-letter queue was on when it was sent")
    if ids.was_moved_then is None:
        had = "{id} was not deleted at its last receive before the dead-letter queue; nothing tells whether somebody redrove it"
        may_have = "nothing tells whether {id} went to the dead-letter queue, nor whether somebody redrove it"
        return undecidable(
            said(had if ids.earlier_was_dead_lettered else may_have, id=ids.earlier_id),
            "the dead-letter queue's move tasks, which SQS keeps for its last ten",
        )
    if ids.earlier_was_dead_lettered is None:
        return undecidable(
            said(
                "a move task was on when it was sent, and nothing tells whether {id} went to the dead-letter queue",
                id=ids.earlier_id,
            ),
            "the consumers' logs and the queue's settings of that time",
        )
    return undecidable(
        "a move task was on when it was sent, but the logs do not show both bodies",
        "md5OfBody in the printed batch",
    )
