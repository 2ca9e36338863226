"""FIFO groups that stood still behind a failed delivery, and who waited."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush, nsmallest
from typing import NamedTuple

from forensics.queue_findings.candidate import Candidate
from forensics.queue_findings.holding import is_holding
from forensics.queue_rules import QueueFacts
from forensics.streams.model import Delivery

MOST_IDS = 1000
"""Of more messages that waited, the first ids are told."""


@dataclass(slots=True)
class _Run:
    """What one consumer did with the messages of the group: it held it, or something got through, or both."""

    consumer: str
    received_at: int
    freed_at: int
    got_through: bool
    held: list[Delivery]


@dataclass(slots=True)
class _Stop:
    """A row of failed runs in which nothing got through but, at most, a part of the first one's batch."""

    runs: list[_Run] = field(default_factory=list)
    until_at: int | None = None

    @property
    def from_at(self) -> int:
        return self.runs[0].freed_at

    @property
    def held(self) -> list[Delivery]:
        return [delivery for run in self.runs for delivery in run.held]

    @property
    def took_time(self) -> bool:
        """The group was not received again before the first run was done, nor free by then."""
        if self.until_at is not None:
            return self.until_at > self.from_at
        return any(d.hidden_until_at is not None and d.hidden_until_at > self.from_at for d in self.held)


class _FirstReceive(NamedTuple):
    """When a message of the group was first received, and the line that shows it; these sort by themselves."""

    at: int
    evidence_id: str
    item_id: str
    message_id: str | None
    sent_at: int | None


def blocked_groups(deliveries: Sequence[Delivery], incident_of: Mapping[str, str]) -> list[Candidate]:
    """One candidate per span in which nothing of a FIFO group got through: from the end of the first failed run of a row
    of failed runs until a run was handed something that it did finish, or until nothing more is seen.

    ``deliveries`` are all of one FIFO group that the logs name; a message without its group claims nothing.
    ``incident_of`` says to which incident a message of the queue belongs, by item id.
    """
    seen = [d for d in deliveries if d.is_seen and d.received_at is not None]
    stops = [stop for stop in _stops(_runs(seen)) if stop.took_time]
    if not stops:
        return []
    backlog = _Backlog(seen, [stop.until_at for stop in stops if stop.until_at is not None])
    return [_candidate(stop, backlog, incident_of) for stop in stops]


def _runs(seen: Iterable[Delivery]) -> list[_Run]:
    """Return what each consumer did with the group, in the order of their receives."""
    by_consumer: dict[str, list[Delivery]] = {}
    for delivery in seen:
        by_consumer.setdefault(delivery.consumer or "", []).append(delivery)
    runs = []
    for consumer, mine in by_consumer.items():
        held = sorted(filter(is_holding, mine), key=_place_in_batch)
        runs.append(
            _Run(
                consumer,
                received_at=min(_received_at(d) for d in mine),
                freed_at=max(max(_received_at(d), d.run_ended_at or 0) for d in mine),  # clocks may differ
                got_through=len(held) < len(mine),
                held=held,
            )
        )
    return sorted(runs, key=lambda run: (run.received_at, run.consumer))


def _received_at(delivery: Delivery) -> int:
    assert delivery.received_at is not None  # only such were taken
    return delivery.received_at


def _place_in_batch(delivery: Delivery) -> tuple[int, str]:
    return (delivery.batch_position or 0, delivery.item_id)


def _stops(runs: Sequence[_Run]) -> Iterator[_Stop]:
    """Yield each row of failed runs; its end is the receive of the run after the last of them."""
    current = _Stop()
    for place, run in enumerate(runs):
        if run.got_through and current.runs:
            yield current
            current = _Stop()
        if run.held:
            current.runs.append(run)
            current.until_at = runs[place + 1].received_at if place + 1 < len(runs) else None
    if current.runs:
        yield current


class _Backlog:
    """Who waited in a group: its messages by their first receive."""

    def __init__(self, seen: Iterable[Delivery], ends: Iterable[int]) -> None:
        """``ends`` are those of the stops that will be asked about."""
        self._firsts = sorted(_first_receives(seen))
        self._untold_until = max((f.at for f in self._firsts if f.sent_at is None), default=None)
        self._behind = dict(_behind(self._firsts, ends))

    def waiting(self, end: int) -> tuple[int | None, list[str]]:
        """Return how many messages were sent before a stop's end and received only then, and their ids.

        None where no send time of what was received then is known that would tell.
        """
        count, ids = self._behind[end]
        is_untold = count == 0 and self._untold_until is not None and self._untold_until >= end
        return None if is_untold else count, ids

    def next_evidence_id(self, end: int) -> str | None:
        """Return the line that shows the first message which came only after the stop."""
        place = bisect_left(self._firsts, (end,))
        return self._firsts[place].evidence_id if place < len(self._firsts) else None


def _first_receives(seen: Iterable[Delivery]) -> Iterator[_FirstReceive]:
    by_item: dict[str, list[Delivery]] = {}
    for delivery in seen:
        by_item.setdefault(delivery.item_id, []).append(delivery)
    for item_id, mine in by_item.items():
        first = min(mine, key=lambda d: (_received_at(d), d.evidence_ids))
        yield _FirstReceive(
            _received_at(first),
            first.evidence_ids[0],
            item_id,
            max((d.message_id for d in mine if d.message_id is not None), default=None),
            min((d.sent_at for d in mine if d.sent_at is not None), default=None),
        )


def _behind(firsts: Iterable[_FirstReceive], ends: Iterable[int]) -> Iterator[tuple[int, tuple[int, list[str]]]]:
    """Yield, per end of a stop, how many messages were sent before it and first received from it on, and their ids.

    One pass in the order of sending, so that many stops of a long group do not each look at all of it.
    """
    by_sending = sorted((f.sent_at, f.at, f.item_id, f.message_id) for f in firsts if f.sent_at is not None)
    sent = 0
    not_received: list[tuple[int, str, str | None]] = []
    for end in sorted(set(ends)):
        while sent < len(by_sending) and by_sending[sent][0] < end:
            heappush(not_received, by_sending[sent][1:])
            sent += 1
        while not_received and not_received[0][0] < end:
            heappop(not_received)
        ids = {message_id for _, _, message_id in not_received if message_id is not None}
        yield end, (len(not_received), nsmallest(MOST_IDS, ids))


def _candidate(stop: _Stop, backlog: _Backlog, incident_of: Mapping[str, str]) -> Candidate:
    held, blocker = stop.held, stop.runs[0].held[0]
    count, ids = (0, []) if stop.until_at is None else backlog.waiting(stop.until_at)
    shown = None if stop.until_at is None else backlog.next_evidence_id(stop.until_at)
    return Candidate(
        code="fifo_group_blocked",
        queue_arn=blocker.queue_arn,
        queue=blocker.queue,
        item_id=blocker.item_id,
        message_id=blocker.message_id,
        group_id=blocker.group_id,
        from_at=stop.from_at,
        until_at=stop.until_at,
        message_count=count,
        message_ids=ids,
        business_keys=[key for d in held for key in d.business_keys],
        evidence_ids=[i for d in held for i in d.evidence_ids] + [i for i in (shown,) if i is not None],
        facts=QueueFacts(
            waiting_count=count,
            is_going_on=any(d.ended_by == "in_flight" for d in stop.runs[-1].held),
        ),
        incident_id=max((incident_of[d.item_id] for d in held if d.item_id in incident_of), default=None),
    )
