"""When a line of a plain log was written: the date near its start, or the time field of a JSON line. To the millisecond."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

from forensics.clock import EPOCH
from ingest.time_forms import Parts, Prefix, Slashed, TimeHints, is_same_line, slashed, syslog_prefix, with_named_month

NEAR_START_CHARS = 48
"""A date further in is something the line talks about."""

_DATE = re.compile(
    r"""(?x)
    (?P<year>\d{4})[-/](?P<month>\d\d)[-/](?P<day>\d\d)
    [T\ _]\ ?
    (?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)
    (?:[.,](?P<fraction>\d{1,9}))?
    \ ?(?P<zone>Z\b|UTC\b|GMT\b|[+-]\d\d:?\d\d(?!\d))?
    """
)
TIME_FIELDS = (
    "@timestamp",
    "timestamp",
    "time",
    "ts",
    "@t",
    "datetime",
    "asctime",
    "date",
    "Timestamp",
    "Time",
    "eventTime",
)
"""Fields of a JSON line that say when it was written."""
_JSON_TIME = re.compile(
    r'"(?:' + "|".join(TIME_FIELDS) + r')"\s{0,4}:\s{0,4}'
    r'(?:"(?P<text>[^"\\]{10,40})"|(?P<number>\d{10,19}(?:\.\d{1,9})?)(?=\s{0,4}[,}]))'
)
_INDENTED = re.compile(r" {1,4}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d ")
"""Laravel's worker sets its lines in by two blanks; what else is set in goes on with the event above."""
_NANOSECONDS = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}(?:Z|[+-]\d\d:\d\d) (?:std(?:out|err) [FP] )?")
_CONTAINER = re.compile(
    r"""(?x)
    \[pod/(?P<pod>[\w.-]+)/[\w.-]+\]                                                  # kubectl logs --prefix
    | (?P<replica>[a-z0-9][a-z0-9.-]*-[a-z0-9]{8,10}-[a-z0-9]{5})\ [a-z0-9][a-z0-9-]*(?=\ )   # stern
    | (?P<service>[A-Za-z][\w.-]*[_-]\d{1,4})\ *\|                                       # docker compose logs
    | (?P<named>[a-z0-9][\w.-]*)\ *\|(?=\ ?\{)                                           # so, a container with a name of its own
    """
)
_LEAST_DATE_CHARS = 18
"""A date that is not year first is no shorter, time and all: none stands before one that starts earlier."""
_MS_OF_SCALE = ((1e17, 1e-6), (1e14, 1e-3), (1e11, 1.0), (0.0, 1e3))
_FOLDED = timedelta(hours=3)
_SECOND = timedelta(seconds=1)


@dataclass
class LineClock:
    """Reads times off lines of one file, in their order. ``zone`` holds where a line names no zone; None: unknown.

    ``hints`` are for times that leave out the year, or do not tell the day from the month. In the hour that a clock shows
    twice, the earlier reading is taken until it would let the file's time go back.
    """

    zone: ZoneInfo | None = None
    hints: TimeHints = TimeHints()
    _latest: datetime | None = None
    _last_ms: int = 0

    def read_ms(self, line: str) -> int | None:
        """Return milliseconds since the epoch, or None for a line that does not begin an event.

        Raises ZoneUnknownError if the line has a time whose zone nothing says, DayUnclearError if its day may be its month.

        >>> LineClock().read_ms("[2026-11-20 05:12:00.250+01:00] worker started")
        1795147920250
        >>> LineClock().read_ms("    at Worker.run(worker.js:12:3)") is None
        True
        """
        if goes_on(line):
            return None
        prefix = syslog_prefix(line)
        found = own_time(prefix, line[prefix.end :], self.hints) if prefix else said_in(line, self.hints)
        is_of_prefix = prefix is not None and found is None
        if prefix and found is None:
            found = self._of_prefix(prefix)
        if found is None:
            return None
        moment, fraction_ms, has_zone = found
        if not has_zone:
            moment = self._placed(moment)
        if self._latest is None or moment > self._latest:
            self._latest = moment
        stamp_ms = (moment - EPOCH) // _SECOND * 1000 + fraction_ms
        if is_of_prefix and not fraction_ms and 0 < self._last_ms - stamp_ms < 1000:
            return self._last_ms  # the line above it says that second more exactly
        self._last_ms = stamp_ms
        return stamp_ms

    def _of_prefix(self, prefix: Prefix) -> "SaidTime | None":
        if prefix.zone is None and self.zone is None:
            raise ZoneUnknownError
        moment = prefix.placed(self.hints)
        if moment is not None and prefix.zone is not None:
            moment = _in_utc(moment, prefix.zone)
        return None if moment is None else SaidTime(moment, _ms_of(prefix.fraction), prefix.zone is not None)

    def _placed(self, local: datetime) -> datetime:
        if self.zone is None:
            raise ZoneUnknownError
        first, second = (local.replace(tzinfo=self.zone, fold=fold).astimezone(UTC) for fold in (0, 1))
        went_back = self._latest is not None and first < self._latest - timedelta(minutes=5)
        return second if went_back and second - first <= _FOLDED and second > first else first


class TimeUnclearError(Exception):
    """The line has a time that does not say all, and nothing else does."""


class ZoneUnknownError(TimeUnclearError):
    """The line has a time, and nothing says in which zone."""


class DayUnclearError(TimeUnclearError):
    """The line has a date, and nothing says which number is the day and which the month."""


