"""The command that reads an incident's time once more and stamps it: seal."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import complete
from cli.collect import collected
from cli.options import Everywhere, accesses
from cli.output import say, say_lines

if TYPE_CHECKING:
    from forensics.window import TimeWindow
    from ingest.collect import CollectReport

SEAL_MARGIN = timedelta(hours=1)
"""What is read again before and after an incident, at least: its first receive and its last redelivery may lie there."""
LATEST_ARRIVAL = timedelta(days=14)
"""CloudWatch Logs takes events up to this old."""


def seal(
    chosen: Everywhere,
    incident: Annotated[
        str, typer.Argument(metavar="INCIDENT", autocompletion=complete.incidents, help="The incident's id.")
    ],
) -> int:
    """Read an incident's whole time once more, late events included, and stamp it: the case's evidence is complete."""
    from forensics.report.case import find_incident
    from forensics.window import TimeWindow

    lake = chosen.open_lake()
    row = find_incident(lake.findings(), incident)
    now = datetime.now(UTC)
    window = TimeWindow(*_span(row, now))
    report = _read_again(chosen, row["queue"], window)
    say_lines(collected(report))
    if window.end_at + LATEST_ARRIVAL > now:
        say(
            "  CloudWatch takes events up to 14 days late: seal it again after {day}.",
            day=f"{window.end_at + LATEST_ARRIVAL:%Y-%m-%d}",
        )
    if report.stored_count:
        say("Evidence was added: run `doubletake correlate` to see it.")
    elif row["is_provisional"] and not report.exit_code:
        say("Nothing was added, so what was provisional is final: run `doubletake correlate` to see it so.")
    return report.exit_code


def _span(incident: Mapping[str, Any], now: datetime) -> tuple[datetime, datetime]:
    """Return what is read again, UTC: the incident, and around it all that its verdicts rest on, as far as it has passed."""
    from forensics.coverage import FINAL_AFTER

    started_at = incident["started_at"] or incident["ended_at"]
    ended_at = incident["ended_at"] or incident["started_at"]
    margin = max(SEAL_MARGIN, timedelta(seconds=2 * (incident["visibility_timeout_s"] or 0)))
    needed = [ended_at + margin, *([incident["final_at"] - FINAL_AFTER] if incident["final_at"] else [])]
    return started_at - margin, min(max(needed), now)


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
