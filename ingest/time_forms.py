"""Times that lines do not write year first: with names of months, between slashes, or without a year, as syslog does."""

import re
from datetime import datetime, timedelta
from typing import NamedTuple

from forensics.clock import MONTHS

_MONTHS = {name: f"{number:02}" for number, name in enumerate(MONTHS, 1)}
_SYSLOG = re.compile(
    r"""(?x)
    (?:<\d{1,3}>)?                                      # facility and severity, as they go over the network
    (?P<month>[A-Z][a-z]{2})\ {1,2}(?P<day>\d{1,2})\ (?P<clock>\d\d:\d\d:\d\d)(?:\.(?P<fraction>\d{1,9}))?
    \ (?P<host>[A-Za-z0-9][\w.:-]{0,254})(?=\ )
    (?:\ (?P<program>[^\s:\[\]]{1,100}(?:\[\d{1,10}\])?):(?:\ |$))?   # "last message repeated 2 times" names none
    """
)
_WHOLE_TIME = (
    r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)T(?P<clock>\d\d:\d\d:\d\d)(?:\.(?P<fraction>\d{1,9}))?"
    r"(?P<zone>Z|[+-]\d\d:?\d\d)"
)
_NEWER_SYSLOG = (
    re.compile(  # rsyslog as Debian 12 and Ubuntu 24.04 set it up, and journalctl -o short-iso
        _WHOLE_TIME
        + r" (?P<host>[A-Za-z0-9][\w.:-]{0,254}) (?P<program>[^\s:\[\]]{1,100})\[(?P<process>\d{1,10})\]:(?: |$)"
    ),
    re.compile(_WHOLE_TIME + r" (?P<host>)(?P<program>app|heroku)\[(?P<process>[a-z][\w.-]{0,60})\]:(?: |$)"),
    re.compile(  # as it goes over the network (RFC 5424)
        rf"<\d{{1,3}}>1 {_WHOLE_TIME} (?P<host>\S{{1,255}}) (?P<program>\S{{1,48}}) (?P<process>\S{{1,128}}) \S{{1,32}} "
        r"(?:-|(?:\[(?:[^\]\\]|\\.)*\])+)(?: \ufeff?|$)"
    ),
)
_LEVELS = frozenset(
    ["TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING", "ERROR", "ERR", "CRIT", "CRITICAL", "FATAL", "SEVERE"]
)
"""Words that stand where a host would, in lines that their programs wrote themselves."""
_SLASHED = re.compile(
    r"(?<![\d/])(?P<first>\d{1,2})/(?P<second>\d{1,2})/(?P<year>\d{4}), "
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d):(?P<s>\d\d)(?:[ \u00a0\u202f](?P<half>[AaPp]\.?[Mm]\.?)(?![A-Za-z]))?"
)
"""What JavaScript's Intl writes: Nest's logger does, and whoever calls toLocaleString()."""
_NAMED_MONTHS = (
    re.compile(
        r"""(?x)
        (?<!\d)(?P<day>\d{1,2})(?P<gap>[ /-])(?P<month>[A-Z][a-z]{2})(?P=gap)(?P<year>\d{4})[:\ ]   # access logs, Redis, Tomcat
        (?P<hour>\d{1,2}):(?P<minute>\d\d):(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?
        (?:\ (?P<half>[AP]M)\b)?(?:\ (?P<zone>Z\b|UTC\b|GMT\b|[+-]\d\d:?\d\d(?!\d)))?
        """
    ),
    re.compile(
        r"""(?x)
        (?<![A-Za-z])(?P<month>[A-Z][a-z]{2})\ {1,2}(?P<day>\d{1,2})\                              # date, Apache's errors
        (?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?:\.(?P<fraction>\d{1,9}))?
        (?P<half>(?!))?(?:\ (?P<zone>UTC|GMT))?\ (?P<year>\d{4})(?!\d)
        """
    ),
    re.compile(
        r"""(?x)
        (?<![A-Za-z])(?P<month>[A-Z][a-z]{2})\ (?P<day>\d{1,2}),\ (?P<year>\d{4}),?\              # Java's own logger
        (?P<hour>\d{1,2}):(?P<minute>\d\d):(?P<second>\d\d)(?P<fraction>(?!))?\ (?P<half>[AP]M)\b(?P<zone>(?!))?
        """
    ),
)
_CLOCK = re.compile(r"\d:\d\d:\d\d")
_NAMED_MONTH_CHARS = 44
_BEFORE_TIME = re.compile(
    rf"""(?x)
    .*\d.* | [\[(<{{].* | .*[\])>}}|]                             # a date, an address, a level or a thread in brackets
    | (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|{"|".join(MONTHS)})[a-z]{{0,6}}[.,]?
    | [A-Z]{{1,8}}:? | \W+ | (?:time|ts|at|date)=["']?
    """
)
"""A word that can stand before a time where a log line begins; before one that a sentence or a field tells stand others."""
_MOST_WORDS = 8
_YEARS_LEFT_OUT = 4
"""So many years back the last 29 February may be, and more around 2100, from which no log is yet."""


