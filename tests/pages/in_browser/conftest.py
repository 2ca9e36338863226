"""One Chromium, one server and one person's browser for every test of pages that needs them: starting them takes most of it."""

import pytest

from tests.pages.browser import chromium_or_skip, dashboard


@pytest.fixture(scope="package")
def chromium():
    with chromium_or_skip() as browser:
        yield browser


@pytest.fixture(scope="package")
def server(lake_of, tmp_path_factory):
    """Serve the demo lake; nobody has opened a page yet."""
    with dashboard(lake_of("demo"), tmp_path_factory.mktemp("server") / "log.txt") as base:
        yield base


@pytest.fixture(scope="package")
def person(chromium):
    """One person's browser, whose tabs share what the server has sent."""
    return chromium.new_context(viewport={"width": 1360, "height": 900})
