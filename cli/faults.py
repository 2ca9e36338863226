"""Faults as commands list them: a row for each, the worst first."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from cli.table import Layout

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from forensics.lake import Findings
    from forensics.people import People
    from forensics.report.faults import Fault

    Row = Mapping[str, Any]

FAULT_TABLE = Layout(
    ("fault_id", "times", "last", "state", "headline", "repeats", "newest_incident"),
    row=("fault_id", "times", "last", "repeats"),
    facts=("state", "newest_incident"),
    sentences=("headline",),
)


def faults_of(
    findings: "Findings", rows: "Sequence[Row]", people: "People", weights: "Mapping[str, int] | None" = None
) -> "list[Fault]":
    """Gather rows of ``incidents``, as they count, into faults, the worst first; a work that several hold counts once."""
    from forensics.lake.filters import one_of
    from forensics.lake.findings import rows_of
    from forensics.report.faults import faults, shares_works
    from forensics.tables.findings import MESSAGES

    ids = shares_works(rows)
    columns = ["incident_id", "queue_arn", "work_id", "verdict"]
    shared = rows_of(findings.read(MESSAGES, columns, one_of("incident_id", ids))) if len(ids) > 1 else []
    return faults(rows, findings.generation.data_until_at, people.messages(shared), weights)


def fault_row(fault: "Fault", until: datetime | None) -> dict[str, Any]:
    """Return a fault as a row of the table."""
    from forensics.words import clock_text, interval_text

    return {
        "fault_id": fault.fault_id,
        "times": len(fault.incidents),
        "last": clock_text(fault.ended_at)[:16],
        "state": fault.state(until),
        "headline": fault.headline,
        "repeats": interval_text(*fault.repeats),
        "newest_incident": fault.newest["incident_id"],
    }
