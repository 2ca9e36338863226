"""Hints, never verdicts: messages with the same body, close in time. An equal body alone links nothing and counts nothing."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from forensics.lake import Findings
from forensics.lake.filters import equals, one_of
from forensics.tables.findings import DELIVERIES
from forensics.words import count_text, span_text

Row = Mapping[str, Any]
WINDOW = timedelta(minutes=15)
"""Messages sent further apart are no hint: the same order can come every day."""
MOST_NAMED = 5
"""Of the messages with the same body so many are named, the nearest first."""
_COLUMNS = ["item_id", "message_id", "body_md5", "sent_at", "received_at", "evidence_ids"]


@dataclass(frozen=True)
class Hint:
    """One message, and others of its queue whose bodies are the same byte for byte; ``message_ids`` are the nearest in time."""

    item_id: str
    sentence: str
    message_ids: tuple[str, ...]
    evidence_ids: tuple[str, ...]


def equal_bodies(
    findings: Findings, queue_arn: str, messages: Sequence[Row], deliveries: Iterable[Row]
) -> tuple[Hint, ...]:
    """Return a hint per message that has a twin within 15 minutes which is not linked to it anyhow.

    ``messages`` are of one queue, with ``item_id``, ``message_id`` and ``related_message_ids`` (missing: none known);
    ``deliveries`` are theirs.
    """
    bodies = {d["item_id"]: d["body_md5"] for d in deliveries if d["body_md5"]}
    where = equals("queue_arn", queue_arn) & equals("delivery_index", 1) & one_of("body_md5", set(bodies.values()))
    rows = findings.read(DELIVERIES, _COLUMNS, where).to_pylist() if bodies else []
    by_body: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_body[row["body_md5"]].append(row)
    hints = []
    for message in messages:
        alike = by_body.get(bodies.get(message["item_id"], ""), [])
        mine = next((row for row in alike if row["item_id"] == message["item_id"]), None)
        at = _sent(mine) if mine else None
        if mine is None or at is None:
            continue
        linked = {message["item_id"], message["message_id"], *(message.get("related_message_ids") or ())}
        near = [
            (abs(there - at), row["item_id"], row)
            for row in alike
            if row["item_id"] not in linked and (there := _sent(row)) is not None and abs(there - at) <= WINDOW
        ]
        if near:
            hints.append(_hint(mine, sorted(near, key=lambda one: one[:2])))
    return tuple(hints)


def _hint(mine: Row, near: Sequence[tuple[timedelta, str, Row]]) -> Hint:
    named = [str(row["message_id"] or item_id) for _, item_id, row in near[:MOST_NAMED]]
    gap = span_text(near[0][0] / timedelta(milliseconds=1))
    more = f" and {len(near) - MOST_NAMED:,} more" if len(near) > MOST_NAMED else ""
    return Hint(
        str(mine["item_id"]),
        f"{count_text(len(near), 'other message')} had the same body as {mine['message_id'] or mine['item_id']} within "
        f"{span_text(WINDOW / timedelta(milliseconds=1))}, the nearest {gap} away: {', '.join(named)}{more}. Nothing else "
        "links them, so this is a hint and counts as nothing.",
        tuple(named),
        tuple(
            sorted(
                {line for row in (mine, *(row for *_, row in near[:MOST_NAMED])) for line in row["evidence_ids"] or ()}
            )
        ),
    )


def _sent(row: Row) -> datetime | None:
    at: datetime | None = row["sent_at"] or row["received_at"]
    return at
