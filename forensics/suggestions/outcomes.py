"""Several lines of which each message has exactly one: the ways in which its work ends, where no one line closes all of it."""

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from forensics.parsers import parse_line
from forensics.parsers.error_lines import is_error_line
from forensics.sentence import counted, said
from forensics.suggestions.guards import Guard, guard_of
from forensics.suggestions.model import Proposal, RunLines
from forensics.suggestions.telling_fields import telling_field
from forensics.suggestions.templates import Template
from forensics.suggestions.timing import Placed
from forensics.suggestions.wording import MOST_WAYS, REFUSED, clauses

LEAST_SHARE = 0.95
"""A mark stands once with at least this share of the items that should have it."""
LEAST_ITEMS = 5
"""Of fewer items nothing is proposed."""
MOST_SHOWN = 3
"""Examples that are shown of a line."""
_SAYS_ANYTHING = re.compile(
    r"(?<![\w.-])(?!(?i:trace|debug|info|notice|warn|warning|error|sqs|message|msg|record|item|job|task|delivery|id)(?![\w.-]))[A-Za-z]{2,}(?![\w.=-])",
    re.ASCII,
)
"""A word that is no level, no name of a field, and none that says what an id is of."""


class Ends(NamedTuple):
    """The effects proposed for ways in which work ends, the templates that may mean that it was ``done``, and what is not told."""

    proposals: tuple[Proposal, ...]
    done: tuple[Template, ...]
    guard: Guard | None
    cannot_tell: tuple[str, ...]


def ends_of(name: str, section: str, candidates: Sequence[Placed], runs: Sequence[RunLines]) -> Ends | None:
    """Return what is proposed of the ways in which the work of a consumer's messages ends; None where there are no such ways.

    Each is its own proposal. One whose words say that the work was not done is no effect, and that is told.
    """
    ways = _ways(candidates, runs)
    if len(ways) > MOST_WAYS:
        why = said(
            "{name}: a message's work ends in {n} different lines, too many to tell which mean that it was done.",
            name=name,
            n=len(ways),
        )
        return Ends((), (), None, (why,))
    guard = next((g for p in reversed(ways) if (g := guard_of([p], together(_templates(ways, p)), runs))), None)
    ways = [p for p in ways if guard is None or p is not guard.placed]
    if len(ways) < 2:
        return None
    of = max(p.once + p.never for p in ways) - len(guard.after_done if guard else ())
    done, not_done = _done_and_not(ways)
    done, not_done = ([p for p in part if p.once >= LEAST_ITEMS] for part in (done, not_done))
    cannot_tell = [
        said(
            "{name}: {line} closes {n} of {total} messages and is not proposed as effect: its words say that the work was not done.",
            name=name,
            line=repr(p.template.texts[0][0].strip()),
            n=p.once,
            total=of,
        )
        for p in not_done
    ]
    return Ends(
        tuple(_proposal(name, section, p, of, len(done)) for p in done),
        tuple(p.template for p in done),
        guard,
        tuple(cannot_tell),
    )


def together(templates: Sequence[Template]) -> Template:
    """Return one template that says what any of several says; its expression is the first one's."""
    first = templates[0]
    both = Template(first.where, first.shape, first.texts, first.text_lines, {}, first.ends_at_blank, first.expression)
    for place, sayings in chain.from_iterable(template.sayings.items() for template in templates):
        both.sayings[place] = [*both.sayings.get(place, ()), *sayings]
    return both


def examples(template: Template) -> tuple[str, ...]:
    """Return lines of a template."""
    return tuple(text.strip() for text, _, _ in template.texts[:MOST_SHOWN])


def words_of(placed: Placed) -> str:
    """Return what the first line of a template says around what names its item."""
    return " ".join(text[:start] + " " + text[end:] for text, start, end in placed.template.texts[:1])


def own_words_of(placed: Placed) -> str:
    """Return what a template's line itself says: its message text, without the names of loggers and threads before it."""
    lead, tail = placed.template.shape
    if (said := telling_field(lead, tail)) is not None:
        return said.text
    own = f"{clauses(lead)[-1]} {tail}"
    return own if _SAYS_ANYTHING.search(own) else words_of(placed)


def tells_error(placed: Placed) -> bool:
    """Tell whether a template's lines are errors by their level or the stack that they print."""
    return all(is_error_line(parse_line(text), text) for text, _, _ in placed.template.texts)


def _ways(candidates: Iterable[Placed], runs: Sequence[RunLines]) -> list[Placed]:
    """Return lines of which (nearly) every message of runs that ended well has exactly one, the most frequent first; else none.

    The first closes a message's work by its time; another may be quick, as a refusal is, and is told by standing only where
    the others do not.
    """
    once = sorted(
        (p for p in candidates if p.often == 0 and p.once and not p.busy_after),
        key=lambda p: (-p.once, p.template.where, p.template.expression),
    )
    first = next((p for p in once if p.can_tell and p.is_closing), None)
    if first is None:
        return []
    chosen, taken = [first], _items(first.template)
    for p in once:
        if taken.isdisjoint(mine := _items(p.template)):
            chosen.append(p)
            taken |= mine
    has_one = sum(p.once for p in chosen)
    if len(chosen) < 2 or has_one < max(LEAST_ITEMS, LEAST_SHARE * (first.once + first.never)):
        return []
    return sorted(chosen, key=lambda p: -p.once)


def _items(template: Template) -> set[tuple[int, int]]:
    return {(place, saying.item) for place, sayings in template.sayings.items() for saying in sayings}


def _templates(ways: Iterable[Placed], without: Placed) -> list[Template]:
    return [p.template for p in ways if p is not without]


def _done_and_not(ways: Sequence[Placed]) -> tuple[list[Placed], list[Placed]]:
    """Part ways to end into those that may mean that the work was done, and those whose words say that it was not."""
    not_done = [p for p in ways if REFUSED.search(words_of(p)) or tells_error(p)]
    if len(not_done) == len(ways):  # a word of all of them tells them apart in nothing
        return list(ways), []
    return [p for p in ways if p not in not_done], not_done


def _proposal(name: str, section: str, way: Placed, of: int, rivals: int) -> Proposal:
    lines = counted(way.once, "message")
    why = (
        said(
            "{lines} have it, and each other message has another of {n} lines that end its work: accept the one that means that it "
            "was done",
            lines=lines,
            n=rivals,
        )
        if rivals > 1
        else said("{lines} have it, and all others a line whose words say that their work was not done", lines=lines)
    )
    return Proposal(
        section,
        name,
        "effect",
        way.template.expression,
        way.once,
        of,
        "messages of runs that ended well",
        why,
        way.absent,
        examples(way.template),
        is_rival=rivals > 1,
    )
