"""The delete after the work failed for another reason than an expired handle."""

from forensics.rules.pair import DeliveryPair
from forensics.rules.ruling import NO_LOG_OF_EARLIER, Ruling, clocks_apart, excluded, supported
from forensics.sentence import said

_REASONS = {
    "gone": "the message was no longer there for this handle",
    "garbage": "the receipt handle was not valid",
    "wrong_queue": "the receipt handle was of another queue",
    "other": "SQS or the network failed it",
}


def delete_failed(pair: DeliveryPair) -> Ruling:
    """A delete error of another kind stands in the earlier consumer's log.

    >>> delete_failed(DeliveryPair(earlier_delete_reason="other")).stance
    'supported'
    """
    if not pair.earlier_is_seen:
        return NO_LOG_OF_EARLIER
    if pair.earlier_delete_reason in _REASONS and pair.was_received_while_running:
        return excluded("it was visible again before the delete failed")
    if pair.earlier_delete_reason in _REASONS and pair.clocks_words is not None:
        return clocks_apart(pair.clocks_words)
    if pair.earlier_delete_reason in _REASONS:
        return supported(said("the delete after the work failed: {what}", what=_REASONS[pair.earlier_delete_reason]))
    if pair.earlier_delete_reason == "expired":
        return excluded("the delete was refused because the handle had expired")
    return excluded("no failed delete is in the earlier consumer's log")
