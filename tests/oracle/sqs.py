"""A simulated SQS queue, standard or FIFO, as the service behaves (not as its emulators do)."""

import base64
import hashlib
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any
from uuid import UUID

from tests.oracle.simulation import Simulation

DEDUPLICATION_MS = 300_000


class HandleExpiredError(Exception):
    """A FIFO queue refused a handle whose visibility timeout has ended."""


@dataclass
class Message:
    """One message in a queue; ``receive_count`` survives the move to a dead-letter queue."""

    message_id: str
    body: str
    sent_ms: int
    sequence: int
    group_id: str | None = None
    deduplication_id: str | None = None
    receive_count: int = 0
    first_receive_ms: int | None = None
    visible_at: int = 0
    is_deleted: bool = False
    handle: str | None = None
    moved_from: str | None = None

    @property
    def body_md5(self) -> str:
        """SQS's md5OfBody."""
        return hashlib.md5(self.body.encode()).hexdigest()


@dataclass(frozen=True)
class Receipt:
    """One receive of one message: what the consumer gets."""

    message: Message
    handle: str
    receive_count: int
    received_ms: int
    visible_again_ms: int
    queue: "Queue"
    moved_from: str | None  # as it was then: a durable function's later runs print what the first was given
    deduplication_id: str | None


@dataclass(frozen=True)
class CallRecord:
    """What CloudTrail may keep of one call: one message of it, None where a receive found none."""

    at_ms: int
    operation: str
    actor: str
    message: Message | None = None
    handle: str | None = None
    visibility_ms: int | None = None
    is_refused: bool = False


