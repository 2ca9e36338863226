"""What a worker's stream has in hand: the messages that were opened and not closed since."""

from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence

from forensics.streams.model import Fact, PlacedFact

OPENERS = frozenset({"record", "started", "worker_started"})
"""Roles of lines that say: now this message is in hand."""

DELETED = frozenset({"deleted", "worker_acknowledged"})
"""Roles of lines that say: the queue took this message's delete."""

CLOSERS = DELETED | {"worker_finished", "worker_failed", "worker_gave_up", "worker_timed_out", "worker_refused"}
"""Roles of lines that say: this message is out of hand."""

DONE = DELETED | {"worker_finished"}
"""Roles of lines that say: this message's work is done, or it was deleted after it."""

STOPPING = "worker_stopping"
"""Role of a line that says: the whole process is told to stop."""

LOOK_BACK = 64
"""A message counts as open for so many facts after the line that opened it; its worker may have been killed."""

SLOWEST = 4
"""So long it counts as open, too, in silences (``LogGroup``), where workers say when they are done: many of a stream say as much in two seconds."""

MOST_OPEN = 64
"""Of more that are open at once for so long nobody asks whose a line is: most were left by killed workers."""

GOES_ON = CLOSERS | {"effect", "guard", "handle_error", "worker_delete_failed"}
"""Roles of lines that say: this message is, or was until now, in hand."""


def ends_handling(fact: Fact) -> bool:
    """Tell whether the worker says that a handling is over, or that its delete went wrong."""
    return fact.role in CLOSERS or fact.is_failed_delete


def is_shared(facts: Iterable[PlacedFact]) -> bool:
    """Tell whether several workers write a stream, whatever was declared: a message goes on after another was opened, and had no end.

    What was never opened, or has ended, may as well have been opened again by a line that is lost: of a message that was opened with
    another receive count since, the one that a line tells. An end that names nothing is that of the message opened last, were it one worker's.
    """
    last_opened = None
    in_hand: set[str] = set()
    counted: set[tuple[str, int | None]] = set()
    for *_, fact in facts:
        about = last_opened if fact.item_id is None else fact.message_id
        if about is None:
            continue
        if fact.role in OPENERS and fact.message_id is not None:
            last_opened = about
            in_hand.add(about)
            counted.add((about, fact.receive_count))
        elif about != last_opened and fact.role in GOES_ON:
            is_counted = fact.receive_count is not None and (about, fact.receive_count) in counted
            if about in in_hand or is_counted:
                return True
        if ends_handling(fact):
            in_hand.discard(about)
            counted.discard((about, fact.receive_count))
    return False


def is_nameless_start(fact: Fact) -> bool:
    """Tell whether a fact is a framework's start line that names nothing (Laravel's text form); it begins a job all the same."""
    return fact.role == "worker_started" and fact.message_id is None and fact.key is None


def beside_other_jobs(facts: Sequence[PlacedFact], silence_ms: int = 0) -> set[int]:
    """Return the places where several jobs may be on, of starts that name nothing; ``silence_ms`` as in ``LogGroup``.

    A job is on from its start until an end. So is one whose start is lost, from the line on that opens a message which no job began.
    Which of several ended, nothing tells until all have. Where jobs were on all the time for
    ``LOOK_BACK`` facts and ``SLOWEST`` silences, as many as that were killed, for all we know, unless a message is named then that
    an earlier job had opened; until an end without a start shows that one was slow, or, without such, that one was on before: from
    where the stream begins, or from the start before it. A delete
    that went wrong may be followed by an end of the same job, yet not by its work: once another begins it was the end.
    """
    found: set[int] = set()
    begun = ended = undeleted = last_start = 0
    least = since = since_at = 0
    killed_from: int | None = None
    jobs, opened_in, goes_on = 0, dict[str, int](), False
    on: set[str | None] = set()
    awaits_opener = False
    for place, (at, _, _, fact) in enumerate(facts):
        if begun and place - since >= LOOK_BACK and at - since_at >= SLOWEST * silence_ms * 1000:
            if not goes_on:
                killed_from = since
                ended += least
                begun, ended, undeleted = (0, 0, 0) if ended >= begun else (begun, ended, undeleted)
            since, since_at, least, goes_on = place, at, begun - ended, False
        if not begun:
            on.clear()
        is_opener = fact.item_id is not None and fact.role in OPENERS
        is_lost_start = is_opener and jobs > 0 and not awaits_opener and fact.item_id not in on
        if is_nameless_start(fact) or is_lost_start:
            if ended + undeleted >= begun:
                begun = ended = undeleted = 0
                since, since_at, least = place, at, 1
                on.clear()
            begun += 1
        if is_nameless_start(fact):
            jobs += 1
            last_start = place
            awaits_opener = True
            continue
        if is_opener:
            awaits_opener = False
            on.add(fact.item_id)
        is_nameless, is_end = fact.item_id is None, fact.role in CLOSERS
        if fact.item_id is not None and fact.role in OPENERS:
            opened_in[fact.item_id] = jobs
        goes_on = goes_on or opened_in.get(fact.item_id or "", jobs) < jobs
        if is_nameless and is_end and not begun:
            first = killed_from if killed_from is not None else 0 if place < LOOK_BACK else last_start
            found.update(n for n in range(first, place + 1) if not is_nameless_start(facts[n].fact))
            killed_from = None
        if begun > 1:
            found.add(place)
        ended += is_end and begun > 0
        undeleted -= is_end and undeleted > 0
        undeleted += fact.is_failed_delete and begun > 0
        if ended >= begun:
            begun = ended = undeleted = 0
        least = min(least, begun - ended)
    return found


