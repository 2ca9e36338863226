"""Times as whole microseconds since 1970, UTC, and back: what the lake's files hold, and what judging counts in; and zones."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
"""As English loggers and people write them."""
ZONE_HINT = "Use an IANA name like Europe/Berlin or Asia/Tokyo."


def micros(at: datetime) -> int:
    """Return whole microseconds since 1970, UTC, of a time that knows its zone.

    >>> micros(datetime(1970, 1, 1, 0, 0, 1, 5, tzinfo=UTC))
    1000005
    """
    return (at - EPOCH) // _MICROSECOND


def moment(at: int) -> datetime:
    """Return the UTC time of whole microseconds since 1970.

    >>> moment(1_000_005).isoformat()
    '1970-01-01T00:00:01.000005+00:00'
    """
    return EPOCH + timedelta(microseconds=at)


def zone_of(name: str | None) -> ZoneInfo | None:
    """Return the zone of an IANA name, or None if there is none of that name.

    >>> zone_of("Asia/Tokyo"), zone_of("Tokyo"), zone_of("../etc/passwd"), zone_of(None)
    (zoneinfo.ZoneInfo(key='Asia/Tokyo'), None, None, None)
    """
    try:
        return ZoneInfo(name) if name else None
    except (KeyError, ValueError, OSError):
        return None
