"""A fault with what belongs to it: its affected works merged into one list, and what to do about all of them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from forensics.lake import Findings
from forensics.lake.filters import equals, one_of
from forensics.lake.findings import rows_of
from forensics.lake.rows import plain_rows
from forensics.people import Annotation, Marks, People, people_of
from forensics.report.before_after import OF_A_PERSON, Comparison, compare, last_repair
from forensics.report.case import SETTINGS_TABLES, load_case
from forensics.report.changes import Change, what_changed
from forensics.report.faults import Fault
from forensics.report.opening import Opening, affected_works, opening
from forensics.report.prevention import CHANGE_WORDS, dead_of, has_poison, that_count
from forensics.sentence import said
from forensics.tables.evidence import EVENT_SOURCE_MAPPINGS, SETTING_CHANGES
from forensics.tables.findings import COUNTERFACTUALS, DELIVERIES, MESSAGES, QUEUE_FINDINGS, REDELIVERIES
from forensics.words import ms_between

Row = Mapping[str, Any]


@dataclass(frozen=True)
class FaultCase:
    """A fault told whole: ``works`` are its affected works, each once, the gravest first; ``opening`` speaks of those that count."""

    fault: Fault
    opening: Opening
    works: tuple[Row, ...]
    people: People
    changes: tuple[Change, ...]
    comparison: Comparison | None


def load_fault(findings: Findings, fault: Fault, people: People | None = None) -> FaultCase:
    """Gather a fault; the first moves are those of its newest incident. ``people`` is read where it is not given."""
    people = people or people_of(findings)
    ids = set(fault.incident_ids)
    mine = one_of("incident_id", ids)
    messages = sorted(
        rows_of(findings.read(MESSAGES, where=mine)),
        key=lambda m: (-(m["effects_at_least"] or 0), str(m["first_received_at"]), m["item_id"]),
    )
    incidents = {incident["incident_id"]: incident for incident in fault.incidents}
    would = plain_rows(findings.read(COUNTERFACTUALS, where=mine))
    changes = _together(one for row in would for one in that_count([row], incidents[row["incident_id"]]))
    beside = rows_of(findings.read(QUEUE_FINDINGS, where=mine))
    newest = load_case(findings, fault.newest["incident_id"], people=people)
    marks = [people.of(name) for name in fault.incident_ids]
    on_items = Marks(of_items={item: said for mine in marks for item, said in mine.of_items.items()})
    lost = sum(row["code"] == "retention_expired" for row in beside)
    least, most = fault.repeats
    told = {
        **fault.newest,
        "headline": fault.headline,
        "extra_effects_at_least": least,
        "extra_effects_at_most": most,
    }
    works = affected_works(messages)
    count = [work for work in works if not people.aside_of(work["item_ids"])]
    stop = newest.opening
    first = opening(
        told,
        count,
        changes,
        dead_of(beside),
        lost,
        on_items,
        stop.moves,
        fault.is_open(findings.generation.data_until_at),
        fault.set_aside,
        has_poison(beside),
        newest.room,
    )
    since = changes_since(findings, fault, {mark: None for mine in marks for mark in mine.whole})
    of_queue = equals("queue_arn", fault.newest["queue_arn"])
    compared = None
    if last_repair(since, fault.started_at):
        columns = ["item_id", "delivery_index", "consumer", "received_at", "hidden_until_at", "ended_by"]
        deliveries = plain_rows(findings.read(DELIVERIES, columns, of_queue))
        came_again = rows_of(findings.read(REDELIVERIES, ["item_id", "delivery_index", "cause"], of_queue))
        compared = compare(
            since, deliveries, came_again, fault.trigger, fault.started_at, findings.generation.data_until_at
        )
    return FaultCase(fault, first, tuple(works), people, since, compared)


def changes_since(findings: Findings, fault: Fault, whole: Iterable[Annotation]) -> tuple[Change, ...]:
    """Return what was changed since a fault began: settings, deployments of its functions, and a person's mark "fixed" on it."""
    snapshots = {t.name: plain_rows(findings.read(t)) for t in SETTINGS_TABLES}
    arn = fault.newest["queue_arn"]
    functions = {name for i in fault.incidents for name in i["functions"] or ()}
    functions |= {m["function_name"] for m in snapshots[EVENT_SOURCE_MAPPINGS.name] if m["queue_arn"] == arn}
    until = findings.generation.data_until_at or fault.ended_at
    span = {"queue_arn": arn, "started_at": fault.started_at, "ended_at": until}
    known = sorted(name for name in functions if name)
    found = [
        c for c in what_changed(span, known, snapshots, snapshots[SETTING_CHANGES.name]) if c.at > fault.started_at
    ]
    for mark in whole:
        if mark.mark == "fixed":
            what, since_ms = (
                said("marked fixed by {who}: {name}", who=mark.author, name=mark.reason),
                ms_between(mark.marked_at, fault.started_at),
            )
            found.append(Change(mark.marked_at, None, since_ms, what, OF_A_PERSON, (mark.evidence_id,)))
    return tuple(sorted(found, key=lambda c: (c.at, c.what)))


def _together(rows: Iterable[Row]) -> list[Row]:
    """Add up what each change would have prevented in all incidents, the most effective first."""
    found: dict[str, dict[str, Any]] = defaultdict(lambda: {"prevented": 0, "undecided": 0, "repeats": 0})
    for row in rows:
        for name in ("prevented", "undecided", "repeats"):
            found[row["change"]][name] += row[name]
    order = list(CHANGE_WORDS)
    told = [{"change": change, **counts} for change, counts in found.items()]
    return sorted(told, key=lambda r: (-r["prevented"], -r["undecided"], order.index(r["change"])))
