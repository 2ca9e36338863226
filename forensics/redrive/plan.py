"""The redrive plan of a dead-letter queue, out of one data version: what each message did, and what happened since."""

import shlex
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from forensics.books import Line, has_books, reconcile
from forensics.errors import QueueUnknownError
from forensics.identity import is_fifo_name, queue_name
from forensics.lake import Findings
from forensics.lake.filters import equals
from forensics.lake.findings import rows_of
from forensics.lake.rows import plain_rows
from forensics.nearest import queues_hint
from forensics.redrive.model import DECISIONS, NOT_SHOWN_WHY, Plan, Step
from forensics.redrive.since import Since
from forensics.sentence import counted, joined, said
from forensics.settings import Settings
from forensics.tables.evidence import MOVE_TASKS, QUEUE_SETTINGS
from forensics.tables.findings import DELIVERIES, MESSAGES, QUEUE_FINDINGS
from forensics.verdict import redrive_of
from forensics.words import clock_text

Row = Mapping[str, Any]
_COLUMNS = [
    "item_id",
    "message_id",
    "delivery_index",
    "consumer",
    "function_name",
    "group_id",
    "sent_at",
    "received_at",
    "run_ended_at",
    "run_status",
    "ended_by",
    "effect",
    "effect_at",
    "basis",
    "received_from_arn",
]
_DECISION_OF = {"repeats": "repeats", "may_repeat": "cannot_tell", "safe": "safe"}
_NONE = "no dead-letter queue at all"
_AGAINST = ("contradicts", "not_booked")
"""What a ledger and the logs come to where one of them is wrong: then nothing is safe."""


def dead_letter_queues(findings: Findings) -> dict[str, set[str]]:
    """Return per dead-letter queue's ARN the ARNs of the queues that name it, at any time that was seen."""
    found: dict[str, set[str]] = defaultdict(set)
    for row in plain_rows(findings.read(QUEUE_SETTINGS, ["queue_arn", "dead_letter_queue_arn"])):
        if row["dead_letter_queue_arn"]:
            found[row["dead_letter_queue_arn"]].add(row["queue_arn"])
    return dict(found)


def plan(findings: Findings, name: str | None, settings: Settings | None = None) -> Plan:
    """Plan the redrive of a dead-letter queue, by name or ARN; None is the only one there is.

    Raises QueueUnknownError for a name that is none, or several, and where none is named and there is not one.
    """
    dlq_arn, sources = _named(findings, name)
    snapshots = plain_rows(findings.read(QUEUE_SETTINGS, where=equals("queue_arn", dlq_arn)))
    own = max(snapshots, key=lambda r: r["observed_at"], default=None)
    steps = [step for arn in sorted(sources) for step in _steps_of(findings, arn, dlq_arn, own, settings or Settings())]
    return Plan(
        queue_name(dlq_arn),
        dlq_arn,
        tuple(sorted(steps, key=lambda step: step.decision == "gone")),
        tuple(_notes(findings, dlq_arn, own)),
        findings.generation.data_version,
        findings.generation.data_until_at,
    )


def steps_of_queue(findings: Findings, queue_arn: str, settings: Settings | None = None) -> tuple[Step, ...]:
    """Return the steps of what one queue dead-lettered, whatever its dead-letter queue."""
    snapshots = plain_rows(findings.read(QUEUE_SETTINGS))
    mine = max((r for r in snapshots if r["queue_arn"] == queue_arn), key=lambda r: r["observed_at"], default=None)
    dlq_arn = mine["dead_letter_queue_arn"] if mine else None
    own = max((r for r in snapshots if r["queue_arn"] == dlq_arn), key=lambda r: r["observed_at"], default=None)
    return tuple(_steps_of(findings, queue_arn, dlq_arn, own, settings or Settings()))


def _named(findings: Findings, name: str | None) -> tuple[str, set[str]]:
    known = dead_letter_queues(findings)
    found = [arn for arn in known if name in (None, arn, queue_name(arn))]
    if len(found) == 1:
        return found[0], known[found[0]]
    names = sorted({queue_name(arn) for arn in known})
    if name is None:
        raise QueueUnknownError("no dead-letter queue was named", queues_hint("", names, _NONE))
    if len(found) > 1:
        raise QueueUnknownError(
            said("{name} is the name of several queues", name=repr(name)),
            said("Give an ARN: {names}.", names=", ".join(sorted(found))),
        )
    raise QueueUnknownError(
        said("no queue that was read names {name} as its dead-letter queue", name=repr(name)),
        _takes_from(name, known) or queues_hint(name, names, _NONE),
    )


