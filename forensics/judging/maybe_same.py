"""Works that may be one: sent under one deduplication id, with bodies that differ only in what differs at each send, or are equal.

A producer that puts the time into a body sends the same work again so; or the id stands for a customer who ordered the same
twice. An id that may be the hash of a body says no more than that: what recurs every hour is sent under one, and so is what a
producer sends again. And messages with one business key of which nothing tells the queue: in one queue they are one work, in two they are two.
Nothing tells, so each stays a work of its own, and what was done for the others raises only how often it may have been done.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

from forensics.judging.bounds import why_open
from forensics.judging.known import first_known, highest, lowest
from forensics.judging.surroundings import Surroundings
from forensics.judging.works import ids_of_bodies, keys_of
from forensics.streams.model import Delivery

Item = Sequence[Delivery]
Work = Sequence[Item]

LONGEST_US = 12 * 3_600_000_000
"""Sends of one work follow one another within so long: what comes every day is another day's work."""
MOST_NAMED = 50
MOST_COUNTED = 200
"""Of more that follow one another nobody adds up how often each may have been done: there is no upper bound."""


class Others(NamedTuple):
    """What may be the same work as one: its messages, the nearest in time first, and what they add to its upper bound.

    ``done_at_most``: in so many of their deliveries it may have been done; ``is_open``: more of them may hide.
    """

    message_ids: tuple[str, ...] = ()
    done_at_most: int = 0
    is_open: bool = False
    works: tuple[Work, ...] = ()
    earlier: Item | None = None
    """The message among them that was sent last before the first of this work, where one was under its deduplication id."""
    is_earlier_by_body: bool = False
    """The id of that one may be the hash of its body."""
    by: str = "id"
    """What makes the nearest one: its deduplication id and a body that is alike; an id that may be its "body"'s hash; or its business "key",
    its queue being unknown."""

    def __bool__(self) -> bool:
        return bool(self.works)


NONE = Others()


class _Sent(NamedTuple):
    """A message of a work, by the work's place, when it was sent, and the work's business keys, without those of events."""

    at: int
    place: int
    item: Item
    keys: frozenset[str]
    by: str = "id"


class MaybeSame:
    """Finds among judged works of any queues those that may be the same. Needs their effects and endings."""

    def __init__(self, works: Sequence[Work], around: Surroundings) -> None:
        self._works, self._around = works, around
        self._chains: dict[int, list[tuple[list[_Sent], bool]]] = defaultdict(list)
        self._added: dict[int, tuple[int, bool]] = {}
        for alike in (*map(_chains, _alike(works, around)), _by_key(works, around)):
            for chain in alike:
                if len(chain) <= MOST_COUNTED:
                    for place in {sent.place for sent in chain}:
                        self._chains[place].append((chain, False))
                    continue
                for number, sent in enumerate(chain):
                    near = chain[max(0, number - MOST_NAMED) : number + MOST_NAMED + 1]
                    self._chains[sent.place].append((near, True))

    def of(self, place: int) -> Others:
        """Return what may be the same work as that at a place."""
        if (chains := self._chains.get(place)) is None:
            return NONE
        mine = [sent for chain, _ in chains for sent in chain if sent.place == place]
        keys = frozenset().union(*(sent.keys for sent in mine))
        others = [
            sent
            for chain, _ in chains
            for sent in chain
            if sent.place != place
            and (sent.by == "key" or not (sent.keys and keys))  # both known: they would be one work
        ]
        if not others:
            return NONE
        began = min(sent.at for sent in mine)
        others.sort(key=lambda sent: (abs(sent.at - began), sent.item[0].item_id))
        places = list(dict.fromkeys(sent.place for sent in others))
        added = [self._adds(other) for other in places]
        before = [sent for sent in others if sent.at < began and sent.by != "key"]
        return Others(
            tuple(dict.fromkeys(sent.item[0].item_id for sent in others))[:MOST_NAMED],
            sum(count for count, _ in added),
            any(is_open for _, is_open in (*added, *chains)),
            tuple(self._works[other] for other in places),
            before[0].item if before else None,
            bool(before) and before[0].by == "body",
            others[0].by,
        )

    def _adds(self, place: int) -> tuple[int, bool]:
        """Return in how many deliveries of a work it may have been done, and whether more of them can hide."""
        if place not in self._added:
            work = self._works[place]
            count = sum((d.effect != "no") + d.done_more_count + d.maybe_more_count for item in work for d in item)
            self._added[place] = count, any(why_open(item, self._around) for item in work)
        return self._added[place]


def _alike(works: Sequence[Work], around: Surroundings) -> Iterable[list[_Sent]]:
    """Yield the messages of several works that have one deduplication id in a group, and bodies that are alike or made that id."""
    items = [(place, item) for place, work in enumerate(works) for item in work]
    ids = [(_deduplicated(item), place) for place, item in items]
    several = Counter(name for name, _ in set(ids) if name is not None)
    of_bodies = {name for _, name in ids_of_bodies((item for _, item in items), around)}
    by_name: dict[tuple[str, str], list[_Sent]] = defaultdict(list)
    for (place, item), (name, _) in zip(items, ids, strict=True):
        if name is None or several[name] < 2 or item[0].message_id is None:
            continue
        is_of_body = name in of_bodies
        shape = "" if is_of_body else highest([d.body_shape for d in item]) or highest([d.body_md5 for d in item])
        at = _sent_at(item)
        if shape is not None and at is not None:
            sent = _Sent(at, place, item, _keys(works[place]), "body" if is_of_body else "id")
            by_name[name, shape].append(sent)
    return by_name.values()


def _by_key(works: Sequence[Work], around: Surroundings) -> Iterable[list[_Sent]]:
    """Yield the messages of several works that have one business key in an unknown queue, in order."""
    by_key: dict[tuple[str, str], list[_Sent]] = defaultdict(list)
    for place, work in enumerate(works):
        for item in work:
            if item[0].message_id is None or around.is_of_one_queue(item[0]):
                continue
            for key in {key for d in item for key in d.business_keys}:
                sent = _Sent(first_known(_sent_at(item), 0), place, item, frozenset(), "key")
                by_key[item[0].queue_arn, key].append(sent)
    for alike in by_key.values():
        if len({sent.place for sent in alike}) > 1:
            yield sorted(alike, key=attrgetter("at", "place"))


def _sent_at(item: Item) -> int | None:
    """Return when a message was sent, else first received, as far as is known."""
    return first_known(lowest([d.sent_at for d in item]), lowest([d.received_at for d in item]))


def _keys(work: Work) -> frozenset[str]:
    return keys_of(d for item in work for d in item)


def _deduplicated(item: Item) -> str | None:
    first = next((d for d in item if d.deduplication_id is not None), None)
    return None if first is None else f"{first.queue_arn} {first.group_id} {first.deduplication_id}"


def _chains(alike: list[_Sent]) -> Iterable[list[_Sent]]:
    """Yield the messages of several works that were sent soon enough after one another."""
    alike.sort(key=attrgetter("at", "place"))
    begins = [0, *(n for n, (one, two) in enumerate(pairwise(alike), 1) if two.at - one.at > LONGEST_US), len(alike)]
    for first, end in pairwise(begins):
        if len({sent.place for sent in alike[first:end]}) > 1:
            yield alike[first:end]
