"""Lines that name an item, gathered to templates: one per way of saying something, each with an expression that finds it.

A template hangs on the value that names the item, so its text is what stands around that value, and not what a clustering of
whole lines would make of it: two lines that differ in a word only beside the value stay two.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import NamedTuple

from forensics.parsers.app_lines import PREFIX
from forensics.parsers.marks import mark, mark_pattern
from forensics.suggestions.circumstances import (
    ANY_WORDS,
    TOKEN,
    VARIABLE,
    around,
    circumstances,
    masked,
    without_colours,
)
from forensics.suggestions.fillers import Filled, Shape, Told, fillers_of
from forensics.suggestions.model import MESSAGE_ID, RunLines
from forensics.suggestions.telling_fields import (
    is_metadata,
    telling_field,
)
from forensics.suggestions.ways import HOW, WORD, candidates, escaped, own, span_of
from forensics.suggestions.wording import beginnings, clauses, free_words, said_behind, words_behind

_ENDS = ".-+@"
"""Characters of a token that end a sentence rather than a value."""
_TO_BLANK = re.compile(r"""\.*(?:[ \n\t]|\Z)|\.+["'\\)\]}]""")
MOST_EXAMPLES = 5
_WORDS_OF_TAIL = 3
_CLOSING = {"[": "]", "{": "}"}
_WORDS_BEHIND_SPAN = 5
_WORD_OR_NAME = re.compile(r"\W*\w+(?:(?:\.|::)\w+)*", re.ASCII)
"""A word, or the whole of a logger's dotted name."""
_SAID_BEHIND = re.compile(r"(?:[ ,:;-]{1,3}[A-Za-z]{2,}){1,3}(?![\w=-])", re.ASCII)
"""What a sentence goes on with behind the value."""
MOST_CHARS = 2_000
"""A longer line is a dump, and no mark."""


class Saying(NamedTuple):
    """One line that names one item of a run: which line, which item, and the value's place in the text."""

    line: int
    item: int
    start: int
    end: int


@dataclass
class Template:
    """One way of naming an item. ``where`` is what names it; ``sayings`` are by place of the run."""

    where: str
    shape: Shape
    texts: list[tuple[str, int, int]] = field(default_factory=list)
    text_lines: list[tuple[int, int]] = field(default_factory=list)
    sayings: dict[int, list[Saying]] = field(default_factory=dict)
    ends_at_blank: bool = True
    expression: str = ""

    @property
    def group(self) -> str:
        """The named group of its expression."""
        return "message_id" if self.where == MESSAGE_ID else "key"


def templates_of(runs: Iterable[RunLines]) -> list[Template]:
    """Return the templates of some runs, each with an expression that matches it and none of the others' examples."""
    found: dict[tuple[str, Shape], Template] = {}
    runs = list(runs)
    said = [list(_sayings(run)) for run in runs]
    all_texts: dict[tuple[str, Shape], list[str]] = {}
    named = (((place, s.item), text, s.start) for place, sayings in enumerate(said) for s, _, text in sayings)
    passed_over = circumstances(named, ((place, line.text) for place, run in enumerate(runs) for line in run.lines))
    free = _free_by_lead(((text, s.start, s.end) for sayings in said for s, _, text in sayings), passed_over)
    shapes = [[shape_of(text, s.start, s.end, passed_over, free) for s, _, text in sayings] for sayings in said]
    filled = _fillers(runs, said, shapes)
    for place, sayings in enumerate(said):
        for (saying, where, text), told in zip(sayings, shapes[place], strict=True):
            shape = filled(told)
            template = found.setdefault((where, shape), Template(where, shape))
            template.sayings.setdefault(place, []).append(saying)
            all_texts.setdefault((where, shape), []).append(text)
            template.ends_at_blank &= _TO_BLANK.match(text, saying.end) is not None
            if len(template.texts) < MOST_EXAMPLES:
                template.texts.append((text, saying.start, saying.end))
                template.text_lines.append((place, saying.line))
    templates = list(found.values())
    unnamed = _unnamed(runs, said)
    for key, template in found.items():
        shortest = _expression(
            template, templates, unnamed, lambda text, start, end: filled(shape_of(text, start, end, passed_over, free))
        )
        template.expression = _with_words(shortest, template, all_texts[key]) or _of_one_token(
            template, templates, unnamed, all_texts[key]
        )
    return [t for t in templates if t.expression]