@dataclass
class Queue:
    """A queue; consumers call receive, delete and change_visibility, times are the simulation's."""

    simulation: Simulation
    rng: random.Random
    name: str
    visibility_ms: int
    is_fifo: bool = False
    max_receive_count: int | None = None
    dead_letter_queue: "Queue | None" = None
    retention_ms: int = 345_600_000
    copy_rate: float = 0.0
    deduplicates_in_groups: bool = False
    account_id: str = "123456789012"
    region: str = "eu-west-1"
    messages: list[Message] = field(default_factory=list)
    on_receive: Callable[[Receipt], None] | None = None
    on_dead_letter: Callable[[Message], None] | None = None
    calls: list[CallRecord] = field(default_factory=list)
    sent_count: int = 0
    deleted_count: int = 0
    empty_receives: Counter[int] = field(default_factory=Counter)  # by minute since 1970
    _seen: dict[str, int] = field(default_factory=dict)
    _left: dict[str, Message] = field(default_factory=dict)  # those of ``messages`` that are not deleted
    _oldest_ms: int | None = None

    @property
    def arn(self) -> str:
        """The queue's ARN."""
        return f"arn:aws:sqs:{self.region}:{self.account_id}:{self.name}"

    @property
    def url(self) -> str:
        """The queue's URL."""
        return f"https://sqs.{self.region}.amazonaws.com/{self.account_id}/{self.name}"

    def _note(
        self, operation: str, actor: str, message: Message | None, handle: str | None = None, **said: Any
    ) -> None:
        self.calls.append(CallRecord(self.simulation.now, operation, actor, message, handle, **said))

    def send(
        self, body: str, group_id: str | None = None, deduplication_id: str | None = None, by: str = "producer"
    ) -> Message | None:
        """Take a message in; None where a FIFO queue drops it as a duplicate of the last five minutes."""
        now = self.simulation.now
        self.sent_count += 1
        if self.is_fifo:
            assert group_id and deduplication_id
            scope = f"{group_id} {deduplication_id}" if self.deduplicates_in_groups else deduplication_id
            last = self._seen.get(scope)
            if last is not None and now - last < DEDUPLICATION_MS:
                return None
            self._seen[scope] = now
        message_id = str(UUID(int=self.rng.getrandbits(128), version=4))
        sequence = 18_870_000_000_000_000_000 + now * 256 + len(self.messages)
        message = Message(message_id, body, now, sequence, group_id, deduplication_id, visible_at=now)
        self._take_in(message)
        self._note("SendMessage", by, message)
        return message

    @property
    def is_drained(self) -> bool:
        """No message is left, hidden ones included."""
        return not self._left

    def receive(self, limit: int = 1, visibility_ms: int | None = None, by: str = "consumer") -> list[Receipt]:
        """Hand out up to ``limit`` messages; one that was received max_receive_count times moves away instead."""
        now, hidden_ms = self.simulation.now, self.visibility_ms if visibility_ms is None else visibility_ms
        self._expire()
        taken: list[Receipt] = []
        waiting = self._waiting()
        locked = (
            {m.group_id for m in self._left.values() if self._is_in_flight(m)} if self.is_fifo and waiting else set()
        )
        for message in waiting:
            if len(taken) == limit:
                break
            if self.is_fifo and message.group_id in locked:
                continue
            if not self._is_visible(message) and not self._is_copied(message):
                continue
            if self._is_over(message):
                self._move(message)
                continue
            message.receive_count += 1
            message.first_receive_ms = message.first_receive_ms or now
            message.visible_at = now + hidden_ms
            message.handle = self._new_handle()
            visible_at, moved_from, deduplication_id = message.visible_at, message.moved_from, message.deduplication_id
            taken.append(
                Receipt(
                    message, message.handle, message.receive_count, now, visible_at, self, moved_from, deduplication_id
                )
            )
        self.empty_receives[now // 60_000] += not taken
        for receipt in taken:
            self._note("ReceiveMessage", by, receipt.message, receipt.handle)
            if self.on_receive:
                self.on_receive(receipt)
        return taken

    def delete(self, receipt: Receipt) -> bool:
        """Delete by handle; tells whether the message is gone. Raises HandleExpiredError on FIFO queues only."""
        message, now = receipt.message, self.simulation.now
        latest = message.handle == receipt.handle
        is_refused = self.is_fifo and not message.is_deleted and (not latest or now >= message.visible_at)
        self._note("DeleteMessage", "consumer", message, receipt.handle, is_refused=is_refused)
        if is_refused:
            raise HandleExpiredError
        is_here = message.message_id in self._left  # not in the dead-letter queue by now
        if not message.is_deleted and (latest or self.rng.random() < 0.5) and is_here:
            self.drop(message)
        self.deleted_count += 1
        return message.is_deleted

    def change_visibility(self, receipt: Receipt, visibility_ms: int) -> None:
        """Hide for so long from now on; 0 releases. Raises HandleExpiredError on FIFO queues only."""
        message, now = receipt.message, self.simulation.now
        in_time = message.handle == receipt.handle and now < message.visible_at
        is_refused = self.is_fifo and not in_time
        self._note(
            "ChangeMessageVisibility",
            "consumer",
            message,
            receipt.handle,
            visibility_ms=visibility_ms,
            is_refused=is_refused,
        )
        if is_refused:
            raise HandleExpiredError
        if in_time and not message.is_deleted:
            message.visible_at = now + visibility_ms

    def drop(self, message: Message) -> None:
        """Let a message be gone."""
        message.is_deleted = True
        self._left.pop(message.message_id, None)

    def _take_in(self, message: Message) -> None:
        self.messages.append(message)
        self._left[message.message_id] = message
        self._oldest_ms = message.sent_ms if self._oldest_ms is None else min(self._oldest_ms, message.sent_ms)

    def _waiting(self) -> list[Message]:
        """Return the messages in the order in which this queue hands them out, if it may hand out any."""
        left = list(self._left.values())
        is_any_visible = any(self._is_visible(m) for m in left)  # most polls find nothing
        if self.is_fifo:
            return left if is_any_visible else []
        order = [m.sequence + self.rng.randrange(3000) * 256 for m in left]
        if is_any_visible or self.copy_rate:
            left = [m for _, m in sorted(zip(order, left, strict=True), key=itemgetter(0))]
        return left

    def _is_visible(self, message: Message) -> bool:
        return message.visible_at <= self.simulation.now

    def _is_in_flight(self, message: Message) -> bool:
        return message.receive_count > 0 and not self._is_visible(message)

    def _is_copied(self, message: Message) -> bool:
        return not self.is_fifo and self.rng.random() < self.copy_rate

    def _is_over(self, message: Message) -> bool:
        return self.max_receive_count is not None and message.receive_count >= self.max_receive_count

    def _move(self, message: Message) -> None:
        self.messages.remove(message)
        del self._left[message.message_id]
        message.handle = None
        if self.dead_letter_queue is not None:
            message.moved_from = self.arn
            if self.is_fifo:
                message.deduplication_id = message.message_id
            self.dead_letter_queue._take_in(message)
        if self.on_dead_letter:
            self.on_dead_letter(message)

    def _expire(self) -> None:
        now = self.simulation.now
        if self._oldest_ms is not None and now - self._oldest_ms > self.retention_ms:
            for message in [m for m in self._left.values() if now - m.sent_ms > self.retention_ms]:
                self.drop(message)

    def _new_handle(self) -> str:
        return "AQEB" + base64.b64encode(self.rng.randbytes(198)).decode()
