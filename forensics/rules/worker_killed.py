"""The worker process was stopped inside the delivery."""

from forensics.rules.pair import DeliveryPair, seconds
from forensics.rules.ruling import NO_LOG_OF_EARLIER, Ruling, excluded, supported, undecidable


def worker_killed(pair: DeliveryPair) -> Ruling:
    """The worker was stopped or killed while it held the message.

    >>> worker_killed(DeliveryPair(earlier_kind="worker", earlier_status="timeout")).stance
    'supported'
    """
    if not pair.earlier_is_seen:
        return NO_LOG_OF_EARLIER
    if pair.earlier_kind != "worker":
        return excluded("a Lambda function took it, not a worker")
    if pair.earlier_status == "timeout":
        return supported(f"{pair.earlier_name} was killed by its own time limit")
    if pair.earlier_status in ("success", "error") or pair.earlier_delete_reason is not None:
        return excluded("the worker went on to end this message by itself")
    if pair.was_received_while_running:
        return excluded("the worker still wrote about this message when it was visible again")
    if pair.stopped_ms is not None and (pair.gap_ms is None or pair.stopped_ms <= pair.gap_ms):
        return supported(
            f"{pair.earlier_name} was told to stop {seconds(pair.stopped_ms)} after it received the message, and wrote nothing of "
            "its end"
        )
    return undecidable(
        "the worker wrote no line about the end of this message", "a line that says that the worker was told to stop"
    )
