"""Earlier messages of a FIFO group that were finished after later ones."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from forensics.queue_findings.candidate import Candidate
from forensics.queue_rules import QueueFacts
from forensics.streams.model import Delivery


class _Done(NamedTuple):
    """A message whose work was done, the last time at ``done_at``; ``maybe_at``: until when it may have been done again."""

    sent_at: int
    item_id: str
    message_id: str | None
    done_at: int
    maybe_at: int | None
    evidence_ids: list[str]
    deliveries: list[Delivery]


def late_commits(deliveries: Sequence[Delivery]) -> list[Candidate]:
    """One candidate per message whose work was done, for the last time, after that of a message of its group sent later.

    Only the last time counts: a batch that is done twice in order leaves what the latest message wrote. Messages sent
    in the same millisecond have no order that the evidence could show. ``deliveries`` are all of one FIFO group.
    """
    found = []
    newest: _Done | None = None
    in_order = sorted(_done(deliveries), key=lambda m: (m.done_at, m.item_id))
    for _, together in groupby(in_order, key=lambda m: m.done_at):
        now = list(together)
        if newest:
            found += [_candidate(message, newest) for message in now if newest.sent_at > message.sent_at]
        newest = max([newest, *now] if newest else now, key=lambda m: (m.sent_at, m.item_id))
    return found


def _done(deliveries: Sequence[Delivery]) -> Iterator[_Done]:
    by_item: dict[str, list[tuple[int, Delivery]]] = {}
    for delivery in deliveries:
        if delivery.sent_at is not None:
            by_item.setdefault(delivery.item_id, []).append((delivery.sent_at, delivery))
    for item_id, placed in by_item.items():
        mine = [delivery for _, delivery in placed]
        effects = [(d.effect_at, d.evidence_ids) for d in mine if d.effect == "yes" and d.effect_at is not None]
        if effects:
            done_at, evidence_ids = max(effects)
            yield _Done(
                min(sent_at for sent_at, _ in placed),
                item_id,
                max((d.message_id for d in mine if d.message_id is not None), default=None),
                done_at,
                max((at for d in mine if d.effect == "unknown" and (at := _maybe_until(d)) is not None), default=None),
                evidence_ids,
                mine,
            )


def _maybe_until(delivery: Delivery) -> int | None:
    """Until when the work of this delivery may have been done, where nothing tells whether it was."""
    ends = (delivery.run_ended_at, delivery.hidden_until_at, delivery.received_at)
    return next((at for at in ends if at is not None), None)


def _candidate(message: _Done, later: _Done) -> Candidate:
    queue = message.deliveries[0]
    return Candidate(
        code="out_of_order_commit",
        queue_arn=queue.queue_arn,
        queue=queue.queue,
        item_id=message.item_id,
        message_id=message.message_id,
        group_id=queue.group_id,
        from_at=later.done_at,
        until_at=message.done_at,
        message_count=2,
        message_ids=sorted(i for i in (message.message_id, later.message_id) if i is not None),
        business_keys=[key for d in message.deliveries for key in d.business_keys],
        evidence_ids=message.evidence_ids + later.evidence_ids,
        facts=QueueFacts(
            late_ms=message.done_at // 1000 - later.done_at // 1000,
            is_later_settled=later.maybe_at is None or later.maybe_at < message.done_at,
        ),
    )
