"""The plain values that judging gives: a redelivery with its cause, a message with its verdict, a judged work."""

import msgspec

from forensics.rules.ruling import Ruled
from forensics.streams.model import Delivery
from forensics.terms import INVOKED_AGAIN


class Redelivery(msgspec.Struct, kw_only=True, array_like=True):
    """One delivery of a message beside the one before it, with every rule's answer.

    ``earlier_*`` that incidents and counterfactuals ask for stand here, so that nobody looks the earlier delivery up again.
    """

    queue_arn: str
    queue: str
    item_id: str
    delivery_index: int
    message_id: str | None
    receive_count: int | None
    is_fifo: bool | None
    earlier_received_at: int | None
    later_received_at: int | None
    gap_ms: int | None
    run_ms: int | None
    overlap_ms: int | None
    visibility_timeout_s: int | None
    earlier_kind: str | None
    earlier_status: str | None
    earlier_batch_count: int | None
    earlier_is_printed: bool
    earlier_is_named_failure: bool
    earlier_has_finish_mark: bool
    earlier_batch_size: int | None
    earlier_function_timeout_s: int | None
    cause: str
    causes: list[str]
    sentence: str
    excluded: list[str]
    would_decide: str | None
    rulings: list[Ruled]
    evidence_ids: list[str]
    is_provisional: bool = False
    earlier_has_heartbeat: bool = False
    is_one_receive: bool = False
    invoked_again_at: int | None = None

    @property
    def again_at(self) -> int | None:
        """When it came again, UTC: its receive, or where both runs had one receive, when the later one began."""
        return self.invoked_again_at if self.is_one_receive else self.later_received_at

    @property
    def came_by(self) -> str:
        """Its cause, or that it was none of SQS's: its poller had given one receive to both runs."""
        return INVOKED_AGAIN if self.is_one_receive else self.cause


class Message(msgspec.Struct, kw_only=True, array_like=True):
    """The verdict on one message; its interval is that of its work. ``last_active_at``: the end of its last run, UTC.

    ``origin_excluded`` and ``origin_open`` say which other origins of its id are out, and which are not, with why.
    ``final_at``: when the time of what is missing will have been read again; None where the interval is final.
    ``batch_position``: its first place in a printed batch. ``repeat_shown_at``: when lines that name its key alone show at the
    latest that its work was done again; None where none does.
    """

    queue_arn: str
    queue: str
    item_id: str
    message_id: str | None
    work_id: str
    verdict: str
    certainty: str
    effects_at_least: int
    effects_at_most: int | None
    deliveries: int
    receive_count: int | None
    causes: list[str]
    origin: str | None
    trigger_sentence: str
    guard_sentence: str
    effect_sentence: str
    first_received_at: int | None
    last_received_at: int | None
    last_active_at: int | None
    sent_at: int | None
    group_id: str | None
    deduplication_id: str | None
    is_dead_lettered: bool
    business_keys: list[str]
    related_message_ids: list[str]
    visibility_timeout_s: int | None
    evidence_ids: list[str]
    sender_id: str | None = None
    origin_excluded: list[str] = msgspec.field(default_factory=list)
    origin_open: list[str] = msgspec.field(default_factory=list)
    maybe_related_message_ids: list[str] = msgspec.field(default_factory=list)
    final_at: int | None = None
    batch_position: int | None = None
    repeat_shown_at: int | None = None

    @property
    def is_provisional(self) -> bool:
        """Late lines may still change the interval: until ``final_at`` at least."""
        return self.final_at is not None

    @property
    def is_beside_messages(self) -> bool:
        """It stands for lines that name a business key alone, and the messages of its work are known: those are told and counted."""
        return self.message_id is None and bool(self.related_message_ids)

    @property
    def is_redelivered(self) -> bool:
        """More than one delivery of it is seen, or its receive count tells of one."""
        return self.deliveries > 1 or (self.receive_count or 0) > 1

    @property
    def is_affected(self) -> bool:
        """The work may have been done twice: an upper bound of 2 or more, or none."""
        return self.effects_at_most is None or self.effects_at_most >= 2


class Judged(msgspec.Struct, array_like=True):
    """What judging some works gives. ``ledger`` holds each item's deliveries in order, unlogged receives among them.

    ``messages`` holds only what was delivered more than once or shares its work with another message, and what lines that
    name a key alone tell beside those (``is_beside_messages``).
    """

    ledger: list[Delivery] = msgspec.field(default_factory=list)
    redeliveries: list[Redelivery] = msgspec.field(default_factory=list)
    messages: list[Message] = msgspec.field(default_factory=list)

    @property
    def is_unfinished(self) -> bool:
        """Some message of it was not deleted in the end, as far as is known, or was set aside before."""
        mine = [d for d in self.ledger if not d.is_beside_messages]
        return any(d.ended_by != "deleted" if not d.came_again else d.ended_by == "dead_lettered" for d in mine)

    def by_work(self) -> dict[tuple[str, str], "Judged"]:
        """Return what was judged of each work, by queue ARN and work id, sorted."""
        parts: dict[tuple[str, str], Judged] = {}
        of_item: dict[tuple[str, str], Judged] = {}
        for delivery in self.ledger:
            part = parts.setdefault((delivery.queue_arn, delivery.work_id), Judged())
            part.ledger.append(delivery)
            of_item[delivery.queue_arn, delivery.item_id] = part
        for redelivery in self.redeliveries:
            of_item[redelivery.queue_arn, redelivery.item_id].redeliveries.append(redelivery)
        for message in self.messages:
            of_item[message.queue_arn, message.item_id].messages.append(message)
        return dict(sorted(parts.items()))
