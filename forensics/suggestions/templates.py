"""Lines that name an item, gathered to templates: one per way of saying something, each with an expression that finds it.

A template hangs on the value that names the item, so its text is what stands around that value, and not what a clustering of
whole lines would make of it: two lines that differ in a word only beside the value stay two.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import NamedTuple

from forensics.parsers.app_lines import PREFIX
from forensics.parsers.marks import mark, mark_pattern
from forensics.possessive import compiled
from forensics.suggestions.circumstances import (
    ANY_WORDS,
    TOKEN,
    VARIABLE,
    around,
    circumstances,
    masked,
    without_colours,
)
from forensics.suggestions.fillers import FILLER, FILLERS, LONGEST, Filled, Shape, Told, fillers_of
from forensics.suggestions.model import MESSAGE_ID, RunLines
from forensics.suggestions.telling_fields import (
    JSON_FIELD,
    JSON_NAME,
    LEVEL,
    SAYS,
    SAYS_WHERE,
    is_metadata,
    name_before,
    only_names_id,
    telling_field,
)
from forensics.suggestions.wording import beginnings, clauses, free_words, from_first_word, said_behind, words_behind

_WORD = re.compile(r"[A-Za-z]{2,}", re.ASCII)
_SPOKEN = re.compile(r"[A-Za-z]{2,} ", re.ASCII)
"""A word of a sentence, and not the name of a field before its value."""
_BEGINNING = r"(?:^|\t|[^\w\s]\s*)"
"""What a sentence begins behind: another word before it makes another sentence."""
_ENDS = ".-+@"
"""Characters of a token that end a sentence rather than a value."""
_TO_BLANK = re.compile(r"\.*(?:[ \n\t]|\Z)")
_SPECIAL = re.compile(r"([\\^$.|?*+()\[\]{}])")
_CONTROL = re.compile(r"[\x0a-\x1f\x7f-\x9f]")
"""Blanks of other kinds, which no settings file shows; what is no blank is hidden already, and a tab can be read."""
_HIDDEN = re.compile(f"[{VARIABLE}{ANY_WORDS}]")
_COLOUR = "\5"
"""What stands for a terminal's colour right before a value, of which only the last character parts the two."""
_SHOWN_AS = {
    _COLOUR: r"\S+?m",
    VARIABLE: r"\S+?",
    ANY_WORDS: r'[^"]*?',
    FILLER: r"\S+?",
    FILLERS: rf"\S+?(?: \S+?){{0,{LONGEST - 1}}}",
}
_SHOWN = re.compile(f"[{''.join(_SHOWN_AS)}]")
_COLOURED = re.compile(r"\x1b\[[0-9;]*m\Z")
_COLUMN = "\t"
MOST_EXAMPLES = 5
_WORDS_OF_TAIL = 3
_IN_SPAN = compiled(r"([\[{])(?>[\w.]++[=:] ?+[^\s,\]}]*+[ ,]++)*+(?:[\w.]++[=:] ?+)?+\Z", re.ASCII)
"""Opens what a line stands in (a task, a span of a trace) and is not closed before the value."""
_CLOSED = re.compile(r"[\[{][^\]}]*+[\]}]", re.ASCII)
_MOST_BEFORE_SPAN = 3
"""Words before a span: its name, the level; more of them say what the line says."""
_CLOSING = {"[": "]", "{": "}"}
_WORDS_BEHIND_SPAN = 5
_WORD_OR_NAME = re.compile(r"\W*\w+(?:(?:\.|::)\w+)*", re.ASCII)
"""A word, or the whole of a logger's dotted name."""
_SAID_BEHIND = re.compile(r"(?:[ ,:;-]{1,3}[A-Za-z]{2,}){1,3}(?![\w=-])", re.ASCII)
"""What a sentence goes on with behind the value."""
_HOW = re.compile(r"[ ,:;-]+(?:in|for|by|at|from|to|on|after|with|of|via|within)(?![\w-])", re.ASCII | re.IGNORECASE)
"""What a sentence begins to tell of circumstances with: for whom, from where, how long."""
_UNIT = re.compile(rf"(?:\A|(?<={VARIABLE})|(?<={VARIABLE} ))(?:[mn]?s|[A-Z]{{3}})(?!\w)", re.ASCII)
MOST_CHARS = 2_000
"""A longer line is a dump, and no mark."""

