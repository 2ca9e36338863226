"""Would the logs of a queue's consumers have shown it, had anything been received between two moments?"""

import hashlib
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from forensics.judging.written import Writer
from forensics.spans import Spans

_NONE = Spans()
_LONGEST_MS = 24 * 3_600_000
_MILLISECOND = 1000


class Watch:
    """Spans in which every consumer's log was read in full, and the runs in them that do not show what they had.

    Times are whole microseconds since 1970, UTC. ``spans`` are by queue ARN, ``writers`` who writes for a queue, ``hiding`` when runs of a writer began that hide some of
    their messages, sorted.
    """

    def __init__(
        self,
        spans: Mapping[str, Spans],
        writers: Mapping[str, set[Writer]],
        hiding: Mapping[Writer, Sequence[int]],
    ) -> None:
        """Take what was read and what is written there."""
        self.spans, self._writers, self._hiding = spans, writers, hiding

    def holds(self, queue_arn: str, after: int | None, before: int | None, but: Sequence[int] = ()) -> bool:
        """Tell whether whatever began between two moments would have been shown; they are at most 24 hours apart.

        Runs that began at ``but`` may hide what they had.
        """
        if after is None or before is None or not self.spans.get(queue_arn, _NONE).hold(after, before):
            return False
        if before // _MILLISECOND - after // _MILLISECOND > _LONGEST_MS:
            return False
        writers = self._writers[queue_arn]
        hiding = [start for writer in writers for start in self._hiding_between(writer, after, before)]
        return not hiding or not Counter(hiding) - Counter(but)

    def hides_nothing(self, queue_arn: str) -> bool:
        """Tell whether no run at all that was read hides what it had, whenever it began; not where nothing was read in full."""
        return queue_arn in self.spans and not any(len(self._hiding[writer]) for writer in self._writers[queue_arn])

    def bearing(self, queue_arn: str, low: int, high: int) -> list[Any]:
        """Return what an answer about any moments between these two rests on."""
        writers = sorted(self._writers.get(queue_arn, ()), key=str)
        return [
            (start, end, [_digest(self._hiding_between(writer, start, end)) for writer in writers])
            for start, end in self.spans.get(queue_arn, _NONE).between(low, high)
        ]

    def _hiding_between(self, writer: Writer, low: int, high: int) -> Sequence[int]:
        starts = self._hiding[writer]
        return starts[bisect_left(starts, low) : bisect_right(starts, high)]


def _digest(starts: Sequence[int]) -> str:
    if not len(starts):
        return ""
    return hashlib.sha256(array("q", starts).tobytes()).hexdigest()[:32]
