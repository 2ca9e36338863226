"""Effect lines by themselves, after the work was done: the late echo of a line, perhaps, or a delivery whose opening is lost."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from forensics.identity import KEY_ITEM
from forensics.judging.evidence import united
from forensics.streams.model import Delivery


def with_lone_marks_moved(deliveries: Sequence[Delivery]) -> list[Delivery]:
    """Return the deliveries without those of which a worker's log shows an effect line and nothing else.

    An audit trail may store such a line once more. It is no delivery for sure where each other delivery that its log group
    shows of the message, or of the messages with its key, is seen to be opened, and one of them told its effect before: that
    one keeps the line, and that the work may have been done once more (``lone_mark_count``). Changes what it is given; needs
    ``evidence_ids``.
    """
    lone = [d for d in deliveries if _is_lone(d)]
    if not lone:
        return list(deliveries)
    others = _by_name(deliveries)
    gone: set[int] = set()
    for mark in lone:
        mine = others[mark.queue_arn, mark.log_group, mark.item_id]
        told = [(d.marker_at, place) for place, d in enumerate(mine) if d.marker_at is not None]
        before = [(at, place) for at, place in told if mark.marker_at is not None and at < mark.marker_at]
        if before and all(_is_opened(d) for d in mine):
            origin = mine[max(before)[1]]
            origin.lone_mark_count += 1
            origin.business_keys = united(origin.business_keys, mark.business_keys)
            origin.fact_ids = united(origin.fact_ids, mark.fact_ids)
            origin.evidence_ids = united(origin.evidence_ids, mark.evidence_ids)
            gone.add(id(mark))
    return [d for d in deliveries if id(d) not in gone]


def _by_name(deliveries: Iterable[Delivery]) -> dict[tuple[str, str | None, str], list[Delivery]]:
    """Return the other deliveries by queue, log group, and their message or one of its keys."""
    found: dict[tuple[str, str | None, str], list[Delivery]] = defaultdict(list)
    for d in deliveries:
        if d.consumer_kind == "worker" and not d.is_passing and not _is_lone(d):
            for name in sorted({d.item_id, *(f"{KEY_ITEM}{key}" for key in d.business_keys)}):
                found[d.queue_arn, d.log_group, name].append(d)
    return found


def _is_lone(d: Delivery) -> bool:
    """Its consumer is a worker, whose lines tell that the work was done, and neither when it was received nor how it went on."""
    if d.consumer_kind != "worker" or d.marker_at is None or d.receive_count is not None or _is_opened(d):
        return False
    said = (d.guard_at, d.idempotency, d.worker_finished_at, d.worker_failed_at, d.delete_at, d.handle_reason)
    return d.receipt_handle is None and not d.visibility_set and all(word is None for word in said)


def _is_opened(d: Delivery) -> bool:
    return d.record_at is not None or d.started_at is not None
