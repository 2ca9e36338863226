"""Whether a worker asks for messages that are not there."""

from forensics.checks.answer import NO_QUEUE_SETTINGS, NOT_HERE, NOTE, Answer, fails, passes, unknown
from forensics.checks.setup import Setup
from forensics.sentence import said

MOST_EMPTY_SHARE = 0.5


def short_polling(setup: Setup) -> Answer:
    """A worker's queue waits for messages (long polling): short polling asks a few servers, misses messages and bills each try.

    >>> short_polling(Setup("q", "w", "worker", receive_wait_s=0, empty_receive_count=900, received_count=100)).severity
    'note'
    """
    if not setup.has_queue_settings:
        return NO_QUEUE_SETTINGS
    if setup.is_lambda:
        return passes("Lambda's pollers wait for messages whatever the queue says", "receive_wait_s")
    if setup.receive_wait_s is None:
        return NOT_HERE
    uses = ("receive_wait_s", "empty_receive_count", "received_count")
    if setup.receive_wait_s:
        return passes(said("receives wait up to {n} s", n=setup.receive_wait_s), *uses)
    empty, brought = setup.empty_receive_count, setup.received_count
    if empty is None:
        return unknown(
            "receives do not wait by the queue's setting; a worker can ask for it at each receive",
            "NumberOfEmptyReceives of the queue",
            *uses,
        )
    told = said(
        "receives do not wait by the queue's setting, {low} brought nothing, and {high} messages were received",
        low=empty,
        high=brought or 0,
    )
    if empty > MOST_EMPTY_SHARE * (empty + (brought or 0)):
        return fails(NOTE, told, "Set ReceiveMessageWaitTimeSeconds to 20.", *uses)
    return passes(told, *uses)
