"""What each thread of a worker's stream has in hand, and whose a line of work is that names nothing but a business key."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from forensics.event_ids import is_event_id
from forensics.identity import KEY_ITEM
from forensics.streams.in_hand import CLOSERS, GOES_ON, LOOK_BACK, OPENERS, SLOWEST, OpenMessages
from forensics.streams.model import GUESSED, ONE_OF, PERHAPS, Fact, PlacedFact
from forensics.streams.once import MOMENT_US

TELLS_KEY = frozenset({"record", "started"})
"""Roles of lines that name a message and its business key both, and whose message the key's lines are about."""

DECIDES = frozenset({"effect", "guard"})
"""Roles of lines that say whether a message's work was done."""

_IN_HAND = GOES_ON | OPENERS

LEAST_OPENED, TURNS = 10, 0.8
"""So many messages must have been opened, and such a share of them when their thread had none, for threads to take turns."""


def _shows_openings_from(facts: Sequence[PlacedFact], are_several: bool) -> int:
    """Return the place from which on every thread shows when it opened each of its messages.

    A message that goes on where it was not opened, or ends more often than it was opened, shows that openings are missing:
    before it, where the stream had begun before what was read of it, else anywhere. ``are_several``: threads are told apart.
    """
    opened: dict[tuple[str | None, str], Counter[str]] = {}
    ended: dict[tuple[str | None, str], Counter[str]] = {}
    none = Counter[str]()
    found = 0
    for place, (_, _, _, fact) in enumerate(facts):
        role, message_id = fact.role, fact.message_id
        if message_id is None or role not in _IN_HAND:
            continue
        name = (fact.thread if are_several else None), message_id
        if role in OPENERS:
            opened.setdefault(name, Counter())[role] += 1
            continue
        if role in CLOSERS:
            ended.setdefault(name, Counter())[role] += 1
        if ended.get(name, none)[role] > max(opened.get(name, none).values(), default=0) or name not in opened:
            found = place + 1 if place < LOOK_BACK else len(facts)
    return found


class _Told(NamedTuple):
    """What a thread told of work since it opened a message: when last (µs), of which message and key, and whether of another one, too."""

    at: int | None = None
    message_id: str | None = None
    key: str | None = None
    is_of_several: bool = False

    def and_of(self, fact: Fact) -> "_Told":
        message_id, key = self.message_id or fact.message_id, self.key or fact.key
        is_of_another = message_id != (fact.message_id or message_id) or key != (fact.key or key)
        return _Told(fact.at, message_id, key, self.is_of_several or is_of_another)


