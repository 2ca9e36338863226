"""One incident in whole: its row, and what would have been under other settings."""

from collections.abc import Sequence
from typing import NamedTuple

from forensics.incidents.gaps import Gaps
from forensics.incidents.incident import Row, incident_row
from forensics.incidents.repeats import counterfactual_rows
from forensics.incidents.shares import Share, together


class Told(NamedTuple):
    """What is told of one incident, in the columns of INCIDENTS and COUNTERFACTUALS."""

    row: Row
    counterfactuals: list[Row]


def told_of(incident_id: str, queue_arn: str, shares: Sequence[Share], gaps: Gaps, blocked_ms: int | None) -> Told:
    """Tell of an incident; ``shares`` are what all of its works tell of it."""
    told = together(shares)
    lacking = gaps.inside(queue_arn, told.started_at, told.ended_at)
    return Told(
        incident_row(incident_id, queue_arn, told, blocked_ms, lacking),
        list(counterfactual_rows(incident_id, queue_arn, told.queue, told.repeated)),
    )
