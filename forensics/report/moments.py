"""Key moments: from the first send to the queue being drained, each with its source."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from forensics.report.runs import came_at, ids_of, source_text
from forensics.sentence import said
from forensics.words import ms_between, span_text

Row = Mapping[str, Any]
_DRAINED = "last affected message left the queue ({count} to the dead-letter queue)"
_FIRST_REPEAT = "first repeat received", "first repeat: the poller invoked the function again by the same receive"
_LAST_REPEAT = "last repeat received", "last repeat: the poller invoked the function again by the same receive"
_FAILURES = {
    "timeout": "first run that timed out",
    "error": "first run that failed",
    "crash": "first run that crashed",
    "delete_refused": "first delete that was refused",
}


@dataclass(frozen=True)
class Moment:
    """One moment: when (UTC), distance from the incident's start, what, where that is written."""

    at: datetime
    offset_ms: int | None
    what: str
    source: str
    evidence_ids: tuple[str, ...]


def key_moments(
    incident: Row,
    messages: Sequence[Row],
    deliveries: Sequence[Row],
    redeliveries: Sequence[Row],
    timeline: Sequence[Row],
) -> tuple[Moment, ...]:
    """Return the moments that the evidence shows, in time order; all rows are those of affected messages."""
    start = incident["started_at"]
    found: list[Moment] = []

    def add(at: datetime | None, what: str, source: str, rows: Iterable[Row]) -> None:
        if at is not None:
            found.append(Moment(at, ms_between(start, at), what, source, ids_of(rows)))

    if sent := _first(deliveries, "sent_at"):
        add(sent["sent_at"], "first affected message sent", "SentTimestamp, from SQS", [sent])
    if received := _first(deliveries, "received_at"):
        add(received["received_at"], "first receive", source_text(received), [received])
    if failures := [t for t in timeline if t["kind"] in _FAILURES]:
        failed = min(failures, key=lambda t: (t["at"], t["kind"], t["item_id"]))
        add(failed["at"], _FAILURES[failed["kind"]], failed["source"] or "derived", [failed])
    if again := _first_visible_again(deliveries, redeliveries):
        hidden = span_text(ms_between(again["received_at"], again["hidden_until_at"]))
        add(
            again["hidden_until_at"],
            "first message visible again",
            said("derived: receive + {span}", span=hidden),
            [again],
        )
    later = {_key(d): d for d in deliveries}
    repeats = [(at, r, later.get(_key(r))) for r in redeliveries if (at := came_at(r))]
    repeats += [(d["received_at"], d, d) for d in _of_other_ids(messages, deliveries)]
    for pick, what, by_poller in ((min, *_FIRST_REPEAT), (max, *_LAST_REPEAT)):
        at, cited, shown = pick(repeats, key=_when) if repeats else (None, {}, None)
        if at and not (found and found[-1].at == at):
            add(
                at,
                by_poller if cited.get("is_one_receive") else what,
                source_text(shown) if shown else "derived",
                [cited],
            )
    if not repeats and (by_lines := [m for m in messages if m.get("repeat_shown_at")]):
        first = min(by_lines, key=lambda m: (m["repeat_shown_at"], m["item_id"]))
        add(first["repeat_shown_at"], "repeated by then, as lines of its key show", "derived", [first])
    if drained := _drained(deliveries):
        at, what, row = drained
        add(at, what, source_text(row), [row])
    return tuple(sorted(found, key=lambda m: m.at))


def _extreme(pick: Callable[..., Row], rows: Sequence[Row], column: str) -> Row:
    return pick(rows, key=lambda r: (r[column], r["item_id"], r["delivery_index"]))


def _first(rows: Sequence[Row], column: str) -> Row | None:
    known = [r for r in rows if r[column]]
    return _extreme(min, known, column) if known else None


def _key(row: Row) -> tuple[Any, ...]:
    return (row["item_id"], row["delivery_index"])


def _when(repeat: tuple[datetime, Row, Row | None]) -> tuple[Any, ...]:
    at, row, _ = repeat
    return (at, *_key(row))


def _of_other_ids(messages: Sequence[Row], deliveries: Sequence[Row]) -> Iterator[Row]:
    """Yield the first delivery of every message of a work but the one received first: by it the work came again."""
    first: dict[str, Row] = {}
    for d in sorted(deliveries, key=_key):
        if d["received_at"]:
            first.setdefault(d["item_id"], d)
    works: dict[tuple[str, str], list[Row]] = {}
    for m in messages:
        if m["item_id"] in first:
            works.setdefault((m["queue_arn"], m["work_id"] or m["item_id"]), []).append(first[m["item_id"]])
    for received in works.values():
        yield from sorted(received, key=lambda d: (d["received_at"], d["item_id"]))[1:]


def _first_visible_again(deliveries: Sequence[Row], redeliveries: Sequence[Row]) -> Row | None:
    """Return the delivery whose visibility timeout ran out first and was followed by another receive."""
    again = (r for r in redeliveries if not r.get("is_one_receive"))
    followed = {(r["item_id"], r["delivery_index"] - 1): r["later_received_at"] for r in again}
    out = [
        d
        for d in deliveries
        if d["hidden_until_at"] and (later := followed.get(_key(d))) and d["hidden_until_at"] <= later
    ]
    return _extreme(min, out, "hidden_until_at") if out else None


def _drained(deliveries: Sequence[Row]) -> tuple[datetime, str, Row] | None:
    """Return when the last affected message left the queue; None unless all of them are seen to have left."""
    last: dict[str, Row] = {}
    for d in deliveries:
        if d["item_id"] not in last or d["delivery_index"] > last[d["item_id"]]["delivery_index"]:
            last[d["item_id"]] = d
    if not last or not all(d["ended_by"] in ("deleted", "dead_lettered") for d in last.values()):
        return None
    left = [(d["delete_at"] or d["run_ended_at"] or d["hidden_until_at"], d) for d in last.values()]
    if any(at is None for at, _ in left):
        return None
    at, row = max(left, key=lambda pair: (pair[0], pair[1]["item_id"]))
    dead = sum(d["ended_by"] == "dead_lettered" for d in last.values())
    return at, said(_DRAINED, count=dead) if dead else "last affected message left the queue", row
