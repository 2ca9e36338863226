"""A longer visibility timeout: the message stays hidden while its consumer works."""

from forensics.counterfactuals.repeat import (
    CAUSE_OPEN,
    Answer,
    Repeat,
    beyond_settings,
    not_prevented,
    prevented,
    undecided,
)
from forensics.limits import LONGEST_VISIBILITY_S
from forensics.run_ends import FAILED
from forensics.sentence import said


def longer_visibility(repeat: Repeat) -> Answer:
    """Would it have come again, had the message stayed hidden for longer?

    >>> longer_visibility(Repeat(cause="handle_expired", visibility_timeout_s=30, run_ms=43_200)).reason
    'the run took 43.2 s; a visibility timeout above that would have kept the message hidden until its delete'
    >>> longer_visibility(Repeat(cause="batch_collateral", earlier_status="timeout")).outcome
    'not_prevented'
    """
    if (answer := beyond_settings(repeat)) is not None:
        return answer
    if repeat.cause in ("visibility_expired", "handle_expired") and repeat.has_heartbeat:
        return not_prevented("heartbeats set the visibility timeout, whatever the queue's is; the last one had run out")
    if repeat.cause in ("visibility_expired", "handle_expired"):
        if repeat.run_ms is not None and repeat.run_ms >= LONGEST_VISIBILITY_S * 1000:
            return not_prevented("the run took longer than the 12 hours that SQS can hide a message")
        if repeat.run_ms is None:
            return prevented("a visibility timeout above that would have kept the message hidden until its delete")
        took = (
            "the run took {span}; a visibility timeout above that would have kept the message hidden until its delete"
        )
        return prevented(said(took, span=f"{repeat.run_ms / 1000:g} s"))
    if repeat.cause == "undecidable":
        return CAUSE_OPEN
    if repeat.cause == "unseen_receive":
        return undecided("nothing tells how long whoever received it worked on it")
    if repeat.cause == "released":
        return not_prevented("the consumer itself cut the visibility timeout short")
    if repeat.earlier_status in FAILED:
        return not_prevented(
            "a failed run deletes nothing; the message would have been redelivered all the same, only later"
        )
    return not_prevented("the message was still hidden when its run ended")
