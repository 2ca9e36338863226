"""The command that replays a queue under other settings: what-if."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.options import Everywhere, QueueArgument, SameQueueOption
from cli.output import FormatOption, RowFormat, answer, print_rows, say, warn
from cli.said import in_words, phrase
from cli.table import Layout, cell_text
from forensics.identity import queue_name

if TYPE_CHECKING:
    from forensics.what_if import Row


class OnOff(StrEnum):
    """Whether a mapping has a setting."""

    ON = "on"
    OFF = "off"


_TABLE = Layout(
    (
        "settings",
        "repeats",
        "redelivered",
        "dead_lettered",
        "blocked_s",
        "wait_p50_s",
        "wait_p95_s",
        "failed_runs",
        "runs",
        "busy_s",
    ),
    row=("settings", "repeats", "redelivered", "dead_lettered"),
    facts=("blocked_s", "wait_p50_s", "wait_p95_s", "failed_runs"),
)
_SETUP = ("visibility_s", "batch_size", "timeout_s", "partial_responses", "max_receives", "concurrency")


def what_if(
    chosen: Everywhere,
    queue: QueueArgument = None,
    visibility: Annotated[
        int | None, typer.Option("--visibility", metavar="SECONDS", help="Another visibility timeout.")
    ] = None,
    batch_size: Annotated[
        int | None, typer.Option("--batch-size", metavar="MESSAGES", help="Another batch size.")
    ] = None,
    timeout: Annotated[
        int | None, typer.Option("--timeout", metavar="SECONDS", help="Another function timeout.")
    ] = None,
    partial_responses: Annotated[
        OnOff | None, typer.Option("--partial-responses", help="With or without partial batch responses.")
    ] = None,
    max_receives: Annotated[
        int | None, typer.Option("--max-receives", metavar="COUNT", help="Another maxReceiveCount.")
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option("--concurrency", metavar="RUNS", help="Another limit of runs at once.")
    ] = None,
    how: FormatOption = RowFormat.TABLE,
    same_queue: SameQueueOption = None,
) -> None:
    """Replay what was observed of a queue under other settings: repeats, blocked seconds and waiting time, with their price."""
    queue = chosen.one_queue(queue, same_queue)
    from forensics.what_if import ask

    asked = {
        "visibility_s": visibility,
        "batch_size": batch_size,
        "timeout_s": timeout,
        "partial_responses": partial_responses and partial_responses is OnOff.ON,
        "max_receives": max_receives,
        "concurrency": concurrency,
    }
    found = ask(
        chosen.findings(queue_name(queue)), queue, {name: value for name, value in asked.items() if value is not None}
    )
    is_table = how is RowFormat.TABLE
    columns = ("settings", *_SETUP, *(f"{key}_{end}" for key in found.rows[0].low for end in ("low", "high")))
    if not found.is_faithful:
        warn(found.faithful)
    print_rows([_shown(row) if is_table else _record(row) for row in found.rows], how, _TABLE, columns)
    if found.is_faithful:
        (answer if is_table else say)(found.faithful)
    if found.beside:
        (answer if is_table else say)(found.beside)
    for sentence in found.warnings:
        warn(sentence)
    for sentence in found.assumptions:
        say("Assumed: {sentence}", sentence=in_words(sentence))


def _shown(row: "Row") -> dict[str, Any]:
    return {"settings": row.name, **{key: _range(key, row) for key in row.low}}


def _range(key: str, row: "Row") -> str:
    """Say a number with both ends where they differ; seconds with their unit."""
    low, high = row.low[key], row.high[key]
    if not key.endswith("_s") or low is None or high is None:
        return row.span(key)
    first, last = (cell_text(end, key) for end in (low, high))
    return first if first == last else phrase("{first} to {last}", first=first, last=last)


def _record(row: "Row") -> dict[str, Any]:
    """Return a row for programs: the settings, and each number's low and high."""
    numbers = {f"{key}_{end}": side[key] for key in row.low for end, side in (("low", row.low), ("high", row.high))}
    return {"settings": row.name, **{name: getattr(row.setup, name) for name in _SETUP}, **numbers}
