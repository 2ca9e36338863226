"""Commands that read the lake: incidents, messages, deliveries, status, report."""

import json
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.options import Everywhere
from cli.output import FormatOption, RowFormat, print_rows, say, write_out
from forensics.errors import EXIT_LAW_BROKEN, EXIT_OK, MessageUnknownError, QueueUnknownError
from forensics.verdict.interval import VERDICTS

if TYPE_CHECKING:
    from forensics.lake import Findings, Lake
    from forensics.report.records import Record

QueueOption = Annotated[str | None, typer.Option("--queue", metavar="NAME", help="Only this queue.")]
Verdict = StrEnum("Verdict", {v.upper(): v for v in VERDICTS})  # type: ignore[misc]
_INCIDENT_TABLE = ("incident_id", "started_at", "headline", *VERDICTS, "primary_cause", "marks")
_MESSAGE_TABLE = (
    "queue",
    "message_id",
    "business_keys",
    "verdict",
    "certainty",
    "interval",
    "receive_count",
    "causes",
    "marks",
)
_DEAD_LETTER_TABLE = ("queue", "message_id", "business_keys", "verdict", "interval", "redrive", "redrive_sentence")
QueueFinding = StrEnum(  # type: ignore[misc]
    "QueueFinding",
    {
        code.upper(): code
        for code in (
            "fifo_group_blocked",
            "dead_lettered",
            "retention_expired",
            "poison_without_dlq",
            "out_of_order_commit",
        )
    },
)
_FINDING_TABLE = ("queue", "code", "from_at", "until_at", "message_id", "sentence", "stance")
_DELIVERY_TABLE = (
    "queue",
    "message_id",
    "receive_count",
    "received_at",
    "run_status",
    "effect",
    "basis",
    "ended_by",
    "consumer",
)


class ReportFormat(StrEnum):
    """The files a report can be."""

    HTML = "html"
    MD = "md"
    PDF = "pdf"
    JSON = "json"
    CSV = "csv"
    SVG = "svg"
    TIMESKETCH = "timesketch"
    TRACE = "trace"
    ZIP = "zip"


def incidents(chosen: Everywhere, how: FormatOption = RowFormat.TABLE, queue: QueueOption = None) -> None:
    """List incidents, newest first."""
    from forensics.report.annotations import marks_beside
    from forensics.report.prevention import by_incident
    from forensics.report.records import incident_record
    from forensics.tables.findings import INCIDENTS

    findings = chosen.open_lake().findings()
    rows = findings.read(INCIDENTS, where=_all_of({"queue": queue})).to_pylist()
    rows.sort(
        key=lambda r: (
            r["started_at"] is None,
            -r["started_at"].timestamp() if r["started_at"] else 0,
            r["incident_id"],
        )
    )
    marks = marks_beside(findings.lake)
    records: list[dict[str, Any]] = [incident_record(r) | {"marks": marks(r["incident_id"])} for r in rows]
    if how in (RowFormat.JSON, RowFormat.JSONL):
        prevention = by_incident(findings)
        records = [r | {"counterfactuals": prevention.get(r["incident_id"], [])} for r in records]
    print_rows(records, how, _INCIDENT_TABLE, (*_columns(incident_record({})), "marks"))
    if not records:
        _say_nothing_found(findings, queue)


def messages(
    chosen: Everywhere,
    how: FormatOption = RowFormat.TABLE,
    incident: Annotated[str | None, typer.Option("--incident", metavar="ID", help="Only this incident.")] = None,
    queue: QueueOption = None,
    verdict: Annotated[Verdict | None, typer.Option("--verdict", help="Only this verdict.")] = None,
    dead_lettered: Annotated[
        bool, typer.Option("--dead-lettered", help="Dead-lettered ones, and whether redriving repeats their work.")
    ] = False,
) -> None:
    """List messages that were delivered more than once or share their work with another, each with its verdict."""
    from forensics.report.annotations import marks_beside
    from forensics.report.records import message_record
    from forensics.tables.findings import MESSAGES

    findings = chosen.open_lake().findings()
    if incident is not None:
        _check_incident(findings, incident)
    if dead_lettered:
        _dead_letters(findings, how, {"incident_id": incident, "queue": queue}, verdict and str(verdict))
        return
    wanted = {"incident_id": incident, "queue": queue, "verdict": verdict and str(verdict)}
    table = findings.read(MESSAGES, where=_all_of(wanted))
    order = [(name, "ascending") for name in ("queue", "first_received_at", "item_id")]
    marks = marks_beside(findings.lake)
    records = (
        message_record(r) | {"marks": marks(r["incident_id"], r["item_id"])} for r in _rows(table.sort_by(order))
    )
    if how is RowFormat.TABLE:
        records = ({**r, "interval": _interval(r)} for r in records)
    print_rows(records, how, _MESSAGE_TABLE, (*_columns(message_record({})), "marks"))
    if not table.num_rows:
        _say_nothing_found(findings, queue)


