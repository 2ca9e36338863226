"""One incident in whole: its row, the lanes of its timeline, and what would have been under other settings."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from forensics.incidents.gaps import Gaps
from forensics.incidents.incident import Row, incident_row
from forensics.incidents.repeats import counterfactual_rows
from forensics.incidents.shares import Share, together
from forensics.incidents.timeline import lanes_of


class Told(NamedTuple):
    """What is told of one incident, in the columns of INCIDENTS and COUNTERFACTUALS; ``lanes`` of its messages, by item id."""

    row: Row
    lanes: Mapping[str, int]
    counterfactuals: list[Row]


def told_of(incident_id: str, queue_arn: str, shares: Sequence[Share], gaps: Gaps, blocked_ms: int | None) -> Told:
    """Tell of an incident; ``shares`` are what all of its works tell of it."""
    told = together(shares)
    lacking = gaps.inside(queue_arn, told.started_at, told.ended_at)
    return Told(
        incident_row(incident_id, queue_arn, told, blocked_ms, lacking),
        lanes_of(told.places),
        list(counterfactual_rows(incident_id, queue_arn, told.queue, told.repeated)),
    )
