"""What a lake holds: per queue and source how far it was read, what is missing, rows, size, data version."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from stat import S_ISREG
from typing import Any

from forensics.coverage import is_from_files, lacks_its_time, standing
from forensics.identity import queue_name
from forensics.lake import Generation, Lake
from forensics.lake.filters import at_least
from forensics.lake.findings import rows_of
from forensics.quarantine import COLUMNS, quarantine_records, quarantine_sentences
from forensics.report.expiring import expiring
from forensics.report.freshness import logs_left_out
from forensics.report.records import plain_value
from forensics.sentence import counted, joined, said
from forensics.spans import holes
from forensics.tables import EVIDENCE
from forensics.tables.evidence import COVERAGE, LOG_EVENTS, QUARANTINE
from forensics.words import clock_text, span_text

GROWTH = timedelta(days=7)

Row = Mapping[str, Any]
Span = tuple[datetime, datetime]

SOURCE_COLUMNS = (
    "queue",
    "source",
    "resource",
    "read_from",
    "read_until",
    "gaps",
    "provisional",
    "status",
    "detail",
    "seen_count",
    "stored_count",
    "gap_list",
)


@dataclass(frozen=True)
class SourceStatus:
    """How far one source of one queue was read; times UTC.

    Where files alone were read, ``read_from_at`` and ``read_until_at`` are from when to when their events are.
    ``gaps`` are spans between the first and the last reading that no successful reading covers; ``status`` and
    ``detail`` are those of the newest reading; ``provisional`` when late events may still be missing at the end.
    """

    queue: str
    source: str
    resource: str
    read_from_at: datetime | None
    read_until_at: datetime | None
    gaps: tuple[Span, ...]
    provisional: bool
    status: str
    detail: str | None
    seen_count: int
    stored_count: int

    @property
    def is_from_files(self) -> bool:
        """Tell whether files were read, and nobody said that they hold everything."""
        return is_from_files(self.status, self.detail)

    @property
    def is_not_readable(self) -> bool:
        """Tell whether reading gave less than what there was to read."""
        return self.status != "ok" and not self.is_from_files

    def as_record(self) -> dict[str, Any]:
        """Return plain values under SOURCE_COLUMNS; times as ISO 8601 UTC text."""
        return {
            "queue": self.queue,
            "source": self.source,
            "resource": self.resource,
            "read_from": plain_value(self.read_from_at),
            "read_until": plain_value(self.read_until_at),
            "gaps": len(self.gaps),
            "provisional": self.provisional,
            "status": self.status,
            "detail": self.detail,
            "seen_count": self.seen_count,
            "stored_count": self.stored_count,
            "gap_list": [f"{plain_value(start)}/{plain_value(end)}" for start, end in self.gaps],
        }


@dataclass(frozen=True)
class LakeStatus:
    """The whole lake: sources, evidence rows per table, bytes on disk, and the generation that readers see."""

    lake: str
    sources: tuple[SourceStatus, ...]
    evidence_rows: Mapping[str, int]
    size_bytes: int
    file_count: int
    grown_rows: int
    grown_bytes: int
    generation: Generation | None
    is_stale: bool
    expiring: tuple[str, ...] = ()
    quarantined: tuple[Mapping[str, Any], ...] = ()

    def as_record(self) -> dict[str, Any]:
        """Return everything but the sources as plain values."""
        g = self.generation
        return {
            "lake": self.lake,
            "size_bytes": self.size_bytes,
            "evidence_files": self.file_count,
            "grown_rows_7d": self.grown_rows,
            "grown_bytes_7d": self.grown_bytes,
            "about_to_be_lost": list(self.expiring),
            "evidence_rows": dict(self.evidence_rows),
            "quarantined": [dict(record) for record in self.quarantined],
            "findings_rows": dict(sorted(g.row_counts.items())) if g else None,
            "data_version": g.data_version if g else None,
            "rules_version": g.rules_version if g else None,
            "data_since_at": plain_value(g.data_since_at) if g else None,
            "data_until_at": plain_value(g.data_until_at) if g else None,
            "findings_are_stale": self.is_stale,
        }

    def sentences(self) -> tuple[str, ...]:
        """Return the same in words."""
        rows = ", ".join(f"{name} {count:,}" for name, count in self.evidence_rows.items())
        size = f"{self.size_bytes / 1e6:,.1f}"
        told: list[str] = [
            said("Lake {table}: {size} MB; evidence rows: {rows}.", table=self.lake, size=size, rows=rows or "none")
        ]
        if self.grown_rows:
            told.append(
                said(
                    "In the last 7 days: {events}, about {size} MB; evidence lies in {files}.",
                    events=counted(self.grown_rows, "new log event"),
                    size=f"{self.grown_bytes / 1e6:,.1f}",
                    files=counted(self.file_count, "file"),
                )
            )
        told += self.expiring
        files: list[SourceStatus] = []
        tables: list[SourceStatus] = []
        for source in self.sources:
            if source.is_from_files:
                (tables if lacks_its_time(source.source) else files).append(source)
        if files:
            told.append(
                said(
                    "{sources} read from files; whether they hold everything is not known, unless "
                    "an import with `--complete-since` says so.",
                    sources=counted(len(files), "source"),
                )
            )
        if tables:
            unsure_when = "{tables} read from files; when is not known, unless an import with `--observed-at` says so."
            told.append(said(unsure_when, tables=counted(len(tables), "idempotency table")))
        missing = [s for s in self.sources if s.is_not_readable]
        if missing:
            why = "{sources} could not be read in full: `doubletake status --sources` says why."
            told.append(said(why, sources=counted(len(missing), "source")))
        told += quarantine_sentences(self.quarantined)
        for s in self.sources:
            told += [
                said(
                    "Gap: {source} {name} was not read from {a} to {b} UTC ({span}).",
                    source=s.source,
                    name=s.resource,
                    a=clock_text(a),
                    b=clock_text(b),
                    span=span_text((b - a).total_seconds() * 1000),
                )
                for a, b in s.gaps
            ]
        if self.generation is None:
            told.append("No findings yet: run `doubletake correlate`.")
        else:
            g = self.generation
            found = ", ".join(
                f"{name} {g.row_counts[name]:,}"
                for name in ("deliveries", "messages", "incidents")
                if name in g.row_counts
            )
            told.append(
                said(
                    "Findings: data version {version}, evidence until {at} UTC; {found}.",
                    version=g.data_version,
                    at=clock_text(g.data_until_at),
                    found=found,
                )
            )
            told += logs_left_out(g)
            if self.is_stale:
                told.append("Evidence was added since: run `doubletake correlate` to see it.")
        return tuple(told)


def lake_status(lake: Lake, now: datetime | None = None) -> LakeStatus:
    """Read a lake's state; raises LakeMissingError if there is none. ``now`` decides what is about to be lost."""
    lake.check()
    now = now or datetime.now(UTC)
    versions = lake.versions(EVIDENCE)
    generation = lake.generation()
    counts = {t.name: lake.count(t) for t in EVIDENCE if t.name in versions}
    quarantined = quarantine_records(rows_of(lake.read(QUARANTINE, COLUMNS))) if QUARANTINE.name in counts else []
    counts[QUARANTINE.name] = sum(record["count"] for record in quarantined)
    if not quarantined:
        del counts[QUARANTINE.name]
    sources = source_statuses(rows_of(lake.read(COVERAGE)))
    grown_rows = lake.count(LOG_EVENTS, where=at_least("collected_at", now - GROWTH))
    return LakeStatus(
        lake=str(lake.root),
        sources=sources,
        evidence_rows=counts,
        size_bytes=bytes_below(lake.root),
        file_count=sum(lake.size_bytes(t)[0] for t in EVIDENCE),
        grown_rows=grown_rows,
        grown_bytes=round(lake.size_bytes(LOG_EVENTS)[1] * grown_rows / max(counts.get(LOG_EVENTS.name, 0), 1)),
        generation=generation,
        is_stale=generation is not None and bool(lake.gained(generation.inputs)),
        expiring=expiring(lake, sources, now),
        quarantined=tuple(quarantined),
    )


