"""ISO weeks: Monday to Sunday, named by the year that their Thursday is in."""

import re
from datetime import date, timedelta

from forensics.clock import MONTHS
from forensics.errors import ForensicsError
from forensics.sentence import said

_WEEK = re.compile(r"(\d{4})-W(\d{2})")


class WeekUnknownError(ForensicsError):
    """No such ISO week, or nothing was read for it."""


def week_bounds(week: str) -> tuple[date, date]:
    """Return a week's Monday and Sunday; raises WeekUnknownError for what is no ISO week.

    >>> [d.isoformat() for d in week_bounds("2026-W47")]
    ['2026-11-16', '2026-11-22']
    """
    try:
        found = _WEEK.fullmatch(week)
        if found is None:
            raise ValueError(week)
        monday = date.fromisocalendar(int(found[1]), int(found[2]), 1)
        return monday, monday + timedelta(days=6)
    except (ValueError, OverflowError) as problem:
        raise WeekUnknownError(
            said("{week} is not an ISO week", week=repr(week)), "Write it like 2026-W47."
        ) from problem


def week_of(day: date) -> str:
    """Name the ISO week of a day.

    >>> week_of(date(2027, 1, 3)), week_of(date(2026, 11, 21))
    ('2026-W53', '2026-W47')
    """
    year, number, _ = day.isocalendar()
    return f"{year}-W{number:02d}"


def weeks_before(week: str, count: int) -> tuple[str, ...]:
    """Return the ``count`` weeks that end with this one, oldest first.

    >>> weeks_before("2027-W01", 3)
    ('2026-W52', '2026-W53', '2027-W01')
    """
    monday, _ = week_bounds(week)
    return tuple(week_of(monday - timedelta(weeks=n)) for n in reversed(range(count)))


def week_title(week: str) -> str:
    """Write a week as dates.

    >>> week_title("2026-W47"), week_title("2026-W49"), week_title("2026-W53")
    ('16 to 22 Nov 2026', '30 Nov to 6 Dec 2026', '28 Dec 2026 to 3 Jan 2027')
    """
    first, last = week_bounds(week)
    if first.year != last.year:
        return f"{_day(first)} {first.year} to {_day(last)} {last.year}"
    start = str(first.day) if first.month == last.month else _day(first)
    return f"{start} to {_day(last)} {last.year}"


def _day(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1]}"
