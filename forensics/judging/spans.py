"""Spans of time, in whole microseconds since 1970, UTC: which were read, and which of them hold a moment or a longer one."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

Span = tuple[int, int]


class Spans:
    """Spans in order of time, with gaps between them; both ends belong to a span.

    >>> list(Spans([(5, 7), (1, 3), (3, 4)]))
    [(1, 4), (5, 7)]
    """

    __slots__ = ("_ends", "_starts")

    def __init__(self, spans: Iterable[Span] = ()) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(spans):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
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
