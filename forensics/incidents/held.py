"""How long failed deliveries held their FIFO message groups."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

_FAILED = frozenset({"visibility_expired", "delete_refused", "dead_lettered"})
"""Ends of a delivery after which its group waits until the message is visible again."""


class GroupDelivery(NamedTuple):
    """A delivery of a FIFO queue that a log shows, as narrow as holding can do with."""

    group_id: str | None
    consumer: str | None
    received_at: int | None
    run_ended_at: int | None
    hidden_until_at: int | None
    ended_by: str
    item_id: str


@dataclass(slots=True)
class _Handling:
    """What one consumer had of one group; ``incident_id`` is that of a message it failed, the last by name."""

    consumer: str
    received_at: int | None = None
    freed_at: int | None = None
    hidden_until_at: int | None = None
    incident_id: str | None = None

    def add(self, delivery: GroupDelivery, incident_id: str | None) -> None:
        received_at = delivery.received_at
        self.received_at = _known(min, self.received_at, received_at)
        self.freed_at = _known(
            max, self.freed_at, received_at if delivery.run_ended_at is None else delivery.run_ended_at
        )
        self.hidden_until_at = _known(max, self.hidden_until_at, delivery.hidden_until_at)
        if incident_id is not None and delivery.ended_by in _FAILED:
            self.incident_id = max(self.incident_id or "", incident_id)


def held_ms(deliveries: Iterable[GroupDelivery], affected: Mapping[str, str]) -> dict[str, int]:
    """Return per incident how long failed deliveries of one queue held their groups.

    That is from the end of a run to the group's next receive; where there is none, to the end of the visibility timeout.
    ``affected`` has the incident of each affected item. ``deliveries`` are all of every group with such an item; groups
    without one are passed over. Deliveries of which nothing tells the group share one.
    """
    by_group: dict[str, dict[str, _Handling]] = {}
    groups: set[str] = set()
    for delivery in deliveries:
        group, consumer = delivery.group_id or "", delivery.consumer or ""
        of_consumer = by_group.setdefault(group, {})
        handling = of_consumer.get(consumer)
        if handling is None:
            handling = of_consumer[consumer] = _Handling(consumer)
        incident_id = affected.get(delivery.item_id)
        if incident_id is not None:
            groups.add(group)
        handling.add(delivery, incident_id)
    held: dict[str, int] = {}
    for group in groups:
        handlings = sorted(by_group[group].values(), key=_by_receive)
        for handling, following in zip(handlings, [*handlings[1:], None], strict=True):
            if handling.incident_id is not None:
                held[handling.incident_id] = held.get(handling.incident_id, 0) + _waited_ms(handling, following)
    return held


def _known(choose: Callable[[int, int], int], one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return other if one is None else one
    return choose(one, other)


def _by_receive(handling: _Handling) -> tuple[int, str]:
    return -1 if handling.received_at is None else handling.received_at, handling.consumer


def _waited_ms(handling: _Handling, following: _Handling | None) -> int:
    next_at = following.received_at if following else None
    if next_at is None:
        next_at = handling.hidden_until_at
    if next_at is None or handling.freed_at is None:
        return 0
    return max(next_at // 1000 - handling.freed_at // 1000, 0)
