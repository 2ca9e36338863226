"""Which message each fact of a worker's stream is about: the one it names, or the one that is being worked on.

A worker has no request id. Many of its lines name a message only by its business key or by a receipt handle, and some name
nothing ("charged", "delete failed"): these are about what the stream says is open just then, or about nothing we can tell.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from forensics.event_ids import is_event_id
from forensics.identity import KEY_ITEM, handle_prefix
from forensics.settings import Consumer
from forensics.streams.in_hand import (
    CLOSERS,
    GOES_ON,
    OPENERS,
    STOPPING,
    Held,
    beside_other_jobs,
    ends_handling,
    is_nameless_start,
)
from forensics.streams.model import ERROR, PERHAPS, Fact, PlacedFact
from forensics.streams.once import MOMENT_US
from forensics.streams.threads import DECIDES, TELLS_KEY, Threads

CLOCK_SKEW_MS = 60_000
"""So far a worker's clock may lag behind that of SQS, where no record printed of a first receive tells."""

MOST_ROUNDS = 8
"""So often a stream is gone through anew for what contradicts itself; where that is not enough, keys are given to nobody."""

_OF_WORK = frozenset({"effect", "guard", "started"})
_SHOWS_KEY = TELLS_KEY | {"effect", "guard"}
"""Roles of lines that name a message and its business key both; of a stopped repeat the work was another message's, perhaps."""

_RAISED = frozenset({ERROR, "worker_raised"})
"""Roles of lines that say: something went wrong in the work on this message."""

_STOPS = frozenset({"guard", "worker_refused"})
"""Roles of lines that say: the work on this message was not begun."""

_ONE_JOB_A_PROCESS = frozenset({"laravel"})
"""Frameworks whose worker process runs one job at a time, and whose stream is that process."""


class AboutItem(NamedTuple):
    """A fact with what it is about; its message id or key is filled in.

    ``job`` tells which nameless start it is of, counted from 1, 0 where there is none before it; ``starts``, how many came before:
    more where it may go on with what an earlier one began.
    """

    item_id: str
    job: int
    fact: Fact
    starts: int


def in_stream_order(facts: Iterable[PlacedFact]) -> list[PlacedFact]:
    """Return facts in the order in which their stream says them."""
    return sorted(facts, key=lambda placed: (placed.at, placed.order_in_ms, placed.fact.evidence_id, placed.place))


def takes_one_at_a_time(consumer: Consumer) -> bool:
    """Tell whether a stream of these workers is of one message at a time, as the framework has it.

    That a worker takes its batches in order does not say it: several of its threads or processes may write one stream.
    """
    return consumer.format in _ONE_JOB_A_PROCESS


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


def attributed(
    facts: Sequence[PlacedFact],
    one_at_a_time: bool,
    message_by_handle: Mapping[str, str],
    says_ends: bool = False,
    silence_ms: int = 0,
) -> list[AboutItem]:
    """Say of each fact of a stream which message or business key it is about; those about nothing are left out.

    A fact that names no message goes to the message whose business key it names, as lines tell that name both, else to
    the one whose receipt handle it names. What names nothing goes to the one message that is open in the stream
    (``OpenMessages``), or, once a framework's start line that names nothing began a job, to what else is named in that job
    (``_given_to_job``), unless another job may have been on (``beside_other_jobs``). A line that tells the process to stop is about all that is in hand (``Held``).
    ``one_at_a_time``: what the stream opened last is what it works on, unless the stream ``is_shared``. Where lines say which
    of several threads wrote them, each thread has messages in hand of its own (``Threads``). What names a key that no other
    line tells is about the only message that its thread, or else the stream, has in hand and that can have this key; where a
    later line shows that this was a guess, it is about its key alone. So is what names a key of one message while another is in hand
    that may have it, too (``Threads.of_work``). An end that names nothing ends what it is about; a success behind a failure is of a job whose
    begin is lost. ``says_ends``: the worker is known to say when it is done with a message; ``silence_ms`` as in ``LogGroup``.
    """
    doubtful: set[str] = set()
    are_jobs = any(is_nameless_start(placed.fact) for placed in facts)
    beside = beside_other_jobs(facts, silence_ms) if are_jobs else set()
    for _ in range(MOST_ROUNDS):
        about, contradicted = _attributed(
            facts, one_at_a_time, message_by_handle, doubtful, says_ends, beside, silence_ms
        )
        if contradicted <= doubtful:
            return about
        doubtful |= contradicted
    doubtful |= {placed.fact.message_id for placed in facts if placed.fact.message_id is not None}
    return _attributed(facts, one_at_a_time, message_by_handle, doubtful, says_ends, beside, silence_ms)[0]


