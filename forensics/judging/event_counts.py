"""What a mapping's opt-in counts tell: of what its runs succeeded with, was anything given back, and was the rest deleted?

CloudWatch counts messages handed to the function, of failed batches and named in responses (one number, at the run's end), and
deleted. The counts of a stretch of time that no run enters or leaves add up: whatever was handed out in it failed, was
deleted, or could not be deleted. Failures are counted when their run ends, and deletes follow: where all of its messages are
known, a stretch falls into shorter ones, whose borders are no run's end. Times are whole microseconds since 1970, UTC.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from forensics.clock import micros
from forensics.run_ends import FAILED as FAILED_RUNS
from forensics.spans import Spans

INVOKED, FAILED, DELETED = "InvokedEventCount", "FailedInvokeEventCount", "DeletedEventCount"
EVENT_COUNTS = (INVOKED, FAILED, DELETED)
LONGEST_RUN_US = 15 * 60 * 1_000_000
_BESIDE_US = 10 * 1_000_000
"""Counts are stamped a little before a run begins, when its messages are handed out, and after it ends, when they are deleted."""
_CLOCK_US = 2 * 1_000_000
"""Failures are counted at the end of their run; so far apart may two clocks tell of it."""
_SECOND = 1_000_000

Row = Mapping[str, Any]


class Run(NamedTuple):
    """One run of a function. ``ended_at`` None: no line tells; ``failed``: its messages if it failed, None if nobody knows."""

    began_at: int
    ended_at: int | None
    messages: int
    failed: int | None


def run_of(row: Row, queue_arn: str) -> Run:
    """Return the run that a row of an invocation tells of, and how many messages of a queue it had, if its batch was printed."""
    is_mine = row["queue_arn"] == queue_arn
    messages = row["message_count"] if is_mine and row["shows_batch"] else 0
    failed: int | None = 0
    if is_mine and row["end_status"] != "success":
        failed = messages if row["end_status"] in FAILED_RUNS and row["shows_batch"] else None
    return Run(row["started_at"], row["ended_at"], messages, failed)


class Stretch(NamedTuple):
    """A time, its ends included, and what is said of the runs that ended in it. ``invoked``: of how many messages, None if unknown."""

    start: int
    end: int
    invoked: int | None
    failed: int
    deleted: int
    known_failed: int | None
    evidence_ids: tuple[str, ...]

    @property
    def span(self) -> tuple[int, int]:
        """From when until when it was."""
        return self.start, self.end

    @property
    def tells(self) -> bool:
        """The counts decide, of a FIFO queue's messages at least."""
        return self.was_given_back(True) is not None

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
    when they were. Left out is a time whose counts fall short of the messages that its runs were given: then they were not
    counted yet.
    """
    counts = _Counts(points)
    found = []
    for start, end, mine in _apart(sorted(runs, key=_by_time), counts.period_us, whole=True):
        is_cut = not read.hold(start, end)
        if is_cut:
            start += counts.period_us  # the counts of a run that began in it are all there
            if start > mine[0].began_at or not read.hold(start, end):
                continue
        counted, messages = counts.between(start, end)[0][INVOKED], sum(run.messages for run in mine)
        if counted == 0 or counted < messages:
            continue
        if counted > messages or any(run.messages == 0 for run in mine):
            found.append(_stretch(start, end, mine, counts, None if is_cut else counted))
            continue
        for first, last, ended in _apart(sorted(mine, key=_first_end), counts.period_us, whole=False):
            # deletes of a run that ended just before anything was read may be counted in the first of them
            is_known = not is_cut or read.hold(first - _BESIDE_US, last)
            known = sum(run.messages for run in ended) if is_known else None
            part = _stretch(max(first, start), last, ended, counts, known)
            found += [part] if part.tells else _quiet(part, ended, counts)
    return found


class _Counts:
    """The points of a mapping's counts in order of time, of each the value that was read last."""

    def __init__(self, points: Sequence[Row]) -> None:
        newest = _newest(points)
        self.period_us = max((key[2] for key in newest), default=60) * _SECOND
        self._points = sorted(newest.items(), key=lambda point: point[0][1])
        self._times = [at for (_, at, _), _ in self._points]

    def between(self, start: int, end: int) -> tuple[Counter[str], tuple[str, ...]]:
        there = self._points[bisect_left(self._times, start) : bisect_left(self._times, end)]
        count: Counter[str] = Counter()
        for (metric, _, _), row in there:
            count[metric] += round(row["value"])
        return count, tuple(sorted(row["evidence_id"] for _, row in there))


def _stretch(start: int, end: int, runs: Sequence[Run], counts: _Counts, invoked: int | None) -> Stretch:
    count, evidence_ids = counts.between(start, end)
    return Stretch(start, end, invoked, count[FAILED], count[DELETED], _known_failed(runs), evidence_ids)


def _known_failed(runs: Iterable[Run]) -> int | None:
    failed = [run.failed for run in runs]
    return None if None in failed else sum(f for f in failed if f is not None)


def _quiet(part: Stretch, runs: Sequence[Run], counts: _Counts) -> list[Stretch]:
    """Return the times of a stretch in whose periods no messages failed but those of runs that failed in them, for sure.

    A run that ended near a border may be counted on either side: there both must be quiet.
    """
    found: list[Stretch] = []
    for start in range(part.start, part.end, counts.period_us):
        end = start + counts.period_us
        inner = (start + _CLOCK_US, end - _CLOCK_US)
        count, evidence_ids = counts.between(start, end)
        known = sum(run.failed or 0 for run in runs if run.ended_at and inner[0] <= run.ended_at <= inner[1])
        if count[FAILED] != known:
            continue
        if found and found[-1].end == start - _CLOCK_US:
            inner = (found[-1].end, inner[1])
        found.append(Stretch(*inner, None, count[FAILED], count[DELETED], known, evidence_ids))
    return found


def _newest(points: Sequence[Row]) -> dict[tuple[str, int, int], Row]:
    """Return of each point the value that was read last, by metric, time and period (s)."""
    found: dict[tuple[str, int, int], Row] = {}
    for row in sorted(points, key=lambda row: (row["collected_at"], row["evidence_id"])):
        found[row["metric"], micros(row["point_at"]), row["period_s"]] = row
    return found


def _apart(runs: Iterable[Run], period_us: int, whole: bool) -> list[tuple[int, int, list[Run]]]:
    """Part runs, in order, where none is on (``whole``), or none ends, at a border of periods or near one."""
    parts: list[tuple[int, int, list[Run]]] = []
    for run in runs:
        start = ((run.began_at if whole else _first_end(run)) - _BESIDE_US) // period_us * period_us
        end = -(-(_last_end(run) + _BESIDE_US) // period_us) * period_us
        if parts and start < parts[-1][1]:
            before = parts.pop()
            parts.append((before[0], max(before[1], end), [*before[2], run]))
        else:
            parts.append((start, end, [run]))
    return parts


def _by_time(run: Run) -> tuple[int, int]:
    return run.began_at, _last_end(run)


def _first_end(run: Run) -> int:
    return run.began_at if run.ended_at is None else run.ended_at


def _last_end(run: Run) -> int:
    return run.began_at + LONGEST_RUN_US if run.ended_at is None else run.ended_at
