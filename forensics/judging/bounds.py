"""Can deliveries hide? Then no upper bound holds for how often the work was done.

Where every receive count was logged nothing hides, unless a function that may be durable had a receive in runs that no log shows, or the last run outlived its visibility timeout and what others did
was not read, or did not end its message and a consumer's log has a gap where it would have come again. Else a bound holds where the deliveries seen leave no room for another one: before the first, because the consumer named every message of every run then, or has shown all the work of those that it did not name since the message was sent; between two, because it showed all its work, or because
two visibility timeouts do not fit in; and after the last, because its message is still hidden or moved away, or because it did not fail and the consumer still named every
message, or shows all its work whenever it runs; and no delivery's lines may be of two (``may_be_two``, ``may_have_ended_another``): a message may be handed out and not begun again and again, and be worked on before or after that. A success alone ends nothing: its delete may have failed without a word. One that failed ends nothing
either, whatever the consumer names soon after: its message comes when somebody polls again, be that after hours. So it needs a consumer
that names every message of every run it logs.
"""

from collections.abc import Sequence
from itertools import pairwise

from forensics.judging.ending import (
    ended_late_at,
    is_at_limit,
    may_have_been_given_back,
    may_have_ended_another,
    over_at,
    was_left_to_delete,
)
from forensics.judging.known import first_known
from forensics.judging.pairs import are_one_receive, held_before
from forensics.judging.placing import LONGEST_INIT_MS
from forensics.judging.surroundings import Surroundings
from forensics.limits import LONGEST_VISIBILITY_S
from forensics.streams.model import Delivery

_TO_COME_AGAIN = ("visibility_expired", "delete_refused")
"""Ends of a delivery after which its message was there to be received again."""
_SECOND_US = 1_000_000


def why_open(item: Sequence[Delivery], around: Surroundings) -> str | None:
    """Return the code of ``OPEN_WORDS`` for why deliveries of an item can hide; None where none can.

    ``item``: its deliveries in order, with ``ended_by``. An unknown visibility timeout, time or reading hides anything, and so does a message of which only its business key is
    known: lines that name its id may tell of other deliveries.
    """
    first, last = item[0], item[-1]
    if may_have_ended_another(last):
        return "late_delete"
    counts = {d.receive_count for d in item}
    if None not in counts:
        if _hides_runs(item):
            return "unseen_runs"
        if _may_have_gone_on(item, around):
            return "outlived"
        return "unread" if may_have_come_unread(last, around, _may_have_been_kept(item)) else None
    if first.message_id is None:
        return "key_alone"
    is_to_come = last.ended_by in _TO_COME_AGAIN or (last.ended_by == "unknown" and may_have_been_given_back(last))
    if is_to_come and not is_at_limit(last) and not around.hides_no_work(last.polled_arn):
        return "not_ended"
    starts = _starts(item)
    is_open = _hides_before(first, around, starts) or _hides_after(last, around, starts)
    is_open = is_open or any(d.may_be_two for d in item)
    if not is_open and not any(_hides_between(*pair, around, starts) for pair in pairwise(item)):
        return None
    return "partly_counted" if len(counts) > 1 else "uncounted"


def _hides_runs(item: Sequence[Delivery]) -> bool:
    """Tell whether a receive that no log shows may have been in several runs, each of which did the work.

    Of a function that may be durable; or of one that had another receive of the message in two runs: its poller invokes it again.
    """
    if not any(d.unseen_basis == "unseen" for d in item):
        return False
    of_functions = [d for d in item if d.consumer_kind == "lambda"]
    if any(d.is_durable is not False for d in of_functions):
        return True
    return any(are_one_receive(one, other) and not other.may_be_same_receive for one, other in pairwise(of_functions))


def _may_have_been_kept(item: Sequence[Delivery]) -> bool:
    """Tell whether SQS may have kept a message before, although its function's run had succeeded: then a success ends nothing.

    It may have where a delivery before was counted and not seen.
    """
    return any(
        not d.is_seen or (d.consumer_kind == "lambda" and d.run_status == "success" and not d.may_be_given_back)
        for d in item[:-1]
    )


