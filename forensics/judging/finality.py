"""Until when late lines may still change what rests on an absence: a time is final once it was read again, a day later.

Times are whole microseconds since 1970, UTC.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from forensics.coverage import FINAL_AFTER, block_end_us, final_until, read_spans
from forensics.spans import Span, Spans

Row = Mapping[str, Any]


class Finality:
    """Which times of which log groups were read so late, or sealed, that no line of them is still to come."""

    def __init__(self, coverage: Sequence[Row] = (), consumers: Iterable[Row] = ()) -> None:
        """Take rows of coverage, and of consumers: whose log groups speak of a queue."""
        self._final = read_spans(coverage, final_until).get("log_events", {})
        groups: dict[str, set[str]] = {}
        for row in consumers:
            groups.setdefault(row["queue_arn"], set()).add(row["log_group"])
        self._groups = {queue_arn: sorted(of) for queue_arn, of in groups.items()}

    def of_groups(self, log_groups: Iterable[str], start: int | None, end: int | None) -> int | None:
        """Return when a span of some log groups will be final, if it is read then; None where it is, or is not known."""
        if start is None or end is None:
            return None
        low, high = min(start, end), max(start, end)
        if all(self._final.get(group, _NONE).hold(low, high) for group in log_groups):
            return None
        return block_end_us(high) + _FINAL_AFTER_US

    def of_queue(self, queue_arn: str, start: int | None, end: int | None) -> int | None:
        """Return the same for the log groups of all consumers of a queue."""
        return self.of_groups(self._groups.get(queue_arn, ()), start, end)

    def bearing(
        self, queue_arns: Iterable[str], log_groups: Iterable[str], low: int, high: int
    ) -> tuple[dict[str, list[str]], dict[str, list[Span]]]:
        """Return the log groups of these queues, and the final spans from ``low`` to ``high`` of them and of these groups."""
        of_queues = {arn: self._groups.get(arn, []) for arn in queue_arns}
        names = {*log_groups, *(group for groups in of_queues.values() for group in groups)}
        return of_queues, {name: self._final.get(name, _NONE).between(low, high) for name in sorted(names)}


_NONE = Spans()
_FINAL_AFTER_US = FINAL_AFTER // timedelta(microseconds=1)
