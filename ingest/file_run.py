"""One import under way: events of files gathered into commits, and what became of every one of them."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, Protocol
from zoneinfo import ZoneInfo

from forensics.coverage import FROM_FILES
from forensics.errors import EXIT_OK, EXIT_PARTIAL, ConservationError
from forensics.identity import evidence_id
from forensics.lake import Lake
from forensics.privacy import redact
from forensics.sentence import said
from forensics.settings import Settings
from forensics.tables import BY_NAME
from forensics.window import TimeWindow
from ingest import producers
from ingest.coverage import Book, Reading
from ingest.file_bytes import FileDamagedError, FileTooLargeError
from ingest.file_consumers import LogGroups
from ingest.file_events import FileEvent, read_events
from ingest.file_forms import Form, FoundFile
from ingest.file_places import Places
from ingest.mending import Mending, Quarantined, stored_at
from ingest.quarantine import quarantine_row, what_is_wrong
from ingest.record_coverage import RecordTally
from ingest.saved_records import CHANGES, TASKS, SavedRecords, of_tables
from ingest.saved_settings import SavedSettings
from ingest.snapshots import append_changed
from ingest.twins import FileTwins, content_digest, stream_known_as
from ingest.values import epoch_ms

LOG_EVENTS = BY_NAME["log_events"]
QUARANTINE = BY_NAME["quarantine"]
SETTINGS_TABLES = (
    (BY_NAME["queue_settings"], "queue", "queue_arn", "queue_rows"),
    (BY_NAME["function_settings"], "function", "function_arn", "function_rows"),
    (BY_NAME["event_source_mappings"], "mapping", "mapping_uuid", "mapping_rows"),
)
APPEND_ROWS = 50_000
"""Rows gathered for one commit: a commit costs milliseconds, a row about 1 KB of memory."""
SOME_ROWS = 1000
"""So many rows of a commit are looked up to see whether their file was imported before."""
MOST_REASONS = 20
"""So many pieces of poison per file are said in words; all of them are counted and kept."""


class Progress(Protocol):
    """Hears how an import gets on."""

    def size(self, byte_count: int) -> None:
        """Say how many bytes there are to read."""

    def file(self, name: str) -> None:
        """Say which file is read from now on."""

    def bytes(self, byte_count: int) -> None:
        """Say that so many further bytes were read."""


@dataclass
class GroupTally:
    """What came of one log group. ``seen = stored + already + quarantined + other``: lines of a producer, of which sends are kept."""

    seen_count: int = 0
    stored_count: int = 0
    already_count: int = 0
    quarantined_count: int = 0
    other_count: int = 0
    sends_seen_count: int = 0
    sends_stored_count: int = 0
    first_at: datetime | None = None
    last_at: datetime | None = None


@dataclass
class ImportReport:
    """What an import read. Counts are of this run; ``gaps`` are files that could not be read in full, in words."""

    files: Counter[Form] = field(default_factory=Counter)
    groups: dict[str, GroupTally] = field(default_factory=dict)
    settings_seen_count: int = 0
    settings_stored_count: int = 0
    records_seen_count: int = 0
    records_stored_count: int = 0
    cleared_count: int = 0
    gaps: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def read_groups(self) -> set[str]:
        """Log groups of which events were read."""
        return {name for name, done in self.groups.items() if done.first_at and not done.other_count}

    @property
    def exit_code(self) -> int:
        """0 if every file was read in full, else 3."""
        return EXIT_PARTIAL if self.gaps else EXIT_OK


@dataclass(frozen=True)
class ImportChoices:
    """What the person said. ``log_groups`` are written GROUP[=QUEUE]; ``complete`` is the window (UTC) in which the files
    hold everything that was logged; ``guard_table`` names the table whose items a file holds; ``observed_at`` is when saved settings were true, None for each file's own time.
    """  # noqa: D205

    log_groups: tuple[str, ...] = ()
    log_stream: str | None = None
    zone: ZoneInfo | None = None
    account_id: str | None = None
    region: str | None = None
    guard_table: str | None = None
    complete: TimeWindow | None = None
    observed_at: datetime | None = None
    settings: Settings = Settings()


def saved_at(found: FoundFile, choices: ImportChoices, now: datetime) -> datetime:
    """Return when a saved reply was true: as said, else the file's own time, which is never later than now."""
    own = datetime.fromtimestamp(found.path.stat().st_mtime, UTC).replace(microsecond=0)
    return choices.observed_at or min(own, now)


