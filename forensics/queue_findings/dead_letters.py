"""Messages that went to a dead-letter queue: when they can have been moved, and what shows that they arrived."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from forensics.identity import queue_name
from forensics.judging.known import first_known, lowest
from forensics.judging.model import Message
from forensics.queue_findings.candidate import Candidate, KnowsQueueSettings, is_redrive_policy_known
from forensics.queue_findings.metric_series import MetricPoint, MetricSeries
from forensics.queue_rules import QueueFacts
from forensics.streams.model import Delivery

SETTLE_S = 15 * 60
"""SQS may move a message only when somebody polls, and CloudWatch shows queue depths with some delay."""


def moved_messages(
    ends: Iterable[Delivery],
    verdicts: Mapping[str, Message],
    in_force: KnowsQueueSettings,
    depths: MetricSeries,
    next_receives: Mapping[str, int],
) -> list[Candidate]:
    """One candidate per message of which a delivery ended in the dead-letter queue, with the interval of its work.

    ``ends`` has at least the last deliveries of such messages, ``verdicts`` is by item id. ``depths`` are points of
    ApproximateNumberOfMessagesVisible, ``next_receives`` what ``next_receives`` tells of the queue's FIFO groups. A message
    is moved by a receive, so not before it is visible again (``from_at``), and not after the next receive of its FIFO group
    or the first metric point in which the dead-letter queue has grown or its receive from there (``until_at``), whichever is earlier.
    """
    found = []
    for delivery in ends:
        if delivery.ended_by == "dead_lettered" and (visible_at := _visible_at(delivery)) is not None:
            message = verdicts.get(delivery.item_id)
            found.append(_candidate(delivery, visible_at, message, in_force, depths, next_receives))
    return sorted(found, key=lambda c: (c.item_id, c.from_at))


def _visible_at(d: Delivery) -> int | None:
    """Return when a message was visible again, as far as is known: not after it was received from the dead-letter queue."""
    return lowest((first_known(d.hidden_until_at, d.after_at), d.received_dead_at))


def _not_before(d: Delivery, visible_at: int) -> int:
    """Return what it was not moved before: a run's poller may have received it before the run began, by which its receive is known."""
    return min(visible_at, first_known(d.hidden_at_least_until, visible_at))


def _candidate(
    delivery: Delivery,
    visible_at: int,
    message: Message | None,
    in_force: KnowsQueueSettings,
    depths: MetricSeries,
    next_receives: Mapping[str, int],
) -> Candidate:
    settings = in_force.queue(delivery.queue_arn, first_known(delivery.received_at, visible_at)) or {}
    dead_letter_queue = queue_name(settings.get("dead_letter_queue_arn"))
    arrival = _arrival(depths, dead_letter_queue, visible_at)
    arrived_at = arrival.until_at if arrival else None
    borders = [arrived_at, delivery.received_dead_at, next_receives.get(delivery.item_id)]
    shown_by = [settings.get("evidence_id"), arrival.evidence_id if arrival else None]
    return Candidate(
        code="dead_lettered",
        queue_arn=delivery.queue_arn,
        queue=delivery.queue,
        item_id=delivery.item_id,
        message_id=delivery.message_id,
        group_id=delivery.group_id,
        from_at=_not_before(delivery, visible_at),
        until_at=min((at for at in borders if at is not None), default=None),
        message_count=1,
        message_ids=[delivery.message_id] if delivery.message_id is not None else [],
        business_keys=delivery.business_keys,
        evidence_ids=delivery.evidence_ids + [i for i in shown_by if i is not None],
        effects_at_least=message.effects_at_least if message else int(delivery.effect == "yes"),
        effects_at_most=message.effects_at_most if message else int(delivery.effect != "no"),
        facts=QueueFacts(
            receive_count=delivery.receive_count,
            max_receive_count=settings.get("max_receive_count"),
            has_settings=is_redrive_policy_known(settings),
            dead_letter_queue=dead_letter_queue,
            is_in_dead_letter_queue=arrival is not None or delivery.received_dead_at is not None,
        ),
    )


def _arrival(depths: MetricSeries, dead_letter_queue: str | None, visible_at: int) -> MetricPoint | None:
    """Return the first metric point in which the dead-letter queue had grown since the timeout.

    Where points of one time differ, the deepest counts as the depth before: a lower one would show growth that may be none.
    """
    settle = SETTLE_S * 1_000_000
    near = depths.begun_between(dead_letter_queue, visible_at - settle, visible_at + settle)
    before = [p for p in near if p.until_at <= visible_at]
    depth = max(before, key=lambda p: (p.at, p.value)).value if before else 0.0
    grown = [p for p in near if p.until_at > visible_at and p.value > depth]
    return min(grown, key=lambda p: (p.until_at, p.evidence_id), default=None)


def next_receives(deliveries: Sequence[Delivery]) -> dict[str, int]:
    """Return per dead-lettered message of a FIFO group, by item id, the group's first receive since it was visible again.

    ``deliveries`` are all of one FIFO group that the logs name; a message without its group has no next receive.
    """
    received = sorted(d.received_at for d in deliveries if d.received_at is not None)
    found: dict[str, int] = {}
    for delivery in deliveries:
        if delivery.ended_by == "dead_lettered" and delivery.hidden_until_at is not None:
            place = bisect_left(received, delivery.hidden_until_at)
            if place < len(received):
                found[delivery.item_id] = received[place]
    return found
