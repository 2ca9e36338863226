"""Can deliveries hide? Then no upper bound holds for how often the work was done."""

from collections.abc import Sequence

from forensics.judging.surroundings import Surroundings
from forensics.streams.model import Delivery


def hidden_possible(item: Sequence[Delivery], around: Surroundings) -> bool:
    """Tell whether deliveries of an item can hide; ``item``: its deliveries in order, with ``ended_by``.

    Only where a receive count was not logged: in a gap of more than two visibility timeouts, or near the border of
    what was read. An unknown visibility timeout hides anything.
    """
    if all(d.receive_count is not None for d in item):
        return False
    return any(_hides(earlier, d, around) for earlier, d in zip([None, *item], item, strict=False))


def _hides(earlier: Delivery | None, d: Delivery, around: Surroundings) -> bool:
    """Tell whether a delivery can hide before this one, or after it where it is the last."""
    span = around.read_span(d.log_group) if d.log_group is not None else None
    if d.visibility_timeout_s is None or span is None or d.received_at is None:
        return True
    twice_ms = d.visibility_timeout_s * 2000
    return (
        _is_after_a_long_gap(earlier, d.received_at, twice_ms)
        or _is_near_the_beginning(d, d.received_at, span[0], twice_ms)
        or _is_near_the_end(d, d.received_at, span[1], twice_ms)
    )


def _is_after_a_long_gap(earlier: Delivery | None, received_at: int, twice_ms: int) -> bool:
    """An unknown gap is a long one. The first delivery's counts as unknown, so one is never known to be the first."""
    if earlier is None or earlier.received_at is None:
        return True
    return received_at // 1000 - earlier.received_at // 1000 > twice_ms


def _is_near_the_beginning(d: Delivery, received_at: int, read_from: int, twice_ms: int) -> bool:
    """Another delivery may lie before what was read, unless the message was only sent after that began."""
    if d.delivery_index != 1 or (d.sent_at is not None and d.sent_at >= read_from):
        return False
    return received_at // 1000 - read_from // 1000 < twice_ms


def _is_near_the_end(d: Delivery, received_at: int, read_until: int, twice_ms: int) -> bool:
    """Another delivery may lie after what was read, unless this one deleted the message."""
    if d.came_again or d.ended_by == "deleted":
        return False
    return read_until // 1000 - received_at // 1000 < twice_ms
