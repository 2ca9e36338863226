"""The verdict per message: how often its work was done for sure, and how often it may have been."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from forensics.identity import queue_name
from forensics.judging.bounds import why_open
from forensics.judging.ending import may_have_ended_another
from forensics.judging.evidence import united
from forensics.judging.guards import guards_of
from forensics.judging.known import highest, lowest
from forensics.judging.marks_beside import apart, lines_beyond, with_lines_beside
from forensics.judging.maybe_same import NONE, Others
from forensics.judging.model import Message, Redelivery
from forensics.judging.origins import origins
from forensics.judging.provisional import work_final_at
from forensics.judging.surroundings import Surroundings
from forensics.origins import Origin
from forensics.rules.kept import ANSWERS_KEPT
from forensics.streams.model import Delivery
from forensics.verdict import OPEN_WORDS, effect_sentence, guard_sentence, trigger_sentence, verdict_of

_PROOFS = {"marker", "finished"}
_trigger_words = lru_cache(maxsize=ANSWERS_KEPT, typed=True)(trigger_sentence)
_effect_words = lru_cache(maxsize=ANSWERS_KEPT, typed=True)(effect_sentence)


class _Interval(NamedTuple):
    """What a whole work gives to each of its messages: how often it was done, and the sentences that say so."""

    at_least: int
    at_most: int | None
    verdict: str
    certainty: str
    guard_sentence: str
    effect_sentence: str
    maybe_ids: list[str]
    final_at: int | None


def messages_of(
    work: Sequence[Sequence[Delivery]],
    redeliveries: Sequence[Sequence[Redelivery]],
    around: Surroundings,
    marks_beside: int,
    others: Others = NONE,
) -> list[Message]:
    """Return the verdict on each message of a work that was delivered more than once, or shares the work with another.

    ``work`` holds each item's judged deliveries in order, ``redeliveries`` the same item's redeliveries. ``marks_beside``: so
    many more deliveries with its mark may be of this work; ``others``: works that may be the same.
    """
    lone_marks = sum(d.lone_mark_count for item in work for d in item)
    of_messages, of_keys = apart(work)
    beyond = lines_beyond(of_messages, of_keys)
    marks_beside = max(marks_beside, beyond) + lone_marks
    message_ids = sorted({d.message_id for item in work for d in item if d.message_id is not None})
    interval: _Interval | None = None  # of a message that came once, most often nobody asks for it
    found_origins = origins(work, around, others.earlier, others.is_earlier_by_body)
    found = []
    is_one = len(of_messages) == 1  # what only a key is known of is told where the work's messages are
    for item, again in zip(work, redeliveries, strict=True):
        message_id = highest([d.message_id for d in item])
        related = [i for i in message_ids if i != message_id]
        mine = of_messages[0] if is_one else item
        is_shared = bool(related) and not is_one
        is_told = len(mine) > 1 or is_shared or marks_beside > 0 or bool(others)
        is_told = is_told or any(d.done_more_count or d.maybe_more_count for d in mine)
        if not is_told and not _may_be_two(mine):
            continue
        if interval is None:
            messages = of_messages or work
            interval = _interval(work, messages, around, marks_beside, others, lone_marks, has_unseen=beyond > 0)
        if is_told or interval.at_most is None:
            origin = found_origins.get(item[0].item_id)
            found.append(_message(item, again, interval, message_id, related, origin))
    if not of_messages or not of_keys:
        return found
    for message in found:
        message.repeat_shown_at = done_again_at(work, around)
    return with_lines_beside(found, of_keys)


def _may_be_two(item: Sequence[Delivery]) -> bool:
    """Tell whether lines of one delivery may be of two."""
    return any(d.may_be_two for d in item) or may_have_ended_another(item[-1])


def done_again_at(work: Sequence[Sequence[Delivery]], around: Surroundings) -> int | None:
    """Return when a work was done a second time at the latest, as far as every time is known: lines of its key may tell of no receive.

    Of lines of a key that several queues' works may have, one is of this work, and nobody knows which: the last is taken.
    """
    times = []
    for item in work:
        done = [d.effect_at for d in item if d.effect == "yes" and d.effect_at is not None]
        is_one = item[0].message_id is not None or around.is_of_one_queue(item[0])
        times += done if is_one else done and [max(done)]
    return sorted(times)[1] if len(times) > 1 else None


def _interval(
    work: Sequence[Sequence[Delivery]],
    messages: Sequence[Sequence[Delivery]],
    around: Surroundings,
    marks_beside: int,
    others: Others,
    lone_marks: int,
    has_unseen: bool,
) -> _Interval:
    """Count every delivery of the ``messages`` of the work; of ``marks_beside`` so many ``lone_marks`` stand by themselves.

    ``has_unseen``: lines of its key tell of deliveries that nothing else tells of, nor how many more there were.
    """
    deliveries = list(chain.from_iterable(work))
    effects = [d.effect for d in deliveries]
    bases = {d.basis for d in deliveries if d.effect == "yes"}
    at_least = _at_least(work, around)
    tried_again = sum(d.done_more_count + d.maybe_more_count for d in deliveries)
    maybe = sum(d.effect != "no" for item in messages for d in item) + marks_beside + others.done_at_most + tried_again
    open_by = {why_open(item, around) for item in messages} | ({"partly_counted"} if has_unseen else set())
    at_most = None if others.is_open or open_by != {None} else maybe
    guards = guards_of(work, around)
    # what was not reached, or left without its mark, by an order that nobody declared: the upper bound is inferred
    by_order = [d for d in deliveries if d.basis in ("not_reached", "no_marker") and d.batch_count != 1]
    order_runs = lowest([d.order_runs for d in by_order])
    verdict = verdict_of(at_least, at_most, bool(guards.stopped))
    every = [*work, *(item for other in others.works for item in other)]
    final_at = work_final_at(every, at_most, around.finality)
    is_shown = bool(bases) and bases <= _PROOFS
    unrun = sum(d.basis == "never_started" and not d.is_seen and not d.is_throttled for d in deliveries)
    is_bound_assumed = bool(unrun) and at_most is not None  # that nobody else had what no run followed is a premise
    is_sure = final_at is None and order_runs is None and not is_bound_assumed
    return _Interval(
        at_least,
        at_most,
        verdict,
        "proved" if is_shown and (is_sure or verdict == "confirmed") else "inferred",
        guard_sentence(
            guards.stopped,
            guards.is_in_place,
            guards.lock_ended_s,
            guards.lock_ended,
            guards.other_payloads,
            guards.overlapped,
            guards.ids_done,
            guards.record_gap_s,
            guards.recorded,
        ),
        _effect_words(
            at_least,
            at_most,
            tuple(sorted(bases)),
            order_runs,
            others.message_ids,
            next((code for code in OPEN_WORDS if code in open_by), None),
            unrun,
            others.by,
            effects.count("yes") if at_least < effects.count("yes") else 0,
            lone_marks,
            tried_again,
        ),
        sorted(others.message_ids),
        final_at,
    )


def _at_least(work: Sequence[Sequence[Delivery]], around: Surroundings) -> int:
    """Return how often a work was done for sure: what a key alone names, and nothing its queue, may be several works with that key."""
    done = [sum(1 + d.done_more_count for d in item if d.effect == "yes") for item in work]
    is_one = [item[0].message_id is not None or around.is_of_one_queue(item[0]) for item in work]
    return sum(times if one else min(times, 1) for times, one in zip(done, is_one, strict=True))


def _message(
    item: Sequence[Delivery],
    redeliveries: Sequence[Redelivery],
    interval: _Interval,
    message_id: str | None,
    related: list[str],
    origin: Origin | None,
) -> Message:
    first = item[0]
    causes = _causes(redeliveries)
    receive_counts, visibility, group_ids, deduplication_ids, sender_ids, seen, dead_letter_queues, maybe_same = zip(
        *map(_OF_EACH, item), strict=True
    )
    receive_count = highest(receive_counts)
    received = [d.received_at for d in item]
    return Message(
        queue_arn=first.queue_arn,
        queue=first.queue,
        item_id=first.item_id,
        message_id=message_id,
        work_id=first.work_id,
        verdict=interval.verdict,
        certainty=interval.certainty,
        effects_at_least=interval.at_least,
        effects_at_most=interval.at_most,
        deliveries=sum(seen),
        receive_count=receive_count,
        causes=causes,
        origin=origin.code if origin else None,
        origin_excluded=list(origin.excluded) if origin else [],
        origin_open=list(origin.still_open) if origin else [],
        trigger_sentence=_trigger_words(
            tuple(_triggers(redeliveries)),
            sum(seen),
            receive_count,
            origin.sentence if origin else None,
            queue_name(highest(dead_letter_queues)),
            sum(maybe_same),
        ),
        guard_sentence=interval.guard_sentence,
        effect_sentence=interval.effect_sentence,
        first_received_at=lowest(received),
        last_received_at=highest(received),
        last_active_at=highest([d.received_at if d.run_ended_at is None else d.run_ended_at for d in item]),
        sent_at=lowest([d.sent_at for d in item]),
        group_id=highest(group_ids),
        deduplication_id=highest(deduplication_ids),
        sender_id=highest(sender_ids),
        is_dead_lettered=any(d.ended_by == "dead_lettered" for d in item),
        business_keys=united(*(d.business_keys for d in item)),
        related_message_ids=related,
        maybe_related_message_ids=interval.maybe_ids,
        visibility_timeout_s=highest(visibility),
        evidence_ids=united(*(d.evidence_ids for d in item)),
        final_at=interval.final_at,
        batch_position=lowest([d.batch_position for d in item]),
    )


_OF_EACH = attrgetter(
    "receive_count",
    "visibility_timeout_s",
    "group_id",
    "deduplication_id",
    "sender_id",
    "is_seen",
    "received_from_arn",
    "may_be_same_receive",
)


def _triggers(redeliveries: Iterable[Redelivery]) -> list[str]:
    """Return what to tell of an item's redeliveries in their order, each once: their causes, or how they came."""
    return list(dict.fromkeys(told for again in redeliveries for told in again.causes or [again.came_by]))


def _causes(redeliveries: Iterable[Redelivery]) -> list[str]:
    """Return the causes of an item's redeliveries in their order, each once; where none holds, that is said."""
    return list(dict.fromkeys(cause for again in redeliveries for cause in again.causes or ["undecidable"]))