def _fillers(
    runs: Sequence[RunLines], said: Sequence[Sequence[tuple[Saying, str, str]]], shapes: Sequence[Sequence[Shape]]
) -> Filled:
    of_shape: dict[Shape, list[Told]] = defaultdict(list)
    for place, (run, sayings) in enumerate(zip(runs, said, strict=True)):
        for (saying, _, _), shape in zip(sayings, shapes[place], strict=True):
            message_id = run.items[saying.item].message_id
            of_shape[shape].append(Told((place, saying.item), message_id, run.lines[saying.line].at))
    return fillers_of(of_shape)


def _unnamed(runs: Sequence[RunLines], named: Sequence[Sequence[tuple[Saying, str, str]]]) -> list[str]:
    """Return one line of each kind that names no item."""
    found: dict[str, str] = {}
    for run, sayings in zip(runs, named, strict=True):
        theirs = {saying.line for saying, _, _ in sayings}
        for number, line in enumerate(run.lines):
            if number not in theirs and len(line.text) <= MOST_CHARS:
                found.setdefault(masked(line.text), line.text)
    return list(found.values())


def _sayings(run: RunLines) -> Iterator[tuple[Saying, str, str]]:
    """Yield every naming of an item in a run's lines; a line that names several items is about none of them.

    Of a line that names it twice, as "task[id]: got id" does, the last: more of what the line says stands before it.
    """
    owners: dict[str, int | None] = {}
    for number, item in enumerate(run.items):
        for value in item.values:
            owners[value] = None if value in owners else number
    for place, line in enumerate(run.lines):
        if len(line.text) > MOST_CHARS:
            continue
        begin = len(PREFIX.find(line.text) or "")
        hits: dict[str, tuple[Saying, str]] = {}
        for token in TOKEN.finditer(without_colours(line.text), begin):
            value = token[0].rstrip(_ENDS)
            owner = owners.get(value)
            if owner is None:
                value = value.lower()
                owner = owners.get(value)
            if owner is None:
                continue
            where = run.items[owner].values[value]
            hits[where] = (Saying(place, owner, token.start(), token.start() + len(value)), where)
        if len({saying.item for saying, _ in hits.values()}) == 1:
            for saying, where in hits.values():
                yield saying, where, line.text


Free = Mapping[str, Collection[str]]
"""By what stands before a value, the words behind it that fill a template."""


def _free_by_lead(places: Iterable[tuple[str, int, int]], passed_over: Collection[str]) -> Free:
    tails: dict[str, list[list[str]]] = defaultdict(list)
    for text, start, end in places:
        lead, tail = around(text, start, end, passed_over)
        tails[own(lead)].append([word.text for word in words_behind(tail)])
    return {lead: free_words(of) for lead, of in tails.items()}


def shape_of(text: str, start: int, end: int, passed_over: Collection[str] = (), free: Free | None = None) -> Shape:
    """Return what stands before the value, and what of the text behind it tells one saying from another.

    What fields ``passed_over`` say, by name, is all one. Without ``free``, words behind the value tell nothing where those before it
    say enough to know the same line again.
    """
    lead, tail = around(text, start, end, passed_over)
    if text.lstrip().startswith("{"):
        return lead, tail
    if inside := span_of(lead):  # what stands in brackets tags every line of its task
        closed = tail.find(_CLOSING[inside[1]])
        words = _WORD_OR_NAME.findall(tail[closed + 1 :])[:_WORDS_BEHIND_SPAN]
        how = next((n for n, word in enumerate(words) if n > 1 and HOW.match(word)), len(words))
        return own(lead), tail[: closed + 1] + "".join(words[:how])
    if free is not None and words_behind(tail):
        return own(lead), said_behind(tail, free.get(own(lead), ()))
    told_by = telling_field(lead, tail)
    says_none = free is None and is_metadata(own(lead))
    if says_none and told_by and told_by.is_behind:
        return own(lead), told_by.text
    if len(WORD.findall(own(lead))) >= 2 and not (says_none and told_by is None):
        goes_on = _SAID_BEHIND.match(tail) if len(WORD.findall(clauses(own(lead))[-1])) < 2 else None
        return own(lead), _what(goes_on[0]) if goes_on else ""
    told = "".join(re.findall(r"\W*\w+", tail, re.ASCII)[:_WORDS_OF_TAIL])
    return own(lead), _what(told) or told


