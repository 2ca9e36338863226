"""Ledgers in the lake: read once, kept as evidence of their own, and held against one data version's logs."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from forensics.books.compare import Booked, Line, Logged, Span, compare
from forensics.books.entries import Columns, Entry, Ledger, ledger_of
from forensics.books.files import LedgerUnreadableError, ledger_rows
from forensics.books.versions import Merged, counting, merged, newest
from forensics.errors import ForensicsError
from forensics.identity import evidence_id, names_of, queue_name
from forensics.lake import Findings, Lake
from forensics.lake.filters import equals
from forensics.lake.rows import plain_rows
from forensics.privacy import redact
from forensics.sentence import counted, said
from forensics.tables.books import BOOK_ENTRIES, BOOKS
from forensics.tables.findings import DELIVERIES, MESSAGES
from forensics.window import TimeWindow
from forensics.words import percent, time_text

_COLUMNS = [
    "queue_arn",
    "queue",
    "item_id",
    "message_id",
    "business_keys",
    "deduplication_id",
    "sent_at",
    "received_at",
    "run_ended_at",
    "finished_at",
    "effect",
]
MOST_TWICE_SHARE = 0.5
"""Where a larger share of the keys that the logs know stands in the books more than once, rows are steps and not charges."""
FEW_KEYS = 20
"""Fewer keys than these tell nothing of how a ledger is written."""


class BooksUnclearError(ForensicsError):
    """The books cannot be held against the logs: no key fits, or several queues do."""


@dataclass(frozen=True)
class Reading:
    """What reading a ledger's file came to. ``merged`` says what of its rows is new; ``was_whole``: an earlier reading said so."""

    queue: str
    book: str
    row_count: int
    merged: Merged
    is_renamed: bool
    was_whole: bool


def read_books(
    findings: Findings,
    file: Path,
    columns: Columns,
    now: datetime,
    queue: str | None = None,
    book: str | None = None,
    whole: TimeWindow | None = None,
) -> Reading:
    """Keep a ledger's rows as evidence; what was read of the same rows before is replaced.

    ``whole`` is when the ledger holds everything. Without ``book`` a file that was read before stays of the ledger it was then.
    Raises, with nothing written, LedgerUnreadableError and AmountUnreadableError for a file that cannot be meant,
    BooksUnclearError where its keys fit no queue, or several.
    """
    lake = findings.lake
    ledger = ledger_of(ledger_rows(file), columns, file.name)
    queue_arn, name = _queue_of(findings, ledger.entries, columns, queue)
    queue_arn = _place_of(lake, queue_arn)
    with file.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    before = [r for r in standing(lake) if (r["queue_arn"], r["file_sha256"]) == (queue_arn, digest)]
    named = book or (before[-1]["book"] if before else file.stem)
    edition = _edition(lake, queue_arn, named, columns.key)
    common = {"queue_arn": queue_arn, "queue": name, "book": named, "edition": edition}
    there = _entries_of(lake, queue_arn, named, edition)
    if any(row["row_sha256"] is None for row in there):
        raise BooksUnclearError(
            said(
                "the ledger {book} was read by an earlier release, which did not keep what tells its rows",
                book=repr(named),
            ),
            said("Take that reading back with --withdraw {book}, and read the file again.", book=named),
        )
    new = merged([{**common, "read_at": now, **row} for row in _rows_of(ledger)], newest(there))
    lake.append(BOOK_ENTRIES, new.rows, f"books|{named}")
    reading = {
        **common,
        "file_name": file.name,
        "file_sha256": digest,
        "key_column": columns.key,
        "entry_count": len(ledger.entries),
        "stored_count": new.new_count,
        "window_start_at": whole.start_at if whole else None,
        "window_end_at": whole.end_at if whole else None,
        "is_withdrawn": False,
        "read_at": now,
    }
    lake.append(BOOKS, [_named(reading)], f"books|{named}")
    return Reading(
        name,
        named,
        len(ledger.entries),
        new,
        is_renamed=named not in (book, file.stem),
        was_whole=any(r["book"] == named and r["window_start_at"] for r in before),
    )


