"""The worker process was stopped inside the delivery."""

from forensics.rules.pair import DeliveryPair, seconds
from forensics.rules.ruling import NO_LOG_OF_EARLIER, Ruling, excluded, supported, undecidable
from forensics.sentence import said


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
        return supported(said("{run} was killed by its own time limit", run=pair.earlier_name))
    if pair.earlier_status in ("success", "error") or pair.earlier_delete_reason is not None:
        return excluded("the worker went on to end this message by itself")
    if pair.was_received_while_running:
        return excluded("the worker still wrote about this message when it was visible again")
    limit_ms = _visible_ms(pair)
    if pair.process_ended_ms is not None and limit_ms is not None:
        ended = said(
            "the task of {run} had stopped {span} after it received the message",
            run=pair.earlier_name,
            span=seconds(pair.process_ended_ms),
        )
        if pair.process_ended_ms <= limit_ms:
            return supported(
                said("{ended}, and wrote nothing of its end: {words}", ended=ended, words=pair.process_end_words)
            )
        return excluded(said("{ended}, when that was visible again already", ended=ended))
    if pair.stopped_ms is not None and (pair.gap_ms is None or pair.stopped_ms <= pair.gap_ms):
        return supported(
            said(
                "{run} was told to stop {span} after it received the message, and wrote nothing of its end",
                run=pair.earlier_name,
                span=seconds(pair.stopped_ms),
            )
        )
    return undecidable(
        "the worker wrote no line about the end of this message",
        "a line that says that the worker was told to stop, or the event of its stopped task",
    )


def _visible_ms(pair: DeliveryPair) -> int | None:
    """Return how long after the earlier receive the message was visible again: when it came back, at the latest."""
    own_ms = None if pair.visibility_timeout_s is None else pair.visibility_timeout_s * 1000
    known = [ms for ms in (own_ms if pair.hidden_ms is None else pair.hidden_ms, pair.gap_ms) if ms is not None]
    return min(known, default=None)
