"""How times, spans and counts read, the same in every report and on the command line."""

from datetime import UTC, datetime


def time_text(at: datetime | None) -> str | None:
    """Write a moment as ISO 8601 UTC with Z, in milliseconds; finer only where the value is finer.

    >>> time_text(datetime(2026, 11, 20, 5, 12, 0, 200000, tzinfo=UTC))
    '2026-11-20T05:12:00.200Z'
    """
    if at is None:
        return None
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    fine = "microseconds" if at.microsecond % 1000 else "milliseconds"
    return at.isoformat(timespec=fine).replace("+00:00", "Z")


def clock_text(at: datetime | None) -> str:
    """Write a moment for people, to the millisecond: ``2026-11-20 05:12:00.200``; UTC is said around it."""
    if at is None:
        return "unknown"
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return at.strftime("%Y-%m-%d %H:%M:%S.") + f"{at.microsecond // 1000:03d}"


def span_text(span_ms: float | None) -> str:
    """Write a span in the two units that matter.

    >>> [span_text(n) for n in (None, 250, 6100, 30000, 600_200, 7_260_000, 200_000_000)]
    ['unknown', '250 ms', '6.1 s', '30 s', '10 min 0.2 s', '2 h 1 min', '2 d 7 h']
    """
    if span_ms is None:
        return "unknown"
    if span_ms < 0:
        return f"-{span_text(-span_ms)}"
    if span_ms < 1000:
        return f"{span_ms:.0f} ms"
    if span_ms < 60_000:
        return f"{_tenths(span_ms)} s"
    seconds = int(span_ms // 1000)
    if seconds < 3600:
        rest = _tenths(span_ms % 60_000)
        return f"{seconds // 60} min" + ("" if rest == "0" else f" {rest} s")
    if seconds < 48 * 3600:
        return f"{seconds // 3600} h {seconds % 3600 // 60} min"
    return f"{seconds // 86400} d {seconds % 86400 // 3600} h"


def _tenths(span_ms: float) -> str:
    """Write seconds with one decimal, cut and not rounded: 59.99 s is not yet a minute."""
    return f"{span_ms // 100 / 10:.1f}".removesuffix(".0")


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
    return f"{count:,} {one if count == 1 else many or one + 's'}"


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
        return f"{at_least} or more"
    return str(at_least) if at_least == at_most else f"{at_least} to {at_most}"
