"""Which guard stood between a repeat and its effect."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from forensics.judging.effect import STOPPED
from forensics.judging.guard_tables import words_of_tables
from forensics.judging.known import highest
from forensics.judging.surroundings import Surroundings
from forensics.streams.model import Delivery
from forensics.verdict.guard_tables import TableWord


@dataclass(slots=True)
class Guards:
    """What guards did in one work; the arguments of ``forensics.verdict.guard_sentence``."""

    stopped: dict[str, int] = field(default_factory=dict)
    is_in_place: bool = False
    lock_ended: bool = False
    lock_ended_s: int | None = None
    other_payloads: int = 0
    overlapped: bool = False
    ids_done: int = 0
    record_gap_s: int | None = None
    recorded: list[TableWord] = field(default_factory=list)


def guards_of(work: Iterable[Sequence[Delivery]], around: Surroundings) -> Guards:
    """Return what guards did in a work, given each item's deliveries in order.

    An idempotency line of any message shows a guard for all messages of its function, or of its workers' log group; so does a
    table that the settings name.
    """
    work = list(work)
    guards = Guards(recorded=words_of_tables(work, around.guard_records))
    for item in work:
        guards.ids_done += any(d.effect == "yes" and d.message_id is not None for d in item)
        earlier: Delivery | None = None
        for delivery in item:
            shows_line = around.shows_guard_lines(delivery.log_group, delivery.function_name)
            is_named = delivery.has_guard or delivery.guard_table is not None
            guards.is_in_place = guards.is_in_place or shows_line or is_named
            if delivery.basis == "guard":
                kind = guard_kind(delivery)
                guards.stopped[kind] = guards.stopped.get(kind, 0) + 1
            if delivery.idempotency == "validation":
                guards.other_payloads += 1
            if earlier is not None and has_overlapped(earlier, delivery):
                guards.overlapped = True
            elif shows_line and earlier is not None and has_lock_ended(earlier, delivery):
                guards.lock_ended = True
                guards.lock_ended_s = highest((guards.lock_ended_s, earlier.function_timeout_s))
            elif shows_line and earlier is not None:
                guards.record_gap_s = highest((guards.record_gap_s, record_gap_s(earlier, delivery)))
            earlier = delivery
    return guards


def guard_kind(delivery: Delivery) -> str:
    """Return the kind, of ``forensics.verdict.guards.GUARDS``, of a guard that stopped this delivery."""
    if delivery.is_answered_by_record:
        return "record"
    if delivery.is_refused:
        return "refused"
    return delivery.idempotency if delivery.idempotency in STOPPED else "line"


def has_lock_ended(earlier: Delivery, delivery: Delivery) -> bool:
    """Tell whether the lock of an idempotency guard had ended: the run before was killed at its deadline, and this one ran."""
    return earlier.run_status == "timeout" and earlier.effect != "no" and delivery.effect != "no" and delivery.is_seen


def has_overlapped(earlier: Delivery, delivery: Delivery) -> bool:
    """Tell whether both did the work, and this one was received before the run before it had ended, as far as that is known."""
    if earlier.effect != "yes" or delivery.effect != "yes" or not earlier.is_end_known:
        return False
    if earlier.run_ended_at is None or delivery.received_at is None:
        return False
    return delivery.received_at < earlier.run_ended_at


def record_gap_s(earlier: Delivery, delivery: Delivery) -> int | None:
    """Return after how many seconds the work was done again; None where it was not, or nothing tells when."""
    if earlier.effect_at is None or delivery.effect_at is None:
        return None
    return (delivery.effect_at - earlier.effect_at) // 1_000_000
