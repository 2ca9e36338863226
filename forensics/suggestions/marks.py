"""From placed templates to proposals: the effect, an item's start, and the guard that stops a repeat."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from forensics.parsers.workers import OWN_WORDS, worker
from forensics.sentence import counted, said
from forensics.suggestions.model import MESSAGE_ID, OF_LINE, Proposal, RunLines
from forensics.suggestions.templates import Template
from forensics.suggestions.timing import LEAST_WORK_US, Placed

LEAST_SHARE = 0.95
"""A mark stands once with at least this share of the items that should have it."""
LEAST_ITEMS = 5
"""Of fewer items nothing is proposed."""
LEAST_EXHAUSTIVE = 30
LEAST_DELETED = 0.5
"""Of redelivered messages, of which a sample is full, many a handling ends without its delete."""
_MOST_SHOWN = 3
_DELETED = re.compile(
    r"(?:(?<![^\W_])|(?<=[a-z])(?=[A-Z]))(?i:(?:delet|remov|acknowledg)\w*|ack(?:ed|ing)?(?![a-z]))", re.ASCII
)
"""In a name such as message_deleted or messageDeleted, too."""
_NOT_DONE = re.compile(
    r"\b(?i:fail\w*|errors?|cannot|can't|could not|couldn't|unable|refused|not|will|about to|going to|start\w*|begin\w*|"
    r"trying|receiv(?:e[sd]?|ing)(?! count)|got|fetch\w*|poll\w*|dequeu\w*|pick\w* up|processing|handling|calling|validat\w*|check\w*)\b|"
    r"_(?:fail\w*|error)|(?<=[a-z])(?:Fail\w*|Error)",
    re.ASCII,
)
"""Words that say of something that it went wrong, or is still to be done."""


class Marks(NamedTuple):
    """What was found for one consumer, with the templates behind it; ``cannot_tell`` are sentences."""

    proposals: tuple[Proposal, ...]
    effect: Template | None
    started: Template | None
    guard: Template | None
    cannot_tell: tuple[str, ...]


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
    working = [p for p in candidates if p is not deleted]
    effect = _effect(working, runs, name, cannot_tell, over)
    guard = _guard(working, effect, runs) if effect else None
    stopped = len(guard.after_done) if guard else 0
    started = _started(working, effect, guard)
    proposals: list[Proposal] = []
    if effect:
        of = effect.once + effect.never + effect.often - stopped
        proposals.append(
            Proposal(
                section,
                name,
                "effect",
                effect.template.expression,
                effect.once,
                of,
                "messages of runs that ended well",
                _why_effect(effect, runs, over),
                effect.absent,
                _examples(effect.template),
                tuple(_without(effect.template, guard.placed if guard else None, runs)),
            )
        )
        if effect.once == of >= LEAST_EXHAUSTIVE and effect.is_closing and effect.template.where != OF_LINE:
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
                        if guard
                        else said("every message has the line exactly once"),
                        effect,
                    ),
                )
            )
    if started:
        of = started.once + started.never + started.often
        why = said(
            "it opens a message's work: {share} of the time lies before it, the rest behind it",
            share=_percent(1 - started.after_share),
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
                _examples(started.template),
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
                _examples(guard.placed.template),
            )
        )
    if deleted in candidates:
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
                _examples(deleted.template),
            )
        )
    return Marks(
        tuple(proposals),
        effect.template if effect else None,
        started.template if started else None,
        guard.placed.template if guard else None,
        tuple(cannot_tell),
    )


def _deleted(candidates: Sequence[Placed]) -> Placed | None:
    """Return the line whose words say that a message was deleted, and behind which nothing is said of it any more."""
    found = [
        p
        for p in candidates
        if p.often == 0
        and p.once >= max(LEAST_ITEMS, LEAST_DELETED * (p.once + p.never))
        and p.is_closing
        and _DELETED.search(_words(p))
        and not _NOT_DONE.search(_words(p))
    ]
    return max(found, key=lambda p: (p.once, p.template.where == MESSAGE_ID, p.template.expression), default=None)


def _is_frameworks(placed: Placed, event: str | None = None) -> bool:
    """Tell whether a worker framework wrote the line, which is read without any setting; with ``event`` one that says so."""
    said = [worker(text) for text, _, _ in placed.template.texts]
    return any(line is not None and line.format != OWN_WORDS and event in (None, line.event) for line in said)


def _words(placed: Placed) -> str:
    return " ".join(text[:start] + " " + text[end:] for text, start, end in placed.template.texts[:1])


def _effect(
    candidates: Sequence[Placed],
    runs: Sequence[RunLines],
    name: str,
    cannot_tell: list[str],
    over: Placed | None = None,
) -> Placed | None:
    """Return the last line that closes the work of (nearly) every item; the later of two proves more.

    A run that was cut off long behind the line speaks against it, unless a guard answered for that message later: then the
    handler itself says that the work had been done. Where a worker says that it deletes a message, or its framework that it is
    ``over``, the last line before that one does, however long the delete takes, unless it opens the work or its words say that it is still to be done.
    """
    whole: list[tuple[Placed, list[str]]] = []
    for p in candidates:
        guard = _guard(candidates, p, runs)
        answered = guard.after_done if guard else ()
        if p.often == 0 and p.once >= max(LEAST_ITEMS, LEAST_SHARE * (p.once + p.never - len(answered))):
            whole.append((p, [message for message in p.busy_after if message not in answered]))
    if not whole:
        cannot_tell.append(
            said("{name}: no line stands exactly once with each message, so none can be its effect.", name=name)
        )
        return None
    closing = [p for p, busy in whole if p.can_tell and p.is_closing and not busy]
    if not closing and over:
        closing = [p for p, busy in whole if not busy and not p.is_opening and not _NOT_DONE.search(_words(p))]
    if closing:
        return min(closing, key=lambda p: (-p.once, p.after_us, p.template.where != MESSAGE_ID, p.template.expression))
    for p, busy in whole:
        if not p.can_tell:
            least = f"{LEAST_WORK_US // 1000} ms"
            why = said("an item takes less than {span}, too little to tell before from after", span=least)
        elif busy:
            why = said("{n} interrupted runs had it as their last line and went on long behind it", n=len(busy))
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


def _started(candidates: Sequence[Placed], effect: Placed | None, guard: "Guard | None") -> Placed | None:
    taken = {p.template.shape for p in (effect, guard.placed if guard else None) if p}
    opening = [
        p
        for p in candidates
        if p.often == 0
        and p.once >= max(LEAST_ITEMS, LEAST_SHARE * (p.once + p.never))
        and p.template.shape not in taken
        and p.can_tell
        and p.is_opening
        and p.absent == 0
    ]
    return min(
        opening, key=lambda p: (p.before_us, p.template.where != MESSAGE_ID, p.template.expression), default=None
    )


class Guard(NamedTuple):
    """A line that stopped repeats, and the messages of which it did."""

    placed: Placed
    after_done: list[str]


def _guard(candidates: Sequence[Placed], effect: Placed, runs: Sequence[RunLines]) -> Guard | None:
    """Return the line that stands in place of the effect, and only with messages that were done before."""
    done_at, with_effect = _done(effect.template, runs)
    found = []
    for p in candidates:
        if p.template.shape == effect.template.shape:
            continue
        after_done: list[str] = []
        is_other = False
        for place, sayings in p.template.sayings.items():
            for saying in sayings:
                message_id = runs[place].items[saying.item].message_id
                earlier = done_at.get(message_id)
                is_after = earlier is not None and earlier < runs[place].lines[saying.line].at
                is_other |= not is_after or (place, saying.item) in with_effect
                after_done.append(message_id)
        if after_done and not is_other:
            found.append(Guard(p, after_done))
    return max(found, key=lambda g: (len(g.after_done), g.placed.template.expression), default=None)


def _done(template: Template, runs: Sequence[RunLines]) -> tuple[dict[str, int], set[tuple[int, int]]]:
    """Return when each message's line first stood, and the items (run and place) that have it."""
    at: dict[str, int] = {}
    items: set[tuple[int, int]] = set()
    for place, sayings in template.sayings.items():
        for saying in sayings:
            message_id, moment = runs[place].items[saying.item].message_id, runs[place].lines[saying.line].at
            at[message_id] = min(at.get(message_id, moment), moment)
            items.add((place, saying.item))
    return at, items


def _why_effect(effect: Placed, runs: Sequence[RunLines], over: Placed | None) -> str:
    return _but_failed(_why_closing(effect, runs, over), effect)


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
        return said("{told}; of {n} interrupted runs none went on behind it at the same message", told=told, n=cut_off)
    return said("{told}; no run was interrupted, so that only time tells it from a line before the work", told=told)


def _without(effect: Template, guard: Placed | None, runs: Sequence[RunLines]) -> Iterator[str]:
    """Yield ids of messages whose run ended well without the line and without a guard's."""
    has = {(place, s.item) for place, sayings in effect.sayings.items() for s in sayings}
    if guard:
        has |= {(place, s.item) for place, sayings in guard.template.sayings.items() for s in sayings}
    found = 0
    for place, run in enumerate(runs):
        for number, item in enumerate(run.items):
            is_failed = item.message_id in run.named_failures
            if run.status == "success" and (place, number) not in has and not is_failed and found < _MOST_SHOWN:
                found += 1
                yield f"{item.message_id} in run {run.run_id}"


def _examples(template: Template) -> tuple[str, ...]:
    return tuple(text.strip() for text, _, _ in template.texts[:_MOST_SHOWN])


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
