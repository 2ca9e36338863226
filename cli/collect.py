"""The command that reads evidence from AWS: collect."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from cli import complete
from cli.ledger import count
from cli.options import Everywhere, LogGroupOption, QueueNotNamedError, SinceOption, UntilOption, accesses
from cli.output import say_lines
from cli.said import count_text, in_words, phrase

if TYPE_CHECKING:
    from forensics.window import TimeWindow
    from ingest.collect import CollectReport


def collect(
    chosen: Everywhere,
    more: Annotated[
        list[str] | None,
        typer.Argument(metavar="QUEUE", autocompletion=complete.queues, help="The queues' names, URLs or ARNs."),
    ] = None,
    queue: Annotated[
        list[str] | None,
        typer.Option("--queue", metavar="NAME", autocompletion=complete.queues, help="The same as QUEUE; repeatable."),
    ] = None,
    all_queues: Annotated[
        bool, typer.Option("--all-queues", help="Every queue of the region, or of all regions the settings name.")
    ] = False,
    since: SinceOption = "6h",
    until: UntilOption = None,
    log_group: LogGroupOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say how many calls, seconds and bytes it would take.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Read the whole window again, also what was read before and has settled.")
    ] = False,
) -> int:
    """Read evidence from AWS into the lake; read-only."""
    queues = [*(queue or []), *(more or [])]
    if bool(queues) == all_queues:
        raise QueueNotNamedError(
            "give queues or --all-queues, not both" if queues else "no queue was named",
            "For example: doubletake collect payments.fifo --since 6h",
        )
    from forensics.window import TimeWindow

    window = TimeWindow.parse(since, until, datetime.now(UTC))
    if dry_run:
        from cli.estimate import tell_estimate

        return tell_estimate(chosen, queues or None, window, log_group or [])
    return collect_window(chosen, queues or None, window, log_group or [], again).exit_code


def collect_window(
    chosen: Everywhere, queues: list[str] | None, window: "TimeWindow", log_groups: list[str], again: bool = False
) -> "CollectReport":
    """Collect with a bar of progress, and say what was read and what lacks; no queues are all queues."""
    from cli.progress import collecting
    from ingest.collect import collect as collect_evidence

    settings = chosen.settings()
    aws = accesses(chosen, settings)
    with collecting() as progress:
        report = collect_evidence(chosen.open_lake(), aws, queues, window, log_groups, settings, progress, again=again)
    count(
        events_seen=report.seen_count,
        events_stored=report.stored_count,
        points_stored=report.points_stored_count,
        quarantined=report.quarantined_count,
        gaps=len(report.gaps),
    )
    say_lines(collected(report))
    return report


def collected(report: "CollectReport") -> Iterator[str]:
    """Yield what a collection read, and what it lacks, in words."""
    from forensics.words import clock_text

    queues = [*report.queues, *(phrase("{queue} (its dead-letter queue)", queue=q) for q in report.dead_letter_queues)]
    yield phrase(
        "Read {names} from {start} to {end} UTC:",
        names=", ".join(queues),
        start=clock_text(report.window.start_at),
        end=clock_text(report.window.end_at),
    )
    yield (
        phrase(
            "  {event} of {group}, {stored_count} of them new; {point}.",
            event=count_text(report.seen_count, "log event"),
            group=count_text(len(report.log_groups), "log group"),
            stored_count=report.stored_count,
            point=count_text(report.points_stored_count, "new metric point"),
        )
    )
    if report.settled:
        yield phrase(
            "  {group} had been read before and settled: nothing to read again.",
            group=count_text(len(report.settled), "log group"),
        )
    if report.quarantined_count:
        yield phrase(
            "  {event} could not be kept as logged: see quarantine.",
            event=count_text(report.quarantined_count, "log event"),
        )
    for gap in report.gaps:
        yield f"  {phrase('Gap: ')}{in_words(gap)}"
    for note in report.notes:
        yield f"  {phrase('Note: ')}{in_words(note)}"
