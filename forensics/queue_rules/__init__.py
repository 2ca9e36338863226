"""What went wrong with a queue or a message group? One rule per finding, asked about what was gathered for it."""

from collections.abc import Callable

from forensics.queue_rules.dead_lettered import dead_lettered
from forensics.queue_rules.facts import QueueFacts
from forensics.queue_rules.fifo_group_blocked import fifo_group_blocked
from forensics.queue_rules.out_of_order_commit import out_of_order_commit
from forensics.queue_rules.poison_without_dlq import poison_without_dlq
from forensics.queue_rules.retention_expired import retention_expired
from forensics.rules.ruling import EXCLUDED, SUPPORTED, UNDECIDABLE, Ruling

QUEUE_RULES: dict[str, Callable[[QueueFacts], Ruling]] = {
    "fifo_group_blocked": fifo_group_blocked,
    "dead_lettered": dead_lettered,
    "retention_expired": retention_expired,
    "poison_without_dlq": poison_without_dlq,
    "out_of_order_commit": out_of_order_commit,
}
"""Code of a finding to its rule."""

__all__ = ["EXCLUDED", "QUEUE_RULES", "SUPPORTED", "UNDECIDABLE", "QueueFacts", "Ruling"]
