"""The repeats of an incident's work, and which change would have prevented them."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from forensics.counterfactuals import CHANGES, NOT_PREVENTED, PREVENTED, UNDECIDED, Repeat, answers
from forensics.identity import KEY_ITEM
from forensics.incidents.ranking import most_frequent
from forensics.incidents.told import AnyDelivery
from forensics.judging.model import Message, Redelivery
from forensics.sentence import joined, said
from forensics.terms import TRIED_AGAIN

Row = dict[str, Any]

_CITED = 100
"""Repeats of one incident whose evidence is cited; the others are in the redeliveries table."""

_TOLD = {
    PREVENTED: "{count} prevented: {why}",
    UNDECIDED: "{count} undecided: {why}",
    NOT_PREVENTED: "{count} not prevented: {why}",
}
_OUTCOMES = tuple(_TOLD)
"""In the order in which they are told."""

_ALONE = Repeat()
"""What holds where no delivery of the same message came before."""


class WorkRepeat(NamedTuple):
    """A delivery in which work was or may have been done again, and what the counterfactuals are asked about it.

    ``is_sure``: the work was done in it for sure, and in another one before it.
    """

    item_id: str
    delivery_index: int
    asked: Repeat
    evidence_ids: list[str]
    is_sure: bool = False


@dataclass(slots=True)
class Repeated:
    """How often works were or may have been done again; ``sure``: so often for sure.

    ``asked`` says how many repeats each question about them is of, ``cited`` are the first by item and delivery, with their lines.
    """

    sure: int = 0
    asked: list[tuple[Repeat, int]] = field(default_factory=list)
    cited: list[tuple[str, int, list[str]]] = field(default_factory=list)

    @property
    def count(self) -> int:
        """All repeats."""
        return sum(count for _, count in self.asked)


def counted(repeated: Iterable[WorkRepeat]) -> Repeated:
    """Count repeats."""
    found = sorted(repeated, key=lambda one: one[:2])
    return Repeated(
        sum(repeat.is_sure for repeat in found),
        list(Counter(repeat.asked for repeat in found).items()),
        [(repeat.item_id, repeat.delivery_index, repeat.evidence_ids) for repeat in found[:_CITED]],
    )


def all_repeated(parts: Iterable[Repeated]) -> Repeated:
    """Add up the repeats of different works."""
    found, asked = Repeated(), Counter[Repeat]()
    for part in parts:
        found.sure += part.sure
        found.cited += part.cited
        for repeat, count in part.asked:
            asked[repeat] += count
    return Repeated(found.sure, list(asked.items()), sorted(found.cited)[:_CITED])


def repeats(
    messages: Iterable[Message],
    redeliveries: Iterable[Redelivery],
    ledger: Iterable[AnyDelivery],
    affected: Collection[str],
) -> list[WorkRepeat]:
    """Return the repeats of affected work: each delivery that did it, or may have, after an earlier one did or may have.

    ``ledger`` holds the works of the messages whole; of it, and of the redeliveries, only those of ``affected`` items count. A line that
    names a key alone is a repeat of its messages' work only where it shows one for sure: it may tell of a delivery that counts already.
    """
    ledger = list(ledger)
    origins = {message.item_id: message.origin for message in messages}
    paired = {(r.item_id, r.delivery_index): r for r in redeliveries if r.item_id in affected}
    works: dict[str, list[AnyDelivery]] = defaultdict(list)
    for delivery in ledger:
        if delivery.effect == "yes" or (delivery.effect != "no" and not _is_beside(delivery)):
            works[delivery.work_id].append(delivery)
    found = [one for delivery in ledger if delivery.item_id in affected for one in _tried_again(delivery)]
    for deliveries in works.values():
        deliveries.sort(key=_place_in_work)
        was_done = False
        for place, delivery in enumerate(deliveries):
            may_count = was_done or not _is_beside(delivery)
            if place and may_count and delivery.item_id in affected:
                pair = paired.get((delivery.item_id, delivery.delivery_index))
                found.append(_repeat(delivery, pair, origins.get(delivery.item_id), was_done))
            was_done = was_done or delivery.effect == "yes"
    found.sort(key=lambda one: one[:2])
    return found


def _tried_again(delivery: AnyDelivery) -> list[WorkRepeat]:
    """Return the repeats of a worker that tried a message again in hand, which did its work or may have."""
    sure = delivery.done_more_count if delivery.effect == "yes" else 0
    count = delivery.done_more_count + delivery.maybe_more_count
    before = "yes" if delivery.effect == "yes" else "unknown"
    asked = _ALONE._replace(
        cause=TRIED_AGAIN, is_fifo=delivery.is_fifo, earlier_kind=delivery.consumer_kind, earlier_effect=before
    )
    return [
        WorkRepeat(delivery.item_id, delivery.delivery_index, asked, delivery.evidence_ids, number < sure)
        for number in range(count)
    ]


def _is_beside(delivery: AnyDelivery) -> bool:
    """``Delivery.is_beside_messages``, also of what is packed for incidents."""
    return delivery.item_id.startswith(KEY_ITEM) and delivery.work_id != delivery.item_id


def _place_in_work(delivery: AnyDelivery) -> tuple[int, str, int]:
    at = delivery.order_at if delivery.received_at is None else delivery.received_at
    return -1 if at is None else at, delivery.item_id, delivery.delivery_index


def _repeat(delivery: AnyDelivery, pair: Redelivery | None, origin: str | None, was_done: bool) -> WorkRepeat:
    """Put together what is known of a repeat; ``pair`` is None where the work came in another message."""
    before = "yes" if was_done else "unknown"
    is_sure = was_done and delivery.effect == "yes"
    if pair is None:
        asked = _ALONE._replace(cause=origin or "undecidable", is_fifo=delivery.is_fifo, earlier_effect=before)
        return WorkRepeat(delivery.item_id, delivery.delivery_index, asked, delivery.evidence_ids, is_sure)
    asked = Repeat(
        cause=pair.came_by,
        is_fifo=delivery.is_fifo,
        earlier_kind=pair.earlier_kind or _ALONE.earlier_kind,
        earlier_status=pair.earlier_status or _ALONE.earlier_status,
        earlier_effect=before,
        earlier_batch_count=pair.earlier_batch_count,
        earlier_is_printed=pair.earlier_is_printed,
        earlier_is_named_failure=pair.earlier_is_named_failure,
        earlier_has_finish_mark=pair.earlier_has_finish_mark,
        batch_size=pair.earlier_batch_size,
        visibility_timeout_s=pair.visibility_timeout_s,
        has_heartbeat=pair.earlier_has_heartbeat,
        function_timeout_s=pair.earlier_function_timeout_s,
        run_ms=pair.run_ms,
    )
    return WorkRepeat(delivery.item_id, delivery.delivery_index, asked, pair.evidence_ids, is_sure)


def counterfactual_rows(incident_id: str, queue_arn: str, queue: str, repeated: Repeated) -> list[Row]:
    """Return a row per change in the columns of COUNTERFACTUALS: how many repeats it would have prevented, and why: per outcome
    its count and its most frequent reason.

    ``repeated`` are the incident's; without any there are no rows.
    """
    told_of: dict[str, dict[str, Counter[str]]] = {change: {} for change in CHANGES}
    every = repeated.count
    for asked, count in repeated.asked:
        for change, (outcome, reason) in answers(asked):
            told_of[change].setdefault(outcome, Counter())[reason] += count
    evidence = sorted({line for *_, lines in repeated.cited for line in lines})
    rows = []
    for change, reasons in told_of.items() if every else ():
        counts = {outcome: reasons[outcome].total() for outcome in _OUTCOMES if outcome in reasons}
        told = [
            said(_TOLD[outcome], count=count, why=most_frequent(reasons[outcome])) for outcome, count in counts.items()
        ]
        prevented = counts.get(PREVENTED, 0)
        rows.append(
            {
                "incident_id": incident_id,
                "queue_arn": queue_arn,
                "queue": queue,
                "change": change,
                "repeats": every,
                "prevented": prevented,
                "undecided": counts.get(UNDECIDED, 0),
                "prevented_percent": prevented * 100 // every,
                "reason": joined(told, "; "),
                "evidence_ids": evidence,
            }
        )
    return rows
