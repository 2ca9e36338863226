"""Did the response of a run that succeeded give a message back? As counts, recorded calls, or its staying away tell."""

from collections.abc import Sequence

from forensics.judging.evidence import united
from forensics.judging.surroundings import Surroundings
from forensics.settings_in_force import is_unknown
from forensics.streams.model import Delivery


def add_given_back(delivery: Delivery, item: Sequence[Delivery], around: Surroundings) -> None:
    """Fill in ``was_given_back`` of an item's delivery where the run ended in success: None where nothing tells. Needs ``came_again``."""
    if delivery.run_status != "success" or delivery.consumer_kind != "lambda":
        return
    told, points = around.was_given_back(delivery)
    if not delivery.came_again:  # that all else was deleted does not tell of a message whose next receive nobody sees
        told, points = (None, ()) if told else (told, points)
        all_seen = all(
            d.is_seen for d in item
        )  # what throttled an earlier receive keeps a later one from being seen, too
        told = False if all_seen and _would_have_come_again(delivery, around) else told
    if delivery.deleted_by_call_at is not None:  # Lambda deletes what was not given back
        told = False
    delivery.was_given_back = told
    delivery.evidence_ids = united(delivery.evidence_ids, points)


def _would_have_come_again(d: Delivery, around: Surroundings) -> bool:
    """Tell whether a message given back would have been seen again: visible soon, allowed, not expired, and the queue read.

    Nothing may keep it away: no limit on its receives, no end of its retention, no mapping that was switched off,
    function that was throttled, or backlog (it had waited for its first receive for a quarter of its visibility timeout at
    most); and every run of two visibility timeouts after its receive must have been seen.
    """
    if d.visibility_timeout_s is None or d.received_at is None or d.hidden_until_at is None:
        return False
    if d.sent_ms is None or d.first_receive_ms is None or d.first_receive_ms - d.sent_ms > 250 * d.visibility_timeout_s:
        return False
    until = d.received_at + 2_000_000 * d.visibility_timeout_s
    queue = around.in_force.queue(d.polled_arn, d.received_at)
    if queue is None or is_unknown(queue, "max_receive_count"):
        return False
    limit, retention_s = queue["max_receive_count"], queue["message_retention_s"]
    if limit is not None and (d.receive_count is None or d.receive_count >= limit):
        return False
    if retention_s is None or d.sent_ms * 1000 + retention_s * 1_000_000 <= until:
        return False
    mapping = around.in_force.mapping(d.polled_arn, d.function_name, d.hidden_until_at) or {}
    if mapping.get("state") != "Enabled" or around.throttled(d.polled_arn, d.received_at, d.hidden_until_at)[0]:
        return False
    return around.is_watched(d.polled_arn, d.received_at, until)
