"""Times of a zone, as charts write them."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pandas as pd

from forensics.clock import moment
from forensics.language import Language


def day_format(say: Language) -> str:
    """Return how an axis writes a day: with the month's name in English, with numbers elsewhere."""
    return "%d %b" if say.code == "en" else "%m/%d"


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
    return f"{moment(int(us)).astimezone(zone):%H:%M:%S.%f}"[:-3]
