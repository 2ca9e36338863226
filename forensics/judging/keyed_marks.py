"""Marks that name only a business key, given to the message that is known by it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from forensics.judging.evidence import united
from forensics.judging.known import first_known, highest, lowest
from forensics.judging.sends import Sends
from forensics.judging.works import keys_of
from forensics.streams.model import Delivery


def with_marks_by_key(deliveries: Sequence[Delivery], sends: Sends) -> list[Delivery]:
    """Give marks that name only a key to the one message that is known by it, where that was in hand in the same place.

    A message is known by the key that its send named, and by what its lines name with it anywhere. Where several could have
    written a mark, it stays what it is: a line about the key. Changes what it is given.
    """
    if all(delivery.message_id is not None for delivery in deliveries):
        return list(deliveries)
    of_message: dict[tuple[str, str | None], list[Delivery]] = defaultdict(list)
    for delivery in deliveries:
        if delivery.message_id is not None:
            of_message[delivery.queue_arn, delivery.message_id].append(delivery)
    in_hand: dict[tuple[str, str], list[Delivery]] = defaultdict(list)
    for (queue_arn, _), mine in of_message.items():
        for key in keys_of(mine) | {send.key for send in sends.of(mine) if send.key is not None}:
            in_hand[queue_arn, key] += [d for d in mine if not d.is_passing]
    found = []
    for delivery in deliveries:
        owner = None if delivery.message_id is not None else _owner(delivery, in_hand)
        if owner is None:
            found.append(delivery)
            continue
        owner.marker_at = lowest((owner.marker_at, delivery.marker_at))
        owner.guard_at = lowest((owner.guard_at, delivery.guard_at))
        owner.last_fact_at = highest((owner.last_fact_at, delivery.last_fact_at))
        owner.business_keys = united(owner.business_keys, delivery.business_keys)
        owner.fact_ids = united(owner.fact_ids, delivery.fact_ids)
        owner.evidence_ids = united(owner.evidence_ids, delivery.evidence_ids)
    return found


def _owner(mark: Delivery, in_hand: Mapping[tuple[str, str], Sequence[Delivery]]) -> Delivery | None:
    at = first_known(mark.marker_at, mark.guard_at)
    mine = [d for key in mark.business_keys for d in in_hand.get((mark.queue_arn, key), ())]
    near = [d for d in mine if at is not None and _has_in_hand(d, mark, at)]
    return near[0] if len(near) == 1 else None


def _has_in_hand(delivery: Delivery, mark: Delivery, at: int) -> bool:
    """Tell whether a message was in hand where a line about its key was written, then."""
    if delivery.consumer_kind != "worker":
        return delivery.consumer == mark.consumer
    if (delivery.log_group, delivery.log_stream) != (mark.log_group, mark.log_stream):
        return False
    is_over = delivery.is_end_known and delivery.run_ended_at is not None and delivery.run_ended_at < at
    return delivery.received_at is not None and delivery.received_at <= at and not is_over