def _attributed(
    facts: Sequence[PlacedFact],
    one_at_a_time: bool,
    message_by_handle: Mapping[str, str],
    doubtful: Collection[str],
    says_ends: bool,
    beside: Collection[int],
    silence_ms: int,
) -> tuple[list[AboutItem], set[str]]:
    """Say what each fact is about, and of which messages that contradicts itself; ``doubtful`` ones are given no keys.

    ``beside``: places where several jobs may be on.
    """
    held = Held(facts, says_ends)
    one_at_a_time = one_at_a_time and not held.is_shared
    by_key = _messages_by_key(facts)
    received = _Received(facts, by_key)
    about: list[AboutItem] = []
    job: list[Fact] = []
    jobs = 0
    begun_in: dict[str, int] = {}
    failed: set[str] = set()
    ends = _Ends()
    threads = Threads(facts, _keys_by_message(facts), doubtful, held.says_ends, silence_ms)
    inner = _InnerJobs(facts)
    for place, (_, _, _, stated) in enumerate(facts):
        if (fact := inner.given(stated, place, threads, one_at_a_time)) is None:
            continue
        if is_nameless_start(fact):
            about += _given_to_job(jobs, job, one_at_a_time)
            jobs, job = jobs + 1, []
        named = fact if fact.message_id is not None else _named(fact, place, by_key, received, message_by_handle)
        if jobs:
            item_id = named.item_id
            goes_on_in = begun_in.get(item_id or "", jobs) if place in beside and named.role not in OPENERS else jobs
            if item_id is not None and goes_on_in < jobs:
                about.append(AboutItem(item_id, goes_on_in, named, jobs))
            elif item_id is not None or place not in beside:
                job.append(named)
            if item_id is not None and named.role in OPENERS:
                begun_in[item_id] = jobs
            continue
        if fact.role == STOPPING and named.item_id is None:
            about += [AboutItem(item_id, 0, _given(named, item_id), 0) for item_id in held.stopped()]
            continue
        messages = threads.hear(place, fact)
        held.hear(named)
        item_id = named.item_id
        if item_id is None:
            in_thread = threads.in_hand(place, fact)
            item_id = in_thread or (messages.worked_on() if one_at_a_time else messages.in_hand(place, fact.at))
            if ends.are_before(fact, item_id):
                continue
            named = _given(named, item_id)
            if in_thread is not None and named.is_failed_delete:
                messages.hear(place, named)
            if named.role in CLOSERS:  # an end without a name ends what it is about, too
                if item_id in failed and named.role == "worker_finished":
                    continue  # of a job whose begin is lost
                threads.hear(place, named)
                held.hear(named)
        elif (
            fact.message_id is None
            and named.role in _OF_WORK
            and (named.message_id is None or fact.receipt_handle is None)
        ):
            named = threads.of_work(place, named, one_at_a_time)
            item_id = named.item_id
        if item_id is not None:
            about.append(AboutItem(item_id, 0, named, 0))
            ends.hear(named, item_id, is_named=fact.item_id is not None)
            if named.role in OPENERS:
                failed.discard(item_id)
            elif named.role == "worker_failed":
                failed.add(item_id)
    threads.end()
    return about + _given_to_job(jobs, job, one_at_a_time), threads.contradicted


