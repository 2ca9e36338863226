"""A line's own time, as its logger printed it: whoever ships the line twice gives it times and ids of his own, and leaves that one."""

from collections.abc import Iterable
from zlib import crc32

from forensics.parsers.grammar import Pattern

AHEAD = Pattern(
    "own_time_ahead",
    r"(?<![0-9])(?P<time>[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{3,9})?)",
)
"""Ahead of the text, after a date, a level or a thread."""
IN_FIELD = Pattern(
    "own_time_in_field",
    r"[\"'](?:@?timestamp|time|ts|t|asctime|datetime)[\"']\s{0,4}:\s{0,4}"
    r"(?P<time>[0-9]{10}(?:[0-9]{3,9}(?![0-9])|\.[0-9]{3,9})?|[\"'][0-9T: -]{8,20}(?:[.,][0-9]{3,9})?)",
)
"""In JSON, under the names that loggers give it: text, or seconds or parts of them since 1970."""

MOST_CHARS = 4_000
"""Further in, a line of JSON holds what it is about."""
MOST_AHEAD = 52
"""A time in text ends within so many characters; a word, a message id and a date do not fit in before it."""
_HALF = 32
_IN_SECONDS = 10
"""A number of so many digits is of whole seconds since 1970."""


def mark_of(line: str) -> int | None:
    """Return what a line that tells its own time is known by: 32 bits of that time, 32 of all its text; else None.

    A time in whole seconds, in which much may happen, counts as none.

    >>> mark_of("2026-01-05 12:00:00.123 processing m-1") == mark_of("2026-01-05 12:00:00.123 processing m-1")
    True
    >>> mark_of("processing m-1") is None
    True
    """
    pattern, until = (IN_FIELD, MOST_CHARS) if line.startswith("{") else (AHEAD, MOST_AHEAD)
    if (time := pattern.find(line.partition("\n")[0][:until], "time")) is None:
        return None
    is_exact = "." in time or "," in time or (time.isdigit() and len(time) > _IN_SECONDS)
    return (crc32(time.encode()) if is_exact else 0) << _HALF | crc32(line.strip().encode("utf-8", "surrogatepass"))


def times_in(marks: Iterable[int]) -> int:
    """Return how many own times some marks are of; those in whole seconds are one.

    >>> times_in({mark_of("12:00:00.123 begun") or 0, mark_of("12:00:00.124 done") or 0})
    2
    """
    return len({mark >> _HALF for mark in marks})
