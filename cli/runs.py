"""The command that lists what was done to the lake: runs."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from cli.options import Everywhere
from cli.output import FormatOption, RowFormat, print_rows, say
from cli.table import Layout

_LAYOUT = Layout(
    ("started_at", "command", "arguments", "exit", "seconds", "counts", "version"),
    row=("started_at", "command", "exit", "seconds"),
    sentences=("arguments", "counts"),
)
_COLUMNS = ("started_at", "command", "arguments", "exit", "seconds", "counts", "version")


def runs(
    chosen: Everywhere,
    how: FormatOption = RowFormat.TABLE,
    last: Annotated[int, typer.Option("--last", min=1, metavar="N", help="Only the newest so many.")] = 50,
) -> None:
    """List what was done to the lake, newest first: commands, their arguments, what they counted, how they ended."""
    from forensics.ledger import read

    lake = chosen.open_lake()
    lake.check_folder()
    found: list[dict[str, Any]] = [
        asdict(run) | {"started_at": run.started_at.replace("+00:00", "Z")} for run in read(lake.root)
    ]
    print_rows(found[: -last - 1 : -1], how, _LAYOUT, _COLUMNS)
    if not found:
        say("No run is kept here: the lake was made by an earlier release.")
