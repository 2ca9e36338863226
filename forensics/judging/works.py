"""Which messages stand for the same work: linked by ids that items of one queue share, directly or through others."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain

from forensics.event_ids import is_event_id
from forensics.judging.ending import ended_if_last
from forensics.judging.known import first_known
from forensics.judging.links import Key, Links
from forensics.judging.surroundings import Surroundings
from forensics.streams.model import Delivery


def works(items: Sequence[list[Delivery]], around: Surroundings) -> list[list[list[Delivery]]]:
    """Put items together that share their work, in order of queue and work, and fill in ``work_id``: the smallest id of its messages, else its key's item id.

    Items of one queue share their work by deduplication id in their message group, business key, a framework's job id, a
    deduplication id that is the other's message id (a FIFO redrive), and a body that went to the dead-letter queue once and
    came back once while a move task was on. An equal body alone links nothing, nor does a deduplication id that may be its hash
    (``ids_of_bodies``), or under which different business keys were sent, or different bodies of which no business key tells more:
    it may stand for something else than the work. Lines that name a business key alone, no event's id, are of the work of the messages that have it. Where
    nothing tells the queue a key may be of several, so that only job and message ids link. What of all that may be one work all the same, ``maybe_same`` tells. ``items`` need their effects and endings.
    """
    redriven = _redriven_bodies(items, around) if around.has_move_tasks else {}
    of_others = _of_several_works(items) | ids_of_bodies(items, around)
    message_ids = {d.message_id for item in items for d in item if d.message_id is not None}
    links = Links()
    holders: dict[tuple[str, str, str], Key] = {}
    for item in items:
        key = _key(item)
        shared = _shared_values(item, message_ids) - of_others
        if not around.is_of_one_queue(item[0]):
            shared = {(kind, value) for kind, value in shared if kind in _OF_ANY_QUEUE}
        for kind, value in shared | redriven.get(key, set()):
            holder = holders.setdefault((key[0], kind, value), key)
            if holder is not key:
                links.join(holder, key)
    found: dict[Key, list[list[Delivery]]] = defaultdict(list)
    for item in items:
        found[links.smallest(_key(item))].append(item)
    named: dict[Key, list[list[Delivery]]] = {}
    for work in found.values():
        _, name = min((item[0].message_id is None, item[0].item_id) for item in work)
        named[work[0][0].queue_arn, name] = work
        for delivery in chain.from_iterable(work):
            delivery.work_id = name
    return [work for _, work in sorted(named.items())]


_OF_ANY_QUEUE = ("message", "job")
"""Kinds of shared values that stand for one work, whichever queue it is in."""


def _key(item: Sequence[Delivery]) -> Key:
    return item[0].queue_arn, item[0].item_id


def _shared_values(item: Iterable[Delivery], message_ids: Collection[str]) -> set[tuple[str, str]]:
    """Return what an item may share with others, as kind and value.

    A deduplication id links those that have it in one message group, and the message that it names. Groups may have deduplication ids of their own (DeduplicationScope).
    """
    values = set()
    for d in item:
        if d.message_id is not None:
            values.add(("message", d.message_id))
        if d.deduplication_id is not None:
            values.add(_deduplicated(d))
            if d.deduplication_id in message_ids:
                values.add(("message", d.deduplication_id))
        if d.job_id is not None:
            values.add(("job", d.job_id))
        for key in d.business_keys if d.message_id is not None else keys_of([d]):
            values.add(("business_key", key))
    return values


def _deduplicated(d: Delivery) -> tuple[str, str]:
    return "deduplication", f"{d.queue_arn} {d.group_id} {d.deduplication_id}"


def _of_several_works(items: Iterable[Sequence[Delivery]]) -> set[tuple[str, str]]:
    """Return the deduplication ids, each in its queue and message group, that were sent with different business keys.

    Or with different bodies: whose business key is the same is linked by that. Who publishes one event twice gives it another event
    id each time, and so another body.
    """
    sent: dict[tuple[str, str], list[tuple[frozenset[str], frozenset[str]]]] = defaultdict(list)
    for item in items:
        names = {_deduplicated(d) for d in item if d.deduplication_id is not None}
        if not names:
            continue
        keys = keys_of(item)
        is_event = any(is_event_id(key) for d in item for key in d.business_keys)
        bodies = frozenset(d.body_md5 for d in item if d.body_md5 is not None and not is_event)
        for name in names:
            sent[name].append((keys, bodies))
    return {name for name, works in sent.items() if _are_several(works)}


_HASH = re.compile("[0-9a-f]{64}")


def ids_of_bodies(items: Iterable[Sequence[Delivery]], around: Surroundings) -> set[tuple[str, str]]:
    """Return the deduplication ids, each in its queue and message group, that are or may be the SHA-256 of a body.

    SQS makes them so where a queue's deduplication is content-based: they say no more than an equal body. A producer made one
    that was sent with different bodies, or while its queue's setting was off.
    """
    named: dict[tuple[str, str], list[Delivery]] = defaultdict(list)
    for item in items:
        for d in item:
            if d.deduplication_id is not None and _HASH.fullmatch(d.deduplication_id):
                named[_deduplicated(d)].append(d)
    return {name for name, sent in named.items() if _may_be_of_body(sent, around)}


def _may_be_of_body(sent: Sequence[Delivery], around: Surroundings) -> bool:
    if len({d.body_md5 for d in sent} - {None}) > 1:
        return False
    in_force = [around.in_force.queue(d.queue_arn, first_known(d.sent_at, d.received_at)) for d in sent]
    return any(row is None or row.get("content_based_deduplication") is not False for row in in_force)


def keys_of(deliveries: Iterable[Delivery]) -> frozenset[str]:
    """Return the business keys that lines tell of deliveries; an event's id is none."""
    return frozenset(key for d in deliveries for key in d.business_keys if not is_event_id(key))


def _are_several(sent: Sequence[tuple[frozenset[str], frozenset[str]]]) -> bool:
    """Tell whether messages, of each its business keys and bodies, are not all of one work."""
    keys = [mine for mine, _ in sent if mine]
    bodies = [mine for _, mine in sent if mine]
    return any(told and not frozenset.intersection(*told) for told in (keys, bodies))


def _redriven_bodies(items: Iterable[Sequence[Delivery]], around: Surroundings) -> Mapping[Key, set[tuple[str, str]]]:
    """Return per item the MD5s that it shares with another: one of the two dead-lettered, one brought by a move task.

    A message is taken for dead-lettered by any delivery that would have ended so, were it the last: what seems to come
    after it may be a late line, and a second candidate makes the link a guess.
    """
    went: dict[tuple[str, str], set[Key]] = defaultdict(set)
    came: dict[tuple[str, str], set[Key]] = defaultdict(set)
    for item in items:
        for d in item:
            if d.body_md5 is None:
                continue
            if around.was_moved(d.queue_arn, d.sent_at):
                came[d.queue_arn, d.body_md5].add(_key(item))
            elif ended_if_last(d, around, is_back=True) == "dead_lettered":
                went[d.queue_arn, d.body_md5].add(_key(item))
    redriven: dict[Key, set[tuple[str, str]]] = defaultdict(set)
    for (queue_arn, body), gone in went.items():
        back = came.get((queue_arn, body), set())
        if len(gone) == len(back) == 1:
            for key in gone | back:
                redriven[key].add(("redriven_body", body))
    return redriven
