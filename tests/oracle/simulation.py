"""Simulated time: a heap of moments, and processes written as generators. Times are milliseconds since the epoch."""

import heapq
from collections.abc import Callable, Generator
from itertools import count
from typing import Any

Steps = Generator[Any, Any, Any]
"""A process: yields a number of milliseconds to wait, or a Gate to wait for."""


class Gate:
    """Something that happens once; processes wait for it."""

    def __init__(self) -> None:
        self.is_open = False
        self._waiting: list[Callable[[], None]] = []

    def open(self) -> None:
        """Let everyone who waits go on; later calls do nothing."""
        if not self.is_open:
            self.is_open = True
            waiting, self._waiting = self._waiting, []
            for go_on in waiting:
                go_on()

    def when_open(self, go_on: Callable[[], None]) -> None:
        """Call back when the gate opens, at once if it is open."""
        if self.is_open:
            go_on()
        else:
            self._waiting.append(go_on)


class Process:
    """One running generator. It can be killed, or frozen and thawed with the rest of its wait kept."""

    def __init__(self, simulation: "Simulation", steps: Steps) -> None:
        self.simulation = simulation
        self.steps = steps
        self.done = Gate()
        self.error: Exception | None = None
        self._wake_at: int | None = None
        self._ticket = 0
        self._left_ms: int | None = None

    def start(self) -> "Process":
        """Run the first step now."""
        self._step()
        return self

    def kill(self) -> None:
        """End it where it stands; what it did stays done."""
        self._ticket += 1
        self.steps.close()
        self.done.open()

    def freeze(self) -> None:
        """Stop its clock; only a process that is waiting for time can be frozen."""
        if self._wake_at is not None:
            self._left_ms = self._wake_at - self.simulation.now
            self._ticket += 1

    def thaw(self) -> None:
        """Go on after a freeze, with the wait that was left."""
        if self._left_ms is not None:
            self._wait(self._left_ms)
            self._left_ms = None

    def _wait(self, ms: int) -> None:
        self._ticket += 1
        ticket = self._ticket
        self._wake_at = self.simulation.now + ms
        self.simulation.at(self._wake_at, lambda: self._wake(ticket))

    def _wake(self, ticket: int) -> None:
        if ticket == self._ticket:
            self._wake_at = None
            self._step()

    def _step(self) -> None:
        if self.done.is_open:
            return
        try:
            asked = next(self.steps)
        except StopIteration:
            self.done.open()
            return
        except WorkError as problem:
            self.error = problem
            self.done.open()
            return
        if isinstance(asked, Gate):
            asked.when_open(self._step)
        else:
            self._wait(max(0, round(asked)))


class WorkError(Exception):
    """What a handler raises; ends its process and is kept there."""


class Simulation:
    """The clock and everything that will happen."""

    def __init__(self, now: int) -> None:
        self.now = now
        self._heap: list[tuple[int, int, Callable[[], None]]] = []
        self._number = count()

    def at(self, moment: int, action: Callable[[], None]) -> None:
        """Do something at a moment; in the order of asking where moments are equal."""
        heapq.heappush(self._heap, (max(moment, self.now), next(self._number), action))

    def spawn(self, steps: Steps, at: int | None = None) -> Process:
        """Start a process now, or at a moment."""
        process = Process(self, steps)
        if at is None:
            return process.start()

        def begin() -> None:
            process.start()

        self.at(at, begin)
        return process

    def run(self, until: int) -> None:
        """Let time pass until a moment."""
        while self._heap and self._heap[0][0] <= until:
            self.now, _, action = heapq.heappop(self._heap)
            action()
        self.now = max(self.now, until)
