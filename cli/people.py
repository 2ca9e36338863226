"""Commands for what people say and get: annotate, annotations, verify."""

import getpass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cli.options import Everywhere
from cli.output import FormatOption, RowFormat, print_rows, say
from forensics.tables.people import ANNOTATIONS, MARKS

Mark = StrEnum("Mark", {m.upper().replace("-", "_"): m for m in MARKS})  # type: ignore[misc]
_TABLE = ("marked_at", "incident_id", "item_id", "mark", "reason", "author")


def annotate(
    chosen: Everywhere,
    incident: Annotated[str, typer.Argument(metavar="INCIDENT", help="The incident's id.")],
    mark: Annotated[Mark, typer.Option("--mark", help="What to mark it as; withdrawn takes earlier marks back.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for the next reader.")],
    message: Annotated[
        str | None,
        typer.Option("--message", metavar="ID", help="Only this message: its id or business key; else the incident."),
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", metavar="NAME", help="Who says it; the login name if not said.")
    ] = None,
) -> None:
    """Mark an incident or a message; the verdict stays as it is, and the mark is shown beside it."""
    from forensics.report.annotations import annotate as put

    findings = chosen.open_lake().findings()
    said = put(findings, incident, message, str(mark), reason, by or getpass.getuser(), datetime.now(UTC))
    say(f"{said.words}: {said.item_id or said.incident_id} ({said.author})")


def annotations(
    chosen: Everywhere,
    how: FormatOption = RowFormat.TABLE,
    incident: Annotated[str | None, typer.Option("--incident", metavar="ID", help="Only this incident.")] = None,
) -> None:
    """List what people marked, oldest first."""
    from forensics.report.annotations import annotations as said
    from forensics.report.records import plain_value

    lake = chosen.open_lake()
    lake.check()
    records = [{k: plain_value(v) for k, v in vars(one).items()} for one in said(lake, incident)]
    print_rows(records, how, _TABLE, ANNOTATIONS.column_names)
    if not records:
        say("Nobody has marked anything" + (f" of incident {incident!r}." if incident else "."))


def verify(
    chosen: Everywhere,
    bundle: Annotated[Path, typer.Argument(metavar="FILE", help="A ZIP of `doubletake report --format zip`.")],
) -> None:
    """Check that every file of a report's ZIP is the one its manifest names."""
    from forensics.report.bundle import verify as verified

    found = verified(bundle.read_bytes())
    print(f"{found['incident_id']}: {len(found['files'])} files as written, data version {found['data_version']}")
