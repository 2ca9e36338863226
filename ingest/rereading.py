"""Which parts of a window to read now: what was never read, what is still settling, and what a re-read is due for.

CloudWatch Logs finds events by their own time, not by their arrival, so a late one shows up in a window that was read
before. Each quarter of an hour is therefore read again once it is 15 minutes, 2 hours and 24 hours old.
"""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from forensics.coverage import BLOCK_S, FINAL_AFTER, SETTLING, block_end
from forensics.window import TimeWindow, whole_ms

RUNGS = (timedelta(minutes=15), timedelta(hours=2), FINAL_AFTER)
"""Ages at which a block is read once more; after the last it is settled."""
REACH = timedelta(days=3)
"""So far back a collection looks for blocks that are due once more, however short its own window: enough for a daily run."""
LONGEST = timedelta(days=1)
"""A longer part is read in pieces, each recorded when it is done: a killed run starts again at the last one."""


@dataclass(frozen=True)
class Known:
    """An earlier reading: its span and when it was made; ``is_lost`` if what it stored was damaged since. UTC."""

    start_at: datetime
    end_at: datetime
    read_at: datetime
    is_lost: bool = False


def due(
    window: TimeWindow,
    known: Iterable[Known],
    now: datetime,
    rungs: tuple[timedelta, ...] = RUNGS,
    settling: timedelta = SETTLING,
    only_known: bool = False,
) -> list[TimeWindow]:
    """Return the parts of the window that must be read now, in order, none touching the next.

    ``only_known`` leaves out what no reading ever touched: it was not asked for.
    """
    spans = _cut(window, known, settling)
    found: list[tuple[datetime, datetime]] = []
    for start_at, end_at, read_at, is_known in _last_read(window, spans):
        if read_at is not None and not _climbed(block_end(end_at), read_at, now, rungs):
            continue
        if only_known and not is_known:
            continue
        if found and found[-1][1] == start_at:
            found[-1] = (found[-1][0], end_at)
        else:
            found.append((start_at, end_at))
    return [TimeWindow(start_at, end_at) for start_at, end_at in found]


def pieces(window: TimeWindow, longest: timedelta = LONGEST) -> list[TimeWindow]:
    """Cut a window into pieces that are not longer than ``longest``."""
    starts = [window.start_at]
    while starts[-1] + longest < window.end_at:
        starts.append(starts[-1] + longest)
    return [TimeWindow(a, b) for a, b in zip(starts, [*starts[1:], window.end_at], strict=True)]


def joined(windows: Iterable[TimeWindow]) -> list[TimeWindow]:
    """Return the same time as few windows that do not touch."""
    merged: list[TimeWindow] = []
    for window in sorted(windows, key=lambda w: w.start_at):
        if merged and window.start_at <= merged[-1].end_at:
            merged[-1] = TimeWindow(merged[-1].start_at, max(merged[-1].end_at, window.end_at))
        else:
            merged.append(window)
    return merged


def _cut(window: TimeWindow, known: Iterable[Known], settling: timedelta) -> list[Known]:
    """Cut readings to the window, and those that count to what had settled when they were made."""
    kept = []
    for one in known:
        start_at = max(one.start_at, window.start_at)
        end_at = min(one.end_at, window.end_at)
        if not one.is_lost:
            end_at = min(end_at, whole_ms(one.read_at - settling))  # as windows are, or one of none would be due
        if start_at < end_at:
            kept.append(Known(start_at, end_at, one.read_at, one.is_lost))
    return sorted(kept, key=lambda one: one.start_at)


def _last_read(window: TimeWindow, spans: list[Known]) -> Iterable[tuple[datetime, datetime, datetime | None, bool]]:
    """Yield the window in pieces, each with the time of the last reading that still counts, and if there was any."""
    cuts = {window.start_at, window.end_at, *(s.start_at for s in spans), *(s.end_at for s in spans)}
    block = block_end(window.start_at + timedelta(milliseconds=1))
    while block < window.end_at:
        cuts.add(block)
        block += timedelta(seconds=BLOCK_S)
    borders = sorted(cuts)
    # Readings that cover the present piece, the newest on top; those that have ended stay until they come up.
    counting: dict[bool, list[tuple[float, int, Known]]] = {False: [], True: []}
    upcoming = 0
    for start_at, end_at in zip(borders, borders[1:], strict=False):
        while upcoming < len(spans) and spans[upcoming].start_at <= start_at:
            span = spans[upcoming]
            heapq.heappush(counting[span.is_lost], (-span.read_at.timestamp(), upcoming, span))
            upcoming += 1
        for heap in counting.values():
            while heap and heap[0][2].end_at <= start_at:
                heapq.heappop(heap)
        read_at = counting[False][0][2].read_at if counting[False] else None
        if read_at is not None and counting[True] and counting[True][0][2].read_at >= read_at:
            read_at = None
        yield start_at, end_at, read_at, bool(counting[False] or counting[True])


def _climbed(ended_at: datetime, read_at: datetime, now: datetime, rungs: tuple[timedelta, ...]) -> bool:
    """Tell whether the block that ended then has reached a rung since it was last read."""
    return any(read_at < ended_at + rung <= now for rung in rungs)
