"""The command that keeps and lists views of the dashboard: views."""

from datetime import UTC, datetime
from typing import Annotated
from urllib.parse import parse_qsl, urlsplit

import typer

from cli.options import Everywhere, login_name
from cli.output import FormatOption, RowFormat, print_rows, say
from cli.table import Layout

_TABLE = Layout(("view", "address", "author", "saved_at"), row=("view", "author", "saved_at"), facts=("address",))


def views(
    chosen: Everywhere,
    save: Annotated[str | None, typer.Option("--save", metavar="NAME", help="Keep --address under this name.")] = None,
    address: Annotated[
        str,
        typer.Option("--address", metavar="URL", help="The page with its filters, as the browser shows it."),
    ] = "/",
    delete: Annotated[str | None, typer.Option("--delete", metavar="NAME", help="Take a view off the list.")] = None,
    by: Annotated[
        str | None, typer.Option("--by", metavar="NAME", help="Who keeps it. [default: the login name]")
    ] = None,
    how: FormatOption = RowFormat.TABLE,
) -> None:
    """Keep a page of the dashboard with its filters under a name for the team, and list those that are kept."""
    from forensics.people.views import delete_view, save_view
    from forensics.people.views import views as kept
    from forensics.words import time_text

    lake = chosen.open_lake()
    lake.check()
    author, now = by or login_name(), datetime.now(UTC)
    if delete is not None:
        delete_view(lake, delete, author, now)
        say("View {view} is off the list.", view=delete)
    if save is not None:
        parts = urlsplit(address)
        save_view(lake, save, parts.path, dict(parse_qsl(parts.query)), author, now)
        say("View {view} is kept.", view=save)
    found = kept(lake)
    rows = [
        {"view": v.view, "address": v.address, "author": v.author, "saved_at": time_text(v.saved_at)} for v in found
    ]
    print_rows(rows, how, _TABLE, _TABLE.columns)
    if not rows:
        say("No view is kept; --save NAME --address URL keeps one.")
