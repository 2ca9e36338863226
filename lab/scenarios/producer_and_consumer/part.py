"""What each of the five parts gives: a queue, who consumes it, and what the settings file says of them."""

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from lab.aws import EmbeddedAws
from lab.functions import Handler, LogLine, SimulatedFunction
from lab.ids import Ids
from lab.simulation import Process, QueueSpec, SimulatedQueue


@dataclass
class Stage:
    """Where a part plays: an AWS, a window (aware UTC), and the sources of ids and chance."""

    aws: EmbeddedAws
    start: datetime
    end: datetime
    ids: Ids
    chance: random.Random

    def queue(self, spec: QueueSpec) -> SimulatedQueue:
        """Return an empty queue."""
        return SimulatedQueue(spec, self.ids)

    def function(self, name: str, handler: Handler, **settings: int) -> SimulatedFunction:
        """Return a function that has not run yet."""
        return SimulatedFunction(
            name,
            self.aws.region,
            self.aws.account_id,
            handler,
            self.ids,
            self.chance,
            **settings,  # type: ignore[arg-type]
        )

    def after(self, minutes: float) -> datetime:
        """Return a moment of the window."""
        return self.start + timedelta(minutes=minutes)

    def arrivals(self, mean_s: float, around: Iterable[datetime] = ()) -> Iterator[datetime]:
        """Yield moments of healthy traffic, none in the twenty seconds around those given."""
        at = self.start
        while True:
            at += timedelta(seconds=self.chance.expovariate(1 / mean_s))
            at = at.replace(microsecond=at.microsecond // 1000 * 1000)
            if at >= self.end - timedelta(minutes=3):
                return
            if all(abs(at - other) > timedelta(seconds=20) for other in around):
                yield at


@dataclass
class Part:
    """One queue with its consumer: a function and its code, or a worker's log group and its lines."""

    queue: SimulatedQueue
    settings: str
    processes: list[Process]
    function: SimulatedFunction | None = None
    code: str = ""
    log_group: str = ""
    lines: Callable[[], list[LogLine]] = list
