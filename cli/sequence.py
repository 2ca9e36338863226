"""The command that checks the numbers a producer gives its messages: sequence."""

from pathlib import Path
from typing import Annotated

import typer

from cli.options import Everywhere, QueueArgument, SameQueueOption
from cli.output import FormatOption, RowFormat, answer, print_rows, say
from cli.said import phrase
from cli.table import Layout
from forensics.errors import ForensicsError
from forensics.identity import queue_name
from forensics.sentence import said

_TABLE = Layout(
    ("kind", "group", "first", "last", "count", "sentence"),
    row=("group", "kind", "count"),
    facts=("first", "last"),
    sentences=("sentence",),
)
_COLUMNS = (*_TABLE.columns, "evidence_ids")
MOST_NAMED = 20


class SequenceOptionError(ForensicsError):
    """Options that say nothing together, or a path that is none."""


def sequence(
    chosen: Everywhere,
    queue: QueueArgument = None,
    field: Annotated[
        str | None, typer.Option("--field", metavar="PATH", help="The number's JSON path. [default: the settings']")
    ] = None,
    commits: Annotated[
        Path | None,
        typer.Option("--commits", metavar="FILE", help="What the producer committed: CSV, JSON lines, Parquet."),
    ] = None,
    key: Annotated[str | None, typer.Option("--key", metavar="COLUMN", help="Its column that names the work.")] = None,
    how: FormatOption = RowFormat.TABLE,
    same_queue: SameQueueOption = None,
) -> None:
    """Check a number that counts up in bodies: sends out of order, gaps, numbers sent twice; and commits never sent."""
    queue = chosen.one_queue(queue, same_queue)
    from forensics.json_path import is_path
    from forensics.sequence import commits_not_sent, sequences

    if field is not None and not is_path(field):
        raise SequenceOptionError(
            said("--field {field} is not a JSON path", field=repr(field)), "Write it like $.version."
        )
    if (commits is None) != (key is None):
        raise SequenceOptionError("--commits and --key belong together", "Name the file and its column of keys.")
    findings = chosen.findings(queue_name(queue))
    path = field or chosen.settings().queue(queue_name(queue)).sequence
    is_table = how is RowFormat.TABLE
    tell = answer if is_table else say
    if path is not None or commits is None:
        found = sequences(findings, queue, path)
        rows = [
            {name: getattr(b, name) for name in _TABLE.columns} | {"evidence_ids": list(b.evidence_ids)}
            for b in found.broken
        ]
        print_rows(rows, how, _TABLE, _COLUMNS)
        tell(found.sentence)
        if not found.broken:
            tell(phrase("Their numbers have no gap, stand once, and were sent in order."))
    if commits is not None and key is not None:
        count, missing = commits_not_sent(findings, queue, commits, key)
        named = ", ".join(missing[:MOST_NAMED]) + (
            phrase(" and {n} more", n=len(missing) - MOST_NAMED) if len(missing) > MOST_NAMED else ""
        )
        tell(
            phrase(
                "Of {count} committed works {n} were never seen delivered{named}.",
                count=count,
                n=len(missing),
                named=": " + named if missing else "",
            )
        )
