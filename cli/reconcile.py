"""The command that holds a ledger against what the logs prove: reconcile."""

from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.import_ import complete_window, zone_of
from cli.options import Everywhere, QueueOption
from cli.output import FormatOption, RowFormat, answer, print_rows, say
from cli.said import in_words
from cli.table import Layout
from forensics.errors import ForensicsError
from forensics.sentence import said

if TYPE_CHECKING:
    from forensics.books import Line, Reading

_TABLE = Layout(
    ("key", "outcome", "verdict", "logs", "books", "amounts", "to_refund", "incident_id"),
    row=("key", "outcome", "logs", "books", "to_refund"),
    facts=("verdict", "amounts", "incident_id"),
)
_COLUMNS = (
    "queue",
    "key",
    "outcome",
    "verdict",
    "incident_id",
    "message_ids",
    "logs_at_least",
    "logs_at_most",
    "books",
    "books_at_most",
    "at_least",
    "at_most",
    "amounts",
    "extra",
    "paid_back",
    "to_refund",
    "sentence",
    "evidence_ids",
)
_QUIET = ("agrees",)


class SameRows(StrEnum):
    """What rows that are equal in every column stand for."""

    REFUSE = "refuse"
    COUNT = "count"
    ONCE = "once"


class LedgerOptionError(ForensicsError):
    """Options that say nothing together."""


def reconcile(
    chosen: Everywhere,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE", help="The ledger: CSV, JSON lines or Parquet; none: those read before."),
    ] = None,
    key: Annotated[
        str | None, typer.Option("--key", metavar="COLUMN", help="The column that names the work: payment_id, ...")
    ] = None,
    amount: Annotated[str | None, typer.Option("--amount", metavar="COLUMN", help="The column of amounts.")] = None,
    currency: Annotated[
        str | None, typer.Option("--currency", metavar="COLUMN|CODE", help="The column of currencies, or one for all.")
    ] = None,
    time: Annotated[str | None, typer.Option("--time", metavar="COLUMN", help="The column of times.")] = None,
    row_id: Annotated[
        str | None, typer.Option("--id", metavar="COLUMN", help="The column that tells rows apart: charge_id, ...")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="COLUMN=VALUE", help="Only rows of this kind, such as type=charge; repeatable."),
    ] = None,
    zone: Annotated[
        str | None, typer.Option("--zone", metavar="ZONE", help="The zone of times that do not say theirs.")
    ] = None,
    queue: QueueOption = None,
    book: Annotated[
        str | None,
        typer.Option("--book", metavar="NAME", help="The ledger's name. Parts of one share it. [default: the file's]"),
    ] = None,
    same_rows: Annotated[
        SameRows, typer.Option("--same-rows", help="What rows that are equal in every column stand for.")
    ] = SameRows.REFUSE,
    complete_since: Annotated[
        str | None,
        typer.Option("--complete-since", metavar="WHEN", help="The ledger holds everything from then on."),
    ] = None,
    complete_until: Annotated[
        str | None, typer.Option("--complete-until", metavar="WHEN", help="The end of that span. [default: now]")
    ] = None,
    withdraw: Annotated[
        str | None, typer.Option("--withdraw", metavar="NAME", help="A ledger that was read in error counts no more.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also the keys of which both sides say the same; files have them anyway.")
    ] = False,
    how: FormatOption = RowFormat.TABLE,
) -> None:
    """Hold the books against the logs: what a ledger says was done and paid, and what the logs prove of it."""
    from forensics.books import Columns, read_books, told
    from forensics.books import reconcile as compared
    from forensics.books import withdraw as take_back
    from forensics.privacy import redacting

    lake, now = chosen.open_lake(), datetime.now(UTC)
    findings = chosen.findings()
    if withdraw:
        say(
            "The ledger {name} counts no more: {n} rows.",
            name=repr(withdraw),
            n=take_back(lake, withdraw, now),
        )
    if files:
        if key is None:
            raise LedgerOptionError("--key is missing", "Name the column that says which work a row is about.")
        whole = complete_window(complete_since, complete_until, now)
        columns = Columns(key, amount, currency, time, row_id, _pairs(only or ()), zone_of(zone), str(same_rows))
        with redacting(chosen.settings()):
            for file in files:
                _say_read(file.name, read_books(findings, file, columns, now, queue, book, whole), whole is not None)
    elif key or amount or time:
        raise LedgerOptionError(
            "no ledger is named", "Give its file: doubletake reconcile charges.csv --key payment_id"
        )
    found = compared(findings, queue)
    if not found:
        raise LedgerOptionError(
            said("no ledger was read into this lake for {queue}", queue=repr(queue))
            if queue
            else "no ledger was read into this lake",
            "Read one: doubletake reconcile charges.csv --key payment_id --amount amount",
        )
    is_table = how is RowFormat.TABLE
    rows = [
        _shown(line) if is_table else _record(name, line)
        for name, lines in found.items()
        for line in lines
        if everything or not is_table or line.outcome not in _QUIET
    ]
    print_rows(rows, how, _TABLE, _COLUMNS)
    for name, lines in found.items():
        head, *rest = told(name, lines)
        (answer if is_table else say)(head)
        for sentence in rest:
            (answer if is_table else say)("  {sentence}", sentence=in_words(sentence))


def _say_read(file: str, reading: "Reading", is_whole: bool) -> None:
    """Say what was read, and what of an earlier reading it replaces."""
    new = reading.merged
    if reading.is_renamed:
        say("{file} was read before as the ledger {name}, and stays it.", file=file, name=repr(reading.book))
    say(
        "Read {file}: {count} rows on {name}, {new} of them new.",
        file=file,
        count=reading.row_count,
        name=reading.queue,
        new=new.new_count,
    )
    if new.changed_count:
        say(
            "Rows that were read before and now say something else: {n}. What they said before counts no more.",
            n=new.changed_count,
        )
    if new.left_out_count:
        say("Rows that counted before and are now left out: {n}.", n=new.left_out_count)
    if new.beside_count:
        say(
            "New rows with the key and the amount of a row that another file gave: {n}. Both count. If they are the same "
            "charges, take the ledger back with --withdraw {name}, and read its newest file alone.",
            n=new.beside_count,
            name=reading.book,
        )
    if reading.was_whole and not is_whole:
        say(
            "Before, {file} was said to be whole with --complete-since; this reading does not say so, and it counts as whole no more.",
            file=file,
        )


def _pairs(texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    for text in texts:
        if "=" not in text:
            raise LedgerOptionError(
                said("--only {text} is not COLUMN=VALUE", text=repr(text)), "Write it like --only type=charge."
            )
    return tuple((text.partition("=")[0], text.partition("=")[2]) for text in texts)


def _shown(line: "Line") -> dict[str, Any]:
    from forensics.words import interval_text

    logged = line.logged
    return {
        "key": line.key,
        "outcome": line.words,
        "verdict": logged.verdict if logged else None,
        "logs": interval_text(logged.at_least, logged.at_most) if logged else None,
        "books": line.booked,
        "amounts": line.amounts_text,
        "to_refund": line.to_refund_text or None,
        "incident_id": logged.incident_id if logged else None,
    }


def _record(queue: str, line: "Line") -> dict[str, Any]:
    from forensics.books import line_record

    return {"queue": queue, **line_record(line)}
