"""Whether anything stops a repeat where a repeat costs money."""

import re

from forensics.checks.answer import NOT_HERE, NOTE, WARNING, Answer, fails, passes
from forensics.checks.setup import Setup
from forensics.sentence import counted, said

_MONEY = re.compile(r"(?i)pay|charg|bill|invoic|refund|payout|transfer|withdraw|deposit|order|checkout")


def guard_missing(setup: Setup) -> Answer:
    """A consumer that charges (by its or its queue's name) has a guard: a line that says a repeat was seen and stopped, or a table.

    >>> guard_missing(Setup("payments", "charge", "lambda", has_guard_line=False,
    ...     delivery_count=9, redelivery_count=3)).severity
    'warning'
    """
    uses = ("stopped_count", "redelivery_count", "delivery_count")
    if setup.is_dead_letter_queue or not (_MONEY.search(setup.queue) or _MONEY.search(setup.consumer or "")):
        return NOT_HERE
    if not setup.delivery_count or setup.has_guard_line is None:
        return NOT_HERE  # nothing was seen of it
    if setup.stopped_count:
        return passes(said("a guard stopped the repeats of {works}", works=counted(setup.stopped_count, "work")), *uses)
    if setup.has_guard_line:
        return passes("the settings name a guard's line or table", *uses)
    advice = (
        "Keep the business key where the work is done, refuse a second one, and log that (guard in the settings file)."
    )
    again = setup.redelivery_count or 0
    if again:
        again_told = counted(again, "redelivered message")
        told = said("no guard against repeats was seen, with {messages}", messages=again_told)
        return fails(WARNING, told, advice, *uses)
    return fails(NOTE, "no guard against repeats was seen", advice, *uses)
