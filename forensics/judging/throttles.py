"""When functions of a queue were throttled, as their metrics count it.

Times are whole microseconds since 1970, UTC.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from forensics.clock import micros

Row = Mapping[str, Any]


class Throttle(NamedTuple):
    """A period in which a function of a queue was throttled, and the metric point that says so."""

    at: int
    until: int
    evidence_id: str


def throttles_of(consumers: Sequence[Row], points: Iterable[Row]) -> dict[str, list[Throttle]]:
    """Return by queue, in the order of time, when a function that consumes it was throttled; of rows of ``metric_points``."""
    queues: dict[str, set[str]] = {}
    for row in consumers:
        if row["function_name"]:
            queues.setdefault(row["function_name"], set()).add(row["queue_arn"])
    found: dict[str, list[Throttle]] = {}
    for point in points:
        if point["metric"] == "Throttles" and point["value"] > 0:
            begin, end = period_of(point)
            for queue in queues.get(point["resource"], ()):
                found.setdefault(queue, []).append(Throttle(begin, end, point["evidence_id"]))
    return {queue: sorted(throttles) for queue, throttles in found.items()}


def period_of(point: Row) -> tuple[int, int]:
    """Return when the period of a metric point began and ended."""
    begin = micros(point["point_at"])
    return begin, begin + point["period_s"] * 1_000_000
