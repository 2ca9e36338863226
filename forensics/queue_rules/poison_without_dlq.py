"""A message that fails again and again, on a queue that never sets it aside."""

from forensics.queue_rules.facts import QueueFacts
from forensics.rules.ruling import Ruling, excluded, supported, undecidable
from forensics.words import span_text

LEAST_RECEIVES = 3
"""Two receives are one redelivery; from the third on it is a habit."""


def poison_without_dlq(facts: QueueFacts) -> Ruling:
    """It was received three times or more without being deleted, and the queue has no dead-letter queue.

    >>> poison_without_dlq(QueueFacts(receive_count=9, has_settings=True, span_ms=480_000)).stance
    'supported'
    """
    count = facts.receive_count
    if count is None or count < LEAST_RECEIVES:
        return excluded(f"it was received fewer than {LEAST_RECEIVES} times as far as anything tells")
    if facts.dead_letter_queue is not None:
        return excluded(f"the queue sets such messages aside in {facts.dead_letter_queue}")
    over = f" in {span_text(facts.span_ms)}" if facts.span_ms else ""
    if not facts.is_unfinished:
        return undecidable(
            f"it was received {count:,} times{over}, and nothing tells how the last delivery ended",
            "the end of the last delivery",
        )
    told = f"it was received {count:,} times{over} and never deleted"
    if not facts.has_settings:
        return undecidable(
            f"{told}; nothing tells whether the queue has a dead-letter queue", "a snapshot of the queue's settings"
        )
    return supported(f"{told}; the queue has no dead-letter queue, so it comes back until its retention ends")
