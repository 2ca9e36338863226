"""All that went wrong with one queue and its message groups."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forensics.judging.model import Judged
from forensics.queue_findings.blocked_groups import blocked_groups
from forensics.queue_findings.commit_order import late_commits
from forensics.queue_findings.dead_letters import moved_messages
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


def rows_of_groups(groups: Iterable[list[Delivery]], incident_of: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the rows of ``queue_findings`` about message groups; ``groups``: the deliveries of each that is looked at."""
    every = (one for group in groups for one in (*late_commits(group), *blocked_groups(group, incident_of)))
    return found(every, incident_of)


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
    ends = [d for d in ledger if not d.came_again]
    verdicts = {m.item_id: m for work in told for m in work.messages}
    unfinished = unfinished_messages(ends, verdicts, known.in_force)
    watched = watched_spans(sorted(log_groups), known.read)
    every = [
        *moved_messages(ledger, verdicts, known.in_force, known.depths, following),
        *poison_messages(unfinished),
        *outlived_messages(unfinished, known.ages, watched, known.data_until),
    ]
    return found(every, incident_of)