_VALUE_TO_BLANK = r"\S+"
_VALUE = r"[\w.@+-]+"


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
        template.expression = _with_words(shortest, template, all_texts[key])
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
        tails[_own(lead)].append([word.text for word in words_behind(tail)])
    return {lead: free_words(of) for lead, of in tails.items()}


def shape_of(text: str, start: int, end: int, passed_over: Collection[str] = (), free: Free | None = None) -> Shape:
    """Return what stands before the value, and what of the text behind it tells one saying from another.

    What fields ``passed_over`` say, by name, is all one. Without ``free``, words behind the value tell nothing where those before it
    say enough to know the same line again.
    """
    lead, tail = around(text, start, end, passed_over)
    if text.lstrip().startswith("{"):
        return lead, tail
    if inside := _span_of(lead):  # what stands in brackets tags every line of its task
        closed = tail.find(_CLOSING[inside[1]])
        return _own(lead), tail[: closed + 1] + "".join(_WORD_OR_NAME.findall(tail[closed + 1 :])[:_WORDS_BEHIND_SPAN])
    if free is not None and words_behind(tail):
        return _own(lead), said_behind(tail, free.get(_own(lead), ()))
    told_by = telling_field(lead, tail)
    says_none = free is None and is_metadata(_own(lead))
    if says_none and told_by and told_by.is_behind:
        return _own(lead), told_by.text
    if len(_WORD.findall(_own(lead))) >= 2 and not (says_none and told_by is None):
        goes_on = _SAID_BEHIND.match(tail) if len(_WORD.findall(clauses(_own(lead))[-1])) < 2 else None
        return _own(lead), _what(goes_on[0]) if goes_on else ""
    told = "".join(re.findall(r"\W*\w+", tail, re.ASCII)[:_WORDS_OF_TAIL])
    return _own(lead), _what(told) or told


def _span_of(lead: str) -> re.Match[str] | None:
    """Return what opens the span that a value stands in; None where the words before it say what the line says."""
    inside = _IN_SPAN.search(lead)
    if inside is None or lead.endswith("["):
        return inside
    if inside[1] == "[":
        return inside if is_metadata(_own(lead[: inside.start()])) else None
    before = _WORD.findall(_CLOSED.sub("", _own(lead[: inside.start()])))
    return inside if len(before) <= _MOST_BEFORE_SPAN else None


def _own(lead: str) -> str:
    """Return a masked lead without what every line of the log begins with; what is said may stand in the column before an object."""
    before, _, last = lead[len(PREFIX.find(lead) or "") :].rpartition(_COLUMN)
    return f"{before.rpartition(_COLUMN)[2]}{_COLUMN}{last}" if before and last.startswith("{") else last


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
    for candidate in _candidates(template):
        finds = all(_value(text, candidate, template.group) == text[a:b].lower() for text, a, b in template.texts)
        if finds and not any(mark(text, candidate) for text in theirs):
            if not any(_is_of_another_shape(text, candidate, template, shaped) for text in unnamed):
                return candidate
            wider = wider or candidate
    return wider


def _with_words(shortest: str, template: Template, texts: Sequence[str]) -> str:
    """Return a template's expression with the words that its lines go on with, also behind a name; a field may hold the key."""
    longer = with_words_behind(shortest, texts)
    lead, tail = template.shape
    is_in_text = _span_of(lead) is None and not lead.lstrip().startswith("{")
    if longer != shortest or not shortest.endswith(")") or not tail.startswith(ANY_WORDS) or not is_in_text:
        return longer
    if "=" in template.texts[0][0][template.texts[0][2] :]:
        return longer
    over = shortest + _escaped(next(beginnings(tail), ""))
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
    longer = expression + _escaped("".join(shared or ()))
    return longer if all(mark(text, longer) for text in texts) else expression


def _what(behind: str) -> str:
    """Return what a sentence goes on with, without what tells of circumstances.

    >>> _what(" shipped for Alice"), _what(" from queue orders")
    (' shipped', '')
    """
    return behind[: how.start()] if (how := _HOW.search(behind)) else behind


