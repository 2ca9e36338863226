"""The delivery ledger of one item: its deliveries in order, receives that no log shows among them."""

from collections.abc import Sequence

from forensics.judging.known import unknown_first, unknown_last
from forensics.streams.model import Delivery


def put_in_order(item: Sequence[Delivery]) -> list[Delivery]:
    """Return an item's deliveries in order, and fill in ``delivery_index`` and ``came_again``.

    By receive count where every delivery of the item has one, else by time; runs that had one receive by when they began.
    """
    counts = [d.receive_count for d in item]
    in_order = sorted(item, key=_by_time if None in counts else _by_count)
    for index, delivery in enumerate(in_order, start=1):
        delivery.delivery_index = index
        delivery.came_again = any(not later.may_be_same_receive for later in in_order[index:])
    return in_order


def _by_count(d: Delivery) -> tuple[object, ...]:
    return d.receive_count, *_by_time(d)


def _by_time(d: Delivery) -> tuple[object, ...]:
    begun = *unknown_last(d.run_started_at), *unknown_last(d.consumer)
    return *unknown_first(d.order_at), *unknown_last(d.receive_count), *begun
