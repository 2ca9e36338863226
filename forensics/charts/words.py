"""Durations and times as people write them."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pandas as pd

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def duration(us: int) -> str:
    """Say a duration in microseconds with the two units that matter.

    >>> [duration(n) for n in (1_500, 812_000, 5_030_000, 41_000_000, 566_000_000, 600_000_000, 7_320_000_000)]
    ['1.5 ms', '812 ms', '5.03 s', '41 s', '9 min 26 s', '10 min', '2 h 2 min']
    """
    if us < 1_000_000:
        return f"{round(us / 1000, 1):g} ms"
    if us < 60_000_000:
        return f"{round(us / 1_000_000, 2):g} s"
    seconds = round(us / 1_000_000)
    for size, big, small_size, small in ((86_400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if seconds >= size:
            rest = seconds % size // small_size
            return f"{seconds // size} {big}" + (f" {rest} {small}" if rest else "")
    return f"{seconds} s"


def zone_label(zone: ZoneInfo, at: datetime) -> str:
    """Name a zone with its offset at that moment: ``Asia/Tokyo, UTC+09:00``; UTC is just ``UTC``."""
    name = str(zone)
    if name == "UTC":
        return "UTC"
    offset = at.astimezone(zone).strftime("%z")
    return f"{name}, UTC{offset[:3]}:{offset[3:5]}"


def local(us: pd.Series, zone: ZoneInfo) -> pd.Series:
    """Turn microseconds since 1970 UTC into wall-clock times of the zone, without a zone: what a chart axis wants."""
    return pd.to_datetime(us, unit="us", utc=True).dt.tz_convert(zone).dt.tz_localize(None)


def clock(us: int, zone: ZoneInfo) -> str:
    """Write a moment as ``05:12:00.200`` of the zone."""
    # Plain datetimes: a chart says thousands of moments, and pandas takes 40 times as long for one.
    return f"{(_EPOCH + timedelta(microseconds=int(us))).astimezone(zone):%H:%M:%S.%f}"[:-3]
