"""Messages that a consumer names in passing, such as one that it sends: that is no delivery, where anything tells so."""

from collections.abc import Sequence

from forensics.judging.known import lowest
from forensics.streams.model import Delivery

_SENDING_US = 5_000_000
"""So long after a message was received somebody may still name it who sent it."""


def without_passing(item: Sequence[Delivery]) -> list[Delivery]:
    """Return an item's deliveries without those that only name the message, before it can have been received again.

    When it was received first is told by SQS, or by the delivery of that receive; a second one follows about one visibility
    timeout later. A run that is seen to have begun after the first receive did not send the message: it may have had it by that
    receive, as where its poller invoked the function again, and the line that would say so be lost. Such a delivery
    ``may_be_same_receive``; it is changed in place.
    """
    if True not in [d.is_passing for d in item]:
        return list(item)
    taken = [d for d in item if not d.is_passing]
    first_at = lowest([None if d.first_receive_ms is None else d.first_receive_ms * 1000 for d in taken])
    until = first_at
    if of_first := [d for d in taken if d.receive_count == 1 and d.received_at is not None]:
        first_at = lowest([first_at, *(d.received_at for d in of_first)])
        hidden_s = lowest([d.visibility_timeout_s for d in of_first])
        until = first_at + min(_SENDING_US, _SENDING_US if hidden_s is None else hidden_s * 900_000)
    if until is None:
        return list(item)
    assert first_at is not None
    left = []
    for d in item:
        if not d.is_passing or d.last_fact_at is None or d.last_fact_at > until:
            left.append(d)
        elif _began_after(d, first_at):
            d.may_be_same_receive = True
            left.append(d)
    return left


def _began_after(delivery: Delivery, at: int) -> bool:
    """Tell whether a run of a function began after a moment, and a line before the one that names the message shows it: its own, or that of a run before it."""
    if delivery.run_behind_at is not None and delivery.run_behind_at >= at:
        return True
    began_at, named_at = delivery.run_started_at, delivery.first_fact_at
    if delivery.consumer_kind != "lambda" or began_at is None or named_at is None:
        return False
    return at < began_at < named_at
