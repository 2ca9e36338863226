"""Guards that stop a repeat and say nothing: the handler closes as usual, and only a line from within the work is missing."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from forensics.suggestions.circumstances import masked
from forensics.suggestions.guards import tells_repeat
from forensics.suggestions.line_keys import lines_beside
from forensics.suggestions.model import RunLines
from forensics.suggestions.templates import MOST_CHARS, Shape
from forensics.suggestions.timing import Placed
from forensics.suggestions.unnamed_guards import Held, Unnamed


class Inner(NamedTuple):
    """A line from within the work: its shape (None: it names no message), one that says so, and the handlings that have it."""

    shape: Shape | None
    text: str
    held: Held


class SilentStop(NamedTuple):
    """Handlings (run and place in it) that have a ``closing`` line and lack the line ``within`` the work, which was done before."""

    closing: Placed
    within: Inner
    handlings: frozenset[tuple[int, int]]
    is_said: bool = False
    """They do not lack ``within``: it is a line of theirs alone, which says that the work was done before."""


def silent_stops(
    candidates: Sequence[Placed], runs: Sequence[RunLines], is_over_told: bool = False
) -> list[SilentStop]:
    """Return where a line that closes handlings stands without one from within the work, only ever in repeats of what was done.

    Where another line tells that a handling ``is_over_told``, each line that does not open one may be what closes its work.

    Were one handling of new work without the line, too, its absence would tell nothing. The line that opens a handling stands before any
    guard, and what it is missing from has lost its beginning.
    """
    once = [p for p in candidates if p.is_once]
    closing = [p for p in once if (p.can_tell and p.is_closing) or (is_over_told and not p.is_opening)]
    if not closing:
        return []
    opening = {p.template.shape for p in once if p.is_opening}
    inner = [Inner(p.template.shape, p.template.texts[0][0].strip(), _held(p, runs)) for p in once]
    inner += _beside(runs)
    unnamed = Unnamed(runs, candidates)
    found = []
    for p in closing:
        ended = _held(p, runs)
        for within in inner:
            lacking = ended.keys() - within.held.keys()
            is_within = within.shape not in opening and lacking and lacking != ended.keys()
            if is_within and _are_repeats(lacking, ended, within.held, runs):
                found.append(SilentStop(p, within, frozenset(lacking)))
            elif told := _told_of(within, p, ended, runs):
                found.append(SilentStop(p, within, told, True))
        found += [SilentStop(p, Inner(None, text, {}), told, True) for text, told in unnamed.stopped_beside(p).items()]
    return found


def _told_of(within: Inner, closing: Placed, ended: Held, runs: Sequence[RunLines]) -> frozenset[tuple[int, int]]:
    """Return the handlings that a line closes and of which another says that their work was done before, if all of them are repeats."""
    told = within.held.keys() & ended.keys()
    if within.shape in (None, closing.template.shape) or not told or not tells_repeat(within.text):
        return frozenset()
    last = _held(closing, runs, max)
    # a repeat that waited for the first to be done may have the lines of both
    done = {h: at for h, at in ended.items() if h not in told or at < within.held[h] <= last[h]}
    return frozenset(told) if _are_repeats(told, last, done, runs) else frozenset()


def _held(placed: Placed, runs: Sequence[RunLines], pick: Callable[[int, int], int] = min) -> Held:
    at: dict[tuple[int, int], int] = {}
    for place, sayings in placed.template.sayings.items():
        for saying in sayings:
            moment = runs[place].lines[saying.line].at
            at[place, saying.item] = pick(at.get((place, saying.item), moment), moment)
    return at


def _beside(runs: Sequence[RunLines]) -> Iterator[Inner]:
    """Yield the lines that name no message, by what they say, each held by the handling of the message that was named last."""
    held: dict[str, dict[tuple[int, int], int]] = {}
    texts: dict[str, str] = {}
    for place, run in enumerate(runs):
        for number, lines in lines_beside(run).items():
            for line in lines:
                if len(line.text) <= MOST_CHARS:
                    said = masked(line.text)
                    texts.setdefault(said, line.text.strip())
                    held.setdefault(said, {}).setdefault((place, number), line.at)
    return (Inner(None, texts[said], of) for said, of in held.items())


def _are_repeats(
    lacking: set[tuple[int, int]],
    ended: Held,
    held: Held,
    runs: Sequence[RunLines],
) -> bool:
    done_at: dict[str, int] = {}
    for (place, number), at in held.items():
        message_id = runs[place].items[number].message_id
        done_at[message_id] = min(done_at.get(message_id, at), at)
    is_known = False
    for place, number in lacking:
        item = runs[place].items[number]
        done = done_at.get(item.message_id)
        is_after = done is not None and done < ended[place, number]
        if not is_after and (item.receive_count or item.delivery_index or 1) == 1:
            return False
        is_known |= is_after
    return is_known
