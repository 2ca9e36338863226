"""From placed templates to proposals: the effect, an item's start, and the guard that stops a repeat."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from forensics.parsers.workers import OWN_WORDS, worker
from forensics.sentence import counted, said
from forensics.suggestions.failures import failed_line
from forensics.suggestions.guards import Guard, guard_of
from forensics.suggestions.model import MESSAGE_ID, OF_LINE, Proposal, RunLines
from forensics.suggestions.outcomes import (
    LEAST_ITEMS,
    LEAST_SHARE,
    MOST_SHOWN,
    ends_of,
    examples,
    own_words_of,
    tells_error,
    together,
    words_of,
)
from forensics.suggestions.silent_guards import SilentStop, silent_stops
from forensics.suggestions.templates import Template
from forensics.suggestions.timing import LEAST_WORK_US, Placed
from forensics.suggestions.wording import NOT_DONE, says_begun, says_deleted, says_failed

LEAST_EXHAUSTIVE = 30
LEAST_DELETED = 0.5
"""Of redelivered messages, of which a sample is full, many a handling ends without its delete."""


class Marks(NamedTuple):
    """What was found for one consumer, with the templates behind it; ``cannot_tell`` are sentences.

    Where messages' work ends in several ``ways`` that may mean that it was done, the effect's template is all of them together.
    """

    proposals: tuple[Proposal, ...]
    effect: Template | None
    started: Template | None
    guard: Template | None
    cannot_tell: tuple[str, ...]
    ways: tuple[Template, ...] = ()


def marks_of(name: str, section: str, runs: Sequence[RunLines], candidates: Sequence[Placed]) -> Marks:
    """Return the marks that the lines of one consumer show; ``section`` is function or worker."""
    cannot_tell: list[str] = []
    ended_well = sum(len(run.handled) for run in runs if run.status == "success")
    if ended_well < LEAST_ITEMS:
        too_few = said(
            "{name}: only {n} messages were handled in runs that ended well and whose lines were read; that is too few to tell "
            "a mark from chance.",
            name=name,
            n=ended_well,
        )
        return Marks((), None, None, None, (too_few,))
    deleted = _deleted(candidates) if section == "worker" else None
    over = deleted or next((p for p in candidates if section == "worker" and _is_frameworks(p, "finished")), None)
    candidates = [p for p in candidates if section != "worker" or not _is_frameworks(p)]
    working = [
        p for p in candidates if p is not deleted and not (section == "worker" and says_deleted(own_words_of(p)))
    ]
    silent = silent_stops(working, runs, over is not None)
    effect = _effect(working, runs, name, cannot_tell, over, silent)
    guard = guard_of(working, effect.template, runs) if effect else None
    of_repeats = {stop.closing.template.shape for stop in silent}
    ends = None if effect else ends_of(name, section, [p for p in working if p.template.shape not in of_repeats], runs)
    if ends:
        guard = ends.guard
        cannot_tell = list(ends.cannot_tell)
    done = (effect.template,) if effect else ends.done if ends else ()
    stopped = len(guard.after_done) if guard else 0
    unsaid = _stopped_silently(effect, guard, silent) if effect else frozenset()
    started = _started(working, [*done, *([guard.placed.template] if guard else ())])
    proposals: list[Proposal] = list(ends.proposals if ends else ())
    if effect:
        of = effect.once + effect.never + effect.often - _stopped_well(effect, guard, silent, runs)
        proposals.append(
            Proposal(
                section,
                name,
                "effect",
                effect.template.expression,
                effect.once,
                of,
                "messages of runs that ended well",
                _but_silent(_why_effect(effect, runs, over), len(unsaid)),
                effect.absent,
                examples(effect.template),
                tuple(_without(effect.template, guard.placed if guard else None, runs, unsaid)),
            )
        )
        is_in_all = effect.once == of >= LEAST_EXHAUSTIVE and not effect.mixed
        if is_in_all and effect.is_closing and effect.template.where != OF_LINE:
            proposals.append(
                Proposal(
                    section,
                    name,
                    "effect_is_exhaustive",
                    True,
                    of,
                    of,
                    "messages of runs that ended well",
                    _but_failed(
                        said("every message whose work was not stopped by the guard has the line exactly once")
                        if guard or unsaid
                        else said("every message has the line exactly once"),
                        effect,
                    ),
                )
            )
    if started:
        of = started.once + started.never + started.often
        why = (
            said(
                "it opens a message's work: {share} of the time lies before it, the rest behind it",
                share=_percent(1 - started.after_share),
            )
            if started.can_tell
            else said(
                "its words say that the message's work begins; no other line is far enough from it for time to tell"
            )
        )
        proposals.append(
            Proposal(
                section,
                name,
                "started",
                started.template.expression,
                started.once,
                of,
                "messages of runs that ended well",
                why,
                0,
                examples(started.template),
            )
        )
    if guard:
        proposals.append(
            Proposal(
                section,
                name,
                "guard",
                guard.placed.template.expression,
                stopped,
                stopped,
                "messages that had been done before",
                said("it stands in place of the effect's line, only with messages whose work an earlier run had done"),
                0,
                examples(guard.placed.template),
            )
        )
    # who gives a message up may delete it, too
    ended = _items_with(*done, *([guard.placed.template] if guard else ()))
    is_of_work = not done or deleted is None or _items_with(deleted.template) <= ended
    if deleted in candidates and says_deleted(deleted.template.expression) and is_of_work:
        proposals.append(
            Proposal(
                section,
                name,
                "deleted",
                deleted.template.expression,
                deleted.once,
                deleted.once + deleted.never,
                "messages that were handled",
                said(
                    "its words say that the message was deleted, and no other line of the message's handling stands behind it"
                ),
                0,
                examples(deleted.template),
            )
        )
    if section == "worker":
        others = [p.template for p in (deleted, guard.placed if guard else None) if p]
        failed = failed_line(name, section, runs, candidates, [*done, *others])
        proposals += [failed] if failed else []
    return Marks(
        tuple(proposals),
        together(done) if done else None,
        started.template if started else None,
        guard.placed.template if guard else None,
        tuple(cannot_tell),
        done,
    )


def _deleted(candidates: Sequence[Placed]) -> Placed | None:
    """Return the line whose words say that a message was deleted, and behind which nothing is said of it any more."""
    found = [
        p
        for p in candidates
        if p.is_once
        and p.once >= max(LEAST_ITEMS, LEAST_DELETED * (p.once + p.never))
        and p.is_closing
        and says_deleted(own_words_of(p))
        and not NOT_DONE.search(words_of(p))
    ]
    return max(found, key=lambda p: (p.once, p.template.where == MESSAGE_ID, p.template.expression), default=None)


def _is_frameworks(placed: Placed, event: str | None = None) -> bool:
    """Tell whether a worker framework wrote the line, which is read without any setting; with ``event`` one that says so."""
    said = [worker(text) for text, _, _ in placed.template.texts]
    return any(line is not None and line.format != OWN_WORDS and event in (None, line.event) for line in said)


def _effect(
    candidates: Sequence[Placed],
    runs: Sequence[RunLines],
    name: str,
    cannot_tell: list[str],
    over: Placed | None = None,
    silent: Sequence[SilentStop] = (),
) -> Placed | None:
    """Return the last line that closes the work of (nearly) every item, and tells of no failure; the later of two proves more.

    A line that also closes what a guard stopped without a word (``silent``) tells no work.

    A run that was cut off long behind the line speaks against it, unless a guard answered for that message later: then the
    handler itself says that the work had been done. Where a worker says that it deletes a message, or its framework that it is
    ``over``, the last line before that one does, however long the delete takes, unless it opens the work or its words say that it is still to be done.
    """
    whole: list[tuple[Placed, list[str]]] = []
    is_any_none = not all(map(tells_error, candidates))
    for p in candidates:
        if says_failed(own_words_of(p)) or (is_any_none and tells_error(p)):
            continue
        guard = guard_of(candidates, p.template, runs)
        answered = guard.after_done if guard else ()
        working = p.once + p.never - _stopped_well(p, guard, silent, runs)
        if p.is_once and p.once >= max(LEAST_ITEMS, LEAST_SHARE * working):
            whole.append((p, [message for message in p.busy_after if message not in answered]))
    if not whole:
        cannot_tell.append(
            said("{name}: no line stands exactly once with each message, so none can be its effect.", name=name)
        )
        return None
    of_repeats = {stop.closing.template.shape: stop for stop in sorted(silent, key=lambda stop: not stop.is_said)}
    closing = [p for p, busy in whole if p.can_tell and p.is_closing and not busy]
    if not closing and over:
        closing = [p for p, busy in whole if not busy and not p.is_opening and not NOT_DONE.search(words_of(p))]
    closing = [p for p in closing if p.template.shape not in of_repeats]
    if closing:
        is_others = any(not says_deleted(own_words_of(p)) for p in closing)
        closing = [p for p in closing if not is_others or not says_deleted(own_words_of(p))]
        return min(closing, key=lambda p: (-p.once, p.after_us, p.template.where != MESSAGE_ID, p.template.expression))
    for p, busy in whole:
        if not p.is_timed:
            why = said(
                "lines of several messages stand among one another, so that time does not tell before from after"
            )
        elif not p.can_tell:
            least = f"{LEAST_WORK_US // 1000} ms"
            why = said("an item takes less than {span}, too little to tell before from after", span=least)
        elif (stop := of_repeats.get(p.template.shape)) and stop.is_said:
            why = said(
                "it also stands with {messages} whose work had been done before, as {line} says",
                messages=counted(len(stop.handlings), "message"),
                line=repr(stop.within.text),
            )
        elif stop:
            why = said(
                "it also stands with {messages} whose work had been done before, without {line}, which stands with all others: "
                "as where a guard stops a repeat and says nothing",
                messages=counted(len(stop.handlings), "message"),
                line=repr(stop.within.text),
            )
        elif busy:
            why = said(
                "{runs} had it as the last line and went on long behind it", runs=counted(len(busy), "interrupted run")
            )
        else:
            why = said("{share} of a message's time lies behind it", share=_percent(p.after_share))
        cannot_tell.append(
            said(
                "{name}: {line} stands once with each message and is not proposed as effect: {why}.",
                name=name,
                line=repr(p.template.texts[0][0].strip()),
                why=why,
            )
        )
    return None


def _stopped_silently(effect: Placed, guard: Guard | None, silent: Sequence[SilentStop]) -> frozenset[tuple[int, int]]:
    """Return the handlings of work done before that lack the effect's line and close as usual, without a guard's line."""
    of_effect = [stop for stop in silent if stop.within.shape == effect.template.shape and not stop.is_said]
    lacking = {h for stop in of_effect for h in stop.handlings}
    return frozenset(lacking - (_items_with(guard.placed.template) if guard else set()))


def _stopped_well(effect: Placed, guard: Guard | None, silent: Sequence[SilentStop], runs: Sequence[RunLines]) -> int:
    """Count the handlings that a guard stopped and that ended well, as those did that should have the effect's line."""
    stopped = _stopped_silently(effect, guard, silent) | (_items_with(guard.placed.template) if guard else set())
    return sum(runs[place].status == "success" for place, _ in stopped)


