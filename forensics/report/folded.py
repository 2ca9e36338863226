"""The appendix's evidence in parts: rows that the report links to stay open, long stretches of others fold up."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby, pairwise

from forensics.report.evidence_lines import EvidenceLine
from forensics.sentence import said
from forensics.words import clock_text

LEAST_FOLDED = 12
"""Rows in a stretch that is worth a click."""
MOST_FOLDED = 50
"""Rows that one click opens, about: five screens of them."""
_AROUND = 6


@dataclass(frozen=True)
class Part:
    """Rows one after the other, with what stands in their place until they are opened; None: they are open."""

    lines: Sequence[EvidenceLine]
    summary: str | None = None


def parts(lines: Sequence[EvidenceLine], linked: Collection[str]) -> Iterator[Part]:
    """Split rows into open ones and folded ones; ``linked`` are the labels that the report's findings link to."""
    for is_linked, stretch in groupby(lines, lambda line: line.label in linked):
        rows = list(stretch)
        if is_linked or len(rows) < LEAST_FOLDED:
            yield Part(rows)
            continue
        count = -(-len(rows) // MOST_FOLDED)
        cuts = [_pause(rows, len(rows) * n // count) for n in range(1, count)]
        for start, end in pairwise([0, *cuts, len(rows)]):
            yield Part(rows[start:end], _summary(rows[start:end]))


def _pause(rows: Sequence[EvidenceLine], near: int) -> int:
    """Return where, near a place, the longest pause is: the rows of one run stay together."""

    def pause(n: int) -> timedelta:
        earlier, later = rows[n - 1].at, rows[n].at
        return later - earlier if earlier and later else timedelta(0)

    return max(range(max(1, near - _AROUND), min(len(rows), near + _AROUND)), key=lambda n: (pause(n), -abs(n - near)))


def _summary(rows: Sequence[EvidenceLine]) -> str:
    times = [row.at for row in rows if row.at]
    count, first, last = f"{len(rows):,}", rows[0].label, rows[-1].label
    if not times:
        return said("{first} to {last}: {n} rows", first=first, last=last, n=count)
    return said(
        "{first} to {last}: {n} rows, {start} to {end} UTC",
        first=first,
        last=last,
        n=count,
        start=clock_text(times[0]),
        end=clock_text(times[-1]),
    )
