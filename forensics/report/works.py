"""The works of a case: one row for all messages that stand for the same work, because one payment is refunded once."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from forensics.lake import Findings
from forensics.lake.filters import equals, one_of
from forensics.lake.findings import rows_of
from forensics.lake.rows import plain_rows
from forensics.report.runs import came_at
from forensics.sentence import counted, joined, said
from forensics.tables.findings import MESSAGES, REDELIVERIES
from forensics.verdict.interval import AFFECTED
from forensics.words import interval_text

Row = Mapping[str, Any]
Others = Mapping[str, Sequence[tuple[str, datetime | None]]]
"""By work id, other incidents with a message of that work, and when it was first received."""
_CAME_AGAIN = ["item_id", "later_received_at", "is_one_receive", "invoked_again_at"]
_AT_A_TIME = 5_000
"""Messages that are rows of Python at a time; the rest stays in columns, a tenth of the size."""


def ordered_items(findings: Findings, incident_id: str) -> list[str]:
    """Return the item ids of an incident's messages, affected ones first, then as they were received."""
    told = findings.read(MESSAGES, ["item_id", "verdict", "first_received_at"], equals("incident_id", incident_id))
    is_last = pc.invert(pc.is_in(told["verdict"], pa.array(AFFECTED)))
    by = [(name, "ascending") for name in ("is_last", "first_received_at", "item_id")]
    items: list[str] = told.append_column("is_last", is_last).sort_by(by)["item_id"].to_pylist()
    return items


def every_work(findings: Findings, incident: Row, others: Others) -> Iterator[Row]:
    """Yield every affected work of an incident as ``by_work`` does, without its evidence and ``with_first_repeats``.

    They come in a report's order: of its messages affected ones first, then as they were received.
    """
    here = equals("incident_id", incident["incident_id"])
    told = findings.read(MESSAGES, [name for name in MESSAGES.given_names if name != "evidence_ids"], here)
    places = {item: place for place, item in enumerate(told["item_id"].to_pylist())}
    works, verdicts = told["work_id"].to_pylist(), told["verdict"].to_pylist()
    affected = [item for item in ordered_items(findings, incident["incident_id"]) if verdicts[places[item]] in AFFECTED]
    of_work: dict[str, list[int]] = {}
    for item in affected:
        of_work.setdefault(works[places[item]] or item, []).append(places[item])
    in_order = [(number, place) for number, mine in enumerate(of_work.values()) for place in mine]
    told = told.take([place for _, place in in_order])
    rows = (row for start in range(0, len(in_order), _AT_A_TIME) for row in rows_of(told.slice(start, _AT_A_TIME)))
    numbered = zip((number for number, _ in in_order), rows, strict=True)
    found = (
        work for _, mine in groupby(numbered, key=lambda pair: pair[0]) for work in by_work(row for _, row in mine)
    )
    repeats = findings.scan(REDELIVERIES, _CAME_AGAIN, equals("queue_arn", incident["queue_arn"]))
    again = first_repeats(row for batch in repeats for row in plain_rows(batch))
    yield from with_first_repeats(found, again, others)


def first_repeats(redeliveries: Iterable[Row]) -> dict[str, datetime]:
    """Return per item id when it first came again."""
    found: dict[str, datetime] = {}
    for row in redeliveries:
        item, at = row["item_id"], came_at(row)
        if at is not None and (item not in found or at < found[item]):
            found[item] = at
    return found


def elsewhere(findings: Findings, incident: Row) -> Others:
    """Return by work id in which other incidents messages of an incident's works are, and when they were first received."""
    if not incident["works_shared"]:
        return {}
    of_queue, incident_id = equals("queue_arn", incident["queue_arn"]), incident["incident_id"]
    mine = set(findings.read(MESSAGES, ["work_id"], equals("incident_id", incident_id))["work_id"].to_pylist())
    found: dict[str, list[tuple[str, datetime | None]]] = {}
    for batch in findings.scan(MESSAGES, ["work_id", "incident_id", "first_received_at"], of_queue):
        for row in plain_rows(batch):
            if row["work_id"] in mine and row["incident_id"] not in (None, incident_id):
                found.setdefault(row["work_id"], []).append((row["incident_id"], row["first_received_at"]))
    return found


