"""The line that stops a repeat: it stands in place of the effect's, and only with messages that were done before."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from forensics.parsers import parse_line
from forensics.parsers.error_lines import is_error_line
from forensics.parsers.idempotency import says_repeat
from forensics.suggestions.model import RunLines
from forensics.suggestions.templates import Template
from forensics.suggestions.timing import Placed
from forensics.suggestions.wording import REFUSED

_LEAST_UNSAID = 5
"""With fewer messages a line in place of the effect's may be anything else that happened once, if no word tells of a repeat."""

_KNOWN = re.compile(
    r"(?i:(?<![a-z])(?:exists|had been|nothing (?:left )?to do|no-?op|(?:was|were|been) [a-z]+ (?:before|earlier)|earlier)(?![a-z]))"
)
"""Words that tell of nothing by themselves, and of a repeat where they stand in place of the effect with what was done before."""


class Guard(NamedTuple):
    """A line that stopped repeats, and the messages of which it did."""

    placed: Placed
    after_done: list[str]


def guard_of(candidates: Iterable[Placed], effect: Template, runs: Sequence[RunLines]) -> Guard | None:
    """Return the line that stands in place of the effect, and only with messages that were done before.

    An error stands there, too, whatever became of the work behind it: its words must not be those of a failure.
    """
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
        if after_done and not is_other and _may_say_repeat(p.template, len(after_done)):
            found.append(Guard(p, after_done))
    return max(found, key=lambda g: (len(g.after_done), g.placed.template.expression), default=None)


def tells_repeat(text: str) -> bool:
    """Tell whether a line that stands with nothing but work done before says that it was done before.

    >>> tells_repeat("already charged, skipping"), tells_repeat("nothing to do"), tells_repeat("message taken")
    (True, True, False)
    """
    return says_repeat(text) or _KNOWN.search(text) is not None


def _may_say_repeat(template: Template, messages: int) -> bool:
    """Tell whether a line says that work was there already; where many messages have it, it is enough that it tells of no failure."""
    lines = [text for text, _, _ in template.texts]
    if any(map(tells_repeat, lines)):
        return True
    is_failure = any(REFUSED.search(text) or is_error_line(parse_line(text), text) for text in lines)
    return messages >= _LEAST_UNSAID and not is_failure


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
