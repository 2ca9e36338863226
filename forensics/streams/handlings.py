"""Lines of workers to handlings: a worker has no START and no request id, so the message itself opens and closes."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from forensics.streams.attribution import AboutItem, attributed
from forensics.streams.deliveries import gathered
from forensics.streams.in_hand import (
    CLOSERS,
    DELETED,
    DONE,
    OPENERS,
    STOPPING,
    ends_handling,
    is_nameless_start,
    is_shared,
)
from forensics.streams.model import ERROR, SKIPPED, Delivery, Fact, LogGroup, PlacedFact
from forensics.streams.once import ECHO_US, MOMENT_US, facts_once
from forensics.streams.parting import STARTS, parted
from forensics.streams.threads import Threads
from forensics.streams.told_of_handling import SURENESS, visible_from, with_sure_count
from forensics.streams.tries import done_more, last_try, with_tries_in_hand

_FAILURES = frozenset({"worker_raised", "worker_failed", "worker_gave_up", "worker_timed_out", ERROR})


class Handling(NamedTuple):
    """One message with one worker, once. ``facts`` are what the stream says of it, in order, with the message filled in.

    ``is_opened``: a line that opens it names the message itself. ``may_be_two``: a refused delete of nobody we can
    tell may be its own: then an effect that it has is of a handling whose begin is lost; or a job of which nobody knows the message began
    before that effect, or its message was visible again after a later handling; or it was begun so late that it may be of another receive.
    ``consumer`` is ``log_group|log_stream|item_id|ms``, with the time of the handling's first line in ms since 1970, UTC.
    So it stays the same whatever else of the stream or of the message's other handlings is in evidence. Where a message is
    handed to workers of one stream more than once in one ms, ``.2``, ``.3`` follow.
    """

    consumer: str
    log_stream: str
    item_id: str
    facts: list[Fact]
    is_opened: bool
    may_be_two: bool


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
    said = with_tries_in_hand(facts_once(facts), group.silence_ms)
    for about in attributed(said, one_at_a_time, message_by_handle, says_ends, group.silence_ms):
        by_item.setdefault(about.item_id, []).append(about)
    told = {about.fact.evidence_id for every in by_item.values() for about in every}
    untold = [placed.fact for placed in facts if placed.fact.evidence_id not in told]
    of_nobody = [fact.at for fact in untold if fact.is_failed_delete]
    begun_at = [fact.at for fact in untold if is_nameless_start(fact)]
    openers = {
        placed.fact.evidence_id
        for placed in facts
        if placed.fact.role in SURENESS and placed.fact.message_id is not None
    }
    found = []
    is_one_process = one_at_a_time and not is_shared(facts)
    for item_id, its_facts in by_item.items():
        last_ms, same_ms = None, 0
        parts = [with_sure_count(part, is_one_process) for part in parted(its_facts, group, one_at_a_time)]
        for number, handling in enumerate(parts, 1):
            ms = handling[0].at // 1000
            same_ms = same_ms + 1 if ms == last_ms else 1
            last_ms = ms
            start = f"{ms}.{same_ms}" if same_ms > 1 else f"{ms}"
            is_opened = any(fact.role in SURENESS and fact.evidence_id in openers for fact in handling)
            consumer = f"{group.name}|{log_stream}|{item_id}|{start}"
            may_be_two = (
                _may_be_two(of_nobody, handling, group.silence_ms)
                or _may_be_begun_again(begun_at, handling, group.silence_ms)
                or _may_be_a_further_ones(handling, parts[number:], group.silence_ms)
                or _is_begun_late(handling, group)
            )
            found.append(Handling(consumer, log_stream, item_id, handling, is_opened, may_be_two))
    return found


def _may_be_two(refusals_at: Sequence[int], handling: Sequence[Fact], silence_ms: int) -> bool:
    """Tell whether one of some refused deletes may be of the message of a handling, and an effect of it another delivery's.

    Its first effect stands behind one that came when the message was visible again; or its effect is told more than once, and
    one came in between, or with the last.
    """
    effects_at = [fact.at for fact in handling if fact.role == "effect"]
    if not effects_at or not refusals_at:
        return False
    first, last, since = min(effects_at), max(effects_at), visible_from(handling, silence_ms)
    again_until = last + MOMENT_US if last - first > MOMENT_US else last
    return any(since <= at <= first or first < at <= again_until for at in refusals_at)


def _may_be_begun_again(begun_at: Sequence[int], handling: Sequence[Fact], silence_ms: int) -> bool:
    """Tell whether one of some jobs that nobody knows may be of a handling's message, which was visible again, and have told its effect."""
    last = max((fact.at for fact in handling if fact.role == "effect"), default=None)
    since = visible_from(handling, silence_ms)
    return last is not None and any(since <= at <= last for at in begun_at)