class TimeHints(NamedTuple):
    """What the other lines of a file, or the file itself, tell of times that do not say all.

    ``is_day_first``: between slashes the day stands before the month. A time without a year is near to ``near``, or else the
    last that is not after ``latest``; both are of no zone.
    """

    is_day_first: bool | None = None
    near: datetime | None = None
    latest: datetime | None = None


class Parts(NamedTuple):
    """A time in a line: where it starts, and year to second as ISO writes them, with a fraction and a zone where there is one."""

    start: int
    texts: tuple[str, str, str, str, str, str]
    fraction: str | None = None
    zone: str | None = None


class Prefix(NamedTuple):
    """What syslog put before a line: its time, who wrote it (None: not said), and where the line begins. Its old form says neither year nor zone."""

    month: str
    day: str
    clock: str
    fraction: str | None
    writer: str | None
    end: int
    year: str | None = None
    zone: str | None = None

    def in_year(self, year: int) -> datetime | None:
        """Return the time in a year; None where there is no such day."""
        try:
            return datetime.fromisoformat(f"{year:04}-{self.month}-{self.day}T{self.clock}")
        except ValueError:
            return None

    def near(self, moment: datetime) -> datetime | None:
        """Return the time in the year that brings it nearest to a moment.

        >>> syslog_prefix("Dec 31 23:59:58 ip-10-0-1-12 web[7]: took").near(datetime(2027, 1, 1, 0, 0, 3)).year
        2026
        """
        if self.year is not None:
            return self.in_year(int(self.year))
        found = (self.in_year(moment.year + more) for more in (-1, 0, 1))
        return min((at for at in found if at), key=lambda at: abs(at - moment), default=None)

    def placed(self, hints: TimeHints) -> datetime | None:
        """Return the time in its year, or in the one that the hints tell; None where they tell none."""
        if self.year is not None:
            return self.in_year(int(self.year))
        if hints.near is not None:
            return self.near(hints.near)
        if hints.latest is None:
            return None
        found = (self.in_year(hints.latest.year - fewer) for fewer in range(_YEARS_LEFT_OUT + 1))
        return next((at for at in found if at and at <= hints.latest), None)


def syslog_prefix(line: str) -> Prefix | None:
    """Return what syslog put before a line; None where it put nothing.

    >>> prefix = syslog_prefix("Nov  5 05:12:00 ip-10-0-1-12 web[3456]: took it")
    >>> prefix.writer, "Nov  5 05:12:00 ip-10-0-1-12 web[3456]: took it"[prefix.end :]
    ('ip-10-0-1-12/web[3456]', 'took it')
    """
    if "[" in line or "<" in line[:1]:
        newer = next((found for form in _NEWER_SYSLOG if (found := form.match(line))), None)
        if newer and newer["host"].upper() not in _LEVELS:
            return _newer(newer)
    if not (line[:3] in _MONTHS or line[:1] == "<") or not (found := _SYSLOG.match(line)):
        return None
    if (month := _MONTHS.get(found["month"])) is None:
        return None
    program = found["program"]
    writer = f"{found['host']}/{program}" if program else None
    end = found.end() if program else found.start("host")
    return Prefix(month, found["day"].zfill(2), found["clock"], found["fraction"], writer, end)


