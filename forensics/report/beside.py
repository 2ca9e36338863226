"""What stood around an incident's messages in time: changes of settings, and what CloudWatch measured of queue and functions."""

from collections.abc import Mapping
from typing import Any

from forensics.charts.beside import AROUND, STRIPS
from forensics.lake import Findings
from forensics.lake.conditions import all_of
from forensics.lake.rows import plain_rows
from forensics.report.changes import Change, what_changed
from forensics.tables.evidence import (
    EVENT_SOURCE_MAPPINGS,
    FUNCTION_SETTINGS,
    METRIC_POINTS,
    QUEUE_SETTINGS,
    SETTING_CHANGES,
)

Row = Mapping[str, Any]


def changes_around(findings: Findings, incident: Row) -> tuple[Change, ...]:
    """Return the changes known from seven days before an incident until an hour after it, oldest first."""
    if incident["started_at"] is None:
        return ()
    until = (incident["ended_at"] or incident["started_at"]) + AROUND
    states = {t.name: plain_rows(findings.read(t)) for t in (QUEUE_SETTINGS, FUNCTION_SETTINGS, EVENT_SOURCE_MAPPINGS)}
    calls = plain_rows(findings.read(SETTING_CHANGES, where=all_of(("changed_at", "<=", until))))
    fed = {m["function_name"] for m in states[EVENT_SOURCE_MAPPINGS.name] if m["queue_arn"] == incident["queue_arn"]}
    functions = sorted({*(incident["functions"] or ()), *filter(None, fed)})
    return what_changed({**incident, "ended_at": until}, functions, states, calls)


def points_around(findings: Findings, incident: Row) -> list[dict[str, Any]]:
    """Return the ``metric_points`` of the queue and its functions that the strips below a timeline show."""
    start = incident["started_at"]
    if start is None:
        return []
    queue = (incident["queue_arn"] or "").split(":")
    resources = (incident["queue"], *(incident["functions"] or ()))
    where = [
        ("point_at", ">=", start - AROUND),
        ("point_at", "<=", (incident["ended_at"] or start) + AROUND),
        ("resource", "in", resources),
        ("metric", "in", tuple(s.metric for s in STRIPS)),
    ]
    rows = plain_rows(findings.read(METRIC_POINTS, where=all_of(*where)))
    return [r for r in rows if len(queue) < 6 or [r["region"], r["account_id"]] == queue[3:5]]
