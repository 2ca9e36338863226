"""What triggered an incident's redeliveries, and the values that tell it: its first redelivery of that kind, and the run before."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence

from forensics.incidents.ranking import most_frequent
from forensics.judging.model import Redelivery
from forensics.run_ends import CAUSES
from forensics.streams.model import Delivery
from forensics.verdict.why import ENDS, Why


def trigger_of(cause: str, earlier_status: str | None) -> str:
    """Return what began a redelivery: for a message that had finished, what cut its batch off.

    >>> trigger_of("batch_collateral", "timeout"), trigger_of("throttled", None)
    ('function_timeout', 'throttled')
    """
    return CAUSES.get(earlier_status or "", cause) if cause == "batch_collateral" else cause


def why(
    queue: str,
    consumers: Sequence[str],
    redeliveries: Iterable[Redelivery],
    ledger: Iterable[Delivery],
    affected: Collection[str],
    origin: str | None,
) -> Why:
    """Tell the most frequent trigger by its first redelivery; ``origin`` where nothing was redelivered.

    ``ledger`` holds the incident's deliveries whole, so that the rest of a batch counts; redeliveries count where affected.
    """
    mine = [(trigger_of(r.cause, r.earlier_status), r) for r in redeliveries if r.item_id in affected]
    if not mine:
        return Why(queue, consumers, origin or "undecidable")
    trigger = most_frequent(Counter(code for code, _ in mine))
    of_trigger = [r for code, r in mine if code == trigger]
    first = min(
        of_trigger, key=lambda r: (r.later_received_at is None, r.later_received_at or 0, r.item_id, r.delivery_index)
    )
    by_place: dict[tuple[str, int], Delivery] = {}
    by_run: dict[str, list[Delivery]] = defaultdict(list)
    for delivery in ledger:
        by_place[delivery.item_id, delivery.delivery_index] = delivery
        if delivery.consumer is not None:
            by_run[delivery.consumer].append(delivery)
    earlier = by_place.get((first.item_id, first.delivery_index - 1))
    runs = {d.consumer or d.item_id for r in of_trigger if (d := by_place.get((r.item_id, r.delivery_index - 1)))}
    told = Why(
        queue,
        consumers,
        trigger,
        gap_ms=first.gap_ms,
        overlap_ms=first.overlap_ms,
        function_timeout_s=first.earlier_function_timeout_s,
        visibility_timeout_s=first.visibility_timeout_s,
        runs=max(len(runs), 1),
    )
    if earlier is None:
        return told
    batch = by_run[earlier.consumer] if earlier.consumer is not None and trigger in ENDS else [earlier]
    again = {d.item_id: by_place.get((d.item_id, d.delivery_index + 1)) for d in batch}
    done = {d.item_id for d in batch if d.effect == "yes"}
    named = [earlier.function_name or earlier.log_group or ""]
    return told._replace(
        consumers=[name for name in named if name] or consumers,
        messages=max(len(batch), earlier.batch_count or 0) if trigger in ENDS else 1,
        done=len(done),
        redelivered=sum(later is not None for later in again.values()),
        done_again=sum(later is not None and later.effect == "yes" and item in done for item, later in again.items()),
        ran_ms=_ran_ms(earlier),
    )


def _ran_ms(delivery: Delivery) -> float | None:
    if delivery.run_started_at is None or delivery.run_ended_at is None:
        return None
    return (delivery.run_ended_at - delivery.run_started_at) / 1000
