"""When FIFO message groups stood still: a failed delivery holds its whole group until its visibility timeout ends."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True)
class BlockedSpan:
    """One stretch in which nothing of a group got through, as the findings of the queue tell it.

    ``messages`` counts those that waited behind it, None where send times are not logged; times are UTC.
    """

    group_id: str
    start_at: datetime
    end_at: datetime
    blocked_ms: int
    messages: int | None
    evidence_ids: tuple[str, ...]


def blocked_spans(queue_findings: Sequence[Row]) -> tuple[BlockedSpan, ...]:
    """Return the blocked stretches that the findings tell, by group and time; what they leave open is left out."""
    spans = [
        BlockedSpan(
            q["group_id"] or "",
            q["from_at"],
            q["until_at"],
            q["span_ms"],
            q["message_count"],
            tuple(q["evidence_ids"] or ()),
        )
        for q in queue_findings
        if q["code"] == "fifo_group_blocked" and q["stance"] == "supported" and q["span_ms"] is not None
    ]
    return tuple(sorted(spans, key=lambda s: (s.group_id, s.start_at, s.end_at)))
