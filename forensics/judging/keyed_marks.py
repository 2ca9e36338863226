"""Marks that name only a business key, given to the message that is known by it."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

from forensics.identity import KEY_ITEM
from forensics.judging.evidence import united
from forensics.judging.known import first_known, highest, lowest
from forensics.judging.sends import Sends
from forensics.judging.works import keys_of
from forensics.streams.model import Delivery


def with_marks_by_key(deliveries: Sequence[Delivery], sends: Sends) -> list[Delivery]:
    """Give marks that name only a key to the one message that is known by it, where that was in hand in the same place.

    A message is known by the key that its send named, and by what its lines name with it anywhere. Where several could have
    written a mark, one of them perhaps of which no line tells the key, it stays what it is: a line about the key. A line of another
    log group, of a service that the handler calls, is the one message's that is known by its key and was in hand once when it was
    written. Changes what it is given.
    """
    if all(delivery.message_id is not None for delivery in deliveries):
        return list(deliveries)
    of_message: dict[tuple[str, str | None], list[Delivery]] = defaultdict(list)
    for delivery in deliveries:
        if delivery.message_id is not None:
            of_message[delivery.queue_arn, delivery.message_id].append(delivery)
    in_hand: dict[tuple[str, str], list[Delivery]] = defaultdict(list)
    for (queue_arn, _), mine in of_message.items():
        for key in keys_of(mine) | {send.key for send in sends.of(mine) if send.key is not None}:
            in_hand[queue_arn, key] += [d for d in mine if not d.is_passing]
    left = _given(deliveries, lambda mark: _owner(mark, in_hand), in_hand)
    called = _by_handling(left, in_hand)
    return _given(left, lambda mark: called.get(id(mark)), in_hand)


def _given(
    deliveries: Sequence[Delivery],
    owner_of: Callable[[Delivery], Delivery | None],
    in_hand: Mapping[tuple[str, str], Sequence[Delivery]],
) -> list[Delivery]:
    """Return the deliveries without the marks that name only a key and have an owner, which is given what they say."""
    found = []
    for delivery in deliveries:
        is_left = delivery.message_id is not None or delivery.may_be_of_another
        owner = None if is_left else owner_of(delivery)
        if owner is None or not _is_surely_of(delivery, owner, in_hand):
            found.append(delivery)
            continue
        owner.marker_at = lowest((owner.marker_at, delivery.marker_at))
        owner.guard_at = lowest((owner.guard_at, delivery.guard_at))
        owner.last_fact_at = highest((owner.last_fact_at, delivery.last_fact_at))
        owner.business_keys = united(owner.business_keys, delivery.business_keys)
        owner.fact_ids = united(owner.fact_ids, delivery.fact_ids)
        owner.evidence_ids = united(owner.evidence_ids, delivery.evidence_ids)
    return found


def _is_surely_of(mark: Delivery, owner: Delivery, in_hand: Mapping[tuple[str, str], Sequence[Delivery]]) -> bool:
    """Tell whether a mark is of its owner, and of no other of the messages that were in hand when it was written.

    One that is not known by its key may have it all the same, which matters where the owner's worker may have been killed before: its
    message was visible again, or was handed out again later, and no line tells that this handling went on behind the mark. What tells
    another key of that one may not be at hand here.
    """
    if not mark.one_of:
        return True
    known = [d for key in mark.business_keys for d in in_hand.get((mark.queue_arn, key), ())]
    is_doubtful = _may_have_been_killed(owner, first_known(mark.marker_at, mark.guard_at), known)
    return owner.message_id in mark.one_of and (
        not is_doubtful or {d.message_id for d in known}.issuperset(mark.one_of)
    )


def _may_have_been_killed(owner: Delivery, at: int | None, known: Sequence[Delivery]) -> bool:
    """Tell whether a worker may have had its message no more at a moment; ``known`` are deliveries of messages with its key."""
    if owner.hidden_until_at is None or at is None or at >= owner.hidden_until_at:
        return True
    if owner.is_end_known and owner.run_ended_at is not None and owner.run_ended_at >= at:
        return False
    return any(d.message_id == owner.message_id and (d.received_at or 0) > (owner.received_at or 0) for d in known)


def with_contradicted_marks_apart(deliveries: Sequence[Delivery]) -> list[Delivery]:
    """Take from a message the marks and guards by key of which another of its deliveries tells another key: each is a line about its key again.

    Such a line was given to its message in turn, while that was alone in hand; the other key shows that one of them is of a
    work left behind. Changes what it is given.
    """
    told: dict[tuple[str, str | None], set[frozenset[str]]] = defaultdict(set)
    for delivery in deliveries if any(map(_is_told_by_key, deliveries)) else ():
        if delivery.message_id is not None:
            told[delivery.queue_arn, delivery.message_id].add(keys_of([delivery]))
    found = list(deliveries)
    for delivery in deliveries if told else ():
        keys = keys_of([delivery])
        others = told.get((delivery.queue_arn, delivery.message_id), set())
        if _is_told_by_key(delivery) and len(keys) == 1 and any(other and not other & keys for other in others):
            found.append(_taken_from(delivery, keys))
    return found


def with_guessed_marks_apart(deliveries: Sequence[Delivery], sends: Sends) -> list[Delivery]:
    """Take from a message the guessed marks by whose key another is known, and it is not, or of which another key is told: each is a line about its key again.

    The other may have been in hand, too, and its opening be lost; a message has but one key. Changes what it is given.
    """
    if not any(d.is_mark_guessed for d in deliveries):
        return list(deliveries)
    known: dict[tuple[str, str], set[str | None]] = defaultdict(set)
    told: dict[tuple[str, str | None], set[str]] = defaultdict(set)
    for delivery in deliveries:
        keys = frozenset() if delivery.is_mark_guessed else keys_of([delivery])
        for key in keys | {send.key for send in sends.of([delivery]) if send.key is not None}:
            known[delivery.queue_arn, key].add(delivery.message_id)
        told[delivery.queue_arn, delivery.message_id] |= keys_of([delivery])
    found = list(deliveries)
    for delivery in deliveries:
        keys, message_id = keys_of([delivery]), delivery.message_id
        if not delivery.is_mark_guessed or len(keys) != 1 or message_id is None:
            continue
        others = known[delivery.queue_arn, min(keys)] - {None}
        has_another = bool(others) or told[delivery.queue_arn, message_id] > keys
        if has_another and message_id not in others:
            found.append(_taken_from(delivery, keys))
            found[-1].one_of = [message_id]
    return found


def _taken_from(delivery: Delivery, keys: frozenset[str]) -> Delivery:
    """Return a delivery's mark and guard by key, by themselves, and let the delivery say no more that it has them."""
    alone = _alone(delivery, min(keys))
    if delivery.key_marker_count or delivery.is_mark_guessed:
        alone.marker_at, alone.key_marker_count = delivery.marker_at, delivery.key_marker_count
        delivery.marker_at, delivery.key_marker_count, delivery.has_stray_mark = None, 0, True
    if delivery.is_guard_by_key:
        alone.guard_at, alone.is_guard_by_key = delivery.guard_at, True
        delivery.guard_at, delivery.is_guard_by_key, delivery.has_stray_guard = None, False, True
    delivery.business_keys = [key for key in delivery.business_keys if key not in keys]
    return alone


