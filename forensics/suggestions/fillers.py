"""Words that fill a line: "shipped widget for order 7" and "shipped gadget for order 8" say one thing of two products, "Ada charged
order 7" and "Bea charged order 8" one of two people.

A word fills a line where the rest of it says what was done, and the word itself says nothing of how it ended; so do words that have too
many rivals to be ways to end. "order 7 shipped" and "order 8 rejected" stay two lines. What only ever
stands with messages that had another of these lines before is a guard's word, and no filler.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from forensics.suggestions.wording import MOST_WAYS, NOT_DONE, REFUSED

FILLER, FILLERS = "\2", "\4"
"""What stands for a word that fills a template, and for several."""
LONGEST = 3
"""Words that a name, or a product's, has at most."""
_VALUE = "\3"
"""What stands for the value that names the item, between what is said before it and behind."""
_LEAST_APART = 0.95
"""At least this share of the handlings that have one of the lines has no other of them: lines of which one has several are steps."""
_MOST_WORDS = 20
"""A line of more says too much to be looked at word by word."""
_MOST_ROUNDS = 3
"""A line may be filled in several places, by whom and with what."""
_WORD = re.compile(r'(?<![^\s"])[A-Za-z][A-Za-z.\'-]*(?![^\s"])', re.ASCII)
_BEHIND_SIGN = re.compile(rf"[^\w\s{_VALUE}{FILLER}{FILLERS}]\s*\Z", re.ASCII)
"""What stands behind a sign, as in "order 7: late", is no name in a sentence."""
_PAST = re.compile(
    r"(?<![^\W_])(?i:(?P<general>handled|processed|finished|completed|executed|performed|worked|ended|done)|"
    r"[a-z]+[^\W\d_e]ed|paid|sent|sold|made|built|bought|wrote|written|took|taken|gave|given|drawn|withdrawn)(?![^\W_])",
    re.ASCII,
)
"""What says that something was done, and (not ``general``) what."""
_NOT_YET = re.compile(
    r"(?<![^\W_])(?i:\w*queued|scheduled|planned|requested|attempted|tried|loaded|parsed|opened|expected|needed|wanted|assigned)(?![^\W_])",
    re.ASCII,
)
_OUTCOME = re.compile(
    r"(?i:[a-z]{2,}(?:ed|ing|ly)|re[a-z]{2,}|done|paid|sent|sold|lost|held|made|built|kept|put|set|left|gone|taken|given|written|"
    r"broken|frozen|stuck|found|bought|won|ok|okay|ko|nok|succe\w*|complet\w*|ready|late|early|open|partial|partly|full|empty|"
    r"(?:in)?active|valid|good|bad|wrong|new|old|missing|unknown|none|nothing|without|zero|half|less|more|up|down|on|off|out|back|"
    r"again|twice|once|only|yes|first|second|dup\w*|cop(?:y|ies)|pre\w*|non\w*|un\w*|test|dry|fake|mock)",
    re.ASCII,
)
"""A word that may say how the work ended, or that it was not what it is elsewhere."""

Shape = tuple[str, str]
Filled = Callable[[Shape], Shape]


class Told(NamedTuple):
    """One line of a shape: the handling (run and item) that has it, that handling's message, and when it was written."""

    handling: tuple[int, int]
    message_id: str
    at: int


class _Hole(NamedTuple):
    """What stands before words that may fill a line, and what behind them."""

    before: str
    behind: str

    @property
    def rest(self) -> str:
        return f"{self.before} {self.behind}"


class _Fills(NamedTuple):
    """Which words do not fill a hole: those ``apart``, what tells of a refusal, and, unless it ``takes_outcomes``, of any way to end."""

    sign: str
    ways: int
    takes_outcomes: bool
    apart: frozenset[str] = frozenset()

    def takes(self, middle: str) -> bool:
        return middle not in self.apart and not (
            REFUSED.search(middle) if self.takes_outcomes else _tells_outcome(middle)
        )


def fillers_of(told: Mapping[Shape, Collection[Told]]) -> Filled:
    """Return what gives each shape with FILLER in place of the words that fill it; ``told`` are all lines by their shapes."""
    rounds: list[dict[_Hole, _Fills]] = []
    of_texts: dict[str, list[Told]] = defaultdict(list)
    for (lead, tail), lines in told.items():
        of_texts[f"{lead}{_VALUE}{tail}"] += lines
    for _ in range(_MOST_ROUNDS):
        holes = _holes(of_texts)
        if not holes:
            break
        rounds.append(holes)
        filled: dict[str, list[Told]] = defaultdict(list)
        for text, lines in of_texts.items():
            filled[_filled(text, holes)] += lines
        of_texts = filled

    def shape_filled(shape: Shape) -> Shape:
        text = f"{shape[0]}{_VALUE}{shape[1]}"
        for holes in rounds:
            text = _filled(text, holes)
        lead, _, tail = text.partition(_VALUE)
        return lead, tail[:-1].rstrip() if tail.endswith((FILLER, FILLERS)) else tail

    return shape_filled


