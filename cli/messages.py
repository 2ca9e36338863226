"""The command that lists messages with their verdicts."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import complete
from cli.options import Everywhere, OnlyQueueArgument, SameQueueOption, either_queue
from cli.output import FormatOption, RowFormat, print_rows, say
from cli.rows import Records, all_of, say_nothing_found, with_interval
from cli.said import count_text, term
from cli.table import Layout
from forensics.verdict.interval import VERDICTS

if TYPE_CHECKING:
    from forensics.lake import Findings
    from forensics.report.records import Record

Verdict = StrEnum("Verdict", {v.upper(): v for v in VERDICTS})  # type: ignore[misc]
_MESSAGE_TABLE = Layout(
    (
        "queue",
        "message_id",
        "business_keys",
        "verdict",
        "certainty",
        "interval",
        "receive_count",
        "causes",
        "marks",
    ),
    row=("message_id", "verdict", "interval", "receive_count"),
    facts=("business_keys", "certainty", "causes", "marks"),
)
_DEAD_LETTER_TABLE = Layout(
    ("queue", "message_id", "business_keys", "verdict", "interval", "redrive", "redrive_sentence"),
    row=("message_id", "verdict", "interval", "redrive"),
    facts=("business_keys", "queue"),
    sentences=("redrive_sentence",),
)


def messages(
    chosen: Everywhere,
    how: FormatOption = RowFormat.TABLE,
    incident: Annotated[
        str | None,
        typer.Option("--incident", metavar="ID", autocompletion=complete.incidents, help="Only this incident."),
    ] = None,
    queue: OnlyQueueArgument = None,
    verdict: Annotated[Verdict | None, typer.Option("--verdict", help="Only this verdict.")] = None,
    dead_lettered: Annotated[
        bool, typer.Option("--dead-lettered", help="Dead-lettered ones, and whether redriving repeats their work.")
    ] = False,
    same_queue: SameQueueOption = None,
) -> None:
    """List messages that were delivered more than once or share their work with another, each with its verdict."""
    queue = either_queue(queue, same_queue)
    from forensics.lake.incident_lookup import find_incident
    from forensics.people import marks_text, people_of
    from forensics.report.records import message_record
    from forensics.tables.findings import MESSAGES

    findings = chosen.findings(queue)
    if incident is not None:
        find_incident(findings, incident)
    if dead_lettered:
        _dead_letters(findings, how, {"incident_id": incident, "queue": queue}, verdict and str(verdict))
        return
    wanted = {"incident_id": incident, "queue": queue, "verdict": verdict and str(verdict)}
    people = people_of(findings)

    def told(row: dict[str, Any]) -> "Record":
        record = message_record(row) | {
            "marks": marks_text(people.of(row["incident_id"]).of([row["item_id"]])),
            "set_aside": people.aside_of([row["item_id"]]) is not None,
        }
        return with_interval(record) if how is RowFormat.TABLE else record

    order = ("queue", "first_received_at", "item_id")
    records = Records(findings.read(MESSAGES, where=all_of(wanted)), order, told)
    print_rows(
        records,
        how,
        _MESSAGE_TABLE.with_queue(records.of_several("queue")),
        (*message_record({}), "marks", "set_aside"),
    )
    if records:
        return
    others = findings.read(MESSAGES, ["item_id"], all_of({**wanted, "verdict": None})).num_rows if verdict else 0
    if others:
        say("None of {messages} is {verdict}.", messages=count_text(others, "message"), verdict=term(str(verdict)))
    else:
        say_nothing_found(findings, queue)


def _dead_letters(findings: "Findings", how: RowFormat, wanted: dict[str, str | None], verdict: str | None) -> None:
    from forensics.report.prevention import dead_letters

    records = [r for r in dead_letters(findings, all_of(wanted)) if verdict is None or r["verdict"] == verdict]
    columns = tuple(records[0]) if records else _DEAD_LETTER_TABLE.columns
    if how is RowFormat.TABLE:
        records = [with_interval(r) for r in records]
    print_rows(records, how, _DEAD_LETTER_TABLE, columns)
    if not records:
        say("No dead-lettered message is known in this data version.")
