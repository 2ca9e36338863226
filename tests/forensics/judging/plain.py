"""Deliveries and surroundings of which a test says only what matters to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from forensics.judging.calls import Calls
from forensics.judging.guard_records import GuardRecords
from forensics.judging.order import Order
from forensics.judging.sends import Sends
from forensics.judging.task_stops import TaskStops
from forensics.settings_in_force import SettingsInForce
from forensics.streams.model import Delivery

S = 1_000_000
"""A second in microseconds."""
MIN = 60 * S
LATE = 10_000 * MIN
"""Long after everything that tests let happen."""


def delivery(item_id: str = "m1", **facts) -> Delivery:
    """A message received by a run of a plain function that ended in success, of which nothing more is known."""
    is_key = item_id.startswith("key:")
    known = {
        "message_id": None if is_key else item_id,
        "queue_arn": "arn:aws:sqs:eu-west-1:123456789012:orders",
        "queue": "orders",
        "consumer": "run 1",
        "consumer_kind": "lambda",
        "log_group": "/aws/lambda/charge",
        "log_stream": "stream",
        "run_status": "success",
        "is_durable": False,
        "received_at": 0,
        "received_basis": "run_start",
    }
    return Delivery(item_id=item_id, **{**known, **facts})


class Final:
    """Every time was read again, and no line of it is still to come."""

    def of_groups(self, log_groups, start, end):
        return None

    def of_queue(self, queue_arn, start, end):
        return None


@dataclass
class Around:
    """Surroundings in which nothing happened and nobody looked, but for what a test says; ``asked`` are the throttles' spans."""

    read: dict[str, tuple[int, int]] = field(default_factory=lambda: {"/aws/lambda/charge": (-LATE, LATE)})
    throttles: tuple[bool | None, list[str]] = (None, [])
    would_be_logged: bool = False
    workers_read: bool = False
    unread: tuple[int, int] | None = None
    grown_at: tuple[int, ...] = ()
    polled_at: int | None = None
    moved_from: int | None = None
    dead_letter_sources: Mapping[str, Sequence[str]] = field(default_factory=dict)
    consumed: frozenset[tuple[str, str]] = frozenset()
    queues: Mapping[str, set[str]] = field(default_factory=dict)
    groups_with_guard_lines: frozenset[str] = frozenset()
    groups_without_effects: frozenset[str] = frozenset()
    groups_telling_once: frozenset[str] = frozenset()
    order: Order = Order()
    given_back: bool | None = None
    asked: list[tuple] = field(default_factory=list)
    finality: Final = field(default_factory=Final)
    calls: Calls = field(default_factory=Calls)
    guard_records: GuardRecords = field(default_factory=GuardRecords)
    sends: Sends = field(default_factory=Sends)
    task_stops: TaskStops = field(default_factory=TaskStops)
    in_force: SettingsInForce = field(default_factory=lambda: SettingsInForce([], [], []))

    def was_polled(self, queue_arn, at, until):
        return self.polled_at is not None and self.polled_at >= at

    @property
    def has_move_tasks(self):
        return self.moved_from is not None

    def is_queue_known(self, delivery):
        return delivery.queue_arn != delivery.log_group

    def queues_of(self, delivery):
        return self.queues.get(delivery.log_group, set())

    is_of_one_queue = is_queue_known

    def hides_no_work(self, queue_arn):
        return False

    def read_span(self, log_group):
        return self.read.get(log_group)

    def shows_no_effect(self, log_group, function_name):
        return log_group in self.groups_without_effects

    def tells_effect_once(self, log_group):
        return log_group in self.groups_telling_once

    def shows_guard_lines(self, log_group, function_name):
        return log_group in self.groups_with_guard_lines

    def order_of(self, log_group, function_name):
        return self.order

    def was_given_back(self, delivery):
        return self.given_back, []

    def throttled(self, queue_arn, start, end):
        self.asked.append((start, end))
        return self.throttles

    def is_watched(self, queue_arn, after, before):
        return self.would_be_logged and after is not None and before is not None

    def shows_all_work(self, queue_arn, after, before, own_starts=()):
        return self.is_watched(queue_arn, after, before)

    def names_messages(self, queue_arn, after, before, own_starts=()):
        return self.is_watched(queue_arn, after, before)

    def are_workers_read(self, queue_arn, after, before):
        return self.workers_read

    def may_have_been_missed(self, queue_arn, after, before, log_group):
        is_early = self.unread is not None and (before is None or self.unread[0] < before)
        return is_early and self.unread[1] > after

    def has_dead_letter_sign(self, dead_letter_queue_arn, hidden_until):
        return hidden_until in self.grown_at

    def was_moved(self, queue_arn, sent_at):
        """Whatever was sent from ``moved_from`` on was brought by a move task."""
        return None if self.moved_from is None else sent_at is not None and sent_at >= self.moved_from
