"""What a worker's stream has in hand: the messages that were opened and not closed since, of each thread and of all."""

from collections import Counter, OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence

from forensics.identity import BY_KEY
from forensics.streams.model import Fact, PlacedFact

OPENERS = frozenset({"record", "started", "worker_started"})
"""Roles of lines that say: now this message is in hand."""

DELETED = frozenset({"deleted", "worker_acknowledged"})
"""Roles of lines that say: the queue took this message's delete."""

CLOSERS = DELETED | {"worker_finished", "worker_failed", "worker_gave_up", "worker_timed_out", "worker_refused"}
"""Roles of lines that say: this message is out of hand."""

_DONE = DELETED | {"worker_finished"}
"""Roles of lines that say: this message's work is done, or it was deleted after it."""

STOPPING = "worker_stopping"
"""Role of a line that says: the whole process is told to stop."""

LOOK_BACK = 64
"""A message counts as open for so many facts after the line that opened it; its worker may have been killed."""

LEAST_OPENED, TURNS = 10, 0.8
"""So many messages must have been opened, and such a share of them when their thread had none, for threads to take turns."""


_GOES_ON = CLOSERS | {"effect", "guard", "handle_error", "worker_delete_failed"}
"""Roles of lines that say: this message is, or was until now, in hand."""

_DONE_WITH = frozenset({"guard", "worker_delete_failed"})
"""Roles of lines after which a message's work is not done any more: it was stopped, or had been done before."""


def is_shared(facts: Iterable[PlacedFact]) -> bool:
    """Tell whether several workers write a stream, whatever was declared: a message goes on after another was opened."""
    last_opened = None
    for placed in facts:
        role, message_id = placed.fact.role, placed.fact.message_id
        if message_id is None or message_id == last_opened:
            continue
        if role in OPENERS:
            last_opened = message_id
        elif last_opened is not None and role in _GOES_ON:
            return True
    return False


def is_nameless_start(fact: Fact) -> bool:
    """Tell whether a fact is a framework's start line that names nothing (Laravel's text form); it begins a job all the same."""
    return fact.role == "worker_started" and fact.message_id is None and fact.key is None


def beside_other_jobs(facts: Sequence[PlacedFact]) -> set[int]:
    """Return the places where several jobs may be on, of starts that name nothing.

    A job is on from its start until an end, or for ``LOOK_BACK`` facts: its process may have been killed. Which of several
    ended, nothing tells until all have. An end without a start shows that one was on before: from where the stream begins, or
    from the start before it. A delete that went wrong may be followed by an end of the same job, yet not by its work: once
    another begins it was the end.
    """
    found: set[int] = set()
    starts: list[int] = []
    ended = undeleted = last_start = 0
    for place, (_, _, _, fact) in enumerate(facts):
        starts = [start for start in starts if start >= place - LOOK_BACK]
        if is_nameless_start(fact):
            if ended + undeleted >= len(starts):
                starts, ended, undeleted = [], 0, 0
            starts.append(place)
            last_start = place
            continue
        is_nameless, is_end = fact.item_id is None, fact.role in CLOSERS
        if is_nameless and is_end and not starts:
            since = 0 if place < LOOK_BACK else last_start
            found.update(n for n in range(since, place + 1) if not is_nameless_start(facts[n].fact))
        if len(starts) > 1:
            found.add(place)
        ended += is_end and bool(starts)
        undeleted -= is_end and undeleted > 0
        undeleted += fact.is_failed_delete and bool(starts)
        if ended >= len(starts):
            starts, ended, undeleted = [], 0, 0
    return found


def _shows_openings_from(facts: Sequence[PlacedFact], are_several: bool) -> int:
    """Return the place from which on every thread shows when it opened each of its messages.

    A message that goes on where it was not opened, or ends more often than it was opened, shows that openings are missing:
    before it, where the stream had begun before what was read of it, else anywhere. ``are_several``: threads are told apart.
    """
    opened: dict[tuple[str | None, str], Counter[str]] = {}
    ended: dict[tuple[str | None, str], Counter[str]] = {}
    found = 0
    for place, (_, _, _, fact) in enumerate(facts):
        role, message_id = fact.role, fact.message_id
        if message_id is None or role not in _GOES_ON | OPENERS:
            continue
        name = (fact.thread if are_several else None), message_id
        if role in OPENERS:
            opened.setdefault(name, Counter())[role] += 1
            continue
        if role in CLOSERS:
            ended.setdefault(name, Counter())[role] += 1
        if (
            ended.get(name, Counter())[role] > max(opened.get(name, Counter()).values(), default=0)
            or name not in opened
        ):
            found = place + 1 if place < LOOK_BACK else len(facts)
    return found


