"""Lines of workers to handlings: a worker has no START and no request id, so the message itself opens and closes."""

from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from forensics.identity import handle_prefix, tells_deliveries_apart
from forensics.streams.attribution import AboutItem, attributed
from forensics.streams.deliveries import gathered
from forensics.streams.in_hand import CLOSERS, DELETED, STOPPING
from forensics.streams.model import TAKEN, Delivery, Fact, LogGroup, PlacedFact
from forensics.streams.once import facts_once

_SURENESS = {"started": 1, "worker_started": 2, "record": 3}
"""Roles that open a handling, by how sure they are; of each message the surest that it has opens its handlings."""

_FAILURES = frozenset({"worker_raised", "worker_failed", "worker_gave_up", "worker_timed_out"})
_MOMENT_US = 1_000_000
"""So long after a delete was taken a line that tells it once more is no echo of the first."""

_FAILED = _FAILURES - {"worker_raised"}
_STARTS = frozenset({"started", "worker_started"})


class Handling(NamedTuple):
    """One message with one worker, once. ``facts`` are what the stream says of it, in order, with the message filled in.

    ``is_opened``: a line that opens it names the message itself.
    ``consumer`` is ``log_group|log_stream|item_id|ms``, with the time of the handling's first line in ms since 1970, UTC.
    So it stays the same whatever else of the stream or of the message's other handlings is in evidence. Where a message is
    handed to workers of one stream more than once in one ms, ``.2``, ``.3`` follow.
    """

    consumer: str
    log_stream: str
    item_id: str
    facts: list[Fact]
    is_opened: bool


def handlings_of(
    facts: Sequence[PlacedFact],
    log_stream: str,
    group: LogGroup,
    one_at_a_time: bool,
    message_by_handle: Mapping[str, str],
) -> list[Handling]:
    """Return the handlings of one worker's stream, in the order in which their messages first appear.

    ``facts`` are in stream order (``in_stream_order``); ``one_at_a_time``: ``takes_one_at_a_time``. ``message_by_handle`` is
    of the whole log group (``messages_by_handle``). Facts that are about nothing we can tell are in no handling.
    """
    by_item: dict[str, list[AboutItem]] = {}
    says_ends = group.consumer.deleted is not None
    for about in attributed(facts_once(facts), one_at_a_time, message_by_handle, says_ends):
        by_item.setdefault(about.item_id, []).append(about)
    openers = {
        placed.fact.evidence_id
        for placed in facts
        if placed.fact.role in _SURENESS and placed.fact.message_id is not None
    }
    found = []
    for item_id, its_facts in by_item.items():
        last_ms, same_ms = None, 0
        for handling in _parted(its_facts, group.silence_ms, one_at_a_time):
            ms = handling[0].at // 1000
            same_ms = same_ms + 1 if ms == last_ms else 1
            last_ms = ms
            start = f"{ms}.{same_ms}" if same_ms > 1 else f"{ms}"
            is_opened = any(fact.role in _SURENESS and fact.evidence_id in openers for fact in handling)
            consumer = f"{group.name}|{log_stream}|{item_id}|{start}"
            found.append(Handling(consumer, log_stream, item_id, handling, is_opened))
    return found


def delivery_of(handling: Handling, group: LogGroup) -> Delivery:
    """Say in one delivery what a handling's lines say; its run is the handling itself, from its first line on.

    It ended with the worker's word that it was finished, failed or could not be deleted, else, for all we know, with its last
    line.
    """
    delivery = gathered(
        handling.item_id,
        handling.facts,
        consumer=handling.consumer,
        consumer_kind="worker",
        log_group=group.name,
        log_stream=handling.log_stream,
        batch_count=1,
    )
    said = (delivery.worker_finished_at, delivery.worker_failed_at, delivery.delete_at)
    delivery.has_failed_first = _failed_before_delete(handling.facts)
    delivery.is_end_known = any(at is not None for at in said)
    delivery.run_started_at = delivery.first_fact_at
    delivery.run_last_line_at = delivery.last_fact_at
    delivery.run_ended_at = next((at for at in said if at is not None), delivery.last_fact_at)
    delivery.run_status = _status(delivery)
    return delivery


