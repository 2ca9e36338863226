"""Collect: one window of evidence for some queues, from AWS into the lake."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, Protocol

from forensics.errors import EXIT_OK, EXIT_PARTIAL
from forensics.lake import Lake
from forensics.privacy import redacting
from forensics.settings import Settings
from forensics.tables import BY_NAME, Table
from forensics.window import TimeWindow
from ingest import log_events, metrics
from ingest.clients import Aws
from ingest.consumers import Consumer, of_estate
from ingest.coverage import Reading, record
from ingest.discovery import FUNCTION_SETTINGS, MAPPINGS, QUEUE_SETTINGS, Estate, discover
from ingest.log_events import LogGroup
from ingest.snapshots import append_changed

CONSUMERS = BY_NAME["consumers"]


class Progress(Protocol):
    """Hears how a collection gets on."""

    def stage(self, name: str) -> None:
        """Say what is read from now on, in words."""

    def events(self, seen_count: int) -> None:
        """Say how many log events have been seen so far, over all log groups."""


@dataclass(frozen=True)
class CollectReport:
    """What a collection read, and what it lacks. Counts are of this run."""

    window: TimeWindow
    queues: tuple[str, ...]
    dead_letter_queues: tuple[str, ...]
    functions: tuple[str, ...]
    log_groups: tuple[str, ...]
    readings: tuple[Reading, ...]
    notes: tuple[str, ...]

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
        return tuple(r.gap for r in self.readings if r.gap)

    @property
    def exit_code(self) -> int:
        """0 if every source was read, else 3."""
        return EXIT_PARTIAL if self.gaps else EXIT_OK

    @property
    def _logs(self) -> Iterable[Reading]:
        return (r for r in self.readings if r.source is log_events.LOG_EVENTS)


def collect(
    lake: Lake,
    aws: Aws,
    queues: list[str] | None,
    window: TimeWindow,
    log_groups: Sequence[str] = (),
    settings: Settings | None = None,
    progress: Progress | None = None,
    now: datetime | None = None,
) -> CollectReport:
    """Read one window of evidence for queues (names, URLs or ARNs; None: all of the region) into the lake.

    Their dead-letter queues, mappings, functions and log groups are found; ``log_groups`` (``GROUP[=QUEUE]``) and the
    workers of the settings add others. A source that cannot be read becomes a gap and hides no other. A second run of
    the same window adds nothing.

    Raises, with nothing written: QueueUnknownError, CredentialsError, EndpointUnreachableError, LakeBusyError,
    LakeTooNewError.
    Raises ConservationError if a log event was lost on the way.
    """
    now = now or datetime.now(UTC)
    progress = progress or _Silence()
    lake.versions()  # a lake that this release cannot read is said before AWS is asked
    settings = settings or Settings()
    estate = discover(lake, aws, queues, progress.stage)
    consumers = of_estate(estate, list(log_groups), settings)
    with lake.writing("collect"), redacting(settings):
        readings = _store_settings(lake, estate, consumers, now)
        record(lake, readings, window, now)
        progress.stage("metrics")
        measured = _store_metrics(lake, estate, window, now)
        record(lake, measured, window, now)
        readings += measured
        groups = _log_groups(consumers)
        for group in groups:
            progress.stage(f"log group {group.name}")
            before = sum(r.seen_count for r in readings if r.source is log_events.LOG_EVENTS)
            reading = log_events.ingest(lake, group, window, now, _Since(progress, before))
            record(lake, [reading], window, now)
            readings.append(reading)
    return CollectReport(
        window,
        tuple(ref.name for ref in estate.queues[: estate.asked_count]),
        tuple(ref.name for ref in estate.queues[estate.asked_count :]),
        tuple(dict.fromkeys(row["function_name"] for row in estate.mapping_rows)),
        tuple(group.name for group in groups),
        tuple(readings),
        _notes(estate, consumers),
    )


def _store_settings(lake: Lake, estate: Estate, consumers: list[Consumer], now: datetime) -> list[Reading]:
    fresh_mappings = [row for row in estate.mapping_rows if not row.get("_from_lake")]
    stored_queues = append_changed(lake, QUEUE_SETTINGS, "queue", "queue_arn", estate.queue_rows, now)
    stored_functions = append_changed(lake, FUNCTION_SETTINGS, "function", "function_arn", estate.function_rows, now)
    stored_mappings = append_changed(
        lake, MAPPINGS, "mapping", "mapping_uuid", [_declared(row) for row in fresh_mappings], now
    )
    if consumers:
        lake.append(CONSUMERS, [c.to_row() for c in consumers], "consumers|collect")
    readings = list(estate.readings)
    unread = {(r.source.name, queue_arn) for r in readings for queue_arn in r.queue_arns}
    for row in estate.queue_rows:
        stored_count = int(row["queue_arn"] in stored_queues)
        readings.append(_settings_reading(QUEUE_SETTINGS, row["queue_name"], row, (row["queue_arn"],), 1, stored_count))
    for ref in estate.queues:
        if (MAPPINGS.name, ref.arn) not in unread:
            mine = [row for row in fresh_mappings if row["queue_arn"] == ref.arn]
            stored_count = sum(row["mapping_uuid"] in stored_mappings for row in mine)
            where = {"account_id": ref.account_id, "region": ref.region}
            readings.append(_settings_reading(MAPPINGS, ref.name, where, (ref.arn,), len(mine), stored_count))
    for row in estate.function_rows:
        arns = tuple(sorted({m["queue_arn"] for m in estate.mapping_rows if m["function_arn"] == row["function_arn"]}))
        stored_count = int(row["function_arn"] in stored_functions)
        readings.append(_settings_reading(FUNCTION_SETTINGS, row["function_name"], row, arns, 1, stored_count))
    return readings


def _settings_reading(
    table: Table, resource: str, where: dict[str, Any], arns: tuple[str, ...], seen_count: int, stored_count: int
) -> Reading:
    return Reading(
        table,
        resource,
        where["account_id"],
        where["region"],
        arns,
        seen_count=seen_count,
        stored_count=stored_count,
        already_count=seen_count - stored_count,
    )


def _store_metrics(lake: Lake, estate: Estate, window: TimeWindow, now: datetime) -> list[Reading]:
    by_arn = {ref.arn: ref for ref in estate.queues}
    wanted = [metrics.of_queue(r.name, r.account_id, r.region, r.arn, r.aws) for r in estate.queues]
    for function_arn in dict.fromkeys(row["function_arn"] for row in estate.mapping_rows):
        mine = [row for row in estate.mapping_rows if row["function_arn"] == function_arn]
        ref = by_arn[mine[0]["queue_arn"]]
        arns = tuple(sorted({row["queue_arn"] for row in mine}))
        account_id = function_arn.split(":")[4]
        wanted.append(metrics.of_function(mine[0]["function_name"], account_id, ref.region, arns, ref.aws))
    for row in estate.mapping_rows:
        if row.get("counts_events"):
            ref = by_arn[row["queue_arn"]]
            wanted.append(metrics.of_mapping(row["mapping_uuid"], ref.account_id, ref.region, ref.arn, ref.aws))
    readings = []
    wanted.sort(key=lambda m: m.region)
    for _, of_region in groupby(wanted, key=lambda m: m.region):
        readings += metrics.ingest(lake, list(of_region), window, now)
    return readings


def _log_groups(consumers: list[Consumer]) -> list[LogGroup]:
    """Return each log group once, however many functions and queues it serves."""
    found: dict[tuple[str, str, str], list[Consumer]] = {}
    for consumer in consumers:
        account_id = consumer.function_arn.split(":")[4] if consumer.function_arn else consumer.queue.account_id
        found.setdefault((account_id, consumer.queue.region, consumer.log_group), []).append(consumer)
    return [
        LogGroup(name, account_id, region, tuple(sorted({c.queue.arn for c in mine})), mine[0].queue.aws)
        for (account_id, region, name), mine in found.items()
    ]


def _declared(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if not name.startswith("_")}


def _notes(estate: Estate, consumers: list[Consumer]) -> tuple[str, ...]:
    consumed = {consumer.queue.arn for consumer in consumers}
    return tuple(
        f"queue {ref.name!r} has no event source mapping: name its workers' logs with --log-group GROUP={ref.name}"
        for ref in estate.queues[: estate.asked_count]
        if ref.arn not in consumed
    )


@dataclass(frozen=True)
class _Since:
    progress: Progress
    before_count: int

    def __call__(self, so_far_count: int) -> None:
        self.progress.events(self.before_count + so_far_count)


class _Silence:
    def stage(self, name: str) -> None:
        pass

    def events(self, seen_count: int) -> None:
        pass
