"""The producer sent the same deduplication id again after its five minutes had passed."""

from forensics.origins.ids import IdPair
from forensics.rules.ruling import Ruling, excluded, supported, undecidable
from forensics.sentence import said

WINDOW_S = 300
"""For so long a FIFO queue drops a second send of one deduplication id."""


def dedup_window_passed(ids: IdPair) -> Ruling:
    """FIFO, the same deduplication id, sends more than 300 s apart.

    >>> dedup_window_passed(IdPair(is_fifo=True, has_same_deduplication_id=True, sent_gap_s=420)).stance
    'supported'
    """
    if ids.is_fifo is False:
        return excluded("a standard queue has no deduplication window")
    if ids.has_same_deduplication_id is False:
        return excluded("the two messages have no deduplication id in common")
    if ids.is_missing_send:
        return excluded("its producers log every send, their lines of that time were read whole, and none is of it")
    if ids.sent_gap_s is None:
        return undecidable("nothing tells when both were sent", "SentTimestamp in the printed batch")
    told = {"gap": f"{ids.sent_gap_s:g} s", "id": ids.earlier_id, "window": f"{WINDOW_S} s"}
    if ids.sent_gap_s <= WINDOW_S:
        return excluded(said("it was sent {gap} after {id}, inside the {window} window", **told))
    if ids.has_same_deduplication_id is None:
        return undecidable(
            said("it was sent {gap} after {id}; nothing shows their deduplication ids", **told),
            "MessageDeduplicationId in the printed batch",
        )
    if ids.is_id_of_body:
        return undecidable(
            said(
                "it was sent {gap} after {id} under the same deduplication id, which may be the hash of its body alone; an equal "
                "body may stand for more than one piece of work",
                **told,
            ),
            "business_key of the queue in the settings file",
        )
    if ids.may_be_other_work:
        return undecidable(
            said(
                "it was sent {gap} after {id} under the same deduplication id, with a body that differs only in times, attempts or "
                "request ids; the id may stand for more than one piece of work",
                **told,
            ),
            "business_key of the queue in the settings file",
        )
    return supported(
        said(
            "it was sent {gap} after {id} under the same deduplication id; SQS drops a second send for {window} only{by}",
            **told,
            by=ids.by,
        )
    )
