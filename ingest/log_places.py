"""The place of a log event among its equals: order within a millisecond, and an id where the source gave none."""

from hashlib import sha256


class Places:
    """Numbers events of the same stream and millisecond in the order they come; pages that come twice change nothing.

    Remembers two pages: what is repeated follows closely, and a window may hold millions of events.
    """

    def __init__(self) -> None:
        self._now: dict[tuple[str, int], dict[str, int]] = {}
        self._before: dict[tuple[str, int], dict[str, int]] = {}

    def next_page(self) -> None:
        """Forget the page before last."""
        self._before, self._now = self._now, {}

    def of(self, stream: str, stamp_ms: int, line: str, event_id: str | None) -> tuple[int, str]:
        """Return the event's order within its millisecond, and a name for it made from its content.

        The name stays the same however often and in whatever pages the window is read: it is the digest of stream,
        millisecond, text without trailing blanks, and the ordinal among equal ones.
        """
        at = (stream, stamp_ms)
        if at not in self._now:
            self._now[at] = dict(self._before.get(at, {}))
        known = self._now[at]
        if event_id is not None:
            return known.setdefault(event_id, len(known)), ""
        text = sha256(line.rstrip().encode()).hexdigest()
        ordinal = 0
        while (name := f"{text}|{ordinal}") in known:
            ordinal += 1
        known[name] = order = len(known)
        return order, "content:" + sha256(f"{stream}|{stamp_ms}|{name}".encode()).hexdigest()
