"""One incident in whole: its row, the lanes of its timeline, and what would have been under other settings."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from forensics.incidents.gaps import Gaps
from forensics.incidents.incident import Row, incident_row
from forensics.incidents.repeats import counterfactual_rows, repeats
from forensics.incidents.timeline import lanes_of
from forensics.judging.model import Judged, Message


class Told(NamedTuple):
    """What is told of one incident, in the columns of INCIDENTS and COUNTERFACTUALS; ``lanes`` of its messages, by item id."""

    row: Row
    lanes: Mapping[str, int]
    counterfactuals: list[Row]


def told_of(
    incident_id: str,
    queue_arn: str,
    members: Mapping[str, bool],
    works: Iterable[Judged],
    gaps: Gaps,
    blocked_ms: int | None,
) -> Told:
    """Tell of an incident; ``members`` says of its items whether they may have been done twice, ``works`` are all of theirs."""
    judged = Judged()
    for work in works:
        judged.ledger += work.ledger
        judged.redeliveries += work.redeliveries
        judged.messages += [m for m in work.messages if m.item_id in members]
    affected = {item for item, is_affected in members.items() if is_affected}
    lacking = gaps.inside(queue_arn, *_span(m for m in judged.messages if m.item_id in affected))
    repeated = repeats(judged.messages, judged.redeliveries, judged.ledger, affected)
    row = incident_row(
        incident_id, judged.messages, judged.redeliveries, judged.ledger, affected, blocked_ms, lacking, repeated
    )
    return Told(
        row,
        lanes_of(judged.messages, judged.ledger),
        list(counterfactual_rows(incident_id, queue_arn, row["queue"], repeated)),
    )


def _span(messages: Iterable[Message]) -> tuple[int | None, int | None]:
    told = list(messages)
    starts = [m.first_received_at for m in told if m.first_received_at is not None]
    ends = [m.last_active_at for m in told if m.last_active_at is not None]
    return min(starts, default=None), max(ends, default=None)
