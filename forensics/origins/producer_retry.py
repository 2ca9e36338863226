"""The producer, or a framework that deletes and sends again, put the same work in once more."""

from forensics.origins.dedup_window_passed import WINDOW_S
from forensics.origins.ids import IdPair
from forensics.rules.ruling import Ruling, excluded, supported, undecidable
from forensics.sentence import joined, said


def producer_retry(ids: IdPair) -> Ruling:
    """Two message ids under one business key, and nothing else explains the second.

    >>> producer_retry(IdPair(has_same_business_key=True, sent_gap_s=2)).stance
    'supported'
    """
    if ids.is_named_after_earlier:
        return excluded("its deduplication id shows that it came out of the dead-letter queue")
    if ids.is_missing_send:
        return excluded("its producers log every send, their lines of that time were read whole, and none is of it")
    if ids.was_moved_then and ids.earlier_was_dead_lettered and ids.has_same_body and not ids.shown_by:
        return excluded("a redrive explains it")
    if ids.has_same_deduplication_id and ids.is_fifo is not False:
        if ids.sent_gap_s is None:
            return undecidable("nothing tells when both were sent", "SentTimestamp in the printed batch")
        if ids.sent_gap_s <= WINDOW_S:
            return excluded("the queue drops a second send of one deduplication id so soon")
        return excluded("it was sent after the deduplication window")
    if ids.is_fifo and ids.has_same_deduplication_id is None and (ids.sent_gap_s is None or ids.sent_gap_s > WINDOW_S):
        return undecidable(
            "nothing shows the deduplication ids, so their window may have passed",
            "MessageDeduplicationId in the printed batch",
        )
    if not (ids.has_same_business_key or ids.has_same_job_id):
        return excluded("the two messages have neither a business key nor a framework's job id in common")
    if _may_be_redriven(ids):
        had = "{id} was not deleted at its last receive before the dead-letter queue, so a redrive would explain it too"
        may_have = "nothing tells whether {id} went to the dead-letter queue, and a redrive would explain it too"
        return undecidable(
            said(had if ids.earlier_was_dead_lettered else may_have, id=ids.earlier_id),
            "the dead-letter queue's move tasks, which SQS keeps for its last ten"
            if ids.was_moved_then is None
            else "the consumers' logs and the queue's settings of that time"
            if ids.earlier_was_dead_lettered is None
            else "md5OfBody in the printed batch",
        )
    what = "business key" if ids.has_same_business_key else "job, by its framework's id,"
    if ids.has_same_event:
        what = "event, by its publisher's id,"
    shown = [said(", as {record} shows", record=ids.shown_by)] if ids.shown_by else []
    if ids.request_id:
        shown.append(said("; both sends were of the producer's request {id}", id=ids.request_id))
    if ids.is_only_send_logged:
        shown.append("; the producer logged this send alone: its SDK had asked before and got no answer")
    told = {"what": what, "by": ids.by, "shown": joined(shown, "")}
    if ids.sent_gap_s is None:
        return supported(said("the same {what} was sent again under another message id{by}{shown}", **told))
    gap = f"{ids.sent_gap_s:g} s"
    return supported(
        said("the same {what} was sent again {gap} later under another message id{by}{shown}", gap=gap, **told)
    )


def _may_be_redriven(ids: IdPair) -> bool:
    """Tell whether a redrive from the dead-letter queue can explain the later id as well."""
    is_out = ids.earlier_was_dead_lettered is False or ids.was_moved_then is False or ids.has_same_body is False
    return not is_out and not ids.shown_by
