"""An incident's timeline: bars and marks, each with the lines that show it."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from forensics.judging.pairs import are_one_receive
from forensics.sentence import said
from forensics.streams.model import Delivery
from forensics.terms import GIVEN_AGAIN

_DERIVED = frozenset({"dead_lettered", "unseen"})
"""Kinds that no line shows: they follow from others."""

_CRASHED = "the runtime crashed: no reason given"

_Mark = tuple[str, int | None, int | None, str]
"""Kind, from when, until when (None: a moment), and what to say of it."""


GIVEN = ("place", "delivery_index", "kind", "at", "until_at", "ended_by", "source", "label")
"""What a bar or mark says itself; ``place`` is that of its delivery in the ledger."""
MARK_COLUMNS = (*GIVEN, "label_marked")
"""The same as it is kept: a label in both forms."""
MARKED = ("queue_arn", "item_id", "message_id", "receive_count", "function_name", "consumer", "evidence_ids")
"""What it says of its delivery, as the row of ``deliveries`` does; its incident and lane are not known yet."""


def mark_rows(ledger: Collection[Delivery], mine: Collection[tuple[str, str]]) -> list[tuple[Any, ...]]:
    """Return the bars (in_flight, handling) and marks of messages (queue ARN, item id), as GIVEN names what each says; times in µs.

    ``ledger`` holds the works of these messages whole, so that work done again is told from work done first; deliveries of
    other messages get no rows.
    """
    first_done = _first_done(ledger)
    receives, given_again = _receives(ledger, mine), _given_again(ledger, mine)
    rows = []
    for place, d in enumerate(ledger):
        item = d.queue_arn, d.item_id
        if item not in mine:
            continue
        is_again = d.effect == "yes" and _place_of_work(d) != first_done[d.queue_arn, d.work_id]
        shown_by = " ".join(filter(None, (d.log_stream, d.request_id)))
        for kind, at, until_at, label in _marks(
            d, is_again, receives.get(item, ()), (*item, d.delivery_index) in given_again
        ):
            if at is not None:
                index = 0 if kind == "sent" else d.delivery_index
                ended_by = d.ended_by if kind == "in_flight" else None
                source = "derived" if kind in _DERIVED else shown_by
                rows.append((place, index, kind, at, until_at, ended_by, source, label))
    return rows


def _first_done(ledger: Iterable[Delivery]) -> Mapping[tuple[str, str], tuple[int, str, int]]:
    """Return per work the place of the delivery in which it was done first, of those in which it was for sure.

    A delivery that was received later may have done it before a slower one.
    """
    first: dict[tuple[str, str], tuple[int, str, int]] = {}
    for d in ledger:
        if d.effect == "yes":
            place = _place_of_work(d)
            if first.setdefault((d.queue_arn, d.work_id), place) > place:
                first[d.queue_arn, d.work_id] = place
    return first


def _receives(ledger: Iterable[Delivery], mine: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], list[int]]:
    """Return when each message that came more than once was received, in order."""
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for d in ledger:
        item = d.queue_arn, d.item_id
        if d.received_at is not None and item in mine:
            found[item].append(d.received_at)
    return {item: sorted(times) for item, times in found.items() if len(times) > 1}


def _given_again(ledger: Iterable[Delivery], mine: Collection[tuple[str, str]]) -> set[tuple[str, str, int]]:
    """Return the places of deliveries that had their message by the receive of the one before: their poller invoked the function again."""
    items: dict[tuple[str, str], list[Delivery]] = {item: [] for item in _named_alike(ledger) if item in mine}
    for d in ledger if items else ():
        if (item := (d.queue_arn, d.item_id)) in items:
            items[item].append(d)
    found = set()
    for item, deliveries in items.items():
        deliveries.sort(key=lambda d: d.delivery_index)
        found |= {
            (*item, after.delivery_index) for before, after in pairwise(deliveries) if are_one_receive(before, after)
        }
    return found


def _named_alike(ledger: Iterable[Delivery]) -> set[tuple[str, str]]:
    """Return the items of which two deliveries have one receipt handle or one receive count: few have."""
    seen: set[tuple[str, str, str | int]] = set()
    found = set()
    for d in ledger:
        for name in (d.receipt_handle, d.receive_count):
            if name is not None:
                if (told := (d.queue_arn, d.item_id, name)) in seen:
                    found.add(told[:2])
                seen.add(told)
    return found


def _place_of_work(d: Delivery) -> tuple[int, str, int]:
    at = d.effect_at if d.effect_at is not None else d.received_at
    return -1 if at is None else at, d.item_id, d.delivery_index


def _marks(d: Delivery, is_again: bool, receives: Sequence[int], is_given_again: bool = False) -> Iterator[_Mark]:
    """Yield what is drawn of one delivery; without a time a mark is not drawn.

    One that had its message by the receive before it (``is_given_again``) had it since its run began.

    A message that was received again had been visible before that, whatever its run did: where nothing tells until when it was
    hidden, it was in flight until then at the latest.
    """
    ended_at = _first_known(d.run_ended_at, d.last_fact_at)
    gone_at = _first_known(d.delete_at, d.run_ended_at, d.finished_at) if d.ended_by == "deleted" else None
    labels = _labels(d.receive_count)
    if d.is_seen:
        if d.delivery_index == 1:
            yield "sent", d.sent_at, None, "sent"
        after = len(receives) if d.received_at is None else bisect_right(receives, d.received_at)
        again_at = receives[after] if after < len(receives) else None
        left_at = ended_at if again_at is None or ended_at is None else min(ended_at, again_at)
        yield (
            "in_flight",
            _first_known(d.run_started_at, d.received_at) if is_given_again else d.received_at,
            _first_known(gone_at, d.hidden_until_at, left_at),
            labels.given_again if is_given_again else labels.in_flight,
        )
        began_at = _first_known(d.started_at, d.received_at if d.consumer_kind == "worker" else None)
        yield (
            "handling",
            began_at,
            _first_known(d.finished_at, ended_at),
            labels.handling,
        )
    if d.effect == "yes":
        yield "repeat" if is_again else "effect", d.effect_at, None, _done(d.basis, is_again)
    if d.run_status == "timeout":
        yield "timeout", ended_at, None, "the run timed out"
    elif d.run_status == "error":
        yield "error", ended_at, None, said("the run failed: {name}", name=d.error_type or "error")
    elif d.run_status in ("crash", "init_failed"):
        why = said("the runtime crashed: {name}", name=d.error_type) if d.error_type else _CRASHED
        yield "crash", ended_at, None, why
    if d.ended_by == "deleted":
        yield "deleted", gone_at, None, "deleted"
    elif d.ended_by == "delete_refused":
        yield "delete_refused", d.delete_at, None, "delete refused: the receipt handle has expired"
    elif d.ended_by == "dead_lettered":
        yield (
            "dead_lettered",
            d.hidden_until_at,
            None,
            "moved to the dead-letter queue (when it was visible again, or later)",
        )
    if not d.is_seen:
        yield "unseen", _first_known(d.received_at, d.order_at), None, labels.unseen


class _Labels(NamedTuple):
    """What is said of a receive, by its count."""

    in_flight: str
    given_again: str
    handling: str
    unseen: str


@lru_cache(maxsize=1_000)
def _done(basis: str, is_again: bool) -> str:
    return said("work done again ({basis})" if is_again else "work done ({basis})", basis=basis)


@lru_cache(maxsize=1_000)
def _labels(receive_count: int | None) -> _Labels:
    received = "receive count not logged" if receive_count is None else said("receive #{n}", n=receive_count)
    return _Labels(
        said("in flight, {received}", received=received),
        said(f"{GIVEN_AGAIN}: {{received}}", received=received),
        said("handling, {received}", received=received),
        said("received, and no log shows it: {received}", received=received),
    )


def _first_known(*moments: int | None) -> int | None:
    for at in moments:
        if at is not None:
            return at
    return None