class Threads:
    """The messages that the threads of a stream have in hand; those of the whole stream where not several threads open messages.

    They take turns if nearly every message was opened when its thread had no other in hand, and none went on after its thread
    had opened another: an event loop has several, and processes of one stream may call their threads alike.
    ``keys`` are the business keys of messages that lines tell; ``doubtful``: messages that keys are not given to, and keys
    ("key:k") that are not given to messages.
    """

    def __init__(self, facts: Sequence[PlacedFact], keys: Mapping[str, str], doubtful: Collection[str]) -> None:
        opening = {placed.fact.thread for placed in facts if placed.fact.role in OPENERS and placed.fact.message_id}
        self._are_several = len(opening - {None}) > 1
        self._opened: dict[str | None, OpenMessages] = {}
        self._take_turns = self._are_several and self._do_take_turns(facts)
        self._keys = dict(keys)
        self._doubtful = doubtful
        self._given: dict[str, dict[str, bool]] = {}
        self._unended: dict[str | None, set[tuple[str, str]]] = {}
        self._over: set[str] = set()
        self._shows_openings_from = _shows_openings_from(facts, self._are_several)
        self._contradicted: set[str] = set()

    @property
    def contradicted(self) -> set[str]:
        """What was given, and what the stream said later shows to have been a guess.

        A key that two messages have is that of work done under two ids, or one of the two had an opening before it that is lost:
        unless each was seen to end right behind the line with the key.
        """
        several = {f"{BY_KEY}{key}" for key, given in self._given.items() if len(given) > 1 and not all(given.values())}
        return self._contradicted | several

    def hear(self, place: int, fact: Fact) -> "OpenMessages":
        """Take in the next fact of the stream, and return what the thread that wrote it has in hand."""
        opened, unended = self.of(fact), self._unended.get(fact.thread if self._are_several else None)
        if unended and fact.message_id is not None and fact.role in OPENERS | CLOSERS:
            for key, message_id in [given for given in unended if fact.role in OPENERS or given[1] == fact.message_id]:
                self._given[key][message_id] &= fact.role in CLOSERS
                unended.discard((key, message_id))
        opened.hear(place, fact)
        if fact.message_id is not None and fact.role in OPENERS:
            self._over.discard(fact.message_id)
        elif (
            fact.message_id is not None
            and fact.role in CLOSERS
            and not any(o.is_open(fact.message_id, place) for o in self._opened.values())
        ):
            self._over.add(fact.message_id)
        return opened

    def of(self, fact: Fact) -> "OpenMessages":
        """Return what the thread that wrote a line has in hand."""
        return self._opened.setdefault(fact.thread if self._are_several else None, OpenMessages())

    def in_hand(self, place: int, fact: Fact) -> str | None:
        """Return the message that the thread of a line without any name is at; None where nothing tells."""
        if not self._are_several or fact.thread is None:
            return None
        opened = self.of(fact)
        message_id = opened.last_opened if self._take_turns else opened.in_hand(place)
        return message_id if message_id is not None and opened.is_open(message_id, place) else None

    def begun_in(self, place: int, fact: Fact, one_at_a_time: bool) -> str | None:
        """Return the message that was in hand when a job began inside its framework; None where nothing tells."""
        if self._are_several:
            return self.in_hand(place, fact)
        opened = self.of(fact)
        message_id = opened.last_opened if one_at_a_time else opened.in_hand(place)
        return message_id if message_id is not None and opened.is_open(message_id, place) else None

    def of_work(self, place: int, fact: Fact, one_at_a_time: bool) -> Fact:
        """Return a fact of work that names nothing but a key with the message it is about; as it was where nothing tells.

        It is of the only message in hand that can have this key: a message has but one. A key that none of them can have
        shows that something in hand was not seen to be opened, or that a message has several keys: what was given to them
        before was a guess (``contradicted``). A fact may bear the message of which other lines tell that key. Once every thread
        that had it in hand said that it is so no more, the fact may be of another message with the same work: it bears
        that one, or none where several can have the key.
        """
        key, known = fact.key, fact.message_id
        fitting = (
            None
            if key is None or (known is not None and known not in self._over)
            else self._fitting(place, fact, one_at_a_time)
        )
        if key is None or fitting is None:
            return fact
        if not fitting and known is None:
            self._contradicted.update(self._workable(place, fact, one_at_a_time))
        if not fitting:
            return fact
        if len(fitting) > 1 or fitting[0] in self._doubtful or f"{BY_KEY}{key}" in self._doubtful:
            return fact._replace(message_id=None)
        (message_id,) = fitting
        self._keys[message_id] = key
        given = self._given.setdefault(key, {})
        if known is not None:
            given.setdefault(known, True)
        given.setdefault(message_id, True)
        self._unended.setdefault(fact.thread if self._are_several else None, set()).add((key, message_id))
        return fact._replace(message_id=message_id)

    def _fitting(self, place: int, fact: Fact, one_at_a_time: bool) -> list[str] | None:
        """Return the messages in hand that can have a line's key; None where openings may be missing."""
        if place < self._shows_openings_from or (self._are_several and fact.thread is None):
            return None
        workable = self._workable(place, fact, one_at_a_time)
        return [m for m in workable if m in self._doubtful or self._keys.get(m) in (None, fact.key)]

    def _workable(self, place: int, fact: Fact, one_at_a_time: bool) -> list[str]:
        opened = self.of(fact)
        workable = opened.workable(place)
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
            elif fact.role in _GOES_ON and last_opened.get(fact.thread, fact.message_id) != fact.message_id:
                return False
            elif fact.role in CLOSERS:
                mine.discard(fact.message_id)
        return opened >= LEAST_OPENED and alone >= TURNS * opened


