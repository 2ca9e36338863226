"""What an origin rule is asked about: one message id of a work beside an earlier id of the same work."""

from typing import NamedTuple

from forensics.sentence import said


class IdPair(NamedTuple):
    """Plain values; None always means "nothing tells". ``sent_gap_s`` lies between the two sends.

    ``is_named_after_earlier``: the deduplication id of the later message is the earlier one's message id, which is what
    SQS puts on a message that moves to a FIFO dead-letter queue. ``was_moved_then``: a move task out of the queue's
    dead-letter queue was on when the later message was sent. ``has_same_job_id``: a worker framework's own id of the work,
    ``shown_by``: the record of the SendMessage that gave the later message its id, in words; ``request_id``: the producer's own
    request that its lines name for both sends; ``is_only_send_logged``: its producer, who logs every send, logged the later
    one and not the earlier; ``is_missing_send``: nor the later one. ``has_same_event``: their business key is the id that SNS, EventBridge or S3 gave the event.
    ``earlier_was_dead_lettered`` is None where it may have been: while a consumer's log was not read, or with settings that nothing tells.
    ``may_be_other_work``: the deduplication id is all that they share, and the bodies differ in times, attempts or request ids,
    or (``is_id_of_body``) that id may be the hash of their equal body.
    """

    earlier_id: str = "another message"
    is_fifo: bool | None = None
    has_same_deduplication_id: bool | None = False
    has_same_business_key: bool = False
    has_same_job_id: bool = False
    has_same_event: bool = False
    has_same_body: bool | None = None
    may_be_other_work: bool = False
    is_id_of_body: bool = False
    is_named_after_earlier: bool = False
    earlier_was_dead_lettered: bool | None = False
    was_moved_then: bool | None = None
    sent_gap_s: float | None = None
    shown_by: str | None = None
    request_id: str | None = None
    is_only_send_logged: bool = False
    is_missing_send: bool = False
    sender: str | None = None
    earlier_sender: str | None = None

    @property
    def by(self) -> str:
        """Say who sent the later message, as SQS's SenderId tells: a user's id, a role's id and session, an account."""
        if self.sender is None:
            return ""
        if self.earlier_sender in (None, self.sender):
            return said(
                ", both by {sender}" if self.earlier_sender else ", the later one by {sender}", sender=self.sender
            )
        return said(", by {sender}, and the first time by {earlier}", sender=self.sender, earlier=self.earlier_sender)
