"""One Chromium, one server and one person's browser for every test of pages that needs them: starting them takes most of it."""

import os

import pytest
from playwright.sync_api import sync_playwright

from tests.pages.browser import FLAGS, NoBrowserError, browser_path, dashboard


@pytest.fixture(scope="package")
def chromium():
    """One Chromium; without one CI fails, and a person's machine skips."""
    try:
        path = browser_path()
    except NoBrowserError as problem:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(problem))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def server(lake_of, tmp_path_factory):
    """Serve the demo lake; nobody has opened a page yet."""
    with dashboard(lake_of("demo"), tmp_path_factory.mktemp("server") / "log.txt") as base:
        yield base


@pytest.fixture(scope="package")
def person(chromium):
    """One person's browser, whose tabs share what the server has sent."""
    return chromium.new_context(viewport={"width": 1360, "height": 900})
