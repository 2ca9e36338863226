"""The command that reads an incident's time once more and stamps it: seal."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from cli.collect import collected
from cli.options import Everywhere, accesses
from cli.output import say, say_lines

if TYPE_CHECKING:
    from forensics.window import TimeWindow
    from ingest.collect import CollectReport

SEAL_MARGIN = timedelta(hours=1)
"""What is read again before and after an incident: its first receive and its last redelivery may lie there."""
LATEST_ARRIVAL = timedelta(days=14)
"""CloudWatch Logs takes events up to this old."""


def seal(
    chosen: Everywhere,
    incident: Annotated[str, typer.Argument(metavar="INCIDENT", help="The incident's id.")],
) -> int:
    """Read an incident's whole time once more, late events included, and stamp it: the case's evidence is complete."""
    from forensics.report.case import find_incident
    from forensics.window import TimeWindow

    lake = chosen.open_lake()
    row = find_incident(lake.findings(), incident)
    now = datetime.now(UTC)
    started_at = row["started_at"] or row["ended_at"]
    ended_at = row["ended_at"] or row["started_at"]
    window = TimeWindow(started_at - SEAL_MARGIN, min(ended_at + SEAL_MARGIN, now))
    report = _read_again(chosen, row["queue"], window)
    say_lines(collected(report))
    if window.end_at + LATEST_ARRIVAL > now:
        say(
            f"  CloudWatch takes events up to 14 days late: seal it again after {window.end_at + LATEST_ARRIVAL:%Y-%m-%d}."
        )
    if report.stored_count:
        say("Evidence was added: run `doubletake correlate` to see it.")
    return report.exit_code


def _read_again(chosen: Everywhere, queue: str, window: "TimeWindow") -> "CollectReport":
    from cli.progress import collecting
    from forensics.lake.filters import equals
    from forensics.tables.evidence import CONSUMERS
    from ingest.collect import collect

    lake, settings = chosen.open_lake(), chosen.settings()
    workers = lake.read(CONSUMERS, ["log_group"], equals("queue_name", queue) & equals("kind", "worker"))
    log_groups = [f"{group}={queue}" for group in sorted(set(workers["log_group"].to_pylist()))]
    with collecting() as progress:
        return collect(lake, accesses(chosen, settings), [queue], window, log_groups, settings, progress, seal=True)
