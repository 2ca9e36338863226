from datetime import UTC, datetime, timedelta

import pytest

from forensics.report.settings_then import in_force

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def seen(*hours):
    return [{"observed_at": NOON + timedelta(hours=h), "evidence_id": f"queue:{h}"} for h in hours]


CASES = {
    "the next observation speaks for the moment": ((-2, 1, 3), 1),
    "an observation at the moment itself": ((-2, 0, 3), 0),
    "only earlier ones: the last": ((-5, -2), -2),
    "none": ((), None),
}


@pytest.mark.parametrize(("hours", "expected"), CASES.values(), ids=CASES)
def test_the_state_in_force_at_noon(hours, expected):
    state = in_force(seen(*hours), NOON)

    assert state == (None if expected is None else seen(expected)[0])
