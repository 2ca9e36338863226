"""Incidents as they stand: as they count after what people set aside, and with whether anything of them is left."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from forensics.lake import Findings
from forensics.lake.filters import equals, one_of
from forensics.lake.findings import rows_of
from forensics.people import People
from forensics.report.activity import Row, have_left, lost_of, was_active, with_gone
from forensics.tables.findings import DELIVERIES, INCIDENTS, MESSAGES, QUEUE_FINDINGS

MOST_LOOKED_UP = 2_000
"""Messages of an incident that are looked up; of more, nothing tells whether something of it is left."""


def standing_incidents(findings: Findings, people: People, where: Any = None) -> list[Row]:
    """Read incidents as they stand: nothing else tells open from over."""
    return as_they_stand(findings, people, rows_of(findings.read(INCIDENTS, where=where)))


def as_they_stand(findings: Findings, people: People, incidents: Iterable[Row]) -> list[Row]:
    """Return rows of ``incidents`` as they stand."""
    rows = list(incidents)
    return people.counted(with_gone(rows, all_gone(findings, rows)))


def all_gone(findings: Findings, incidents: Iterable[Row]) -> frozenset[str]:
    """Return the ids of incidents, active in the last hour of the data, of which every message was dead-lettered or lost."""
    until = findings.generation.data_until_at
    asked = {i["incident_id"]: i["queue_arn"] for i in incidents if was_active(i, until) and _may_be_asked(i)}
    if not asked:
        return frozenset()
    found = rows_of(findings.read(QUEUE_FINDINGS, where=one_of("queue_arn", asked.values())))
    on_queue: dict[str, list[Row]] = defaultdict(list)
    for row in found:
        on_queue[row["queue_arn"]].append(row)
    lost = {queue_arn: lost_of(rows) for queue_arn, rows in on_queue.items()}
    items: dict[str, set[str]] = defaultdict(set)
    kept: set[str] = set()
    columns = ["incident_id", "item_id", "is_dead_lettered"]
    for row in rows_of(findings.read(MESSAGES, columns, one_of("incident_id", asked))):
        items[row["incident_id"]].add(row["item_id"])
        if not row["is_dead_lettered"] and row["item_id"] not in lost.get(asked[row["incident_id"]], ()):
            kept.add(row["incident_id"])
    return frozenset(
        name
        for name, queue_arn in asked.items()
        if name not in kept and _are_gone(findings, queue_arn, items[name], on_queue[queue_arn])
    )


def _may_be_asked(incident: Row) -> bool:
    return 0 < (incident["messages"] or 0) <= MOST_LOOKED_UP


def _are_gone(findings: Findings, queue_arn: str, items: set[str], on_queue: list[Row]) -> bool:
    """Tell it of one incident by how the last delivery of each message ended: one may have come back out of the DLQ."""
    columns = ["item_id", "delivery_index", "ended_by"]
    where = equals("queue_arn", queue_arn) & one_of("item_id", items)
    return bool(items) and have_left(items, rows_of(findings.read(DELIVERIES, columns, where)), on_queue)
