"""Late background output: effect lines that stand in another delivery than their own, given back to whose they are."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from forensics.judging.evidence import united
from forensics.judging.known import highest, lowest, unknown_first, unknown_last
from forensics.streams.model import Delivery


def with_late_output_returned(deliveries: Sequence[Delivery]) -> list[Delivery]:
    """Return the deliveries without those that only work left over from an earlier run made up.

    What a handler started and did not wait for may go on in the next run of the same environment and write its lines
    there. The printed batch of that run does not hold the message: no delivery happened, and the lines belong to the
    newest earlier run of the stream that had it, as its printed batch or, where none is kept, a start line tells. Changes what it is given; needs ``evidence_ids``.
    """
    late = [d for d in deliveries if _is_late_output(d)]
    if not late:
        return list(deliveries)
    batches: dict[tuple[str | None, str | None, str], list[Delivery]] = defaultdict(list)
    for delivery in deliveries:
        if delivery.batch_position is not None or delivery.record_at is not None or _is_begun(delivery):
            batches[_place(delivery)].append(delivery)
    given_back: dict[int, list[Delivery]] = defaultdict(list)
    gone: set[int] = set()
    for delivery in late:
        earlier = [d for d in batches[_place(delivery)] if _by_receive(d) <= _by_receive(delivery)]
        if earlier:
            home = max(earlier, key=lambda d: (_by_receive(d), unknown_last(d.consumer)))
            given_back[id(home)].append(delivery)
            gone.add(id(delivery))
    for delivery in deliveries:
        if lines := given_back.get(id(delivery)):
            _take_back(delivery, lines)
    return [d for d in deliveries if id(d) not in gone]


def _is_late_output(d: Delivery) -> bool:
    """It has lines in a run of a function whose printed batch does not hold the message."""
    return d.is_batch_printed and d.batch_position is None and d.message_id is not None and d.consumer_kind == "lambda"


def _is_begun(d: Delivery) -> bool:
    """Its run says that the message was begun, and does not print the batch."""
    return d.started_at is not None and not d.is_batch_printed


def _place(d: Delivery) -> tuple[str | None, str | None, str]:
    return d.log_group, d.log_stream, d.item_id


def _by_receive(d: Delivery) -> tuple[bool, int | None]:
    return unknown_first(d.received_at)


def _take_back(delivery: Delivery, late: Sequence[Delivery]) -> None:
    """Let a delivery say what its late lines say, where it says nothing of that itself."""
    if delivery.marker_at is None:
        delivery.marker_at = lowest(d.marker_at for d in late)
    if delivery.guard_at is None:
        delivery.guard_at = lowest(d.guard_at for d in late)
    if delivery.started_at is None:
        delivery.started_at = lowest(d.started_at for d in late)
    delivery.fact_ids = united(delivery.fact_ids, *(d.fact_ids for d in late))
    delivery.evidence_ids = united(delivery.evidence_ids, *(d.evidence_ids for d in late))
    delivery.business_keys = united(delivery.business_keys, *(d.business_keys for d in late))


def share_by_key(deliveries: Iterable[Delivery]) -> None:
    """Spread effect lines that name a business key over the messages of one batch that share it, in batch order.

    The messages with a line of their own come first. Changes what it is given; needs ``evidence_ids``.
    """
    sharing: dict[tuple[str | None, str], list[Delivery]] = defaultdict(list)
    every = list(deliveries)
    for delivery in every if any(d.key_marker_count for d in every) else ():
        if len(delivery.business_keys) == 1:
            sharing[delivery.consumer, delivery.business_keys[0]].append(delivery)
    for batch in sharing.values():
        lines = sum(d.key_marker_count for d in batch)
        if not lines:
            continue
        marked_at = highest(d.marker_at for d in batch)
        evidence_ids = united(*(d.evidence_ids for d in batch))
        for delivery in sorted(batch, key=_by_line_and_place)[:lines]:
            if delivery.marker_at is None:
                delivery.marker_at, delivery.evidence_ids = marked_at, evidence_ids


def _by_line_and_place(d: Delivery) -> tuple[object, ...]:
    return d.key_marker_count == 0, unknown_last(d.batch_position), d.item_id