class Threads:
    """The messages that the threads of a stream have in hand; those of the whole stream where not several threads open messages.

    They take turns if nearly every message was opened when its thread had no other in hand, and none went on after its thread
    had opened another: an event loop has several, and processes of one stream may call their threads alike.
    ``keys`` are the business keys of messages that lines tell; ``doubtful``: messages that keys are not given to, and keys
    ("key:k") that are not given to messages. ``says_ends``: workers say when they are done with a message; ``silence_ms`` as in ``LogGroup``.
    """

    def __init__(
        self,
        facts: Sequence[PlacedFact],
        keys: Mapping[str, str],
        doubtful: Collection[str],
        says_ends: bool = False,
        silence_ms: int = 0,
    ) -> None:
        self._silence_us = silence_ms * 1000
        self._lasts_us = SLOWEST * self._silence_us if says_ends else 0
        opening = {placed.fact.thread for placed in facts if placed.fact.role in OPENERS and placed.fact.message_id}
        self._opening, self._are_several = opening, len(opening - {None}) > 1
        self._opened: dict[str | None, OpenMessages] = {}
        self._take_turns = self._are_several and self._do_take_turns(facts)
        self._worked: dict[str | None, _Told] = {}
        self._told, self._told_keys, self._keys = keys, frozenset(keys.values()), dict(keys)
        self._facts, self._doubtful = facts, doubtful
        self._given: dict[str, dict[str, bool]] = {}
        self._unended: dict[str | None, set[tuple[str, str]]] = {}
        self._over: set[str] = set()
        self._perhaps_told: dict[str, set[str | None]] = {}
        self._raised_at: dict[str | None, int] = {}
        self._ended_at: dict[str, int] = {}
        self._shows_openings_from = _shows_openings_from(facts, self._are_several)
        self._contradicted: set[str] = set()

    @cached_property
    def _untold(self) -> set[str]:
        """The messages whose key no line tells, though lines tell those of others: one of theirs is lost."""
        told: dict[str, set[str]] = {role: set() for role in TELLS_KEY}
        telling, ids = set(), set()
        for *_, fact in self._facts:
            if fact.message_id is None:
                continue
            ids.add(fact.message_id)
            if fact.role in TELLS_KEY:
                told[fact.role].add(fact.message_id)
                if fact.key is not None and not is_event_id(fact.key):
                    telling.add(fact.role)
        return ids.difference(*(told[role] for role in telling)) if telling else set()

    @property
    def contradicted(self) -> set[str]:
        """What was given, and what the stream said later shows to have been a guess.

        A key that two messages have is that of work done under two ids, or one of the two had an opening before it that is lost:
        unless each was seen to end right behind the line with the key, or lines tell of each that it has it.
        """
        several = {key: given for key, given in self._given.items() if len(given) > 1 and not all(given.values())}
        guessed = {key for key, given in several.items() if any(self._told.get(m) != key for m in given)}
        return self._contradicted | {f"{KEY_ITEM}{key}" for key in guessed}

    def hear(self, place: int, fact: Fact) -> "OpenMessages":
        """Take in the next fact of the stream, and return what the thread that wrote it has in hand."""
        opened, unended = self.of(fact), self._unended.get(fact.thread if self._are_several else None)
        if unended and fact.message_id is not None and fact.role in OPENERS | CLOSERS:
            for key, message_id in [given for given in unended if fact.role in OPENERS or given[1] == fact.message_id]:
                self._given[key][message_id] &= fact.role in CLOSERS
                unended.discard((key, message_id))
        if unended and fact.message_id is not None and fact.role in CLOSERS:
            self._hear_of_unopened_end(place, fact, unended)
        if fact.message_id is not None and fact.role in CLOSERS:
            self._ended_at[fact.message_id] = fact.at
        opened.hear(place, fact)
        self._hear_of_failure(fact)
        if fact.role in OPENERS:
            self._worked.pop(fact.thread, None)
        elif fact.role in GOES_ON and not fact.is_failed_delete:
            self._worked[fact.thread] = self._worked.get(fact.thread, _Told()).and_of(fact)
        if fact.message_id is not None and fact.role in OPENERS:
            self._over.discard(fact.message_id)
        elif (
            fact.message_id is not None
            and fact.role in CLOSERS
            and not any(o.is_open(fact.message_id, place, fact.at) for o in self._opened.values())
        ):
            self._over.add(fact.message_id)
        return opened

    def _hear_of_unopened_end(self, place: int, fact: Fact, unended: Collection[tuple[str, str]]) -> None:
        """Take what a thread gave a key to, and did not end, for a guess where the next end is of a message whose opening is lost: it may have that key."""
        message_id = fact.message_id or ""
        is_told_again = fact.at - self._ended_at.get(message_id, fact.at - 2 * MOMENT_US) <= MOMENT_US
        if not is_told_again and not any(o.is_open(message_id, place, fact.at) for o in self._opened.values()):
            self._contradicted.update(m for key, m in unended if m != fact.message_id and self._told.get(m) != key)

    def _hear_of_failure(self, fact: Fact) -> None:
        """Remember the exception that a thread reported, unless the end of a message tells at once whose it was."""
        thread = fact.thread if self._are_several else None
        if fact.role == "worker_raised":
            self._raised_at[thread] = fact.at
        elif fact.message_id is not None and fact.role in CLOSERS:
            raised_at = self._raised_at.pop(thread, fact.at)
            if fact.at - raised_at > MOMENT_US:
                self._raised_at[thread] = raised_at

    def _has_raised_since(self, message_id: str, fact: Fact) -> bool:
        """Tell whether an exception was reported more than a moment ago that may have ended an open message's work."""
        raised_at = self._raised_at.get(fact.thread if self._are_several else None)
        return raised_at is not None and self.of(fact).opened_at(message_id) < raised_at < fact.at - MOMENT_US

    def of(self, fact: Fact) -> "OpenMessages":
        """Return what the thread that wrote a line has in hand."""
        return self._opened.setdefault(fact.thread if self._are_several else None, OpenMessages(self._lasts_us))

    def in_hand(self, place: int, fact: Fact) -> str | None:
        """Return the message that the thread of a line without any name is at; None where nothing tells."""
        if fact.is_failed_delete and (worked_on := self._worked_on(place, fact)) is not None:
            return worked_on
        if not self._are_several or fact.thread is None:
            return None
        opened = self.of(fact)
        message_id = opened.last_opened if self._take_turns else opened.in_hand(place, fact.at)
        return message_id if message_id is not None and opened.is_open(message_id, place, fact.at) else None

    def _worked_on(self, place: int, fact: Fact) -> str | None:
        """Return the message that the thread of a failed delete opened last, where its threads work in turn; None where nothing tells.

        Not where its delete had failed before, nor where its work was told more than a moment before, or another's since it was opened:
        the begin of the other is lost then, perhaps.
        """
        opened = self.of(fact)
        message_id = opened.last_opened
        if message_id is None or fact.thread is None or not self._work_in_turn:
            return None
        if not opened.is_open(message_id, place, fact.at) or opened.may_be_closed(message_id):
            return None
        told = self._worked.get(fact.thread, _Told())
        is_late = told.at is not None and fact.at - told.at > MOMENT_US
        return None if is_late or told.is_of_several or told.message_id not in (None, message_id) else message_id

    def is_of_none(self, place: int, fact: Fact) -> bool:
        """Tell whether a failed delete that is given to no message can be of none that its thread is seen to have begun: that begin is lost."""
        mine = self._opened.values() if fact.thread is None else [self.of(fact)]
        is_idle = all(opened.is_empty(place, fact.at) for opened in mine)
        return is_idle or (fact.thread is not None and self._work_in_turn)

    @cached_property
    def _work_in_turn(self) -> bool:
        """Each thread tells what became of a message before it opens the next, nearly always, and of none that it has in hand after that.

        Many never tell an end.
        """
        told: dict[str | None, _Told] = {}
        in_hand: dict[str | None, set[str]] = {}
        last_opened: dict[str | None, str] = {}
        opened = alone = 0
        for *_, fact in self._facts if None not in self._opening else ():
            thread, message_id = fact.thread, fact.message_id
            mine = in_hand.setdefault(thread, set())
            if fact.role in OPENERS and message_id is not None:
                opened += 1
                alone += told.get(thread, _Told(0)).at is not None
                told[thread], last_opened[thread] = _Told(), message_id
                mine.add(message_id)
            elif fact.role in GOES_ON:
                told[thread] = told.get(thread, _Told()).and_of(fact._replace(message_id=None))
                if told[thread].is_of_several or (message_id in mine and message_id != last_opened[thread]):
                    return False
                if fact.role in CLOSERS and message_id is not None:
                    mine.discard(message_id)
        return opened >= LEAST_OPENED and alone >= TURNS * opened

    def begun_in(self, place: int, fact: Fact, one_at_a_time: bool) -> str | None:
        """Return the message that was in hand when a job began inside its framework; None where nothing tells."""
        if self._are_several:
            return self.in_hand(place, fact)
        opened = self.of(fact)
        message_id = opened.last_opened if one_at_a_time else opened.in_hand(place, fact.at)
        return message_id if message_id is not None and opened.is_open(message_id, place, fact.at) else None

    def of_work(self, place: int, fact: Fact, one_at_a_time: bool) -> Fact:
        """Return a fact of work that names nothing but a key with the message it is about; as it was where nothing tells.

        It is of the only message in hand that can have this key: a message has but one. A key that none of them can have
        shows that something in hand was not seen to be opened, or that a message has several keys: what was given to them
        before was a guess (``contradicted``). A fact may bear the message of which other lines tell that key. Once every thread
        that had it in hand said that it is so no more, the fact may be of another message with the same work: it bears
        that one, or none where several can have the key. Nor does an effect or a guard bear any that may as well be of a message
        which was opened since, and whose key is not told; and of a key that lines tell of others, only what was opened just before.
        """
        key, known = fact.key, fact.message_id
        if known is not None and known not in self._over:
            others = self._may_be_of(place, fact, one_at_a_time) if fact.role in DECIDES else []
            self._remember_perhaps(fact, others)
            return fact._replace(message_id=None, detail=PERHAPS) if others else fact
        fitting = None if key is None else self._fitting(place, fact, one_at_a_time)
        if key is None:
            return fact
        if fitting is None:
            able = self._able(place, fact, one_at_a_time)
            self._remember_perhaps(fact, able)
            if known is None:
                return _of_one(fact, able)
            is_open = able and fact.role in DECIDES  # one of those in hand may have the key, too
            return _of_one(fact._replace(message_id=None), [known, *able]) if is_open else fact
        if not fitting and known is None:
            self._contradicted.update(self._workable(place, fact, one_at_a_time))
        if not fitting:
            return fact
        if len(fitting) > 1 or self._is_guess(fitting[0], fact):
            others = [m for m in fitting if self._keys.get(m) != key]
            self._remember_perhaps(fact, others if len(others) < max(2, len(fitting)) else [])
            return _of_one(fact._replace(message_id=None), fitting)
        (message_id,) = fitting
        self._keys[message_id] = key
        given = self._given.setdefault(key, {})
        if known is not None:
            given.setdefault(known, True)
        given.setdefault(message_id, True)
        self._unended.setdefault(fact.thread if self._are_several else None, set()).add((key, message_id))
        is_late = fact.role == "effect" and fact.at - self.of(fact).opened_at(message_id) >= self._silence_us > 0
        is_late = is_late and self._told.get(message_id) != key
        detail = None if fact.detail == PERHAPS else fact.detail
        return fact._replace(message_id=message_id, detail=GUESSED if is_late else detail)

    def _remember_perhaps(self, fact: Fact, message_ids: Sequence[str]) -> None:
        for message_id in message_ids if fact.role in DECIDES else ():
            self._perhaps_told.setdefault(message_id, set()).add(fact.key)

    def _is_guess(self, message_id: str, fact: Fact) -> bool:
        """Tell whether the only message in hand that may have a line's key need not be the line's.

        What was given to it before was contradicted; a line with another key may have been its own; it was closed or its delete tried,
        and is in hand for an earlier opening whose end may be lost; an exception was reported since, which may have ended it; or the key is told of others only, and another message was opened
        since: one of those with the key may have been handed out again, and its opening be lost.
        """
        if f"{KEY_ITEM}{fact.key}" in self._doubtful:
            return True
        if self._told.get(message_id) == fact.key:
            return False
        is_far = message_id != self.of(fact).last_opened
        is_doubtful = message_id in self._doubtful or bool(self._perhaps_told.get(message_id, set()) - {fact.key})
        is_over = self.of(fact).may_be_closed(message_id) or self._has_raised_since(message_id, fact)
        return is_doubtful or is_over or (is_far and fact.key in self._told_keys)

    def _may_be_of(self, place: int, fact: Fact, one_at_a_time: bool) -> list[str]:
        """Return of which others, opened since, a line with the key of one message may be: the line that tells their key is lost."""
        workable = self._workable(place, fact, one_at_a_time)
        since = workable[workable.index(fact.message_id) + 1 :] if fact.message_id in workable else workable
        return [m for m in since if m in self._untold and self._may_have(m, fact.key)]

    def _fitting(self, place: int, fact: Fact, one_at_a_time: bool) -> list[str] | None:
        """Return the messages in hand that can have a line's key; None where openings may be missing."""
        if place < self._shows_openings_from or (self._are_several and fact.thread is None):
            return None
        return self._able(place, fact, one_at_a_time)

    def _able(self, place: int, fact: Fact, one_at_a_time: bool) -> list[str]:
        """Return the messages seen in hand that can have a line's key."""
        return [m for m in self._workable(place, fact, one_at_a_time) if self._may_have(m, fact.key)]

    def _may_have(self, message_id: str, key: str | None) -> bool:
        """Tell whether a message may have a key: no line tells that it has another, and none was given to it but as a guess."""
        told = self._told.get(message_id)
        if told is None and message_id not in self._doubtful:
            told = self._keys.get(message_id)
        return told in (None, key)

    def _workable(self, place: int, fact: Fact, one_at_a_time: bool) -> list[str]:
        opened = self.of(fact)
        workable = opened.workable(place, fact.at)
        if self._take_turns if self._are_several else one_at_a_time:
            return [message_id for message_id in workable if message_id == opened.last_opened]
        return workable

    def end(self) -> None:
        """Take in that the stream says no more: what did not end is not known to have ended."""
        for key, message_id in [given for unended in self._unended.values() for given in unended]:
            self._given[key][message_id] = False

    @staticmethod
    def _do_take_turns(facts: Sequence[PlacedFact]) -> bool:
        in_hand: dict[str, set[str]] = {}
        last_opened: dict[str, str] = {}
        opened = alone = 0
        for _, _, _, fact in facts:
            if fact.thread is None or fact.message_id is None:
                continue
            mine = in_hand.setdefault(fact.thread, set())
            if fact.role in OPENERS:
                opened += 1
                alone += not mine - {fact.message_id}
                mine.clear()  # who never says the end of one message is late once, not for ever
                mine.add(fact.message_id)
                last_opened[fact.thread] = fact.message_id
            elif fact.role in GOES_ON and last_opened.get(fact.thread, fact.message_id) != fact.message_id:
                return False
            elif fact.role in CLOSERS:
                mine.discard(fact.message_id)
        return opened >= LEAST_OPENED and alone >= TURNS * opened


def _of_one(fact: Fact, message_ids: Sequence[str]) -> Fact:
    """Say of an effect or guard of which messages in hand it may be, where there are any."""
    if not message_ids or fact.role not in DECIDES or fact.detail == PERHAPS:
        return fact
    return fact._replace(detail=" ".join((ONE_OF, *message_ids)))
