"""Hints, never verdicts: messages with the same body, or the same deduplication id and another body, close in time.

Neither links anything by itself, and neither counts.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any

from forensics.identity import KEY_ITEM
from forensics.lake import Findings
from forensics.lake.filters import between, equals, one_of
from forensics.lake.rows import plain_rows
from forensics.report.find import Hit, Key
from forensics.sentence import said
from forensics.tables.findings import DELIVERIES
from forensics.words import span_text

Row = Mapping[str, Any]
WINDOW = timedelta(minutes=15)
"""Messages with one body that were sent further apart are no hint: the same order can come every day."""
WINDOW_OF_IDS = timedelta(days=1)
"""A job of the producer's may send again long after SQS forgot the deduplication id."""
MOST_NAMED = 5
"""Of the messages that are alike so many are named, the nearest first."""
_AT = itemgetter(0)
_LINKED = ("related_message_ids", "maybe_related_message_ids")
_COLUMNS = [
    "item_id",
    "message_id",
    "body_md5",
    "deduplication_id",
    "group_id",
    "sent_at",
    "received_at",
    "evidence_ids",
]


@dataclass(frozen=True)
class Hint:
    """One message, and others of its queue that are like it; ``message_ids`` are the nearest in time."""

    item_id: str
    sentence: str
    message_ids: tuple[str, ...]
    evidence_ids: tuple[str, ...]


def hints_of(
    findings: Findings, queue_arn: str, messages: Sequence[Row], deliveries: Iterable[Row]
) -> tuple[Hint, ...]:
    """Return hints per message: of a twin within 15 minutes, and of another body under its deduplication id within a day.

    What is linked to it anyhow, or may be, is no hint. ``messages`` are of one queue, with ``item_id``, ``message_id`` and
    ``related_message_ids``, also ``maybe_`` (missing: none known); ``deliveries`` are theirs.
    """
    mine = list(deliveries)
    same_body = _alike(findings, queue_arn, messages, mine, "body_md5", WINDOW)
    same_id = _alike(findings, queue_arn, messages, mine, "deduplication_id", WINDOW_OF_IDS)
    return tuple(
        [_hint(one, near, _SAME_BODY, WINDOW) for one, near in same_body]
        + [
            _hint(
                one,
                near,
                _SAME_ID,
                WINDOW_OF_IDS,
            )
            for one, every in same_id
            if (near := [other for other in every if _is_of_another_body(other[2], one)])
        ]
        + list(_often_alone(messages, mine))
    )


def _often_alone(messages: Iterable[Row], deliveries: Sequence[Row]) -> Iterator[Hint]:
    """Yield a hint per business key that stands alone so often that it may be what several keys have in common."""
    seen: dict[str, list[Row]] = defaultdict(list)
    for delivery in deliveries:
        if delivery["message_id"] is None and delivery["item_id"].startswith(KEY_ITEM):
            seen[delivery["item_id"]].append(delivery)
    for item_id in dict.fromkeys(message["item_id"] for message in messages):
        if len(mine := seen[item_id]) >= OFTEN:
            ids = tuple(sorted({evidence_id for d in mine for evidence_id in d["evidence_ids"][:1]}))
            key = item_id.removeprefix(KEY_ITEM)
            yield Hint(item_id, said(_TOO_SHORT, n=len(mine), key=key), (), ids)


OFTEN = 5
"""In so many handlings one piece of work is seldom done."""
_TOO_SHORT = (
    "{n} handlings have the key {key}, and no line names their message. If that is not the key of one piece of work, the effect's "
    "expression finds too little of it, and these are several works."
)
_SAME_BODY = (
    "{n} other messages had the same body as {id} within {window}, the nearest {gap} away: {ids}. Nothing else links them, so this is a hint "
    "and counts as nothing."
)
_SAME_ID = (
    "{n} other messages of the same message group had the deduplication id of {id}, and another body, within {window}, the nearest {gap} "
    "away: {ids}. The id may stand for more than one piece of work, so this is a hint and counts as nothing."
)


def hints_for(
    findings: Findings, asked: Iterable[tuple[Hit, Row | None, Iterable[Row]]]
) -> Mapping[Key, Sequence[Hint]]:
    """Return the hints for messages that somebody looked for, by message; those without any are left out.

    Each is asked with its row of ``messages``, None where it is suspected of nothing, and with the deliveries of its work.
    """
    messages: dict[str, list[Row]] = defaultdict(list)
    deliveries: dict[str, list[Row]] = defaultdict(list)
    for hit, verdict, rows in asked:
        messages[hit.queue_arn].append(verdict or {"item_id": hit.item_id, "message_id": hit.message_id})
        deliveries[hit.queue_arn] += [d for d in rows if d["item_id"] == hit.item_id]
    found: dict[Key, list[Hint]] = defaultdict(list)
    for arn, of_queue in messages.items():
        for hint in hints_of(findings, arn, of_queue, deliveries[arn]):
            found[arn, hint.item_id].append(hint)
    return found


def _is_of_another_body(row: Row, mine: Row) -> bool:
    return (
        row["group_id"] == mine["group_id"]
        and bool(row["body_md5"] and mine["body_md5"])
        and row["body_md5"] != mine["body_md5"]
    )


def _alike(
    findings: Findings, queue_arn: str, messages: Sequence[Row], deliveries: Sequence[Row], name: str, window: timedelta
) -> Iterator[tuple[Row, list[tuple[timedelta, str, Row]]]]:
    """Yield the first delivery of each message with those that have the same value there: how far away, item id, row."""
    values = {d["item_id"]: d[name] for d in deliveries if d[name]}
    times = [at for d in deliveries if (at := _sent(d)) is not None]
    if not values or not times:
        return
    near_all = between("sent_at", min(times) - window, max(times) + window, "received_at")
    where = equals("queue_arn", queue_arn) & equals("delivery_index", 1) & one_of(name, set(values.values())) & near_all
    by_value: dict[str, list[tuple[datetime, Row]]] = defaultdict(list)
    for row in plain_rows(findings.read(DELIVERIES, _COLUMNS, where)):
        if (at := _sent(row)) is not None:
            by_value[row[name]].append((at, row))
    for alike in by_value.values():
        alike.sort(key=_AT)
    for message in messages:
        alike = by_value.get(values.get(message["item_id"], ""), [])
        at, mine = next((one for one in alike if one[1]["item_id"] == message["item_id"]), (None, None))
        if mine is None or at is None:
            continue
        linked = {message["item_id"], message["message_id"]}
        linked.update(*(message.get(name) or () for name in _LINKED))
        first, last = bisect_left(alike, at - window, key=_AT), bisect_right(alike, at + window, key=_AT)
        near = [
            (abs(there - at), row["item_id"], row) for there, row in alike[first:last] if row["item_id"] not in linked
        ]
        if near:
            yield mine, sorted(near, key=lambda one: one[:2])


def _hint(mine: Row, near: Sequence[tuple[timedelta, str, Row]], phrase: str, window: timedelta) -> Hint:
    named = [str(row["message_id"] or item_id) for _, item_id, row in near[:MOST_NAMED]]
    ids, left = ", ".join(named), len(near) - MOST_NAMED
    return Hint(
        str(mine["item_id"]),
        said(
            phrase if len(near) > 1 else phrase.replace("messages", "message", 1),
            n=len(near),
            id=str(mine["message_id"] or mine["item_id"]),
            window=span_text(window / timedelta(milliseconds=1)),
            gap=span_text(near[0][0] / timedelta(milliseconds=1)),
            ids=said("{ids} and {n} more", ids=ids, n=left) if left > 0 else ids,
        ),
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
