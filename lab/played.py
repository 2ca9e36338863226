"""What a scenario leaves behind: where to look for the incident, and the truth to judge the answer by."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from lab.simulation import Message, SimulatedQueue


@dataclass(frozen=True)
class DeliveryTruth:
    """One delivery as it really was; ``effect_at`` is None where the work was not done in it."""

    receive_count: int
    received_at: datetime
    effect_at: datetime | None


@dataclass(frozen=True)
class MessageTruth:
    """One message as it really was; the product never sees this."""

    queue: str
    message_id: str
    business_key: str | None
    deliveries: tuple[DeliveryTruth, ...]
    dead_lettered_at: datetime | None

    @property
    def effects(self) -> int:
        """How often the work was really done."""
        return sum(1 for delivery in self.deliveries if delivery.effect_at is not None)


@dataclass(frozen=True)
class Played:
    """A scenario that has been played. Times are aware UTC; the window holds everything that was logged."""

    scenario: str
    story: str
    queues: tuple[str, ...]
    log_groups: tuple[str, ...]
    """Workers' groups as ``--log-group`` takes them, GROUP=QUEUE; functions' groups are found by themselves."""
    settings_text: str
    window_start: datetime
    window_end: datetime
    truths: tuple[MessageTruth, ...]
    books: str = ""
    """The ledger of whoever was asked to do the work, as CSV: what really was done; empty where there is none."""

    def truth(self, message_id: str) -> MessageTruth:
        """Return the truth about one message; raises KeyError for an id that was never sent."""
        for truth in self.truths:
            if truth.message_id == message_id:
                return truth
        raise KeyError(message_id)

    def delivered_again(self, queue: str) -> tuple[MessageTruth, ...]:
        """Return the messages of a queue that were delivered more than once, in the order they were sent."""
        return tuple(t for t in self.truths if t.queue == queue and len(t.deliveries) > 1)


def truths_of(queues: Iterable[SimulatedQueue]) -> tuple[MessageTruth, ...]:
    """Take down the truth about every message of simulated queues."""
    return tuple(_truth(queue.spec.name, message) for queue in queues for message in queue.messages)


def _truth(queue: str, message: Message) -> MessageTruth:
    deliveries = tuple(DeliveryTruth(d.receive_count, d.received_at, d.effect_at) for d in message.deliveries)
    return MessageTruth(queue, message.message_id, message.business_key, deliveries, message.moved_at)
