"""What a plain log's lines tell before any is kept: what its times leave out, and which lines have none that can be read.

A stack trace goes on with the event above it. A log line of another writer does not: its time would be another event's.
"""

import contextlib
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from forensics.printable import printable
from forensics.sentence import said
from ingest import file_bytes
from ingest.file_bytes import FileDamagedError, FileTooLargeError
from ingest.file_events import MOST_LINE_CHARS
from ingest.file_forms import FoundFile
from ingest.line_times import NEAR_START_CHARS, goes_on, of_container, own_time, said_in, slashed_in
from ingest.time_forms import Prefix, Slashed, TimeHints, begins_line, syslog_prefix

_ANY_DAY = TimeHints(is_day_first=False)
_LEAP_YEAR = 2024
"""It has every day that a year can have."""
_COLOUR = re.compile(r"\x1b\[[\d;]{0,20}m")
_CLOCK = re.compile(r"(?<!\d)(?<!\d\.)\d{1,2}:\d\d:\d\d(?![\d:])")
_EPOCH = re.compile(r"[\[(]?1[4-9]\d{8}(?:\d{3}|\.\d{1,9})[\])]?[\s|,:]")
_GOES_ON = re.compile(
    r"""(?x)
    [\s}\])>|+*\#<"'~^=@/\\.:-]                                 # set in, closing, a list, a table, quoted
    | (?:at|from|Caused\ by|Suppressed|During|The\ above|Traceback|File|goroutine|created\ by|panic|exit\ status|End\ of)\b
    | [\w.$:\\]*(?:Exception|Error|Throwable|Failure)\b
    | [\w./*()$-]{1,200}\(.*\)$                                 # a call, as Go's traces have them
    | (?![A-Z]{4,8}:)[\w .-]{1,30}[:=](?:\s|$)                                 # a field of its own
    | [\[{(]?$ | \[(?:stacktrace|previous\ exception)\]
    """
)
_LEVEL = re.compile(r"(?:\[?(?:INFO|DEBUG|NOTICE|WARN|WARNING|ERROR|info|debug)\]?|level=\w+)[\s:|]|\{")
_UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE)
_LOOKED_AT_CHARS = 4096
_LEAST_ALIKE = 2
"""A single line may be of a report or of an error's text; two that begin alike are of a log."""
_LEAST_NAMING = 3
"""So many further lines of one event that say something of a message each are no part of it."""
_SHOWN_CHARS = 72
_WITH_TIMES = (
    "Save the log with a time on each line, as `docker logs -t` and `kubectl logs --timestamps` do, "
    "or take those lines out of it."
)


@dataclass(frozen=True)
class Surveyed:
    """What the lines of a file tell. ``unclear`` are a sentence and a hint: nothing of the file may be imported as it is.

    ``lacks_zone``: some time says no zone. ``notes`` are for the report.
    """

    hints: TimeHints = TimeHints()
    lacks_zone: bool = False
    unclear: tuple[str, str] | None = None
    notes: tuple[str, ...] = ()


def survey(found: FoundFile, now: datetime) -> Surveyed:
    """Look through a plain log once and keep nothing of it; what stands behind damage is not looked at."""
    lines = _Lines()
    with contextlib.suppress(FileDamagedError, FileTooLargeError):
        file_bytes.check_size(found.path)
        content = file_bytes.texts(file_bytes.pieces(found.path))
        for number, line in enumerate(file_bytes.lines(content, MOST_LINE_CHARS), 1):
            lines.look_at(number, of_container(line)[1])
    lines.end_event()
    own = min(datetime.fromtimestamp(found.path.stat().st_mtime, UTC), now).replace(tzinfo=None, microsecond=0)
    hints = TimeHints(lines.is_day_first, lines.near, own + timedelta(days=1))
    unclear = lines.unclear(repr(found.name))
    return Surveyed(hints, lines.lacks_zone, unclear, tuple(lines.notes(hints)))


@dataclass
class _Event:
    """An event that begins in a line: its further lines that are no part of a trace, and those that name a message."""

    number: int
    further_count: int = 0
    naming: list[tuple[int, str]] = field(default_factory=list)


