"""The balance on the page of the queues' health."""

import pytest

from forensics.health import week_bounds
from tests.forensics.redrive.test_plan import again, saved
from tests.pages import health_tale
from tests.pages.reading import words
from tests.pages.worlds import Story

pytestmark = pytest.mark.page


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    weeks = Story()
    health_tale.weekly(weeks)
    health = {name: rows for name, rows in weeks.findings.items() if name in ("queue_health", "queue_weeks")}
    for row in health["queue_health"]:
        row |= {
            "sent_count": 50,
            "deleted_count": 20,
            "waiting_start_count": 0,
            "waiting_end_count": 0,
            "metrics_read_s": 86_400,
        }
    return again(saved(tmp_path_factory.mktemp("balance") / "lake", lambda found: found.update(health))).root


def test_days_that_do_not_balance_are_said_above_the_table(visit, lake):
    at = visit("pages/queue_health.py", lake)
    rows = next(d.value for d in at.dataframe if "Unexplained" in d.value)

    assert not at.exception
    assert "messages left the queue in a way that nothing shows" in words(at)
    assert len(rows) > 1


@pytest.mark.parametrize("week", ["2026-W46", "2026-W47"])
def test_the_days_are_those_of_the_week_that_is_shown(visit, lake, week):
    at = visit("pages/queue_health.py", lake, week=week)
    rows = next(d.value for d in at.dataframe if "Unexplained" in d.value)
    first, last = (day.isoformat() for day in week_bounds(week))
    told = [w.value for w in at.warning if "in a way that nothing shows" in w.value]

    assert list(rows["Day"]) == sorted(rows["Day"], reverse=True)
    assert (rows["Day"].min(), rows["Day"].max()) == (first, last)
    assert len(told) == 3
    assert all(first[:8] in text.replace("\\", "") for text in told)
