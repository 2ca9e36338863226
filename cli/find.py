"""The command that finds messages by any id: find."""

from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from cli import complete
from cli.options import Everywhere
from cli.output import FormatOption, RowFormat, answer, print_rows, say
from cli.table import Layout
from forensics.errors import MessageUnknownError
from forensics.sentence import counted, said

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forensics.finding import FoundLine
    from forensics.lake import Findings
    from forensics.people import People
    from forensics.report.found_works import FoundWork

_HINT = "`doubletake status` shows which sources were read, and until when."
_LINES = Layout(
    ("at", "log_group", "messages", "line"),
    row=("at", "log_group"),
    facts=("messages",),
    sentences=("line",),
)
_TABLE = Layout(
    ("queue", "message_id", "found_by", "verdict", "marks", "work_ids", "sentence"),
    row=("message_id", "verdict", "queue"),
    facts=("found_by", "marks", "work_ids"),
    sentences=("sentence",),
)
_COLUMNS = (
    "queue",
    "message_id",
    "business_keys",
    "found_by",
    "first_received_at",
    "verdict",
    "marks",
    "incident_id",
    "sentence",
    "work_ids",
    "hints",
)


def find(
    chosen: Everywhere,
    text: Annotated[
        str,
        typer.Argument(
            metavar="TEXT", help="An id of any kind (or its start), or text of a body or line: a customer, an order."
        ),
    ],
    incident: Annotated[
        str | None,
        typer.Option(
            "--incident",
            metavar="ID",
            autocompletion=complete.incidents,
            help="Search the lines of this incident's runs.",
        ),
    ] = None,
    lines: Annotated[bool, typer.Option("--lines", help="Search bodies and lines, and list the lines.")] = False,
    how: FormatOption = RowFormat.TABLE,
) -> None:
    """Say what happened to a message, by any id that names it, or by text in its body or its lines."""
    from forensics.finding import in_lines
    from forensics.finding.lines import LEAST_CHARS, MOST_LINES
    from forensics.people import people_of
    from forensics.report.find import asked_text, hits_of, reader, works
    from forensics.report.find import find as find_messages
    from forensics.report.found_works import read_works

    findings = chosen.findings()
    asked, read = asked_text(text), reader(findings)
    by_text = lines or incident is not None
    found = [] if by_text else works(find_messages(asked, read), read)
    if not found and not by_text:
        _check_no_queue(findings, asked)
    if not found and (by_text or len(asked) >= LEAST_CHARS):
        told = in_lines(findings, asked, incident)
        if by_text:
            print_rows([_line(line) for line in told], how, _LINES, _LINES.columns)
            if len(told) == MOST_LINES:
                say("The first {n} lines; write more of the text.", n=MOST_LINES)
            if not told:
                raise MessageUnknownError(said("{text} stands in no line", text=repr(asked)), _HINT)
            return
        ways: dict[tuple[str, str], list[str]] = {}
        for line in told:
            for key, way in line.messages.items():
                ways.setdefault(key, []).append(way)
        if told and not ways:
            raise MessageUnknownError(_of_no_message(findings, asked, told), "--lines shows them.")
        found = works(hits_of(ways, read), read)
        if len(told) == MOST_LINES:
            say("Of the first {n} lines with this text; write more of it.", n=MOST_LINES)
    if not found:
        explain_nothing(findings, asked)
    people = people_of(findings)
    records = [_record(one, people) for one in read_works(findings, found)]
    print_rows(records, how, _TABLE, _COLUMNS)
    for hint in dict.fromkeys(hint for record in records for hint in record["hints"]):
        if how is RowFormat.TABLE:
            answer(hint)


def _of_no_message(findings: "Findings", asked: str, told: "Sequence[FoundLine]") -> str:
    """Say that lines with a text speak of no message, or were left out, so that nobody knows of which they do."""
    from forensics.finding.lines import MOST_LINES

    since = findings.generation.data_since_at
    lines = counted(len(told), "line")
    if since and all(line.at < since for line in told):
        return said("{text} stands in {lines}, of the time left out alone", text=repr(asked), lines=lines)
    if len(told) == MOST_LINES:
        every = "{text} stands in {count} lines or more, and none of these speaks of a message"
        return said(every, text=repr(asked), count=len(told))
    return said("{text} stands in {lines}, and none speaks of a message", text=repr(asked), lines=lines)


def explain_nothing(findings: "Findings", asked: str) -> NoReturn:
    """Raise MessageUnknownError: what is asked for is a queue, or too short, or names no message."""
    from forensics.finding.lines import LEAST_CHARS as TEXT_CHARS
    from forensics.report.find import LEAST_CHARS

    _check_no_queue(findings, asked)
    if len(asked) < TEXT_CHARS:
        raise MessageUnknownError(
            said("{text} is too short to be searched for", text=repr(asked)),
            said("Give {n} characters of a text, or {least} of an id.", n=TEXT_CHARS, least=LEAST_CHARS),
        )
    raise MessageUnknownError(said("{text} names no message in this data version", text=repr(asked)), _HINT)


def _check_no_queue(findings: "Findings", asked: str) -> None:
    from forensics.report.queue_lookup import known_queues

    if asked in known_queues(findings):
        raise MessageUnknownError(
            said("{name} is a queue, and no message", name=repr(asked)),
            said(
                "`doubletake incidents --queue {queue}` lists its incidents, `doubletake health --queue {other}` its week.",
                queue=asked,
                other=asked,
            ),
        )


def _line(line: "FoundLine") -> dict[str, Any]:
    from forensics.words import time_text

    return {
        "at": time_text(line.at),
        "log_group": line.log_group,
        "messages": sorted({f"{item} ({way})" for (_, item), way in line.messages.items()}),
        "line": line.line.rstrip(),
    }


def _record(found: "FoundWork", people: "People") -> dict[str, Any]:
    from forensics.people import marks_text
    from forensics.report.message_sentence import message_sentence
    from forensics.words import time_text

    work, verdict = found.work, found.verdict
    return {
        "queue": work.hit.queue,
        "message_id": work.hit.message_id,
        "business_keys": list(work.hit.business_keys),
        "found_by": list(work.hit.found_by),
        "first_received_at": time_text(work.hit.received_at),
        "verdict": verdict["verdict"] if verdict else None,
        "marks": marks_text(people.of(verdict["incident_id"]).of([verdict["item_id"]])) if verdict else "",
        "incident_id": verdict["incident_id"] if verdict else None,
        "sentence": message_sentence(found.deliveries, verdict),
        "work_ids": sorted({item for _, item in work.items}),
        "hints": [hint.sentence for hint in found.hints],
    }