@dataclass
class _Lines:
    """What the lines up to now told."""

    near: datetime | None = None
    lacks_zone: bool = False
    orders: set[bool] = field(default_factory=set)
    line_count: int = 0
    further_count: int = 0
    _event: _Event | None = None
    _longest: _Event | None = None
    _naming_count: int = 0
    _first_naming: tuple[int, str] | None = None
    _taken_count: int = 0
    _first_taken: tuple[int, str] | None = None
    _unclear_day: tuple[int, str] | None = None
    _yearless: dict[str, Prefix] = field(default_factory=dict)
    _shapes: Counter[str] = field(default_factory=Counter)
    _first_of_shape: dict[str, tuple[int, str]] = field(default_factory=dict)

    @property
    def is_day_first(self) -> bool | None:
        """Tell the order that days and months between slashes have, where those that can be only one thing agree."""
        return next(iter(self.orders)) if len(self.orders) == 1 else None

    def look_at(self, number: int, line: str) -> None:
        """Look at the next line."""
        if not line.strip():
            return
        self.line_count += 1
        if goes_on(line):
            return
        if self._has_time(number, line):
            self.end_event()
            self._event = _Event(number)
            return
        line = _COLOUR.sub("", line[:_LOOKED_AT_CHARS])
        if shape := _unread_time(line):
            self._shapes[shape] += 1
            self._first_of_shape.setdefault(shape, (number, line))
        elif self._event is not None and not _GOES_ON.match(line):
            self._event.further_count += 1
            if _UUID.search(line) and (_LEVEL.match(line) or len(line.split()) > 3):
                self._event.naming.append((number, line))

    def end_event(self) -> None:
        """Sum up the event whose last line was looked at."""
        event, self._event = self._event, None
        if event is None:
            return
        self.further_count += event.further_count
        if self._longest is None or event.further_count > self._longest.further_count:
            self._longest = event
        if len(event.naming) >= _LEAST_NAMING:
            self._naming_count += len(event.naming)
            self._first_naming = self._first_naming or event.naming[0]
        elif event.naming:
            self._taken_count += len(event.naming)
            self._first_taken = self._first_taken or event.naming[0]
        event.naming = []

    def _has_time(self, number: int, line: str) -> bool:
        if prefix := syslog_prefix(line):
            behind = line[prefix.end :]
            if own := own_time(prefix, behind, _ANY_DAY):
                self._note(number, behind, own.moment.replace(tzinfo=None), own.has_zone)
                return True
            if prefix.in_year(_LEAP_YEAR) is None:
                return False
            if prefix.year is not None:
                self.near = self.near or prefix.placed(_ANY_DAY)
                return self.near is not None
            self.lacks_zone = True
            self._yearless.setdefault("first", prefix)
            self._yearless["last"] = prefix
            return True
        found = said_in(line, _ANY_DAY)
        if found is None:
            return False
        self._note(number, line, found.moment.replace(tzinfo=None), found.has_zone)
        return True

    def _note(self, number: int, line: str, moment: datetime, has_zone: bool) -> None:
        self.lacks_zone |= not has_zone
        date: Slashed | None = slashed_in(line)
        if date is None or date.is_day_first is not None:
            self.near = self.near or moment
        if date is None:
            return
        if date.is_day_first is not None:
            self.orders.add(date.is_day_first)
        elif date.parts(TimeHints()) is None and self._unclear_day is None:
            self._unclear_day = (number, line)

    def unclear(self, file: str) -> tuple[str, str] | None:
        """Say why the lines cannot be told apart or placed in time; None if they can."""
        if self._unclear_day and self.is_day_first is None:
            number, line = self._unclear_day
            return (
                said(
                    "line {number} of {file} does not tell the day from the month, and no other line does: {line}",
                    number=number,
                    file=file,
                    line=_shown(line),
                ),
                "Import it with a line whose day is above 12, or write its dates year first: 2026-11-05.",
            )
        shape, count = self._shapes.most_common(1)[0] if self._shapes else ("", 0)
        if count >= _LEAST_ALIKE:
            number, line = self._first_of_shape[shape]
            return (
                said(
                    "{count} lines of {file} begin with a time in a form that is not known, so that nothing tells when they "
                    "were written; the first is line {number}: {line}",
                    count=count,
                    file=file,
                    number=number,
                    line=_shown(line),
                ),
                _WITH_TIMES,
            )
        if self._first_naming:
            number, line = self._first_naming
            return (
                said(
                    "{count} lines of {file} name messages but no time, and would get the time of an event above them; "
                    "the first is line {number}: {line}",
                    count=self._naming_count,
                    file=file,
                    number=number,
                    line=_shown(line),
                ),
                _WITH_TIMES,
            )
        return None

    def notes(self, hints: TimeHints) -> list[str]:
        """Say what was made of lines that do not say their time in full."""
        made = []
        if self._yearless and hints.near is None:
            moments = [prefix.placed(hints) for prefix in self._yearless.values()]
            years = sorted({moment.year for moment in moments if moment})
            made.append(
                said(
                    "its times name no year: by the time the file was last written they are of {years}",
                    years=", ".join(map(str, years)),
                )
            )
        for number, line in self._first_of_shape.values():
            made.append(
                said(
                    "line {number} may begin with a time in a form that is not known; it was read as a further line of the "
                    "event above it: {line}",
                    number=number,
                    line=_shown(line),
                )
            )
        if self._first_taken and self._taken_count >= _LEAST_NAMING:
            number, line = self._first_taken
            made.append(
                said(
                    "{count} lines that name messages have no time and were read as further lines of the events above them; "
                    "the first is line {number}: {line}",
                    count=self._taken_count,
                    number=number,
                    line=_shown(line),
                )
            )
        if self._longest and self.further_count >= _LEAST_ALIKE and 2 * self.further_count > self.line_count:
            made.append(
                said(
                    "{count} of {total} lines have no time and were read as further lines of the event above them, "
                    "{most} of them of the event in line {number}",
                    count=self.further_count,
                    total=self.line_count,
                    most=self._longest.further_count,
                    number=self._longest.number,
                )
            )
        return made


def _unread_time(line: str) -> str | None:
    """Return the form of what stands before a line's text, where that is a time which is not read; None for any other line.

    >>> _unread_time("20.11.2026 05:01:07 [main] took"), _unread_time("timed out after 05:01:07 of waiting")
    ('0.0.0 0:0:0', None)
    """
    if _EPOCH.match(line):
        return "0"
    found = _CLOCK.search(line, 0, NEAR_START_CHARS + 10)
    if found is None or found.start() > NEAR_START_CHARS:
        return None
    if not begins_line(line[: found.start()]):
        return None
    return re.sub(r"\d+", "0", line[: found.end()])


def _shown(line: str) -> str:
    text = printable(line.strip())
    return text if len(text) <= _SHOWN_CHARS else text[: _SHOWN_CHARS - 3] + "..."
