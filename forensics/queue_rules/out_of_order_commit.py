"""A later message of the group was finished before an earlier one: the older state was written last."""

from forensics.queue_rules.facts import QueueFacts
from forensics.rules.pair import seconds
from forensics.rules.ruling import Ruling, excluded, supported, undecidable
from forensics.sentence import said


def out_of_order_commit(facts: QueueFacts) -> Ruling:
    """The work of the earlier message was done, for the last time, after that of a message sent later.

    >>> out_of_order_commit(QueueFacts(late_ms=15_200)).stance
    'supported'
    """
    if facts.late_ms is None or facts.late_ms <= 0:
        return excluded("it was finished before every later message of its group")
    told = said(
        "its work was done {span} after that of a message of its group that was sent later", span=seconds(facts.late_ms)
    )
    if not facts.is_later_settled:
        return undecidable(
            said("{told}; the later one may have been worked on once more since", told=told),
            "the later message's effect line",
        )
    return supported(said("{told}: whatever both write, the older state was written last", told=told))
