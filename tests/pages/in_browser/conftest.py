"""One Chromium, one server and one person's browser for every test of pages that needs them: starting them takes most of it."""

import pytest

from tests.pages.browser import Phone, chromium_or_skip, dashboard


def pytest_collection_modifyitems(items):
    """Ask all that is asked of a page while it is open, in one theme after the other; keys come last, which leave a cell open.

    Other languages come after all pages.
    """
    asked = [(place, item) for place, item in enumerate(items) if item.nodeid.startswith(_ASKS)]
    for (place, _), item in zip(asked, sorted((item for _, item in asked), key=_turn), strict=True):
        items[place] = item


_ASKS = "tests/pages/in_browser/test_accessibility.py::"


def _turn(item):
    from tests.pages.in_browser.test_accessibility import BEHIND, OF_THE_BROWSER, PAGES

    said = item.callspec.params if hasattr(item, "callspec") else {}
    is_translated = said.get("code", OF_THE_BROWSER) != OF_THE_BROWSER
    theme = said.get("theme", "light" if "code" in said else None)
    return is_translated, [*PAGES, None].index(said.get("name")), [*BEHIND, None].index(theme)


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
    """One person's browser, whose tabs share what the server has sent; nothing moves there, for every frame is drawn by a processor."""
    return chromium.new_context(viewport={"width": 1360, "height": 900}, reduced_motion="reduce")


@pytest.fixture(scope="package")
def phone(person):
    """The same person's phone."""
    return Phone(person)
