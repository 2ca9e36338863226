"""How did the delivery end? Deleted, visible again, in the dead-letter queue, or still in flight."""

from collections.abc import Sequence
from itertools import pairwise

from forensics.identity import is_fifo_name
from forensics.judging.event_counts import LONGEST_RUN_US
from forensics.judging.evidence import united
from forensics.judging.known import lowest
from forensics.judging.pairs import are_one_receive, held_before
from forensics.judging.surroundings import Surroundings
from forensics.run_ends import FAILED
from forensics.streams.model import Delivery
from forensics.streams.once import MOMENT_US

_LEFT_BEHIND = ("visibility_expired", "dead_lettered")
"""Endings after which the queue still has the message, or had to move it."""
_OF_BOTH = ("deleted", "visibility_expired")
"""Endings of a receive that are told of each run that had it; any other is told once."""
REFUSED = ("expired", "gone")
"""Reasons for which SQS refuses a delete because the receipt handle no longer holds."""


def ends_surely(delivery: Delivery) -> bool:
    """Tell whether it was deleted for sure, whatever comes later and until whenever its log was read.

    The run succeeded, did not give the message back, no delete failed, and the message did not come again. Nothing but
    the run itself and its mapping decides; where nothing else speaks of the message, ``judge_alone`` is all it needs.
    """
    may_be_more = delivery.came_again or delivery.lone_mark_count or delivery.told_again_count or delivery.may_be_two
    may_be_more = may_be_more or delivery.done_more_count or delivery.maybe_more_count
    is_sure = not may_be_more and not may_have_ended_another(delivery)
    return _succeeded(delivery) and delivery.is_seen and is_sure


def may_have_ended_another(last: Delivery) -> bool:
    """Tell whether the late end of a last delivery may be all that is left of a further one: it came more than a moment behind the work.

    A worker so slow goes on for long behind its effect line; then its message is soon seen again.
    """
    ended_at = ended_late_at(last)
    if ended_at is None or last.marker_at is None or is_at_limit(last):
        return False
    return ended_at - last.marker_at > MOMENT_US


def ended_late_at(d: Delivery) -> int | None:
    """Return when a worker's delete failed, if its message was visible again: it may be of another delivery, whose begin is lost.

    One that SQS refused is of a delivery so late. A FIFO queue refuses any delete so late: one that it took is of another.
    """
    if d.consumer_kind != "worker" or d.hidden_until_at is None:
        return None
    ended_at = d.delete_at if d.delete_reason not in (None, *REFUSED) else None
    if d.is_fifo and d.delete_reason is None:
        ended_at = d.worker_finished_at
    return ended_at if ended_at is not None and ended_at >= d.hidden_until_at else None


def _succeeded(d: Delivery) -> bool:
    if d.is_malformed_response and d.reports_batch_item_failures is not False:  # it gives back the whole batch
        return False
    return d.run_status == "success" and not d.may_be_given_back and d.delete_reason is None


def _was_given_back(d: Delivery) -> bool:
    """A run that succeeded gave the message back, by naming it or by a response that names something else."""
    is_given_back = d.is_named_failure or d.is_malformed_response
    return d.run_status == "success" and is_given_back and bool(d.reports_batch_item_failures)


def may_have_been_given_back(d: Delivery) -> bool:
    """Tell whether a run that succeeded said that it failed, or something else, and nothing tells whether its mapping reads that."""
    is_said = d.is_named_failure or d.is_malformed_response
    return d.run_status == "success" and is_said and d.reports_batch_item_failures is None


def was_left_to_delete(d: Delivery) -> bool:
    """Tell whether a run that succeeded gave its message back to nobody, for sure: ``DeliveryPair.was_left_to_delete`` of a last delivery.

    Of a run whose end no line tells nothing is sure, though its work was done.
    """
    if d.run_status == "unknown":
        return False
    if d.consumer_kind != "lambda" or d.reports_batch_item_failures is False or d.was_given_back is False:
        return True
    return d.has_response and not d.is_malformed_response


def is_at_limit(delivery: Delivery) -> bool:
    """It was the last receive that the redrive policy allows, as far as count and policy are known."""
    if delivery.receive_count is None or delivery.max_receive_count is None:
        return False
    return delivery.receive_count >= delivery.max_receive_count


