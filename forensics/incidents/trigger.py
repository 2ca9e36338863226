"""What triggered an incident's redeliveries, and the values that tell it: its first redelivery of that kind, and the run before."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from forensics.incidents.told import AnyDelivery
from forensics.judging.model import Redelivery
from forensics.run_ends import CAUSES
from forensics.verdict.why import ENDS, Why


class Batch(NamedTuple):
    """What became of one run's messages: how many there are, how many were done in it, redelivered, and done in both."""

    messages: int = 0
    done: int = 0
    redelivered: int = 0
    done_again: int = 0


class Earlier(NamedTuple):
    """The delivery before a redelivery; ``alone`` is what became of this message, ``consumer`` its run.

    ``is_part``: more messages may have been in the batch than lines name.
    """

    consumer: str | None
    name: str
    batch_count: int
    is_part: bool
    ran_ms: float | None
    alone: Batch


class First(NamedTuple):
    """A redelivery that a trigger led to: the first, of those at hand, that is the lowest of them."""

    has_no_time: bool
    received_at: int
    item_id: str
    delivery_index: int
    gap_ms: int | None
    overlap_ms: int | None
    function_timeout_s: int | None
    visibility_timeout_s: int | None
    earlier: Earlier | None


@dataclass(slots=True)
class Triggers:
    """What some works tell of an incident's triggers: how often each was, its first redelivery, and the runs it ended.

    ``runs`` are all that ended so with an affected message, be it given out again or not; ``batches`` are of every run, by
    its consumer: which of them is asked for, all works together tell.
    """

    counts: dict[str, int] = field(default_factory=dict)
    first: dict[str, First] = field(default_factory=dict)
    runs: dict[str, set[str]] = field(default_factory=dict)
    batches: dict[str, Batch] = field(default_factory=dict)


def trigger_of(came_by: str, earlier_status: str | None) -> str:
    """Return what began a redelivery: for a message that had finished, what cut its batch off.

    >>> trigger_of("batch_collateral", "timeout"), trigger_of("throttled", None)
    ('function_timeout', 'throttled')
    """
    return CAUSES.get(earlier_status or "", came_by) if came_by == "batch_collateral" else came_by


def triggers_of(
    redeliveries: Iterable[Redelivery], ledger: Collection[AnyDelivery], affected: Collection[str]
) -> Triggers:
    """Count what triggered the redeliveries of affected messages; ``ledger`` holds whole works, so that the rest of a batch counts."""
    by_place: dict[tuple[str, int], AnyDelivery] = {}
    by_run: dict[str, list[AnyDelivery]] = defaultdict(list)
    for delivery in ledger:
        by_place[delivery.item_id, delivery.delivery_index] = delivery
        if delivery.consumer is not None:
            by_run[delivery.consumer].append(delivery)
    found = Triggers()
    for delivery in ledger:
        if delivery.item_id in affected and (ended := CAUSES.get(delivery.run_status or "")):
            found.runs.setdefault(ended, set()).add(delivery.consumer or delivery.item_id)
    for r in redeliveries:
        if r.item_id not in affected:
            continue
        trigger = trigger_of(r.came_by, r.earlier_status)
        found.counts[trigger] = found.counts.get(trigger, 0) + 1
        earlier = by_place.get((r.item_id, r.delivery_index - 1))
        runs = found.runs.setdefault(trigger, set())
        if earlier is not None:
            runs.add(earlier.consumer or earlier.item_id)
        place = (r.later_received_at is None, r.later_received_at or 0, r.item_id, r.delivery_index)
        if trigger not in found.first or place < _place(found.first[trigger]):
            told = None if earlier is None else _earlier(earlier, by_place)
            asked = (r.gap_ms, r.overlap_ms, r.earlier_function_timeout_s, r.visibility_timeout_s)
            found.first[trigger] = First(*place, *asked, told)
    found.batches = {run: _batch(batch, by_place) for run, batch in by_run.items()}
    return found


def all_triggers(every: Sequence[Triggers]) -> Triggers:
    """Add up what different works tell; of batches only those before a first redelivery are left, for no others are asked."""
    found = Triggers()
    for told in every:
        for trigger, count in told.counts.items():
            found.counts[trigger] = found.counts.get(trigger, 0) + count
        for trigger, first in told.first.items():
            found.first[trigger] = min(first, found.first.get(trigger, first), key=_place)
        for trigger, runs in told.runs.items():
            found.runs.setdefault(trigger, set()).update(runs)
    for run in {first.earlier.consumer for first in found.first.values() if first.earlier}:
        if run is not None and (parts := [told.batches[run] for told in every if run in told.batches]):
            found.batches[run] = Batch(*map(sum, zip(*parts, strict=True)))
    return found


def why(queue: str, consumers: Sequence[str], triggers: Triggers, origin: str | None) -> Why:
    """Tell the most frequent trigger by its first redelivery, of several the first in time that is known.

    ``origin``, if one is known, tells where nothing was redelivered.
    """
    if not triggers.counts:
        return Why(queue, consumers, origin) if origin else Why(queue, consumers, redelivered=0)
    trigger, first = min(
        triggers.first.items(),
        key=lambda one: (-triggers.counts[one[0]], one[0] == "undecidable", _place(one[1]), one[0]),
    )
    told = Why(
        queue,
        consumers,
        trigger,
        gap_ms=first.gap_ms,
        overlap_ms=first.overlap_ms,
        function_timeout_s=first.function_timeout_s,
        visibility_timeout_s=first.visibility_timeout_s,
        runs=max(len(triggers.runs[trigger]), 1),
    )
    earlier = first.earlier
    if earlier is None:
        return told
    is_of_run = earlier.consumer is not None and trigger in ENDS
    batch = triggers.batches[earlier.consumer or ""] if is_of_run else earlier.alone
    return told._replace(
        consumers=[earlier.name] if earlier.name else consumers,
        messages=max(batch.messages, earlier.batch_count) if trigger in ENDS else 1,
        is_part=1 if trigger in ENDS and earlier.is_part else None,
        done=batch.done,
        redelivered=batch.redelivered,
        done_again=batch.done_again,
        ran_ms=earlier.ran_ms,
    )


def _place(first: First) -> tuple[bool, int, str, int]:
    return first[:4]


def _earlier(delivery: AnyDelivery, by_place: dict[tuple[str, int], AnyDelivery]) -> Earlier:
    return Earlier(
        delivery.consumer,
        delivery.function_name or delivery.log_group or "",
        delivery.batch_count or 0,
        delivery.consumer_kind == "lambda" and not delivery.is_batch_printed and delivery.batch_size != 1,
        _ran_ms(delivery),
        _batch([delivery], by_place),
    )


def _batch(batch: Sequence[AnyDelivery], by_place: dict[tuple[str, int], AnyDelivery]) -> Batch:
    following = {d.item_id: by_place.get((d.item_id, d.delivery_index + 1)) for d in batch}
    again = {item: later for item, later in following.items() if later is not None}
    done = {d.item_id for d in batch if d.effect == "yes"}
    done_again = [item for item, later in again.items() if later.effect == "yes" and item in done]
    return Batch(len(batch), len(done), len(again), len(done_again))


def _ran_ms(delivery: AnyDelivery) -> float | None:
    if delivery.run_started_at is None or delivery.run_ended_at is None:
        return None
    return (delivery.run_ended_at - delivery.run_started_at) / 1000
