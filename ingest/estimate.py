"""What a collection would cost before it runs: calls, seconds and bytes, from the metrics of the log groups themselves."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from forensics.lake import Lake
from forensics.settings import Settings
from forensics.tables import Table
from forensics.window import TimeWindow
from ingest import guard_tables, metrics, producers, setting_changes
from ingest import log_groups as log_groups_of_aws
from ingest.clients import CALLS_PER_S, Aws
from ingest.consumers import of_estate
from ingest.coverage import SOURCE_ERRORS, Reading, status_of
from ingest.discovery import discover
from ingest.log_events import LOG_EVENTS, PAGE_EVENTS
from ingest.metrics import METRIC_POINTS, Measured
from ingest.store_settings import LOG_GROUP_SETTINGS

PAGE_BYTES = 1024 * 1024
"""Most bytes of events in one page of FilterLogEvents, a limit of the service."""
STORED_BYTES_PER_BYTE = 0.6
"""What a byte of log text takes in the lake, as measured on the lines of the demo (0.60 of 3.2 MB); ids are the most of it."""
_VOLUME = (("IncomingBytes", "Sum"), ("IncomingLogEvents", "Sum"))


@dataclass(frozen=True)
class GroupEstimate:
    """One log group; None where CloudWatch has no figures, which may mean that nothing was logged."""

    log_group: str
    events: int | None
    bytes: int | None
    is_infrequent: bool = False
    """Of the infrequent-access class: read with queries of Logs Insights, billed by the bytes they scan."""

    @property
    def calls(self) -> int:
        """Calls of FilterLogEvents or queries, at least: pages may come less than full."""
        by_bytes, by_events = (self.bytes or 0) / PAGE_BYTES, (self.events or 0) / PAGE_EVENTS
        return max(1, math.ceil(by_bytes), math.ceil(by_events))


@dataclass(frozen=True)
class TableEstimate:
    """One idempotency table, as DynamoDB counted it within the last six hours; None where it did not say.

    ``is_partition``: only what is under one value of its key is read, which nothing counts.
    """

    guard_table: str
    items: int | None
    bytes: int | None
    is_partition: bool = False

    @property
    def calls(self) -> int:
        """Calls of Scan or Query, at most: all of the table, or as much as is read of it."""
        return max(1, min(guard_tables.MOST_PAGES, math.ceil((self.bytes or 0) / guard_tables.PAGE_BYTES)))

    @property
    def units(self) -> int:
        """Read capacity units that those calls take, at most: half a unit for each 4 KB, eventually consistent."""
        most = min(self.bytes or 0, self.calls * guard_tables.PAGE_BYTES)
        return math.ceil(most / 8192)

    @property
    def seconds(self) -> float:
        """Seconds that reading it takes at the pace we keep."""
        return (self.calls - 1) / CALLS_PER_S["Query" if self.is_partition else "Scan"]


@dataclass(frozen=True)
class Estimate:
    """A whole collection of a window that was never read before. Nothing was written and no log was read for it."""

    window: TimeWindow
    queues: tuple[str, ...]
    groups: tuple[GroupEstimate, ...]
    metric_count: int
    metric_calls: int
    trail_calls: int
    """Calls of LookupEvents, at least: one for each kind of change."""
    guard_tables: tuple[TableEstimate, ...]
    gaps: tuple[str, ...]
    """What could not be asked, a sentence each; the collection would lack it as well."""

    @property
    def log_calls(self) -> int:
        """Calls of FilterLogEvents."""
        return sum(group.calls for group in self.groups if not group.is_infrequent)

    @property
    def query_calls(self) -> int:
        """Queries of Logs Insights."""
        return sum(group.calls for group in self.groups if group.is_infrequent)

    @property
    def query_bytes(self) -> int:
        """Bytes that those queries scan, at least."""
        return sum(group.bytes or 0 for group in self.groups if group.is_infrequent)

    @property
    def bytes(self) -> int:
        """Bytes of log text to be fetched."""
        return sum(group.bytes or 0 for group in self.groups)

    @property
    def events(self) -> int:
        """Log events to be fetched."""
        return sum(group.events or 0 for group in self.groups)

    @property
    def seconds(self) -> float:
        """Seconds that reading logs takes at the pace we keep, which is below the quota of the people on call."""
        return self.log_calls / CALLS_PER_S["FilterLogEvents"]

    @property
    def trail_seconds(self) -> float:
        """Seconds that reading setting changes takes at the pace we keep, the same for every region."""
        return self.trail_calls / CALLS_PER_S["LookupEvents"]

    @property
    def lake_bytes(self) -> int:
        """Bytes that the lake would grow by, roughly."""
        return round(self.bytes * STORED_BYTES_PER_BYTE)


def estimate(
    lake: Lake,
    aws: Aws | Sequence[Aws],
    queues: list[str] | None,
    window: TimeWindow,
    log_groups: Sequence[str],
    settings: Settings,
    now: datetime,
) -> Estimate:
    """Find what a collection would read and ask CloudWatch how much that is; writes nothing and reads no log.

    Raises QueueUnknownError, CredentialsError or EndpointUnreachableError.
    """
    estate = discover(lake, [aws] if isinstance(aws, Aws) else aws, queues)
    consumers = of_estate(estate, list(log_groups), settings)
    read = [(c.log_group, c.queue.account_id, c.queue.region, c.queue.aws) for c in consumers]
    read += [(g.name, g.account_id, g.region, g.aws) for g, _ in producers.of_estate(estate, settings)]
    wanted = [
        Measured("AWS/Logs", "LogGroupName", name, _VOLUME, account_id, region, (), access)
        for name, account_id, region, access in {place[:3]: place for place in read}.values()
    ]
    readings = list(estate.readings)
    found: list[GroupEstimate] = []
    for mine in _by_region(wanted):
        for m, answer in zip(mine, metrics.fetch(mine, window, now), strict=True):
            log_class = _class_of(m, readings)
            if answer.status != "ok":
                readings.append(_gap(METRIC_POINTS, m, answer.status, answer.detail))
            events, size = (_sum(answer.points, metric) for metric, _ in reversed(_VOLUME))
            found.append(GroupEstimate(m.resource, events, size, log_class == log_groups_of_aws.INFREQUENT_ACCESS))
    tables: list[TableEstimate] = []
    for place in guard_tables.places(consumers, settings):
        try:
            items, size = guard_tables.size_of(place)
        except SOURCE_ERRORS as problem:
            about = (place.table.name, place.account_id, place.region, place.queue_arns)
            readings.append(Reading(guard_tables.GUARD_RECORDS, *about, *status_of(problem)))
        else:
            tables.append(TableEstimate(place.table.name, items, size, place.table.partition is not None))
    spans = len(metrics.spans(window, now))
    counts = [sum(len(m.metrics) for m in mine) for mine in _by_region(metrics.of_estate(estate))]
    places = {(ref.account_id, ref.region) for ref in estate.queues}
    is_kept = window.end_at > now - setting_changes.KEPT_FOR
    return Estimate(
        window,
        tuple(ref.name for ref in estate.queues),
        tuple(sorted(found, key=lambda group: group.log_group)),
        sum(counts) * spans,
        sum(math.ceil(count / metrics.QUERIES_A_CALL) for count in counts) * spans,
        len(setting_changes.CALLS) * len(places) if is_kept else 0,
        tuple(tables),
        tuple(dict.fromkeys(reading.gap for reading in readings if reading.gap)),
    )


def _by_region(wanted: list[Measured]) -> Iterator[list[Measured]]:
    for _, mine in groupby(sorted(wanted, key=lambda m: (m.region, m.account_id)), key=lambda m: (m.region, id(m.aws))):
        yield list(mine)


def _class_of(group: Measured, readings: list[Reading]) -> str | None:
    """Return a log group's class; what keeps it from being read is noted."""
    try:
        described = log_groups_of_aws.fetch(group.aws, group.resource)
    except SOURCE_ERRORS as problem:
        readings.append(_gap(LOG_GROUP_SETTINGS, group, *status_of(problem)))
        return None
    if described is None:
        readings.append(_gap(LOG_EVENTS, group, "gone", None))
        return None
    log_class = log_groups_of_aws.to_row(group.account_id, group.region, described)["log_class"]
    if log_class not in (None, "STANDARD", log_groups_of_aws.INFREQUENT_ACCESS):
        readings.append(_gap(LOG_EVENTS, group, "unsupported", log_class))
    return log_class


def _gap(source: Table, group: Measured, status: str, detail: str | None) -> Reading:
    return Reading(source, group.resource, group.account_id, group.region, (), status, detail)


def _sum(points: Iterable[tuple[str, str, int, datetime, float]], metric: str) -> int | None:
    values = [value for name, _, _, _, value in points if name == metric]
    return round(sum(values)) if values else None
