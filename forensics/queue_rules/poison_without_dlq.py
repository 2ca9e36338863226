"""A message that fails again and again, on a queue that never sets it aside."""

from forensics.queue_rules.facts import QueueFacts
from forensics.rules.ruling import Ruling, excluded, supported, undecidable
from forensics.sentence import said
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
        return excluded(said("it was received fewer than {n} times as far as anything tells", n=LEAST_RECEIVES))
    if facts.dead_letter_queue is not None:
        return excluded(said("the queue sets such messages aside in {dlq}", dlq=facts.dead_letter_queue))
    over = said(" in {span}", span=span_text(facts.span_ms)) if facts.span_ms else ""
    if not facts.is_unfinished:
        return undecidable(
            said("it was received {n} times{over}, and nothing tells how the last delivery ended", n=count, over=over),
            "the end of the last delivery",
        )
    told = said("it was received {n} times{over} and never deleted", n=count, over=over)
    if not facts.has_settings:
        return undecidable(
            said("{told}; nothing tells whether the queue has a dead-letter queue", told=told),
            "a snapshot of the queue's settings",
        )
    return supported(
        said("{told}; the queue has no dead-letter queue, so it is redelivered until its retention ends", told=told)
    )
