"""A small discrete simulation of SQS: queues whose time is not ours, and consumers that take turns in it.

Only what decides deliveries is here: visibility timeouts, receive counts, FIFO group locks, deduplication, retention
and the move to the dead-letter queue. All times are aware UTC datetimes.
"""

import hashlib
import heapq
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from lab.ids import Ids

DEDUPLICATION = timedelta(seconds=300)

Process = Generator[datetime, None, None]
"""A consumer or producer; it yields when it wants to go on."""


def play_out(processes: Iterable[Process], until: datetime, is_over: Callable[[], bool] = lambda: False) -> None:
    """Let every process take its turns in order of time, up to ``until``; equal times in the order given.

    It ends early where ``is_over`` says before a turn that nothing is left to happen.
    """
    agenda: list[tuple[datetime, int, Process]] = []

    def enter(turn: int, process: Process) -> None:
        if (at := next(process, None)) is not None and at <= until:
            heapq.heappush(agenda, (at, turn, process))

    for turn, process in enumerate(processes):
        enter(turn, process)
    while agenda and not is_over():
        _, turn, process = heapq.heappop(agenda)
        enter(turn, process)


@dataclass
class Message:
    """One message and what happened to it."""

    message_id: str
    body: str
    sent_at: datetime
    sender_id: str
    business_key: str | None = None
    group: str | None = None
    deduplication_id: str | None = None
    sequence_number: str | None = None
    deliveries: list["Delivery"] = field(default_factory=list)
    deleted_at: datetime | None = None
    moved_at: datetime | None = None
    expired_at: datetime | None = None

    @property
    def md5(self) -> str:
        """SQS's md5OfBody."""
        return hashlib.md5(self.body.encode(), usedforsecurity=False).hexdigest()

    @property
    def gone_at(self) -> datetime | None:
        """When it left the queue: by delete, by the move to the dead-letter queue, or because its retention ended."""
        return self.deleted_at or self.moved_at or self.expired_at

    def hidden_at(self, at: datetime) -> bool:
        """Say whether it is in flight."""
        return bool(self.deliveries) and at < self.deliveries[-1].hidden_until


@dataclass
class Delivery:
    """One message handed to one consumer; ``effect_at`` is when its work was really done, the simulation's truth."""

    message: Message
    receive_count: int
    received_at: datetime
    hidden_until: datetime
    receipt_handle: str
    consumer: str = ""
    effect_at: datetime | None = None


@dataclass(frozen=True)
class QueueSpec:
    """The settings of a queue; FIFO by its name."""

    name: str
    visibility_timeout_s: int = 30
    dead_letter_queue: str | None = None
    max_receive_count: int | None = None
    message_retention_s: int = 345_600
    receive_wait_s: int = 0

    @property
    def is_fifo(self) -> bool:
        """True for a FIFO queue."""
        return self.name.endswith(".fifo")


@dataclass
class SimulatedQueue:
    """A queue in simulated time. Messages may be sent ahead of time; nobody sees one before its ``sent_at``.

    ``empty_receives``: when a consumer's poll ended without a message; the consumer notes it.
    """

    spec: QueueSpec
    ids: Ids
    messages: list[Message] = field(default_factory=list)
    empty_receives: list[datetime] = field(default_factory=list)
    _present: list[Message] = field(default_factory=list)
    _deduplicated: dict[str, Message] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Say whether no message is left, in flight or still to be seen."""
        return not self._present

    def send(
        self,
        at: datetime,
        body: str,
        *,
        sender_id: str,
        business_key: str | None = None,
        group: str | None = None,
        deduplication_id: str | None = None,
    ) -> Message:
        """Put a message into the queue; sends come in order of time.

        A FIFO queue takes a deduplication id once in 300 s: a second send in that time gives the first message back.
        """
        earlier = self._deduplicated.get(deduplication_id or "")
        if earlier is not None and at - earlier.sent_at <= DEDUPLICATION:
            return earlier
        assert not self.messages or self.messages[-1].sent_at <= at, "sends come in order of time"
        sequence_number = self.ids.sequence_number() if self.spec.is_fifo else None
        message = Message(
            self.ids.message_id(), body, at, sender_id, business_key, group, deduplication_id, sequence_number
        )
        self.messages.append(message)
        self._present.append(message)
        if self.spec.is_fifo and deduplication_id:
            self._deduplicated[deduplication_id] = message
        return message

    def receive(self, at: datetime, limit: int, consumer: str) -> list[Delivery]:
        """Hand out up to ``limit`` messages; those received too often go to the dead-letter queue instead."""
        taken: list[Delivery] = []
        self._drop_expired(at)
        locked = {m.group for m in self._present_until(at) if m.hidden_at(at)} if self.spec.is_fifo else set()
        for message in self._present_until(at):
            if len(taken) == limit:
                break
            if message.hidden_at(at) or (self.spec.is_fifo and message.group in locked):
                continue
            if self._received_too_often(message):
                message.moved_at = at
                self._present.remove(message)
                continue
            taken.append(self._hand_out(message, at, consumer))
        return taken

    def delete(self, at: datetime, delivery: Delivery) -> Literal["deleted", "kept", "refused"]:
        """Delete with the delivery's handle. Late, FIFO refuses it; a standard queue agrees, and may keep the message."""
        message = delivery.message
        is_latest = message.deliveries[-1] is delivery
        if self.spec.is_fifo and not (is_latest and message.hidden_at(at)):
            return "refused"
        if message.gone_at is None and is_latest:
            message.deleted_at = at
            self._present.remove(message)
            return "deleted"
        return "kept"

    def next_receivable_at(self, at: datetime) -> datetime | None:
        """Say when a receive could next find something, as far as is settled now; None: never."""
        found: list[datetime] = []
        locked: dict[str | None, datetime] = {}
        for message in self._present:
            if message.hidden_at(at):
                free_at = message.deliveries[-1].hidden_until
                if self.spec.is_fifo:
                    locked[message.group] = max(free_at, locked.get(message.group, free_at))
                found.append(free_at)
            else:
                found.append(max(at, message.sent_at, locked.get(message.group, at)))
                if message.sent_at > at:
                    break
        return min(found, default=None)

    def _present_until(self, at: datetime) -> list[Message]:
        present = []
        for message in self._present:
            if message.sent_at > at:
                break
            present.append(message)
        return present

    def _drop_expired(self, at: datetime) -> None:
        """Forget what is older than the retention, in flight or not."""
        kept_from = at - timedelta(seconds=self.spec.message_retention_s)
        for message in [m for m in self._present if m.sent_at <= kept_from]:
            message.expired_at = message.sent_at + timedelta(seconds=self.spec.message_retention_s)
            self._present.remove(message)

    def _received_too_often(self, message: Message) -> bool:
        return self.spec.max_receive_count is not None and len(message.deliveries) >= self.spec.max_receive_count

    def _hand_out(self, message: Message, at: datetime, consumer: str) -> Delivery:
        hidden_until = at + timedelta(seconds=self.spec.visibility_timeout_s)
        delivery = Delivery(message, len(message.deliveries) + 1, at, hidden_until, self.ids.receipt_handle(), consumer)
        message.deliveries.append(delivery)
        return delivery
