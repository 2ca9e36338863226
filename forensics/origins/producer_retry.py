"""The producer, or a framework that deletes and sends again, put the same work in once more."""

from forensics.origins.dedup_window_passed import WINDOW_S
from forensics.origins.ids import IdPair
from forensics.rules.ruling import Ruling, excluded, supported, undecidable


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
    if ids.earlier_was_dead_lettered and ids.was_moved_then is None and not ids.shown_by:
        return undecidable(
            f"{ids.earlier_id} had gone to the dead-letter queue, so a redrive would explain it too",
            "the dead-letter queue's move tasks, which SQS keeps for its last ten",
        )
    when = "" if ids.sent_gap_s is None else f" {ids.sent_gap_s:g} s later"
    what = "business key" if ids.has_same_business_key else "job, by its framework's id,"
    if ids.has_same_event:
        what = "event, by its publisher's id,"
    shown = f", as {ids.shown_by} shows" if ids.shown_by else ""
    if ids.request_id:
        shown += f"; both sends were of the producer's request {ids.request_id}"
    if ids.is_only_send_logged:
        shown += "; the producer logged this send alone: its SDK had asked before and got no answer"
    return supported(f"the same {what} was sent again{when} under another message id{ids.by}{shown}")