def _takes_from(name: str, known: Mapping[str, set[str]]) -> str | None:
    """Name the dead-letter queue of a queue whose own name was given; None where it has none, or several."""
    own = [dlq for dlq, sources in known.items() if any(name in (arn, queue_name(arn)) for arn in sources)]
    if len(own) != 1:
        return None
    return said(
        "Its own dead-letter queue is {dlq}: {command}",
        dlq=queue_name(own[0]),
        command=f"`doubletake redrive-plan {shlex.quote(queue_name(own[0]))}`",
    )


def _notes(findings: Findings, dlq_arn: str, own: Row | None) -> list[str]:
    notes = []
    if own is None:
        notes.append(said("The dead-letter queue's own settings were not read: when its messages expire is not known."))
    tasks = plain_rows(findings.read(MOVE_TASKS, where=equals("source_arn", dlq_arn)))
    for task in {t["task"]: t for t in sorted(tasks, key=lambda t: t["observed_at"])}.values():
        count = task["moved_count"]
        notes.append(
            said(
                "A redrive that began at {at} UTC moved {messages} ({status}): messages moved here before it may be gone.",
                at=clock_text(task["started_at"]),
                messages=said("an unknown number of messages") if count is None else counted(count, "message"),
                status=task["status"],
            )
        )
    return notes


def _steps_of(findings: Findings, arn: str, dlq_arn: str | None, own: Row | None, settings: Settings) -> list[Step]:
    here = equals("queue_arn", arn)
    moved = [
        r
        for r in rows_of(findings.read(QUEUE_FINDINGS, where=here & equals("code", "dead_lettered")))
        if r["stance"] != "excluded"
    ]
    if not moved:
        return []
    every = plain_rows(findings.read(DELIVERIES, _COLUMNS, here))
    deliveries = [d for d in every if d["received_from_arn"] is None]
    out_of_there = [d for d in every if d["received_from_arn"] is not None]
    if dlq_arn is not None:
        out_of_there += plain_rows(findings.read(DELIVERIES, _COLUMNS, equals("queue_arn", dlq_arn)))
    received_dead = {d["item_id"]: d for d in sorted(out_of_there, key=lambda d: d["delivery_index"])}
    by_item: dict[str, list[Row]] = defaultdict(list)
    for delivery in deliveries:
        by_item[delivery["item_id"]].append(delivery)
    since = Since.of(findings, arn, deliveries, settings.queue(queue_name(arn)))
    booked = _books(findings, arn)
    redriven = _redriven(findings, arn)
    groups: dict[str, list[Row]] = defaultdict(list)
    for message in moved:
        mine = sorted(by_item[message["item_id"]], key=lambda d: d["delivery_index"])
        message["received_dead"] = received_dead.get(message["item_id"])
        message["deliveries"], message["sent_at"] = mine, next((d["sent_at"] for d in mine if d["sent_at"]), None)
        message["group_id"] = message["group_id"] or next((d["group_id"] for d in mine if d["group_id"]), None)
        groups[(message["group_id"] or "") if is_fifo_name(arn) else ""].append(message)
    until = findings.generation.data_until_at
    steps: list[Step] = []
    for _, rows in sorted(groups.items()):
        rows.sort(key=lambda r: (r["sent_at"] is None, r["sent_at"], r["from_at"], r["item_id"]))
        stays: Step | None = None
        for place, row in enumerate(rows, 1):
            first, last = _expires(row, own)
            decision, why = _decide(row, booked.get(row["item_id"]), redriven, last, until)
            step = _step(row, place, first, decision, why, since, stays)
            if is_fifo_name(arn):  # a standard queue's groups share the consumers out, and have no order
                stays = stays or (step if step.left_out and step.decision != "gone" else None)
            steps.append(step)
    return steps


