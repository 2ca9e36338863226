"""Something received the message and left no log line."""

from forensics.rules.pair import DeliveryPair
from forensics.rules.ruling import Ruling, excluded, supported, undecidable
from forensics.sentence import said


def unseen_receive(pair: DeliveryPair) -> Ruling:
    """The receive count jumped without an invocation and without throttles.

    >>> unseen_receive(DeliveryPair(earlier_is_seen=False, is_throttled=False)).stance
    'supported'
    """
    if pair.earlier_is_seen:
        return excluded("the earlier delivery reached a consumer: its lines are in the log")
    if pair.is_other_receiver:
        return supported(
            said("{who} received it, who is none of those whose handlings the logs show", who=pair.earlier_receiver)
        )
    if not pair.earlier_is_watched:
        return undecidable(
            "no log shows the receive, but a run may stand in a log that was not read in full",
            "the logs of every consumer of the queue",
        )
    if pair.is_throttled and pair.earlier_receiver is not None:
        return excluded(said("{who} received it, and the function was throttled then", who=pair.earlier_receiver))
    if pair.is_throttled:
        return undecidable(
            "the function was throttled then, which would explain it; a receive by somebody else would look the same",
            "CloudTrail data events of ReceiveMessage",
        )
    if pair.is_throttled is None:
        return undecidable(
            "no log shows the receive, and the Throttles metric was not read for that time",
            "the function's Throttles metric",
        )
    if pair.earlier_receiver is not None:
        return supported(said("{who} received it, and no log shows what became of it", who=pair.earlier_receiver))
    return supported(
        "the receive count says that it was received, and no log shows by whom: a lost response, a person in the "
        "console or another consumer"
    )