def _is_told_by_key(delivery: Delivery) -> bool:
    return delivery.key_marker_count > 0 or delivery.is_guard_by_key


_OF_THE_RUN = (
    *("queue_arn", "queue", "consumer", "consumer_kind", "log_group", "log_stream", "request_id", "function_name"),
    *("run_started_at", "run_ended_at", "is_end_known", "run_last_line_at", "run_status", "error_type"),
    *("has_effect", "is_exhaustive", "order_declared", "received_at", "received_basis", "order_at"),
    *("is_fifo", "visibility_timeout_s", "fact_ids", "end_ids", "evidence_ids"),
)
"""What a delivery says of its run, and not of its message."""


def _alone(mark: Delivery, key: str) -> Delivery:
    """Return what a line by key says by itself of the run that it stands in, without what it says."""
    carried = {name: getattr(mark, name) for name in _OF_THE_RUN}
    return Delivery(item_id=f"{KEY_ITEM}{key}", business_keys=[key], **carried)


def _owner(mark: Delivery, in_hand: Mapping[tuple[str, str], Sequence[Delivery]]) -> Delivery | None:
    at = first_known(mark.marker_at, mark.guard_at)
    mine = [d for key in mark.business_keys for d in in_hand.get((mark.queue_arn, key), ())]
    near = [d for d in mine if at is not None and _has_in_hand(d, mark, at)]
    return near[0] if len(near) == 1 else None


def _by_handling(
    deliveries: Sequence[Delivery], in_hand: Mapping[tuple[str, str], Sequence[Delivery]]
) -> dict[int, Delivery]:
    """Return whose the marks of services are, by ``id``: of two in one handling nothing tells which was of it, and none is given."""
    found: dict[int, tuple[Delivery, Delivery]] = {}
    for mark in deliveries:
        owner = _handling(mark, in_hand) if mark.message_id is None else None
        if owner is not None:
            found[id(mark)] = mark, owner
    times = Counter(id(owner) for _, owner in found.values())
    return {name: owner for name, (_, owner) in found.items() if times[id(owner)] == 1}


def _handling(mark: Delivery, in_hand: Mapping[tuple[str, str], Sequence[Delivery]]) -> Delivery | None:
    """Return the one handling of the one message of the mark's key that was on when a worker's other log group was written to."""
    at = first_known(mark.marker_at, mark.guard_at)
    if mark.consumer_kind != "worker" or at is None or mark.first_fact_at != mark.last_fact_at:
        return None
    mine = [d for key in mark.business_keys for d in in_hand.get((mark.queue_arn, key), ())]
    if len({d.message_id for d in mine}) != 1 or any(d.marker_at is not None or d.guard_at is not None for d in mine):
        return None
    on = [d for d in mine if d.log_group != mark.log_group and _is_on(d, at)]
    return on[0] if len(on) == 1 else None


def _is_on(delivery: Delivery, at: int) -> bool:
    """Tell whether a message was being handled at a moment, for sure."""
    if delivery.received_at is None or delivery.run_ended_at is None or not delivery.is_end_known:
        return False
    began_at = delivery.received_at if delivery.run_started_at is None else delivery.run_started_at
    return began_at <= at <= delivery.run_ended_at


def _has_in_hand(delivery: Delivery, mark: Delivery, at: int) -> bool:
    """Tell whether a message was in hand where a line about its key was written, then."""
    if delivery.consumer_kind != "worker":
        return delivery.consumer == mark.consumer
    if (delivery.log_group, delivery.log_stream) != (mark.log_group, mark.log_stream):
        return False
    is_over = delivery.is_end_known and delivery.run_ended_at is not None and delivery.run_ended_at < at
    began_at = first_known(delivery.run_started_at, delivery.received_at)  # by the clock that the line has
    return began_at is not None and began_at <= at and not is_over
