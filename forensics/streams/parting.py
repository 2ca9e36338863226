"""What a stream says of one message, parted into handlings: which line opens another, and which goes on with one that is open."""

from collections.abc import Sequence
from itertools import groupby

from forensics.identity import handle_prefix, tells_deliveries_apart
from forensics.streams.attribution import AboutItem
from forensics.streams.in_hand import CLOSERS, DELETED, DONE, STOPPING, ends_handling
from forensics.streams.model import TAKEN, Fact, LogGroup
from forensics.streams.once import ECHO_US, MOMENT_US
from forensics.streams.told_of_handling import (
    SURENESS,
    counts_in,
    ends_later,
    give_back,
    is_begun_less_surely,
    is_delete,
    is_over,
    shows_effect,
    shows_work,
    threads_of,
    visible_from,
)

STARTS = frozenset({"started", "worker_started"})
_FAILED = frozenset({"worker_failed", "worker_gave_up", "worker_timed_out"})
_GONE = DELETED | {"worker_gave_up"}
"""Roles that say: the message is in its queue no more."""


def parted(facts: Sequence[AboutItem], group: LogGroup, one_at_a_time: bool) -> list[list[Fact]]:
    """Part what a stream says of one message into handlings.

    Of one line the surest opener is heard first: a less sure one would be of the handling before. That it names the message
    is heard behind what else it says: by itself it would open a handling after a silence.
    """
    message = _MessageInStream(facts, group, one_at_a_time)
    for _, line in groupby(facts, key=lambda about: about.fact.evidence_id):
        for about in sorted(line, key=_by_weight):
            message.hear(about)
    give_back(message.handlings)
    return message.handlings


def _by_weight(about: AboutItem) -> tuple[bool, int]:
    role = about.fact.role
    return role == "mention", -SURENESS.get(role, 0)