def _expression(
    template: Template, others: Iterable[Template], unnamed: Sequence[str], shaped: Callable[[str, int, int], Shape]
) -> str:
    """Return the shortest expression that finds this template's value in its examples and matches no other's; else ''.

    One that fits lines of another shape that name no item is taken only where none is better.
    """
    mine = {(place, s.line) for place, sayings in template.sayings.items() for s in sayings}
    theirs = [
        text
        for t in others
        for (text, _, _), line in zip(t.texts, t.text_lines, strict=True)
        if t is not template and line not in mine
    ]
    wider = ""
    for candidate in candidates(template):
        finds = all(_value(text, candidate, template.group) == text[a:b].lower() for text, a, b in template.texts)
        if finds and not any(mark(text, candidate) for text in theirs):
            if not any(_is_of_another_shape(text, candidate, template, shaped) for text in unnamed):
                return candidate
            wider = wider or candidate
    return wider


def _of_one_token(template: Template, others: Iterable[Template], unnamed: Sequence[str], texts: Sequence[str]) -> str:
    """Return an expression that passes over one token where any words would be another's: "order 7 sent", not "order 7 was sent before"."""
    lead, tail = template.shape
    if ANY_WORDS not in tail:
        return ""
    narrow = replace(template, shape=(lead, tail.replace(ANY_WORDS, f" {VARIABLE}")))
    found = _expression(narrow, [t for t in others if t is not template], unnamed, lambda *_: narrow.shape)
    return found if found and all(mark(text, found) for text in texts) else ""


def _with_words(shortest: str, template: Template, texts: Sequence[str]) -> str:
    """Return a template's expression with the words that its lines go on with, also behind a name; a field may hold the key."""
    longer = with_words_behind(shortest, texts)
    lead, tail = template.shape
    is_in_text = span_of(lead) is None and not lead.lstrip().startswith("{")
    if longer != shortest or not shortest.endswith(")") or not tail.startswith(ANY_WORDS) or not is_in_text:
        return longer
    if "=" in template.texts[0][0][template.texts[0][2] :]:
        return longer
    over = shortest + escaped(next(beginnings(tail), ""))
    return over if all(mark(text, over) for text in texts) else longer


def _is_of_another_shape(
    text: str, expression: str, template: Template, shaped: Callable[[str, int, int], Shape]
) -> bool:
    if not mark(text, expression) or not (found := mark_pattern(expression).compiled.search(text)):
        return False
    return shaped(text, *found.span(template.group)) != template.shape


def with_words_behind(expression: str, texts: Sequence[str]) -> str:
    """Return an expression that ends with a value, with the words that all its lines go on with; any other as it is.

    What a line says of a thing may stand behind its name: "order 7 already charged" and "order 7 is late" begin alike.
    """
    if not expression.endswith(")"):
        return expression
    shared: list[str] | None = None
    for text in texts:
        hit = mark_pattern(expression).compiled.search(text)
        behind = _SAID_BEHIND.match(text, hit.end()) if hit else None
        words = re.findall(r"[^A-Za-z]+[A-Za-z]+", _what(behind[0])) if behind else []
        shared = (
            words if shared is None else [word for word, _ in takewhile(_is_same, zip(shared, words, strict=False))]
        )
    longer = expression + escaped("".join(shared or ()))
    return longer if all(mark(text, longer) for text in texts) else expression


def _what(behind: str) -> str:
    """Return what a sentence goes on with, without what tells of circumstances.

    >>> _what(" shipped for Alice"), _what(" from queue orders")
    (' shipped', '')
    """
    return behind[: how.start()] if (how := HOW.search(behind)) else behind


def _is_same(pair: tuple[str, str]) -> bool:
    return pair[0] == pair[1]


def _value(text: str, expression: str, group: str) -> str | None:
    found = mark(text, expression)
    return None if found is None else ((found.message_id if group == "message_id" else found.key) or "").lower()
