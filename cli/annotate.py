"""The command that marks an incident or a message: annotate."""

import getpass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

import typer

from cli import complete
from cli.options import Everywhere
from cli.output import say
from forensics.tables.people import MARKS

Mark = StrEnum("Mark", {m.upper().replace("-", "_"): m for m in MARKS})  # type: ignore[misc]


def annotate(
    chosen: Everywhere,
    incident: Annotated[
        str, typer.Argument(metavar="INCIDENT", autocompletion=complete.incidents, help="The incident's id.")
    ],
    mark: Annotated[Mark, typer.Option("--mark", help="What to mark it as; withdrawn takes earlier marks back.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for the next reader.")],
    message: Annotated[
        str | None,
        typer.Option("--message", metavar="ID", help="Only this message: its id or business key; else the incident."),
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", metavar="NAME", help="Who says it. [default: the login name]")
    ] = None,
) -> None:
    """Mark an incident or a message; the verdict stays as it is, and the mark is shown beside it."""
    from forensics.report.annotations import annotate as put

    findings = chosen.open_lake().findings()
    said = put(findings, incident, message, str(mark), reason, by or getpass.getuser(), datetime.now(UTC))
    say(f"{said.words}: {said.item_id or said.incident_id} ({said.author})")
