"""Which queues set messages aside, and where; and what of it is received from there to do the same work."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from forensics.identity import is_fifo_name, queue_name
from forensics.judging.evidence import united
from forensics.judging.known import unknown_first, unknown_last
from forensics.streams.model import Delivery

Row = Mapping[str, Any]


def sources_of(queue_settings: Iterable[Row]) -> dict[str, list[str]]:
    """Return, per dead-letter queue, the queues that set messages aside in it."""
    found: dict[str, set[str]] = {}
    for row in queue_settings:
        if row["dead_letter_queue_arn"]:
            found.setdefault(row["dead_letter_queue_arn"], set()).add(row["queue_arn"])
    return {arn: sorted(queues) for arn, queues in found.items()}


def has_fifo_dead_letters(consumers: Iterable[Row], queue_settings: Sequence[Row]) -> bool:
    """Tell whether any FIFO queue has a dead-letter queue, or nothing says that it has none."""
    told = {row["queue_arn"] for row in queue_settings}
    is_untold = any(is_fifo_name(row["queue_arn"]) and row["queue_arn"] not in told for row in consumers)
    return is_untold or any(row["is_fifo"] and row["dead_letter_queue_arn"] for row in queue_settings)


def count_with_source(
    deliveries: Sequence[Delivery], sources: Mapping[str, Sequence[str]], consumed: Collection[tuple[str, str]]
) -> None:
    """Tell of deliveries out of a dead-letter queue which queue set their message aside, and count them with it if it is the same work.

    A move keeps the message id and goes on counting receives. The work is the same where its function or worker consumes both
    queues, or both consumers are said to print the same effect line: who merely reports dead letters does other work.
    ``sources`` are those queues by dead-letter queue, ``consumed`` names who consumes which. Changes what it is given; needs
    ``evidence_ids``.
    """
    dead = [d for d in deliveries if d.queue_arn in sources and d.message_id is not None]
    of_message: dict[tuple[str, str], list[Delivery]] = defaultdict(list)
    for delivery in deliveries if dead else ():
        of_message[delivery.queue_arn, str(delivery.message_id)].append(delivery)
    for delivery in sorted(dead, key=lambda d: unknown_last(d.received_at)):
        names = [(arn, str(delivery.message_id)) for arn in sources[delivery.queue_arn] if arn != delivery.queue_arn]
        found = [(arn, before) for arn, item in names if (before := _before(delivery, of_message[arn, item]))]
        if len(found) != 1:
            continue
        ((source, before),) = found
        last = max(before, key=lambda d: (unknown_first(d.receive_count), unknown_first(d.received_at)))
        if last.received_dead_at is None:
            last.received_dead_at = delivery.received_at
            last.evidence_ids = united(last.evidence_ids, delivery.evidence_ids[:1])
        mine = _consumer(delivery)
        if (source, mine) in consumed or any(_consumer(d) == mine or _has_same_line(d, delivery) for d in before):
            delivery.received_from_arn, delivery.queue_arn = delivery.queue_arn, source
            delivery.queue = queue_name(source)


def _before(dead: Delivery, of_source: Sequence[Delivery]) -> list[Delivery]:
    """Return a message's deliveries out of its own queue, of those that were received before one out of the dead-letter queue."""
    at = dead.received_at
    return [d for d in of_source if at is not None and d.received_at is not None and d.received_at < at]


def _has_same_line(one: Delivery, other: Delivery) -> bool:
    return one.effect_declared is not None and one.effect_declared == other.effect_declared


def _consumer(d: Delivery) -> str | None:
    return d.log_group if d.function_name is None else d.function_name
