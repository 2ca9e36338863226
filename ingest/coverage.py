"""Coverage: which source was read for which window, and what is missing. An error is never an empty result."""

from collections.abc import Iterable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

from forensics.coverage import SETTLING
from forensics.errors import CredentialsError, EndpointUnreachableError, ForensicsError
from forensics.identity import evidence_id
from forensics.lake import Lake
from forensics.lake.filters import at_least
from forensics.lake.rows import plain_rows
from forensics.sentence import said
from forensics.tables import BY_NAME, Table
from forensics.window import TimeWindow, whole_ms
from ingest import rereading
from ingest.aws_errors import AwsRefusedError
from ingest.clients import Aws
from ingest.reply_shape import in_words
from ingest.rereading import Known

COVERAGE = BY_NAME["coverage"]
SOURCE_ERRORS = (AwsRefusedError, EndpointUnreachableError, CredentialsError)
"""What may go wrong with one source while the others are still worth reading."""
FLUSH_EVERY_S = 5.0
"""So much of a run's time at most is not told of by coverage while it runs, but for what is being read."""
LOST = "lost"
"""Coverage status: what earlier readings stored was damaged since, so the window must be read again."""


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
        words = _WORDS[self.source.name]
        if self.source.name == "send_records" and not self.resource.startswith("arn:"):
            words = "sends logged in {name}"
        what = said(words, name=repr(self.resource), region=self.region)  # every region's setting changes have one name
        told = {"what": what, "how": _STATUS_WORDS[self.status]}
        return said("{what}: {how} ({why})", why=self.detail, **told) if self.detail else said("{what}: {how}", **told)


_WORDS = {
    "log_events": "log group {name}",
    "metric_points": "metrics of {name}",
    "queue_settings": "settings of queue {name}",
    "function_settings": "settings of function {name}",
    "event_source_mappings": "event source mappings of queue {name}",
    "log_group_settings": "settings of log group {name}",
    "setting_changes": "setting changes in {name} of {region}",
    "send_records": "calls to queue {name}",
    "move_tasks": "redrives out of queue {name}",
    "task_stops": "stopped tasks of cluster {name}",
    "guard_table_settings": "settings of idempotency table {name}",
    "guard_records": "records of idempotency table {name}",
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
    return problem.status if isinstance(problem, AwsRefusedError) else "failed", problem.sentence


def of_whole_reply(aws: Aws) -> tuple[str, str | None]:
    """Return the coverage status and detail of a source that answered: ``partial`` where some of it had to be left out."""
    misfits = aws.misfits()
    return ("partial", in_words(misfits)) if misfits else ("ok", None)


_COMPARED = ["account_id", "region", "source", "resource", "queue_arn", "window_start_at", "window_end_at"]
_COMPARED += ["status", "is_provisional", "collected_at"]


class Book:
    """The coverage of one window: what was read of it, and what to read of it now. Rows are read once, at the start.

    What is recorded is written with what follows it, at the end or after FLUSH_EVERY_S: a commit takes longer than most
    readings of a quiet minute. Coverage comes after what it tells of, so a killed run leaves a gap, and reads it again.
    """

    def __init__(self, lake: Lake, window: TimeWindow) -> None:
        self._lake = lake
        self._unwritten: list[dict[str, Any]] = []
        self._flushed_s = monotonic()
        overlaps = at_least("window_end_at", window.start_at)
        self._rows: dict[_Key, list[dict[str, Any]]] = {}
        for row in plain_rows(lake.read(COVERAGE, _COMPARED, overlaps)):
            self._rows.setdefault(_key_of(row), []).append(row)

    def __enter__(self) -> "Book":
        return self

    def __exit__(self, kind: type[BaseException] | None, *told: object) -> None:
        """Write what was recorded, also of a run that failed later; what fails then hides nothing of why it did."""
        with suppress(Exception) if kind else nullcontext():
            self.flush()

    def flush(self) -> None:
        """Write what was recorded and is not in the lake yet, in one commit."""
        if self._unwritten:
            self._lake.append(COVERAGE, self._unwritten, "coverage|collect")
        self._unwritten, self._flushed_s = [], monotonic()

    def due(
        self,
        source: Table,
        resource: str,
        account_id: str,
        region: str,
        queue_arns: tuple[str, ...],
        window: TimeWindow,
        now: datetime,
        **ladder: Any,
    ) -> list[TimeWindow]:
        """Return the parts of the window that one of the queues still wants read; ``ladder`` as in rereading.due."""
        wanted = []
        for queue_arn in queue_arns or (None,):
            rows = self._rows.get((account_id, region, source.name, resource, queue_arn), [])
            wanted += rereading.due(window, _known(rows), now, **ladder)
        return rereading.joined(wanted)

    def read_at(
        self, source: Table, resource: str, account_id: str, region: str, queue_arns: tuple[str, ...]
    ) -> datetime | None:
        """Return when a source was last read in full for all of the queues; None where it never was."""
        found = []
        for queue_arn in queue_arns or (None,):
            rows = self._rows.get((account_id, region, source.name, resource, queue_arn), [])
            found.append(max((row["collected_at"] for row in rows if row["status"] == "ok"), default=None))
        times = [at for at in found if at is not None]
        return min(times) if len(times) == len(found) else None

    def record(self, readings: Iterable[Reading], window: TimeWindow, now: datetime, is_sealed: bool = False) -> None:
        """Keep a coverage row per reading and queue for the next flush, but none for a reading that says nothing new.

        Nothing new: no row was stored, an earlier reading with the same outcome contains the window, no later reading
        of it ended otherwise, and no re-read was due. The last five minutes are not asked to be contained: they are
        unsettled anyway.
        """
        provisional = window.end_at > now - SETTLING
        for reading in readings:
            for queue_arn in reading.queue_arns or (None,):
                row = _row(reading, queue_arn, window, provisional, now) | {"is_sealed": is_sealed}
                earlier = self._rows.setdefault(_key_of(row), [])
                if is_sealed or reading.stored_count or not _is_said(row, earlier) or _was_due(row, earlier, now):
                    self._unwritten.append(row)
                    earlier.append(row)
        if monotonic() - self._flushed_s >= FLUSH_EVERY_S:
            self.flush()


def record(lake: Lake, readings: Iterable[Reading], window: TimeWindow, now: datetime) -> None:
    """Append coverage rows for readings of one window, as Book.record does, at once."""
    with Book(lake, window) as book:
        book.record(readings, window, now)


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


_Key = tuple[str, str, str, str, str | None]


def _key_of(row: dict[str, Any]) -> _Key:
    return row["account_id"], row["region"], row["source"], row["resource"], row["queue_arn"]


def _known(rows: list[dict[str, Any]]) -> Iterator[Known]:
    for row in rows:
        if row["status"] in ("ok", LOST):
            yield Known(row["window_start_at"], row["window_end_at"], row["collected_at"], row["status"] == LOST)


def _was_due(row: dict[str, Any], earlier: list[dict[str, Any]], now: datetime) -> bool:
    """Tell whether this reading was one that the ladder of re-reads asked for; the unsettled end does not count."""
    end_at = min(row["window_end_at"], whole_ms(now - 2 * SETTLING))
    if row["status"] != "ok" or row["window_start_at"] >= end_at:
        return False
    return bool(rereading.due(TimeWindow(row["window_start_at"], end_at), _known(earlier), now))


def _is_said(row: dict[str, Any], same: list[dict[str, Any]]) -> bool:
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
