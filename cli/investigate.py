"""The command that does all of it for one queue: investigate."""

from datetime import UTC, datetime
from pathlib import Path

from cli.collect import collect_window
from cli.correlate import correlate_lake
from cli.options import (
    Everywhere,
    LogGroupOption,
    MasterOption,
    QueueArgument,
    SameQueueOption,
    SinceOption,
    UntilOption,
    one_queue,
)
from cli.output import answer
from cli.verdict import print_verdict


def investigate(
    chosen: Everywhere,
    queue: QueueArgument = None,
    since: SinceOption = "6h",
    until: UntilOption = None,
    log_group: LogGroupOption = None,
    master: MasterOption = None,
    same_queue: SameQueueOption = None,
) -> int:
    """Collect, correlate, and print the verdict and where its timeline is."""
    queue = one_queue(queue, same_queue)
    from forensics.window import TimeWindow

    window = TimeWindow.parse(since, until, datetime.now(UTC))
    report = collect_window(chosen, [queue], window, log_group or [])
    correlate_lake(chosen, None, master)
    print_verdict(chosen.findings(), report.queues, window, chosen_lake=Path(chosen.lake) if chosen.lake else None)
    from forensics.report.freshness import freshness

    answer(freshness(chosen.open_lake(), report.log_groups, window, report.stored_count, datetime.now(UTC)))
    return report.exit_code
