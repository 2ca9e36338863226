"""Lines that read as if a repeat was stopped, in words of their own that no settings name."""

import re
from collections.abc import Iterable, Sequence

from forensics.parsers.grammar import UUID
from forensics.parsers.idempotency import says_repeat
from forensics.parsers.line import ParsedLine
from forensics.settings import Consumer
from forensics.streams.in_hand import ends_handling
from forensics.streams.model import LONGEST_DETAIL, REPEAT, Delivery, Fact, PlacedFact
from forensics.streams.named_in import mark_maybe_skipped
from forensics.streams.told_of_handling import visible_from

_UUID = re.compile(UUID)
_KINDS = frozenset({"app", "other", "logged_error"})


def is_asked(consumer: Consumer) -> bool:
    """Tell whether a function's success depends on such lines: where effects are marked, or each run does the work again, it does not.

    >>> is_asked(Consumer()), is_asked(Consumer(effect="charged")), is_asked(Consumer(idempotent=False))
    (True, False, False)
    """
    return not consumer.effect and consumer.idempotent is not False


def reads_as_repeat(said: ParsedLine, line: str) -> bool:
    """Tell whether an application's line reads as if the work was not done again.

    A printed event does not, whatever its bodies say, nor a framework's own line, but for the result that Celery prints behind its task.

    >>> from forensics.parsers import parse_line
    >>> [reads_as_repeat(parse_line(text), text) for text in ("already charged ord-7", "charged ord-7")]
    [True, False]
    """
    if said.kind not in _KINDS or said.records or said.idempotency is not None or said.handle_error is not None:
        return False
    if said.effect or said.started or said.guard_mark or said.deleted_mark or said.failed_mark or said.visibility_mark:
        return False
    if said.worker is not None:
        is_result = said.worker.format == "celery" and said.worker.event == "finished"
        line = line.rpartition(said.worker.job_id or "")[2] if is_result else ""
    return says_repeat(line)


def repeat_of(line: str, at: int, evidence_id: str) -> Fact:
    """Return what such a line states; it names nobody yet."""
    return Fact(REPEAT, at, evidence_id, detail=line[:LONGEST_DETAIL])


def apart(placed: list[PlacedFact]) -> tuple[list[Fact], list[PlacedFact]]:
    """Return such lines of a stream, and what else it states."""
    repeats = [one.fact for one in placed if one.fact.role == REPEAT]
    return repeats, [one for one in placed if one.fact.role != REPEAT] if repeats else placed


def mark_in_hand(
    repeats: Sequence[Fact], handlings: Iterable[tuple[Sequence[Fact], Delivery]], silence_ms: int
) -> None:
    """Mark those deliveries of a worker's stream whose work such lines, in order, may say was not done.

    ``handlings``: the facts of each with its delivery; ``silence_ms`` as in ``LogGroup``. A line that names a message of the stream is that
    one's mention. Any other is of what was in hand then, by its thread if that has anything, and of that by its key, if it names one.
    """
    if not repeats:
        return
    own = [(facts, delivery) for facts, delivery in handlings if not delivery.is_passing]
    own.sort(key=_began_at)
    ids = {delivery.message_id for _, delivery in own}
    in_hand: list[tuple[Sequence[Fact], Delivery]] = []
    begun = 0
    for repeat in repeats:
        while begun < len(own) and _began_at(own[begun]) <= repeat.at:
            in_hand.append(own[begun])
            begun += 1
        in_hand = [(facts, delivery) for facts, delivery in in_hand if _in_hand_until(facts, silence_ms) >= repeat.at]
        if ids.isdisjoint(_UUID.findall((repeat.detail or "").lower())):
            of_thread = [d for facts, d in in_hand if repeat.thread in {fact.thread for fact in facts} - {None}]
            mark_maybe_skipped([repeat], of_thread or [delivery for _, delivery in in_hand])


def _began_at(handling: tuple[Sequence[Fact], Delivery]) -> int:
    return handling[0][0].at


def _in_hand_until(handling: Sequence[Fact], silence_ms: int) -> int:
    """Return until when a message was in hand at most: its worker's last word of its end, or else when it was visible again."""
    ends = [fact.at for fact in handling if ends_handling(fact)]
    return max(ends) if ends else max(visible_from(handling, silence_ms), handling[-1].at)
