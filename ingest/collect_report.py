"""What came of a collection: what was read, what was new, and what is missing."""

from collections.abc import Iterable
from dataclasses import dataclass

from forensics.errors import EXIT_OK, EXIT_PARTIAL
from forensics.window import TimeWindow
from ingest import log_events, metrics
from ingest.coverage import Reading


@dataclass(frozen=True)
class CollectReport:
    """What a collection read, and what it lacks. Counts are of this run; ``settled`` names what needed no reading."""

    window: TimeWindow
    queues: tuple[str, ...]
    dead_letter_queues: tuple[str, ...]
    functions: tuple[str, ...]
    log_groups: tuple[str, ...]
    readings: tuple[Reading, ...]
    notes: tuple[str, ...]
    settled: tuple[str, ...] = ()

    @property
    def seen_count(self) -> int:
        """Log events that CloudWatch gave."""
        return sum(r.seen_count for r in self._logs)

    @property
    def stored_count(self) -> int:
        """Log events that were new."""
        return sum(r.stored_count for r in self._logs)

    @property
    def already_count(self) -> int:
        """Log events that were in the lake before, or came twice."""
        return sum(r.already_count for r in self._logs)

    @property
    def quarantined_count(self) -> int:
        """Log events that could not be kept as they were."""
        return sum(r.quarantined_count for r in self._logs)

    @property
    def points_stored_count(self) -> int:
        """Metric points that were new."""
        return sum(r.stored_count for r in self.readings if r.source is metrics.METRIC_POINTS)

    @property
    def gaps(self) -> tuple[str, ...]:
        """What could not be read, a sentence each."""
        return tuple(dict.fromkeys(r.gap for r in self.readings if r.gap))

    @property
    def exit_code(self) -> int:
        """0 if every source was read, else 3."""
        return EXIT_PARTIAL if self.gaps else EXIT_OK

    @property
    def _logs(self) -> Iterable[Reading]:
        return (r for r in self.readings if r.source is log_events.LOG_EVENTS)
