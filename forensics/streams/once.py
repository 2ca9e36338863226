"""Lines that were delivered twice: whoever sends a batch of lines again gives them the same times, and other event ids."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter

from forensics.streams.model import Fact, PlacedFact
from forensics.streams.runs import Statement


def statements_once(statements: Iterable[Statement]) -> list[Statement]:
    """Leave out statements, in order, that repeat one of the same moment; behind the START of another run they are that one's.

    An effect that names only a key may as well be that of another message with the same key: of such a repeat no more is kept
    than that an effect was shown, of a message that nothing names.
    """
    found: list[Statement] = []
    for _, moment in groupby(statements, attrgetter("at")):
        mine = list(moment)
        found += mine if len(mine) == 1 else _of_moment(mine)
    return found


def _of_moment(statements: Iterable[Statement]) -> Iterator[Statement]:
    seen: set[tuple[object, ...]] = set()
    started = None
    for statement in statements:
        is_start = statement.kind == "start" and statement.request_id is not None
        said = (None if is_start else started, *statement[3:-1], *_nameless(statement.facts))
        if said not in seen:
            seen.add(said)
            started = statement.request_id if is_start else started
            yield statement
        elif marks := [f for f in statement.facts if f.role == "effect" and f.message_id is None]:
            yield statement._replace(kind="app", facts=[f._replace(key=None) for f in marks])


_Said = tuple[object, object]
_WORDS = slice(Fact._fields.index("message_id"), Fact._fields.index("line_mark"))


def _said(fact: Fact) -> _Said:
    """Return what a fact says, whenever and in whichever line."""
    return fact.role, fact[_WORDS]


MOMENT_US = 1_000_000
"""So long after an end a line that tells it once more is no echo of the first, and one that names nothing is of another job."""
ECHO_US = 20_000
"""A logger with two handlers writes a line twice within so long; no message is handed out again so soon without a word."""


def facts_once(facts: Sequence[PlacedFact]) -> list[PlacedFact]:
    """Leave out facts of a worker's stream, in order, that another line of the same moment states, too.

    Or the line before it about the same messages, a moment earlier: who writes every line twice handles nothing twice.
    """
    return _without_echoes(_once_in_a_moment(facts))


def _without_echoes(facts: Sequence[PlacedFact]) -> list[PlacedFact]:
    found: list[PlacedFact] = []
    before: dict[str, tuple[int, list[_Said]]] = {}
    for _, line in groupby(facts, attrgetter("fact.evidence_id")):
        placed = list(line)
        at = placed[0].at
        said = [_said(one.fact) for one in placed]
        items = {one.fact.item_id for one in placed}
        told = [before.get(item, (0, [])) for item in items if item is not None]
        if not (len(told) == len(items) and all(at - then <= ECHO_US and same == said for then, same in told)):
            found += placed
            before |= {item: (at, said) for item in items if item is not None}
    return found


def _once_in_a_moment(facts: Sequence[PlacedFact]) -> list[PlacedFact]:
    """Leave out what is told twice in a moment.

    Where a stream tells whole seconds, several jobs begin and end in one moment, each in the same words without a name: those are
    repeats only where a line that names something is repeated with them.
    """
    found: list[PlacedFact] = []
    tells_seconds = _tells_whole_seconds(facts)
    for _, moment in groupby(facts, attrgetter("at")):
        mine = list(moment)
        if len(mine) > 1:
            seen: dict[_Said, str] = {}
            lines = [seen.setdefault(_said(placed.fact), placed.fact.evidence_id) for placed in mine]
            again = [placed for placed, line in zip(mine, lines, strict=True) if placed.fact.evidence_id != line]
            if again and (not tells_seconds or any(placed.fact.item_id is not None for placed in again)):
                repeats = {id(placed) for placed in again}
                mine = [placed for placed in mine if id(placed) not in repeats]
        found += mine
    return found


def _tells_whole_seconds(facts: Iterable[PlacedFact]) -> bool:
    times = {placed.at for placed in facts}
    return len(times) > 1 and not any(at % 1_000_000 for at in times)


def _nameless(facts: Iterable[Fact]) -> list[Fact]:
    return [fact._replace(evidence_id="") for fact in facts]