class _MessageInStream:
    """One message as its stream's lines go by: its handlings so far, and what tells whether the next line opens another.

    What stands before the message's first opener is part of the same handling, unless a job ended in between, a silence lies
    between them after which the message was visible again, or the work was done or over and a line followed that says it is
    begun: then an opener is lost. A printed record may as well come last; it needs a silence before it, or an end, more than a moment
    before, of a handling whose message was visible again.
    """

    __slots__ = (
        "_best",
        "_by_handle",
        "_effect",
        "_had_effect",
        "_is_awaiting_opener",
        "_is_closed",
        "_is_guessed",
        "_is_lost",
        "_is_visibility_known",
        "_job",
        "_last_ms",
        "_one_at_a_time",
        "_openers_since_best",
        "_silence_ms",
        "_starts",
        "handlings",
    )

    def __init__(self, facts: Sequence[AboutItem], group: LogGroup, one_at_a_time: bool) -> None:
        self.handlings: list[list[Fact]] = []
        self._by_handle: dict[str, list[Fact]] = {}
        self._silence_ms, self._one_at_a_time = group.silence_ms, one_at_a_time
        self._is_visibility_known = group.is_visibility_known
        self._best = max(SURENESS.get(about.fact.role, 0) for about in facts)
        self._job, self._starts = facts[0].job, facts[0].starts
        self._is_awaiting_opener = any(
            about.job == self._job and SURENESS.get(about.fact.role) == self._best for about in facts
        )
        self._last_ms = facts[0].fact.at // 1000
        self._openers_since_best: set[str] = set()
        self._is_closed = self._had_effect = self._is_guessed = self._is_lost = False
        self._effect: Fact | None = None

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
        if self._is_placed_by_count(about, fact):
            return
        earlier = (
            self._earlier_by_handle(fact) or self._of_its_thread(fact) or self._left_open(fact) or self._slower(fact)
        )
        if earlier is not None:
            self._give_to(earlier, fact, self.handlings[-1])
            return
        ends_another = self._may_end_another(fact)
        is_guess = self._repeats_effect(about) or self._goes_on_unopened(fact) or self._begins_behind_delete(about)
        is_lost = not ends_another and not is_guess and self._ends_again(fact)
        self._effect = fact if fact.role == "effect" else self._effect
        if ends_another or is_lost or (is_guess and fact.role != "guard"):
            fact = fact._replace(role="mention", detail=TAKEN)
        opens = self._opens(about, fact)
        was_over, latest = self._had_effect or self._is_closed, self.handlings[-1] if self.handlings else ()
        is_later = self._is_later_start(fact) or (fact.role == "record" and self._is_long_over(latest, fact.at))
        has_lost_opener = (was_over and is_later) or self._is_after_silence(fact) or self._is_counted_apart(fact)
        if opens and is_begun_less_surely(latest, fact):
            opens, self._is_awaiting_opener = False, False
        begins = not self.handlings or (opens and (not self._is_awaiting_opener or has_lost_opener))
        if begins or is_guess or is_lost:
            self.handlings.append([])
            self._is_guessed, self._is_lost = is_guess, is_lost
        if opens:
            self._is_awaiting_opener = False
        self.handlings[-1].append(fact)
        if fact.role == "record" and tells_deliveries_apart(fact.receipt_handle):
            self._by_handle.setdefault(handle_prefix(fact.receipt_handle), self.handlings[-1])
        self._remember(about, fact)

    def _is_placed_by_count(self, about: AboutItem, fact: Fact) -> bool:
        """Add what tells its receive count, and opens nothing, to the handling with that count; tell whether it did.

        With a count that no handling has it is of one whose opening is lost. What ends its work takes what was last told of work
        without a count with it, as in ``_give_to``.
        """
        count = fact.receive_count
        if count is None or fact.role in SURENESS or not self.handlings or not all(map(counts_in, self.handlings)):
            return False
        latest = self.handlings[-1]
        mine = next((handling for handling in reversed(self.handlings) if count in counts_in(handling)), None)
        if mine is None:
            mine, self._is_guessed = [], False
            self.handlings.append(mine)
        if mine is latest:
            mine.append(fact)
        else:
            self._give_to(mine, fact, latest)
        if mine is self.handlings[-1]:
            self._remember(about, fact)
        return True

    def _is_counted_apart(self, fact: Fact) -> bool:
        counts = counts_in(self.handlings[-1]) if self.handlings else set()
        return fact.receive_count is not None and bool(counts) and fact.receive_count not in counts

    def _give_to(self, mine: list[Fact], fact: Fact, latest: list[Fact]) -> None:
        """Give what ends or names an earlier handling to it; with its end the work last told in the latest, if it shows none.

        If the latest has ended, that is all it tells behind its end. Else one effect would count twice: as the line that the quicker
        worker seems to have written, and as what the slower one finished before it tried to delete. And what a guard stopped would
        count as done, for its worker ends it all the same.
        """
        if (fact.is_failed_delete or fact.role in DONE) and not shows_work(mine):
            of_work = [
                n
                for n, told in enumerate(latest)
                if shows_work([told])
                and told.thread in (None, fact.thread)
                and told.receive_count is None
                and not any(map(ends_handling, latest[n + 1 :]))
            ]
            if moved := of_work if is_over(latest) else of_work[-1:]:
                mine += [latest[n] for n in moved]
                latest[:] = [told for n, told in enumerate(latest) if n not in moved]
                self._had_effect = shows_effect(latest)
        mine.append(fact)

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
        if fact.thread is None or fact.role in SURENESS or not self.handlings:
            return None
        if fact.thread in threads_of(self.handlings[-1]) or not threads_of(self.handlings[-1]):
            return None
        mine = (before for before in reversed(self.handlings[:-1]) if fact.thread in threads_of(before))
        return next((before for before in mine if not is_over(before)), None)

    def _may_end_another(self, fact: Fact) -> bool:
        """Tell whether an end may be that of an earlier handling, which is still open, while another has begun since.

        No line says which, nor that there was another where that is a guess: whose delete was told again may tell it once more soon. That the work is over would make the latest's
        work done, where only the earlier shows it, unless a guard is seen to have stopped it there; that it failed would make
        it fail, though the slower one did. A thread has one at a time, and left the earlier; but its process may have another
        with its name, which fails behind the work that the first has done.
        """
        is_soon = self._is_lost and fact.at < visible_from(self.handlings[-1], self._silence_ms)
        if (self._is_guessed or is_soon) and ends_handling(fact):
            return True
        if not self.handlings:
            return False
        still_open = [before for before in self.handlings[:-1] if not is_over(before)]
        if fact.role in _FAILED:
            its = [b for b in still_open if fact.thread is None or fact.thread in threads_of(b)]
            is_latests = fact.thread in threads_of(self.handlings[-1]) and not shows_effect(self.handlings[-1])
            return bool(its) and not is_latests and not self._one_at_a_time
        is_end = fact.is_failed_delete or fact.role in DELETED or fact.role == "worker_finished"
        if fact.thread is not None or not is_end or shows_work(self.handlings[-1]):
            return False
        return any(shows_effect(before) for before in still_open)

    def _ends_again(self, fact: Fact) -> bool:
        """Tell whether the message's delete is told again, so long after its handling began that it was handed out again.

        That a second opening is lost is likely then; but the worker may as well have tried its delete again. Nobody knows when a
        handling began whose own opening is lost: then it is enough that the second line is no echo. A worker does not try again once
        the delete was taken: where the same kind of line tells that again, more than a moment later, an opening is lost.
        """
        if not self.handlings or not is_delete(fact):
            return False
        latest = self.handlings[-1]
        is_taken = self._best and fact.role in DELETED
        if is_taken and any(t.role == fact.role and fact.at - t.at > MOMENT_US for t in latest):
            return True
        ended_at = max((t.at for t in latest if is_delete(t) and t.evidence_id != fact.evidence_id), default=None)
        if ended_at is None:
            return False
        if any(told.role in SURENESS for told in latest):
            return (fact.at - latest[0].at) // 1000 >= self._silence_ms
        return fact.at - ended_at > ECHO_US and (bool(self._best) or not self._is_after_silence(fact))

    def _goes_on_unopened(self, fact: Fact) -> bool:
        """Tell whether a message is named, or its work stopped, after a handling that left it in its queue, once it was visible again.

        Another handling's opening is lost then, unless an earlier one is still on. How that one ends is a guess: whoever
        failed to delete the message may try again as late. So it is where a guard stops work that was done a visibility timeout before,
        and where the message is named more than a moment after a guard stopped its work, and one more handling fits in before that one.
        """
        if not self._best or fact.role not in ("mention", "guard") or not self.handlings:
            return False
        *earlier, latest = self.handlings
        is_repeat = fact.role == "guard" and shows_effect(latest)  # whoever did the work is not stopped so late
        is_late = is_repeat and self._is_after_silence(fact) and fact.at >= visible_from(latest, self._silence_ms)
        if is_late or self._was_left_visible(latest, fact.at):
            return all(is_over(before) for before in earlier)
        return self._goes_on_behind_guard(fact)

    def _begins_behind_delete(self, about: AboutItem) -> bool:
        """Tell whether work begins more than a moment after a failed delete, where nobody knows when the message was visible again.

        Who deletes before the work may begin it then: that there was another handling is a guess.
        """
        fact = about.fact
        if (
            self._is_visibility_known
            or not self.handlings
            or not self._is_later_start(fact)
            or self._opens(about, fact)
        ):
            return False
        return any(told.is_failed_delete and fact.at - told.at > MOMENT_US for told in self.handlings[-1])

    def _goes_on_behind_guard(self, fact: Fact) -> bool:
        """Tell whether a message is named more than a moment after its work was stopped, by one that was received between the last two, perhaps."""
        if fact.role != "mention" or len(self.handlings) < 2:
            return False
        before, latest = self.handlings[-2:]
        stopped = [told.at for told in latest if told.role in ("guard", "worker_refused")]
        has_room = (latest[0].at - before[0].at) // 1000 >= 2 * self._silence_ms
        return has_room and bool(stopped) and fact.at - max(stopped) > MOMENT_US

    def _was_left_visible(self, handling: Sequence[Fact], at: int) -> bool:
        """Tell whether a handling failed, or its delete did, and ``_is_long_over``."""
        if any(f.role in _GONE for f in handling):
            return False
        return any(f.is_failed_delete or f.role in _FAILED for f in handling) and self._is_long_over(handling, at)

    def _repeats_effect(self, about: AboutItem) -> bool:
        """Tell whether an effect is told once more in a handling where nothing opens them, more than a moment after the last, or by another thread.

        A worker slower than the visibility timeout ends behind the next receive, and the two ends may be as close as that
        worker was late. One handling may as well tell its effect twice: that there was a second is a guess.
        """
        fact, told = about.fact, self._effect
        if self._best or fact.role != "effect" or self._is_closed or about.job != self._job:
            return False
        if told is None or told.at < self.handlings[-1][0].at or self._is_after_silence(fact):
            return False
        return fact.at - told.at > MOMENT_US or len({fact.thread, told.thread} - {None}) > 1

    def _left_open(self, fact: Fact) -> list[Fact] | None:
        """Return the earlier handling whose delete was refused: the latest one's was taken, or is a guess."""
        if not fact.is_failed_delete or not self.handlings:
            return None
        is_clear = not self._is_guessed and not any(f.role in DELETED for f in self.handlings[-1])
        return None if is_clear else next((b for b in reversed(self.handlings[:-1]) if not is_over(b)), None)

    def _slower(self, fact: Fact) -> list[Fact] | None:
        """Return the earlier handling that is still open and ends now, after the latest one has."""
        mine = next((before for before in reversed(self.handlings[:-1]) if not is_over(before)), None)
        return mine if mine is not None and ends_later(mine, self.handlings[-1], fact) else None

    def _opens(self, about: AboutItem, fact: Fact) -> bool:
        """Tell whether a fact opens a handling.

        The surest opener that the message has in this stream does, and a less sure one that comes again before the next of those,
        or after the work was done, or left in its queue and visible again. So does a new job, work done again long after it was
        over, and what names the message after a silence in which a nameless job began: that one's line with the message may be
        lost, and the earlier one have another process. Of a message without any opener a long silence parts the handlings, and an
        effect after an end, if the message had one before: the start line of the second is lost. Silence does not part the end of
        a job, or a delete, from what was done before: a slow one is silent for long.
        """
        role = fact.role
        if about.job != self._job:
            return True
        if self._best:
            sureness = SURENESS.get(role)
            if role == "mention":
                return about.starts > self._starts and self._is_after_silence(fact)
            if sureness is None:
                return role == "effect" and self._is_done_again(fact)
            is_anew = role in self._openers_since_best or (self._is_later_start(fact) and self._was_done_or_left(fact))
            return sureness == self._best or is_anew
        if fact.receive_count == 1:  # what was said before is of the first receive, too
            return False
        is_end = (about.job and role in CLOSERS) or (fact.is_failed_delete and not self._is_closed)
        is_end = is_end or (role in CLOSERS and not self._is_closed and any(map(shows_effect, self.handlings[-1:])))
        if self._is_after_silence(fact) and not is_end:
            return True
        return role == "effect" and self._is_closed and self._had_effect

    def _was_done_or_left(self, fact: Fact) -> bool:
        """Tell whether the latest handling did its work, left the message visible, or named it again before it was visible again."""
        return any(
            shows_effect(latest) or self._was_left_visible(latest, fact.at) or self._was_named_before(latest, fact.at)
            for latest in self.handlings[-1:]
        )

    def _was_named_before(self, handling: Sequence[Fact], at: int) -> bool:
        visible_at = visible_from(handling, self._silence_ms)
        named = any(f.role == "mention" and f.evidence_id != handling[0].evidence_id for f in handling)
        return named and self._is_visibility_known and at >= visible_at

    def _is_done_again(self, fact: Fact) -> bool:
        """Tell whether an effect is of a handling whose opener is lost: the latest was done and over when the message was visible again.

        It may be that of an earlier one, which a slower worker of the stream has still to end. Effects that open one each may
        be echoes of the work done before (``with_lone_marks_moved``).
        """
        if not self.handlings:
            return False
        *earlier, latest = self.handlings
        if not self._is_after_silence(fact) and not self._was_left_visible(latest, fact.at):
            return False
        still_open = any(not is_over(before) and not shows_effect(before) for before in earlier)
        is_lone = bool(earlier) and all(told.role == "effect" for told in latest)
        return (is_over(latest) or is_lone) and shows_effect(latest) and not still_open

    def _is_later_start(self, fact: Fact) -> bool:
        return fact.role in STARTS and fact.at // 1000 > self._last_ms

    def _is_long_over(self, handling: Sequence[Fact], at: int) -> bool:
        """Tell whether a handling ended more than a moment before, and began so long before that its message was visible again."""
        ended_at = max([f.at for f in handling if ends_handling(f)], default=at)
        return at - ended_at > MOMENT_US and at >= visible_from(handling, self._silence_ms)

    def _is_after_silence(self, fact: Fact) -> bool:
        return fact.at // 1000 - self._last_ms >= self._silence_ms

    def _remember(self, about: AboutItem, fact: Fact) -> None:
        role = fact.role
        self._job, self._starts, self._last_ms = about.job, about.starts, fact.at // 1000
        if role in SURENESS:
            if SURENESS[role] == self._best:
                self._openers_since_best.clear()
            self._openers_since_best.add(role)
        elif role == "effect":
            self._is_closed, self._had_effect = False, True
        elif ends_handling(fact):
            self._is_closed = True
