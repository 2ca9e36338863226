"""When was a queue polled last, as far as its metrics tell: what is visible again is moved by nobody before that.

Times are whole microseconds since 1970, UTC.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from forensics.clock import micros

POLLS = ("NumberOfMessagesReceived", "NumberOfEmptyReceives")
"""Metrics of a queue that count receives."""


class Polls:
    """The last known poll of each queue, told by region, account and name."""

    def __init__(self, points: Iterable[Mapping[str, Any]]) -> None:
        """Take rows of ``metric_points``; of a period only its begin is known to be no later than a poll."""
        self._last: dict[tuple[str, ...], int] = {}
        for point in points:
            if point["metric"] in POLLS and point["value"] > 0:
                name = point["region"], point["account_id"], point["resource"]
                self._last[name] = max(self._last.get(name, 0), micros(point["point_at"]))

    def after(self, queue_arn: str, at: int) -> bool:
        """Tell whether somebody is known to have polled a queue at a moment or later, in vain or not."""
        last = self._of(queue_arn)
        return last is not None and last >= at

    def bearing(self, queue_arn: str, low: int, high: int) -> int:
        """Return a number that is the same where ``after`` answers the same for all moments from ``low`` to ``high``."""
        last = self._of(queue_arn)
        return low - 1 if last is None else min(max(last, low - 1), high)

    def _of(self, queue_arn: str) -> int | None:
        return self._last.get(tuple(queue_arn.split(":")[3:]))