def _started(candidates: Sequence[Placed], ends: Sequence[Template]) -> Placed | None:
    taken = {template.shape for template in ends}
    opening = [
        p
        for p in candidates
        if p.is_once
        and p.once >= max(LEAST_ITEMS, LEAST_SHARE * (p.once + p.never))
        and p.template.shape not in taken
        and (p.is_opening if p.can_tell else says_begun(own_words_of(p)))
        and p.absent == 0
    ]
    return min(
        opening, key=lambda p: (p.before_us, p.template.where != MESSAGE_ID, p.template.expression), default=None
    )


def _why_effect(effect: Placed, runs: Sequence[RunLines], over: Placed | None) -> str:
    return _but_failed(_why_closing(effect, runs, over), effect)


def _but_silent(told: str, stopped: int) -> str:
    if not stopped:
        return told
    return said(
        "{told}; {messages} whose work had been done before lacked it though all else was logged, as where a guard stops a repeat and "
        "says nothing",
        told=told,
        messages=counted(stopped, "message"),
    )


def _but_failed(told: str, effect: Placed) -> str:
    if not effect.failed:
        return told
    failed = counted(effect.failed, "message")
    return said("{told}; {failed} that the function named in batchItemFailures not counted", told=told, failed=failed)


def _why_closing(effect: Placed, runs: Sequence[RunLines], over: Placed | None) -> str:
    cut_off = sum(run.was_cut_off for run in runs)
    if over and not effect.is_closing:
        return said(
            "it is the last line before a message is deleted or over, though {share} of the time lies behind it: hold it "
            "against the code before you accept",
            share=_percent(effect.after_share),
        )
    told = said(
        "it closes a message's work: {share} of the time lies before it", share=_percent(1 - effect.after_share)
    )
    if effect.absent:
        return said(
            "{told}, and in {some} of {total} interrupted runs the message at hand has other lines and not this one; a line "
            "from before the work would be there",
            told=told,
            some=effect.absent,
            total=cut_off,
        )
    if effect.busy_after:
        return said(
            "{told}; for messages whose run was interrupted behind it the guard answered when they were redelivered",
            told=told,
        )
    if cut_off:
        runs_said = counted(cut_off, "interrupted run")
        return said("{told}; of {runs} none went on behind it at the same message", told=told, runs=runs_said)
    return said("{told}; no run was interrupted, so that only time tells it from a line before the work", told=told)


def _items_with(*templates: Template) -> set[tuple[int, int]]:
    """Return the places of runs and items with a line of any of some templates."""
    return {(place, s.item) for template in templates for place, sayings in template.sayings.items() for s in sayings}


def _without(
    effect: Template, guard: Placed | None, runs: Sequence[RunLines], unsaid: frozenset[tuple[int, int]]
) -> Iterator[str]:
    """Yield ids of messages whose run ended well without the line and without a guard's; ``unsaid`` were stopped silently."""
    has = _items_with(effect, *([guard.template] if guard else ())) | unsaid
    found = 0
    for place, run in enumerate(runs):
        for number, item in enumerate(run.items):
            is_failed = item.message_id in run.named_failures
            if run.status == "success" and (place, number) not in has and not is_failed and found < MOST_SHOWN:
                found += 1
                yield f"{item.message_id} in run {run.run_id}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
