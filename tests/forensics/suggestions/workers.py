"""Workers side by side in one lake, each with a queue of its own: a correlation of many costs little more than one of a single worker."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from forensics.lake import Findings, Lake
from forensics.lake.filters import equals
from forensics.lake.findings import rows_of
from forensics.settings import Settings
from forensics.suggestions.model import Suggestions
from forensics.suggestions.suggest import suggest
from forensics.tables.evidence import CONSUMERS
from forensics.tables.findings import MESSAGES
from spark_jobs.carrier import Here
from spark_jobs.runner import correlate
from tests.forensics.report import world
from tests.forensics.suggestions.test_nameless import consumer, log_events

Lines = Iterable[tuple[float, str, str]]
"""Seconds, stream and text."""


@dataclass(frozen=True, eq=False)
class Worker:
    """What a worker logs, given a number that tells its messages' ids from others'; and what its section says of it, None: it has none."""

    lines: Callable[[int], Lines]
    says: str | None = None


class SideBySide:
    """Workers whose lines were correlated together."""

    def __init__(self, folder: Path, workers: Sequence[Worker]) -> None:
        self._numbers = {worker: number for number, worker in enumerate(workers)}
        self.settings = Settings.parse("".join(map(self._section, workers)))
        events = [row for w in workers for row in log_events(self._log_group(w), sorted(w.lines(self.kind(w))))]
        self.lake = world.save(folder, {}, events)
        self.lake.append(CONSUMERS, [consumer(self._log_group(w), self.queue(w)) for w in workers], "test|workers")
        self.findings = correlated(self.lake, self.settings)

    def kind(self, worker: Worker) -> int:
        """Return what tells the ids of its messages from others'."""
        return self._numbers[worker]

    def queue(self, worker: Worker) -> str:
        """Return its queue's name and ARN."""
        return f"orders-{self._numbers[worker]}"

    def _log_group(self, worker: Worker) -> str:
        return f"/ecs/pay-{self._numbers[worker]}"

    def _section(self, worker: Worker) -> str:
        begin = f'[[worker]]\nlog_group = "{self._log_group(worker)}"\nqueue = "{self.queue(worker)}"\n'
        return "" if worker.says is None else f"{begin}{worker.says}\n"

    @cached_property
    def proposed(self) -> Mapping[Worker, Suggestions]:
        """What is proposed of each."""
        return {worker: suggest(self.findings, self.queue(worker), self.settings) for worker in self._numbers}

    def messages(self, findings: Findings, worker: Worker) -> list[dict[str, Any]]:
        """Return the rows of messages that were delivered again."""
        return list(rows_of(findings.read(MESSAGES, where=equals("queue_arn", self.queue(worker)))))


def correlated(lake: Lake, settings: Settings) -> Findings:
    """Correlate, and return the findings."""
    correlate(lake, settings, carrier=Here())
    return lake.findings()
