"""The redrive plan on the page of the queues' health."""

import pytest

from tests.forensics.redrive.test_plan import SAFE, again, saved
from tests.pages import health_tale
from tests.pages.reading import words
from tests.pages.worlds import Story

pytestmark = pytest.mark.page


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    weeks = Story()
    health_tale.weekly(weeks)
    health = {name: rows for name, rows in weeks.findings.items() if name in ("queue_health", "queue_weeks")}
    return again(saved(tmp_path_factory.mktemp("redrive") / "lake", lambda found: found.update(health))).root


def test_dead_letters_stand_in_group_order_with_what_became_of_them(visit, lake):
    at = visit("pages/queue_health.py", lake)
    rows = next(d.value for d in at.dataframe if "By now" in d.value)

    assert not at.exception
    assert list(rows["Redriving"].map(list)) == [["does the work again"], ["may do it again"], ["safe"]]
    assert list(rows["Script"])[-1] == "in"
    assert list(rows["Message"])[-1] == SAFE
    assert "Doubletake itself sends nothing." in words(at)
