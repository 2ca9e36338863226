"""Every page under axe, in one browser: no serious violation in either theme; and what a phone shows first."""

import re
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from forensics.choices import LANGUAGES
from forensics.language import Language
from tests.pages.reading import PAGES as EVERY_PAGE
from tests.pages.worlds import DOUBLE_BILLING
from tests.waiting import PATIENCE_MS

pytestmark = pytest.mark.browser

PAGES = {
    "app": "/",
    "fault": "/fault",
    "incident": f"/incident?incident={DOUBLE_BILLING}",
    "messages": "/messages?q=pay_1043",
    "questions": "/questions",
    "messages, none found": "/messages?q=nobody_knows_this",
    "report": f"/report?incident={DOUBLE_BILLING}",
    "data": "/data",
    "queue_health": "/queue_health",
}
"""Tests of one page run one after the other (`conftest.py`): to draw it takes more than to ask. Between two addresses of one page
stands another: from there the next is reached without loading everything anew."""
OVER = "[data-testid=stApp][data-test-script-state=notRunning]"
OF_STREAMLIT = {
    "scrollable-region-focusable": ("<pre",),
    "svg-img-alt": ('class="mark-',),
}
"""What Streamlit's own widgets break, by rule.

Its code boxes have no tab index; browsers give one to what scrolls. Groups of marks in its line charts are called graphics,
and have no names of their own: the chart as a whole has one.
"""


BEHIND = {"light": "rgb(255, 255, 255)", "dark": "rgb(14, 17, 23)"}
"""Themes, as the system asks for them, and what then lies behind every page."""


@pytest.fixture(scope="module")
def phone_tab(phone):
    """The same on a phone of 390 px, where other widgets are drawn."""
    tab = phone.new_page()
    tab.set_default_timeout(PATIENCE_MS)
    yield tab
    tab.close()


@pytest.fixture(scope="module")
def tab(person):
    """One tab, which stays open: its page changes with the theme, and is loaded once for both."""
    tab = person.new_page()
    tab.set_default_timeout(PATIENCE_MS)
    yield tab
    tab.close()


LOOKED_AT: dict[Page, str] = {}
"""Per tab the address at which nothing was done since it was opened."""
GO = """address => {
  history.pushState({}, "", address)
  dispatchEvent(new PopStateEvent("popstate"))
}"""
"""Goes where the browser's Back and Forward lead: no script is loaded and compiled again."""
DRAWN = """() => {
  const drawn = {stPlotlyChart: ".main-svg", stVegaLiteChart: "canvas, svg", stDataFrame: "[role=grid]"}
  const isThere = ([id, inside]) => [...document.querySelectorAll(`[data-testid=${id}]`)]
    .every(part => part.querySelector(inside) || !part.checkVisibility())
  return !document.querySelector("[data-testid=stSkeleton]") && Object.entries(drawn).every(isThere)
}"""
"""Whether every part of a page that is open has come: charts and tables fill their places after the page."""


def goes(tab, address):
    """Go to another page: it empties the one before, and then has a title of its own."""
    before = tab.title()
    tab.evaluate(GO, address)
    tab.wait_for_function("before => document.title !== before", arg=before)


def is_there_from(one, other):
    """Tell whether one comes to an address as it is by going there: to another page, where no language stays that was chosen."""
    before, after = urlsplit(one), urlsplit(other)
    return before.path != after.path and ("lang=" in after.query or "lang=" not in before.query)


def opened(tab, address, theme="light"):
    """Show a page in a theme as it is before anything is done there."""
    tab.bring_to_front()  # one that lies behind another draws a frame a second, and whoever waits for it does
    tab.emulate_media(color_scheme=theme)
    untouched = LOOKED_AT.pop(tab, None)
    if untouched != address:
        goes(tab, address) if untouched and is_there_from(untouched, address) else tab.goto(address)
        tab.wait_for_selector("h1")
        tab.wait_for_selector(OVER)
        tab.wait_for_function(DRAWN)
    expect(tab.locator(".stApp")).to_have_css("background-color", BEHIND[theme], timeout=PATIENCE_MS)
    tab.wait_for_selector(OVER)
    tab.wait_for_function("() => document.getAnimations().every(fading => fading.playState !== 'running')")
    return tab


NOT_SERIOUS = """() => Object.fromEntries(axe._audit.rules
  .filter(rule => ["minor", "moderate"].includes(rule.impact)).map(rule => [rule.id, {enabled: false}]))"""
"""A third of axe's rules, whatever they find: asked they took a fifth of its time, and nobody looked at their answers."""


def serious(tab):
    """Let axe look, and tell each serious violation in a line: the rule, the element, and what axe says of it."""
    if not tab.evaluate("() => 'axe' in window"):
        tab.evaluate(Axe().axe_script)
    found = tab.evaluate(
        f"() => axe.run({{resultTypes: ['violations'], rules: ({NOT_SERIOUS})()}}).then(found => found.violations)"
    )
    return [
        f"{v['id']} {node['target']}: {node['html'][:160]} {node['failureSummary'][:300]}"
        for v in found
        if v["impact"] in ("serious", "critical")
        for node in v["nodes"]
        if not any(part in node["html"] + str(node["target"]) for part in OF_STREAMLIT.get(v["id"], ()))
    ]


