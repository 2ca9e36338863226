"""What a mapping's opt-in counts tell: of what its runs succeeded with, was anything given back, and was the rest deleted?

CloudWatch counts messages handed to the function, of failed batches and named in responses (one number, at the run's end), and
deleted. The counts of a stretch of time that no run enters or leaves add up: whatever was handed out in it failed, was
deleted, or could not be deleted. Times are whole microseconds since 1970, UTC.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from forensics.clock import micros
from forensics.spans import Spans

INVOKED, FAILED, DELETED = "InvokedEventCount", "FailedInvokeEventCount", "DeletedEventCount"
EVENT_COUNTS = (INVOKED, FAILED, DELETED)
LONGEST_RUN_US = 15 * 60 * 1_000_000
_BESIDE_US = 10 * 1_000_000
"""Counts are stamped a little before a run begins, when its messages are handed out, and after it ends, when they are deleted."""
_SECOND = 1_000_000

Row = Mapping[str, Any]


class Run(NamedTuple):
    """One run of a function. ``ended_at`` None: no line tells; ``failed``: its messages if it failed, None if nobody knows."""

    began_at: int
    ended_at: int | None
    messages: int
    failed: int | None


class Stretch(NamedTuple):
    """A time that no run enters or leaves, and what the counts and the runs in it say; ends belong to it."""

    start: int
    end: int
    invoked: int
    failed: int
    deleted: int
    known_failed: int | None
    evidence_ids: tuple[str, ...]

    def was_given_back(self, is_fifo: bool) -> bool | None:
        """Tell whether what came back of a run that succeeded had been given back; None where the counts do not tell.

        No, where nobody's messages failed but those of runs that did. Yes, where every other message was deleted; a standard
        queue may also hand out again what was deleted, so there something must have been given back at all.

        >>> Stretch(0, 1, 20, 10, 9, 10, ()).was_given_back(True), Stretch(0, 1, 20, 11, 9, 10, ()).was_given_back(True)
        (False, True)
        """
        if self.failed == 0 or self.failed == self.known_failed:
            return False
        is_known = self.known_failed is not None and self.failed > self.known_failed
        if self.invoked == self.failed + self.deleted and (is_fifo or is_known):
            return True
        return None


def stretches(runs: Iterable[Run], points: Sequence[Row], read: Spans) -> list[Stretch]:
    """Return the stretches in which the counts of a mapping were read in full, in order of time.

    ``runs`` are all of the function's; ``points`` the mapping's of EVENT_COUNTS above zero, some perhaps read twice; ``read``:
    when they were. A stretch whose counts fall short of the runs' messages is left out: then they were not counted yet.
    """
    newest = _newest(points)
    period_us = max((key[2] for key in newest), default=60) * _SECOND
    in_time = sorted(newest.items(), key=lambda point: point[0][1])
    times = [at for (_, at, _), _ in in_time]
    found = []
    for start, end, mine in _apart(sorted(runs), period_us):
        if not read.hold(start, end):
            continue
        there = in_time[bisect_left(times, start) : bisect_left(times, end)]
        count: Counter[str] = Counter()
        for (metric, _, _), row in there:
            count[metric] += round(row["value"])
        if count[INVOKED] == 0 or count[INVOKED] < sum(run.messages for run in mine):
            continue
        failed = [run.failed for run in mine]
        known = None if None in failed else sum(f for f in failed if f is not None)
        ids = tuple(sorted(row["evidence_id"] for _, row in there))
        found.append(Stretch(start, end, count[INVOKED], count[FAILED], count[DELETED], known, ids))
    return found


def _newest(points: Sequence[Row]) -> dict[tuple[str, int, int], Row]:
    """Return of each point the value that was read last, by metric, time and period (s)."""
    found: dict[tuple[str, int, int], Row] = {}
    for row in sorted(points, key=lambda row: (row["collected_at"], row["evidence_id"])):
        found[row["metric"], micros(row["point_at"]), row["period_s"]] = row
    return found


def _apart(runs: Sequence[Run], period_us: int) -> list[tuple[int, int, list[Run]]]:
    """Part runs, in order, where none is on at a border of periods, or near one."""
    parts: list[tuple[int, int, list[Run]]] = []
    for run in runs:
        ended_at = run.began_at + LONGEST_RUN_US if run.ended_at is None else run.ended_at
        start = (run.began_at - _BESIDE_US) // period_us * period_us
        end = -(-(ended_at + _BESIDE_US) // period_us) * period_us
        if parts and start < parts[-1][1]:
            before = parts.pop()
            parts.append((before[0], max(before[1], end), [*before[2], run]))
        else:
            parts.append((start, end, [run]))
    return parts
