"""What of a line tells where or with what it was written, and not what happened: a host, a thread, a customer's name.

Lines that differ in that alone say the same. It is told by how it behaves: it stays the same in all lines of a handling and is
another in others, or it has too many values to tell kinds of lines apart.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple

from forensics.clock import MONTHS

_IN_JSON = re.compile(
    r'"(?P<name>[A-Za-z@_][\w@.-]*)": ?(?:"(?P<quoted>[^"\\]*)"|(?P<value>true|false|null)(?![\w"]))', re.ASCII
)
_IN_TEXT = re.compile(
    r"""(?<![\w."'-])(?P<name>[A-Za-z_][\w.-]*)=(?:"(?P<quoted>[^"\\]*)"|(?P<value>[^\s"',;)\]}]+))""", re.ASCII
)
_TAG = re.compile(r"\[ ?(?P<value>[\w.:/@+-]+) ?\]", re.ASCII)
TOKEN = re.compile(r"[A-Za-z0-9_.@+-]+", re.ASCII)
"""What of a line an id or a name may be."""
_WITH_DIGIT = re.compile(r"(?<![A-Za-z0-9_.@+-])[A-Za-z_.@+-]*+[0-9][A-Za-z0-9_.@+-]*+", re.ASCII)
_MONTH = rf"(?:{'|'.join(MONTHS)})[a-z]{{0,6}}"
_PART_OF_TIME = re.compile(
    rf"""(?x)
    (?P<time>[0-9]{{1,2}}:[0-9]{{2}}(?::[0-9]{{2}}(?:[.,][0-9]{{1,9}})?)?[ \u00a0\u202f]?)
        (?:[AaPp]\.?[Mm]\.?|UTC|GMT|CES?T|[ECMP][SD]T|BST|JST|IST)(?![A-Za-z])    # the half of the day, or the zone
    | 午[前後](?=[ ]?[0-9])
    | (?<![A-Za-z])(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{{0,6}}(?=,?[ ](?:[0-9]{{1,2}}[ ]|{_MONTH}[ ][0-9]))
    | (?<![A-Za-z]){_MONTH}(?=[ ]{{1,2}}[0-9]{{1,2}}(?:,|[ ][0-9]))
    | (?<=[0-9][ ]){_MONTH}(?=[ ][0-9]{{4}})
    """
)
"""Words of a time, which change as its digits do."""
_NOT_TEXT = re.compile(r"(?:\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x08\x0e-\x1b\x7f])+")
"""Colours of a terminal, and other control characters that no sentence has."""
_MOST_KINDS = 10
"""Of more values than that, those of a field that stands once in a handling are no kinds of things that happen; nor are those of one
that changes in a handling, unless they stand on more than five lines each."""
_LEAST_CONSTANT = 0.95
_LEAST_RUNS = 5
"""In fewer runs a field may stay the same by chance."""
VARIABLE, ANY_WORDS = "\0", "\1"
"""What stands for a token that changes, and for what a quoted field says, blanks included."""


_WHOSE = re.compile(
    r"(?<![\w.@+'-])(?!(?:It|That|This|What|Here|There|Let|He|She|Who)['’])[A-Z][\w.-]*['’]s(?![\w'’])", re.ASCII
)
"""Whose a thing is; another's is the same thing."""
_CODE = (
    "(?:AED|AUD|BRL|CAD|CHF|CLP|CNY|COP|CZK|DKK|EUR|GBP|HKD|HUF|IDR|ILS|INR|JPY|KRW|MXN|MYR|NOK|NZD|PHP|PLN|RON|SAR|SEK|SGD|THB|TRY|TWD"
    "|USD|VND|ZAR)"
)
_CURRENCY = re.compile(
    rf"(?<![A-Za-z])(?:(?<={VARIABLE})|(?<={VARIABLE} )){_CODE}(?![A-Za-z])|(?<![A-Za-z]){_CODE}(?= ?{VARIABLE})"
)
"""What an amount is in: in others, the same happened."""


class Field(NamedTuple):
    """A place in a line that has a name, and where its value stands; of a tag in brackets the name is which of them it is."""

    name: str
    start: int
    end: int
    is_quoted: bool


def fields_in(text: str) -> Iterator[Field]:
    """Yield the fields of a line: those of JSON, ``name=value``, and tags in brackets.

    >>> [(f.name, text[f.start : f.end]) for text in ['[w-a] got host=h "by": "x"'] for f in fields_in(text)]
    [('by', 'x'), ('host', 'h'), ('[0]', 'w-a')]
    """
    is_json = text.lstrip().startswith("{")
    for form in (_IN_JSON,) if is_json else (_IN_JSON, _IN_TEXT):
        for told in form.finditer(text):
            group = "value" if told["quoted"] is None else "quoted"
            yield Field(told["name"], *told.span(group), group == "quoted")
    for number, told in enumerate(() if is_json else _TAG.finditer(text)):
        yield Field(f"[{number}]", *told.span("value"), False)


def circumstances(
    named: Iterable[tuple[Hashable, str, int]], in_runs: Iterable[tuple[Hashable, str]] = ()
) -> frozenset[str]:
    """Return the names of fields that tell of circumstances, given lines: each with its handling and where that is named in it.

    Of a field that no handling has twice, all lines ``in_runs`` tell, each with its run: it may say whether a run is its environment's first.
    """
    values: dict[str, dict[Hashable, list[str]]] = defaultdict(lambda: defaultdict(list))
    for handling, text, place in named:
        for field in fields_in(text):
            if not field.start <= place < field.end:
                values[field.name][handling].append(masked(text[field.start : field.end]))
    undecided = {name for name, of_handlings in values.items() if all(len(v) == 1 for v in of_handlings.values())}
    found = {name for name, of_handlings in values.items() if _tells_circumstances(of_handlings.values())}
    return frozenset(found | _of_runs(in_runs, undecided - found))


def _of_runs(lines: Iterable[tuple[Hashable, str]], names: Collection[str]) -> set[str]:
    """Return which fields stand in every line of a run with one value, and with another in other runs: their writer stamps them on all it writes."""
    values: dict[Hashable, list[dict[str, str]]] = defaultdict(list)
    for run, text in lines if names else ():
        if told := {f.name: masked(text[f.start : f.end]) for f in fields_in(text)}:
            values[run].append(told)
    several = [of_run for of_run in values.values() if len(of_run) > 1]
    if len(several) < _LEAST_RUNS:
        return set()
    return {
        name
        for name in names
        if all(name in told for of_run in several for told in of_run)
        and _tells_circumstances([[told[name] for told in of_run] for of_run in several])
    }


def _tells_circumstances(of_handlings: Collection[Sequence[str]]) -> bool:
    kinds = {value for values in of_handlings for value in values}
    again = [values for values in of_handlings if len(values) > 1]
    constant = sum(len(set(values)) == 1 for values in again)
    if constant >= _LEAST_CONSTANT * len(again):
        return len(kinds) > (1 if again else _MOST_KINDS)
    return len(kinds) > max(_MOST_KINDS, sum(map(len, of_handlings)) / 5)


def masked(text: str) -> str:
    """Return a text without its tokens that have a digit, words of a time, currencies, names before 's, colours and control characters.

    >>> masked("Nov 20, 2026, 5:00 PM \\x1b[32mLOG\\x1b[39m order 7").replace(VARIABLE, "#")
    '# #, #, #:# # #LOG# order #'
    """
    words = _WHOSE.sub(VARIABLE, _PART_OF_TIME.sub(_passed_over, _NOT_TEXT.sub(VARIABLE, text)))
    return _CURRENCY.sub(VARIABLE, _WITH_DIGIT.sub(VARIABLE, words))


def _passed_over(part: re.Match[str]) -> str:
    return f"{part['time'] or ''}{VARIABLE}"


def without_colours(text: str) -> str:
    """Return a text of the same length with blanks in place of colours and control characters.

    >>> without_colours("got \\x1b[32m7f\\x1b[0m.")
    'got      7f    .'
    """
    return _NOT_TEXT.sub(lambda found: " " * len(found[0]), text)


def around(text: str, start: int, end: int, passed_over: Collection[str] = ()) -> tuple[str, str]:
    """Return what stands before a value and behind it, masked; what fields ``passed_over`` say, by name, is left out."""
    hidden = sorted(f[1:] for f in fields_in(text) if f.name in passed_over) if passed_over else []
    return _without(text, 0, start, hidden), _without(text, end, len(text), hidden)


def _without(text: str, start: int, end: int, hidden: Iterable[tuple[int, int, bool]]) -> str:
    found = ""
    for low, high, is_quoted in hidden:
        if start <= low and high <= end:
            found += masked(text[start:low]) + (ANY_WORDS if is_quoted else VARIABLE)
            start = high
    return found + masked(text[start:end])