def of_file(found: FoundFile, what: str) -> str:
    """Say something of a file that is imported."""
    return said("{name}: {what}", name=found.name, what=what)


class Run:
    """Gathers rows into commits and counts what became of every event."""

    def __init__(
        self,
        lake: Lake,
        choices: ImportChoices,
        groups: LogGroups,
        report: ImportReport,
        now: datetime,
        progress: Progress,
    ) -> None:
        self.lake, self.choices, self.groups = lake, choices, groups
        self.report, self.now, self.progress = report, now, progress
        self._rows: dict[str, list[dict[str, Any]]] = {}
        self._poison: list[dict[str, Any]] = []
        self._gathered = 0
        self._damaged: set[str] = set()
        self._quarantined = Quarantined(lake, LOG_EVENTS.name)
        self._known_stream: str | None = None
        self._is_known_by_own_name = False
        self._records = RecordTally()

    # -- settings ------------------------------------------------------------------------------------------

    def store_settings(self, found: FoundFile, saved: SavedSettings) -> None:
        """Append what a file of settings says that is new."""
        for table, kind, resource, name in SETTINGS_TABLES:
            rows = getattr(saved, name)
            self.report.settings_seen_count += len(rows)
            stored = append_changed(self.lake, table, kind, resource, rows, saved_at(found, self.choices, self.now))
            self.report.settings_stored_count += len(stored)
        for reason, item in saved.bad:
            self.report.gaps.append(of_file(found, reason))
            row = quarantine_row(SETTINGS_TABLES[0][0], found.name, reason, 0, item, self.now) | {"file": found.name}
            self.lake.append(QUARANTINE, [row], f"quarantine|{found.name}")

    def store_records(self, found: FoundFile, saved: SavedRecords) -> None:
        """Append what a file of metrics, CloudTrail events, calls or move tasks says that is new."""
        for table, rows in of_tables(saved):
            if rows:
                self.report.records_seen_count += len(rows)
                done = self.lake.append(table, rows, f"{table.name}|import")
                self.report.records_stored_count += done.stored_count
                self._records.add(table, rows)
        self.report.records_seen_count += len(saved.tasks)
        stored = append_changed(self.lake, TASKS, "move", "task", saved.tasks, saved_at(found, self.choices, self.now))
        self.report.records_stored_count += len(stored)
        if saved.others:
            self.report.notes.append(
                of_file(found, said("{count} records that bear on no delivery were left out", count=saved.others))
            )
        for reason, item in saved.bad:
            self.report.gaps.append(of_file(found, reason))
            row = quarantine_row(CHANGES, found.name, reason, 0, item, self.now) | {"file": found.name}
            self.lake.append(QUARANTINE, [row], f"quarantine|{found.name}")

    # -- logs ----------------------------------------------------------------------------------------------

    def read_logs(self, found: list[FoundFile]) -> None:
        """Read every log file into the lake."""
        self.progress.size(sum(f.size_bytes for f in found))
        for file in sorted(found, key=lambda f: (f.log_stream, f.name)):
            self.progress.file(file.name)
            self._read_log(file)
        self._flush()
        for group, done in self.report.groups.items():
            kept_count = done.stored_count + done.already_count + done.quarantined_count
            if done.seen_count != kept_count + done.other_count:
                raise ConservationError(
                    said(
                        "log group {group}: {count} events seen, but {total} stored, {low} already there and {high} quarantined",
                        group=repr(group),
                        count=done.seen_count,
                        total=done.stored_count,
                        low=done.already_count,
                        high=done.quarantined_count,
                    ),
                    "This is a bug in Doubletake; nothing in the lake was damaged.",
                )

    def _read_log(self, found: FoundFile) -> None:
        places = Places()
        self._known_stream, self._is_known_by_own_name = None, False
        mending = Mending(self._quarantined, found.name, self.now)
        reasons: Counter[str] = Counter()
        is_whole = True
        alone: list[dict[str, Any]] = []
        nameless = self.groups.only or found.name
        try:
            if found.damage:
                raise FileDamagedError(found.damage)
            for offset, item in enumerate(read_events(found, self.choices.zone, self.progress.bytes)):
                group = item.log_group or nameless
                if (done := self.report.groups.get(group)) is None:
                    done = self.report.groups[group] = GroupTally()
                done.seen_count += 1
                row, reason = self._row(item, group, found, places)
                if row is None:
                    reasons[reason] += 1
                    if item.is_gap:
                        is_whole = False
                        self._damaged.add(group)
                        self.report.gaps.append(of_file(found, reason))
                    done.quarantined_count += 1
                    told = quarantine_row(LOG_EVENTS, group, reason, offset, item.event, self.now)
                    self._poison.append(mending.piece(told, item.line_number))
                elif found.names_stream or row["event_id"]:
                    self._rows.setdefault(group, []).append(row)
                    mending.event(offset, row)
                else:
                    alone.append(row)
                    mending.event(offset, row)
                self._gathered += 1
                if self._gathered >= APPEND_ROWS:
                    self._place_stream(found, alone)
                    alone = []
                    mending.look_up(self._stored_at)
                    self._flush()
        except (FileDamagedError, FileTooLargeError) as problem:
            self._damaged.add(self.groups.only)
            self.report.gaps.append(of_file(found, problem.sentence))
            told = quarantine_row(LOG_EVENTS, self.groups.only or found.name, str(problem), 0, found.name, self.now)
            self._poison.append(mending.piece(told, None))
            is_whole = False
        if alone:
            self._place_stream(found, alone)
        mending.look_up(self._stored_at)
        if is_whole:
            cleared = mending.cleared()
            self._poison += cleared
            self.report.cleared_count += len(cleared)
        if alone:  # a copy of this file must find its events in the lake
            self._flush()
        for reason, count in reasons.most_common(MOST_REASONS):
            self.report.notes.append(
                of_file(found, said("{count} kept in quarantine: {reason}", count=count, reason=reason))
            )

    def _row(self, item: FileEvent, group: str, found: FoundFile, places: Places) -> tuple[dict[str, Any] | None, str]:
        event = item.event
        if reason := item.reason or what_is_wrong(event):
            return None, reason
        stream, line = event["logStreamName"], redact(event["message"])
        self.groups.note_printed(group, line)
        if self.choices.log_stream and stream == found.log_stream:
            stream = self.choices.log_stream
        account_id, region = self.groups.where(group, item.account_id, self.choices.account_id, self.choices.region)
        logged_at, event_id = epoch_ms(event["timestamp"]), event.get("eventId") or None
        order_in_ms, ordinal, content = places.of(stream, logged_at, line, event_id)
        ingested_ms = event.get("ingestionTime")
        return {
            "account_id": account_id,
            "region": region,
            "log_group": group,
            "log_stream": stream,
            "event_id": event_id,
            "logged_at": logged_at,
            "ingested_at": epoch_ms(ingested_ms) if type(ingested_ms) is int and 0 < ingested_ms < 4e12 else None,
            "order_in_ms": order_in_ms,
            "line": line,
            "collected_at": self.now,
            "_ordinal": ordinal,
            "_content": content,
        }, ""

    def _place_stream(self, found: FoundFile, rows: list[dict[str, Any]]) -> None:
        """Take the rows of a file that names no stream, under the name the lake knows them by, if it does."""
        if not rows:
            return
        group = rows[0]["log_group"]
        if not (self.choices.log_stream or self._known_stream or self._is_known_by_own_name):
            self._is_known_by_own_name = self._knows_own_name(rows)
        if not (self.choices.log_stream or self._known_stream or self._is_known_by_own_name):
            self._known_stream = stream_known_as(self.lake, group, rows)
            if self._known_stream:
                self.report.notes.append(
                    of_file(found, said("its events are those of log stream {name}", name=repr(self._known_stream)))
                )
        if self._known_stream:
            for row in rows:
                row["log_stream"] = self._known_stream
                row["_content"] = content_digest(self._known_stream, row["logged_at"], row["line"])
        self._rows.setdefault(group, []).extend(rows)

    def _knows_own_name(self, rows: list[dict[str, Any]]) -> bool:
        """Tell whether the lake has some of these rows under the very name they come with."""
        some = rows[:: max(1, len(rows) // SOME_ROWS)]
        return bool(self.lake.known(LOG_EVENTS, [row | {"evidence_id": _name(row)} for row in some]))

    def _stored_at(self, rows: list[dict[str, Any]]) -> set[datetime]:
        """Return when those of some rows were stored that the lake has."""
        return stored_at(self.lake, {_name(row) for row in rows}, [row["logged_at"] for row in rows])

    def _flush(self) -> None:
        for group, rows in self._rows.items():
            done = self.report.groups[group]
            times = [row["logged_at"] for row in rows]
            for row in rows:
                row["evidence_id"] = _name(row)
            done.first_at = min([*times, *filter(None, [done.first_at])])
            done.last_at = max([*times, *filter(None, [done.last_at])])
            self._append_sends(group, rows)
            if self._is_producers_alone(group):
                done.other_count += len(rows)
                continue
            fresh = FileTwins(self.lake, group).fresh(rows)
            stored = self.lake.append(LOG_EVENTS, fresh, f"log_events|{group}")
            done.stored_count += stored.stored_count
            done.already_count += stored.already_count + len(rows) - len(fresh)
        if self._poison:
            self.lake.append(QUARANTINE, self._poison, "quarantine|import")
        self._rows, self._poison, self._gathered = {}, [], 0

    def _is_producers_alone(self, group: str) -> bool:
        """Tell whether a group holds a producer's lines, and no consumer's: then only its sends are kept."""
        return bool(self.groups.producers_of(group)) and not self.groups.has_consumer(group)

    def _append_sends(self, group: str, rows: list[dict[str, Any]]) -> None:
        for producer, queue_arn in self.groups.producers_of(group):
            sends = list(producers.to_rows(rows, producer, queue_arn))
            self.report.groups[group].sends_seen_count += len(sends)
            self.report.groups[group].sends_stored_count += producers.append(self.lake, sends)

    # -- coverage ------------------------------------------------------------------------------------------

    def record_coverage(self) -> None:
        """Say what is known of each group from now on: whole in the window a person vouched for, else in part.

        Calls to SQS likewise, per queue. Metrics and changes are in part in any case: a file of them holds what was asked for.
        """
        told = list(self._readings())
        if told:
            reach = TimeWindow(min(w.start_at for _, w in told), max(w.end_at for _, w in told))
            with Book(self.lake, reach) as book:
                for reading, window in told:
                    book.record([reading], window, self.now)

    def _readings(self) -> Iterator[tuple[Reading, TimeWindow]]:
        yield from self._records.readings(self.choices.complete)
        for group, done in self.report.groups.items():
            if done.first_at is None or done.last_at is None:
                continue
            detail: str | None
            window = self.choices.complete or TimeWindow(done.first_at, done.last_at + timedelta(milliseconds=1))
            status, detail = "ok", None
            if group in self._damaged:
                status, detail = "failed", "a file is damaged"
            elif self.choices.complete is None:
                status, detail = "partial", f"{FROM_FILES}: what else was logged there is not known"
            account_id, region = self.groups.where(group, None, self.choices.account_id, self.choices.region)
            for producer, queue_arn in self.groups.producers_of(group):
                sends = producers.reading_of(producer, account_id, region, queue_arn)
                yield replace(sends, status=status, detail=detail), window
            if self._is_producers_alone(group):
                continue
            counts = (done.seen_count, done.stored_count, done.already_count, done.quarantined_count)
            arns = self.groups.queue_arns(group)
            yield Reading(LOG_EVENTS, group, account_id, region, arns, status, detail, *counts), window


def _name(row: dict[str, Any]) -> str:
    """Return the evidence id: of an event without an id it is made from its content and its place among equals."""
    own = row["event_id"]
    if own is None:
        own = "content:" + sha256(f"{row['_content'].hex()}|{row['_ordinal']}".encode()).hexdigest()
    return evidence_id("log", row["account_id"], row["region"], row["log_group"], own)
