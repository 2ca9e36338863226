"""The message was moved to the dead-letter queue: by the receive after the last one that the queue allows."""

from forensics.queue_rules.facts import QueueFacts
from forensics.rules.ruling import Ruling, excluded, supported, undecidable
from forensics.sentence import said


def dead_lettered(facts: QueueFacts) -> Ruling:
    """Its last allowed receive failed; SQS moves it at the next receive, not at the failure.

    >>> dead_lettered(QueueFacts(receive_count=2, max_receive_count=2, has_settings=True,
    ...     dead_letter_queue="jobs-dlq", is_in_dead_letter_queue=True)).stance
    'supported'
    """
    count, most = facts.receive_count, facts.max_receive_count
    if count is None or most is None or facts.dead_letter_queue is None:
        return undecidable(
            "nothing tells whether the queue has a dead-letter queue", "a snapshot of the queue's settings"
        )
    if count < most:
        return excluded(said("it was received {times}, and the queue allows {most}", times=_times(count), most=most))
    moved = said(
        "it was received {times}, as often as the queue allows, and not deleted; receive number {n} moves it to {dlq}",
        times=_times(count),
        n=most + 1,
        dlq=facts.dead_letter_queue,
    )
    if facts.is_in_dead_letter_queue:
        return supported(said("{moved}, which showed a message at that time", moved=moved))
    return undecidable(
        said("{moved}; no metric shows that it arrived there", moved=moved),
        "ApproximateNumberOfMessagesVisible of the dead-letter queue at that time",
    )


def _times(count: int) -> str:
    return "once" if count == 1 else said("{count} times", count=count)
