"""All that went wrong with one queue and its message groups."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from forensics.judging.model import Judged
from forensics.queue_findings.blocked_groups import blocked_groups
from forensics.queue_findings.commit_order import late_commits
from forensics.queue_findings.dead_letters import moved_messages, next_receives
from forensics.queue_findings.metric_series import MetricSeries
from forensics.queue_findings.rows import found
from forensics.queue_findings.unfinished import (
    outlived_messages,
    poison_messages,
    unfinished_messages,
    watched_spans,
)
from forensics.settings_in_force import SettingsInForce
from forensics.streams.model import Delivery


@dataclass(frozen=True)
class Measured:
    """What is known of every queue beside its deliveries: settings, metrics, when which log groups were read (µs)."""

    in_force: SettingsInForce
    depths: MetricSeries
    ages: MetricSeries
    read: Mapping[str, Sequence[tuple[int, int]]]
    data_until: int | None


def told_of_groups(
    groups: Iterable[list[Delivery]], incident_of: Mapping[str, Mapping[str, str]]
) -> tuple[list[dict[str, Any]], list[tuple[str, str, int]]]:
    """Return the rows of ``queue_findings`` about message groups, and what ``next_receives`` tells, each with its queue.

    ``groups``: the deliveries of each that is looked at, those of a queue together; ``incident_of``: incidents by queue and item.
    """
    rows: list[dict[str, Any]] = []
    following: list[tuple[str, str, int]] = []
    for arn, mine in groupby(groups, lambda group: group[0].queue_arn):
        of_queue, incidents = list(mine), incident_of.get(arn, {})
        every = (one for group in of_queue for one in (*late_commits(group), *blocked_groups(group, incidents)))
        rows += found(every, incidents)
        following += [(arn, *told) for group in of_queue for told in next_receives(group).items()]
    return rows, following


def rows_of_queue(
    works: Iterable[Judged],
    following: Mapping[str, int],
    log_groups: Collection[str],
    incident_of: Mapping[str, str],
    known: Measured,
) -> list[dict[str, Any]]:
    """Return the rows of ``queue_findings`` about one queue, but for its message groups.

    ``works`` are those with a message that was not surely deleted, ``following`` what ``next_receives`` tells of its groups.
    """
    told = list(works)
    ledger = [d for work in told for d in work.ledger if not d.is_beside_messages]
    ends = list({d.item_id: d for d in ledger if not d.came_again}.values())  # of runs that may be one, the last
    verdicts = {m.item_id: m for work in told for m in work.messages}
    unfinished = unfinished_messages(ends, verdicts, known.in_force)
    watched = watched_spans(sorted(log_groups), known.read)
    every = [
        *moved_messages(ledger, verdicts, known.in_force, known.depths, following),
        *poison_messages(unfinished),
        *outlived_messages(unfinished, known.ages, watched, known.data_until),
    ]
    return found(every, incident_of)