def _is_same(pair: tuple[str, str]) -> bool:
    return pair[0] == pair[1]


def _value(text: str, expression: str, group: str) -> str | None:
    found = mark(text, expression)
    return None if found is None else ((found.message_id if group == "message_id" else found.key) or "").lower()


def _candidates(template: Template) -> Iterator[str]:
    """Yield expressions from short to long that hold what the line's own message text says, if a field has it."""
    said = telling_field(*template.shape)
    yield from (way for way in _ways(template) if said is None or _escaped(said.text) in way)


def _ways(template: Template) -> Iterator[str]:
    """Yield expressions from short to long: the last words before the value, all of them, those behind it too."""
    lead, tail = template.shape
    if lead.endswith(VARIABLE) and all(_COLOURED.search(text, 0, start) for text, start, _ in template.texts):
        lead = lead[:-1] + _COLOUR
    is_in_span = _span_of(lead) is not None
    is_text = not is_in_span and not lead.lstrip().startswith("{")
    value = _VALUE_TO_BLANK if template.ends_at_blank else _VALUE
    found = f"(?P<{template.group}>{value})"
    near = _HIDDEN.split(lead)[-1].lstrip(f" \t\"':,;=-[](){{}}{FILLER}{FILLERS}")
    behind = [_escaped(tail)]
    if is_text:
        behind = [*dict.fromkeys([*(_escaped(text) for text in beginnings(tail) if not only_names_id(text)), *behind])]
    clause = near.rpartition('"')[2].lstrip(f" ,:{FILLER}{FILLERS}")
    texts = [_escaped(text) for text in dict.fromkeys((clause, near)) if _WORD.search(text)]
    if (said := telling_field(lead, tail)) and not is_in_span and (name := _escaped(name_before(lead))):
        yield f"{name}{found}.*?{_escaped(said.text)}" if said.is_behind else f"{_escaped(said.text)}.*?{name}{found}"
    if said and said.is_behind and tail.startswith(said.text):
        yield _escaped(lead.rpartition('"')[2]) + found + _escaped(said.text)
    if is_text and (sentence := _sentence(lead)):
        yield _escaped(sentence) + found
    by_field: dict[bool, list[str]] = {True: [], False: []}
    for told in sorted(JSON_FIELD.finditer(lead), key=lambda told: not SAYS.search(told["name"])):
        if not LEVEL.search(told[0]) and (last := JSON_NAME.search(lead, told.end())):
            says_where = SAYS_WHERE.search(told["name"]) is not None
            by_field[says_where].append(f"{_escaped(told[0])}.*?{_escaped(last[0])}{found}")
    yield from by_field[False]
    for text in () if is_in_span else texts:
        if _SPOKEN.search(text):
            yield text + found
            yield _BEGINNING + text + found
    texts += [_escaped(from_first_word(lead)), _escaped(lead)]
    for end in behind if is_in_span else ("", *behind):
        for text in texts:
            if _WORD.search(text) or end:
                yield text + found + end
    yield from by_field[True]


def _sentence(lead: str) -> str:
    """Return what is said before a value, with another value in it, where the words behind that one only say for whom, or name a field.

    >>> _sentence(f"[w-1] INFO: Charged order {VARIABLE} (messageId=") == f"Charged order {VARIABLE} (messageId="
    True
    >>> _sentence(f"worker {VARIABLE} charged "), _sentence(f"Charged order {VARIABLE} (message ")[:15]
    ('', 'Charged order \\x00')
    """
    starts = [0, *(hidden.end() for hidden in _HIDDEN.finditer(lead))]
    for start in reversed(starts):
        text = clauses(lead[start:])[-1].lstrip(" \t\"',:;=-[](){}")
        rest = _UNIT.sub("", text)
        if _SPOKEN.search(text) and not _HOW.match(f" {rest}") and not only_names_id(rest):
            return text if start != starts[-1] else ""
    return ""


def _escaped(text: str) -> str:
    shown = _SHOWN.sub(lambda hidden: _SHOWN_AS[hidden[0]], _SPECIAL.sub(r"\\\1", text))
    return _CONTROL.sub(lambda blank: rf"\x{ord(blank[0]):02x}", shown)
