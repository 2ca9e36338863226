"""What people say of an incident: marks that stand beside the verdict and never replace it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from forensics.errors import ForensicsError
from forensics.identity import evidence_id
from forensics.lake import Findings, Lake
from forensics.lake.filters import equals
from forensics.report.incident_lookup import find_incident
from forensics.tables.findings import MESSAGES
from forensics.tables.people import ANNOTATIONS, MARKS
from forensics.words import time_text

Row = Mapping[str, Any]
MOST_REASON, MOST_AUTHOR = 500, 100
"""Characters."""
MARK_WORDS = {
    "false-alarm": "false alarm",
    "refunded": "refunded",
    "accepted": "accepted",
    "fixed": "fixed",
    "withdrawn": "mark withdrawn",
}


class AnnotationError(ForensicsError):
    """A mark that cannot be meant: unknown, without a reason or a name, or on nothing."""


@dataclass(frozen=True)
class Annotation:
    """One mark. ``item_id`` is None where the whole incident is meant; ``marked_at`` is UTC."""

    evidence_id: str
    incident_id: str
    item_id: str | None
    mark: str
    reason: str
    author: str
    data_version: str
    marked_at: datetime

    @property
    def words(self) -> str:
        """Say the mark: ``refunded``."""
        return MARK_WORDS.get(self.mark, self.mark)


def annotate(
    findings: Findings,
    incident_id: str,
    message: str | None,
    mark: str,
    reason: str,
    author: str,
    now: datetime,
) -> Annotation:
    """Put a mark on an incident, or on the one of its messages that the id or business key names.

    Raises AnnotationError for what cannot be meant, IncidentUnknownError, LakeBusyError where somebody writes at
    this very moment. Nothing that was said before is changed.
    """
    reason, author = " ".join(reason.split()), " ".join(author.split())
    if mark not in MARKS:
        raise AnnotationError(f"{mark!r} is no mark", f"Marks are {', '.join(MARKS)}.")
    if not reason or len(reason) > MOST_REASON:
        raise AnnotationError(
            "a mark needs a reason" if not reason else f"the reason has {len(reason)} characters",
            f"Say in up to {MOST_REASON} characters why, so that the next reader can follow.",
        )
    if not author or len(author) > MOST_AUTHOR:
        raise AnnotationError("a mark needs the name of who says it", f"Give a name of up to {MOST_AUTHOR} characters.")
    find_incident(findings, incident_id)
    item_id = None if message is None else _item_of(findings, incident_id, message)
    said = Annotation(
        evidence_id("annotation", incident_id, item_id, mark, reason, author, time_text(now)),
        incident_id,
        item_id,
        mark,
        reason,
        author,
        findings.generation.data_version,
        now,
    )
    findings.lake.append(ANNOTATIONS, [vars(said)], "annotations|people")
    return said


def _item_of(findings: Findings, incident_id: str, message: str) -> str:
    rows = findings.read(
        MESSAGES, ["item_id", "message_id", "business_keys"], equals("incident_id", incident_id)
    ).to_pylist()
    named = {r["item_id"] for r in rows if message in (r["item_id"], r["message_id"], *(r["business_keys"] or ()))}
    if len(named) == 1:
        return str(named.pop())
    if named:
        raise AnnotationError(
            f"{message!r} names {len(named)} messages of incident {incident_id!r}", "Give the message id instead."
        )
    raise AnnotationError(
        f"{message!r} names no message of incident {incident_id!r}",
        f"`doubletake messages --incident {incident_id}` lists them.",
    )


def annotations(lake: Lake, incident_id: str | None = None) -> tuple[Annotation, ...]:
    """Return what was said, oldest first; of one incident or of all."""
    where = None if incident_id is None else equals("incident_id", incident_id)
    rows = lake.read(ANNOTATIONS, where=where).to_pylist()
    rows.sort(key=lambda r: (r["marked_at"], r["evidence_id"]))
    return tuple(Annotation(**row) for row in rows)


def standing(said: Iterable[Annotation]) -> dict[str | None, tuple[Annotation, ...]]:
    """Return per subject (an item id, or None for the incident) the marks that stand: those since the last withdrawal.

    The same mark by the same person counts once, as it was said last.
    """
    found: dict[str | None, dict[tuple[str, str], Annotation]] = {}
    for one in said:
        mine = found.setdefault(one.item_id, {})
        if one.mark == "withdrawn":
            mine.clear()
        else:
            mine.pop((one.mark, one.author), None)
            mine[one.mark, one.author] = one
    return {subject: tuple(marks.values()) for subject, marks in found.items() if marks}


def marks_beside(lake: Lake) -> Callable[..., str]:
    """Return a function from incident and item id to the marks that stand there, in words.

    A message also carries the marks of its incident; the incident alone has item id None.
    """
    said: dict[str, list[Annotation]] = {}
    for one in annotations(lake):
        said.setdefault(one.incident_id, []).append(one)
    stands = {incident_id: standing(marks) for incident_id, marks in said.items()}

    def marks_of(incident_id: str | None, item_id: str | None = None) -> str:
        here = stands.get(incident_id or "", {})
        return marks_text([*here.get(None, ()), *(here.get(item_id, ()) if item_id else ())])

    return marks_of


def marks_text(marks: Sequence[Annotation]) -> str:
    """Say standing marks in a few words: ``refunded (Ana), accepted (Ben)``."""
    return ", ".join(f"{m.words} ({m.author})" for m in marks)