def _newer(found: re.Match[str]) -> Prefix:
    process = "" if found["process"] == "-" else f"[{found['process']}]"
    writer = "/".join(filter(None, (found["host"], found["program"] + process)))
    clock = found["clock"], found["fraction"]
    return Prefix(found["month"], found["day"], *clock, writer, found.end(), found["year"], found["zone"])


def begins_line(lead: str) -> bool:
    """Tell whether what stands before a time leaves it the time of the line, and no text has begun.

    >>> begins_line("[Nest] 18  - "), begins_line("Last-Modified: Fri, ")
    (True, False)
    """
    words = lead.split()
    return len(words) <= _MOST_WORDS and all(map(_BEFORE_TIME.fullmatch, words))


def with_named_month(line: str, end: int) -> Parts | None:
    """Return the time with the name of a month that starts before ``end``.

    >>> with_named_month('10.0.1.12 - - [20/Nov/2026:05:01:07 +0100] "POST /charge', 48)
    Parts(start=15, texts=('2026', '11', '20', '05', '01', '07'), fraction=None, zone='+0100')
    """
    if not _CLOCK.search(line, 0, end + _NAMED_MONTH_CHARS):
        return None
    for form in _NAMED_MONTHS:
        found = form.search(line, 0, end + _NAMED_MONTH_CHARS)
        if found is None or found.start() >= end or (month := _MONTHS.get(found["month"])) is None:
            continue
        lead = line[: found.start()]
        if not (lead.endswith("[") or begins_line(lead)):
            continue
        if (hour := _hour(int(found["hour"]), found["half"])) is not None:
            texts = (found["year"], month, found["day"].zfill(2), hour, found["minute"], found["second"])
            return Parts(found.start(), texts, found["fraction"], found["zone"])
    return None


def _hour(hour: int, half: str | None) -> str | None:
    """Return an hour of the day by one of its half, where one is named; None if there is no such hour."""
    if half and not 1 <= hour <= 12:
        return None
    return f"{hour % 12 + 12 * (half[0] in 'Pp') if half else hour:02}"


class Slashed(NamedTuple):
    """A time between slashes, where it starts; ``first`` and ``second`` are month and day in an order that a country has."""

    start: int
    year: str
    first: int
    second: int
    clock: tuple[str, str, str]
    half: str | None

    @property
    def is_day_first(self) -> bool | None:
        """Tell whether the day stands first; None where its numbers do not say it."""
        return None if max(self.first, self.second) <= 12 else self.first > 12

    def parts(self, hints: TimeHints) -> Parts | None:
        """Return the time; None where nothing tells the day from the month, or there is no such hour.

        Beside a large AM or PM the month is first, as in the English of the United States, unless the file says otherwise.

        >>> slashed("[Nest] 18  - 11/20/2026, 5:01:07 PM     LOG took", 48).parts(TimeHints())
        Parts(start=13, texts=('2026', '11', '20', '17', '01', '07'), fraction=None, zone=None)
        >>> slashed("05/11/2026, 17:01:07 took", 48).parts(TimeHints()) is None
        True
        """
        told = next((t for t in (self.is_day_first, hints.is_day_first) if t is not None), None)
        if told is None and (self.half in ("AM", "PM") or self.first == self.second):
            told = False
        hour = _hour(int(self.clock[0]), self.half)
        if told is None or hour is None:
            return None
        day, month = (self.first, self.second) if told else (self.second, self.first)
        return Parts(self.start, (self.year, f"{month:02}", f"{day:02}", hour, *self.clock[1:]))


def slashed(line: str, end: int) -> Slashed | None:
    """Return the time between slashes that starts before ``end``."""
    found = _SLASHED.search(line, 0, end + 30) if "/" in line[: end + 3] else None
    if found is None or found.start() >= end or not begins_line(line[: found.start()]):
        return None
    clock = (found["hour"], found["minute"], found["s"])
    return Slashed(found.start(), found["year"], int(found["first"]), int(found["second"]), clock, found["half"])


def is_same_line(prefix: datetime, own: datetime, has_zone: bool) -> bool:
    """Tell whether a time in a line can be that of the line, by the time that syslog put before it.

    Zones are up to 14 hours apart and at least a quarter of an hour; of two times without one a larger gap is another zone, or
    a time that the line talks about.
    """
    return abs(prefix - own) <= (timedelta(hours=36) if has_zone else timedelta(minutes=14))
