"""The ``from`` and ``to`` of a link: ISO 8601 or milliseconds since 1970."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from pages._ui.clock import Clock
from pages._ui.said import say
from pages._ui.words import plain


@dataclass(frozen=True)
class Window:
    """A stretch of time, open at a side that is None."""

    start: datetime | None = None
    end: datetime | None = None

    def overlaps(self, start: datetime | None, end: datetime | None) -> bool:
        """Tell whether something that lasted from start to end touches the window; an unknown time does."""
        after = self.end is None or start is None or start < self.end
        return after and (self.start is None or end is None or end >= self.start)

    def within(self, other: "Window") -> "Window":
        """Return what both windows have in common."""
        starts = [s for s in (self.start, other.start) if s]
        ends = [e for e in (self.end, other.end) if e]
        return Window(max(starts, default=None), min(ends, default=None))

    def keep(self, frame: Any) -> Any:
        """Return the rows of a timeline frame that touch the window."""
        if self.end:
            frame = frame[frame["at"] < self.end]
        if self.start:
            frame = frame[(frame["at"] >= self.start) | (frame["until_at"] >= self.start)]
        return frame

    def write(self) -> None:
        """Put the window into the link."""
        for key, at in (("from", self.start), ("to", self.end)):
            if at:
                st.query_params[key] = at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def notice(self, clock: Clock) -> None:
        """Say that the link narrows the page, with a way out."""
        if not (self.start or self.end):
            return
        said = " ".join(
            part
            for part in (
                say("from {at}", at=clock.stamp(self.start)) if self.start else "",
                say("to {at}", at=clock.stamp(self.end)) if self.end else "",
            )
            if part
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(
                plain(say("Only {said} ({zone}).", said=said, zone=clock.label(self.start or self.end))),
                width="content",
            )
            if st.button(say("All times"), key="all_times", type="tertiary", icon=":material/close:"):
                for key in ("from", "to"):
                    st.query_params.pop(key, None)
                st.rerun()


def parse_time(text: str) -> datetime | None:
    """Read ISO 8601 (no offset: UTC) or epoch milliseconds; None if it is neither.

    >>> parse_time("2026-11-20T05:12:00Z") == parse_time("1795151520000")
    True
    >>> parse_time("yesterday") is None
    True
    """
    try:
        if text.isdigit():
            return datetime.fromtimestamp(int(text) / 1000, UTC)
        at = datetime.fromisoformat(text.replace(" ", "+") if "T" in text else text)
    except (ValueError, OverflowError, OSError):
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def read_window() -> Window:
    """Read ``from`` and ``to`` of the link; what cannot be read is named in a warning and left out."""
    found: dict[str, datetime | None] = {}
    for key in ("from", "to"):
        text = st.query_params.get(key)
        found[key] = parse_time(text) if text else None
        if text and found[key] is None:
            st.warning(
                plain(
                    say(
                        "{key}={text} is not a time; it is ignored. Write it like 2026-11-20T05:12:00Z.",
                        key=key,
                        text=text,
                    )
                ),
                icon=":material/schedule:",
            )
    return Window(found["from"], found["to"])
