"""When FIFO message groups stood still: a failed delivery holds its whole group until its visibility timeout ends."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from forensics.report.runs import ids_of
from forensics.report.words import ms_between

Row = Mapping[str, Any]
HELD = ("visibility_expired", "delete_refused", "dead_lettered")
"""How deliveries end that keep their group waiting."""


@dataclass(frozen=True)
class BlockedSpan:
    """One stretch in which nothing of a group could be handed out: from the end of a failed run to the next receive.

    ``messages`` counts the group's messages in the ledger that were waiting then; times are UTC.
    """

    group_id: str
    start_at: datetime
    end_at: datetime
    blocked_ms: int
    messages: int
    evidence_ids: tuple[str, ...]


def blocked_spans(incident: Row, deliveries: Sequence[Row]) -> tuple[BlockedSpan, ...]:
    """Return the blocked stretches of an incident's groups, by group and time; none on standard queues."""
    if not incident["is_fifo"]:
        return ()
    runs: dict[tuple[str, str], list[Row]] = {}
    for d in deliveries:
        if d["is_seen"] and d["received_at"]:
            runs.setdefault((d["group_id"] or "", d["consumer"] or ""), []).append(d)
    found = []
    for group in sorted({g for g, _ in runs}):
        of_group = [run for (g, _), run in runs.items() if g == group]
        of_group.sort(key=lambda run: (_first(run), run[0]["consumer"] or ""))
        for run, following in zip(of_group, [*of_group[1:], None], strict=True):
            if span := _span(group, run, following):
                found.append(span)
    return tuple(found)


def found_spans(queue_findings: Sequence[Row]) -> tuple[BlockedSpan, ...]:
    """Return the blocked stretches that the findings tell, by group and time; what they leave open is left out."""
    spans = [
        BlockedSpan(
            q["group_id"] or "",
            q["from_at"],
            q["until_at"],
            q["span_ms"],
            q["message_count"] or 0,
            tuple(q["evidence_ids"] or ()),
        )
        for q in queue_findings
        if q["code"] == "fifo_group_blocked" and q["stance"] == "supported" and q["span_ms"] is not None
    ]
    return tuple(sorted(spans, key=lambda s: (s.group_id, s.start_at, s.end_at)))


def _first(run: Sequence[Row]) -> datetime:
    return min(d["received_at"] for d in run)


def _span(group: str, run: Sequence[Row], following: Sequence[Row] | None) -> BlockedSpan | None:
    held = [d for d in run if d["ended_by"] in HELD]
    freed = max(d["run_ended_at"] or d["received_at"] for d in run)
    hidden = max((d["hidden_until_at"] for d in held if d["hidden_until_at"]), default=None)
    until = _first(following) if following else hidden
    if not held or until is None or until <= freed:
        return None
    return BlockedSpan(group, freed, until, ms_between(freed, until) or 0, len(held), ids_of(held))


def busiest_groups(spans: Sequence[BlockedSpan], most: int) -> tuple[str, ...]:
    """Return the groups that stood still longest, at most so many, longest first."""
    total: dict[str, int] = {}
    for span in spans:
        total[span.group_id] = total.get(span.group_id, 0) + span.blocked_ms
    return tuple(sorted(total, key=lambda g: (-total[g], g))[:most])