class OpenMessages:
    """Which messages a stream has in hand: opened, not closed since, and opened at most ``LOOK_BACK`` facts ago.

    Places count the facts of the stream. Only facts that name a message open or close it; one that is opened in the same way
    twice is in hand twice, until it is closed twice. One line closes it once, in however many words.
    """

    __slots__ = ("_done_with", "_ended_by", "_opened_at", "_openings", "last_opened")

    def __init__(self) -> None:
        self.last_opened: str | None = None
        self._opened_at: OrderedDict[str, int] = OrderedDict()
        self._openings: dict[str, Counter[str]] = {}
        self._done_with: set[str] = set()
        self._ended_by: tuple[str, str] | None = None

    def hear(self, place: int, fact: Fact) -> None:
        """Take in the next fact of the stream."""
        message_id = fact.message_id
        if message_id is None:
            return
        if fact.role in OPENERS:
            self.last_opened = message_id
            self._opened_at[message_id] = place
            self._opened_at.move_to_end(message_id)
            self._openings.setdefault(message_id, Counter())[fact.role] += 1
            self._done_with.discard(message_id)
            self._forget(place)
        elif fact.role in CLOSERS and message_id in self._openings:
            if self._ended_by == (line := (message_id, fact.evidence_id)):
                return
            self._ended_by = line
            self._openings[message_id] -= Counter(OPENERS)
            if not self._openings[message_id]:
                self._drop(message_id)
        elif fact.role in _DONE_WITH and max(self._openings.get(message_id, {"": 0}).values()) == 1:
            self._done_with.add(message_id)

    def in_hand(self, place: int) -> str | None:
        """Return the message that a fact without a name is about: the one that is open, or if none is the last opened.

        None where several are open, or where none was ever opened.
        """
        self._forget(place)
        if not self._opened_at:
            return self.last_opened
        return next(iter(self._opened_at)) if len(self._opened_at) == 1 else None

    def is_open(self, message_id: str, place: int) -> bool:
        """Tell whether a message was opened and not closed since."""
        self._forget(place)
        return message_id in self._opened_at

    def workable(self, place: int) -> list[str]:
        """Return the open messages whose work may still be done."""
        self._forget(place)
        return [message_id for message_id in self._opened_at if message_id not in self._done_with]

    def _forget(self, place: int) -> None:
        while self._opened_at and next(iter(self._opened_at.values())) < place - LOOK_BACK:
            self._drop(next(iter(self._opened_at)))

    def _drop(self, message_id: str) -> None:
        del self._opened_at[message_id], self._openings[message_id]


class Held:
    """What a process that is told to stop has in hand.

    Where the stream says of messages that they are done, or its worker is known to, all that it began and did not end. Else the last that it began, if
    one worker writes the stream, or the only one; unless something was said of it since, for that may have been its end.
    """

    def __init__(self, facts: Sequence[PlacedFact], says_ends: bool = False) -> None:
        self.is_shared = is_shared(facts)
        self._says_ends = says_ends or any(placed.fact.role in _DONE for placed in facts)
        self._begun: dict[str, bool] = {}

    def hear(self, fact: Fact) -> None:
        """Take in the next fact of the stream."""
        item_id = fact.item_id
        if item_id is not None and fact.role in OPENERS:
            self._begun.pop(item_id, None)
            self._begun[item_id] = False
        elif item_id is not None and fact.role in CLOSERS:
            self._begun.pop(item_id, None)
        elif item_id in self._begun:
            self._begun[item_id] = True

    def stopped(self) -> list[str]:
        """Return what is in hand, and begin anew: another process may write on in the stream."""
        begun, self._begun = self._begun, {}
        if self._says_ends:
            return list(begun)
        if self.is_shared and len(begun) > 1:
            return []
        return [item_id for item_id, may_be_over in list(begun.items())[-1:] if not may_be_over]
