"""The command that plans what to do with a dead-letter queue: redrive-plan."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from cli import complete
from cli.options import Everywhere, either_queue
from cli.output import FormatOption, RowFormat, answer, print_rows, say, warn, write_whole
from cli.said import phrase, term
from cli.table import Layout
from forensics.errors import ForensicsError
from forensics.sentence import said

_TABLE = Layout(
    ("place", "message_id", "keys", "redriving", "why", "by_now", "script"),
    row=("message_id", "redriving", "script"),
    facts=("place", "keys"),
    sentences=("why", "by_now"),
)
_COLUMNS = (
    "queue",
    "group_id",
    "place",
    "message_id",
    "business_keys",
    "decision",
    "why",
    "mended",
    "mended_sentence",
    "guard_sentence",
    "overtaken_by",
    "order_sentence",
    "sent_at",
    "moved_at",
    "expires_at",
    "left_out",
    "evidence_ids",
)


class NothingSafeError(ForensicsError):
    """No message of the dead-letter queue can be redriven safely."""


def redrive_plan(
    chosen: Everywhere,
    dead_letter_queue: Annotated[
        str | None,
        typer.Argument(
            metavar="[DLQ]",
            autocompletion=complete.queues,
            help="The dead-letter queue's name or ARN. [default: the lake's only one]",
        ),
    ] = None,
    script_to: Annotated[
        Path | None,
        typer.Option("--script", metavar="FILE", help="Write the safe part as a script for the AWS CLI; it runs dry."),
    ] = None,
    how: FormatOption = RowFormat.TABLE,
    same_queue: Annotated[
        str | None,
        typer.Option("--queue", metavar="NAME", autocompletion=complete.queues, help="The same as DLQ."),
    ] = None,
) -> None:
    """Plan the redrive of a dead-letter queue: per message whether that is safe, or does the work again. Nothing is sent."""
    from forensics.redrive import DECISION_WORDS, NOT_SHOWN, plan, script, step_record

    name = either_queue(dead_letter_queue, same_queue)
    found = plan(chosen.findings(), name, chosen.settings())
    is_table = how is RowFormat.TABLE
    rows = [
        {
            "place": f"{step.line} {step.place}",
            "message_id": step.message_id or step.item_id,
            "keys": list(step.business_keys),
            "redriving": step.words,
            "why": step.why,
            "by_now": step.by_now,
            "script": step.left_out or "in",
        }
        if is_table
        else step_record(step)
        for step in found.steps
    ]
    print_rows(rows, how, _TABLE, _COLUMNS)
    counts = Counter(step.words for step in found.steps)
    every = (*DECISION_WORDS.values(), NOT_SHOWN)
    told = ", ".join(phrase("{n} {decision}", n=counts[d], decision=term(d)) for d in every if counts[d])
    (answer if is_table else say)(
        "{queue}: {told}.",
        queue=found.dead_letter_queue,
        told=told or phrase("no message that the logs know was moved there"),
    )
    for note in found.notes:
        warn(note)
    if script_to is not None:
        if not found.scripted:
            raise NothingSafeError(
                said("no message of {queue} can be redriven safely", queue=found.dead_letter_queue),
                "The last column says why, one by one.",
            )
        write_whole(script_to, script(found).encode())
        script_to.chmod(0o700)
        say(
            "wrote {file}: {n} messages. Read it; without --apply it calls nothing.",
            file=script_to,
            n=len(found.scripted),
        )
