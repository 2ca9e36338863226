"""What a counterfactual is asked about: one repeat of the work, and what is known of the delivery before it."""

from typing import NamedTuple

from forensics.terms import INVOKED_AGAIN, TRIED_AGAIN

PREVENTED, NOT_PREVENTED, UNDECIDED = "prevented", "not_prevented", "undecided"


class Repeat(NamedTuple):
    """One delivery in which work was or may have been done again. None means "nothing tells", never zero or no.

    ``cause`` is the redelivery's primary cause, that its poller invoked the function again (``INVOKED_AGAIN``), that its worker tried it
    again (``TRIED_AGAIN``), or the origin of a second message id of the same work.
    """

    cause: str = "undecidable"
    is_fifo: bool | None = None
    earlier_kind: str | None = "lambda"
    earlier_status: str = "unknown"
    earlier_effect: str = "unknown"
    earlier_batch_count: int | None = None
    earlier_is_printed: bool = False
    earlier_is_named_failure: bool = False
    earlier_has_finish_mark: bool = False
    batch_size: int | None = None
    visibility_timeout_s: int | None = None
    has_heartbeat: bool = False
    function_timeout_s: int | None = None
    run_ms: int | None = None

    @property
    def was_alone(self) -> bool:
        """The message was the only one of its batch, for sure."""
        return self.batch_size == 1 or (self.earlier_is_printed and self.earlier_batch_count == 1)

    @property
    def is_sent_again(self) -> bool:
        """The repeat is another message, not another delivery of the same one."""
        return self.cause in ("producer_retry", "dedup_window_passed", "dlq_redrive")


class Answer(NamedTuple):
    """Whether the change would have prevented the repeat, and why."""

    outcome: str
    reason: str


def prevented(reason: str) -> Answer:
    """The repeat would not have happened."""
    return Answer(PREVENTED, reason)


def not_prevented(reason: str) -> Answer:
    """The repeat would have happened all the same."""
    return Answer(NOT_PREVENTED, reason)


def undecided(reason: str) -> Answer:
    """The evidence does not tell."""
    return Answer(UNDECIDED, reason)


CAUSE_OPEN = undecided("the evidence leaves open why the message was redelivered")
_SENT_AGAIN = not_prevented("the work came in a second message, not in a second delivery")
_SAME_RECEIVE = not_prevented(
    "the poller invoked the function again by the same receive, and no setting keeps it from that"
)
_SAME_HAND = not_prevented("its worker tried it again in one delivery, which no setting of the queue keeps it from")


def beyond_settings(repeat: Repeat) -> Answer | None:
    """Answer for every change of settings where SQS redelivered nothing; None where it did."""
    if repeat.is_sent_again:
        return _SENT_AGAIN
    return {INVOKED_AGAIN: _SAME_RECEIVE, TRIED_AGAIN: _SAME_HAND}.get(repeat.cause)
