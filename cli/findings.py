"""The command that lists what went wrong with queues and message groups: findings."""

from enum import StrEnum
from typing import Annotated

import typer

from cli.options import Everywhere, OnlyQueueArgument, SameQueueOption, either_queue
from cli.output import FormatOption, RowFormat, print_rows, say
from cli.rows import Records, all_of
from cli.said import in_words
from cli.table import Layout
from forensics.queue_rules import QUEUE_RULES

QueueFinding = StrEnum("QueueFinding", {code.upper(): code for code in QUEUE_RULES})  # type: ignore[misc]
_FINDING_TABLE = Layout(
    ("queue", "code", "from_at", "until_at", "message_id", "sentence", "stance"),
    row=("queue", "code", "from_at", "stance"),
    facts=("message_id",),
    sentences=("sentence",),
)


def findings(
    chosen: Everywhere,
    how: FormatOption = RowFormat.TABLE,
    queue: OnlyQueueArgument = None,
    code: Annotated[QueueFinding | None, typer.Option("--code", help="Only this kind of finding.")] = None,
    same_queue: SameQueueOption = None,
) -> None:
    """List what went wrong with queues and message groups: blocked, dead-lettered, lost, poison, out of order."""
    queue = either_queue(queue, same_queue)
    from forensics.report.log_readiness import nothing_checked
    from forensics.report.prevention import finding_record
    from forensics.report.queue_lookup import deliveries_of
    from forensics.tables.findings import QUEUE_FINDINGS

    found = chosen.findings(queue)
    where, order = all_of({"queue": queue, "code": code and str(code)}), ("queue", "from_at", "code", "item_id")
    records = Records(found.read(QUEUE_FINDINGS, where=where), order, finding_record)
    print_rows(records, how, _FINDING_TABLE, tuple(finding_record({})))
    if records:
        return
    others = found.read(QUEUE_FINDINGS, ["code"], all_of({"queue": queue})).num_rows if code else 0
    if others:
        say("No finding is {code}; of other kinds: {n}.", code=str(code), n=others)
        return
    unchecked = nothing_checked(found, queue)
    for sentence in unchecked:
        say("{sentence}", sentence=in_words(sentence))
    if unchecked and not deliveries_of(found, queue):
        return
    if queue:
        say("Nothing went wrong with {queue} or its message groups as far as this data version tells.", queue=queue)
    else:
        say("Nothing went wrong with a queue or a message group as far as this data version tells.")
