"""Messages whose last delivery did not finish them: poison without a dead-letter queue, and those lost by retention."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from forensics.identity import queue_name
from forensics.judging.ending import is_at_limit
from forensics.judging.model import Message
from forensics.queue_findings.candidate import Candidate, KnowsQueueSettings, is_redrive_policy_known
from forensics.queue_findings.holding import GAVE_BACK, is_failed_in_flight
from forensics.queue_findings.metric_series import MetricPoint, MetricSeries
from forensics.queue_rules import QueueFacts
from forensics.queue_rules.poison_without_dlq import LEAST_RECEIVES
from forensics.spans import Spans, common_to
from forensics.streams.model import Delivery

_SECOND = 1_000_000
_LAST = 120 * _SECOND
"""Where in its retention a message must still be the queue's oldest: metrics come by the minute."""
_SLACK = 2 * _SECOND

Span = tuple[int, int]


class Unfinished(NamedTuple):
    """A message that its last delivery did not delete. ``is_unfinished``: that is known; ``settings`` are its queue's."""

    delivery: Delivery
    first_received_at: int | None
    sent_at: int | None
    receive_count: int
    is_unfinished: bool
    settings: Mapping[str, Any]

    @property
    def dead_letter_queue(self) -> str | None:
        """Name of the queue's dead-letter queue, None where none is known."""
        return queue_name(self.settings.get("dead_letter_queue_arn"))

    @property
    def retention_ends_at(self) -> int | None:
        """When SQS drops the message, None where nothing tells."""
        retention_s = self.settings.get("message_retention_s")
        return None if self.sent_at is None or retention_s is None else self.sent_at + retention_s * _SECOND


def unfinished_messages(
    ends: Iterable[Delivery], verdicts: Mapping[str, Message], in_force: KnowsQueueSettings
) -> list[Unfinished]:
    """Return the messages that were not deleted by their last delivery, with what that delivery tells.

    ``ends`` has the last delivery of every message that was not surely deleted, and may have others; ``verdicts``, by item
    id, are of the messages delivered again.
    """
    found = []
    for last in ends:
        if last.came_again:
            continue
        message = verdicts.get(last.item_id)
        if message is None:
            if last.ended_by not in GAVE_BACK:
                continue
            first_received_at, sent_at, receives = last.received_at, last.sent_at, last.receive_count or 1
        else:
            if last.ended_by in ("deleted", "dead_lettered"):
                continue
            first_received_at, sent_at = message.first_received_at, message.sent_at
            receives = message.deliveries if message.receive_count is None else message.receive_count
        kept = last.ended_by in GAVE_BACK or is_failed_in_flight(last)
        settings = in_force.queue(last.queue_arn, last.received_at) or {}
        is_unfinished = kept and last.delete_status != "gone"
        found.append(Unfinished(last, first_received_at, sent_at, receives, is_unfinished, settings))
    return sorted(found, key=lambda u: u.delivery.item_id)


def poison_messages(unfinished: Iterable[Unfinished]) -> list[Candidate]:
    """Return those that were received again and again where no dead-letter queue is known."""
    return [
        _candidate(
            "poison_without_dlq",
            message,
            message.first_received_at,
            message.delivery.received_at,
            QueueFacts(
                receive_count=message.receive_count,
                is_unfinished=message.is_unfinished,
                has_settings=is_redrive_policy_known(message.settings),
            ),
        )
        for message in unfinished
        if message.receive_count >= LEAST_RECEIVES
        and message.dead_letter_queue is None
        and message.first_received_at is not None
    ]


def outlived_messages(
    unfinished: Iterable[Unfinished], ages: MetricSeries, watched: Sequence[Span], data_until: int | None
) -> list[Candidate]:
    """Return those whose retention ended inside the evidence, with the queue's oldest age at that time if it fits.

    ``ages`` are points of ApproximateAgeOfOldestMessage, ``watched`` the spans in which every known consumer's log was read
    (``watched_spans``). ``data_until`` is where the evidence ends.
    """
    ended = [
        (message, message.retention_ends_at)
        for message in unfinished
        if message.is_unfinished
        and not is_at_limit(message.delivery)  # the next receive moved it, where anybody polled
        and message.retention_ends_at is not None
        and data_until is not None
        and message.retention_ends_at <= data_until
    ]
    fits = [_fitting(message, ages) for message, _ in ended]
    fitting_counts = Counter(point.evidence_id for points in fits for point in points)
    found = []
    for (message, ends_at), points in zip(ended, fits, strict=True):
        last = max(points, key=lambda p: (p.at, p.evidence_id), default=None)
        facts = QueueFacts(
            is_unfinished=True,
            has_settings=is_redrive_policy_known(message.settings),
            retention_s=message.settings.get("message_retention_s"),
            is_watched=_is_watched(message.delivery.received_at, ends_at, watched),
            age_s=int(last.value) if last else None,
            fitting_count=max((fitting_counts[p.evidence_id] for p in points), default=None),
        )
        shown = [last.evidence_id] if last else []
        found.append(_candidate("retention_expired", message, ends_at, None, facts, shown))
    return found


def _candidate(
    code: str, message: Unfinished, from_at: int, until_at: int | None, facts: QueueFacts, shown: Sequence[str] = ()
) -> Candidate:
    delivery, settings_id = message.delivery, message.settings.get("evidence_id")
    return Candidate(
        code=code,
        queue_arn=delivery.queue_arn,
        queue=delivery.queue,
        item_id=delivery.item_id,
        message_id=delivery.message_id,
        group_id=delivery.group_id,
        from_at=from_at,
        until_at=until_at,
        message_count=1,
        message_ids=[delivery.message_id] if delivery.message_id is not None else [],
        business_keys=delivery.business_keys,
        evidence_ids=[*delivery.evidence_ids, *([settings_id] if settings_id is not None else []), *shown],
        facts=facts,
    )


def _fitting(message: Unfinished, ages: MetricSeries) -> list[MetricPoint]:
    """Return the oldest ages of the queue near the end of a message's retention that may be this message's own.

    A point's maximum was taken at some moment of its period, so the oldest message was sent within a span of that length.
    """
    ends_at, sent_at = message.retention_ends_at, message.sent_at
    if ends_at is None or sent_at is None:
        return []
    return [
        point
        for point in ages.touching(message.delivery.queue, ends_at - _LAST, ends_at)
        if -_SLACK <= sent_at - (point.at - point.value * _SECOND) <= point.period_s * _SECOND + _SLACK
    ]


def _is_watched(received_at: int | None, ends_at: int, watched: Sequence[Span]) -> bool:
    return received_at is not None and any(start <= received_at and ends_at <= end for start, end in watched)


def watched_spans(log_groups: Collection[str], read: Mapping[str, Sequence[Span]]) -> list[Span]:
    """Return the spans in which every known consumer's log was read without a gap.

    ``log_groups`` are those of a queue's consumers, ``read`` the spans in which each log group was read.

    >>> watched_spans(["a", "b"], {"a": [(0, 5), (7, 9)], "b": [(3, 8)]})
    [(3, 5), (7, 8)]
    """
    return list(common_to([Spans(read.get(group, ())) for group in sorted(log_groups)]))
