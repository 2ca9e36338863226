"""Times as the pages write them."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from pages._ui.clock import Clock

pytestmark = pytest.mark.page

LATE = datetime(2026, 11, 20, 23, 30, tzinfo=UTC)
FITTING = {
    "one day": ("UTC", [LATE, LATE - timedelta(hours=9), None], "23:30:00.000"),
    "over midnight": ("UTC", [LATE, LATE + timedelta(hours=1)], "2026-11-20 23:30:00.000"),
    "over midnight, but not in this zone": ("Asia/Tokyo", [LATE, LATE + timedelta(hours=1)], "08:30:00.000"),
    "no time at all": ("UTC", [None], "23:30:00.000"),
}


@pytest.mark.parametrize(("zone", "times", "written"), FITTING.values(), ids=FITTING)
def test_times_of_several_days_are_written_with_their_dates(zone, times, written):
    write, width = Clock(ZoneInfo(zone)).fitting(times)

    assert write(LATE) == written
    assert width == (170 if len(written) > 12 else 92)


def test_a_moment_that_is_not_known_is_a_dash():
    clock = Clock(ZoneInfo("UTC"))

    assert (clock.day(None), clock.fitting([])[0](None), clock.day(LATE)) == ("–", "–", "20 Nov 23:30")
