"""Was the work done in this delivery? The effect table of the product, row by row, in its order of precedence."""

from collections.abc import Callable, Iterable

from forensics.judging.ending import is_at_limit
from forensics.judging.known import first_known, unknown_first
from forensics.run_ends import FAILED
from forensics.streams.model import Delivery

STOPPED = ("already_done", "in_progress")
"""Kinds of an idempotency line that say the repeat did not run."""


def _unlogged_and_never_started(d: Delivery) -> bool:
    """Received without an invocation, where the logs would have shown one."""
    return d.unseen_basis == "never_started"


def _unlogged(d: Delivery) -> bool:
    """The receive count says that a delivery happened, and no log shows it."""
    return d.unseen_basis == "unseen"


def _may_be_same_receive(d: Delivery) -> bool:
    """Its receive count or a line is an earlier delivery's, or it was begun within a second of one or told like it: another stream may tell of that receive once more, or a run go on with it."""
    # a replay prints what it does besides; that Lambda tried to delete the message says that one of the runs ended it
    shows_nothing = _guarded(d) or (d.is_durable and d.is_exhaustive and not _finished(d))
    return d.may_be_same_receive and (_marked(d) or not shows_nothing)


def _marked(d: Delivery) -> bool:
    """A line that matches the effect marker names this message or its business key, in this delivery."""
    return d.marker_at is not None


def _guarded(d: Delivery) -> bool:
    """A line shows that the repeat was stopped: a guard line, an idempotency line, or a framework that refused to run it."""
    return d.guard_at is not None or d.idempotency in STOPPED


def _init_failed(d: Delivery) -> bool:
    """The environment never came up: its init failed."""
    return d.run_status == "init_failed"


def _finished(d: Delivery) -> bool:
    """The framework's own line says that this item completed, or it was begun here and its delete was then attempted.

    Who gives a message up deletes it, too, as one does whose work had failed: that tells nothing of the work. A framework that tells how its jobs end may have
    done so where only a recorded call shows the delete: its word is not in the log, or names nothing. Nor does either tell of work
    that a line seems to say was not done again, in words that no settings name.
    """
    if _may_be_skipped(d):
        return False
    if d.worker_finished_at is not None:
        return not d.has_failed_first
    if _delete_at(d) is None or d.is_given_up or d.has_failed_first or (d.is_job and d.delete_at is None):
        return False
    return d.started_at is not None or d.consumer_kind == "worker"


def _may_be_skipped(d: Delivery) -> bool:
    """A line reads as if the repeat was stopped, and nobody says that the work is done each time."""
    return d.may_be_skipped and d.is_idempotent is not False


def _not_reached(d: Delivery) -> bool:
    """The run was cut off, items are taken one after the other, and an earlier item was still in progress.

    A run of a durable function may go on behind items that runs before it had done, of which it prints nothing.
    """
    goes_on = d.is_one_of_several and d.is_durable is not False
    return d.is_not_reached and d.order == "sequential" and not goes_on


def _without_its_marker(d: Delivery) -> bool:
    """Markers are exhaustive, the run ended in success, and no marker can be this message's, nor come later, nor be lost to an error.

    What a handler takes one after the other it has ended when it returns: in a sequential batch, and alone in a printed one
    of which nobody says that it leaves work behind (parallel).
    """
    if (
        d.run_status != "success"
        or not (d.has_effect and d.is_exhaustive)
        or d.has_stray_mark
        or d.has_unanswered_error
    ):
        return False
    return d.order == "sequential" or (d.order is None and d.is_batch_printed and d.batch_count == 1)


def _returned(d: Delivery) -> bool:
    """The invocation ended in success, no marker is configured, and it cannot have been among its batchItemFailures.

    Nor does any line read as if this was a repeat that was stopped: the first delivery of an id may be that of a second id of the work.
    """
    if d.run_status != "success" or d.consumer_kind != "lambda" or d.has_stray_guard or d.has_effect:
        return False
    if _item_failed(d) or not _was_over(d) or _may_be_skipped(d):
        return False
    return d.reports_batch_item_failures is False or d.has_response or d.was_given_back is False


def _was_over(d: Delivery) -> bool:
    """A run that ended in success ended its invocation so: a durable function's run may have waited, or its execution have failed.

    Where nothing tells whether the function is durable, it did if the mapping counted no failure, or the message was in this run alone
    although a further receive was allowed. Of several, the last may have waited for one of which no line is there, as none is of
    a receive before the first.
    """
    if d.is_durable is not None:
        return not d.is_durable
    was_received_before = d.receive_count is not None and d.receive_count > 1
    may_come_again = d.is_one_of_several or was_received_before or d.came_again or is_at_limit(d)
    return d.was_given_back is False or not may_come_again