def _rows_of(ledger: Ledger) -> list[dict[str, Any]]:
    """Return what is kept of a file's rows; what the settings redact goes before anything is compared."""
    counted_ones = [
        {
            "key": redact(e.key),
            "entry_id": None if e.entry_id is None else redact(e.entry_id),
            "amount": None if e.amount is None else format(e.amount, "f"),
            "currency": e.currency,
            "booked_at": e.booked_at,
            "row_number": e.row_number,
            "row_sha256": e.content,
            "is_left_out": False,
        }
        for e in ledger.entries
    ]
    others = [
        {
            "key": redact(row.key),
            "entry_id": None if row.entry_id is None else redact(row.entry_id),
            "amount": None,
            "currency": None,
            "booked_at": None,
            "row_number": row.row_number,
            "row_sha256": row.content,
            "is_left_out": True,
        }
        for row in ledger.left_out
    ]
    return counted_ones + others


def _place_of(lake: Lake, queue_arn: str) -> str:
    """Return what the lake's ledgers of a queue call it: its name alone where they were read before anything told its ARN."""
    called = {row["queue_arn"] for row in plain_rows(lake.read(BOOKS))} & names_of(queue_arn)
    return next(iter(called)) if len(called) == 1 else queue_arn


def _entries_of(lake: Lake, queue_arn: str, book: str, edition: int) -> list[dict[str, Any]]:
    where = equals("queue_arn", queue_arn) & equals("book", book) & equals("edition", edition)
    return plain_rows(lake.read(BOOK_ENTRIES, where=where))


def withdraw(lake: Lake, book: str, now: datetime) -> int:
    """Let a ledger that was read in error count no more; returns how many of its rows that concerns.

    Raises BooksUnclearError for one that is not there.
    """
    readings = standing(lake)
    mine = {(r["queue_arn"], r["queue"]): r["edition"] for r in readings if r["book"] == book}
    if not mine:
        there = sorted({r["book"] for r in readings})
        raise BooksUnclearError(
            said("no ledger {book} counts in this lake", book=repr(book)),
            said("There is: {names}.", names=", ".join(there)) if there else "There is none.",
        )
    count = 0
    for (queue_arn, name), edition in sorted(mine.items()):
        row = {"queue_arn": queue_arn, "queue": name, "book": book, "edition": edition + 1}
        lake.append(BOOKS, [_named({**row, "is_withdrawn": True, "read_at": now})], f"books|{book}")
        count += len(counting(_entries_of(lake, queue_arn, book, edition)))
    return count


def _named(row: dict[str, Any]) -> dict[str, Any]:
    values = (row.get(name) for name in BOOKS.column_names)
    parts = [time_text(value) if isinstance(value, datetime) else value for value in values]
    return {**row, "evidence_id": evidence_id("reading", *parts)}


def standing(lake: Lake) -> list[dict[str, Any]]:
    """Return the readings that count, oldest first: of every ledger those of its newest edition, of the same file the last."""
    rows = sorted(plain_rows(lake.read(BOOKS)), key=lambda r: (r["read_at"], r["evidence_id"]))
    editions = _editions(rows)
    mine = [r for r in rows if not r["is_withdrawn"] and r["edition"] == editions[r["queue_arn"], r["book"]]]
    last = {(r["queue_arn"], r["book"], r["file_sha256"]): r["evidence_id"] for r in mine}
    return [r for r in mine if last[r["queue_arn"], r["book"], r["file_sha256"]] == r["evidence_id"]]


def _editions(rows: Iterable[dict[str, Any]]) -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for r in rows:
        place = (r["queue_arn"], r["book"])
        found[place] = max(found.get(place, 0), r["edition"])
    return found


