"""The command that lists what people marked: annotations."""

from typing import Annotated

import typer

from cli import complete
from cli.options import Everywhere
from cli.output import FormatOption, RowFormat, print_rows, say
from cli.table import Layout
from forensics.tables.people import ANNOTATIONS

_TABLE = Layout(
    ("marked_at", "incident_id", "item_id", "mark", "reason", "author"),
    row=("item_id", "mark", "author", "marked_at"),
    facts=("incident_id",),
    sentences=("reason",),
)


def annotations(
    chosen: Everywhere,
    how: FormatOption = RowFormat.TABLE,
    incident: Annotated[
        str | None,
        typer.Option("--incident", metavar="ID", autocompletion=complete.incidents, help="Only this incident."),
    ] = None,
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
