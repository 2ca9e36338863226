"""Spans of time, in whole microseconds since 1970, UTC: which were read, and which of them hold a moment or a longer one."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TypeVar

Span = tuple[int, int]
T = TypeVar("T", int, datetime)


def merged(spans: "Iterable[tuple[T, T]]") -> "list[tuple[T, T]]":
    """Join what touches or overlaps, in order; ``T`` is any kind of time.

    >>> merged([(5, 7), (1, 3), (3, 4)])
    [(1, 4), (5, 7)]
    """
    out: list[tuple[T, T]] = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((start, end))
    return out


def holes(spans: "Iterable[tuple[T, T]]") -> "list[tuple[T, T]]":
    """Return what lies between spans, from the first start to the last end.

    >>> holes([(0, 2), (1, 4), (6, 9), (9, 10)])
    [(4, 6)]
    """
    return [(end, start) for (_, end), (start, _) in pairwise(merged(spans))]


def without(spans: "Iterable[tuple[T, T]]", taken: "Iterable[tuple[T, T]]") -> "list[tuple[T, T]]":
    """Return what of ``spans`` no span of ``taken`` covers.

    >>> without([(0, 10)], [(8, 12), (2, 4)])
    [(0, 2), (4, 8)]
    """
    left = []
    covered = merged(taken)
    for start, end in merged(spans):
        for low, high in covered:
            if high <= start or low >= end:
                continue
            if low > start:
                left.append((start, low))
            start = max(start, high)
        if start < end:
            left.append((start, end))
    return left


def length(spans: Iterable[tuple[datetime, datetime]]) -> timedelta:
    """Return how much time spans cover; what two of them share counts once."""
    return sum((end - start for start, end in merged(spans)), timedelta())


class Spans:
    """Spans in order of time, with gaps between them; both ends belong to a span.

    >>> list(Spans([(5, 7), (1, 3), (3, 4)]))
    [(1, 4), (5, 7)]
    """

    __slots__ = ("_ends", "_starts")

    def __init__(self, spans: Iterable[Span] = ()) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in merged(spans):
            self._starts.append(start)
            self._ends.append(end)

    def __iter__(self) -> Iterator[Span]:
        return zip(self._starts, self._ends, strict=True)

    def __len__(self) -> int:
        return len(self._starts)

    def hold(self, start: int | None, end: int | None) -> bool:
        """Tell whether one span reaches from ``start`` to ``end``, both included; None is held by nothing.

        >>> Spans([(1, 4)]).hold(1, 4), Spans([(1, 4)]).hold(2, 5), Spans([(1, 4)]).hold(None, 4)
        (True, False, False)
        """
        if start is None or end is None:
            return False
        place = bisect_right(self._starts, start) - 1
        return place >= 0 and end <= self._ends[place]

    def between(self, low: int, high: int) -> list[Span]:
        """Return what lies from ``low`` to ``high``, both included.

        >>> Spans([(1, 4), (6, 8), (9, 12)]).between(3, 10)
        [(3, 4), (6, 8), (9, 10)]
        """
        first, last = bisect_left(self._ends, low), bisect_right(self._starts, high)
        return [(max(self._starts[i], low), min(self._ends[i], high)) for i in range(first, last)]


def common_to(several: Sequence[Spans]) -> Spans:
    """Return what all of several have in common; nothing where there are none. A single moment is not common time.

    >>> list(common_to([Spans([(0, 10)]), Spans([(0, 4), (6, 12)]), Spans([(2, 8)])]))
    [(2, 4), (6, 8)]
    """
    if not several:
        return Spans()
    common = several[0]
    for spans in several[1:]:
        common = Spans(
            (max(start, low), min(end, high))
            for start, end in common
            for low, high in spans.between(start, end)
            if low < high
        )
    return common
