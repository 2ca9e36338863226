"""What rests on an absence, and when it will be final: lines come late, so what nobody said may still be said.

A line that is there stays there. That none names a message, that no run started, or that no further delivery hides in a
gap holds only once the time was read again. Times are microseconds, UTC; None means final, or rests on no absence.
"""

from collections.abc import Iterable, Sequence

from forensics.judging.finality import Finality
from forensics.judging.known import first_known, highest
from forensics.streams.model import Delivery

ABSENT = frozenset({"no_marker", "never_started", "not_reached"})
"""Bases of an effect that say: no line tells of it."""
ABSENT_CAUSES = frozenset({"throttled", "unseen_receive", "delete_ineffective", "broker_copy"})
"""Causes that hold because lines are missing: of a run, of an error, of any other cause."""
_OVER = frozenset({"deleted", "dead_lettered"})


def delivery_final_at(d: Delivery, finality: Finality) -> int | None:
    """Return when the effect of a judged delivery will be final."""
    if d.basis not in ABSENT or d.run_status == "init_failed":
        return None
    return _span_final_at(d, finality)


def redelivery_final_at(cause: str, earlier: Delivery, finality: Finality) -> int | None:
    """Return when the cause of a redelivery will be final; ``earlier`` is the delivery before it."""
    return _span_final_at(earlier, finality) if cause in ABSENT_CAUSES else None


def work_final_at(work: Iterable[Sequence[Delivery]], at_most: int | None, finality: Finality) -> int | None:
    """Return when the interval of a work will be final; ``work`` holds each item's judged deliveries in order.

    An upper bound also rests on no delivery hiding: in gaps, where receive counts are not logged, and after the last one
    seen, where that did not end its message.
    """
    times = []
    for item in work:
        times += [delivery_final_at(d, finality) for d in item]
        if at_most is not None:
            times.append(_bound_final_at(item, finality))
    return highest(times)


def _bound_final_at(item: Sequence[Delivery], finality: Finality) -> int | None:
    first, last = item[0], item[-1]
    if first.received_at is None or last.received_at is None:
        return None
    twice = 2_000_000 * (last.visibility_timeout_s or 0)
    if any(d.receive_count is None for d in item):
        span = (first.received_at - twice, last.received_at + twice)
        mine = {d.log_group for d in item if d.log_group is not None}
        return highest((finality.of_groups(mine, *span), finality.of_queue(last.polled_arn, *span)))
    if last.ended_by in _OVER:
        return None
    return finality.of_queue(last.polled_arn, last.received_at, last.received_at + twice)


def _span_final_at(d: Delivery, finality: Finality) -> int | None:
    if not d.is_seen:
        return finality.of_queue(d.polled_arn, d.after_at, d.before_at)
    start = first_known(d.run_started_at, d.received_at)
    end = first_known(d.run_ended_at, d.last_fact_at, start)
    return finality.of_groups([d.log_group] if d.log_group is not None else [], start, end)