def _given_to_job(job: int, facts: Sequence[Fact], one_at_a_time: bool) -> list[AboutItem]:
    """Give facts that name nothing to the one item named in their job; one only named in passing is not what the job is about.

    Where several are named, starts of jobs are lost: then to the one named last, if one follows the other. So is one where its work
    goes on or ends before the line that opens it: all before that line is of a job whose own lines are lost. And so is one of which
    nothing but lines without a name stands more than a moment behind its end: those are about nothing we can tell.
    """
    facts = facts[_begin_of_own(facts) :]
    items = {item_id for fact in facts if (item_id := fact.item_id) is not None and not fact.is_passing}
    only = next(iter(items)) if len(items) == 1 else None
    about, last, ends = [], None, _Ends()
    for fact in facts:
        item_id = fact.item_id
        if item_id is not None:
            last = last if fact.is_passing and item_id not in items else item_id
        elif (item_id := only or (last if one_at_a_time else None)) is None or ends.are_before(fact, item_id):
            continue
        ends.hear(fact, item_id, is_named=fact.item_id is not None)
        about.append(AboutItem(item_id, job, _given(fact, item_id), job))
    return about


class _Ends:
    """When each item ended: what names nothing and stands more than a moment behind that is of a job whose begin is lost.

    So may a success be that stands so long behind an error of its job: the job's own end and the next one's begin are lost, perhaps.
    """

    def __init__(self) -> None:
        self._at: dict[str, int] = {}
        self._failed_at: dict[str, int] = {}

    def hear(self, fact: Fact, item_id: str, *, is_named: bool) -> None:
        """Take in a fact about an item, which ``is_named`` in its line."""
        if ends_handling(fact):
            self._at[item_id] = fact.at
        elif is_named:
            self._at.pop(item_id, None)
        if fact.role in _RAISED:
            self._failed_at[item_id] = fact.at
        elif fact.role in OPENERS:
            self._failed_at.pop(item_id, None)

    def are_before(self, fact: Fact, item_id: str | None) -> bool:
        """Tell whether an item had ended long before a fact that names nothing, and nothing named it since; or failed, and it is a success.

        What stops work before it begins is not of one that has ended, however short before.
        """
        if fact.role in _STOPS and item_id in self._at:
            return True
        ended = [self._at, *([self._failed_at] if fact.role == "worker_finished" else [])]
        return any(item_id in of and fact.at - of[item_id] > MOMENT_US for of in ended)


def _begin_of_own(facts: Sequence[Fact]) -> int:
    """Return the place of the first line of a job that names something, where that opens it and stands behind work of another job; else 0."""
    for place, fact in enumerate(facts):
        if fact.item_id is not None and not fact.is_passing:
            is_behind = fact.role in OPENERS and any(before.role in GOES_ON for before in facts[:place])
            return place if is_behind else 0
    return 0


class _InnerJobs:
    """Jobs of a framework inside another one that names the messages, as Active Job's in Shoryuken.

    What names such a job is about the message in hand when it began, and about nothing we can tell where several were. The
    outer framework says when a message begins and ends.
    """

    def __init__(self, facts: Sequence[PlacedFact]) -> None:
        starts = [placed.fact for placed in facts if placed.fact.role in ("started", "worker_started")]
        ids = {fact.detail for fact in starts if is_of_job(fact)}
        names_messages = any(fact.message_id is not None and fact.message_id not in ids for fact in starts)
        self._ids = ids if names_messages else set()
        self._messages: dict[str | None, str | None] = {}

    def given(self, fact: Fact, place: int, threads: Threads, one_at_a_time: bool) -> Fact | None:
        """Return the fact with the message for a job that it names; None for what the inner framework says of its job."""
        job = fact.detail if is_of_job(fact) else fact.message_id
        if job is None or job not in self._ids:
            return fact
        if fact.role == "worker_started":
            self._messages[job] = threads.begun_in(place, fact, one_at_a_time)
        message_id = self._messages.get(job)
        return None if message_id is None or is_of_job(fact) else fact._replace(message_id=message_id)


def is_of_job(fact: Fact) -> bool:
    """Tell whether a framework's line names its job and no message."""
    return fact.detail is not None and fact.role.startswith("worker_") and fact.detail in (fact.message_id, fact.key)


def _messages_by_key(facts: Iterable[PlacedFact]) -> dict[str, str]:
    """Return the one message of each business key, as lines of this stream that name both tell."""
    return _only_one((key, message_id) for message_id, key in _named_together(facts, TELLS_KEY))


def _keys_by_message(facts: Iterable[PlacedFact]) -> dict[str, str]:
    """Return the one business key of each message, as lines of this stream that name both tell; an event's id is none that work goes by."""
    named = _named_together(facts, _SHOWS_KEY)
    return _only_one((message_id, key) for message_id, key in named if not is_event_id(key))


