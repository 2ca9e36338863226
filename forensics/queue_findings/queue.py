"""All that went wrong with one queue and its message groups."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
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


def rows_of_queue(
    works: Iterable[Judged],
    groups: Collection[list[Delivery]],
    log_groups: Collection[str],
    incident_of: Mapping[str, str],
    known: Measured,
) -> list[dict[str, Any]]:
    """Return the rows of ``queue_findings`` about one queue.

    ``works`` are those with a message that was not surely deleted, ``groups`` the deliveries of each FIFO group to look at.
    """
    told = list(works)
    ends = [d for work in told for d in work.ledger if not d.came_again]
    verdicts = {m.item_id: m for work in told for m in work.messages}
    following = {item: at for group in groups for item, at in next_receives(group).items()}
    unfinished = unfinished_messages(ends, verdicts, known.in_force)
    watched = watched_spans(sorted(log_groups), known.read)
    every = [
        *moved_messages(ends, verdicts, known.in_force, known.depths, following),
        *poison_messages(unfinished),
        *outlived_messages(unfinished, known.ages, watched, known.data_until),
        *(one for group in groups for one in (*late_commits(group), *blocked_groups(group, incident_of))),
    ]
    return found(every, incident_of)
