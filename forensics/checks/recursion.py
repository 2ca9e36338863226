"""Whether a function feeds itself."""

from forensics.checks.answer import CRITICAL, NOT_HERE, WARNING, Answer, fails, passes, unknown
from forensics.checks.setup import Setup
from forensics.sentence import counted, said


def recursion(setup: Setup) -> Answer:
    """A function does not send to the queue it consumes: each message would make another one.

    >>> recursion(Setup("q", "f", "lambda", self_sent_count=3, delivery_count=9)).severity
    'warning'
    """
    if not setup.is_lambda:
        return NOT_HERE
    uses = ("self_sent_count", "delivery_count", "recursion_dropped_count")
    advice = "Send to another queue, or count the hops in an attribute and stop."
    if setup.recursion_dropped_count:
        dropped = said("Lambda dropped {calls} of a loop", calls=counted(setup.recursion_dropped_count, "invocation"))
        return fails(CRITICAL, dropped, advice, *uses)
    if setup.self_sent_count:
        return fails(
            WARNING,
            said(
                "{messages} of this queue were sent by the function that consumes it",
                messages=counted(setup.self_sent_count, "message"),
            ),
            advice,
            *uses,
        )
    if not setup.delivery_count:
        return unknown("no delivery shows who sent", "SenderId in the printed batch", *uses)
    return passes("no message was sent by the function that consumes it", *uses)