def with_first_repeats(
    works: Iterable[Row],
    again: Mapping[str, datetime],
    others: Others = MappingProxyType({}),
) -> Iterator[Row]:
    """Add ``first_repeat_at`` to works, None where no repeat has a known time, and ``other_incident_ids``.

    A repeat is a redelivery of a message, another id of the work, or the first where ``others`` (``elsewhere``) had one before.
    Where lines of its key show one before those, it was then at the latest: ``is_repeat_by_then``.
    """
    for work in works:
        told, first_at = others.get(work["work_id"], ()), work["first_received_at"]
        repeats = [again[i] for i in work["item_ids"] if i in again] + list(work["other_ids_at"][:1])
        if first_at is not None and any(at is not None and at < first_at for _, at in told):
            repeats.append(first_at)
        ids = sorted({incident_id for incident_id, _ in told})
        received_at, shown_at = min(repeats, default=None), work.get("repeat_shown_at")
        is_by_then = shown_at is not None and (received_at is None or shown_at < received_at)
        yield {
            **work,
            "first_repeat_at": shown_at if is_by_then else received_at,
            "is_repeat_by_then": is_by_then,
            "other_incident_ids": ids,
        }


def repeated_text(work: Row) -> str:
    """Say how often a work was repeated, those of other incidents included."""
    times = interval_text(work["extra_effects_at_least"], work["extra_effects_at_most"])
    if not work["other_incident_ids"]:
        return times
    return said("{times}, with those of {incidents}", times=times, incidents=", ".join(work["other_incident_ids"]))


def by_work(messages: Iterable[Row]) -> list[Row]:
    """Return a row of ``messages`` per work, at the place of its first message and with what all of them say together.

    Added are ``message_ids`` (all ids of the work, those of other incidents last), ``item_ids`` (of the messages given),
    ``extra_effects_at_least`` and ``extra_effects_at_most`` (None: no upper bound). ``deliveries`` and ``receive_count``
    are of all given messages together, the count None where one is not logged. ``other_ids_at`` says when each of them was first received
    but the first, in order.
    """
    return [_of_work(mine) for mine in _works(messages)]


def told_of_work(verdict: Row, verdicts: Iterable[Row]) -> list[str]:
    """Return the sentences on the work of one message, whose rows are among ``verdicts``: why it came again, the guard, the effect."""
    whole = next(work for work in by_work(verdicts) if verdict["item_id"] in work["item_ids"])
    return [whole[n] for n in ("trigger_sentence", "guard_sentence", "effect_sentence") if whole[n]]


def counted_works(findings: Findings, incident_id: str, named: Collection[str]) -> list[Row]:
    """Return of every affected work of an incident what is counted: how often it was done beyond the first, and received.

    Works of one message that count alike are one row, which says in ``works`` how many it stands for and in ``item_ids`` one
    of their items: an incident may have a hundred thousand. Items that are ``named``, as by a person's mark, have their own.
    """
    of_affected = equals("incident_id", incident_id) & one_of("verdict", AFFECTED)
    told = findings.read(MESSAGES, list(_COUNTED_FROM), of_affected)
    work = pc.coalesce(told["work_id"], told["item_id"])
    sizes = pc.value_counts(work)
    of_several = sizes.field("values").filter(pc.greater(sizes.field("counts"), 1))
    is_own = pc.or_(pc.is_in(work, of_several), pc.is_in(told["item_id"], pa.array(named, pa.string())))
    alike = told.filter(pc.invert(is_own)).group_by(list(_ALIKE)).aggregate([("item_id", "min"), ("item_id", "count")])
    each = [_counts(mine) | {"works": 1} for mine in _works(plain_rows(told.filter(is_own)))]
    return each + [
        _counts([row | {"item_id": row["item_id_min"]}]) | {"works": row["item_id_count"]} for row in plain_rows(alike)
    ]


