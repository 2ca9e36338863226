"""The metrics that AWS would have published for a simulated queue or function, a value a minute."""

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

from lab.functions import Run, SimulatedFunction
from lab.simulation import Message, SimulatedQueue

SAMPLE_S = 5
MINUTE = timedelta(minutes=1)

Datum = dict[str, Any]
"""One entry of PutMetricData."""


def queue_metrics(queue: SimulatedQueue, start: datetime, end: datetime) -> list[Datum]:
    """AWS/SQS per minute of [start, end), zeros included: a queue in use publishes them too."""
    sums = {
        "NumberOfMessagesSent": _per_minute(m.sent_at for m in queue.messages),
        "NumberOfMessagesReceived": _per_minute(d.received_at for m in queue.messages for d in m.deliveries),
        "NumberOfMessagesDeleted": _per_minute(m.deleted_at for m in queue.messages if m.deleted_at),
        "NumberOfEmptyReceives": _per_minute(queue.empty_receives),
    }
    highest: dict[str, dict[datetime, float]] = {
        "ApproximateNumberOfMessagesVisible": defaultdict(float),
        "ApproximateNumberOfMessagesNotVisible": defaultdict(float),
        "ApproximateAgeOfOldestMessage": defaultdict(float),
    }
    for at, visible, hidden, age_s in levels(queue, end):
        for name, value in zip(highest, (visible, hidden, age_s), strict=True):
            minute = _minute(at)
            highest[name][minute] = max(highest[name][minute], value)
    dimensions = [{"Name": "QueueName", "Value": queue.spec.name}]
    values: dict[str, dict[datetime, float]] = {**sums, **highest}
    return [
        _datum(name, dimensions, minute, per_minute.get(minute, 0.0), "Seconds" if "Age" in name else "Count")
        for name, per_minute in values.items()
        for minute in _minutes(start, end)
    ]


def dead_letter_metrics(queue: SimulatedQueue, start: datetime, end: datetime) -> list[Datum]:
    """AWS/SQS of the queue's dead-letter queue from its first message on; an idle one publishes nothing.

    A move is not a send: only the number of visible messages and their age show it.
    """
    moves = sorted(m.moved_at for m in queue.messages if m.moved_at)
    if not moves:
        return []
    dimensions = [{"Name": "QueueName", "Value": queue.spec.dead_letter_queue}]
    data = []
    for minute in _minutes(max(start, _minute(moves[0])), end):
        seen = minute + MINUTE
        count = sum(1 for at in moves if at < seen)
        data.append(_datum("ApproximateNumberOfMessagesVisible", dimensions, minute, count, "Count"))
        data.append(_datum("ApproximateNumberOfMessagesNotVisible", dimensions, minute, 0, "Count"))
        age_s = (seen - moves[0]).total_seconds() // 1
        data.append(_datum("ApproximateAgeOfOldestMessage", dimensions, minute, age_s, "Seconds"))
    return data


def function_metrics(function: SimulatedFunction, start: datetime, end: datetime) -> list[Datum]:
    """AWS/Lambda per minute with invocations; errors stand at the minute the run was invoked, as AWS puts them."""
    by_minute: dict[datetime, list[Run]] = defaultdict(list)
    for run in function.runs:
        by_minute[_minute(run.started_at)].append(run)
    at_once = _concurrency(function.runs)
    dimensions = [{"Name": "FunctionName", "Value": function.name}]
    data = []
    for minute in _minutes(start, end):
        runs = by_minute.get(minute, [])
        if minute in at_once:
            data.append(_datum("ConcurrentExecutions", dimensions, minute, at_once[minute], "Count"))
        if not runs:
            continue
        durations = Counter(round(_duration_ms(run), 2) for run in runs)
        errors = sum(1 for run in runs if run.outcome != "success")
        data += [
            _datum("Invocations", dimensions, minute, len(runs), "Count"),
            _datum("Errors", dimensions, minute, errors, "Count"),
            _datum("Throttles", dimensions, minute, 0, "Count"),
            {
                "MetricName": "Duration",
                "Dimensions": dimensions,
                "Timestamp": minute,
                "Values": list(durations),
                "Counts": list(durations.values()),
                "Unit": "Milliseconds",
            },
        ]
    return data


def levels(queue: SimulatedQueue, end: datetime) -> Iterator[tuple[datetime, int, int, float]]:
    """Yield (time, visible, in flight, age of the oldest in seconds) every few seconds with anything in the queue.

    A standard queue's age leaves out messages that were received three times: they went to the back.
    """
    visible: Counter[int] = Counter()
    hidden: Counter[int] = Counter()
    oldest: dict[int, float] = {}
    for message in queue.messages:
        third_s = _third_receive_s(message) if not queue.spec.is_fifo else math.inf
        left_s = (message.gone_at or end).timestamp()
        sent_s = message.sent_at.timestamp()
        received = [d.received_at.timestamp() for d in message.deliveries]
        until = [d.hidden_until.timestamp() for d in message.deliveries]
        for tick in range(int(sent_s // SAMPLE_S) + 1, int(left_s // SAMPLE_S) + 1):
            at_s = tick * SAMPLE_S
            latest = bisect_right(received, at_s) - 1
            is_hidden = latest >= 0 and at_s < until[latest]
            (hidden if is_hidden else visible)[tick] += 1
            oldest[tick] = max(oldest.get(tick, 0.0), at_s - sent_s if at_s < third_s else 0.0)
    for tick in sorted(oldest):
        at = datetime.fromtimestamp(tick * SAMPLE_S, end.tzinfo)
        yield at, visible[tick], hidden[tick], float(int(oldest[tick]))


def _third_receive_s(message: Message) -> float:
    deliveries = message.deliveries
    return deliveries[2].received_at.timestamp() if len(deliveries) > 2 else math.inf


def _concurrency(runs: Iterable[Run]) -> dict[datetime, int]:
    """Return the most runs at once in each minute that had one."""
    steps = sorted([(run.started_at, 1) for run in runs] + [(run.ended_at or run.started_at, -1) for run in runs])
    most: dict[datetime, int] = {}
    running, since = 0, None
    for at, step in steps:
        if since is not None and running:
            for minute in _minutes(_minute(since), at):
                most[minute] = max(most.get(minute, 0), running)
        running, since = running + step, at
    return most


def _duration_ms(run: Run) -> float:
    return ((run.ended_at or run.started_at) - run.started_at) / timedelta(milliseconds=1)


def _per_minute(times: Iterable[datetime]) -> dict[datetime, float]:
    return {minute: float(count) for minute, count in Counter(_minute(at) for at in times).items()}


def _minute(at: datetime) -> datetime:
    return at.replace(second=0, microsecond=0)


def _minutes(start: datetime, end: datetime) -> Iterator[datetime]:
    minute = start
    while minute < end:
        yield minute
        minute += MINUTE


def _datum(name: str, dimensions: list[dict[str, Any]], at: datetime, value: float, unit: str) -> Datum:
    return {"MetricName": name, "Dimensions": dimensions, "Timestamp": at, "Value": float(value), "Unit": unit}
