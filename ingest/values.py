"""Values as AWS writes them, turned into ours; None for what cannot be read."""

from datetime import UTC, datetime, timedelta
from typing import Any

from forensics.clock import EPOCH

MOST_INT, MOST_LONG = 2**31 - 1, 2**53
"""The largest whole numbers that an ``int`` column takes, and that JSON carries exactly."""


def integer(value: Any, most: int = MOST_INT) -> int | None:
    """Read a whole number given as a number or a string; one beyond ``most`` is none.

    >>> integer("30"), integer(30.0), integer(None), integer("many"), integer("1e300")
    (30, 30, None, None, None)
    """
    try:
        found = None if value is None else int(float(value))
    except (TypeError, ValueError, OverflowError):
        return None
    return found if found is None or -most <= found <= most else None


def epoch_s(value: Any) -> datetime | None:
    """Read a time given in seconds since the epoch, to the second, UTC; emulators add fractions."""
    seconds = integer(value, MOST_LONG)
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def epoch_ms(value: int) -> datetime:
    """Return the UTC time of milliseconds since the epoch, exactly."""
    return EPOCH + timedelta(milliseconds=value)


def epoch_ms_or_none(value: Any) -> datetime | None:
    """Read a time given in milliseconds since the epoch, as a number or a string, UTC."""
    milliseconds = integer(value, MOST_LONG)
    try:
        return epoch_ms(milliseconds) if milliseconds else None
    except OverflowError:
        return None


def moment(value: Any) -> datetime | None:
    """Read a time given as a datetime, ISO 8601 (``2026-11-20T05:12:00.000+0000``) or epoch seconds, UTC."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return epoch_s(value)
        value = value if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, datetime):
        try:
            return value.astimezone(UTC)
        except OverflowError:  # the first or last day there is
            return None
    return epoch_s(value)
