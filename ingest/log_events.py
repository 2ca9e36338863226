"""CloudWatch log events: every page of a window into the lake, verbatim but for receipt handles."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from forensics.errors import ConservationError
from forensics.identity import evidence_id
from forensics.lake import Lake
from forensics.privacy import redact
from forensics.sentence import said
from forensics.tables import BY_NAME
from forensics.window import TimeWindow
from ingest import insights, log_groups
from ingest.aws_errors import AwsRefusedError
from ingest.clients import Aws
from ingest.coverage import SOURCE_ERRORS, Reading, of_whole_reply, status_of
from ingest.log_places import Places
from ingest.paging import pages
from ingest.quarantine import QUARANTINE, quarantine_row, what_is_wrong
from ingest.twins import ApiTwins
from ingest.values import epoch_ms

LOG_EVENTS = BY_NAME["log_events"]
PAGE_EVENTS = 10_000
"""Most events in one page, a limit of the service."""
APPEND_ROWS = 50_000
"""Rows gathered for one commit: a commit costs milliseconds, a row about 1 KB of memory."""


@dataclass(frozen=True)
class LogGroup:
    """One log group to read, for the queues whose consumers write there; ``log_class`` is None where not known."""

    name: str
    account_id: str
    region: str
    queue_arns: tuple[str, ...]
    aws: Aws
    log_class: str | None = None


def fetch(group: LogGroup, window: TimeWindow) -> Iterator[list[dict[str, Any]]]:
    """Yield the pages of the window in the way that the group's class allows; pages may be empty.

    Raises AwsRefusedError.
    """
    if group.log_class == log_groups.INFREQUENT_ACCESS:
        return insights.fetch(group.aws, group.name, window)
    if group.log_class not in (None, "STANDARD"):
        raise AwsRefusedError(
            "FilterLogEvents", group.log_class, "AWS lets nobody read a log group of this class", "unsupported"
        )
    return _filtered(group, window)


def _filtered(group: LogGroup, window: TimeWindow) -> Iterator[list[dict[str, Any]]]:
    """Yield the pages of FilterLogEvents in the service's order; events may come twice.

    ``endTime`` is inclusive in FilterLogEvents, our windows are half-open. A full page without a token may have been
    cut (one emulator does so silently): the page after it is asked for from its last millisecond.
    Raises AwsRefusedError.
    """
    start_ms: int | None = window.start_ms
    again: list[Any] = []
    while start_ms is not None:
        span = {"startTime": start_ms, "endTime": window.end_ms - 1}
        asked = {"logGroupName": group.name, "limit": PAGE_EVENTS, **span}
        start_ms = None
        for reply in pages(group.aws, "logs", "filter_log_events", "events", asked, pointer="nextToken"):
            events = reply["events"]
            yield events[len(again) :] if again and events[: len(again)] == again else events
            again = []
        if len(events) >= PAGE_EVENTS and (last_ms := _stamp_ms(events[-1])) is not None:
            again = [event for event in events if _stamp_ms(event) == last_ms]
            if len(again) == len(events):
                raise AwsRefusedError(
                    "FilterLogEvents",
                    "CutPage",
                    said("more than {n} events in millisecond {time}", n=len(events), time=str(last_ms)),
                    "failed",
                )
            start_ms = last_ms


def _stamp_ms(event: Any) -> int | None:
    stamp_ms = event.get("timestamp") if isinstance(event, dict) else None
    return stamp_ms if type(stamp_ms) is int else None


def to_rows(
    events: Iterable[Any], group: LogGroup, places: Places, collected_at: datetime
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Turn one page into rows of ``log_events`` and rows of ``quarantine``: each event becomes exactly one of them."""
    rows, poison = [], []
    for offset, event in enumerate(events):
        if reason := what_is_wrong(event):
            poison.append(quarantine_row(LOG_EVENTS, group.name, reason, offset, event, collected_at))
            continue
        stream, stamp_ms, line = event["logStreamName"], event["timestamp"], redact(event["message"])
        event_id = event.get("eventId") or None
        order_in_ms, own_id = places.of(stream, stamp_ms, line, event_id)
        rows.append(
            {
                "evidence_id": evidence_id("log", group.account_id, group.region, group.name, event_id or own_id),
                "account_id": group.account_id,
                "region": group.region,
                "log_group": group.name,
                "log_stream": stream,
                "event_id": event_id,
                "logged_at": epoch_ms(stamp_ms),
                "ingested_at": _ingested_at(event.get("ingestionTime")),
                "order_in_ms": order_in_ms,
                "line": line,
                "collected_at": collected_at,
            }
        )
    return rows, poison


def ingest(
    lake: Lake,
    group: LogGroup,
    window: TimeWindow,
    collected_at: datetime,
    progress: Callable[[int], None] = lambda seen_count: None,
) -> Reading:
    """Read the window of one log group into the lake; what came is kept even if a later page fails.

    ``progress`` hears how many events have been seen so far. Raises ConservationError if an event got lost on the way.
    """
    done = _Tally(lake, group.name)
    places = Places()
    status, detail = "ok", None
    try:
        for events in fetch(group, window):
            done.take(len(events), *to_rows(events, group, places, collected_at))
            progress(done.seen_count)
        status, detail = of_whole_reply(group.aws)
    except SOURCE_ERRORS as problem:
        status, detail = status_of(problem)
    done.flush()
    if done.seen_count != done.stored_count + done.already_count + done.quarantined_count:
        raise ConservationError(
            said(
                "log group {group}: {count} events seen, but {total} stored, {low} already there and {high} quarantined",
                group=repr(group.name),
                count=done.seen_count,
                total=done.stored_count,
                low=done.already_count,
                high=done.quarantined_count,
            ),
            "This is a bug in Doubletake; nothing in the lake was damaged.",
        )
    return Reading(
        LOG_EVENTS,
        group.name,
        group.account_id,
        group.region,
        group.queue_arns,
        status,
        detail,
        done.seen_count,
        done.stored_count,
        done.already_count,
        done.quarantined_count,
    )


@dataclass
class _Tally:
    """Gathers pages into commits and counts what became of every event."""

    lake: Lake
    group: str
    seen_count: int = 0
    stored_count: int = 0
    already_count: int = 0
    quarantined_count: int = 0
    _rows: list[dict[str, Any]] = field(default_factory=list)
    _poison: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._twins = ApiTwins(self.lake, self.group)

    def take(self, seen_count: int, rows: list[dict[str, Any]], poison: list[dict[str, Any]]) -> None:
        self.seen_count += seen_count
        self._rows += rows
        self._poison += poison
        if len(self._rows) + len(self._poison) >= APPEND_ROWS:
            self.flush()

    def flush(self) -> None:
        if self._rows:
            fresh = self._twins.fresh(self._rows)
            done = self.lake.append(LOG_EVENTS, fresh, f"log_events|{self.group}")
            self.stored_count += done.stored_count
            self.already_count += done.already_count + len(self._rows) - len(fresh)
            self._rows = []
        if self._poison:
            self.quarantined_count += len(self._poison)
            self.lake.append(QUARANTINE, self._poison, f"quarantine|{self.group}")
            self._poison = []


def _ingested_at(value: Any) -> datetime | None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 4_102_444_800_000:
        return None
    return epoch_ms(value)