def _edition(lake: Lake, queue_arn: str, book: str, key_column: str) -> int:
    """Return a ledger's edition; raises BooksUnclearError where it was read by another column before."""
    other = [r for r in standing(lake) if (r["queue_arn"], r["book"]) == (queue_arn, book)]
    if other and other[-1]["key_column"] != key_column:
        raise BooksUnclearError(
            said(
                "the ledger {book} was read by {key} before, and now by {other}",
                book=repr(book),
                key=repr(other[-1]["key_column"]),
                other=repr(key_column),
            ),
            said(
                "Take the earlier reading back with --withdraw {book}, or give this one another name with --book.",
                book=book,
            ),
        )
    return _editions(plain_rows(lake.read(BOOKS))).get((queue_arn, book), 0)


def has_books(lake: Lake) -> bool:
    """Tell whether any ledger was read."""
    return lake.exists(BOOKS)


def reconcile(findings: Findings, queue: str | None = None, keys: Iterable[str] | None = None) -> dict[str, list[Line]]:
    """Hold every ledger that counts against this data version's logs; returns the lines per queue's name.

    With ``keys`` only the lines of those. Nothing for a queue of which no ledger was read.
    """
    names = names_of(queue) if queue else ()
    readings = [r for r in standing(findings.lake) if queue in (None, r["queue"]) or r["queue_arn"] in names]
    wanted = None if keys is None else set(keys)
    found = {}
    for arn in dict.fromkeys(r["queue_arn"] for r in readings):
        mine = [r for r in readings if r["queue_arn"] == arn]
        booked = _booked(findings.lake, arn, {(r["book"], r["edition"]) for r in mine}, wanted)
        whole: dict[str, list[Span]] = defaultdict(list)
        for r in mine:
            if r["window_start_at"] is not None:
                whole[r["book"]].append((r["window_start_at"], r["window_end_at"]))
        found[mine[0]["queue"]] = compare(booked, _logged(findings, arn, wanted, set(booked)), whole)
    return found


def _booked(
    lake: Lake, queue_arn: str, books: set[tuple[str, int]], wanted: set[str] | None
) -> dict[str, list[Booked]]:
    found: dict[str, list[Booked]] = defaultdict(list)
    for row in counting(plain_rows(lake.read(BOOK_ENTRIES, where=equals("queue_arn", queue_arn)))):
        if (row["book"], row["edition"]) in books and (wanted is None or row["key"] in wanted):
            amount = None if row["amount"] is None else Decimal(row["amount"])
            found[row["key"]].append(
                Booked(
                    row["book"],
                    row["entry_id"],
                    amount,
                    row["currency"],
                    row["booked_at"],
                    row["row_number"],
                    row["evidence_id"],
                )
            )
    return dict(found)


def _logged(findings: Findings, queue_arn: str, wanted: set[str] | None, named: set[str]) -> dict[str, Logged]:
    """Return what the logs say per key; a message that no key names counts under the id that a ledger has for it."""
    here = equals("queue" if queue_arn == queue_name(queue_arn) else "queue_arn", queue_arn)
    verdicts = {r["item_id"]: r for r in plain_rows(findings.read(MESSAGES, where=here))}
    by_key: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for row in plain_rows(findings.read(DELIVERIES, _COLUMNS, here)):
        keys = row["business_keys"] or [i for i in (row["message_id"], row["deduplication_id"]) if i in named]
        for key in keys:
            if wanted is None or key in wanted:
                by_key[key][row["item_id"]].append(row)
    return {key: _logged_of(items, verdicts) for key, items in by_key.items()}