def _may_be_a_further_ones(handling: Sequence[Fact], later: Sequence[Sequence[Fact]], silence_ms: int) -> bool:
    """Tell whether the last effect of a handling, a slow worker's, may be of a further one: a later one had left the message, which was visible again.

    Not where the slow worker then says that it is done.
    """
    last = max((fact.at for fact in handling if fact.role == "effect"), default=None)
    if last is None or any(ends_handling(fact) and fact.at >= last for fact in handling):
        return False
    return any(other[0].at < last and _left_until(other, silence_ms, last) for other in later)


def _left_until(handling: Sequence[Fact], silence_ms: int, at: int) -> bool:
    """Tell whether a handling failed, or its delete did, and its message was visible again by then."""
    is_left = any(fact.is_failed_delete or fact.role in _FAILURES for fact in handling)
    is_done = any(fact.role in DONE for fact in handling)
    return is_left and not is_done and visible_from(handling, silence_ms) <= at


def _is_begun_late(handling: Sequence[Fact], group: LogGroup) -> bool:
    """Tell whether a printed message was begun when it was visible again: it had waited in its worker's hand, or came again and was not printed."""
    begun = next((place for place, fact in enumerate(handling) if fact.role in STARTS), 0)
    is_printed = any(fact.role == "record" for fact in handling[:begun])
    return (
        is_printed
        and group.is_visibility_known
        and handling[begun].at >= visible_from(handling[:begun], group.silence_ms)
    )


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
    delivery.has_failed_first = delivery.has_unanswered_error = _failed_before_delete(handling.facts)
    again = _effects_again(last_try(handling.facts), group.silence_ms)
    delivery.lone_mark_count, delivery.told_again_count = again
    delivery.done_more_count, delivery.maybe_more_count = done_more(handling.facts)
    delivery.may_be_two = handling.may_be_two
    delivery.may_be_skipped = any(fact.detail == SKIPPED for fact in handling.facts)
    delivery.is_end_known = any(at is not None for at in said)
    delivery.run_started_at = delivery.first_fact_at
    delivery.run_last_line_at = delivery.last_fact_at
    delivery.run_ended_at = next((at for at in said if at is not None), delivery.last_fact_at)
    delivery.run_status = _status(delivery)
    return delivery


def lines_row(handling: Handling, group: LogGroup) -> dict[str, Any]:
    """Return what the lines of a handling show, for what is counted of its log; times in µs."""
    of = handling.log_stream, handling.consumer, handling.item_id, handling.is_opened, handling.facts
    _, in_hand = _effects_again(last_try(handling.facts), group.silence_ms)
    return _row(group.name, *of) | {"tells_again": in_hand > 0}


def unnamed_rows(
    facts: Sequence[PlacedFact],
    log_stream: str,
    group: LogGroup,
    one_at_a_time: bool,
    handlings: Iterable[Handling],
) -> list[dict[str, Any]]:
    """Return rows as ``lines_row`` of what named nothing and had a message, nobody knows which: jobs that began and ended, and failed deletes.

    A job that names a message in passing alone need not be about that one; one that was told to stop has ended. ``handlings`` are those of the
    stream. Where several jobs are on at once the lines of one may stand among another's; where no job of
    a stream names anything another stream may.
    """
    starts = [place for place, placed in enumerate(facts) if is_nameless_start(placed.fact)]
    if not starts:
        return [_unnamed_row(log_stream, group, [fact]) for fact in _deletes_of_none(facts, handlings)]
    if not one_at_a_time or is_shared(facts) or all(placed.fact.item_id is None for placed in facts):
        return []
    rows = []
    for start, end in pairwise([*starts, len(facts)]):
        job = _up_to_its_end([placed.fact for placed in facts[start:end]])
        is_over = end < len(facts) or any(ends_handling(fact) or fact.role == STOPPING for fact in job)
        if is_over and all(fact.item_id is None or fact.is_passing for fact in job):
            rows.append(_unnamed_row(log_stream, group, job))
    return rows


