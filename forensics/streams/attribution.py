"""Which message each fact of a worker's stream is about: the one it names, or the one that is being worked on.

A worker has no request id. Many of its lines name a message only by its business key or by a receipt handle, and some name
nothing ("charged", "delete failed"): these are about what the stream says is open just then, or about nothing we can tell.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from forensics.identity import handle_prefix
from forensics.settings import Consumer
from forensics.streams.model import Fact

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

CLOCK_SKEW_MS = 60_000
"""So far a worker's clock may lag behind that of SQS."""

LEAST_OPENED, TURNS = 10, 0.8
"""So many messages must have been opened, and such a share of them when their thread had none, for threads to take turns."""

_OF_WORK = frozenset({"effect", "guard", "started"})

_ONE_JOB_A_PROCESS = frozenset({"laravel"})
"""Frameworks whose worker process runs one job at a time, and whose stream is that process."""


class PlacedFact(NamedTuple):
    """A fact and where its stream says it: ``at`` in µs, the line's order within that ms, the fact's place in the line."""

    at: int
    order_in_ms: int
    place: int
    fact: Fact


class AboutItem(NamedTuple):
    """A fact with what it is about; its message id or key is filled in. ``job``: how many nameless starts came before."""

    item_id: str
    job: int
    fact: Fact


def in_stream_order(facts: Iterable[PlacedFact]) -> list[PlacedFact]:
    """Return facts in the order in which their stream says them."""
    return sorted(facts, key=lambda placed: (placed.at, placed.order_in_ms, placed.fact.evidence_id, placed.place))


def takes_one_at_a_time(consumer: Consumer) -> bool:
    """Tell whether a stream of these workers is of one message at a time: declared, or the framework's way."""
    return consumer.order == "sequential" or consumer.format in _ONE_JOB_A_PROCESS


def messages_by_handle(records: Iterable[Fact]) -> dict[str, str]:
    """Return the one message of each receipt handle, by what all tokens of that handle begin with.

    ``records`` are the printed records of every stream of one log group. A handle printed with two messages tells nothing.
    """
    named = (
        (handle_prefix(fact.receipt_handle), fact.message_id)
        for fact in records
        if fact.role == "record" and fact.message_id is not None and fact.receipt_handle is not None
    )
    return _only_one(named)


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


def attributed(
    facts: Sequence[PlacedFact], one_at_a_time: bool, message_by_handle: Mapping[str, str]
) -> list[AboutItem]:
    """Say of each fact of a stream which message or business key it is about; those about nothing are left out.

    A fact that names no message goes to the message whose business key it names, else to the one whose receipt handle it
    names. What names nothing goes to the one message that is open in the stream (``OpenMessages``), or, once a framework's
    start line that names nothing began a job, to what else is named in that job (``_given_to_job``). A line that tells the
    process to stop is about all that is in hand (``_Held``).
    ``one_at_a_time``: what the stream opened last is what it works on, unless the stream ``is_shared``. Where lines say which
    of several threads wrote them, each thread has messages in hand of its own (``_Threads``), and what names a key that no
    record tells is about the one that its thread has.
    """
    held = _Held(facts)
    one_at_a_time = one_at_a_time and not held.is_shared
    by_key = _messages_by_key(facts)
    sent = {f.message_id: f.sent_ms for _, _, _, f in facts if f.role == "record" and f.sent_ms is not None}
    about: list[AboutItem] = []
    job: list[Fact] = []
    jobs = 0
    threads = _Threads(facts)
    for place, (_, _, _, fact) in enumerate(facts):
        if is_nameless_start(fact):
            about += _given_to_job(jobs, job, one_at_a_time)
            jobs, job = jobs + 1, []
        named = fact if fact.message_id is not None else _named(fact, by_key, sent, message_by_handle)
        if jobs:
            job.append(named)
            continue
        if fact.role == STOPPING and named.item_id is None:
            about += [AboutItem(item_id, 0, _given(named, item_id)) for item_id in held.stopped()]
            continue
        messages = threads.of(fact)
        messages.hear(place, fact)
        held.hear(named)
        item_id = named.item_id
        if item_id is None:
            in_thread = threads.in_hand(place, fact)
            item_id = in_thread or (messages.last_opened if one_at_a_time else messages.in_hand(place))
            named = _given(named, item_id)
        elif named.message_id is None and fact.role in _OF_WORK and (in_thread := threads.in_hand(place, named)):
            item_id, named = in_thread, named._replace(message_id=in_thread)
        if item_id is not None:
            about.append(AboutItem(item_id, 0, named))
    return about + _given_to_job(jobs, job, one_at_a_time)


class _Threads:
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
        message_id = opened.last_opened if self._take_turns else opened.in_hand(place)
        if message_id is None or not opened.is_open(message_id, place):
            return None
        key = self._keys.setdefault((message_id, opened.last_opened_at), fact.key) if fact.key is not None else None
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


class _Held:
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


def is_nameless_start(fact: Fact) -> bool:
    """Tell whether a fact is a framework's start line that names nothing (Laravel's text form); it begins a job all the same."""
    return fact.role == "worker_started" and fact.message_id is None and fact.key is None


def _given_to_job(job: int, facts: Sequence[Fact], one_at_a_time: bool) -> list[AboutItem]:
    """Give facts that name nothing to the one item named in their job; one only named in passing is not what the job is about.

    Where several are named, starts of jobs are lost: then to the one named last, if one follows the other.
    """
    items = {item_id for fact in facts if (item_id := fact.item_id) is not None and not fact.is_passing}
    only = next(iter(items)) if len(items) == 1 else None
    about, last = [], None
    for fact in facts:
        item_id = fact.item_id
        if item_id is not None:
            last = last if fact.is_passing and item_id not in items else item_id
        elif (item_id := only or (last if one_at_a_time else None)) is None:
            continue
        about.append(AboutItem(item_id, job, _given(fact, item_id)))
    return about


def _messages_by_key(facts: Iterable[PlacedFact]) -> dict[str, str]:
    """Return the one message of each business key, as the records that this stream prints tell."""
    return _only_one(
        (fact.key, fact.message_id)
        for _, _, _, fact in facts
        if fact.role == "record" and fact.message_id is not None and fact.key is not None
    )


def _only_one(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the value of each name that has but one."""
    found: dict[str, str] = {}
    ambiguous = set()
    for name, value in pairs:
        if found.setdefault(name, value) != value:
            ambiguous.add(name)
    return {name: value for name, value in found.items() if name not in ambiguous}


def _named(
    fact: Fact, by_key: Mapping[str, str], sent_ms: Mapping[str | None, int], by_handle: Mapping[str, str]
) -> Fact:
    """Fill in the message that a fact names only by its key or a receipt handle; never one that was sent only later."""
    message_id = by_key.get(fact.key) if fact.key is not None else None
    if message_id is not None and sent_ms.get(message_id, 0) > fact.at // 1000 + CLOCK_SKEW_MS:
        message_id = None
    if message_id is None and fact.receipt_handle is not None:
        message_id = by_handle.get(handle_prefix(fact.receipt_handle))
    return fact if message_id is None else fact._replace(message_id=message_id)


def _given(fact: Fact, item_id: str | None) -> Fact:
    """Fill in what a fact that names nothing is about."""
    if item_id is None or fact.message_id is not None or fact.key is not None:
        return fact
    key = item_id.removeprefix("key:")
    return fact._replace(message_id=item_id) if key == item_id else fact._replace(key=key)