def _logged_of(items: dict[str, list[dict[str, Any]]], verdicts: dict[str, dict[str, Any]]) -> Logged:
    judged = {item: verdicts[item] for item in sorted(items) if item in verdicts}
    works = {row["work_id"] or item: row for item, row in judged.items()}
    spans = [(row["effects_at_least"] or 0, row["effects_at_most"]) for row in works.values()]
    for item, deliveries in items.items():
        if item not in judged:
            sure = sum(d["effect"] == "yes" for d in deliveries)
            spans.append((sure, sure + sum(d["effect"] not in ("yes", "no") for d in deliveries)))
    worst = max(judged.values(), key=lambda r: (r["effects_at_least"] or 0, r["effects_at_most"] or 99), default=None)
    times = [
        d[name]
        for deliveries in items.values()
        for d in deliveries
        for name in ("sent_at", "received_at", "run_ended_at", "finished_at")
        if d[name]
    ]
    return Logged(
        at_least=sum(low for low, _ in spans),
        at_most=None if any(high is None for _, high in spans) else sum(high for _, high in spans),
        verdict=worst["verdict"] if worst else None,
        incident_id=worst["incident_id"] if worst else None,
        item_ids=tuple(sorted(items)),
        message_ids=tuple(sorted({d["message_id"] for ds in items.values() for d in ds if d["message_id"]})),
        span=(min(times), max(times)) if times else None,
    )


def _queue_of(findings: Findings, found: Sequence[Entry], columns: Columns, queue: str | None) -> tuple[str, str]:
    """Return the ARN and name of the queue whose deliveries the keys name."""
    keys = {e.key for e in found}
    named: Counter[tuple[str, str]] = Counter()
    known: set[tuple[str, str]] = set()
    seen: dict[tuple[str, str], set[str]] = defaultdict(set)
    columns_read = ["queue_arn", "queue", "message_id", "deduplication_id", "business_keys"]
    for row in plain_rows(findings.read(DELIVERIES, columns_read)):
        place = (row["queue_arn"], row["queue"])
        known.add(place)
        seen[place].update({row["message_id"], row["deduplication_id"], *(row["business_keys"] or ())} & keys)
    for place, fitting in seen.items():
        if fitting:
            named[place] = len(fitting)
    if queue is not None:
        named = Counter({place: n for place, n in named.items() if queue in place})
        if not any(queue in place for place in known):
            there = ", ".join(sorted(name for _, name in known))
            raise BooksUnclearError(
                said("no delivery of a queue {queue} is in the lake", queue=repr(queue)),
                said("There is: {names}.", names=there),
            )
    if not named:
        shown = sorted(keys)[0]
        raise BooksUnclearError(
            said(
                "none of the {keys} in column {column}, such as {shown}, names a message of {queue}"
                if queue
                else "none of the {keys} in column {column}, such as {shown}, names a message in the lake",
                keys=counted(len(keys), "key"),
                column=repr(columns.key),
                shown=repr(shown),
                **({"queue": repr(queue)} if queue else {}),
            ),
            "--key takes the column that holds the business key, the message id or the deduplication id; business_key in the "
            "settings file says where bodies carry it.",
        )
    if len(named) > 1:
        several = ", ".join(f"{name} ({count:,})" for (_, name), count in named.most_common())
        raise BooksUnclearError(
            said(
                "the keys in column {column} name messages of {count} queues: {names}",
                column=repr(columns.key),
                count=len(named),
                names=several,
            ),
            "A ledger is of one queue's work: name it with --queue.",
        )
    place = next(iter(named))
    _check_rows_are_works(found, seen[place], columns)
    return place


def _check_rows_are_works(found: Sequence[Entry], known: set[str], columns: Columns) -> None:
    """Refuse a ledger in which most keys stand more than once: then a row is a step of a charge, and no charge."""
    counts = Counter(e.key for e in found if not e.is_refund and e.key in known)
    twice = [key for key, count in counts.items() if count > 1]
    if len(counts) >= FEW_KEYS and len(twice) > MOST_TWICE_SHARE * len(counts):
        raise LedgerUnreadableError(
            said(
                "{part} of the keys stand in the ledger more than once, such as {key}",
                part=percent(len(twice) / len(counts)),
                key=repr(twice[0]),
            ),
            "Rows may be steps of one charge, such as authorised and captured: choose one kind with --only COLUMN=VALUE.",
        )