def lines_row(handling: Handling, log_group: str) -> dict[str, Any]:
    """Return what the lines of a handling show, for what is counted of its log; times in µs."""
    facts = handling.facts
    times = [fact.at for fact in facts]
    return {
        "log_group": log_group,
        "log_stream": handling.log_stream,
        "consumer": handling.consumer,
        "item_id": handling.item_id,
        "first_at": min(times),
        "last_at": max(times),
        "shows_count": any(fact.receive_count is not None for fact in facts),
        "shows_start": any(fact.role in _STARTS for fact in facts),
        "is_opened": handling.is_opened,
        "shows_effect": any(fact.role == "effect" for fact in facts),
        "first_id": min(fact.evidence_id for fact in facts),
    }


def _failed_before_delete(facts: Sequence[Fact]) -> bool:
    """Tell whether the worker said that it failed, or reported an exception, before its delete went wrong."""
    for fact in facts:
        if fact.is_failed_delete:
            return False
        if fact.role in _FAILURES:
            return any(later.is_failed_delete for later in facts)
    return False


def _status(delivery: Delivery) -> str:
    if delivery.is_timed_out:
        return "timeout"
    if delivery.worker_finished_at is not None:
        return "success"
    return "unknown" if delivery.worker_failed_at is None else "error"


def _parted(facts: Sequence[AboutItem], silence_ms: int, one_at_a_time: bool) -> list[list[Fact]]:
    """Part what a stream says of one message into handlings.

    That a line names the message is heard behind what else it says: by itself it would open a handling after a silence.
    """
    message = _MessageInStream(facts, silence_ms, one_at_a_time)
    for _, line in groupby(facts, key=lambda about: about.fact.evidence_id):
        for about in sorted(line, key=lambda about: about.fact.role == "mention"):
            message.hear(about)
    _give_back(message.handlings)
    return message.handlings


