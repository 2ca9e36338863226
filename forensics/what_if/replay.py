"""The replay: a queue with visibility timeouts and a poller in front of runs, event by event (SimPy)."""

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush
from math import inf
from typing import Any

import simpy

from forensics.what_if.model import Attempt, Observed, Outcome, Setup

MESSAGE, MOMENT = "message", "moment"
"""What slowness goes with: with the message, as if its work were slow whenever it is done, or with the moment, as if the
provider were slow then, whatever it is asked."""

POLL_S = 0.02
"""How long a poller takes to answer a message that became visible: what is visible together is taken together."""


@dataclass(slots=True)
class _Message:
    seen: Observed
    place: int
    count: int = 0
    done: int = 0
    deleted: bool = False
    first_done_s: float | None = None
    receipt: int = 0


@dataclass
class _Group:
    place: int
    is_ordered: bool
    waiting: deque[_Message] = field(default_factory=deque)
    held: int = 0
    held_by_failure_from: float | None = None
    is_offered: bool = False


class Replay:
    """One replay of some messages under one setup; ``goes_with`` says what slowness goes with (MESSAGE or MOMENT).

    It ends one visibility timeout after the last that was observed: of what would have come later nothing is known.
    """

    def __init__(
        self, messages: Sequence[Observed], setup: Setup, goes_with: str = MESSAGE, overhead_s: float = 0.0
    ) -> None:
        self.setup, self.goes_with, self.overhead_s = setup, goes_with, overhead_s
        self.messages = [_Message(seen, place) for place, seen in enumerate(messages)]
        self.start_s = min((m.seen.sent_at_s for m in self.messages), default=0.0)
        ends = [a.at_s + a.took_s for m in messages for a in m.attempts]
        self.until_s = max([self.start_s, *ends]) + setup.visibility_s + 1
        self.env = simpy.Environment(initial_time=self.start_s)
        self.groups: dict[str | None, _Group] = {}
        self.offered: list[tuple[int, _Group]] = []
        self.outcome = Outcome()
        self.slots = setup.concurrency
        self.kept_s = inf if setup.retention_s is None else setup.retention_s
        self.wake = self.env.event()
        is_asked = goes_with == MOMENT
        known = sorted((a.at_s, a.took_s) for m in messages for a in m.attempts if a.is_known) if is_asked else []
        self.moments, self.tooks = [at for at, _ in known], [took for _, took in known]

    def run(self) -> Outcome:
        """Play to the end and return what came of it."""
        self.env.process(self._arrivals())
        self.env.process(self._poller())
        self.env.run(until=self.until_s)
        self.outcome.redelivered = sum(m.count > 1 for m in self.messages)
        self.outcome.repeats = sum(max(0, m.done - 1) for m in self.messages)
        self.outcome.unfinished = sum(not m.deleted for m in self.messages)
        self.outcome.waits_s = [m.first_done_s - m.seen.sent_at_s for m in self.messages if m.first_done_s is not None]
        return self.outcome

    # -- the queue ----------------------------------------------------------------------------------------------------

    def _arrivals(self) -> Generator[Any, Any, None]:
        for message in sorted(self.messages, key=lambda m: m.seen.sent_at_s):
            if message.seen.sent_at_s > self.env.now:
                yield self.env.timeout(message.seen.sent_at_s - self.env.now)
            self._shown(message)

    def _shown(self, message: _Message) -> None:
        group = self._group_of(message)
        if message.count and group.is_ordered:  # on a FIFO queue it comes back to its old place
            later = [place for place, other in enumerate(group.waiting) if other.place > message.place]
            group.waiting.insert(later[0] if later else len(group.waiting), message)
        else:
            group.waiting.append(message)
        self._offer(group)
        self._wake()

    def _group_of(self, message: _Message) -> _Group:
        name = message.seen.group
        if name not in self.groups:
            self.groups[name] = _Group(len(self.groups), name is not None)
        return self.groups[name]

    def _offer(self, group: _Group) -> None:
        """Note a group that a batch can be taken of; among thousands that wait for their own it is not looked for."""
        if group.waiting and not (group.is_ordered and group.held) and not group.is_offered:
            group.is_offered = True
            heappush(self.offered, (group.place, group))

    def _wake(self) -> None:
        if not self.wake.triggered:
            self.wake.succeed()

    def _after(self, seconds: float, then: Callable[[], None]) -> None:
        self.env.timeout(max(0.0, seconds)).callbacks.append(lambda _: then())

    def _poller(self) -> Generator[Any, Any, None]:
        while True:
            yield self.env.timeout(POLL_S)
            while self.slots and (batch := self._receive()):
                self.slots -= 1
                self._run(batch)
            self.wake = self.env.event()
            yield self.wake

    def _receive(self) -> list[_Message]:
        """Take the next batch: of one group, of which nothing is in flight; without groups, of all that is visible."""
        while self.offered:
            _, group = heappop(self.offered)
            group.is_offered = False
            batch: list[_Message] = []
            while group.waiting and len(batch) < self.setup.batch_size:
                message = group.waiting.popleft()
                if self.env.now >= message.seen.sent_at_s + self.kept_s:
                    continue  # SQS dropped it: it is in no queue, and nobody had finished it
                message.count += 1
                message.receipt += 1
                if self.setup.max_receives is not None and message.count > self.setup.max_receives:
                    message.deleted = True
                    message.count -= 1
                    self.outcome.dead_lettered += 1
                    continue
                batch.append(message)
            if batch:
                self._free_from_failure(group)
                group.held += len(batch)
                self._offer(group)
                handed = [(message, message.receipt) for message in batch]
                self._after(self.setup.visibility_s, partial(self._visible_again, handed))
                return batch
        return []

    def _visible_again(self, handed: Sequence[tuple[_Message, int]]) -> None:
        for message, receipt in handed:
            if not message.deleted and message.receipt == receipt:
                self._let_go(message)
                self._shown(message)

    def _let_go(self, message: _Message) -> None:
        group = self._group_of(message)
        group.held -= 1
        if not group.held:
            self._offer(group)
            self._wake()

    def _free_from_failure(self, group: _Group) -> None:
        if group.held_by_failure_from is not None:
            self.outcome.blocked_s += self.env.now - group.held_by_failure_from
            group.held_by_failure_from = None

    def _delete(self, message: _Message, receipt: int, received_s: float) -> None:
        """Delete with the handle of one receive; where it was shown again meanwhile the delete does nothing."""
        if message.deleted or message.receipt != receipt or self.env.now - received_s >= self.setup.visibility_s:
            return
        message.deleted = True
        self._let_go(message)

    # -- the consumer -------------------------------------------------------------------------------------------------

    def _run(self, batch: Sequence[_Message]) -> None:
        """Say at once what a run will do and when: until it ends, nothing of it bears on the queue."""
        received_s = self.env.now
        receipts = [message.receipt for message in batch]
        limit_s = self.setup.timeout_s
        failed_at: int | None = None
        was_killed = False
        at_s = received_s + self.overhead_s
        for place, message in enumerate(batch):
            attempt = self._attempt(message, at_s)
            if limit_s is not None and at_s - received_s + attempt.took_s > limit_s:
                at_s = max(at_s, received_s + limit_s)
                failed_at, was_killed = place, True
                break
            at_s += attempt.took_s
            if attempt.raises:
                failed_at = place
            if at_s < self.until_s and (attempt.is_done or not attempt.raises):
                message.done += 1
                message.first_done_s = at_s if message.first_done_s is None else min(at_s, message.first_done_s)
            if attempt.raises:
                break
        self._after(at_s - received_s, partial(self._ended, batch, receipts, received_s, failed_at, was_killed))

    def _ended(
        self, batch: Sequence[_Message], receipts: Sequence[int], received_s: float, failed_at: int | None, killed: bool
    ) -> None:
        self.outcome.runs += 1
        self.outcome.busy_s += self.env.now - received_s
        self.slots += 1
        if failed_at is None:
            deleted = len(batch)
        else:
            self.outcome.failed_runs += 1
            deleted = failed_at if self.setup.partial_responses and not killed else 0
            group = self._group_of(batch[0])
            if group.is_ordered and group.held_by_failure_from is None:
                group.held_by_failure_from = self.env.now
        for message, receipt in zip(batch[:deleted], receipts[:deleted], strict=True):
            self._delete(message, receipt, received_s)
        self._wake()

    def _attempt(self, message: _Message, at_s: float) -> Attempt:
        """Return what doing a message's work for the n-th time takes: as it took then, or as work took at this moment."""
        attempts = message.seen.attempts
        attempt = attempts[min(message.count, len(attempts)) - 1]
        if message.count > len(attempts) and attempt.raises:
            attempt = Attempt(attempt.at_s, attempt.took_s, raises=True, is_done=attempt.is_done)
        if self.goes_with == MESSAGE or not self.moments:
            return attempt
        place = bisect_left(self.moments, at_s)
        near = [p for p in (place - 1, place) if 0 <= p < len(self.moments)]
        nearest = min(near, key=lambda p: abs(self.moments[p] - at_s))
        return Attempt(attempt.at_s, self.tooks[nearest], attempt.raises, is_done=attempt.is_done)
