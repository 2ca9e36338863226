"""The window of time a command works on: half-open, UTC, whole milliseconds."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from forensics.clock import micros
from forensics.errors import BadTimeError
from forensics.sentence import joined, said

DEFAULT_SINCE = "6h"
FUTURE_STAMPS = timedelta(hours=2)
"""CloudWatch Logs takes events stamped up to this far in the future."""
CHANGES_REACH = timedelta(days=7)
"""How long before an incident a change of settings is worth telling, and so worth collecting."""
OLDEST = datetime(2014, 7, 1, tzinfo=UTC)
"""CloudWatch Logs began in July 2014; nothing in it is older."""

_FORMS = "Use a span such as 90s, 15m, 6h, 2d or 1w, a time such as 2026-11-20T05:12:00Z, or epoch milliseconds."
_SPAN = re.compile(r"(?:[0-9]{1,9}[smhdw])+")
_PART = re.compile(r"([0-9]+)([smhdw])")
_UNIT_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


@dataclass(frozen=True)
class TimeWindow:
    """From ``start_at`` (inclusive) to ``end_at`` (exclusive), both aware and in UTC.

    Raises ValueError for naive times and for an end that is not after the start.
    """

    start_at: datetime
    end_at: datetime

    def __post_init__(self) -> None:
        if self.start_at.tzinfo is None or self.end_at.tzinfo is None:
            raise ValueError("a window needs times with a zone")
        object.__setattr__(self, "start_at", whole_ms(self.start_at))
        object.__setattr__(self, "end_at", whole_ms(self.end_at))
        if self.start_at >= self.end_at:
            raise ValueError(
                said("the window from {start} to {end} is empty", start=str(self.start_at), end=str(self.end_at))
            )

    @property
    def start_ms(self) -> int:
        """First millisecond inside, since the epoch."""
        return _ms(self.start_at)

    @property
    def end_ms(self) -> int:
        """First millisecond after it, since the epoch."""
        return _ms(self.end_at)

    @classmethod
    def parse(cls, since: str | None, until: str | None, now: datetime) -> "TimeWindow":
        """Read what a person typed: spans count back from ``now``; None means six hours ago, and now.

        An end in the future becomes two hours from now: no event is stamped later than that.
        Raises BadTimeError that names the value.

        >>> now = datetime(2026, 11, 20, 6, tzinfo=UTC)
        >>> TimeWindow.parse("90m", "2026-11-20T05:00:00Z", now).start_at.isoformat()
        '2026-11-20T04:30:00+00:00'
        """
        start_at = _moment(since or DEFAULT_SINCE, "--since", now)
        end_at = min(_moment(until, "--until", now), now + FUTURE_STAMPS) if until else now
        if start_at > now:
            raise BadTimeError(
                said("--since {text} lies in the future", text=repr(since)),
                joined([said("It is {now} now.", now=_shown(now)), _FORMS]),
            )
        if start_at < OLDEST:
            raise BadTimeError(
                said("--since {text} is {time}, before CloudWatch Logs began", text=repr(since), time=_shown(start_at)),
                joined(["Choose a later time.", _FORMS]),
            )
        start_at, end_at = whole_ms(start_at), whole_ms(end_at)
        if start_at >= end_at:
            raise BadTimeError(
                said(
                    "--since {text} ({start}) is not before --until {until} ({end})",
                    text=repr(since or DEFAULT_SINCE),
                    start=_shown(start_at),
                    until=repr(until or "now"),
                    end=_shown(end_at),
                ),
                "A span counts back from now, not from --until.",
            )
        return cls(start_at, end_at)


def _moment(text: str, option: str, now: datetime) -> datetime:
    shown = text if len(text) <= 60 else text[:57] + "..."
    bad = BadTimeError(said("{option} {text} is not a time", option=option, text=repr(shown)), _FORMS)
    text = text.strip()
    if text == "now":
        return now.astimezone(UTC)
    if _SPAN.fullmatch(text):
        span_s = sum(int(count) * _UNIT_S[unit] for count, unit in _PART.findall(text))
        return _within(lambda: now.astimezone(UTC) - timedelta(seconds=span_s), bad)
    if re.fullmatch(r"[0-9]{1,18}", text):
        if len(text) < 12:
            raise BadTimeError(
                said("{option} {text} is too short for epoch milliseconds", option=option, text=repr(shown)), _FORMS
            )
        return _within(lambda: datetime.fromtimestamp(int(text) / 1000, UTC), bad)
    if not re.match(r"[0-9]{4}-?[0-9]{2}", text):
        raise bad
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise bad from None
    if moment.tzinfo is None:
        raise BadTimeError(
            said("{option} {text} does not say its time zone", option=option, text=repr(shown)),
            joined(["Add Z for UTC, or an offset.", _FORMS]),
        )
    return _within(lambda: moment.astimezone(UTC), bad)


def _within(moment: Callable[[], datetime], bad: BadTimeError) -> datetime:
    try:
        return moment()
    except (OverflowError, ValueError, OSError):
        raise bad from None


def whole_ms(moment: datetime) -> datetime:
    """Return a time in whole milliseconds, UTC, as windows have it and CloudWatch Logs counts."""
    moment = moment.astimezone(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def _ms(moment: datetime) -> int:
    return micros(moment) // 1000


def _shown(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
