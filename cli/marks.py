"""The command that lists what people said: marks."""

from typing import Annotated

import typer

from cli import complete
from cli.options import Everywhere
from cli.output import FormatOption, RowFormat, print_rows, say
from cli.table import Layout
from forensics.tables.people import ANNOTATIONS

_TABLE = Layout(
    ("marked_at", "state", "incident_id", "item_id", "mark", "reason", "author"),
    row=("item_id", "mark", "state", "author", "marked_at"),
    facts=("incident_id",),
    sentences=("reason",),
)


def marks(
    chosen: Everywhere,
    how: FormatOption = RowFormat.TABLE,
    incident: Annotated[
        str | None,
        typer.Option("--incident", metavar="ID", autocompletion=complete.incidents, help="Only this incident."),
    ] = None,
) -> None:
    """List what people marked and commented, oldest first, and what it does today."""
    from forensics.people.marks import annotations
    from forensics.people.standing import people_of
    from forensics.report.records import plain_value

    findings = chosen.findings()
    people = people_of(findings)
    said = annotations(findings.lake) if incident is None else people.of(incident).said
    records = [
        {k: plain_value(v) for k, v in vars(one).items()}
        | {"item_ids": list(one.item_ids or ()), "state": people.state_of(one)}
        for one in said
    ]
    print_rows(records, how, _TABLE, (*ANNOTATIONS.column_names, "state"))
    if not records:
        if incident:
            say("Nobody has marked anything of incident {name}.", name=repr(incident))
        else:
            say("Nobody has marked anything.")
