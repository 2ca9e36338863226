"""Receives that only the receive count shows: found, placed in time, and said what the logs would have shown."""

from collections.abc import Sequence

from forensics.judging.evidence import united
from forensics.judging.known import first_known, highest, lowest, unknown_last
from forensics.judging.surroundings import Surroundings
from forensics.streams.model import Delivery

_MOST_COUNTS = 1000


def unlogged_receives(item: Sequence[Delivery], around: Surroundings) -> list[Delivery]:
    """Return one delivery per receive count below the item's highest that no log shows.

    ``item``: every logged delivery of one item. Deliveries whose count was not logged may be some of them: as many are left out
    as were received between the same two counts. A dead-letter queue goes on counting where its source stopped, so there only gaps above the lowest seen
    count are missing; what was received from both shows all receives that the source allows, and out of the dead-letter queue all beyond
    the one that a move may count as.
    """
    counts = {d.receive_count for d in item if d.receive_count is not None}
    if not counts:
        return []
    first = min(counts) if _goes_on_counting(item, around) else 1
    missing = [count for count in range(first, min(max(counts), _MOST_COUNTS) + 1) if count not in counts]
    if not missing:
        return []
    dead = [d for d in item if d.received_from_arn is not None]
    source = [d for d in item if d.received_from_arn is None]
    first_dead = lowest(d.receive_count for d in dead)
    most = None if first_dead is None else highest([d.max_receive_count for d in source])

    def is_dead(count: int) -> bool:
        if first_dead is None:
            return False
        return count > first_dead or (most is not None and count > most + 1)

    missing = [count for count in missing if most is None or count <= most or is_dead(count)]
    return [_unlogged(dead if is_dead(count) else source, count, around, item) for count in _without(missing, item)]


def _without(missing: Sequence[int], item: Sequence[Delivery]) -> list[int]:
    """Leave out of missing counts the first that fits each delivery that was not counted, as far as its time tells.

    The times of workers' lines and of runs whose message was held before are not those of receives: an equal time fits.
    """
    if not missing:
        return []
    uncounted = sorted((d.received_at for d in item if d.receive_count is None), key=unknown_last)
    times: dict[int, list[int]] = {}
    for d in item:
        if d.receive_count is not None and d.received_at is not None:
            times.setdefault(d.receive_count, []).append(d.received_at)
    left = list(missing)
    for at in uncounted:
        low = max((count for count, of in times.items() if at is not None and min(of) < at), default=0)
        high = min((count for count, of in times.items() if at is not None and max(of) > at), default=_MOST_COUNTS)
        fitting = [count for count in left if low < count <= high]
        left = [count for count in left if count not in fitting[:1]]
    return left


def _goes_on_counting(item: Sequence[Delivery], around: Surroundings) -> bool:
    """Tell whether the item was received from a dead-letter queue, as far as anything tells."""
    if item[0].queue_arn in around.dead_letter_sources:
        return True
    return any(d.dead_letter_source_arn is not None for d in item if d.received_from_arn is None)


def _unlogged(item: Sequence[Delivery], count: int, around: Surroundings, every: Sequence[Delivery]) -> Delivery:
    """Return the receive of that count, with the span it must lie in: after ``after_at`` and before ``before_at``.

    ``item`` are the deliveries out of the same queue, ``every`` also those out of its source or dead-letter queue.
    ``is_watched``: whatever took it is none of the known consumers. Either the logs would have shown an invocation, so
    none started, or the log groups of all the queue's workers were read over the whole span.
    """
    polled_arn = item[0].polled_arn
    first_receive_at = _micros(lowest([d.first_receive_ms for d in item]))
    sent_at = _micros(lowest([d.sent_ms for d in item]))
    counted = [(d.receive_count, d.received_at) for d in every if d.receive_count is not None]
    after_at = first_known(highest(at for c, at in counted if c < count), first_receive_at, sent_at)
    before_at = lowest(at for c, at in counted if c > count)
    received_at = first_receive_at if count == 1 else None
    would_be_logged = around.is_watched(polled_arn, after_at, before_at)
    is_throttled, throttle_ids = around.throttled(polled_arn, after_at, before_at)
    return Delivery(
        item_id=item[0].item_id,
        message_id=highest([d.message_id for d in item]),
        queue_arn=item[0].queue_arn,
        queue=item[0].queue,
        received_from_arn=item[0].received_from_arn,
        receive_count=count,
        group_id=highest([d.group_id for d in item]),
        deduplication_id=highest([d.deduplication_id for d in item]),
        body_md5=highest([d.body_md5 for d in item]),
        business_keys=united(*(d.business_keys for d in item)),
        received_at=received_at,
        visibility_timeout_s=highest([d.visibility_timeout_s for d in item]),
        is_fifo=highest([d.is_fifo for d in item]),
        max_receive_count=highest([d.max_receive_count for d in item]),
        dead_letter_queue_arn=highest([d.dead_letter_queue_arn for d in item]),
        is_seen=False,
        unseen_basis="never_started" if would_be_logged else "unseen",
        is_throttled=is_throttled,
        is_watched=would_be_logged or around.are_workers_read(polled_arn, after_at, before_at),
        order_at=first_known(received_at, after_at, before_at),
        after_at=after_at,
        before_at=before_at,
        evidence_ids=united(throttle_ids, *(d.evidence_ids[:1] for d in item)),
    )


def _micros(ms: int | None) -> int | None:
    return None if ms is None else ms * 1000
