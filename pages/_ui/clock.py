"""The zone in which a page shows times: UTC, the team's, the browser's, or one named in the link."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import streamlit as st

from forensics.charts.words import zone_label
from forensics.clock import zone_of
from pages._ui import reader
from pages._ui.reader import BROWSER
from pages._ui.said import dated, in_every_language, say, term

EM_DASH = "–"


@dataclass(frozen=True)
class Clock:
    """Writes times of one zone; every method takes an aware time or None."""

    zone: ZoneInfo

    def time(self, at: datetime | None) -> str:
        """Write ``05:12:00.200``."""
        return EM_DASH if _missing(at) else f"{self._local(at):%H:%M:%S.%f}"[:-3]

    def second(self, at: datetime | None) -> str:
        """Write ``05:12:00``."""
        return EM_DASH if _missing(at) else f"{self._local(at):%H:%M:%S}"

    def minute(self, at: datetime | None) -> str:
        """Write ``20 Nov 2026 05:12``."""
        return EM_DASH if _missing(at) else dated(self._local(at), year=True)

    def stamp(self, at: datetime | None) -> str:
        """Write ``2026-11-20 05:12:00.200``."""
        return EM_DASH if _missing(at) else f"{self._local(at):%Y-%m-%d %H:%M:%S.%f}"[:-3]

    def day(self, at: datetime | None) -> str:
        """Write ``20 Nov 05:12``, for where there is little room."""
        return EM_DASH if _missing(at) else dated(self._local(at), year=False)

    def spans_days(self, times: Iterable[datetime | None]) -> bool:
        """Tell whether these times are of more than one day in this zone."""
        return len({self._local(at).date() for at in times if not _missing(at)}) > 1

    def fitting(self, times: Iterable[datetime | None]) -> tuple[Callable[[datetime | None], str], int]:
        """Return how to write these times, with the date where they span days, and the pixels a column of them takes."""
        return (self.stamp, 170) if self.spans_days(times) else (self.time, 92)

    def parse(self, text: str) -> datetime:
        """Read a wall-clock time of this zone, as a chart's axis writes it."""
        return datetime.fromisoformat(text).replace(tzinfo=self.zone)

    def label(self, at: datetime | None = None) -> str:
        """Name the zone with its offset at that moment (now if not given)."""
        return zone_label(self.zone, at or datetime.now(UTC))

    @property
    def name(self) -> str:
        """IANA name of the zone."""
        return str(self.zone)

    def _local(self, at: datetime | None) -> datetime:
        assert at is not None
        return at.astimezone(self.zone)


def _missing(at: object) -> bool:
    return at is None or at != at  # a column's missing time is NaT, which equals nothing


def choose_clock(team_zone: str | None) -> Clock:
    """Show the zone switch and return the clock it chose; a zone that only the link names becomes an option."""
    options = ["UTC", *([team_zone] if team_zone else []), BROWSER]
    bad = reader.follow_link("tz", lambda asked: _zone_named(asked, options))
    if bad:
        st.session_state["bad_tz"] = bad
    st.session_state["tz"] = chosen = reader.chosen("tz") or "UTC"
    if chosen not in options:
        options.insert(-1, chosen)
    browser_zone = zone_of(st.context.timezone)
    st.segmented_control(
        say("Show times in"),
        options,
        required=True,
        key="tz",
        on_change=reader.keep,
        args=("tz", "UTC"),
        format_func=term,
        help=say("Your browser is in {browser_zone}.", browser_zone=browser_zone)
        if browser_zone
        else say("Your browser named no time zone: UTC then."),
    )
    return Clock(reader.zone() or ZoneInfo("UTC"))


def _zone_named(asked: str, options: list[str]) -> str | None:
    """Return the option that a link names in whatever case, and its label of any language, or the zone it names."""
    labels = {label.casefold(): option for option in options for label in (option, *in_every_language(option))}
    return labels.get(asked.casefold()) or (asked if zone_of(asked) else None)