def _up_to_its_end(facts: Sequence[Fact]) -> list[Fact]:
    """Return what a job that begins a row of facts says, and what follows its end within a moment; the rest is of one whose start is lost."""
    job: list[Fact] = []
    ended_at: int | None = None
    for fact in facts:
        if ended_at is not None and (fact.role in OPENERS or fact.at - ended_at > MOMENT_US):
            break
        job.append(fact)
        if ended_at is None and fact.role in CLOSERS:
            ended_at = fact.at
    return job


def _deletes_of_none(facts: Sequence[PlacedFact], handlings: Iterable[Handling]) -> list[Fact]:
    """Return the failed deletes that no handling tells of, of threads that have nothing in hand as far as their lines show."""
    lost = {p.fact.evidence_id for p in facts if p.fact.is_failed_delete and p.fact.item_id is None}
    if lost:
        lost -= {fact.evidence_id for handling in handlings for fact in handling.facts}
    if not lost:
        return []
    said = facts_once(facts)
    threads, found = Threads(said, {}, ()), []
    for place, (*_, fact) in enumerate(said):
        if fact.evidence_id in lost and threads.is_of_none(place, fact):
            found.append(fact)
        threads.hear(place, fact)
    return found


def _unnamed_row(log_stream: str, group: LogGroup, facts: Sequence[Fact]) -> dict[str, Any]:
    consumer = f"{group.name}|{log_stream}||{facts[0].at // 1000}"
    return _row(group.name, log_stream, consumer, None, False, facts)


def _row(
    log_group: str, log_stream: str, consumer: str, item_id: str | None, is_opened: bool, facts: Sequence[Fact]
) -> dict[str, Any]:
    times = [fact.at for fact in facts]
    return {
        "log_group": log_group,
        "log_stream": log_stream,
        "consumer": consumer,
        "item_id": item_id,
        "first_at": min(times),
        "last_at": max(times),
        "shows_count": any(fact.receive_count is not None for fact in facts),
        "shows_start": any(fact.role in STARTS and fact.item_id is not None for fact in facts),
        "is_opened": is_opened,
        "shows_effect": any(fact.role == "effect" for fact in facts),
        "tells_again": False,
        "first_id": min(fact.evidence_id for fact in facts),
    }


def _effects_again(facts: Sequence[Fact], silence_ms: int) -> tuple[int, int]:
    """Count effects told once more where the handling may be another's: its end was told, or the message was visible again; and those before.

    An effect with another key is another item's; what a logger writes once more within a moment is an echo, unless its message ended
    in between, and was visible again.
    """
    if sum(fact.role == "effect" for fact in facts) < 2:
        return 0, 0
    until = visible_from(facts, silence_ms)
    told: dict[str | None, int] = {}
    is_over, ended_since, count, in_hand = False, False, 0, 0
    for fact in sorted(facts, key=lambda fact: fact.at):
        if fact.role != "effect":
            ends = ends_handling(fact)
            is_over, ended_since = is_over or ends, ended_since or ends
            continue
        before = max((at for key, at in told.items() if None in (key, fact.key) or key == fact.key), default=None)
        is_visible = fact.at >= until
        if before is not None and (is_over or is_visible):
            is_echo = fact.at - before <= (ECHO_US if is_visible and before >= until else MOMENT_US)
            count += not is_echo or (ended_since and is_visible)
        elif before is not None:
            in_hand += fact.at - before > MOMENT_US
        told[fact.key], ended_since = fact.at, False
    return count, in_hand


def _failed_before_delete(facts: Sequence[Fact]) -> bool:
    """Tell whether the worker said that it failed, or logged an error or an exception, before it deleted its message or tried to.

    Not where it says that it finished after all.
    """
    has_failed = False
    for fact in facts:
        if fact.is_failed_delete or fact.role in DELETED:
            return has_failed and not any(told.role == "worker_finished" for told in facts)
        has_failed = has_failed or fact.role in _FAILURES
    return False


def _status(delivery: Delivery) -> str:
    if delivery.is_timed_out:
        return "timeout"
    if delivery.worker_finished_at is not None:
        return "success"
    return "unknown" if delivery.worker_failed_at is None else "error"
