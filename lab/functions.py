"""Simulated Lambda functions: environments that poll a queue, run a handler's script and write AWS's log lines."""

import json
import random
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from lab.ids import Ids
from lab.loglines import LogFormat, RunEnd, TextFormat, sqs_event
from lab.simulation import Delivery, Process, SimulatedQueue

LONG_POLL_S = 20


@dataclass(frozen=True)
class LogLine:
    """One log event to be put."""

    stream: str
    at: datetime
    text: str


class HandlerError(Exception):
    """An exception that leaves the handler; ``error_type`` is its name in the log."""

    def __init__(self, error_type: str, text: str) -> None:
        super().__init__(text)
        self.error_type = error_type


@dataclass
class Run:
    """One invocation, as its handler's script sees it."""

    request_id: str
    started_at: datetime
    deliveries: list[Delivery]
    queue_arn: str
    format: LogFormat
    stream: str
    lines: list[LogLine]
    now: datetime
    outcome: str = "success"
    ended_at: datetime | None = None
    failed_ids: set[str] = field(default_factory=set)

    def event(self) -> dict[str, object]:
        """Return the event it was given."""
        return sqs_event(self.deliveries, self.queue_arn)

    def prints(self, text: str) -> None:
        """Write a line with print: no request id, in either format."""
        self.lines.append(LogLine(self.stream, self.now, f"{text}\n"))

    def logs(self, text: str, level: str = "INFO") -> None:
        """Write a line with logging."""
        self.lines.append(LogLine(self.stream, self.now, self.format.logged(self.now, level, self.request_id, text)))

    def gives_back(self, delivery: Delivery) -> None:
        """Name an item as failed, as the response of a handler with partial batch responses does, and print that."""
        self.failed_ids.add(delivery.message.message_id)
        named = [{"itemIdentifier": message_id} for message_id in sorted(self.failed_ids)]
        self.prints(json.dumps({"batchItemFailures": named}))

    def does_the_work_of(self, delivery: Delivery) -> None:
        """Have the effect, now: the truth that the evidence is judged by."""
        delivery.effect_at = self.now


Handler = Callable[[Run], Generator[float, None, None]]
"""A handler's script: it writes lines and yields the seconds its work takes."""


@dataclass
class SimulatedFunction:
    """A function behind an event source mapping."""

    name: str
    region: str
    account_id: str
    handler: Handler
    ids: Ids
    random: random.Random
    timeout_s: int = 30
    memory_mb: int = 256
    batch_size: int = 10
    format: LogFormat = field(default_factory=TextFormat)
    timeout_forms: Iterator[Literal["timeout_line", "timeout_status"]] = field(default_factory=lambda: iter(()))
    lines: list[LogLine] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)

    @property
    def arn(self) -> str:
        """The function's ARN."""
        return f"arn:aws:lambda:{self.region}:{self.account_id}:function:{self.name}"

    @property
    def log_group(self) -> str:
        """Where it logs."""
        return f"/aws/lambda/{self.name}"

    def environments(self, queue: SimulatedQueue, start: datetime, count: int = 1) -> Iterable[Process]:
        """Return ``count`` execution environments that consume the queue from ``start`` on."""
        return [self._environment(queue, start) for _ in range(count)]

    def _environment(self, queue: SimulatedQueue, start: datetime) -> Process:
        now, stream = start, ""
        while True:
            yield now
            deliveries = queue.receive(now, self.batch_size, self.name)
            if not deliveries:
                latest = now + timedelta(seconds=LONG_POLL_S)
                found_at = queue.next_receivable_at(now)
                now = min(latest, (found_at or latest) + self._some_ms(4, 90))
                if now == latest:
                    queue.empty_receives.append(now)
                continue
            is_cold = not stream
            stream = stream or self._new_stream(now)
            run = self._run(queue, deliveries, now, stream, is_cold)
            now = run.now
            yield now
            if run.outcome == "success":
                for delivery in deliveries:
                    if delivery.message.message_id not in run.failed_ids:
                        queue.delete(now, delivery)
            now += self._some_ms(8, 30)

    def _run(
        self, queue: SimulatedQueue, deliveries: list[Delivery], received_at: datetime, stream: str, is_cold: bool
    ) -> Run:
        init_ms = self.random.uniform(310, 520) if is_cold else None
        started_at = received_at + self._some_ms(12, 45)
        if init_ms is not None:
            text = self.format.init_start(started_at, self.name, stream, self.region)
            self.lines.append(LogLine(stream, started_at, text))
            started_at += timedelta(milliseconds=init_ms)
        arn = f"arn:aws:sqs:{self.region}:{self.account_id}:{queue.spec.name}"
        run = Run(self.ids.request_id(), started_at, deliveries, arn, self.format, stream, self.lines, started_at)
        self.runs.append(run)
        self._write(run, self.format.start(started_at, run.request_id, self.arn))
        self._work(run)
        self._finish(run, init_ms)
        return run

    def _work(self, run: Run) -> None:
        deadline = run.started_at + timedelta(seconds=self.timeout_s)
        try:
            for seconds in self.handler(run):
                done_at = run.now + timedelta(seconds=seconds)
                if done_at >= deadline:
                    run.outcome = next(self.timeout_forms, "timeout_status")
                    run.now = deadline
                    return
                run.now = done_at
        except HandlerError as error:
            run.outcome = "error"
            self._write(run, self.format.unhandled(run.now, run.request_id, error.error_type, str(error)))

    def _finish(self, run: Run, init_ms: float | None) -> None:
        if run.outcome == "timeout_line":  # the old kind of timeout overran the limit a little
            run.now += self._some_ms(8, 19)
        elif not run.outcome.startswith("timeout"):
            run.now += self._some_ms(1, 3)
        run.ended_at = run.now
        duration_ms = (run.now - run.started_at) / timedelta(milliseconds=1)
        memory_mb = self.random.randrange(71, 79)
        end = RunEnd(
            run.request_id,
            run.now,
            run.outcome,  # type: ignore[arg-type]
            duration_ms,
            self.timeout_s,
            self.memory_mb,
            memory_mb,
            init_ms,
        )
        for text in self.format.ended(end):
            self._write(run, text)

    def _write(self, run: Run, text: str) -> None:
        self.lines.append(LogLine(run.stream, run.now, text))

    def _new_stream(self, at: datetime) -> str:
        prefix = self.name if self.format.name == "JSON" else ""
        return f"{at:%Y/%m/%d}/{prefix}[$LATEST]{self.ids.hex(32)}"

    def _some_ms(self, least: float, most: float) -> timedelta:
        return timedelta(milliseconds=self.random.uniform(least, most))
