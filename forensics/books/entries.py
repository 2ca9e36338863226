"""Rows of a ledger's file as entries: which column holds the key, the amount, its currency, the time and the row's own name."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from forensics.books.amounts import AmountUnreadableError, currency_of, is_currency, money
from forensics.books.files import LedgerUnreadableError
from forensics.sentence import counted, said

Row = Mapping[str, Any]
SAME_ROWS = ("refuse", "count", "once")
"""What rows that are equal in every column stand for: nobody knows; one entry each; one entry together."""
_EPOCH_MS_FROM = 1e11
_HALF_A_PAIR = re.compile(r"[\ud800-\udfff]")
"""Half a surrogate pair, which JSON can write and no file of ours can hold."""
MOST_NAMED = 20
"""So many columns of a file are named in a sentence."""


@dataclass(frozen=True)
class Columns:
    """Which columns hold what. ``currency`` is a column, or where no column has that name a code for all rows.

    ``only`` keeps rows in which a column has one of some values; ``zone`` holds where a time names none.
    """

    key: str
    amount: str | None = None
    currency: str | None = None
    time: str | None = None
    entry_id: str | None = None
    only: tuple[tuple[str, str], ...] = ()
    zone: ZoneInfo | None = None
    same_rows: str = "refuse"


@dataclass(frozen=True)
class Entry:
    """One row of a ledger. A negative amount pays back; ``booked_at`` is UTC; ``content`` is a digest of all its columns."""

    key: str
    entry_id: str | None
    amount: Decimal | None
    currency: str | None
    booked_at: datetime | None
    row_number: int
    content: str = field(default="", compare=False)

    @property
    def is_refund(self) -> bool:
        """It pays money back, and is no work done."""
        return self.amount is not None and self.amount < 0


@dataclass(frozen=True)
class LeftOut:
    """A row that counts for nothing: it is of another kind, or equal rows count once. An earlier reading may have counted it."""

    key: str
    entry_id: str | None
    row_number: int
    content: str


@dataclass(frozen=True)
class Ledger:
    """The rows of one file: those that count, and the others."""

    entries: list[Entry]
    left_out: list[LeftOut]


def ledger_of(rows: Iterable[tuple[int, Row]], columns: Columns, file: str) -> Ledger:
    """Read entries off rows; raises LedgerUnreadableError or AmountUnreadableError that names row and value."""
    found: list[Entry] = []
    left_out: list[LeftOut] = []
    named: dict[str, int] = {}
    first_of: dict[str, int] = {}
    plain_currency: tuple[str, int] | None = None
    for number, row in rows:
        where = said("row {number} of {file}", number=str(number), file=repr(file))
        _check_columns(row, columns, where)
        content = _digest(row)
        if any(str(row[name]) not in values for name, values in _values_of(columns.only).items()):
            left_out.append(_left_out(number, row, columns, content))
            continue
        entry, named_currency = _entry(number, row, columns, where, content)
        if named_currency and plain_currency and named_currency != plain_currency[0]:
            raise AmountUnreadableError(
                said(
                    "{where} is in {said}, and row {row} in {other}: two currencies in column {column}",
                    where=where,
                    said=named_currency,
                    row=str(plain_currency[1]),
                    other=plain_currency[0],
                    column=repr(columns.amount),
                ),
                "Amounts are added up per currency: name the column that holds it with --currency.",
            )
        plain_currency = plain_currency or (named_currency and (named_currency, number)) or None
        if entry.entry_id is not None and (earlier := named.setdefault(entry.entry_id, number)) != number:
            raise LedgerUnreadableError(
                said(
                    "{where} has {column} {value}, and so has row {earlier}",
                    where=where,
                    column=columns.entry_id,
                    value=repr(entry.entry_id),
                    earlier=str(earlier),
                ),
                "Each row's name stands once: was the same export put in twice?",
            )
        if (earlier := first_of.setdefault(content, number)) != number:
            if columns.same_rows == "refuse":
                raise LedgerUnreadableError(
                    said(
                        "{where} is row {earlier} again, equal in every column (key {key})",
                        where=where,
                        earlier=str(earlier),
                        key=repr(entry.key),
                    ),
                    "Two charges, or one export put in twice? Say --same-rows count or --same-rows once, or name a column "
                    "that tells rows apart with --id.",
                )
            if columns.same_rows == "once":
                left_out.append(_left_out(number, row, columns, content))
                continue
        found.append(entry)
    if not found:
        wanted = ", ".join(f"{name}={value}" for name, value in columns.only)
        raise LedgerUnreadableError(
            said("no row of {file} has {said}", file=repr(file), said=wanted), "Look at the values of that column."
        )
    return Ledger(found, left_out)


def _digest(row: Row) -> str:
    """Return a digest of all that a row says, in whatever order its columns stand, and however they are read."""
    said_there = sorted((str(name), str(value)) for name, value in row.items())
    return hashlib.sha256(repr(said_there).encode()).hexdigest()


def _left_out(number: int, row: Row, columns: Columns, content: str) -> LeftOut:
    entry_id = row[columns.entry_id] if columns.entry_id else None
    return LeftOut(str(row[columns.key]).strip(), None if entry_id is None else str(entry_id), number, content)


def _entry(number: int, row: Row, columns: Columns, where: str, content: str) -> tuple[Entry, str | None]:
    """Return an entry, and the currency that its amount's own cell names."""
    key = row[columns.key]
    if key is None or not str(key).strip():
        raise LedgerUnreadableError(
            said("{where} has no {column}", where=where, column=columns.key),
            "Each row needs the key of what it is about.",
        )
    amount, named_currency, currency = None, None, None
    if columns.amount:
        value = row[columns.amount]
        try:
            found = money(value)
        except AmountUnreadableError as problem:
            raise _at(problem, where, columns.amount) from problem
        amount, named_currency = found.amount, found.currency
        currency = _currency(row, columns, named_currency, where)
    if not _is_text(str(key)):
        raise LedgerUnreadableError(
            said("{place} has {column} {key}, which is no text", place=where, column=columns.key, key=f"{key!r:.80}"),
            "Write it again as UTF-8.",
        )
    entry_id = row[columns.entry_id] if columns.entry_id else None
    if columns.entry_id and (entry_id is None or not _is_text(str(entry_id))):
        raise LedgerUnreadableError(
            said("{where} has no {column}", where=where, column=columns.entry_id),
            "--id names a column that each row has.",
        )
    booked_at = _time(row[columns.time], columns, where) if columns.time else None
    named_id = None if entry_id is None else str(entry_id)
    entry = Entry(str(key).strip(), named_id, amount, currency, booked_at, number, content)
    return entry, None if columns.currency in row else named_currency


