"""How times, spans and counts read, the same in every report and on the command line."""

from datetime import UTC, datetime
from math import floor
from unicodedata import east_asian_width

from forensics.sentence import noun, said


def time_text(at: datetime | None) -> str | None:
    """Write a moment as ISO 8601 UTC with Z, in milliseconds; finer only where the value is finer.

    >>> time_text(datetime(2026, 11, 20, 5, 12, 0, 200000, tzinfo=UTC))
    '2026-11-20T05:12:00.200Z'
    """
    if at is None:
        return None
    if at.tzinfo is not UTC:
        at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    fine = "microseconds" if at.microsecond % 1000 else "milliseconds"
    return f"{at.isoformat(timespec=fine)[:-6]}Z"


def cells(text: str) -> int:
    """Return the columns that a text takes where letters are alike wide, of which an East Asian one takes two.

    >>> cells("10 min"), cells("10 分")
    (6, 5)
    """
    return sum(2 if east_asian_width(c) in "WF" else 1 for c in text)


def clock_text(at: datetime | None) -> str:
    """Write a moment for people, to the millisecond: ``2026-11-20 05:12:00.200``; UTC is said around it."""
    if at is None:
        return "unknown"
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return at.strftime("%Y-%m-%d %H:%M:%S.") + f"{at.microsecond // 1000:03d}"


def span_text(span_ms: float | None) -> str:
    """Write a span in the two units that matter.

    >>> [span_text(n) for n in (None, 1.5, 250, 5030, 30000, 600_200, 7_260_000, 200_000_000)]
    ['unknown', '1.5 ms', '250 ms', '5.03 s', '30 s', '10 min 0.2 s', '2 h 1 min', '2 d 7 h']
    """
    if span_ms is None:
        return "unknown"
    if span_ms < 0:
        return f"-{span_text(-span_ms)}"
    if span_ms < 1000:
        return f"{_cut(span_ms, 1)} ms"
    if span_ms < 60_000:
        return f"{_cut(span_ms / 1000, 2)} s"
    seconds = int(span_ms // 1000)
    if seconds < 3600:
        rest = _cut(span_ms % 60_000 / 1000, 1)
        return f"{seconds // 60} min" + ("" if rest == "0" else f" {rest} s")
    if seconds < 48 * 3600:
        return _two(seconds // 3600, "h", seconds % 3600 // 60, "min")
    return _two(seconds // 86400, "d", seconds % 86400 // 3600, "h")


def seconds_text(span_ms: float) -> str:
    """Write a span in seconds, to be held against a setting in seconds.

    It is cut as ``span_text`` cuts: one span reads the same wherever it is told.

    >>> seconds_text(600_060), seconds_text(30_000), seconds_text(9_445), span_text(9_445)
    ('600.06 s', '30 s', '9.44 s', '9.44 s')
    """
    return f"{_cut(span_ms / 1000, 2)} s"


def _two(big: int, big_unit: str, small: int, small_unit: str) -> str:
    return f"{big} {big_unit}" + (f" {small} {small_unit}" if small else "")


def _cut(value: float, decimals: int) -> str:
    """Write a number, cut and not rounded: 59.999 s is not yet a minute."""
    scale = 10**decimals
    return f"{floor(round(value * scale, 6)) / scale:.{decimals}f}".rstrip("0").rstrip(".")


def percent(share: float | None) -> str:
    """Write a share with one decimal; what is not nothing is never written as nothing, what is not whole never as whole.

    >>> [percent(n) for n in (0.041, 0.0, 0.0001, 0.99999, 1.0, None)]
    ['4.1 %', '0 %', '< 0.1 %', '99.9 %', '100 %', 'unknown']
    """
    if share is None:
        return "unknown"
    if share <= 0 or share >= 1:
        return "0 %" if share <= 0 else "100 %"
    return "< 0.1 %" if share < 0.0005 else f"{min(100 * share, 99.9):.1f} %"


def offset_text(offset_ms: float | None) -> str:
    """Write the distance from the incident's start: ``T+9 min 30 s``."""
    if offset_ms is None:
        return ""
    if offset_ms == 0:
        return "T+0"
    return f"T{'-' if offset_ms < 0 else '+'}{span_text(abs(offset_ms))}"


def count_text(count: int, one: str, many: str | None = None) -> str:
    """Write a count with its noun.

    >>> count_text(1, "message"), count_text(12000, "message"), count_text(2, "delivery", "deliveries")
    ('1 message', '12,000 messages', '2 deliveries')
    """
    return f"{count:,} {noun(count, one, many)}"


def ms_between(start: datetime | None, end: datetime | None) -> int | None:
    """Return whole milliseconds from start to end; None where either is unknown."""
    if start is None or end is None:
        return None
    return round((end - start).total_seconds() * 1000)


def interval_text(at_least: int, at_most: int | None) -> str:
    """Write how often the work was done.

    >>> interval_text(2, 2), interval_text(1, 2), interval_text(0, None)
    ('2', '1 to 2', '0 or more')
    """
    if at_most is None:
        return said("{count} or more", count=str(at_least))
    return str(at_least) if at_least == at_most else f"{at_least} to {at_most}"
