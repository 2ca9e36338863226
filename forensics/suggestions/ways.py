"""Expressions that find the value which names a line's item, from short to long."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forensics.parsers.app_lines import PREFIX
from forensics.possessive import compiled
from forensics.suggestions.circumstances import ANY_WORDS, VARIABLE
from forensics.suggestions.fillers import FILLER, FILLERS, LONGEST
from forensics.suggestions.telling_fields import (
    JSON_FIELD,
    JSON_NAME,
    LEVEL,
    SAYS,
    SAYS_WHERE,
    is_metadata,
    name_before,
    only_names_id,
    said_before,
    telling_field,
)
from forensics.suggestions.wording import beginnings, clauses, from_first_word

if TYPE_CHECKING:
    from forensics.suggestions.templates import Template

WORD = re.compile(r"[A-Za-z]{2,}", re.ASCII)
_SPOKEN = re.compile(r"[A-Za-z]{2,} ", re.ASCII)
"""A word of a sentence, and not the name of a field before its value."""
_BEGINNING = r"(?:^|\t|[^\w\s]\s*)"
"""What a sentence begins behind: another word before it makes another sentence."""
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
_IN_SPAN = compiled(r"([\[{])(?>[\w.]++[=:] ?+[^\s,\]}]*+[ ,]++)*+(?:[\w.]++[=:] ?+)?+\Z", re.ASCII)
"""Opens what a line stands in (a task, a span of a trace) and is not closed before the value."""
_CLOSED = re.compile(r"[\[{][^\]}]*+[\]}]", re.ASCII)
_MOST_BEFORE_SPAN = 3
"""Words before a span: its name, the level; more of them say what the line says."""
HOW = re.compile(r"[ ,:;-]+(?:in|for|by|at|from|to|on|after|with|of|via|within)(?![\w-])", re.ASCII | re.IGNORECASE)
"""What a sentence begins to tell of circumstances with: for whom, from where, how long."""
_UNIT = re.compile(rf"(?:\A|(?<={VARIABLE})|(?<={VARIABLE} ))(?:[mn]?s|[A-Z]{{3}})(?!\w)", re.ASCII)
_VALUE_TO_BLANK = r"\S+"
_VALUE = r"[\w.@+-]+"


def candidates(template: "Template") -> Iterator[str]:
    """Yield expressions from short to long that hold what the line's own message text says, if a field has it."""
    said = telling_field(*template.shape)
    yield from (way for way in _ways(template) if said is None or escaped(said.text) in way)


def _ways(template: "Template") -> Iterator[str]:
    """Yield expressions from short to long: the last words before the value, all of them, those behind it too."""
    lead, tail = template.shape
    if lead.endswith(VARIABLE) and all(_COLOURED.search(text, 0, start) for text, start, _ in template.texts):
        lead = lead[:-1] + _COLOUR
    is_in_span = span_of(lead) is not None
    is_text = not is_in_span and not lead.lstrip().startswith("{")
    value = _VALUE_TO_BLANK if template.ends_at_blank else _VALUE
    found = f"(?P<{template.group}>{value})"
    near = _HIDDEN.split(lead)[-1].lstrip(f" \t\"':,;=-[](){{}}{FILLER}{FILLERS}")
    behind = [escaped(tail)]
    if is_text:
        behind = [*dict.fromkeys([*(escaped(text) for text in beginnings(tail) if not only_names_id(text)), *behind])]
    clause = near.rpartition('"')[2].lstrip(f" ,:{FILLER}{FILLERS}")
    texts = [escaped(text) for text in dict.fromkeys((clause, near)) if WORD.search(text)]
    if (said := telling_field(lead, tail)) and not is_in_span and (name := escaped(name_before(lead))):
        yield f"{name}{found}.*?{escaped(said.text)}" if said.is_behind else f"{escaped(said.text)}.*?{name}{found}"
    if said and said.is_behind and tail.startswith(said.text):
        yield escaped(lead.rpartition('"')[2]) + found + escaped(said.text)
    if is_text and (sentence := _sentence(lead)):
        yield escaped(sentence) + found
    by_field: dict[bool, list[str]] = {True: [], False: []}
    for told in sorted(JSON_FIELD.finditer(lead), key=lambda told: not SAYS.search(told["name"])):
        if not LEVEL.search(told[0]) and (last := JSON_NAME.search(lead, told.end())):
            says_where = SAYS_WHERE.search(told["name"]) is not None
            by_field[says_where].append(f"{escaped(told[0])}.*?{escaped(last[0])}{found}")
    yield from by_field[False]
    for text in () if is_in_span else texts:
        if _SPOKEN.search(text):
            yield text + found
            yield _BEGINNING + text + found
    if not is_in_span and not is_text and WORD.search(said_so_far := said_before(lead)):
        yield escaped(said_so_far) + found
    texts += [escaped(from_first_word(lead)), escaped(lead)]
    for end in behind if is_in_span else ("", *behind):
        for text in texts:
            if WORD.search(text) or end:
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
        if _SPOKEN.search(text) and not HOW.match(f" {rest}") and not only_names_id(rest):
            return text if start != starts[-1] else ""
    return ""


def escaped(text: str) -> str:
    """Return an expression for a masked text.

    >>> escaped(f"paid (order {VARIABLE})")
    'paid \\\\(order \\\\S+?\\\\)'
    """
    shown = _SHOWN.sub(lambda hidden: _SHOWN_AS[hidden[0]], _SPECIAL.sub(r"\\\1", text))
    return _CONTROL.sub(lambda blank: rf"\x{ord(blank[0]):02x}", shown)


def span_of(lead: str) -> re.Match[str] | None:
    """Return what opens the span that a value stands in; None where the words before it say what the line says."""
    inside = _IN_SPAN.search(lead)
    if inside is None or lead.endswith("["):
        return inside
    if inside[1] == "[":
        return inside if is_metadata(own(lead[: inside.start()])) else None
    before = WORD.findall(_CLOSED.sub("", own(lead[: inside.start()])))
    return inside if len(before) <= _MOST_BEFORE_SPAN else None


def own(lead: str) -> str:
    """Return a masked lead without what every line of the log begins with; what is said may stand in the column before an object."""
    before, _, last = lead[len(PREFIX.find(lead) or "") :].rpartition(_COLUMN)
    return f"{before.rpartition(_COLUMN)[2]}{_COLUMN}{last}" if before and last.startswith("{") else last
