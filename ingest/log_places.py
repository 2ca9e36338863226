"""The place of a log event among its equals: order within a millisecond, and an id where the source gave none."""

from hashlib import sha256

NEAR_MOMENTS = 10_000
"""So many moments at least are remembered: what is of one comes together, but for other streams' events of that millisecond."""


class Places:
    """Numbers events of the same stream and millisecond in the order they come; pages that come twice change nothing.

    Forgets moments of long before: a window may hold millions of events. How many pages lie between says nothing: a page may
    be empty, or hold one event.
    """

    def __init__(self) -> None:
        self._now: dict[tuple[str, int], dict[str, int]] = {}
        self._before: dict[tuple[str, int], dict[str, int]] = {}

    def of(self, stream: str, stamp_ms: int, line: str, event_id: str | None) -> tuple[int, str]:
        """Return the event's order within its millisecond, and a name for it made from its content.

        The name stays the same however often and in whatever pages the window is read: it is the digest of stream,
        millisecond, text without trailing blanks, and the ordinal among equal ones.
        """
        at = (stream, stamp_ms)
        known = self._now.get(at)
        if known is None:
            if len(self._now) >= NEAR_MOMENTS:
                self._before, self._now = self._now, {}
            known = self._now[at] = self._before.pop(at, {})
        if event_id is not None:
            return known.setdefault(event_id, len(known)), ""
        text = sha256(line.rstrip().encode()).hexdigest()
        ordinal = 0
        while (name := f"{text}|{ordinal}") in known:
            ordinal += 1
        known[name] = order = len(known)
        return order, "content:" + sha256(f"{stream}|{stamp_ms}|{name}".encode()).hexdigest()
