"""How far a batch got whose run failed: which messages it was at, and which it had not reached."""

from collections.abc import Sequence

from forensics.run_ends import CUT_OFF
from forensics.streams.model import Delivery


def mark_progress(batch: Sequence[Delivery]) -> None:
    """Mark ``is_in_progress`` and ``is_not_reached`` on all deliveries of one invocation or handling.

    Only a batch whose run failed is told apart: alone in its batch, an unfinished message is what the run was at; of
    several, where start lines or exhaustive effect lines tell. Both hold of a batch that is taken one after the other:
    whether it is can be known only later (``Delivery.order``).
    """
    if not batch or batch[0].run_status not in CUT_OFF:
        return
    reached = _reached(batch)
    at_most = None if reached is None else _reached_at_most(batch, reached)
    last_started_at = _highest([d.started_at for d in batch])
    for delivery in batch:
        place, is_finished = delivery.batch_position, _is_done_with(delivery)
        if is_finished:
            is_there = False
        elif place is None:
            is_there = last_started_at is not None and delivery.started_at == last_started_at
        else:
            is_there = place == reached
        delivery.is_in_progress = is_there or (delivery.batch_count == 1 and not is_finished)
        is_later = at_most is not None and place is not None and place > at_most
        delivery.is_not_reached = is_later and not _is_touched(delivery)


def _reached(batch: Sequence[Delivery]) -> int | None:
    """Return the place in the batch of the message that a sequential run was at when it ended; None where nothing tells.

    Where the last touched message had finished, the one after it counts as in progress: the line of its start may be
    lost.
    """
    run = batch[0]
    if run.has_stray_mark or (run.has_stray_guard and not run.has_started):
        return None
    last_touched = _highest([d.batch_position for d in batch if _is_touched(d)])
    last_finished = _highest([d.batch_position for d in batch if _is_done_with(d)])
    if run.has_started and last_touched is not None:
        return last_touched + 1 if last_finished == last_touched else last_touched
    return (last_finished or 0) + 1 if run.is_exhaustive else None


def _reached_at_most(batch: Sequence[Delivery], reached: int) -> int | None:
    """Return the last place in the batch that a sequential run may have been at when it ended; None: any.

    A silent guard answers a repeat without a mark: where nothing but marks tells, the run may have gone on from such a message.
    An error that names a message shows that the run was there, or beyond, though the line of its start is lost. Each error that it
    caught may be of a message that it left without a mark, and went on.
    """
    run = batch[0]
    caught = 0 if run.has_started else run.caught_error_count
    if run.has_started or run.has_guard or run.is_idempotent is False:
        at_most: int | None = reached + caught
    else:
        left = {d.batch_position: d.receive_count for d in batch}
        unguarded = sorted(
            place for place, count in left.items() if place is not None and place >= reached and count == 1
        )
        at_most = unguarded[caught] if len(unguarded) > caught else None
    if at_most is None:
        return None
    named = _highest([d.batch_position for d in batch if d.is_named_in_error])
    return at_most if named is None else max(at_most, named + (caught > 0))


def _is_done_with(delivery: Delivery) -> bool:
    """Its mark was printed, or the line of a guard that stopped it: the run was at it, and went on unless it failed there."""
    return delivery.marker_at is not None or delivery.guard_at is not None


def _is_touched(delivery: Delivery) -> bool:
    return _is_done_with(delivery) or delivery.started_at is not None


def _highest(values: list[int | None]) -> int | None:
    return max((v for v in values if v is not None), default=None)