def decide_endings(item: Sequence[Delivery], around: Surroundings) -> None:
    """Fill in how each delivery of an item ended; they stand in order.

    What was received from the dead-letter queue next had been moved there.
    Whether the queue still has the message is unknown where an earlier handling may have deleted it under the last. A
    receive that two runs had ended once.
    """
    for delivery in item:
        decide_ending(delivery, around)
    for before, after in pairwise(item):
        if before.received_from_arn is None and after.received_from_arn is not None:
            before.ended_by, before.received_dead_at = "dead_lettered", after.received_at
            before.evidence_ids = united(before.evidence_ids, after.evidence_ids[:1])
    *earlier, last = item
    if last.ended_by in _LEFT_BEHIND and last.received_dead_at is None and earlier:
        received_from = lowest((last.received_at, _visible_from(earlier[-1], around)))
        if any(_may_delete_under(d, received_from, last.is_in_dead_letter_queue) for d in earlier):
            last.ended_by = "unknown"
    if last.ended_by == "dead_lettered" and not _is_seen_dead(last):
        received_from = lowest((last.received_at, _visible_from(earlier[-1], around))) if earlier else None
        if any(_may_have_succeeded(d, last) or _may_go_on_under(d, received_from) for d in earlier):
            last.ended_by = "unknown"
    for before, after in reversed([*pairwise(item)]):
        if are_one_receive(before, after):
            before.ended_by = after.ended_by if after.ended_by in _OF_BOTH else "unknown"
    for delivery in item:
        if delivery.ended_by == "dead_lettered":
            delivery.hidden_at_least_until = _hidden_at_least_until(delivery, around)


def _visible_from(d: Delivery, around: Surroundings) -> int | None:
    """Return from when on a message may have been visible again: what a poller held until its run began was received before."""
    return None if d.hidden_until_at is None else d.hidden_until_at - held_before(d, around).ms * 1000


def _hidden_at_least_until(d: Delivery, around: Surroundings) -> int | None:
    """Return until when a message was hidden for sure: to the end that a call set, or as long as it may count from the earliest receive."""
    return d.hidden_until_at if d.is_hidden_by_call else _visible_from(d, around)


def _is_seen_dead(last: Delivery) -> bool:
    return last.received_dead_at is not None or last.is_in_dead_letter_queue


def _may_have_succeeded(other: Delivery, last: Delivery) -> bool:
    """Tell whether another run of the last receive may have succeeded, by whose end the poller may have gone."""
    return are_one_receive(other, last) and (_succeeded(other) or other.run_status == "unknown")


def _may_go_on_under(earlier: Delivery, received_from: int | None) -> bool:
    """Tell whether a run that no line tells of may have deleted its message under the last receive, which was not handed out before then.

    A function's success left the message there, and nothing says why: its poller may have invoked the function again for that receive, and
    waited for that run. It does so while the message is hidden. With its old handle a standard queue may delete it.
    """
    is_left = earlier.consumer_kind == "lambda" and _succeeded(earlier) and was_left_to_delete(earlier)
    if not is_left or is_fifo_name(earlier.queue) or received_from is None:
        return False
    hidden_until = earlier.hidden_until_at
    return hidden_until is None or hidden_until + _longest_run_us(earlier) >= received_from


def _may_delete_under(earlier: Delivery, received_from: int | None, has_sign: bool) -> bool:
    """Tell whether a handling may have deleted its message while the last one had it, which was not received before then.

    It outlived its visibility timeout and then succeeded, or nothing tells how and when it ended; then the growth of the
    dead-letter queue (``has_sign``) tells that the message got there. With its old handle a standard queue may delete the
    message or not, and says nothing; a FIFO queue refuses.
    """
    if is_fifo_name(earlier.queue) or received_from is None:
        return False
    is_told = _succeeded(earlier) and earlier.run_ended_at is not None and earlier.is_end_known
    is_named = earlier.is_named_failure and bool(earlier.reports_batch_item_failures)
    is_open = earlier.run_status in ("success", "unknown") and not is_named and earlier.delete_reason is None
    is_open = is_open and not _was_given_back(earlier)
    if not earlier.is_seen or not is_open or (has_sign and not is_told):
        return False
    ended_at = earlier.run_ended_at if is_told else over_at(earlier)
    return ended_at is None or ended_at >= received_from