class _MessageInStream:
    """One message as its stream's lines go by: its handlings so far, and what tells whether the next line opens another.

    What stands before the message's first opener is part of the same handling, unless a job ended in between, a silence lies
    between them after which the message was visible again, or the work was done or over and a line followed that says it is
    begun: then an opener is lost. A printed record may as well come last; it needs a silence before it.
    """

    __slots__ = (
        "_best",
        "_by_handle",
        "_effect_at",
        "_had_effect",
        "_is_awaiting_opener",
        "_is_closed",
        "_is_guessed",
        "_job",
        "_last_ms",
        "_one_at_a_time",
        "_openers_since_best",
        "_silence_ms",
        "_starts",
        "handlings",
    )

    def __init__(self, facts: Sequence[AboutItem], silence_ms: int, one_at_a_time: bool) -> None:
        self.handlings: list[list[Fact]] = []
        self._by_handle: dict[str, list[Fact]] = {}
        self._silence_ms, self._one_at_a_time = silence_ms, one_at_a_time
        self._best = max(_SURENESS.get(about.fact.role, 0) for about in facts)
        self._job, self._starts = facts[0].job, facts[0].starts
        self._is_awaiting_opener = any(
            about.job == self._job and _SURENESS.get(about.fact.role) == self._best for about in facts
        )
        self._last_ms = facts[0].fact.at // 1000
        self._openers_since_best: set[str] = set()
        self._is_closed = self._had_effect = self._is_guessed = False
        self._effect_at: int | None = None

    def hear(self, about: AboutItem) -> None:
        """Take in the next fact about the message. That its worker is told to stop opens nothing.

        A call with the receipt handle that an earlier handling printed is of that one: a slower worker of the same stream. So
        is a refused delete where the latest handling was over. A receipt handle is of one delivery: who prints it again, with the
        message and no other receive count, opens nothing.
        """
        fact = about.fact
        if fact.role == STOPPING:
            if self.handlings:
                self.handlings[-1].append(fact)
            return
        if self._is_printed_again(fact):
            fact = fact._replace(role="mention", detail=TAKEN)
        earlier = self._earlier_by_handle(fact) or self._of_its_thread(fact) or self._left_open(fact)
        if earlier is not None:
            self._give_to(earlier, fact)
            return
        ends_another = self._may_end_another(fact)
        is_guess = self._repeats_effect(about)
        is_lost = not ends_another and not is_guess and self._ends_again(fact)
        self._effect_at = fact.at if fact.role == "effect" else self._effect_at
        if ends_another or is_guess or is_lost:
            fact = fact._replace(role="mention", detail=TAKEN)
        opens = self._opens(about, fact)
        is_over = self._had_effect or self._is_closed
        has_lost_opener = (is_over and self._is_later_start(fact)) or self._is_after_silence(fact)
        begins = not self.handlings or (opens and (not self._is_awaiting_opener or has_lost_opener))
        if begins or is_guess or is_lost:
            self.handlings.append([])
            self._is_guessed = is_guess
        if opens:
            self._is_awaiting_opener = False
        self.handlings[-1].append(fact)
        if fact.role == "record" and tells_deliveries_apart(fact.receipt_handle):
            self._by_handle.setdefault(handle_prefix(fact.receipt_handle), self.handlings[-1])
        self._remember(about, fact)

    def _give_to(self, earlier: list[Fact], fact: Fact) -> None:
        """Give a call to the handling whose handle it names; with its delete the effect last told, if it shows none.

        Else one effect would count twice: as the line that the quicker worker seems to have written, and as what the slower
        one finished before it tried to delete.
        """
        latest = self.handlings[-1]
        if fact.is_failed_delete and not any(told.role == "effect" for told in earlier):
            effects = [
                n for n, told in enumerate(latest) if told.role == "effect" and told.thread in (None, fact.thread)
            ]
            place = max(effects, default=None)
            if place is not None:
                earlier.append(latest.pop(place))
                self._had_effect = any(told.role == "effect" for told in latest)
        earlier.append(fact)

    def _is_printed_again(self, fact: Fact) -> bool:
        if fact.role != "record" or fact.receipt_handle is None:
            return False
        before = self._by_handle.get(handle_prefix(fact.receipt_handle), ())
        told = [f.receive_count for f in before if f.role == "record" and f.receipt_handle == fact.receipt_handle]
        return any(fact.receive_count is None or count in (None, fact.receive_count) for count in told)

    def _earlier_by_handle(self, fact: Fact) -> list[Fact] | None:
        if fact.role == "record" or fact.receipt_handle is None or not self.handlings:
            return None
        printed_in = self._by_handle.get(handle_prefix(fact.receipt_handle))
        return None if printed_in is self.handlings[-1] else printed_in

    def _of_its_thread(self, fact: Fact) -> list[Fact] | None:
        """Return the earlier handling that the thread of a line began and did not end, where another thread began the latest."""
        if fact.thread is None or fact.role in _SURENESS or not self.handlings:
            return None
        if fact.thread in _threads(self.handlings[-1]) or not _threads(self.handlings[-1]):
            return None
        mine = (before for before in reversed(self.handlings[:-1]) if fact.thread in _threads(before))
        return next((before for before in mine if not _is_over(before)), None)

    def _may_end_another(self, fact: Fact) -> bool:
        """Tell whether an end may be that of an earlier handling, which is still open, while another has begun since.

        No line says which, nor that there was another where that is a guess. That the work is over would make the latest's
        work done, where only the earlier shows it; that it failed would make it fail, though the slower one did.
        """
        if self._is_guessed and (fact.role in CLOSERS or fact.is_failed_delete):
            return True
        if fact.thread is not None or not self.handlings:
            return False
        still_open = [before for before in self.handlings[:-1] if not _is_over(before)]
        if fact.role in _FAILED:
            return bool(still_open) and not self._one_at_a_time
        if fact.role not in DELETED | {"worker_finished"} or _shows_effect(self.handlings[-1]):
            return False
        return any(_shows_effect(before) for before in still_open)

    def _ends_again(self, fact: Fact) -> bool:
        """Tell whether the message's delete is told again, so long after its handling began that it was handed out again.

        That a second opening is lost is likely then; but the worker may as well have tried its delete again. It does not once
        the delete was taken: where the same kind of line tells that again, more than a moment later, an opening is lost.
        """
        if not self._best or not self.handlings or not _is_delete(fact):
            return False
        latest = self.handlings[-1]
        if fact.role in DELETED and any(t.role == fact.role and fact.at - t.at > _MOMENT_US for t in latest):
            return True
        has_ended = any(_is_delete(told) and told.evidence_id != fact.evidence_id for told in latest)
        return has_ended and (fact.at - latest[0].at) // 1000 >= self._silence_ms

    def _repeats_effect(self, about: AboutItem) -> bool:
        """Tell whether an effect is told once more where nothing opens handlings, more than a moment after the last.

        A worker slower than the visibility timeout ends behind the next receive, and the two ends may be as close as that
        worker was late. One handling may as well tell its effect twice: that there was a second is a guess.
        """
        fact = about.fact
        if self._best or fact.role != "effect" or self._is_closed or about.job != self._job:
            return False
        is_new = self._is_after_silence(fact)
        return not is_new and self._effect_at is not None and fact.at - self._effect_at > _MOMENT_US

    def _left_open(self, fact: Fact) -> list[Fact] | None:
        """Return the earlier handling whose delete was refused: the latest one's was taken, or is a guess."""
        if not fact.is_failed_delete or not self.handlings:
            return None
        if not self._is_guessed and not any(f.role in DELETED for f in self.handlings[-1]):
            return None
        return next((before for before in reversed(self.handlings[:-1]) if not _is_over(before)), None)

    def _opens(self, about: AboutItem, fact: Fact) -> bool:
        """Tell whether a fact opens a handling.

        The surest opener that the message has in this stream does, and a less sure one that comes again before the next of
        those. So does a new job, work done again long after it was over, and what names the message after a silence in which
        a nameless job began: that one's line with the message may be lost, and the earlier one have another process. Of a message without any opener a long silence parts the handlings, and an effect after an
        end, if the message had one before: the start line of the second is lost. Silence does not part the end of a job, or a
        delete, from what was done before: a slow one is silent for long.
        """
        role = fact.role
        if about.job != self._job:
            return True
        if self._best:
            sureness = _SURENESS.get(role)
            if role == "mention":
                return about.starts > self._starts and self._is_after_silence(fact)
            if sureness is None:
                return role == "effect" and self._is_done_again(fact)
            return sureness == self._best or role in self._openers_since_best
        if fact.receive_count == 1:  # what was said before is of the first receive, too
            return False
        is_end = (about.job and role in CLOSERS) or (fact.is_failed_delete and not self._is_closed)
        if self._is_after_silence(fact) and not is_end:
            return True
        return role == "effect" and self._is_closed and self._had_effect

    def _is_done_again(self, fact: Fact) -> bool:
        """Tell whether an effect is of a handling whose opener is lost: the latest was done and over when the message was visible again.

        It may be that of an earlier one, which a slower worker of the stream has still to end.
        """
        if not self.handlings or not self._is_after_silence(fact):
            return False
        *earlier, latest = self.handlings
        still_open = any(not _is_over(before) and not _shows_effect(before) for before in earlier)
        return _is_over(latest) and _shows_effect(latest) and not still_open

    def _is_later_start(self, fact: Fact) -> bool:
        return fact.role in _STARTS and fact.at // 1000 > self._last_ms

    def _is_after_silence(self, fact: Fact) -> bool:
        return fact.at // 1000 - self._last_ms >= self._silence_ms

    def _remember(self, about: AboutItem, fact: Fact) -> None:
        role = fact.role
        self._job, self._starts, self._last_ms = about.job, about.starts, fact.at // 1000
        if role in _SURENESS:
            if _SURENESS[role] == self._best:
                self._openers_since_best.clear()
            self._openers_since_best.add(role)
        elif role == "effect":
            self._is_closed, self._had_effect = False, True
        elif role in CLOSERS or fact.is_failed_delete:
            self._is_closed = True


def _is_delete(fact: Fact) -> bool:
    return fact.role in DELETED or fact.is_failed_delete


def _shows_effect(handling: Sequence[Fact]) -> bool:
    return any(fact.role == "effect" for fact in handling)


def _threads(handling: Sequence[Fact]) -> set[str]:
    """Return the threads that began a handling, as far as lines say it."""
    return {fact.thread for fact in handling if fact.role in _SURENESS and fact.thread is not None}


def _is_over(handling: Sequence[Fact]) -> bool:
    """Tell whether the worker said that a handling was over, or that its delete went wrong."""
    return any(fact.role in CLOSERS or fact.is_failed_delete for fact in handling)


def _give_back(handlings: Sequence[list[Fact]]) -> None:
    """Give a second effect of one handling to the one before it, where that is still open and shows none.

    Several workers may share a stream: the slower one's effect then stands behind the start of the quicker one.
    """
    for before, handling in pairwise(handlings):
        effects = [place for place, fact in enumerate(handling) if fact.role == "effect"]
        if len(effects) > 1 and not any(fact.role == "effect" or fact.role in CLOSERS for fact in before):
            before.append(handling.pop(effects[1]))
