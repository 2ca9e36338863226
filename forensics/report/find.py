"""Find messages by any id that names them, and all ids that stand for the same work."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from forensics.identity import HANDLE_PREFIX_CHARS, KEY_ITEM, handle_prefix, handle_token
from forensics.lake import Findings
from forensics.lake.conditions import Condition, any_of
from forensics.lake.findings import rows_of
from forensics.tables.findings import DELIVERIES, MESSAGES
from forensics.tables.schema import Table

Row = Mapping[str, Any]
Key = tuple[str, str]
"""Queue ARN and item id: one message of one queue."""
Read = Callable[[Table, tuple[Condition, ...], tuple[str, ...]], list[dict[str, Any]]]
"""Reads the rows of a table that pass at least one condition, with these columns."""

LEAST_CHARS = 8
"""Fewest characters of an id's or receipt handle's start that are searched for."""
MOST_HITS = 200
"""Messages that a page lists; of more it says how many there are."""
_AT_ONCE = 5_000
"""Messages that one read asks for."""
FULL_HANDLE = re.compile(r"AQEB[A-Za-z0-9+/=_-]{60,}")
_DIGEST = re.compile(r"[0-9a-f]{32}")
_HIT_COLUMNS = (
    "queue_arn",
    "queue",
    "item_id",
    "message_id",
    "business_keys",
    "deduplication_id",
    "request_id",
    "receipt_handle",
    "body_md5",
    "received_at",
    "log_group",
)
_WORK_COLUMNS = ("queue_arn", "item_id", "message_id", "work_id", "related_message_ids")


@dataclass(frozen=True)
class Hit:
    """A message that the text names. ``received_at`` is its first receive that was found, UTC or None."""

    queue_arn: str
    queue: str
    item_id: str
    message_id: str | None
    business_keys: tuple[str, ...]
    received_at: datetime | None
    found_by: tuple[str, ...]

    @property
    def key(self) -> Key:
        """Queue ARN and item id."""
        return self.queue_arn, self.item_id


@dataclass(frozen=True)
class Work:
    """One work: the message that was found, and every id that stands for the same work, in this or another queue."""

    hits: tuple[Hit, ...]
    items: tuple[Key, ...]

    @property
    def hit(self) -> Hit:
        """Return the first of the found messages."""
        return self.hits[0]


def asked_text(text: str) -> str:
    """Return what is asked for, without the blanks and quotes that copying leaves.

    A whole receipt handle is a credential: its token takes its place.

    >>> asked_text(' "pay-17", ')
    'pay-17'
    """
    asked = text.strip().strip("\"',;").strip()
    return handle_token(asked) if FULL_HANDLE.fullmatch(asked) else asked


def ways_to_find(asked: str) -> list[tuple[str, Condition]]:
    """Return each way the text could name a delivery: its name, and the condition on ``deliveries``."""
    ways: list[tuple[str, Condition]] = [
        ("message id", ("message_id", "==", asked)),
        ("business key", ("item_id", "==", f"{KEY_ITEM}{asked}")),
        ("business key", ("business_keys", "holds", asked)),
        ("deduplication id", ("deduplication_id", "==", asked)),
        ("request id", ("request_id", "==", asked)),
        ("receipt handle", ("receipt_handle", "==", asked)),
    ]
    if _DIGEST.fullmatch(asked):
        ways += [
            ("digest of a receipt handle", ("receipt_handle", "ends", f"~{asked}")),
            ("body MD5", ("body_md5", "==", asked)),
        ]
    if asked.startswith("RH~"):  # its digest may have been made with the lake's own key
        ways.append(("receipt handle", ("receipt_handle", "starts", handle_prefix(asked))))
    if len(asked) >= LEAST_CHARS:
        ways += [
            ("start of the message id", ("message_id", "starts", asked)),
            ("start of the request id", ("request_id", "starts", asked)),
            ("start of the deduplication id", ("deduplication_id", "starts", asked)),
            ("receipt handle", ("receipt_handle", "starts", f"RH~{asked[:HANDLE_PREFIX_CHARS]}")),
        ]
    return ways


def find(asked: str, read: Read, start: datetime | None = None, end: datetime | None = None) -> list[Hit]:
    """Return the messages that the text names, in order of their first receive.

    ``start`` (inclusive) and ``end`` (exclusive) narrow by the receive; a receive of unknown time always counts.
    """
    ways = ways_to_find(asked)
    rows = read(DELIVERIES, tuple(condition for _, condition in ways), _HIT_COLUMNS)
    inside = [r for r in rows if r["received_at"] is None or _inside(r["received_at"], start, end)]
    inside.sort(key=lambda r: (r["received_at"] is None, r["received_at"], r["queue_arn"], r["item_id"]))
    first: dict[Key, Row] = {}
    found_by: dict[Key, set[str]] = {}
    for row in inside:
        key = (row["queue_arn"], row["item_id"])
        first.setdefault(key, row)
        found = {
            name: comparison for name, (column, comparison, value) in ways if _passes(row[column], comparison, value)
        }
        exact = {name for name, comparison in found.items() if comparison in ("==", "holds", "ends")}
        found_by.setdefault(key, set()).update(exact or found)
    return _hits(first, found_by)


def hits_of(keys: Mapping[Key, Sequence[str]], read: Read) -> list[Hit]:
    """Return messages that were found another way: ``keys`` gives each with how; in order of their first receive."""
    if not keys:
        return []
    wanted = (("item_id", "in", tuple(sorted({item for _, item in keys}))),)
    first: dict[Key, Row] = {}
    rows = read(DELIVERIES, wanted, _HIT_COLUMNS)
    rows.sort(key=lambda r: (r["received_at"] is None, r["received_at"], r["queue_arn"], r["item_id"]))
    for row in rows:
        if (key := (row["queue_arn"], row["item_id"])) in keys:
            first.setdefault(key, row)
    return _hits(first, keys)


def _hits(first: Mapping[Key, Row], found_by: Mapping[Key, Iterable[str]]) -> list[Hit]:
    """Return what was found, each by its first row; not what a key alone names where a message that has the key was found in that queue."""
    with_key = {
        (arn, key) for (arn, _), row in first.items() if row["message_id"] for key in row["business_keys"] or ()
    }
    return [
        Hit(
            queue_arn=queue_arn,
            queue=row["queue"],
            item_id=item_id,
            message_id=row["message_id"],
            business_keys=tuple(row["business_keys"] or ()),
            received_at=row["received_at"],
            found_by=tuple(sorted(set(found_by[queue_arn, item_id]))),
        )
        for (queue_arn, item_id), row in first.items()
        if queue_arn == row["log_group"] or (queue_arn, item_id.removeprefix(KEY_ITEM)) not in with_key
    ]


def _inside(at: datetime, start: datetime | None, end: datetime | None) -> bool:
    return (start is None or at >= start) and (end is None or at < end)


def _passes(have: Any, comparison: str, value: Any) -> bool:
    if have is None:
        return False
    if comparison == "holds":
        return value in have
    if comparison == "starts":
        return str(have).startswith(value)
    if comparison == "ends":
        return str(have).endswith(value)
    return bool(have == value)


def works(hits: Sequence[Hit], read: Read) -> list[Work]:
    """Gather hits by the work they stand for, with every other id of it.

    Ids stand for one work where ``messages`` links them, and one message id stands for itself in every queue it was
    moved to.
    """
    kin = _Kin()
    for hit in hits:
        kin.add((hit.queue_arn, hit.item_id), hit.message_id)
    seen: set[Key] = set()
    while new := [key for key in kin.keys() if key not in seen][:_AT_ONCE]:  # noqa: SIM118 - not a dictionary
        seen.update(new)
        ids = tuple(sorted({m for key in new if (m := kin.message_id(key))}))
        by_item = (("item_id", "in", tuple(sorted({item for _, item in new}))),)
        by_id = (("message_id", "in", ids),) if ids else ()
        linked = read(MESSAGES, (*by_item, *by_id), _WORK_COLUMNS)
        named = tuple(sorted({w["work_id"] for w in linked if w["work_id"] and (w["queue_arn"], w["item_id"]) in kin}))
        if named:
            linked += read(MESSAGES, (("work_id", "in", named),), _WORK_COLUMNS)
        kin.link(linked)
        related = tuple(sorted({r for w in linked for r in w["related_message_ids"] or ()} | set(ids)))
        if related:
            moved = read(DELIVERIES, (("message_id", "in", related),), ("queue_arn", "item_id", "message_id"))
            for row in moved:
                kin.add((row["queue_arn"], row["item_id"]), row["message_id"])
    by_work: dict[Key, list[Hit]] = {}
    for hit in hits:
        by_work.setdefault(kin.root(hit.key), []).append(hit)
    members = kin.members()
    return [Work(tuple(found), tuple(sorted(members[root]))) for root, found in by_work.items()]


class _Kin:
    """Which messages stand for the same work: sets that are joined as links are found."""

    def __init__(self) -> None:
        self._parent: dict[Key, Key] = {}
        self._message_id: dict[Key, str | None] = {}
        self._by_name: dict[tuple[str, ...], Key] = {}

    def __contains__(self, key: Key) -> bool:
        return key in self._parent

    def keys(self) -> list[Key]:
        """Return every message known so far."""
        return list(self._parent)

    def message_id(self, key: Key) -> str | None:
        """Return a message's own id."""
        return self._message_id[key]

    def add(self, key: Key, message_id: str | None) -> None:
        """Take a message in; one that has the id of another is the same."""
        self._parent.setdefault(key, key)
        self._message_id.setdefault(key, message_id)
        if message_id:
            self._named(key, ("message", message_id))

    def link(self, rows: Iterable[Row]) -> None:
        """Join the messages that share their work or name one another."""
        for row in rows:
            key = (row["queue_arn"], row["item_id"])
            self.add(key, row["message_id"])
            if row["work_id"]:
                self._named(key, ("work", row["queue_arn"], row["work_id"]))
            for other in row["related_message_ids"] or ():
                self._named(key, ("message", other))

    def root(self, key: Key) -> Key:
        """Return the message that stands for all of its work."""
        while self._parent[key] != key:
            key = self._parent[key]
        return key

    def members(self) -> Mapping[Key, list[Key]]:
        """Return all messages of each work, by the one that stands for it."""
        found: dict[Key, list[Key]] = {}
        for key in self._parent:
            found.setdefault(self.root(key), []).append(key)
        return found

    def _named(self, key: Key, name: tuple[str, ...]) -> None:
        one, other = self.root(key), self.root(self._by_name.setdefault(name, key))
        if one != other:
            self._parent[max(one, other)] = min(one, other)


def reader(findings: Findings) -> Read:
    """Return how to read one generation of findings."""

    def read(table: Table, conditions: tuple[Condition, ...], columns: tuple[str, ...]) -> list[dict[str, Any]]:
        return rows_of(findings.read(table, list(columns), any_of(*conditions)))

    return read