def _currency(row: Row, columns: Columns, named: str | None, where: str) -> str | None:
    if columns.currency is None:
        return named
    try:
        code = currency_of(row.get(columns.currency, columns.currency))
    except AmountUnreadableError as problem:
        raise _at(problem, where, columns.currency) from problem
    if named and named != code:
        raise AmountUnreadableError(
            said("{where} is in {said} by its amount, and in {code} by --currency", where=where, said=named, code=code),
            "Which is it?",
        )
    return code


def _at(problem: AmountUnreadableError, where: str, column: str) -> AmountUnreadableError:
    """Say where in the ledger a problem is."""
    told = said("{where}, column {column}: {problem}", where=where, column=repr(column), problem=problem.sentence)
    return AmountUnreadableError(told, problem.hint)


def _time(value: Any, columns: Columns, where: str) -> datetime:
    """Read a time: ISO 8601, epoch seconds or milliseconds; one without a zone needs --zone."""
    at: datetime | None = value if isinstance(value, datetime) else None
    if isinstance(value, date) and at is None:
        at = datetime(value.year, value.month, value.day)
    if at is None and value is not None and not isinstance(value, bool):
        text = str(value).strip()
        try:
            if re.fullmatch(r"\d{9,14}(\.\d+)?", text):
                number = float(text)
                at = datetime.fromtimestamp(number / 1000 if number >= _EPOCH_MS_FROM else number, UTC)
            else:
                at = datetime.fromisoformat(text.removesuffix(" UTC"))
                at = at.replace(tzinfo=UTC) if text.endswith(" UTC") else at
        except (ValueError, OverflowError):
            at = None
    if at is not None and at.tzinfo is None and columns.zone is None:
        raise LedgerUnreadableError(
            said(
                "{where}, column {column}: {text} does not say its time zone",
                where=where,
                column=repr(columns.time),
                text=repr(value),
            ),
            "Give --zone, for example --zone UTC or --zone Europe/Berlin.",
        )
    try:
        found = at and (at if at.tzinfo else at.replace(tzinfo=columns.zone)).astimezone(UTC)
    except OverflowError:  # the first or last day there is
        found = None
    if found is None:
        raise LedgerUnreadableError(
            said(
                "{where}, column {column}: {text} is not a time",
                where=where,
                column=repr(columns.time),
                text=f"{value!r:.80}",
            ),
            "Times are written like 2026-11-20T05:12:00Z, or as seconds or milliseconds since 1970.",
        )
    return found


def _check_columns(row: Row, columns: Columns, where: str) -> None:
    wanted: Sequence[tuple[str, str | None]] = (
        ("--key", columns.key),
        ("--amount", columns.amount),
        ("--time", columns.time),
        ("--id", columns.entry_id),
        *(("--only", name) for name, _ in columns.only),
    )
    for option, name in wanted:
        if name is not None and name not in row:
            raise LedgerUnreadableError(
                said("{where} has no column {column}", where=where, column=repr(name)),
                said(
                    "{option} names one of its {columns}: {names}.",
                    option=option,
                    columns=counted(len(row), "column"),
                    names=_some(row),
                ),
            )
    if columns.currency and columns.currency not in row and not is_currency(columns.currency):
        raise LedgerUnreadableError(
            said(
                "{where} has no column {column}, and that is no currency's code",
                where=where,
                column=repr(columns.currency),
            ),
            said("--currency names one of: {names}; or a code like EUR.", names=_some(row)),
        )


def _is_text(text: str) -> bool:
    return not _HALF_A_PAIR.search(text)


def _some(row: Row) -> str:
    """Name the columns of a row, of many the first."""
    return ", ".join(
        [*(f"{name!s:.80}" for name in list(row)[:MOST_NAMED]), *(["..."] if len(row) > MOST_NAMED else [])]
    )


def _values_of(only: tuple[tuple[str, str], ...]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name, value in only:
        found.setdefault(name, set()).add(value)
    return found
