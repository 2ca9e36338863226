"""A fault with what belongs to it: its affected works merged into one list, and what to do about all of them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from forensics.lake import Findings
from forensics.lake.filters import one_of
from forensics.report.annotations import Annotation, annotations
from forensics.report.case import load_case
from forensics.report.faults import Fault
from forensics.report.opening import Opening, affected_works, opening
from forensics.report.prevention import CHANGE_WORDS, dead_of
from forensics.tables.findings import COUNTERFACTUALS, MESSAGES, QUEUE_FINDINGS

Row = Mapping[str, Any]


@dataclass(frozen=True)
class FaultCase:
    """A fault told whole: ``works`` are its affected works, each once, the gravest first; ``opening`` speaks of all of them."""

    fault: Fault
    opening: Opening
    works: tuple[Row, ...]
    annotations: tuple[Annotation, ...]


def load_fault(findings: Findings, fault: Fault) -> FaultCase:
    """Gather a fault; the first moves are those of its newest incident."""
    ids = set(fault.incident_ids)
    mine = one_of("incident_id", ids)
    messages = sorted(
        findings.read(MESSAGES, where=mine).to_pylist(),
        key=lambda m: (-(m["effects_at_least"] or 0), str(m["first_received_at"]), m["item_id"]),
    )
    changes = _together(findings.read(COUNTERFACTUALS, where=mine).to_pylist())
    beside = findings.read(QUEUE_FINDINGS, where=mine).to_pylist()
    newest = load_case(findings, fault.newest["incident_id"])
    marks = tuple(a for a in annotations(findings.lake) if a.incident_id in ids)
    on_items = [a for a in marks if a.item_id is not None]
    lost = sum(row["code"] == "retention_expired" for row in beside)
    until = findings.generation.data_until_at
    told = dict(fault.newest) | {"headline": fault.headline}
    first = opening(told, messages, changes, dead_of(beside), lost, on_items, newest.opening.moves, until)
    return FaultCase(fault, first, tuple(affected_works(messages)), marks)


def _together(rows: Iterable[Row]) -> list[Row]:
    """Add up what each change would have prevented in all incidents, the most effective first."""
    found: dict[str, dict[str, Any]] = defaultdict(lambda: {"prevented": 0, "undecided": 0, "repeats": 0})
    for row in rows:
        for name in ("prevented", "undecided", "repeats"):
            found[row["change"]][name] += row[name]
    order = list(CHANGE_WORDS)
    told = [{"change": change, **counts} for change, counts in found.items()]
    return sorted(told, key=lambda r: (-r["prevented"], -r["undecided"], order.index(r["change"])))
