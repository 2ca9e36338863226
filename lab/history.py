"""Past weeks of traffic: what a day sends comes in a short session, and consumers run on until all of it is gone."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from lab.functions import SimulatedFunction
from lab.metrics import Datum, levels
from lab.simulation import Process, SimulatedQueue, play_out

COARSE, FINE = timedelta(minutes=5), timedelta(minutes=1)
FINE_FOR = timedelta(days=15)
"""CloudWatch keeps a point a minute for so long, and then one per five minutes: whoever asks for minutes gets minutes."""


@dataclass
class Stretch:
    """A queue, its function and their sessions; ``throttled_at`` holds the polls that found no room."""

    queue: SimulatedQueue
    function: SimulatedFunction
    throttled_at: list[datetime] = field(default_factory=list)


def play_session(
    stretch: Stretch,
    start: datetime,
    until: datetime,
    length: timedelta,
    messages: int,
    send: Callable[[datetime], None],
    chance: random.Random,
    environments: int = 1,
    throttled_polls: int = 0,
    burst: int = 1,
) -> None:
    """Send ``messages`` over a session, ``burst`` at once, and let the function work on them until ``until``.

    It works all day: what always fails comes back as often as it would on AWS. Where nothing is left it idles unseen.
    """
    bursts = [
        start + timedelta(seconds=chance.uniform(0, length.total_seconds())) for _ in range(-(-messages // burst))
    ]
    times = sorted(at + timedelta(milliseconds=n) for at in bursts for n in range(burst))[:messages]
    times = [at.replace(microsecond=at.microsecond // 1000 * 1000) for at in times]
    for at in times:
        send(at)
    consumers = list(stretch.function.environments(stretch.queue, start, environments))
    if throttled_polls:
        consumers.insert(0, _throttled(stretch, sorted(chance.sample(times, min(throttled_polls, len(times))))))
    play_out(consumers, until, is_over=lambda: stretch.queue.is_empty)


def _throttled(stretch: Stretch, sent_at: list[datetime]) -> Process:
    """Take messages as they come, though the function has no room: nobody runs them, and they stay hidden."""
    for sent in sent_at:
        at = sent + timedelta(milliseconds=2)
        yield at
        if stretch.queue.receive(at, 1, "no room"):
            stretch.throttled_at.append(at)


def queue_history(queue: SimulatedQueue, end: datetime) -> list[Datum]:
    """AWS/SQS per step in which anything was in the queue; a queue at rest publishes nothing."""
    sums = {
        "NumberOfMessagesSent": _per_step((m.sent_at for m in queue.messages), end),
        "NumberOfMessagesReceived": _per_step((d.received_at for m in queue.messages for d in m.deliveries), end),
        "NumberOfMessagesDeleted": _per_step((m.deleted_at for m in queue.messages if m.deleted_at), end),
    }
    highest: dict[str, dict[datetime, float]] = {
        "ApproximateNumberOfMessagesVisible": defaultdict(float),
        "ApproximateNumberOfMessagesNotVisible": defaultdict(float),
        "ApproximateAgeOfOldestMessage": defaultdict(float),
    }
    for at, visible, hidden, age_s in levels(queue, end):
        for name, value in zip(highest, (visible, hidden, age_s), strict=True):
            step = _step(at, end)
            highest[name][step] = max(highest[name][step], value)
    steps = sorted({s for counts in sums.values() for s in counts} | set(highest["ApproximateAgeOfOldestMessage"]))
    dimensions = [{"Name": "QueueName", "Value": queue.spec.name}]
    return [
        _datum(name, dimensions, step, values.get(step, 0.0), "Seconds" if "Age" in name else "Count")
        for name, values in {**sums, **highest}.items()
        for step in steps
    ]


def dead_letter_history(queue: SimulatedQueue, end: datetime) -> list[Datum]:
    """The dead-letter queue's level, a value before the first move and one at each step in which it grew."""
    moves = sorted(m.moved_at for m in queue.messages if m.moved_at)
    if not moves:
        return []
    dimensions = [{"Name": "QueueName", "Value": queue.spec.dead_letter_queue}]
    name = "ApproximateNumberOfMessagesVisible"
    found = [_datum(name, dimensions, _step(moves[0], end) - COARSE, 0.0, "Count")]
    for step in sorted({_step(at, end) for at in moves}):
        so_far = sum(at < step + _length(step, end) for at in moves)
        found.append(_datum(name, dimensions, step, so_far, "Count"))
    return found


def function_history(stretch: Stretch, end: datetime) -> list[Datum]:
    """AWS/Lambda per step with a run or a throttle."""
    runs = _per_step((run.started_at for run in stretch.function.runs), end)
    errors = _per_step((run.started_at for run in stretch.function.runs if run.outcome != "success"), end)
    throttles = _per_step(stretch.throttled_at, end)
    dimensions = [{"Name": "FunctionName", "Value": stretch.function.name}]
    return [
        _datum(name, dimensions, step, values.get(step, 0.0), "Count")
        for name, values in (("Invocations", runs), ("Errors", errors), ("Throttles", throttles))
        for step in sorted({*runs, *throttles})
    ]


def _per_step(times: Iterable[datetime], end: datetime) -> dict[datetime, float]:
    return {step: float(count) for step, count in Counter(_step(at, end) for at in times).items()}


def _length(at: datetime, end: datetime) -> timedelta:
    """Return how long a step at a moment is: a minute while CloudWatch keeps minutes, else five."""
    return FINE if at >= _minutes(end - FINE_FOR, COARSE) else COARSE


def _step(at: datetime, end: datetime) -> datetime:
    return _minutes(at, _length(at, end))


def _minutes(at: datetime, step: timedelta) -> datetime:
    minutes = step // timedelta(minutes=1)
    return at.replace(minute=at.minute // minutes * minutes, second=0, microsecond=0)


def _datum(name: str, dimensions: list[dict[str, Any]], at: datetime, value: float, unit: str) -> Datum:
    return {"MetricName": name, "Dimensions": dimensions, "Timestamp": at, "Value": float(value), "Unit": unit}
