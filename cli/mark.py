"""The command that says what a person knows of a work: mark."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

import typer

from cli import complete
from cli.options import Everywhere, QueueOption, login_name
from cli.output import say
from cli.said import count_text, term
from forensics.tables.people import MARKS

Mark = StrEnum("Mark", {m.upper().replace("-", "_"): m for m in MARKS})  # type: ignore[misc]


def mark(
    chosen: Everywhere,
    subject: Annotated[
        str,
        typer.Argument(
            metavar="SUBJECT",
            autocompletion=complete.incidents,
            help="A message id, a business key, or an incident's id for all of its.",
        ),
    ],
    what: Annotated[
        Mark,
        typer.Argument(
            metavar="MARK",
            help=f"{', '.join(MARKS[:-1])}; withdrawn takes earlier marks back.",
        ),
    ],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for the next reader; or the comment.")],
    queue: QueueOption = None,
    by: Annotated[
        str | None, typer.Option("--by", metavar="NAME", help="Who says it. [default: the login name]")
    ] = None,
) -> None:
    """Say what a person knows: false alarms and what was charged once no longer count; the verdict stays and is shown beside."""
    from forensics.people.marks import SETS_ASIDE, annotate
    from forensics.tables.findings import INCIDENTS

    findings = chosen.findings()
    is_incident = subject in findings.read(INCIDENTS, ["incident_id"])["incident_id"].to_pylist()
    where, message = (subject, None) if is_incident else (None, subject)
    said = annotate(findings, where, message, str(what), reason, by or login_name(), datetime.now(UTC), queue)
    say(f"{term(said.words)}: {said.item_id or said.incident_id} ({said.author})")
    if str(what) in SETS_ASIDE:
        count = count_text(len(said.item_ids or ()), "message")
        say("No longer counted: {count}. --without-marks shows the figures without.", count=count)
