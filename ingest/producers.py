"""Sends that producers logged, out of the log groups that the settings name, as rows of ``send_records``.

Only lines that the settings' pattern finds are kept. What other settings read of the same lines are other rows, and each
reading says by which pattern it was made: a pattern that was mended is read with anew.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from forensics.identity import evidence_id
from forensics.lake import Lake
from forensics.parsers.sends import epoch_ms_in, pattern_of, read_as, send_of
from forensics.settings import Producer, Settings
from forensics.tables import BY_NAME
from forensics.window import TimeWindow
from ingest import log_events
from ingest.coverage import SOURCE_ERRORS, Reading, of_whole_reply, status_of
from ingest.discovery import Estate
from ingest.log_events import APPEND_ROWS, LogGroup
from ingest.log_places import Places
from ingest.values import epoch_ms_or_none, moment

Row = dict[str, Any]
SEND_RECORDS = BY_NAME["send_records"]


def of_estate(estate: Estate, settings: Settings) -> list[tuple[LogGroup, Producer]]:
    """Return the log group of every producer that the settings name for a queue that is collected."""
    return [
        (LogGroup(producer.log_group, ref.account_id, ref.region, (ref.arn,), ref.aws), producer)
        for producer in settings.producers
        for ref in estate.queues
        if ref.name == producer.queue
    ]


def to_rows(rows: Iterable[Row], producer: Producer, queue_arn: str) -> Iterator[Row]:
    """Yield a row of ``send_records`` per row of ``log_events`` whose line tells of a send."""
    pattern = pattern_of(producer)
    for row in rows:
        send = send_of(row["line"], producer)
        if send is None:
            continue
        yield {
            "evidence_id": evidence_id("send", row["evidence_id"], queue_arn, pattern),
            "account_id": row["account_id"],
            "region": row["region"],
            "event_id": row["event_id"] or row["evidence_id"],
            "place": 0,
            "called_at": _sent_at(send.sent_at) or row["logged_at"],
            "operation": "SendMessage",
            "queue_arn": queue_arn,
            "message_id": send.message_id,
            "deduplication_id": send.deduplication_id,
            "business_key": send.key,
            "producer_request_id": send.request_id,
            "log_group": row["log_group"],
            "log_stream": row["log_stream"],
            "line": row["line"],
            "pattern": pattern,
            "collected_at": row["collected_at"],
        }


def ingest(
    lake: Lake,
    group: LogGroup,
    producer: Producer,
    window: TimeWindow,
    collected_at: datetime,
    progress: Callable[[int], None] = lambda seen_count: None,
) -> Reading:
    """Read the sends of one window that a producer logged; what came is kept even if a later page fails."""
    places, found, status, detail = Places(), list[Row](), "ok", None
    seen = looked_at = stored = 0
    try:
        for events in log_events.fetch(group, window):
            looked_at += len(events)
            rows, _ = log_events.to_rows(events, group, places, collected_at)
            found += to_rows(rows, producer, group.queue_arns[0])
            if len(found) >= APPEND_ROWS:
                seen, stored, found = seen + len(found), stored + append(lake, found), []
            progress(looked_at)
        status, detail = of_whole_reply(group.aws)
    except SOURCE_ERRORS as problem:
        status, detail = status_of(problem)
    seen, stored = seen + len(found), stored + append(lake, found)
    reading = reading_of(producer, group.account_id, group.region, group.queue_arns[0])
    return replace(
        reading, status=status, detail=detail, seen_count=seen, stored_count=stored, already_count=seen - stored
    )


def append(lake: Lake, rows: list[Row]) -> int:
    """Store rows that are new, and return how many were."""
    return lake.append(SEND_RECORDS, rows, "send_records|producers").stored_count if rows else 0


def reading_of(producer: Producer, account_id: str | None, region: str | None, queue_arn: str) -> Reading:
    """Return a whole reading of a producer's sends: its log group, as one pattern reads it."""
    return Reading(SEND_RECORDS, read_as(producer), account_id, region, (queue_arn,))


def _sent_at(text: str | None) -> datetime | None:
    return None if text is None else epoch_ms_or_none(epoch_ms_in(text)) or moment(text)