def over_at(d: Delivery) -> int | None:
    """Return when a handling of which no line tells the end was over at the latest; None where nothing bounds it."""
    if d.consumer_kind != "lambda":
        return d.process_ended_at
    if d.run_started_at is None:
        return None
    return d.run_started_at + _longest_run_us(d)


def _longest_run_us(d: Delivery) -> int:
    return LONGEST_RUN_US if d.function_timeout_s is None else d.function_timeout_s * 1_000_000


def decide_ending(delivery: Delivery, around: Surroundings) -> None:
    """Fill in ``ended_by``, ``delete_status`` and ``is_in_dead_letter_queue``, as far as the evidence tells.

    Needs ``effect`` and ``came_again``.
    """
    delivery.is_in_dead_letter_queue = is_at_limit(delivery) and around.has_dead_letter_sign(
        delivery.dead_letter_queue_arn, delivery.hidden_until_at
    )
    delivery.delete_status = delete_status(delivery.delete_reason)
    delivery.ended_by = _ended_by(delivery, around)


def delete_status(reason: str | None) -> str | None:
    """Return what became of the delete: expired, gone or failed; None where no line says that it went wrong."""
    if reason is None or reason in REFUSED:
        return reason
    return "failed"


def _ended_by(d: Delivery, around: Surroundings) -> str:
    if not d.is_seen:
        return "visibility_expired" if d.came_again else "unknown"
    if d.came_again:
        return "delete_refused" if d.delete_reason in REFUSED else "visibility_expired"
    return ended_if_last(d, around) if d.received_dead_at is None else "dead_lettered"


def ended_if_last(d: Delivery, around: Surroundings, is_back: bool = False) -> str:
    """Say how a logged delivery ended, had the message not come again. Needs ``effect`` and the dead-letter sign.

    A message still hidden when its log group was last read is in flight, not gone. A framework that gives a message up
    deletes it. Where nothing tells how the receive ended, work done in it tells that it was deleted. What a move task
    brought back (``is_back``) was polled for, whether anything else tells of it or not.
    """
    if d.delete_reason in REFUSED:
        return "delete_refused"
    if _succeeded(d) or d.is_given_up or d.deleted_by_call_at is not None:
        return "deleted"
    failed = (d.run_status in FAILED and not d.is_durable) or _was_given_back(d)
    read_until = _read_until(d, around)
    if d.hidden_until_at is not None and read_until is not None:
        if d.hidden_until_at >= read_until:
            return "in_flight"
        was_polled = is_back or around.was_polled(d.polled_arn, d.hidden_until_at, read_until)
        if is_at_limit(d) and _was_moved(d, failed, was_polled):
            return "dead_lettered"
    if d.run_status == "unknown" and d.effect == "yes" and d.delete_reason is None:
        return "deleted"
    return "visibility_expired" if failed else "unknown"


def may_have_moved(d: Delivery, around: Surroundings) -> bool:
    """Tell whether a delivery left its message to be moved by whoever polled next, whether anybody is known to have or not."""
    if d.ended_by == "dead_lettered":
        return True
    is_left = d.ended_by == "visibility_expired" and not d.came_again
    return is_left and ended_if_last(d, around, is_back=True) == "dead_lettered"


def _read_until(d: Delivery, around: Surroundings) -> int | None:
    """Until when the log group was read that shows the delivery. Others, read for longer, say nothing of it."""
    span = around.read_span(d.log_group) if d.log_group is not None else None
    return span[1] if span else None


def _was_moved(d: Delivery, failed: bool, was_polled: bool) -> bool:
    """Tell whether a message that was received for the last time and is visible again went to the dead-letter queue.

    It does when it failed or was given back, but only when somebody polls: that must have been seen once the visibility
    timeout was over, or that queue must have grown. Where nothing tells how the receive ended, only that queue's
    growth counts; so it is where a run of a durable function was cut off, for another may have gone on.
    """
    if failed:
        return was_polled or d.is_in_dead_letter_queue
    is_open = d.run_status == "unknown" or d.run_status in FAILED or may_have_been_given_back(d)
    return is_open and d.effect != "yes" and d.is_in_dead_letter_queue
