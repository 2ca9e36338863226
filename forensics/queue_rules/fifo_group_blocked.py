"""A failed delivery blocked its FIFO message group."""

from forensics.queue_rules.facts import QueueFacts
from forensics.rules.pair import seconds
from forensics.rules.ruling import Ruling, excluded, supported
from forensics.sentence import said

LEAST_MS = 1000
"""A shorter stop is what any redelivery on a FIFO queue costs."""


def fifo_group_blocked(facts: QueueFacts) -> Ruling:
    """The group was blocked from the end of the first failed run until a run took something that it finished.

    >>> fifo_group_blocked(QueueFacts(span_ms=6_100, waiting_count=4)).sentence
    'the group was blocked for 6.1 s behind a failed delivery; 4 messages waited behind it'
    """
    if facts.waiting_count == 0:
        return excluded("no other message of the group is known to have waited")
    if facts.span_ms is not None and facts.span_ms < LEAST_MS:
        return excluded(said("the group went on after {span}", span=seconds(facts.span_ms)))
    if facts.waiting_count is None:
        behind = "send times are not logged, so nothing tells how many messages waited"
    else:
        one, many = "{count} message waited behind it", "{count} messages waited behind it"
        behind = said(one if facts.waiting_count == 1 else many, count=facts.waiting_count)
    if facts.is_going_on:
        return supported(
            said("a failed delivery still holds the group where the evidence ends; {behind}", behind=behind)
        )
    return supported(
        said(
            "the group was blocked for {span} behind a failed delivery; {behind}",
            span=seconds(facts.span_ms),
            behind=behind,
        )
    )