def _item_failed(d: Delivery) -> bool:
    """The invocation ended in success, and its own lines say that this item failed: in batchItemFailures, heard by Lambda or not, or as an error.

    A response that names something else may mean any message of its batch, and what is logged as an error may have gone well in the end.
    """
    is_said = d.is_named_failure or d.is_malformed_response or d.has_error
    return d.run_status == "success" and d.consumer_kind == "lambda" and is_said


def _in_progress(d: Delivery) -> bool:
    """The run was at this item when it was cut off."""
    return d.is_in_progress and (d.batch_count == 1 or d.order == "sequential")


def _parallel(d: Delivery) -> bool:
    """The run failed or was cut off and items are not sequential for all we know: siblings may go on, even in the next run."""
    return d.run_status in FAILED and d.order != "sequential"


def _may_have_been_given_back(d: Delivery) -> bool:
    """Success under partial responses whose response was not logged, and the message came again."""
    if d.was_given_back is False:
        return False
    return d.came_again and d.run_status == "success" and bool(d.reports_batch_item_failures) and not d.has_response


def _otherwise(d: Delivery) -> bool:
    """Nothing tells how far it got."""
    return True


EFFECTS: tuple[tuple[str, str, Callable[[Delivery], bool]], ...] = (
    ("no", "never_started", _unlogged_and_never_started),
    ("unknown", "unseen", _unlogged),
    ("unknown", "same_receive", _may_be_same_receive),
    ("yes", "marker", _marked),
    ("no", "guard", _guarded),
    ("no", "never_started", _init_failed),
    ("yes", "finished", _finished),
    ("no", "not_reached", _not_reached),
    ("no", "no_marker", _without_its_marker),
    ("yes", "returned", _returned),
    ("unknown", "item_failed", _item_failed),
    ("unknown", "in_progress", _in_progress),
    ("unknown", "parallel", _parallel),
    ("unknown", "partial_response", _may_have_been_given_back),
    ("unknown", "no_item_lines", _otherwise),
)
"""Effect, basis, and when: the first row that holds decides."""


def shows_nothing_done(d: Delivery) -> bool:
    """Tell whether lines show that the work was not done in a delivery."""
    return _row(d)[0] == "no"


def _row(d: Delivery) -> tuple[str, str]:
    """Return effect and basis of the first row that holds."""
    return next((effect, basis) for effect, basis, holds in EFFECTS if holds(d))


def decide_effect(delivery: Delivery) -> None:
    """Fill in ``effect``, ``basis``, ``effect_at`` and ``finished_at`` as far as one delivery tells.

    ``returned`` is given to every delivery it fits: that it counts once per work is for ``count_returned_once``.
    """
    delivery.effect, delivery.basis = _row(delivery)
    delivery.finished_at = delivery.worker_finished_at if delivery.marker_at is None else delivery.marker_at
    delivery.effect_at = _effect_at(delivery)


def _delete_at(d: Delivery) -> int | None:
    """Return when the consumer itself deleted the message, or tried to; a function's are deleted by Lambda, whatever it did."""
    return first_known(d.delete_at, d.deleted_by_call_at if d.consumer_kind == "worker" else None)


def _effect_at(d: Delivery) -> int | None:
    """Return the time of the line that shows the effect."""
    if d.basis == "marker":
        return d.marker_at
    if d.basis == "finished":
        return first_known(d.worker_finished_at, _delete_at(d))
    return d.run_ended_at if d.basis == "returned" else None


def count_returned_once(work: Iterable[Delivery]) -> None:
    """Let ``returned`` count once per work: after any earlier yes of the same work a guard may have answered silently.

    Settings that say ``idempotent = false`` lift this. A run that names a message in passing may never have had it: one
    counts where nothing but passing mentions is known. ``work``: every delivery of every message of one work.
    """
    deliveries = list(work)
    if "returned" not in [delivery.basis for delivery in deliveries]:
        return
    in_order = sorted(deliveries, key=_by_receive)
    is_done = False
    for delivery in in_order:
        if delivery.effect != "yes" or delivery.is_passing:
            continue
        if is_done and delivery.basis == "returned" and delivery.is_idempotent is not False:
            delivery.effect, delivery.effect_at = "unknown", None
        is_done = True
    named = [d for d in in_order if d.is_passing]
    is_taken = len(named) < len(in_order)
    for delivery in named if is_taken else named[1:]:
        if delivery.effect == "yes":
            delivery.effect, delivery.effect_at = "unknown", None


def _by_receive(d: Delivery) -> tuple[object, ...]:
    return unknown_first(d.received_at), d.item_id, d.delivery_index