def _dead_letters(findings: "Findings", how: RowFormat, wanted: dict[str, str | None], verdict: str | None) -> None:
    from forensics.report.prevention import dead_letters

    records = [r for r in dead_letters(findings, _all_of(wanted)) if verdict is None or r["verdict"] == verdict]
    columns = _columns(records[0]) if records else (*_DEAD_LETTER_TABLE,)
    if how is RowFormat.TABLE:
        records = [{**r, "interval": _interval(r)} for r in records]
    print_rows(records, how, _DEAD_LETTER_TABLE, columns)
    if not records:
        say("No dead-lettered message is known in this data version.")


def findings(
    chosen: Everywhere,
    how: FormatOption = RowFormat.TABLE,
    queue: QueueOption = None,
    code: Annotated[QueueFinding | None, typer.Option("--code", help="Only this kind of finding.")] = None,
) -> None:
    """List what went wrong with queues and message groups: blocked, dead-lettered, lost, poison, out of order."""
    from forensics.report.prevention import finding_record
    from forensics.tables.findings import QUEUE_FINDINGS

    found = chosen.open_lake().findings()
    table = found.read(QUEUE_FINDINGS, where=_all_of({"queue": queue, "code": code and str(code)}))
    order = [(name, "ascending") for name in ("queue", "from_at", "code", "item_id")]
    records = (finding_record(r) for r in _rows(table.sort_by(order)))
    print_rows(records, how, _FINDING_TABLE, _columns(finding_record({})))
    if not table.num_rows:
        say("Nothing went wrong with a queue or a message group as far as this data version tells.")


def deliveries(
    chosen: Everywhere,
    how: FormatOption = RowFormat.TABLE,
    message: Annotated[str | None, typer.Option("--message", metavar="ID", help="Only this message.")] = None,
    incident: Annotated[str | None, typer.Option("--incident", metavar="ID", help="Only this incident.")] = None,
    queue: QueueOption = None,
) -> None:
    """Print the delivery ledger: one row per time a message was handed to a consumer."""
    from forensics.lake.filters import equals, one_of
    from forensics.report.records import delivery_record
    from forensics.tables.findings import DELIVERIES, MESSAGES

    findings = chosen.open_lake().findings()
    where = _all_of({"queue": queue})
    if incident is not None:
        _check_incident(findings, incident)
        items = findings.read(MESSAGES, ["item_id"], _all_of({"incident_id": incident}))["item_id"].to_pylist()
        where = _and(where, one_of("item_id", items))
    if message is not None:
        where = _and(where, one_of("item_id", [message, f"key:{message}"]) | equals("message_id", message))
    table = findings.read(DELIVERIES, where=where)
    if message is not None and not table.num_rows:
        raise MessageUnknownError(
            f"there is no delivery of message {message!r} in this data version",
            "Give the whole message id; `doubletake status` shows which sources were read, and until when.",
        )
    order = [(name, "ascending") for name in ("queue", "item_id", "delivery_index")]
    records = (delivery_record(r) for r in _rows(table.sort_by(order)))
    print_rows(records, how, _DELIVERY_TABLE, _columns(delivery_record({})))


def status(
    chosen: Everywhere,
    how: FormatOption = RowFormat.TABLE,
    queue: QueueOption = None,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify", help="Read every file, count the rows again and compare them with what coverage says; 4 if not."
        ),
    ] = False,
) -> int:
    """Say what the lake holds: per queue and source how far it was read, gaps, rows, size, data version."""
    from forensics.report.lake_status import SOURCE_COLUMNS, lake_status
    from forensics.report.log_readiness import readiness_lines

    lake = chosen.open_lake()
    found = lake_status(lake)
    sources = [s.as_record() for s in found.sources if queue is None or s.queue == queue]
    if queue is not None and not sources:
        known = sorted({s.queue for s in found.sources if s.queue})
        raise QueueUnknownError(
            f"the lake holds nothing read for queue {queue!r}", f"It has: {', '.join(known) or 'no queue at all'}."
        )
    code = _verified(lake) if verify else EXIT_OK
    if how is RowFormat.JSON:
        print(json.dumps({**found.as_record(), "sources": sources}, indent=1))
        return code
    shown = tuple(c for c in SOURCE_COLUMNS if c not in ("seen_count", "stored_count", "gap_list"))
    print_rows(sources, how, shown, SOURCE_COLUMNS)
    if how is RowFormat.TABLE:
        for line in [*found.sentences(), *readiness_lines(chosen.open_lake(), queue)]:
            print(line)
    return code


