"""Values as AWS writes them, turned into ours; None for what cannot be read."""

from datetime import UTC, datetime, timedelta
from typing import Any

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def integer(value: Any) -> int | None:
    """Read a whole number given as a number or a string.

    >>> integer("30"), integer(30.0), integer(None), integer("many")
    (30, 30, None, None)
    """
    try:
        return None if value is None else int(float(value))
    except (TypeError, ValueError, OverflowError):
        return None


def epoch_s(value: Any) -> datetime | None:
    """Read a time given in seconds since the epoch, to the second, UTC; emulators add fractions."""
    seconds = integer(value)
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def epoch_ms(value: int) -> datetime:
    """Return the UTC time of milliseconds since the epoch, exactly."""
    return _EPOCH + timedelta(milliseconds=value)


def moment(value: Any) -> datetime | None:
    """Read a time given as a datetime, ISO 8601 (``2026-11-20T05:12:00.000+0000``) or epoch seconds, UTC."""
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            return epoch_s(value)
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    return epoch_s(value)
