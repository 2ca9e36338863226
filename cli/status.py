"""The command that says what the lake holds."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import Everywhere, OnlyQueueArgument, SameQueueOption, either_queue
from cli.output import FormatOption, RowFormat, answer, print_rows, say, warn
from cli.said import in_words
from cli.table import Layout
from forensics.errors import EXIT_LAW_BROKEN, EXIT_OK, QueueUnknownError
from forensics.sentence import said

if TYPE_CHECKING:
    from forensics.lake import Lake

_QUEUES = Layout(("queue", "read_from", "read_until", "evidence"), row=("queue", "read_from", "read_until", "evidence"))
_SOURCES = Layout(
    ("queue", "source", "resource", "read_from", "read_until", "gaps", "provisional", "status", "detail"),
    row=("source", "queue", "status"),
    facts=("resource", "read_from", "read_until", "gaps", "provisional"),
    sentences=("detail",),
)


def status(
    chosen: Everywhere,
    how: FormatOption = RowFormat.TABLE,
    queue: OnlyQueueArgument = None,
    each_source: Annotated[
        bool, typer.Option("--sources", help="A row per source instead of per queue; --queue shows its sources.")
    ] = False,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify", help="Read every file, count the rows again and compare them with what coverage says; 4 if not."
        ),
    ] = False,
    same_queue: SameQueueOption = None,
) -> int:
    """Say what the lake holds: per queue how far it was read and what lacks, rows, size, data version."""
    queue = either_queue(queue, same_queue)
    from forensics.nearest import queues_hint
    from forensics.report.lake_status import SOURCE_COLUMNS, lake_status, queue_records
    from forensics.report.log_readiness import readiness_lines

    lake = chosen.open_lake()
    found = lake_status(lake)
    sources = [s.as_record() for s in found.sources if queue is None or s.queue == queue]
    if queue is not None and not sources:
        known = sorted({s.queue for s in found.sources if s.queue})
        raise QueueUnknownError(
            said("the lake holds nothing read for queue {queue}", queue=repr(queue)), queues_hint(queue, known)
        )
    code = _verified(lake) if verify else EXIT_OK
    if how is RowFormat.JSON:
        print(json.dumps({**found.as_record(), "sources": sources}, indent=1))
        return code
    if how is RowFormat.TABLE and queue is None and not each_source:
        print_rows(queue_records(found.sources), how, _QUEUES, ())
    else:
        print_rows(sources, how, _SOURCES, SOURCE_COLUMNS)
    if how is RowFormat.TABLE:
        for sentence in found.sentences():
            answer(sentence)
        for line in readiness_lines(chosen.open_lake(), queue):
            answer(in_words(line), is_code=line.startswith(" ") and not line.endswith(":"))
    return code


def _verified(lake: "Lake") -> int:
    """Read every file, count again, say what came of it, and return the exit code."""
    from forensics.lake.doctor import verify_files
    from forensics.lake.recount import recount

    file_count, damaged = verify_files(lake)
    if damaged:
        for sentence in damaged:
            warn("Damaged: {sentence}", sentence=in_words(sentence))
        warn("Run `doubletake doctor --full`: it sets them aside, and what was lost is collected again.")
        return EXIT_LAW_BROKEN
    counted = recount(lake)
    for miscount in counted.miscounts:
        warn("Not as recorded: {sentence}", sentence=in_words(miscount.sentence))
    if counted.miscounts:
        warn("Run `doubletake doctor`, then `doubletake collect` for that time.")
        return EXIT_LAW_BROKEN
    say(
        "Verified: {reading_count} readings and {row_count} rows are as recorded, and all {file_count} data "
        "files are what was written.",
        reading_count=counted.reading_count,
        row_count=counted.row_count,
        file_count=file_count,
    )
    return EXIT_OK
