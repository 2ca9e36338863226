"""Guards that stop a repeat and say nothing: the handler closes as usual, and only a line from within the work is missing."""

from collections.abc import Sequence
from typing import NamedTuple

from forensics.suggestions.model import RunLines
from forensics.suggestions.templates import Shape
from forensics.suggestions.timing import Placed


class SilentStop(NamedTuple):
    """Handlings (run and place in it) that have a ``closing`` line and lack the line ``within`` the work, which was done before."""

    closing: Placed
    within: Placed
    handlings: frozenset[tuple[int, int]]


def silent_stops(candidates: Sequence[Placed], runs: Sequence[RunLines]) -> list[SilentStop]:
    """Return where a line that closes handlings stands without one from within the work, only ever in repeats of what was done.

    Were one handling of new work without the line, too, its absence would tell nothing. The line that opens a handling stands before any
    guard, and what it is missing from has lost its beginning.
    """
    once = [p for p in candidates if p.is_once]
    held = {p.template.shape: _held(p, runs) for p in once}
    found = []
    for closing in (p for p in once if p.can_tell and p.is_closing):
        for within in once:
            if within.is_opening or within.template.shape == closing.template.shape:
                continue
            lacking = held[closing.template.shape].keys() - held[within.template.shape].keys()
            if lacking and _are_repeats(lacking, closing, within, held, runs):
                found.append(SilentStop(closing, within, frozenset(lacking)))
    return found


def _held(placed: Placed, runs: Sequence[RunLines]) -> dict[tuple[int, int], int]:
    """Return the handlings that have a line, and when it stood there first."""
    at: dict[tuple[int, int], int] = {}
    for place, sayings in placed.template.sayings.items():
        for saying in sayings:
            moment = runs[place].lines[saying.line].at
            at[place, saying.item] = min(at.get((place, saying.item), moment), moment)
    return at


def _are_repeats(
    lacking: set[tuple[int, int]],
    closing: Placed,
    within: Placed,
    held: dict[Shape, dict[tuple[int, int], int]],
    runs: Sequence[RunLines],
) -> bool:
    done_at: dict[str, int] = {}
    for (place, number), at in held[within.template.shape].items():
        message_id = runs[place].items[number].message_id
        done_at[message_id] = min(done_at.get(message_id, at), at)
    is_known = False
    for place, number in lacking:
        item = runs[place].items[number]
        done = done_at.get(item.message_id)
        is_after = done is not None and done < held[closing.template.shape][place, number]
        if not is_after and (item.receive_count or item.delivery_index or 1) == 1:
            return False
        is_known |= is_after
    return is_known
