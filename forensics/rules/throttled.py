"""The poller received the message but could not invoke the function."""

from forensics.rules.pair import DeliveryPair
from forensics.rules.ruling import Ruling, excluded, supported, undecidable
from forensics.sentence import said


def throttled(pair: DeliveryPair) -> Ruling:
    """The receive count jumped without an invocation while the function was throttled.

    >>> throttled(DeliveryPair(earlier_is_seen=False, is_throttled=True)).stance
    'supported'
    """
    if pair.earlier_is_seen:
        return excluded("the earlier delivery reached a consumer: its lines are in the log")
    if pair.is_other_receiver:
        return excluded(said("{who} received it, not the function's poller", who=pair.earlier_receiver))
    if pair.is_throttled and not pair.earlier_is_watched:
        return undecidable(
            "the function's Throttles were above zero, but a run may stand in a log that was not read in full",
            "the logs of every consumer of the queue",
        )
    if pair.is_throttled:
        return supported("the receive count rose without a run while the function's Throttles were above zero")
    if pair.is_throttled is False:
        return excluded("the function's Throttles metric shows none in that time")
    return undecidable("the Throttles metric was not read for that time", "the function's Throttles metric")