def is_complete(coverage: Iterable[Row], queue: str | None = None) -> bool:
    """Tell whether everything that was asked for was read in full: of one queue and of what is no queue's own, or of all."""
    sources = source_statuses(coverage)
    return not any(
        s.status != "ok" or s.gaps or s.provisional for s in sources if queue is None or s.queue in ("", queue)
    )


def queue_records(sources: Iterable[SourceStatus]) -> list[dict[str, Any]]:
    """Return a row per queue, for people: from when until when all its sources were read, and what lacks of them."""
    grouped: dict[str, list[SourceStatus]] = defaultdict(list)
    for source in sources:
        if source.queue:
            grouped[source.queue].append(source)
    return [_queue_record(queue, grouped[queue]) for queue in sorted(grouped)]


def _queue_record(queue: str, sources: Sequence[SourceStatus]) -> dict[str, Any]:
    starts, ends = [s.read_from_at for s in sources], [s.read_until_at for s in sources]
    lacks = [
        said("{sources} {status}", sources=counted(n, "source"), status=status)
        for status, n in Counter("from files" if s.is_from_files else s.status for s in sources).items()
        if status != "ok"
    ]
    if gaps := sum(len(s.gaps) for s in sources):
        lacks.append(counted(gaps, "gap"))
    if any(s.provisional for s in sources):
        lacks.append("its end provisional")
    return {
        "queue": queue,
        "read_from": clock_text(max(filter(None, starts), default=None))[:16],
        "read_until": clock_text(min(filter(None, ends), default=None))[:16],
        "evidence": joined(lacks, ", ") if lacks else "complete",
    }


def source_statuses(coverage: Iterable[Row]) -> tuple[SourceStatus, ...]:
    """Turn readings into one status per queue, source and resource, sorted by those."""
    grouped: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in coverage:
        queue = queue_name(row["queue_arn"]) or ""
        grouped[(queue, row["source"], row["resource"] or "")].append(row)
    return tuple(_status(*key, grouped[key]) for key in sorted(grouped))


def _status(queue: str, source: str, resource: str, readings: list[Row]) -> SourceStatus:
    readings = sorted(readings, key=lambda r: (r["collected_at"], r["evidence_id"]))
    good = list(standing(readings))
    newest = readings[-1]
    of_files = [r for r in readings if is_from_files(r["status"], r["detail"])]
    told = good or of_files
    until = max((r["window_end_at"] for r in told), default=None)
    settled = {r["window_end_at"] for r in good if not r["is_provisional"]}
    return SourceStatus(
        queue=queue,
        source=source,
        resource=resource,
        read_from_at=min((r["window_start_at"] for r in told), default=None),
        read_until_at=until,
        gaps=tuple(holes([(r["window_start_at"], r["window_end_at"]) for r in good])),
        provisional=bool(good) and until not in settled,
        status=newest["status"],
        detail=newest["detail"],
        seen_count=sum(r["seen_count"] or 0 for r in readings),
        stored_count=sum(r["stored_count"] or 0 for r in readings),
    )


def bytes_below(folder: Path) -> int:
    """Return the bytes of the files in a folder; a file under several names counts once, one that goes meanwhile not at all."""
    sizes = {}
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            found = path.stat()
            if S_ISREG(found.st_mode):
                sizes[found.st_dev, found.st_ino] = found.st_size
    return sum(sizes.values())