class SaidTime(NamedTuple):
    """A time as a line says it, to the second: UTC if it ``has_zone``, else of none."""

    moment: datetime
    fraction_ms: int
    has_zone: bool


def goes_on(line: str) -> bool:
    """Tell whether a line is set in, as a line of a trace is."""
    return line.startswith((" ", "\t")) and not _INDENTED.match(line)


def said_in(line: str, hints: TimeHints) -> SaidTime | None:
    """Return the time near the start of a line, or that of a JSON line; None for a line that says none.

    Raises DayUnclearError.
    """
    if line.startswith("{"):
        found = _JSON_TIME.search(line)
        if found is None:
            return None
        if number := found["number"]:
            stamp_ms = epoch_ms(float(number))
            return SaidTime(EPOCH + stamp_ms // 1000 * _SECOND, stamp_ms % 1000, True)
        date = _DATE.match(found["text"])
    else:
        date = _DATE.search(line, 0, NEAR_START_CHARS + 40)
        if date and date.start() > NEAR_START_CHARS:
            date = None
        if (date is None or date.start() > _LEAST_DATE_CHARS) and (
            other := _otherwise_said(line, date.start() if date else NEAR_START_CHARS + 1, hints)
        ):
            moment = _moment(*other.texts, other.zone)
            return None if moment is None else SaidTime(moment, _ms_of(other.fraction), other.zone is not None)
    if date is None:
        return None
    *parts, fraction, zone = date.groups()
    moment = _moment(*parts, zone)
    return None if moment is None else SaidTime(moment, _ms_of(fraction), zone is not None)


def own_time(prefix: Prefix, line: str, hints: TimeHints) -> SaidTime | None:
    """Return the time that a line says itself behind what syslog put before it, which is more exact; None where it says none."""
    own = None if goes_on(line) else said_in(line, hints)
    if own is None or (prefix.zone is not None and not own.has_zone):
        return None
    bare = own.moment.replace(tzinfo=None)
    near = prefix.near(bare)
    return own if near is not None and is_same_line(near, bare, own.has_zone) else None


def slashed_in(line: str) -> Slashed | None:
    """Return the time between slashes near the start of a line; None where it says its time in another form, or none."""
    if line.startswith("{"):
        return None
    date = _DATE.search(line, 0, NEAR_START_CHARS + 40)
    return slashed(line, min(date.start(), NEAR_START_CHARS + 1) if date else NEAR_START_CHARS + 1)


def _otherwise_said(line: str, end: int, hints: TimeHints) -> Parts | None:
    """Return the time that stands before ``end`` in a form which is not year first."""
    if named := with_named_month(line, end):
        return named
    if (found := slashed(line, end)) is None:
        return None
    if (parts := found.parts(hints)) is None:
        raise DayUnclearError
    return parts


def _ms_of(fraction: str | None) -> int:
    return int(fraction[:3].ljust(3, "0")) if fraction else 0


def of_container(line: str) -> tuple[str | None, str]:
    """Return the container that a tool names before a line, where it prints several containers' lines together, and the line itself.

    >>> of_container('orders-worker-1  | {"ts":1795151520.25}'), of_container("INFO | 2026-11-20T05:12:00Z done")
    (('orders-worker-1', '{"ts":1795151520.25}'), (None, 'INFO | 2026-11-20T05:12:00Z done'))
    """
    found = _CONTAINER.match(line)
    if found is None:
        return None, line
    name = next(name for name in found.groups() if name is not None)
    return name, line[found.end() :].removeprefix(" ")


def without_driver_prefix(line: str) -> str:
    """Take away what a container runtime puts before each line: its own time in nanoseconds, stream and tag.

    >>> without_driver_prefix("2026-11-20T05:12:00.123456789Z stdout F [2026-11-20 05:12:00] local.INFO: done")
    '[2026-11-20 05:12:00] local.INFO: done'
    """
    found = _NANOSECONDS.match(line)
    return line[found.end() :] if found else line


@lru_cache(maxsize=256)  # lines of one second stand together
def _moment(
    year: str, month: str, day: str, hour: str, minute: str, second: str, zone: str | None = None
) -> datetime | None:
    """Return a time to the second: of no zone if none is named, else UTC; None if there is no such time."""
    try:
        moment = datetime.fromisoformat(f"{year}-{month}-{day}T{hour}:{minute}:{second}")
    except ValueError:
        return None
    return moment if zone is None else _in_utc(moment, zone)


def _in_utc(moment: datetime, zone: str) -> datetime:
    if zone in ("Z", "UTC", "GMT"):
        return moment.replace(tzinfo=UTC)
    digits = zone.replace(":", "")
    ahead = timedelta(hours=int(digits[1:3]), minutes=int(digits[3:5]))
    return (moment - ahead if zone[0] == "+" else moment + ahead).replace(tzinfo=UTC)


def epoch_ms(number: float) -> int:
    """Read epoch seconds, milliseconds, microseconds or nanoseconds, told apart by their size.

    >>> epoch_ms(1795147920), epoch_ms(1795147920250999999)
    (1795147920000, 1795147920250)
    """
    if isinstance(number, int) and number >= _MS_OF_SCALE[1][0]:
        return number // (1_000_000 if number >= _MS_OF_SCALE[0][0] else 1_000)
    return int(number * next(factor for least, factor in _MS_OF_SCALE if number >= least))
