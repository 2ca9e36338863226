"""The evidence bundle on the page of reports."""

import pytest

from tests.pages.reading import words

pytestmark = pytest.mark.page


def test_the_bundle_is_made_on_demand_with_its_digest(visit):
    at = visit("pages/report.py", "demo")
    at.multiselect(key="redact").set_value(["cards"]).run()
    at.button(key="make_bundle").click().run()

    assert not at.exception
    assert "SHA-256 " in words(at)
