"""Runs of made-up handlers, each of which logs in its own way; times in µs."""

from collections.abc import Callable, Sequence

from forensics.suggestions.keys import body_values
from forensics.suggestions.model import MESSAGE_ID, Item, Line, RunLines

MS = 1000
Says = Callable[[str, str, int], Sequence[tuple[int, str]]]
"""From message id, key and receive count to what is logged, each with the ms of work before it."""


def message(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012d}"


def item(number: int, position: int, count: int = 1) -> Item:
    values = body_values(f'{{"order": {{"id": "ord-{number}x"}}, "amount": 1{number % 7}00}}')
    return Item(message(number), position, values | {message(number): MESSAGE_ID}, count)


def run(
    at: int, numbers: Sequence[int], says: Says, count: int = 1, cut_in: int | None = None, quiet_ms: int = 3
) -> RunLines:
    """Return a run over a batch; in the item at ``cut_in`` (place from 0) it is cut off before its last line."""
    made = RunLines(f"run-{at}", "/aws/lambda/f", "success", at, at)
    now = at + 2 * MS
    for place, number in enumerate(numbers):
        made.items.append(item(number, place + 1, count))
        told = list(says(message(number), f"ord-{number}x", count))
        if place == cut_in:
            told = told[:-1]
        if cut_in is not None and place > cut_in:
            continue
        for ms, text in told:
            now += ms * MS
            made.lines.append(Line(now, text))
    made.status = "success" if cut_in is None else "timeout"
    made.ended_at = now + (quiet_ms * MS if cut_in is None else 30_000 * MS)
    return made


def day(says: Says, batches: int = 40, size: int = 3, quiet_ms: int = 3) -> list[RunLines]:
    """Return runs that all ended well."""
    return [run(n * 60_000 * MS, range(n * size, (n + 1) * size), says, quiet_ms=quiet_ms) for n in range(batches)]
