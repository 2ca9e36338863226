"""What a collection would cost before it runs: calls, seconds and bytes, from the metrics of the log groups themselves."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from forensics.lake import Lake
from forensics.settings import Settings
from forensics.window import TimeWindow
from ingest import metrics
from ingest.clients import CALLS_PER_S, Aws
from ingest.consumers import of_estate
from ingest.discovery import Estate, discover
from ingest.log_events import PAGE_EVENTS
from ingest.metrics import Measured

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

    @property
    def calls(self) -> int:
        """Calls of FilterLogEvents, at least: pages may come less than full."""
        by_bytes, by_events = (self.bytes or 0) / PAGE_BYTES, (self.events or 0) / PAGE_EVENTS
        return max(1, math.ceil(by_bytes), math.ceil(by_events))


@dataclass(frozen=True)
class Estimate:
    """A whole collection of a window that was never read before. Nothing was written and no log was read for it."""

    window: TimeWindow
    queues: tuple[str, ...]
    groups: tuple[GroupEstimate, ...]
    metric_count: int
    metric_calls: int

    @property
    def log_calls(self) -> int:
        """Calls of FilterLogEvents."""
        return sum(group.calls for group in self.groups)

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
    wanted = [
        Measured("AWS/Logs", "LogGroupName", c.log_group, _VOLUME, c.queue.account_id, c.queue.region, (), c.queue.aws)
        for c in {(c.queue.account_id, c.queue.region, c.log_group): c for c in consumers}.values()
    ]
    found: list[GroupEstimate] = []
    for _, of_region in groupby(sorted(wanted, key=lambda m: (m.region, m.account_id)), key=lambda m: id(m.aws)):
        mine = list(of_region)
        answers = metrics.fetch(mine, window, now)
        found += [
            GroupEstimate(m.resource, _sum(a.points, "IncomingLogEvents"), _sum(a.points, "IncomingBytes"))
            for m, a in zip(mine, answers, strict=True)
        ]
    metric_count = _metric_count(estate)
    spans = len(metrics.spans(window, now))
    return Estimate(
        window,
        tuple(ref.name for ref in estate.queues),
        tuple(sorted(found, key=lambda group: group.log_group)),
        metric_count * spans,
        math.ceil(metric_count / metrics.QUERIES_A_CALL) * spans,
    )


def _metric_count(estate: Estate) -> int:
    of_queues = [metrics.of_queue(r.name, r.account_id, r.region, r.arn, r.aws) for r in estate.queues]
    by_arn = {ref.arn: ref.aws for ref in estate.queues}
    functions = {row["function_arn"]: row for row in estate.mapping_rows}
    of_functions = [
        metrics.of_function(r["function_name"], r["account_id"], r["region"], (), by_arn[r["queue_arn"]])
        for r in functions.values()
    ]
    of_mappings = [
        metrics.of_mapping(r["mapping_uuid"], r["account_id"], r["region"], r["queue_arn"], by_arn[r["queue_arn"]])
        for r in estate.mapping_rows
        if r.get("counts_events")
    ]
    return sum(len(m.metrics) for m in (*of_queues, *of_functions, *of_mappings))


def _sum(points: Iterable[tuple[str, str, int, datetime, float]], metric: str) -> int | None:
    values = [value for name, _, _, _, value in points if name == metric]
    return round(sum(values)) if values else None
