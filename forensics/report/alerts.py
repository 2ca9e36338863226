"""What is worth a notice beside incidents: dead letters, lost or poisoned messages, blocked groups, throttles, waits, blind sources."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from forensics.choices import AlertKind
from forensics.lake import Findings
from forensics.lake.findings import rows_of
from forensics.lake.rows import plain_rows
from forensics.sentence import clause, counted, said
from forensics.settings import Settings
from forensics.tables.evidence import COVERAGE
from forensics.tables.findings import QUEUE_FINDINGS
from forensics.tables.health import QUEUE_HEALTH
from forensics.words import clock_text, span_text

Row = Mapping[str, Any]
REACH = timedelta(hours=24)
"""How far back from the end of the evidence anything is news: a first run must not tell the history of a year."""
_UNREADABLE = ("denied", "failed", "gone")


@dataclass(frozen=True)
class Alert:
    """One piece of news. ``key`` names what it is about, ``news`` what of it: a change gives another. ``at`` is UTC."""

    kind: AlertKind
    key: str
    severity: str
    title: str
    text: str
    at: datetime | None

    @property
    def news(self) -> str:
        """Digest what is told: equal as long as nothing has changed."""
        return hashlib.sha256(f"{self.kind}|{self.key}|{self.title}".encode()).hexdigest()[:32]


def alerts(findings: Findings, settings: Settings, now: datetime) -> list[Alert]:
    """Return what is worth telling at the end of the evidence, of the kinds that the settings want; oldest first."""
    until = findings.generation.data_until_at
    wanted = set(settings.notify.alerts)
    found = [a for make in _MAKERS for a in make(findings, settings, until, now) if a.kind in wanted]
    return sorted(found, key=lambda a: (a.at is None, a.at, a.key))


_FINDINGS: dict[str, tuple[AlertKind, str, str, str]] = {
    "dead_lettered": ("dead_letter", "critical", "{n} dead-lettered on {queue}", "message"),
    "retention_expired": ("lost", "critical", "{n} lost on {queue}: the retention ended", "message"),
    "poison_without_dlq": (
        "poison",
        "critical",
        "{n} on {queue} is redelivered indefinitely: there is no dead-letter queue",
        "message",
    ),
    "fifo_group_blocked": ("blocked", "warning", "{n} blocked on {queue}, {times}", "message group"),
}


def _of_findings(findings: Findings, settings: Settings, until: datetime | None, now: datetime) -> Iterator[Alert]:
    by_queue: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows_of(findings.read(QUEUE_FINDINGS)):
        at = row["until_at"] or row["from_at"]
        if row["code"] in _FINDINGS and row["stance"] == "supported" and until and at and at > until - REACH:
            by_queue[row["code"], row["queue"]].append(row)
    for (code, queue), rows in sorted(by_queue.items()):
        kind, severity, title, noun = _FINDINGS[code]
        rows.sort(key=lambda r: (r["from_at"], r["item_id"]))
        count = len({r["group_id"] for r in rows}) if kind == "blocked" else len(rows)
        newest = rows[-1]
        yield Alert(
            kind,
            f"{kind}:{queue}",
            severity,
            said(title, n=counted(count, noun), queue=queue, times=counted(len(rows), "time")),
            said(
                "From {at} UTC: {clause}." if len(rows) == 1 else "The newest, from {at} UTC: {clause}.",
                at=clock_text(newest["from_at"]),
                clause=clause(newest["sentence"]),
            ),
            newest["from_at"],
        )


def _of_days(findings: Findings, settings: Settings, until: datetime | None, now: datetime) -> Iterator[Alert]:
    for row in plain_rows(findings.read(QUEUE_HEALTH)):
        if until is None or row["ends_at"] <= until - REACH or row["starts_at"] > until:
            continue
        queue, promise = row["queue"], settings.queue(row["queue"]).promise_s
        if promise is not None and (row["age_max_s"] or 0) > promise:
            yield Alert(
                "age",
                f"age:{queue}:{row['day']}",
                "warning",
                said("a message of {queue} waited longer than promised on {day}", queue=queue, day=row["day"]),
                said(
                    "The oldest was {age} old; promised are {promise}.",
                    age=span_text(1000 * row["age_max_s"]),
                    promise=span_text(1000 * promise),
                ),
                row["starts_at"],
            )
        if row["throttle_count"]:
            yield Alert(
                "throttled",
                f"throttled:{queue}:{row['day']}",
                "warning",
                said("consumers of {queue} were throttled on {day}", queue=queue, day=row["day"]),
                said(
                    "{count} invocation was refused, which costs the message a receive."
                    if row["throttle_count"] == 1
                    else "{count} invocations were refused; each costs the message a receive.",
                    count=row["throttle_count"],
                ),
                row["starts_at"],
            )


def _of_sources(findings: Findings, settings: Settings, until: datetime | None, now: datetime) -> Iterator[Alert]:
    newest: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows_of(findings.lake.read(COVERAGE)):
        key = (row["source"], row["resource"])
        if key not in newest or row["collected_at"] > newest[key]["collected_at"]:
            newest[key] = row
    for (source, resource), row in sorted(newest.items()):
        if row["status"] in _UNREADABLE:
            yield Alert(
                "source",
                f"source:{source}:{resource}",
                "warning",
                said(
                    "{source} of {resource} cannot be read: {status}",
                    source=source,
                    resource=resource,
                    status=row["status"],
                ),
                row["detail"] or "AWS gave no reason.",
                row["collected_at"],
            )
    stale = timedelta(minutes=settings.team.stale_after_min)
    if until is not None and now - until > stale:
        yield Alert(
            "source",
            "source:stale",
            "warning",
            said("no evidence since {at} UTC", at=clock_text(until)),
            "What happened after that nobody has looked at: `doubletake collect` and `doubletake correlate`.",
            until,
        )


_MAKERS: tuple[Callable[[Findings, Settings, datetime | None, datetime], Iterator[Alert]], ...] = (
    _of_findings,
    _of_days,
    _of_sources,
)