def _named_together(facts: Iterable[PlacedFact], roles: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield message and business key of each line of these roles that names both."""
    for *_, fact in facts:
        if fact.role in roles and fact.message_id is not None and fact.key is not None:
            yield fact.message_id, fact.key


def _only_one(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the value of each name that has but one."""
    found: dict[str, str] = {}
    ambiguous = set()
    for name, value in pairs:
        if found.setdefault(name, value) != value:
            ambiguous.add(name)
    return {name: value for name, value in found.items() if name not in ambiguous}


class _Received:
    """When messages were received first, as far as their printed records tell: what was said before is of none of them."""

    def __init__(self, facts: Sequence[PlacedFact], by_key: Mapping[str, str]) -> None:
        records = [(place, placed.fact) for place, placed in enumerate(facts) if placed.fact.role == "record"]
        times = ((f.message_id, f.sent_ms if f.first_receive_ms is None else f.first_receive_ms) for _, f in records)
        self._ms = {message_id: ms for message_id, ms in times if ms is not None}
        of_first = [f for _, f in records if f.receive_count == 1 and f.first_receive_ms is not None]
        lags = [(f.first_receive_ms or 0) - f.at // 1000 for f in of_first]
        self._lag_ms = min(max(0, *lags) + MOMENT_US // 1000, CLOCK_SKEW_MS) if lags else CLOCK_SKEW_MS
        self._facts, self._by_key = facts, by_key

    @cached_property
    def _places(self) -> dict[str | None, int]:
        return _begun_with_record(self._facts) if _prints_records_first(self._facts, self._by_key) else {}

    def is_later(self, message_id: str, place: int, fact: Fact) -> bool:
        """Tell whether a message was received only after a line was written.

        SQS tells that by its own clock; the stream by its order, where it prints each record before the work is done.
        """
        is_before = place < self._places.get(message_id, 0)
        return is_before or self._ms.get(message_id, 0) > fact.at // 1000 + self._lag_ms


def _begun_with_record(facts: Iterable[PlacedFact]) -> dict[str | None, int]:
    """Return the places of the records that say that their message was received for the first time, and before which nothing names it."""
    firsts: dict[str | None, tuple[int, Fact]] = {}
    for place, (*_, fact) in enumerate(facts):
        if fact.message_id is not None and not fact.is_passing:
            firsts.setdefault(fact.message_id, (place, fact))
    found = firsts.items()
    return {m: place for m, (place, fact) in found if fact.role == "record" and fact.receive_count == 1}


def _prints_records_first(facts: Iterable[PlacedFact], by_key: Mapping[str, str]) -> bool:
    """Tell whether most keys that records tell are told by a record before a line of work names them alone."""
    firsts: dict[str, bool] = {}
    worked = set()
    for *_, fact in facts:
        if fact.key is None or fact.key not in by_key:
            continue
        if fact.role == "record":
            firsts.setdefault(fact.key, True)
        elif fact.message_id is None and fact.role in _OF_WORK:
            firsts.setdefault(fact.key, False)
            worked.add(fact.key)
    is_first = [firsts[key] for key in worked]
    return is_first.count(True) > is_first.count(False)


def _named(
    fact: Fact, place: int, by_key: Mapping[str, str], received: _Received, by_handle: Mapping[str, str]
) -> Fact:
    """Fill in the message that a fact names only by its key or a receipt handle; never one that was received only later.

    Then the key is that of another message, too (PERHAPS).
    """
    message_id = by_key.get(fact.key) if fact.key is not None else None
    if message_id is not None and received.is_later(message_id, place, fact):
        message_id = None
        fact = fact._replace(detail=PERHAPS) if fact.role in DECIDES else fact
    if message_id is None and fact.receipt_handle is not None:
        message_id = by_handle.get(handle_prefix(fact.receipt_handle))
    return fact if message_id is None else fact._replace(message_id=message_id)


def _given(fact: Fact, item_id: str | None) -> Fact:
    """Fill in what a fact that names nothing is about."""
    if item_id is None or fact.message_id is not None or fact.key is not None:
        return fact
    key = item_id.removeprefix(KEY_ITEM)
    return fact._replace(message_id=item_id) if key == item_id else fact._replace(key=key)
