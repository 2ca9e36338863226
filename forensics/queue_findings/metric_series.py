"""The points of one CloudWatch metric, found by resource and time."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

_SECOND = 1_000_000


class MetricPoint(NamedTuple):
    """One value of one period, which begins at ``at``; points sort by themselves."""

    at: int
    period_s: int
    value: float
    evidence_id: str

    @property
    def until_at(self) -> int:
        """The end of the period."""
        return self.at + self.period_s * _SECOND


class MetricSeries:
    """The points of one metric; several of one time may say different things, revised or of other statistics."""

    def __init__(self, metric: str, rows: Iterable[Mapping[str, Any]] = ()) -> None:
        """Sort the rows of that metric once. ``rows`` are metric points, ``point_at`` in whole microseconds since 1970."""
        self._points: dict[str, list[MetricPoint]] = {}
        for row in rows:
            if row["metric"] == metric:
                point = MetricPoint(row["point_at"], row["period_s"], row["value"], row["evidence_id"])
                self._points.setdefault(row["resource"], []).append(point)
        for points in self._points.values():
            points.sort()
        self._longest = {name: max(p.period_s for p in points) * _SECOND for name, points in self._points.items()}

    def begun_between(self, resource: str | None, first: int, last: int) -> list[MetricPoint]:
        """Return the resource's points whose period begins in a span of time, both ends included."""
        points = self._points.get(resource or "", [])
        return points[bisect_left(points, (first,)) : bisect_right(points, last, key=lambda p: p.at)]

    def touching(self, resource: str, first: int, last: int) -> Iterator[MetricPoint]:
        """Yield the resource's points whose period has a moment in a span of time, both ends included."""
        reach = self._longest.get(resource, 0)
        return (p for p in self.begun_between(resource, first - reach, last) if p.until_at >= first)
