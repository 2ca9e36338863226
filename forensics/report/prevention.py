"""What would have prevented the repeats, and what went wrong on the queue beside them, in words and in order."""

from collections.abc import Iterable, Mapping
from typing import Any

from forensics.lake import Findings
from forensics.lake.filters import equals
from forensics.lake.findings import rows_of
from forensics.report.records import Record, message_record, plain_value
from forensics.tables.findings import COUNTERFACTUALS, MESSAGES, QUEUE_FINDINGS
from forensics.verdict import REDRIVES

Row = Mapping[str, Any]

CHANGE_WORDS = {
    "batch_size_1": "batch size 1",
    "longer_visibility": "a longer visibility timeout",
    "longer_function_timeout": "a longer function timeout",
    "partial_responses": "working partial batch responses",
    "maximum_concurrency": "a maximum concurrency",
    "idempotency_key": "an idempotency key",
}
FINDING_WORDS = {
    "fifo_group_blocked": "message group blocked",
    "dead_lettered": "dead-lettered",
    "retention_expired": "lost: its retention ended",
    "poison_without_dlq": "poison message without a dead-letter queue",
    "out_of_order_commit": "finished out of order",
}
ASIDE_WORDS = "Counted by the logs alone, with the repeats of works that people set aside."
"""Said of a table of changes beside an incident that people set works of aside."""
REDRIVE_WORDS = {"repeats": "does the work again", "may_repeat": "may do it again", "safe": "safe"}


def counterfactuals_of(findings: Findings, incident_id: str) -> list[Row]:
    """Return one incident's changes, those that would have prevented most first."""
    rows = rows_of(findings.read(COUNTERFACTUALS, where=equals("incident_id", incident_id)))
    return sorted(rows, key=_by_weight)


def that_count(rows: Iterable[Row], incident: Row) -> list[Row]:
    """Return an incident's changes as they count without the repeats of works that people set aside.

    Nothing tells which change would have prevented which repeat, so that one that would have prevented some of them can be left with
    more of those that count, or fewer.

    >>> thirteen = {"prevented": 13, "undecided": 0, "repeats": 13}
    >>> [share_text(row) for row in that_count([thirteen, thirteen | {"prevented": 12}], {"judged": {}, "extra_effects_at_most": 11})]
    ['11 of 11', '10 to 11 of 11']
    """
    return [_that_count(row, incident) for row in rows] if "judged" in incident else list(rows)


def _that_count(row: Row, incident: Row) -> Row:
    most = incident["extra_effects_at_most"]
    if most is None:
        gone = sum(max((work.effects_at_most or work.effects_at_least) - 1, 0) for work in incident["set_aside"])
        most = row["repeats"] - gone
    repeats = max(min(most, row["repeats"]), 0)
    prevented = max(row["prevented"] - (row["repeats"] - repeats), 0)
    undecided = min(row["prevented"] + row["undecided"], repeats) - prevented
    return {**row, "prevented": prevented, "undecided": undecided, "repeats": repeats}


def by_incident(findings: Findings) -> dict[str, list[Record]]:
    """Return every incident's changes as plain values, those that would have prevented most first."""
    found: dict[str, list[Record]] = {}
    for row in sorted(rows_of(findings.read(COUNTERFACTUALS)), key=_by_weight):
        told = {k: v for k, v in row.items() if k not in ("incident_id", "queue_arn", "queue", "evidence_ids")}
        found.setdefault(row["incident_id"], []).append(told)
    return found


def share_text(row: Row) -> str:
    """Say how many of the repeats a change would have prevented.

    >>> share_text({"prevented": 11, "undecided": 2, "repeats": 13, "prevented_percent": 84})
    '11 to 13 of 13'
    >>> share_text({"prevented": 0, "undecided": 0, "repeats": 13, "prevented_percent": 0})
    '0 of 13'
    """
    least, most, of = row["prevented"], row["prevented"] + row["undecided"], row["repeats"]
    return f"{least:,} of {of:,}" if least == most else f"{least:,} to {most:,} of {of:,}"


def queue_findings_of(findings: Findings, incident: Row) -> list[Row]:
    """Return what went wrong with the incident's queue in its time: what belongs to it, and what happened beside it."""
    rows = rows_of(findings.read(QUEUE_FINDINGS, where=equals("queue_arn", incident["queue_arn"])))
    start, end = incident["started_at"], incident["ended_at"]

    def belongs(row: Row) -> bool:
        if row["incident_id"] is not None:
            return bool(row["incident_id"] == incident["incident_id"])
        return bool(start and row["from_at"] <= (end or start) and (row["until_at"] or row["from_at"]) >= start)

    return sorted((row for row in rows if belongs(row)), key=_by_time)


def dead_letters(findings: Findings, where: Any = None) -> list[Record]:
    """Return every dead-lettered message with its interval and what redriving it does, worst first.

    The fields are those of a message with a verdict; a message that was received only once has none (null).
    """
    moved = [r for r in rows_of(findings.read(QUEUE_FINDINGS, where=where)) if r["code"] == "dead_lettered"]
    verdicts = {
        (m["queue_arn"], m["item_id"]): m
        for m in rows_of(findings.read(MESSAGES, where=equals("is_dead_lettered", True)))
    }
    records = []
    for row in sorted(moved, key=lambda r: (REDRIVES.index(r["redrive"]), r["queue"], *_by_time(r))):
        message = verdicts.get((row["queue_arn"], row["item_id"]))
        shared = {k: row[k] for k in MESSAGES.given_names if k in row}
        base = message or shared | {"is_dead_lettered": True, "deliveries": 1, "work_id": row["item_id"]}
        records.append(
            message_record(base)
            | {
                "redrive": row["redrive"],
                "redrive_sentence": row["redrive_sentence"],
                "moved_not_before_at": plain_value(row["from_at"]),
                "moved_not_after_at": plain_value(row["until_at"]),
                "move_stance": row["stance"],
                "move_sentence": row["sentence"],
            }
        )
    return records


def dead_of(rows: Iterable[Row]) -> list[Row]:
    """Return those that are moves to a dead-letter queue, worst to redrive first."""
    return sorted(
        (r for r in rows if r["code"] == "dead_lettered"), key=lambda r: (REDRIVES.index(r["redrive"]), *_by_time(r))
    )


def has_poison(rows: Iterable[Row]) -> bool:
    """Tell whether one always fails, and no dead-letter queue takes it."""
    return any(row["code"] == "poison_without_dlq" and row["stance"] == "supported" for row in rows)


def finding_record(row: Row) -> Record:
    """Return a row of ``queue_findings`` as plain values, the telling fields first."""
    first = ("queue", "code", "stance", "from_at", "until_at", "span_ms", "message_id", "message_count", "sentence")
    plain = {name: plain_value(row.get(name)) for name in QUEUE_FINDINGS.given_names}
    plain |= {c.name: plain[c.name] or [] for c in QUEUE_FINDINGS.columns if c.type == "strings"}
    return {name: plain[name] for name in first} | plain


def _by_weight(row: Row) -> tuple[Any, ...]:
    return (row["incident_id"], -row["prevented"], -row["undecided"], list(CHANGE_WORDS).index(row["change"]))


def _by_time(row: Row) -> tuple[Any, ...]:
    return (row["from_at"].timestamp() if row["from_at"] else 0.0, row["code"], row["item_id"])
