"""What people say of works: marks and comments, kept for ever, each with who said it, when and why."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from forensics.errors import ForensicsError
from forensics.identity import evidence_id
from forensics.lake import Findings, Lake
from forensics.lake.filters import equals, one_of
from forensics.lake.incident_lookup import find_incident
from forensics.lake.rows import plain_rows
from forensics.nearest import alternatives
from forensics.people.saying import kept
from forensics.sentence import counted, said
from forensics.tables.findings import MESSAGES
from forensics.tables.people import ANNOTATIONS, MARKS
from forensics.verdict.interval import AFFECTED
from forensics.words import time_text

Row = Mapping[str, Any]
MOST_REASON, MOST_COMMENT, MOST_AUTHOR = 500, 2000, 100
"""Characters."""
MARK_WORDS = {
    "false-alarm": "false alarm",
    "charged-once": "charged once, checked with the bank",
    "refunded": "refunded",
    "accepted": "accepted",
    "fixed": "fixed",
    "comment": "comment",
    "withdrawn": "mark withdrawn",
}
SETS_ASIDE = ("false-alarm", "charged-once")
"""Marks that take a work out of the counts: a person knows that it was done once."""
SETTLES = ("refunded", "accepted")
"""Marks after which nothing is left to do about a work; it still counts as repeated."""


class AnnotationError(ForensicsError):
    """A mark that cannot be meant: unknown, without a reason or a name, or on nothing."""


@dataclass(frozen=True)
class Annotation:
    """One mark or comment. ``item_id`` is None where a whole incident was meant; times are UTC.

    It hangs on ``item_ids``: every message of the works that were meant, also of those of other incidents. ``incident_id`` is
    where they were found, and may be gone. Marks of earlier releases name no items, queue or span.
    """

    evidence_id: str
    incident_id: str
    item_id: str | None
    mark: str
    reason: str
    author: str
    data_version: str
    marked_at: datetime
    queue_arn: str | None = None
    item_ids: tuple[str, ...] | None = None
    from_at: datetime | None = None
    until_at: datetime | None = None

    @property
    def words(self) -> str:
        """Say the mark: ``refunded``."""
        return MARK_WORDS.get(self.mark, self.mark)


def annotate(
    findings: Findings,
    incident_id: str | None,
    message: str | None,
    mark: str,
    reason: str,
    author: str,
    now: datetime,
    queue: str | None = None,
) -> Annotation:
    """Put a mark on the works of an incident, or on the one work that a message id, item id or business key names.

    Without an incident the message is looked for in all of them, or in those of a queue. Raises AnnotationError for what
    cannot be meant, IncidentUnknownError, LakeBusyError where somebody writes at this very moment. Nothing that was said
    before is changed.
    """
    reason, author = " ".join(reason.split()), " ".join(author.split())
    _check(mark, reason, author)
    incident = find_incident(findings, incident_id) if incident_id else None
    if message is None:
        if incident is None:
            raise AnnotationError("a mark stands on an incident or a message", "Name one of them.")
        works, item_id = (
            _works(findings, equals("incident_id", incident["incident_id"]) & one_of("verdict", AFFECTED)),
            None,
        )
        where = incident
    else:
        works, item_id, where = _work_named(findings, message, incident, queue)
    items = tuple(sorted({row["item_id"] for row in works}))

    def say(at: datetime) -> tuple[Annotation, dict[str, Any]]:
        mark_put = Annotation(
            evidence_id("annotation", where["incident_id"], item_id, mark, reason, author, time_text(at)),
            str(where["incident_id"] or ""),
            item_id,
            mark,
            reason,
            author,
            findings.generation.data_version,
            at,
            where["queue_arn"],
            items,
            where.get("started_at"),
            where.get("ended_at"),
        )
        return mark_put, vars(mark_put) | {"item_ids": list(items)}

    return kept(findings.lake, ANNOTATIONS, "marked_at", now, say)


def _check(mark: str, reason: str, author: str) -> None:
    if mark not in MARKS:
        raise AnnotationError(
            said("{word} is no mark", word=repr(mark)), said("Marks are {names}.", names=", ".join(MARKS))
        )
    is_comment = mark == "comment"
    most = MOST_COMMENT if is_comment else MOST_REASON
    if not reason or len(reason) > most:
        lacking = "a comment needs words" if is_comment else "a mark needs a reason"
        too_long = "the comment has {count} characters" if is_comment else "the reason has {count} characters"
        raise AnnotationError(
            said(too_long, count=len(reason)) if reason else lacking,
            said("Say it in up to {n} characters, so that the next reader can follow.", n=most),
        )
    if not author or len(author) > MOST_AUTHOR:
        raise AnnotationError(
            "a mark needs the name of who says it", said("Give a name of up to {n} characters.", n=MOST_AUTHOR)
        )


_OF_WORK = ["queue_arn", "queue", "item_id", "message_id", "business_keys", "work_id", "incident_id"]


def _works(findings: Findings, where: Any) -> list[Row]:
    """Return every message of the works that the filter touches."""
    named = plain_rows(findings.read(MESSAGES, _OF_WORK, where))
    return _whole_works(findings, named)


def _whole_works(findings: Findings, named: Sequence[Row]) -> list[Row]:
    keys = {_work_of(row) for row in named}
    beside = plain_rows(findings.read(MESSAGES, _OF_WORK, one_of("work_id", {work for _, work in keys})))
    return [*named, *(row for row in beside if _work_of(row) in keys)]


def _work_of(row: Row) -> tuple[str, str]:
    return row["queue_arn"], row["work_id"] or row["item_id"]


def _work_named(
    findings: Findings, message: str, incident: Row | None, queue: str | None
) -> tuple[list[Row], str, Row]:
    where = None if incident is None else equals("incident_id", incident["incident_id"])
    rows = plain_rows(findings.read(MESSAGES, _OF_WORK, where))
    named = [
        r
        for r in rows
        if queue in (None, r["queue"]) and message in (r["item_id"], r["message_id"], *(r["business_keys"] or ()))
    ]
    key = {"key": repr(message)}
    command = f"doubletake messages{' --incident ' + incident['incident_id'] if incident else ''}"
    if not named:
        raise AnnotationError(
            said(
                "{key} names no message of incident {incident} that was redelivered",
                incident=repr(incident["incident_id"]),
                **key,
            )
            if incident
            else said("{key} names no message of queue {queue} that was redelivered", queue=repr(queue), **key)
            if queue
            else said("{key} names no message that was redelivered", **key),
            said("`{command}` lists them.", command=command),
        )
    works = {_work_of(row) for row in named}
    if len(works) > 1:
        queues = sorted({row["queue"] for row in named})
        hint = (
            said("Name the queue: {names}.", names=alternatives(queues))
            if len(queues) > 1
            else "Give the message id instead."
        )
        key["messages"] = counted(len(named), "message")
        raise AnnotationError(
            said("{key} names {messages} of incident {incident}", incident=repr(incident["incident_id"]), **key)
            if incident
            else said("{key} names {messages} of queue {queue}", queue=repr(queue), **key)
            if queue
            else said("{key} names {messages}", **key),
            hint,
        )
    first = min(named, key=lambda r: (r["incident_id"] is None, r["item_id"]))
    return _whole_works(findings, named), first["item_id"], incident or first


def annotations(lake: Lake) -> tuple[Annotation, ...]:
    """Return all that was said, oldest first."""
    rows = plain_rows(lake.read(ANNOTATIONS))
    rows.sort(key=lambda r: (r["marked_at"], r["evidence_id"]))
    found = (Annotation(**row) for row in rows)
    return tuple(a if a.item_ids is None else replace(a, item_ids=tuple(a.item_ids)) for a in found)


def standing(said: Iterable[Annotation]) -> tuple[Annotation, ...]:
    """Return the marks that stand, of those said of one subject, oldest first: those since the last withdrawal.

    The same mark by the same person counts once, as it was said last. A comment is no mark.
    """
    found: dict[tuple[str, str], Annotation] = {}
    for one in said:
        if one.mark == "withdrawn":
            found.clear()
        elif one.mark != "comment":
            found.pop((one.mark, one.author), None)
            found[one.mark, one.author] = one
    return tuple(found.values())


def marks_text(marks: Sequence[Annotation]) -> str:
    """Say standing marks in a few words: ``refunded (Ana), accepted (Ben)``."""
    return ", ".join(f"{m.words} ({m.author})" for m in marks)
