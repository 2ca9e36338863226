"""A message that always fails needs somewhere to go."""

from forensics.checks.answer import CRITICAL, NO_QUEUE_SETTINGS, NOT_HERE, WARNING, Answer, fails, passes
from forensics.checks.setup import Setup
from forensics.sentence import counted, said

POISONED_AT = 10
"""Receives of one message from which on nobody can call it bad luck."""


def dead_letter_queue_missing(setup: Setup) -> Answer:
    """The queue has a dead-letter queue, unless it is one itself.

    >>> dead_letter_queue_missing(Setup("q", highest_receive_count=41)).severity
    'critical'
    """
    if setup.is_dead_letter_queue:
        return NOT_HERE
    if not setup.has_queue_settings:
        return NO_QUEUE_SETTINGS
    uses = ("dead_letter_queue", "highest_receive_count")
    if setup.dead_letter_queue:
        return passes(said("messages that keep failing go to {dlq}", dlq=setup.dead_letter_queue), *uses)
    highest = setup.highest_receive_count
    advice = "Give the queue a redrive policy: a dead-letter queue and maxReceiveCount 5 or more."
    if highest is not None and highest >= POISONED_AT:
        return fails(
            CRITICAL,
            said(
                "no dead-letter queue, and one message was received {times}: it is redelivered until its retention ends",
                times=counted(highest, "time"),
            ),
            advice,
            *uses,
        )
    return fails(
        WARNING,
        "no dead-letter queue: a message that always fails is redelivered until its retention ends",
        advice,
        *uses,
    )