def _decide(
    row: Row, line: Line | None, redriven: Mapping[str, str], expires_at: datetime | None, until: datetime | None
) -> tuple[str, str]:
    if (again := redriven.get(row["message_id"] or "")) is not None:
        return "gone", said("It was redriven already, as {again}.", again=again)
    if (last := row["received_dead"]) and last["ended_by"] == "deleted":
        return "gone", said("It was received from there at {at} UTC, and deleted.", at=clock_text(last["received_at"]))
    if expires_at and until and expires_at <= until:
        return "gone", said("Its retention ended at {at} UTC.", at=clock_text(expires_at))
    if _is_not_shown(row):
        return "cannot_tell", joined(
            [row["redrive_sentence"], said("But nothing shows that it arrived in the dead-letter queue.")]
        )
    decision, why = _DECISION_OF[row["redrive"]], row["redrive_sentence"]
    if line is not None:
        by_books = _DECISION_OF[redrive_of(line.at_least, line.at_most)]
        if line.outcome in _AGAINST:
            return max(decision, "cannot_tell", key=lambda d: -DECISIONS.index(d)), joined([why, line.sentence])
        if by_books != decision:
            return by_books, line.sentence
    return decision, why


def _is_not_shown(row: Row) -> bool:
    """Tell whether redriving it repeats nothing for sure, and nothing shows that it arrived."""
    return bool(row["stance"] != "supported" and row["redrive"] == "safe")


def _step(
    row: Row, place: int, expires_at: datetime | None, decision: str, why: str, since: Since, stays: Step | None
) -> Step:
    mended, mended_sentence, mended_ids = since.mended(row)
    overtaken_by = since.overtaken_by(row)
    order = ""
    if overtaken_by:
        order = (
            said("1 later message of its group was done since.")
            if overtaken_by == 1
            else said("{count} later messages of its group were done since.", count=overtaken_by)
        )
    elif stays is not None and row["group_id"]:
        order = said("It would overtake {name} of its group, which stays.", name=stays.message_id or stays.item_id)
    left_out = {
        "repeats": said("redriving it does the work again"),
        "cannot_tell": NOT_SHOWN_WHY if _is_not_shown(row) else said("whether its work was done is not known"),
        "gone": said("it is there no longer"),
        "safe": "",
    }[decision]
    if not left_out and row["message_id"] is None:
        left_out = said("the logs do not name its message id")
    if not left_out and mended == "still_failing":
        left_out = said("what it failed of still happens")
    if not left_out and order:
        left_out = said("it would come out of order")
    return Step(
        queue=row["queue"],
        item_id=row["item_id"],
        message_id=row["message_id"],
        business_keys=tuple(row["business_keys"] or ()),
        group_id=row["group_id"],
        place=place,
        sent_at=row["sent_at"],
        moved_at=row["from_at"],
        expires_at=expires_at,
        decision=decision,
        why=why,
        mended=mended,
        mended_sentence=mended_sentence,
        guard_sentence=since.guard(row) if decision in ("repeats", "cannot_tell") else "",
        overtaken_by=overtaken_by,
        order_sentence=order,
        left_out=left_out,
        evidence_ids=tuple(sorted({*row["evidence_ids"], *mended_ids})),
    )


def _expires(row: Row, own: Row | None) -> tuple[datetime | None, datetime | None]:
    """Return when a message expires at the earliest and at the latest; None where nothing tells.

    Retention counts from the send. AWS says both of that and of the move where queues are FIFO: there it may be either.
    """
    if own is None or own["message_retention_s"] is None or row["sent_at"] is None:
        return None, None
    kept = timedelta(seconds=own["message_retention_s"])
    return row["sent_at"] + kept, (row["from_at"] if is_fifo_name(row["queue"]) else row["sent_at"]) + kept


def _books(findings: Findings, arn: str) -> dict[str, Line]:
    if not has_books(findings.lake):
        return {}
    lines: Sequence[Line] = [line for mine in reconcile(findings, arn).values() for line in mine]
    return {item: line for line in lines if line.logged for item in line.logged.item_ids}


def _redriven(findings: Findings, arn: str) -> dict[str, str]:
    """Return per old message id the id that it got when somebody redrove it."""
    columns = ["message_id", "origin", "related_message_ids"]
    rows = rows_of(findings.read(MESSAGES, columns, equals("queue_arn", arn) & equals("origin", "dlq_redrive")))
    return {old: r["message_id"] or "another id" for r in rows for old in r["related_message_ids"] or ()}
