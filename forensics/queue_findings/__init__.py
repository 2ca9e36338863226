"""What went wrong with a queue or a FIFO message group: candidates gathered from deliveries, each put to its rule. Pure.

Every function is about one queue, so an item id names a message, or about one FIFO group of it. Times are whole
microseconds since 1970, UTC. What comes out does not depend on the order of what goes in.
"""

from forensics.queue_findings.blocked_groups import blocked_groups
from forensics.queue_findings.candidate import Candidate
from forensics.queue_findings.commit_order import late_commits
from forensics.queue_findings.dead_letters import moved_messages, next_receives
from forensics.queue_findings.holding import HOLDING, is_holding
from forensics.queue_findings.metric_series import MetricSeries
from forensics.queue_findings.rows import found
from forensics.queue_findings.unfinished import (
    outlived_messages,
    poison_messages,
    unfinished_messages,
    watched_spans,
)

__all__ = [
    "HOLDING",
    "Candidate",
    "MetricSeries",
    "blocked_groups",
    "found",
    "is_holding",
    "late_commits",
    "moved_messages",
    "next_receives",
    "outlived_messages",
    "poison_messages",
    "unfinished_messages",
    "watched_spans",
]
