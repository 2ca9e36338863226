"""The business key that the effect's own line prints beside the message id, where no body tells it."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from forensics.parsers.marks import mark
from forensics.sentence import said
from forensics.suggestions.model import MESSAGE_ID, OF_LINE, Line, Proposal, RunLines
from forensics.suggestions.outcomes import LEAST_ITEMS, LEAST_SHARE
from forensics.suggestions.templates import Template, with_words_behind

_NAMED = re.compile(
    r"""(?P<name>[A-Za-z_][A-Za-z0-9_.-]{1,60})(?P<sign>\\?["']?(?:=|: ?)\\?["']?|\ \#?(?=[A-Za-z_.@+/-]*\d))(?=(?P<value>[A-Za-z0-9][\w.@+/-]{2,199}))""",
    re.ASCII,
)
"""A name and a value, which may be the next one's name; without a sign between them, as in "order 1017", the value has a digit."""
_OF_WORK = re.compile(r"(?:id|key|no|nr|number|ref|reference|order|payment|invoice|booking)\Z", re.IGNORECASE)
"""Ends of names that name a piece of work: a duration is another in each line, too."""
_NEVER_WORK = "message|msg|request|trace|span|correlation|receipt|session|record"
"""Things whose ids are no work's, wherever their name stands."""
_OF_OTHERS = re.compile(rf"(?:{_NEVER_WORK})[_.-]?(?:id|key|no)\Z", re.IGNORECASE)
_OF_ANYTHING = re.compile(r"(?:id|key|no|nr|number|uuid)\Z", re.IGNORECASE)
_OTHERS = re.compile(
    rf"(?<![A-Za-z])(?:{_NEVER_WORK}|req|user|tenant|customer|client|account|device|"
    r"parent|thread|process|worker|connection)[ _-]\Z",
    re.IGNORECASE,
)
"""A word before such a name that says it is another thing's, as in "last trace id 7"."""
_ON_ITS_WAY = ".*?"
"""What an expression passes over between a field of JSON and another."""
_TOKEN = re.compile(r"[\w.@+/-]*\w", re.ASCII)
_FRACTION = re.compile(r"\d+\.\d+")


def with_key(found: Proposal, effect: Template, runs: Sequence[RunLines], is_known: bool = False) -> Proposal:
    """Return a proposal, an effect's or a start's, with a group for the key, if its line prints one; else as it is.

    ``is_known``: messages have their key already, and it must be that one.

    A key stands before or behind the message id as ``name=value``, ``name value`` or a field of JSON, in every line, another one for each message
    and the same one when its work is done again. Where several names fit, nothing tells which is meant.
    """
    if effect.where != MESSAGE_ID:
        return found
    values: dict[tuple[str, str, bool], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    lines: list[str] = []
    of_line: list[str] = []
    messages: set[str] = set()
    for place, sayings in effect.sayings.items():
        for saying in sayings:
            text = runs[place].lines[saying.line].text
            message = runs[place].items[saying.item].message_id
            lines.append(text)
            of_line.append(message)
            messages.add(message)
            for named in _names_in(text):
                if named["value"].lower() != message:
                    place_of = named["name"], named["sign"], named.start() < saying.start
                    values[place_of][message].add(named["value"].rstrip(".,"))
    names = [told for told, of in values.items() if _is_key(told[0], of, len(messages))]
    if is_known:
        keys = {i.message_id: {v for v, where in i.values.items() if where == OF_LINE} for r in runs for i in r.items}
        names = [told for told in names if all(of <= keys[message] for message, of in values[told].items())]
        if not names:
            told = [keys[message] for message in of_line]
            return next(
                (replace(found, value=way) for way in _passed_over(str(found.value)) if _tells(way, lines, told)), found
            )
    if len(messages) < LEAST_ITEMS or not names or any(values[other] != values[names[0]] for other in names):
        return found
    between = r"[\s\S]*?" if any("\n" in text.strip() for text in lines) else ".*?"
    tried = [(told[0], way) for told in names for way in _ways(str(found.value), between, *told)]
    fitting = [(name, with_words_behind(way, lines)) for name, way in tried if _finds_both(way, lines)]
    if not fitting:
        return found
    name, expression = fitting[0]
    why = said("{why}; {name} is another in each message, so that it names the work", why=found.sentence, name=name)
    return replace(found, value=expression, sentence=why)


def _passed_over(value: str) -> Iterator[str]:
    """Yield expressions that find the key where ``value`` passes over one token."""
    parts = value.split(r"\S+?")
    for place in range(1, len(parts)):
        yield r"\S+?".join(parts[:place]) + r"(?P<key>[\w.@+/-]+)" + r"\S+?".join(parts[place:])


def _tells(expression: str, lines: Sequence[str], keys: Sequence[set[str]]) -> bool:
    """Tell whether an expression finds the known key in each line of a message that has one."""
    hits = [mark(text, expression) for text in lines]
    return all(hit and (not of or hit.key in of) for hit, of in zip(hits, keys, strict=True))


def _ways(value: str, between: str, name: str, sign: str, is_before: bool) -> list[str]:
    """Return expressions that find the value behind a name, before or behind what the expression ``value`` finds, or on its way."""
    sign = sign.replace("\\", r"\\")  # JSON in a string of JSON, as FireLens sends it
    key = rf"\b{re.escape(name)}{sign}(?P<key>[\w.@+/-]+)"
    passed_over = name.replace(".", r"\.") + sign + r"\S+?"
    if passed_over in value:
        told_there = passed_over.removesuffix(r"\S+?") + r"(?P<key>[\w.@+/-]+)"
        return [value.replace(passed_over, told_there, 1)]
    on_its_way = [value.replace(_ON_ITS_WAY, f"{_ON_ITS_WAY}{key}{_ON_ITS_WAY}", 1)] if _ON_ITS_WAY in value else []
    if not is_before:
        beside = rf"{value}{sign}(?P<key>[\w.@+/-]+)"
        return [beside] if value.endswith(name) else [f"{value}{between}{key}", *on_its_way]
    return [f"{key}{between}{value}", *on_its_way]


def _finds_both(expression: str, lines: Sequence[str]) -> bool:
    hits = [mark(text, expression) for text in lines]
    return all(hit and hit.key and hit.message_id for hit in hits)


def works_named(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield names that a piece of work goes by, the values behind them and where these begin, as a line tells them.

    >>> list(works_named("charged payment_id=p-7 in request_id=r-1 after 0.25 s"))
    [('payment_id', 'p-7', 19)]
    >>> list(works_named("sent 3 traces, last trace id 93532"))
    []
    """
    for named in _names_in(text):
        if _OF_WORK.search(named["name"]) and not _OF_OTHERS.search(named["name"]):
            yield named["name"], named["value"].rstrip(".,"), named.start("value")


def _names_in(text: str) -> Iterator[re.Match[str]]:
    """Yield names and values of a line, without durations and what is another thing's id for sure."""
    for named in _NAMED.finditer(text):
        is_others = _OF_ANYTHING.match(named["name"]) and _OTHERS.search(text[: named.start()])
        if not is_others and not _FRACTION.fullmatch(named["value"].rstrip(".,")):
            yield named


def keys_told(lines_of: Sequence[tuple[str, Sequence[str]]]) -> list[str | None]:
    """Return the business key that lines without a message id tell, for each handling, given as its message and those lines.

    One name must stand with (nearly) every message, as in ``with_key``; where several do, nothing tells which is meant.
    """
    values: dict[tuple[str, str], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    told: list[dict[tuple[str, str], str]] = []
    for message, lines in lines_of:
        of_handling: dict[tuple[str, str], str] = {}
        for text in lines:
            for named in _names_in(text):
                value = named["value"].rstrip(".,")
                place = named["name"].lower(), named["sign"]  # a sentence may begin with it
                values[place][message].add(value)
                of_handling[place] = value
        told.append(of_handling)
    messages = len({message for message, _ in lines_of})
    names = [place for place, of in values.items() if _is_key(place[0], of, round(LEAST_SHARE * messages))]
    if messages < LEAST_ITEMS or len({name for name, _ in names}) != 1:
        return [None] * len(lines_of)
    return [next((of[place] for place in names if place in of), None) for of in told]


def with_keys_told(runs: Sequence[RunLines]) -> list[RunLines]:
    """Give messages the business key that a line of theirs tells beside their id, as the one that begins a message's work may.

    The same key must stand in lines that name no message: what these say can be their work done. Where several kinds of keys do,
    nothing tells which is meant, and nothing is given.
    """
    values: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    alone: set[str] = set()
    for run in runs:
        for line in run.lines:
            text = line.text.lower()
            ids = [item.message_id for item in run.items if item.message_id in text]
            if not ids:
                alone |= set(_TOKEN.findall(line.text))
            elif len(ids) == 1:
                for name, value, _ in works_named(line.text):
                    values[name][ids[0]].add(value)
    messages = {item.message_id for run in _ended(runs) for item in run.items}
    told = {
        name: {message: next(iter(found)) for message, found in of.items() if len(found) == 1}
        for name, of in values.items()
        if _is_key(name, of, round(LEAST_SHARE * len(messages)))
    }
    fitting = [keys for keys in told.values() if sum(k in alone for k in keys.values()) >= LEAST_SHARE * len(keys)]
    if len(messages) < LEAST_ITEMS or not fitting or any(keys != fitting[0] for keys in fitting):
        return list(runs)
    return [
        _with_values(
            run, {n: fitting[0][item.message_id] for n, item in enumerate(run.items) if item.message_id in fitting[0]}
        )
        for run in runs
    ]


def with_keys_beside(runs: Sequence[RunLines]) -> list[RunLines]:
    """Give messages the business key that lines without a message id tell: each line is of the message that was named last.

    Where a batch is worked on side by side, lines stand behind others' names and no message keeps one key: nothing is given.
    """
    beside = [(run, number, lines) for run in _ended(runs) for number, lines in lines_beside(run).items()]
    keys = keys_told([(r.items[number].message_id, [line.text for line in lines]) for r, number, lines in beside])
    given: dict[int, dict[int, str]] = defaultdict(dict)
    for (run, number, _), key in zip(beside, keys, strict=True):
        if key is not None:
            given[id(run)][number] = key
    return [_with_values(run, given[id(run)]) if id(run) in given else run for run in runs]


def _ended(runs: Sequence[RunLines]) -> list[RunLines]:
    """Return the handlings of which something tells how they ended, if any are: a message that a job sends has a line and no end."""
    return [run for run in runs if run.status != "unknown"] or list(runs)


def lines_beside(run: RunLines) -> dict[int, list[Line]]:
    """Return the lines of a run that name no message, for each of its items those before which it was the last that was named."""
    found: dict[int, list[Line]] = {number: [] for number in range(len(run.items))}
    at_hand = 0 if len(run.items) == 1 else None
    for line in run.lines:
        text = line.text.lower()
        named = [number for number, item in enumerate(run.items) if item.message_id in text]
        if named:
            at_hand = named[0] if len(named) == 1 else None
        elif at_hand is not None:
            found[at_hand].append(line)
    return found


def _with_values(run: RunLines, keys: dict[int, str]) -> RunLines:
    items = [
        replace(item, values={keys[number]: OF_LINE, **item.values}) if number in keys else item
        for number, item in enumerate(run.items)
    ]
    return replace(run, items=items)


def _is_key(name: str, of_messages: dict[str, set[str]], messages: int) -> bool:
    if not _OF_WORK.search(name) or _OF_OTHERS.search(name) or len(of_messages) < messages:
        return False
    told = [next(iter(found)) for found in of_messages.values() if len(found) == 1]
    return len(told) >= messages and len(set(told)) >= LEAST_SHARE * messages
