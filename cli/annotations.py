"""The command that lists what people marked: annotations."""

from typing import Annotated

import typer

from cli.options import Everywhere
from cli.output import FormatOption, RowFormat, print_rows, say
from forensics.tables.people import ANNOTATIONS

_TABLE = ("marked_at", "incident_id", "item_id", "mark", "reason", "author")


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