_ALIKE = ("verdict", "effects_at_least", "effects_at_most", "deliveries", "receive_count")
_COUNTED_FROM = ("queue_arn", "item_id", "work_id", *_ALIKE)


def _works(messages: Iterable[Row]) -> Iterable[list[Row]]:
    works: dict[tuple[str, str], list[Row]] = {}
    for message in messages:
        works.setdefault((message["queue_arn"], message["work_id"] or message["item_id"]), []).append(message)
    return works.values()


def _counts(mine: Sequence[Row]) -> dict[str, Any]:
    first = mine[0]
    most = first["effects_at_most"]
    return {
        "verdict": first["verdict"],
        "item_ids": [m["item_id"] for m in mine],
        "deliveries": sum(m["deliveries"] or 0 for m in mine),
        "receive_count": _sum(m["receive_count"] for m in mine),
        "extra_effects_at_least": max((first["effects_at_least"] or 0) - 1, 0),
        "extra_effects_at_most": None if most is None else max(most - 1, 0),
    }


def _of_work(mine: Sequence[Row]) -> Row:
    received = sorted(m["first_received_at"] for m in mine if m["first_received_at"])
    return {
        **mine[0],
        **_counts(mine),
        **{name: _first_known(mine, name) for name in ("message_id", "origin", "group_id", "deduplication_id")},
        **{name: _together(mine, name) for name in ("causes", "business_keys", "evidence_ids")},
        "message_ids": _ids(mine),
        "first_received_at": received[0] if received else None,
        "other_ids_at": received[1:],
        "last_received_at": max((m["last_received_at"] for m in mine if m["last_received_at"]), default=None),
        "is_dead_lettered": any(m["is_dead_lettered"] for m in mine),
        "trigger_sentence": _why(mine),
    }


def _why(mine: Sequence[Row]) -> str:
    """Say why a work came again; of several ids first how often all were delivered, which is what its repeats are counted from.

    Then each that was redelivered or sent again says why, of those that say the same the first; they go by their place in time, so that
    works that were hit alike are told alike.
    """
    telling = [m for m in mine if m["causes"] or m["origin"]]
    ids = {m["message_id"] for m in mine}
    if len(ids) == 1 or None in ids:  # lines that name a key alone may be of any of the others
        return joined(dict.fromkeys(m["trigger_sentence"] for m in telling or mine[:1] if m["trigger_sentence"]))
    times = counted(sum(m["receive_count"] or m["deliveries"] or 0 for m in mine), "time")
    told = [said("The work came in {n} messages, delivered {times} in all.", n=len(ids), times=times)]
    places: dict[str, list[int]] = {}
    for place, m in enumerate(sorted(mine, key=_by_receive), 1):
        if m in telling and m["trigger_sentence"]:
            places.setdefault(m["trigger_sentence"], []).append(place)
    for sentence, (first, *others) in places.items():
        phrase = (
            "Message {place} of {all}, and {n} like it: {sentence}"
            if others
            else "Message {place} of {all}: {sentence}"
        )
        told.append(said(phrase, place=first, all=len(ids), n=len(others), sentence=sentence))
    return joined(told)


def _by_receive(message: Row) -> tuple[bool, Any]:
    at = message["first_received_at"]
    return at is None, at or message["message_id"]


def _ids(mine: Sequence[Row]) -> list[str]:
    here = [m["message_id"] for m in mine if m["message_id"]]
    return list(dict.fromkeys([*here, *(i for m in mine for i in m["related_message_ids"] or ())]))


def _first_known(mine: Sequence[Row], name: str) -> Any:
    return next((m[name] for m in mine if m[name] is not None), None)


def _together(mine: Sequence[Row], name: str) -> list[str]:
    return list(dict.fromkeys(value for m in mine for value in m.get(name) or ()))


def _sum(counts: Iterable[int | None]) -> int | None:
    known = list(counts)
    return None if None in known else sum(count for count in known if count is not None)