def _holes(of_texts: Mapping[str, Collection[Told]]) -> dict[_Hole, _Fills]:
    """Return the holes of lines that are filled, of each line the one with the most ways to fill it."""
    often = Counter(hash(hole) for text in of_texts for hole, _ in _spans(text))
    words: dict[_Hole, dict[str, str]] = defaultdict(dict)
    for text in of_texts:
        for hole, middle in _spans(text):
            if often[hash(hole)] > 1:
                words[hole][middle] = text
    fills = {
        hole: found
        for hole, middles in words.items()
        if (found := _fills(hole, {m: of_texts[text] for m, text in middles.items()}))
    }
    return {chosen: fills[chosen] for text in of_texts if (chosen := _chosen(text, fills))}


def _fills(hole: _Hole, middles: Mapping[str, Collection[Told]]) -> _Fills | None:
    """Tell whether words in a hole, each with its lines, fill it."""
    says = _says_what(hole) or REFUSED.search(hole.rest) is not None
    sign = FILLERS if any(" " in middle for middle in middles) else FILLER
    many = _Fills(sign, len(middles), says, frozenset(_never_first(middles)))
    named = [lines for middle, lines in middles.items() if many.takes(middle)]
    if len(named) > MOST_WAYS:
        return many if _are_apart(named) else None
    if not says or many.apart or any(map(_tells_outcome, middles)) or _BEHIND_SIGN.search(hole.before):
        return None
    return _Fills(sign, len(middles), False) if _are_apart(middles.values()) else None


def _says_what(hole: _Hole) -> bool:
    """Tell whether what is left of a line says that something was done: in so many words, or behind whoever did it."""
    if NOT_DONE.search(hole.rest) or _NOT_YET.search(hole.rest):
        return False
    if any(past["general"] is None for past in _PAST.finditer(hole.rest)):
        return True
    return _PAST.match(hole.behind.lstrip()) is not None


def _tells_outcome(middle: str) -> bool:
    return any(_OUTCOME.fullmatch(word) or REFUSED.search(word) for word in middle.split())


def _never_first(middles: Mapping[str, Collection[Told]]) -> set[str]:
    """Return words that stand only with messages that had a line with other ones before."""
    first: dict[str, tuple[int, str]] = {}
    for middle, lines in middles.items():
        for line in lines:
            first[line.message_id] = min(first.get(line.message_id, (line.at, middle)), (line.at, middle))
    return middles.keys() - {middle for _, middle in first.values()}


def _are_apart(lines_of: Iterable[Collection[Told]]) -> bool:
    handlings = [{line.handling for line in lines} for lines in lines_of]
    return len(set().union(*handlings)) >= _LEAST_APART * sum(map(len, handlings))


def _filled(text: str, holes: Mapping[_Hole, _Fills]) -> str:
    hole = _chosen(text, holes)
    return f"{hole.before}{holes[hole].sign}{hole.behind}" if hole else text


def _chosen(text: str, holes: Mapping[_Hole, _Fills]) -> _Hole | None:
    """Return the hole of a text that has the most ways to fill it, of several the one that leaves the most of the text."""
    found = [(hole, middle) for hole, middle in _spans(text) if hole in holes and holes[hole].takes(middle)]
    hole, _ = min(found, key=lambda one: (-holes[one[0]].ways, len(one[1]), one[0]), default=(None, ""))
    return hole


def _spans(text: str) -> Iterator[tuple[_Hole, str]]:
    """Yield each word of a text and what stands around it, and so words that follow one another."""
    words = [(word.start(), word.end()) for word in _WORD.finditer(text)]
    if len(words) > _MOST_WORDS:
        return
    follows = [text[a[1] : b[0]] == " " for a, b in pairwise(words)] + [False]
    for first, (start, end) in enumerate(words):
        yield _Hole(text[:start], text[end:]), text[start:end]
        for last in range(first, min(first + LONGEST - 1, len(words) - 1)):
            if not follows[last]:
                break
            until = words[last + 1][1]
            yield _Hole(text[:start], text[until:]), text[start:until]
