"""What a worker's stream has in hand: the messages that were opened and not closed since, of each thread and of all."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence

from forensics.streams.model import Fact, PlacedFact

OPENERS = frozenset({"record", "started", "worker_started"})
"""Roles of lines that say: now this message is in hand."""

DELETED = frozenset({"deleted", "worker_acknowledged"})
"""Roles of lines that say: the queue took this message's delete."""

CLOSERS = DELETED | {"worker_finished", "worker_failed", "worker_gave_up", "worker_timed_out", "worker_refused"}
"""Roles of lines that say: this message is out of hand."""

STOPPING = "worker_stopping"
"""Role of a line that says: the whole process is told to stop."""

LOOK_BACK = 64
"""A message counts as open for so many facts after the line that opened it; its worker may have been killed."""

LEAST_OPENED, TURNS = 10, 0.8
"""So many messages must have been opened, and such a share of them when their thread had none, for threads to take turns."""


def is_shared(facts: Iterable[PlacedFact]) -> bool:
    """Tell whether several workers write a stream, whatever was declared: a message goes on after another was opened."""
    last_opened = None
    for placed in facts:
        role, message_id = placed.fact.role, placed.fact.message_id
        if message_id is None or message_id == last_opened:
            continue
        if role in OPENERS:
            last_opened = message_id
        elif last_opened is not None and (role == "effect" or role in CLOSERS):
            return True
    return False


class Threads:
    """The messages that the threads of a stream have in hand; those of the whole stream where not several threads open messages.

    They take turns if nearly every message was opened when its thread had no other in hand: an event loop has several.
    """

    def __init__(self, facts: Sequence[PlacedFact]) -> None:
        opening = {placed.fact.thread for placed in facts if placed.fact.role in OPENERS and placed.fact.message_id}
        self._are_several = len(opening - {None}) > 1
        self._opened: dict[str | None, OpenMessages] = {}
        self._take_turns = self._are_several and self._do_take_turns(facts)
        self._keys: dict[tuple[str, int | None], str] = {}

    def of(self, fact: Fact) -> "OpenMessages":
        """Return what the thread that wrote a line has in hand."""
        return self._opened.setdefault(fact.thread if self._are_several else None, OpenMessages())

    def in_hand(self, place: int, fact: Fact) -> str | None:
        """Return the message that the line's thread is at; None where nothing tells, or it named another key for that one."""
        if not self._are_several or fact.thread is None:
            return None
        opened = self.of(fact)
        return self._of_its_key(opened.last_opened if self._take_turns else opened.in_hand(place), opened, place, fact)

    def of_key(self, place: int, fact: Fact, one_at_a_time: bool) -> str | None:
        """Return the message that a line is about which names nothing but a key; None where nothing tells."""
        if self._are_several:
            return self.in_hand(place, fact)
        opened = self.of(fact)
        return self._of_its_key(opened.last_opened if one_at_a_time else opened.in_hand(place), opened, place, fact)

    def _of_its_key(self, message_id: str | None, opened: "OpenMessages", place: int, fact: Fact) -> str | None:
        if message_id is None or not opened.is_open(message_id, place):
            return None
        if fact.key is None:
            return message_id
        key = self._keys.setdefault((message_id, opened.last_opened_at), fact.key)
        return message_id if key == fact.key else None

    @staticmethod
    def _do_take_turns(facts: Sequence[PlacedFact]) -> bool:
        in_hand: dict[str, set[str]] = {}
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
            elif fact.role in CLOSERS:
                mine.discard(fact.message_id)
        return opened >= LEAST_OPENED and alone >= TURNS * opened


class OpenMessages:
    """Which messages a stream has in hand: opened, not closed since, and opened at most ``LOOK_BACK`` facts ago.

    Places count the facts of the stream. Only facts that name a message open or close it.
    """

    __slots__ = ("_opened_at", "last_opened", "last_opened_at")

    def __init__(self) -> None:
        self.last_opened: str | None = None
        self.last_opened_at: int | None = None
        self._opened_at: OrderedDict[str, int] = OrderedDict()

    def hear(self, place: int, fact: Fact) -> None:
        """Take in the next fact of the stream."""
        message_id = fact.message_id
        if message_id is None:
            return
        if fact.role in OPENERS:
            self.last_opened, self.last_opened_at = message_id, place
            self._opened_at[message_id] = place
            self._opened_at.move_to_end(message_id)
            self._forget(place)
        elif fact.role in CLOSERS:
            self._opened_at.pop(message_id, None)

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

    def _forget(self, place: int) -> None:
        while self._opened_at and next(iter(self._opened_at.values())) < place - LOOK_BACK:
            self._opened_at.popitem(last=False)


class Held:
    """What a process that is told to stop has in hand.

    Where the stream says of messages that they are done, all that it began and did not end. Else the last that it began, if
    one worker writes the stream, or the only one.
    """

    def __init__(self, facts: Sequence[PlacedFact]) -> None:
        self.is_shared = is_shared(facts)
        self._says_ends = any(placed.fact.role in CLOSERS for placed in facts)
        self._begun: dict[str, None] = {}

    def hear(self, fact: Fact) -> None:
        """Take in the next fact of the stream."""
        item_id = fact.item_id
        if item_id is not None and fact.role in OPENERS:
            self._begun.pop(item_id, None)
            self._begun[item_id] = None
        elif item_id is not None and fact.role in CLOSERS:
            self._begun.pop(item_id, None)

    def stopped(self) -> list[str]:
        """Return what is in hand, and begin anew: another process may write on in the stream."""
        begun, self._begun = list(self._begun), {}
        if self._says_ends or len(begun) < 2:
            return begun
        return [] if self.is_shared else begun[-1:]
