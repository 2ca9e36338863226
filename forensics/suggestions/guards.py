"""The line that stops a repeat: it stands in place of the effect's, and only with messages that were done before."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from forensics.suggestions.model import RunLines
from forensics.suggestions.templates import Template
from forensics.suggestions.timing import Placed


class Guard(NamedTuple):
    """A line that stopped repeats, and the messages of which it did."""

    placed: Placed
    after_done: list[str]


def guard_of(candidates: Iterable[Placed], effect: Template, runs: Sequence[RunLines]) -> Guard | None:
    """Return the line that stands in place of the effect, and only with messages that were done before."""
    done_at, with_effect = _done(effect, runs)
    found = []
    for p in candidates:
        if p.template.shape == effect.shape:
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