class OpenMessages:
    """Which messages a stream has in hand: opened, not closed since, and opened at most ``LOOK_BACK`` facts or ``lasts_us`` ago.

    Places count the facts of the stream; times are in µs. Only facts that name a message open or close it; one that is opened in the same way
    twice is in hand twice, until it is closed twice. One line closes it once, in however many words.
    """

    __slots__ = (
        "_closed",
        "_done_with",
        "_ended_by",
        "_is_beside",
        "_lasts_us",
        "_opened_at",
        "_openings",
        "last_opened",
    )

    def __init__(self, lasts_us: int) -> None:
        self.last_opened: str | None = None
        self._lasts_us = lasts_us
        self._opened_at: OrderedDict[str, tuple[int, int]] = OrderedDict()
        self._openings: dict[str, Counter[str]] = {}
        self._done_with: set[str] = set()
        self._closed: set[str] = set()
        self._ended_by: tuple[str, str] | None = None
        self._is_beside = False

    def hear(self, place: int, fact: Fact) -> None:
        """Take in the next fact of the stream."""
        message_id = fact.message_id
        if message_id is None:
            return
        if fact.role in OPENERS:
            self.last_opened, self._is_beside = message_id, False
            self._opened_at[message_id] = place, fact.at
            self._opened_at.move_to_end(message_id)
            self._openings.setdefault(message_id, Counter())[fact.role] += 1
            self._done_with.discard(message_id)
            self._closed.discard(message_id)
            self._forget(place, fact.at)
        elif fact.role in CLOSERS and message_id in self._openings:
            if self._ended_by == (line := (message_id, fact.evidence_id)):
                return
            self._ended_by = line
            self._openings[message_id] -= Counter(OPENERS)
            self._closed.add(message_id)
            if not self._openings[message_id]:
                self._drop(message_id)
        elif (fact.role == "guard" or fact.is_failed_delete) and max(
            self._openings.get(message_id, {"": 0}).values()
        ) == 1:
            self._done_with.add(message_id)
        if fact.is_failed_delete and message_id in self._openings:
            self._closed.add(message_id)
        if message_id != self.last_opened and (fact.role in GOES_ON or fact.is_failed_delete):
            self._is_beside = True

    def worked_on(self) -> str | None:
        """Return the message that was opened last; None where another one went on since, whose own opening is lost."""
        return None if self._is_beside else self.last_opened

    def in_hand(self, place: int, at: int) -> str | None:
        """Return the message that a fact without a name is about: the one that is open, or if none is the last opened.

        None where several are open, or where none was ever opened.
        """
        self._forget(place, at)
        if not self._opened_at:
            return self.last_opened
        return next(iter(self._opened_at)) if len(self._opened_at) == 1 else None

    def is_empty(self, place: int, at: int) -> bool:
        """Tell whether no message is open."""
        self._forget(place, at)
        return not self._opened_at

    def is_open(self, message_id: str, place: int, at: int) -> bool:
        """Tell whether a message was opened and not closed since."""
        self._forget(place, at)
        return message_id in self._opened_at

    def may_be_closed(self, message_id: str) -> bool:
        """Tell whether a message was closed since it was last opened, or its delete tried: if it is open all the same, its work may be over."""
        return message_id in self._closed

    def opened_at(self, message_id: str) -> int:
        """Return when an open message was opened last."""
        return self._opened_at[message_id][1]

    def workable(self, place: int, at: int) -> list[str]:
        """Return the open messages whose work may still be done."""
        self._forget(place, at)
        return [message_id for message_id in self._opened_at if message_id not in self._done_with]

    def _forget(self, place: int, at: int) -> None:
        while self._opened_at:
            message_id, (opened_place, opened_at) = next(iter(self._opened_at.items()))
            is_on = at - opened_at < self._lasts_us and len(self._opened_at) <= MOST_OPEN
            if opened_place >= place - LOOK_BACK or is_on:
                return
            self._drop(message_id)

    def _drop(self, message_id: str) -> None:
        del self._opened_at[message_id], self._openings[message_id]
        self._closed.discard(message_id)


class Held:
    """What a process that is told to stop has in hand.

    Where the stream says of messages that they are done, or its worker is known to, all that it began and did not end. Else the last that it began, if
    one worker writes the stream, or the only one; unless something was said of it since, for that may have been its end.
    """

    def __init__(self, facts: Sequence[PlacedFact], says_ends: bool = False) -> None:
        self.is_shared = is_shared(facts)
        self.says_ends = says_ends or any(placed.fact.role in DONE for placed in facts)
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
        if self.says_ends:
            return list(begun)
        if self.is_shared and len(begun) > 1:
            return []
        return [item_id for item_id, may_be_over in list(begun.items())[-1:] if not may_be_over]
