"""Rows of a ledger that was read before: which row of a new reading is which of them, and what stands of each.

A row is told by what it holds, not by how its columns were read, so that a file read again with other options replaces what it
said. Pure: rows of ``book_entries`` in, rows out.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from forensics.identity import evidence_id
from forensics.words import time_text

Row = dict[str, Any]
_SAYS = ("key", "entry_id", "amount", "currency", "booked_at")
_KEPT = (*_SAYS, "row_sha256", "is_left_out")


@dataclass(frozen=True)
class Merged:
    """What a reading adds: rows to store, and how many are new, say something else now, or count no more.

    ``beside_count`` are new ones that might be the same charge as a row that this file lacks.
    """

    rows: list[Row]
    new_count: int
    changed_count: int
    left_out_count: int
    beside_count: int


def newest(rows: Iterable[Row]) -> list[Row]:
    """Return of every row what was said of it last."""
    found: dict[str, Row] = {}
    for row in sorted(rows, key=lambda r: (r["revision"] or 0, r["read_at"], r["evidence_id"])):
        found[_id_of(row)] = row
    return list(found.values())


def counting(rows: Iterable[Row]) -> list[Row]:
    """Return of every row that counts what was said of it last."""
    return [row for row in newest(rows) if not row["is_left_out"]]


def merged(read: Sequence[Row], before: Sequence[Row]) -> Merged:
    """Return what a reading of one file adds to what stands of its ledger; ``read`` lacks ids and revisions."""
    earlier = _earlier(read, before)
    names = {_id_of(row) for row in before}
    rows: list[Row] = []
    new = changed = left_out = 0
    for n, row in enumerate(read):
        if (old := earlier.get(n)) is None:
            if not row["is_left_out"]:
                new += 1
                rows.append(_named({**row, "row_id": _row_id(row, names), "revision": 0}))
                names.add(rows[-1]["row_id"])
            continue
        now = {**row, **{name: old[name] for name in _SAYS}} if row["is_left_out"] else row
        if all(now[name] == old[name] for name in _KEPT):
            continue
        if now["is_left_out"]:
            left_out += not old["is_left_out"]
        else:
            changed += old["is_left_out"] or any(now[name] != old[name] for name in _SAYS)
        rows.append(_named({**now, "row_id": _id_of(old), "revision": (old["revision"] or 0) + 1}))
    absent = {_charge(row) for row in before if not row["is_left_out"]} - {_charge(row) for row in earlier.values()}
    beside = sum(_charge(row) in absent for n, row in enumerate(read) if n not in earlier and not row["is_left_out"])
    return Merged(rows, new, changed, left_out, beside)


def _earlier(read: Sequence[Row], before: Sequence[Row]) -> dict[int, Row]:
    """Return which row of before each one that was read is, by its place: told by the sharpest name that both have."""
    found: dict[int, Row] = {}
    taken: set[int] = set()
    order = sorted(
        range(len(read)), key=lambda n: bool(read[n]["is_left_out"])
    )  # of equal rows, those that count first
    for name_of in (_content, _own_name, _values):
        there: dict[Hashable, list[int]] = defaultdict(list)
        for m, row in enumerate(before):
            if m not in taken and (name := name_of(row)) is not None:
                there[name].append(m)
        for n in order:
            if n in found or (name := name_of(read[n])) is None:
                continue
            fitting = (m for m in there[name] if name_of is not _values or not _differ(read[n], before[m]))
            if (first := next(fitting, None)) is not None:
                found[n] = before[first]
                taken.add(first)
                there[name].remove(first)
    return found


def _content(row: Row) -> Hashable:
    return row["row_sha256"]


def _own_name(row: Row) -> Hashable:
    return None if row["entry_id"] is None else (row["key"], row["entry_id"])


def _values(row: Row) -> Hashable:
    """An export may hold a state or a balance that changes: the same amount for the same key at the same moment is one row."""
    return None if row["booked_at"] is None else (*_charge(row), row["booked_at"])


def _charge(row: Row) -> tuple[Hashable, ...]:
    return row["key"], None if row["amount"] is None else Decimal(row["amount"]), row["currency"]


def _differ(one: Row, other: Row) -> bool:
    return None not in (one["entry_id"], other["entry_id"]) and one["entry_id"] != other["entry_id"]


def _id_of(row: Row) -> str:
    return str(row["row_id"] or row["evidence_id"])


def _row_id(row: Row, names: set[str]) -> str:
    nth = 1
    while (name := evidence_id("row", row["queue_arn"], row["book"], row["edition"], row["row_sha256"], nth)) in names:
        nth += 1
    return name


def _named(row: Row) -> Row:
    parts = (row[name] for name in ("row_id", "revision", "key", "entry_id", "amount", "currency"))
    booked_at = time_text(row["booked_at"]) if row["booked_at"] else None
    return {**row, "evidence_id": evidence_id("book", *parts, booked_at, row["row_sha256"], row["is_left_out"])}
