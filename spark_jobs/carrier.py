"""Who carries a kernel over its units: Spark over cores and machines, or this process alone (for tests without Java).

A kernel is a function from one unit (a small JSON-like value: names of files, never rows) to a small summary; it reads and
writes lake files itself.
"""

import gc
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar, cast

from forensics.counting.in_this_thread import in_this_thread
from forensics.errors import ForensicsError

Unit = TypeVar("Unit")
Result = TypeVar("Result")
Done = Callable[[int], None]
"""Told now and then how much the units weigh that are over; more than all of them where some were done twice."""

_TASKS_PER_CORE = 8
"""With more that are alike, starting tasks costs more than evening out their lengths saves."""
_LOOK_EVERY_S = 0.5


class Carrier(Protocol):
    """Calls a kernel once for each unit."""

    def map(
        self,
        kernel: Callable[[Any, Unit], Result],
        shared: Any,
        units: Sequence[Unit],
        weights: Sequence[int] | None = None,
        done: Done | None = None,
    ) -> list[Result]:
        """Return the results in the order of the units; each call gets ``shared``, too. ``weights`` say how long each unit takes.

        Raises what a kernel raised where that is a ForensicsError or an OSError.
        """


class Here:
    """This process, one unit after the other."""

    def map(
        self,
        kernel: Callable[[Any, Unit], Result],
        shared: Any,
        units: Sequence[Unit],
        weights: Sequence[int] | None = None,
        done: Done | None = None,
    ) -> list[Result]:
        """Call the kernel."""
        results: list[Result] = []
        over = 0
        with uncollected():
            for number, unit in enumerate(units):
                results.append(in_this_thread(partial(kernel, shared, unit)))
                over += weights[number] if weights else 1
                if done:
                    done(over)
        return results


@dataclass(frozen=True)
class _Failure:
    """A failure with a sentence: it travels as a value, so that no traceback of Spark's surrounds it."""

    problem: ForensicsError | OSError
    hint: str

    def error(self) -> ForensicsError | OSError:
        if isinstance(self.problem, ForensicsError):
            self.problem.hint = self.hint
        return self.problem


class OnSpark:
    """Spark: in this process by default, or a cluster."""

    def __init__(self, context: Any) -> None:
        self.context = context

    def map(
        self,
        kernel: Callable[[Any, Unit], Result],
        shared: Any,
        units: Sequence[Unit],
        weights: Sequence[int] | None = None,
        done: Done | None = None,
    ) -> list[Result]:
        """Call the kernel in Spark's tasks, the longest first. Raises SparkEndedError where Java ended."""
        if not units:
            return []
        from spark_jobs.java_failures import java_failures_told

        context = self.context
        weighs = weights or [1] * len(units)
        hands = [[(n, weighs[n], units[n]) for n in hand] for hand in dealt(weighs, context.defaultParallelism)]
        sent = context.broadcast(shared)
        over = context.accumulator(0) if done else None
        carried = context.parallelize(hands, len(hands)).flatMap(_carrying(kernel, sent, over))
        with java_failures_told(), ThreadPoolExecutor(1, "carrier") as waiting:
            job = waiting.submit(carried.collect)
            while True:
                try:
                    results = job.result(timeout=_LOOK_EVERY_S if done else None)
                    break
                except NotYet:
                    if done and over:
                        done(over.value)
        sent.unpersist()
        found = dict(cast(list[tuple[int, Result]], results))
        for result in found.values():
            if isinstance(result, _Failure):
                raise result.error()
        return [found[n] for n in range(len(units))]


def dealt(weights: Sequence[int], cores: int) -> list[list[int]]:
    """Deal units, told by their places, into one hand per task: heavy units first, and ever lighter hands, so that cores end together.

    What a unit costs whatever it weighs is taken as a tenth of the mean.
    """
    floor = sum(weights) / len(weights) / 10 or 1
    costs = {n: weights[n] + floor for n in sorted(range(len(weights)), key=lambda n: (-weights[n], n))}
    left = sum(costs.values())
    most = left / (cores * _TASKS_PER_CORE)
    hands: list[list[int]] = []
    room = 0.0
    for n, cost in costs.items():
        if not hands or cost > room:
            hands.append([])
            room = min(most, left / (2 * cores))
        hands[-1].append(n)
        room, left = room - cost, left - cost
    return hands


def _carrying(kernel: Callable[[Any, Any], Any], sent: Any, over: Any) -> Callable[[Any], Any]:
    def carry(hand: Sequence[tuple[int, int, Any]]) -> list[tuple[int, Any]]:
        results: list[tuple[int, Any]] = []
        gc.freeze()  # after each task pyspark looks for garbage, through all that this worker has ever imported
        with uncollected():
            for number, weight, unit in hand:
                try:
                    results.append((number, in_this_thread(partial(kernel, sent.value, unit))))
                except (ForensicsError, OSError) as problem:
                    results.append((number, _Failure(problem, getattr(problem, "hint", ""))))
                if over is not None:
                    over.add(weight)
        return results

    return carry


@contextmanager
def uncollected() -> Iterator[None]:
    """Let no garbage collection look through a kernel's many plain values: they hold no cycles, and it took a third of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