def may_have_come_unread(last: Delivery, around: Surroundings, may_be_kept: bool = False) -> bool:
    """Tell whether a message that its last delivery did not end can have come again while a consumer's log was not read.

    Where it ``may_be_kept`` after a success, only a recorded delete ends it; a success ends none that it may have given back. It is looked for up to the visibility timeout after it could be received again, and
    while a function's run may have been on whose end no line tells: nobody had deleted it by then. One that is known to wait does so
    until somebody polls, whenever that is. And as far as its own log group was read: what is still hidden then is in flight.
    """
    is_over = last.ended_by in ("dead_lettered", "in_flight")
    if last.ended_by == "deleted":
        is_over = last.deleted_by_call_at is not None or (was_left_to_delete(last) and not may_be_kept)
    if is_over or last.received_at is None or last.log_group is None:
        return False
    if is_at_limit(last):
        return False
    hidden_until = first_known(last.hidden_until_at, last.received_at + LONGEST_VISIBILITY_S * 1_000_000)
    until = hidden_until + first_known(last.visibility_timeout_s, LONGEST_VISIBILITY_S) * 1_000_000
    if last.run_ended_at is None:
        until = max(until, first_known(over_at(last), until))
    waits = last.ended_by in _TO_COME_AGAIN
    return around.may_have_been_missed(last.polled_arn, last.received_at, None if waits else until, last.log_group)


def _starts(item: Sequence[Delivery]) -> list[int]:
    """Return when the functions' runs began that are known to have had a message: none of them had it twice."""
    return [d.run_started_at for d in item if d.run_started_at is not None and d.consumer_kind == "lambda"]


def _may_have_gone_on(item: Sequence[Delivery], around: Surroundings) -> bool:
    """Tell whether a function's message of which every receive seen was counted can have been received once more, unseen.

    Its last run was still on when the visibility timeout was over, so somebody whose log was not read may have had it by then,
    and its delete came late.
    """
    last = item[-1]
    if last.consumer_kind != "lambda" or last.received_at is None or last.hidden_until_at is None:
        return False
    if (
        last.run_ended_at is None
        or last.run_ended_at <= last.hidden_until_at
        or last.ended_by in ("dead_lettered", "in_flight")
    ):
        return False
    until = last.hidden_until_at + last.hidden_until_at - last.received_at
    return not around.shows_all_work(last.polled_arn, last.received_at, max(until, last.run_ended_at), _starts(item))


def _hides_before(first: Delivery, around: Surroundings, starts: Sequence[int]) -> bool:
    """Tell whether a delivery can hide before the first one seen, in a run that named none of its messages."""
    twice = _twice(first)
    if twice is None or first.received_at is None:
        return True
    at, queue_arn = first.received_at, first.polled_arn
    is_throttled, _ = around.throttled(queue_arn, at - twice // 2, at)  # then it may have waited for long
    if not is_throttled and around.names_messages(queue_arn, at - twice, at, starts):
        return False
    return not around.shows_all_work(queue_arn, first.sent_at, at, starts)


def _hides_between(earlier: Delivery, later: Delivery, around: Surroundings, starts: Sequence[int]) -> bool:
    """Tell whether a delivery can hide between two, in a run that named none of its messages.

    One takes a visibility timeout, after that of the earlier one, which may have begun long before its run. Workers may show how each handling
    was opened, and a late delete all the same be what is left of one.
    """
    if later.visibility_timeout_s is None or later.received_at is None or earlier.received_at is None:
        return True
    queues = {earlier.polled_arn, later.polled_arn}
    shows_all = all(around.shows_all_work(arn, earlier.received_at, later.received_at, starts) for arn in queues)
    if shows_all and ended_late_at(earlier) is None:
        return False
    held = held_before(earlier, around)
    # an environment that came up in time may have failed to once before
    is_init_open = earlier.received_basis == "run_start" and held.by in (None, "window")
    held_ms = min(held.ms + LONGEST_INIT_MS * is_init_open, later.visibility_timeout_s * 1000)
    is_cut = later.consumer_kind == "worker" and later.received_at % _SECOND_US == 0  # of a clock that tells no more
    gap = later.received_at + (_SECOND_US if is_cut else 0) - earlier.received_at
    return gap > (2_000 * later.visibility_timeout_s - held_ms) * 1000


def _hides_after(last: Delivery, around: Surroundings, starts: Sequence[int]) -> bool:
    """Tell whether a delivery can follow the last one seen."""
    twice = _twice(last)
    if twice is None or last.received_at is None:
        return True
    if last.ended_by in ("dead_lettered", "in_flight"):
        return False
    at, queue_arn = last.received_at, last.polled_arn
    if around.names_messages(queue_arn, at, at + twice, starts):
        return False
    return not (around.hides_no_work(queue_arn) and around.shows_all_work(queue_arn, at, at + twice, starts))


def _twice(d: Delivery) -> int | None:
    """Return two visibility timeouts in microseconds; None where none is known."""
    return None if d.visibility_timeout_s is None else d.visibility_timeout_s * 2_000_000