def _verified(lake: "Lake") -> int:
    """Read every file, count again, say what came of it, and return the exit code."""
    from forensics.lake.doctor import verify_files
    from forensics.lake.recount import recount

    file_count, damaged = verify_files(lake)
    if damaged:
        for sentence in damaged:
            say(f"Damaged: {sentence}")
        say("Run `doubletake doctor --full`: it sets them aside, and what was lost is collected again.")
        return EXIT_LAW_BROKEN
    counted = recount(lake)
    for miscount in counted.miscounts:
        say(f"Not as recorded: {miscount.sentence}")
    if counted.miscounts:
        say("Run `doubletake doctor`, then `doubletake collect` for that time.")
        return EXIT_LAW_BROKEN
    say(
        f"Verified: {counted.reading_count:,} readings and {counted.row_count:,} rows are as recorded, and all "
        f"{file_count:,} data files are what was written."
    )
    return EXIT_OK


def report(
    chosen: Everywhere,
    incident: Annotated[str | None, typer.Argument(metavar="INCIDENT", help="The incident's id.")] = None,
    week: Annotated[
        str | None,
        typer.Option("--week", metavar="WEEK", help="The weekly review of an ISO week like 2026-W47 instead."),
    ] = None,
    format: Annotated[
        ReportFormat | None, typer.Option("--format", help="The kind of file; taken from -o's ending if not said.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write it; - is stdout.")
    ] = None,
    language: Annotated[str, typer.Option("--language", metavar="CODE", help="en or ja.")] = "en",
    zone: Annotated[
        str | None, typer.Option("--zone", metavar="NAME", help="Local times of this zone beside UTC, e.g. Asia/Tokyo.")
    ] = None,
    all_events: Annotated[
        bool, typer.Option("--all-events", help="Every event in the appendix, not only key moments.")
    ] = False,
    short_ids: Annotated[
        bool, typer.Option("--short-ids", help="Only the last 8 characters of message ids in tables.")
    ] = False,
) -> None:
    """Write the report of an incident, or of a week's queue health, to attach or to send."""
    from forensics.report import ReportOptions, load_case, render
    from forensics.report.render import file_name

    kind = format or _kind_of(output)
    options = ReportOptions(language, zone, all_events, short_ids)
    if week is not None or incident is None:
        from cli.health import week_report

        week_report(chosen, incident, week, kind, output, options)
        return
    case = load_case(chosen.open_lake().findings(), incident)
    content = render(case, kind, options)
    if output is None and kind in _FILES and sys.stdout.isatty():
        output = file_name(case, kind)
    write_out(content, output)


_FILES = (ReportFormat.HTML, ReportFormat.PDF, ReportFormat.ZIP)
"""Reports that no terminal can show: written to a file of their own name if none is said."""


def _kind_of(output: str | None) -> ReportFormat:
    ending = Path(output or "").suffix.lstrip(".").lower()
    ending = {"markdown": "md", "htm": "html"}.get(ending, ending)
    return ReportFormat(ending) if ending in set(ReportFormat) else ReportFormat.HTML


def _check_incident(findings: "Findings", incident_id: str) -> None:
    from forensics.report.incident_lookup import find_incident

    find_incident(findings, incident_id)


def _rows(table: Any) -> Iterator["Record"]:
    for batch in table.to_batches(max_chunksize=10_000):
        yield from batch.to_pylist()


def _and(left: Any, right: Any) -> Any:
    return right if left is None else left & right


def _all_of(wanted: dict[str, str | None]) -> Any:
    """Return the filter for columns that must have a value; None says nothing, and nothing said keeps every row."""
    from forensics.lake.filters import equals

    where = None
    for column, value in wanted.items():
        if value is not None:
            where = _and(where, equals(column, value))
    return where


def _columns(empty: "Record") -> tuple[str, ...]:
    return tuple(empty)


def _interval(record: "Record") -> str:
    from forensics.report.words import interval_text

    return interval_text(record["effects_at_least"], record["effects_at_most"])


def _say_nothing_found(findings: "Findings", queue: str | None) -> None:
    checked = findings.generation.row_counts.get("deliveries", 0)
    where = f" of queue {queue!r}" if queue else ""
    say(f"No suspicion{where}. {checked:,} deliveries were checked in this data version; `doubletake status` has gaps.")
