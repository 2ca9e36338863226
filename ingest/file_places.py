"""Where the events of one file stand: their order within a moment, and which of several equal ones each is."""

from datetime import datetime

from ingest.twins import content_digest

NEAR_MOMENTS = 50_000
"""So many moments at least are remembered for the order within one: events of one millisecond stand close in a log."""


class Places:
    """Numbers the events of one file: order within a stream's millisecond, and which of several equal ones it is.

    Copies of a file must add nothing, so counting begins anew with each file.
    """

    def __init__(self) -> None:
        # Two dictionaries take turns: forgetting the oldest moment of one, one by one, takes time that grows with its square.
        self._in_ms: dict[tuple[str, datetime], int] = {}
        self._in_ms_before: dict[tuple[str, datetime], int] = {}
        self._equal = _Tallies()

    def of(self, stream: str, logged_at: datetime, line: str, event_id: str | None) -> tuple[int, int | None, bytes]:
        """Return the order within the millisecond, and of events without an id the ordinal among equals, and a digest."""
        at = (stream, logged_at)
        order_in_ms = self._in_ms.get(at) or self._in_ms_before.get(at, 0)
        self._in_ms[at] = order_in_ms + 1
        if len(self._in_ms) > NEAR_MOMENTS:
            self._in_ms, self._in_ms_before = {}, self._in_ms
        if event_id is not None:
            return order_in_ms, None, b""
        digest = content_digest(stream, logged_at, line)
        return order_in_ms, self._equal.take(digest), digest


class _Tallies:
    """Counts how often each digest came, in 18 bytes for each: a file has millions of lines, and a dict takes 200.

    A bucket holds what follows the first two bytes of its digests, one after another: 14 bytes, so that 128 bits tell them apart.
    """

    def __init__(self) -> None:
        self._buckets: dict[bytes, bytearray] = {}

    def take(self, digest: bytes) -> int:
        """Return how often the digest came before."""
        name = digest[2:16]
        bucket = self._buckets.get(digest[:2])
        if bucket is None:
            self._buckets[digest[:2]] = bytearray(name)
            return 0
        count = bucket.count(name)
        bucket += name
        return count
