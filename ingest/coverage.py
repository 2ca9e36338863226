"""Coverage: which source was read for which window, and what is missing. An error is never an empty result."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from forensics.errors import CredentialsError, EndpointUnreachableError, ForensicsError
from forensics.identity import evidence_id
from forensics.lake import Lake
from forensics.tables import BY_NAME, Table
from forensics.window import TimeWindow
from ingest.clients import AwsRefusedError

COVERAGE = BY_NAME["coverage"]
SOURCE_ERRORS = (AwsRefusedError, EndpointUnreachableError, CredentialsError)
"""What may go wrong with one source while the others are still worth reading."""
SETTLING = timedelta(minutes=5)
"""CloudWatch shows events late: a window counts as read only from its end plus this."""


@dataclass(frozen=True)
class Reading:
    """What came of reading one source. ``seen = stored + already + quarantined`` where the status is ok."""

    source: Table
    resource: str
    account_id: str | None
    region: str | None
    queue_arns: tuple[str, ...]
    status: str = "ok"
    detail: str | None = None
    seen_count: int = 0
    stored_count: int = 0
    already_count: int = 0
    quarantined_count: int = 0

    @property
    def gap(self) -> str | None:
        """The gap in words; None where there is none."""
        if self.status == "ok":
            return None
        what = f"{_WORDS[self.source.name]} {self.resource!r}"
        return f"{what}: {_STATUS_WORDS[self.status]} ({self.detail})" if self.detail else what


_WORDS = {
    "log_events": "log group",
    "metric_points": "metrics of",
    "queue_settings": "settings of queue",
    "function_settings": "settings of function",
    "event_source_mappings": "event source mappings of queue",
}
_STATUS_WORDS = {
    "denied": "AWS denied reading",
    "failed": "reading failed",
    "gone": "not there",
    "unsupported": "cannot be read this way",
    "partial": "read in part",
}


def status_of(problem: ForensicsError) -> tuple[str, str]:
    """Return the coverage status and detail of an error met while reading one source."""
    return problem.status if isinstance(problem, AwsRefusedError) else "failed", str(problem)


def record(lake: Lake, readings: Iterable[Reading], window: TimeWindow, now: datetime) -> None:
    """Append a coverage row per reading and queue, but none for a reading that says nothing new.

    Nothing new: no row was stored, an earlier reading with the same outcome contains the window, and no later reading
    of it ended otherwise. The last five minutes are not asked to be contained: they are unsettled anyway.
    """
    earlier = lake.read(COVERAGE).to_pylist()
    provisional = window.end_at > now - SETTLING
    rows = []
    for reading in readings:
        for queue_arn in reading.queue_arns or (None,):
            row = _row(reading, queue_arn, window, provisional, now)
            if reading.stored_count or not _is_said(row, earlier):
                rows.append(row)
    if rows:
        lake.append(COVERAGE, rows, "coverage|collect")


def _row(
    reading: Reading, queue_arn: str | None, window: TimeWindow, provisional: bool, now: datetime
) -> dict[str, Any]:
    what = (reading.account_id, reading.region, reading.source.name, reading.resource, queue_arn)
    times = (window.start_at.isoformat(), window.end_at.isoformat(), reading.status, now.isoformat())
    return {
        "evidence_id": evidence_id("coverage", *what, *times),
        "account_id": reading.account_id,
        "region": reading.region,
        "source": reading.source.name,
        "resource": reading.resource,
        "queue_arn": queue_arn,
        "window_start_at": window.start_at,
        "window_end_at": window.end_at,
        "status": reading.status,
        "detail": reading.detail,
        "seen_count": reading.seen_count,
        "stored_count": reading.stored_count,
        "already_count": reading.already_count,
        "quarantined_count": reading.quarantined_count,
        "is_provisional": provisional,
        "collected_at": now,
    }


_SAME_READING = ("account_id", "region", "source", "resource", "queue_arn")


def _is_said(row: dict[str, Any], earlier: list[dict[str, Any]]) -> bool:
    same = [e for e in earlier if all(e[c] == row[c] for c in _SAME_READING)]
    half = (row["window_end_at"] - row["window_start_at"]) / 2
    needed_until = row["window_end_at"] - (min(SETTLING, half) if row["is_provisional"] else timedelta(0))
    said = [
        e["collected_at"]
        for e in same
        if e["status"] == row["status"]
        and e["window_start_at"] <= row["window_start_at"]
        and e["window_end_at"] >= needed_until
        and (row["is_provisional"] or not e["is_provisional"])
    ]
    contradicted = [
        e["collected_at"]
        for e in same
        if e["status"] != row["status"]
        and e["window_start_at"] < row["window_end_at"]
        and e["window_end_at"] > row["window_start_at"]
    ]
    return bool(said) and (not contradicted or max(said) >= max(contradicted))