@pytest.mark.parametrize("theme", BEHIND)
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_no_serious_violation(tab, server, name, theme):
    opened(tab, server + PAGES[name], theme)

    assert serious(tab) == []
    LOOKED_AT[tab] = server + PAGES[name]


@pytest.mark.parametrize("theme", BEHIND)
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_none_on_a_phone_either(phone_tab, server, name, theme):
    opened(phone_tab, server + PAGES[name], theme)

    assert serious(phone_tab) == []
    LOOKED_AT[phone_tab] = server + PAGES[name]


def test_every_page_is_looked_at():
    assert {path.rpartition("/")[2].removesuffix(".py") for path in EVERY_PAGE} <= set(PAGES)


@pytest.mark.parametrize("theme", BEHIND)
@pytest.mark.parametrize("name", ["queue_health"])
def test_axe_finds_none_in_the_window_of_evidence_either(tab, server, name, theme):
    opened(tab, server + PAGES[name], theme)
    tab.locator("[class*=st-key-evidence-] button").first.click()
    tab.get_by_role("dialog").wait_for()

    assert serious(tab) == []
    tab.keyboard.press("Escape")
    tab.get_by_role("dialog").wait_for(state="detached")
    LOOKED_AT[tab] = server + PAGES[name]  # closed, it leaves the page as it was


CUT = """all => all.filter(one => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== "visible")
    .map(one => one.innerText)"""
OF_CARDS_AND_LINKS = "[data-testid=stMetric] *, [data-testid=stMain] [data-testid=stPageLink-NavLink] *"


OF_THE_BROWSER = "en"
"""The language in which a page comes where its address names none."""
TITLES = {"app": "Incidents", "incident": "Incident", "queue_health": "Queue health"}


@pytest.mark.parametrize("name", TITLES)
@pytest.mark.parametrize("code", LANGUAGES)
def test_no_card_and_no_link_is_cut_off(tab, phone_tab, server, name, code):
    address = server + PAGES[name]
    if code != OF_THE_BROWSER:
        address += f"{'&' if '?' in address else '?'}lang={code}"
    for on in (tab, phone_tab):
        opened(on, address)

        assert f"{Language(code)(TITLES[name])} · " in on.title()
        assert on.eval_on_selector_all(OF_CARDS_AND_LINKS, CUT) == []
        LOOKED_AT[on] = address


def luminance(colour):
    """Return the relative luminance of an rgb() colour, as WCAG defines it."""
    parts = [int(n) / 255 for n in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", BEHIND)
@pytest.mark.parametrize("name", ["incident"])
def test_a_chart_s_words_stand_off_the_page(tab, server, name, theme):
    opened(tab, server + PAGES[name], theme)
    tab.wait_for_selector(".js-plotly-plot .ytick text", state="attached")
    fills = tab.evaluate(
        "() => [...document.querySelectorAll('.js-plotly-plot .ytick text, .js-plotly-plot .annotation text')]"
        ".map(text => getComputedStyle(text).fill)"
    )

    assert fills
    assert min(contrast(fill, BEHIND[theme]) for fill in fills) > 7
    LOOKED_AT[tab] = server + PAGES[name]


@pytest.mark.parametrize("name", ["incident"])
def test_the_keyboard_alone_opens_an_event_of_the_chart_through_its_table(tab, server, name):
    opened(tab, server + PAGES[name])
    tab.wait_for_selector("[data-testid=stDataFrame] canvas")
    tables = tab.locator("[data-testid=stDataFrame] canvas[data-testid=data-grid-canvas]")
    tables.nth(1).focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Enter", "Space"):
        tab.keyboard.press(key)
        tab.wait_for_timeout(200)  # the grid moves its cell in a frame of its own and does not say when it has

    tab.locator(".st-key-event_panel").wait_for()
    tab.get_by_role("button", name="Close").press("Enter")
    tab.locator(".st-key-event_panel").wait_for(state="detached")
    tab.wait_for_url(server + PAGES[name])
    LOOKED_AT[tab] = server + PAGES[name]  # closed, it leaves the page as it was


@pytest.mark.parametrize("name", ["incident"])
def test_a_popover_is_entered_and_left_by_keys(tab, server, name):
    """It lies at the end of the page, behind everything else that Tab would meet."""
    opened(tab, server + PAGES[name])
    button = tab.get_by_role("button", name="Report").last
    button.press("Enter")
    inside = tab.locator("[data-testid=stPopoverBody]").get_by_role("button", name="HTML")

    expect(inside).to_be_focused()
    tab.keyboard.press("Escape")
    expect(button).to_be_focused()
    expect(inside).to_have_count(0)
    LOOKED_AT[tab] = server + PAGES[name]  # closed, it leaves the page as it was
