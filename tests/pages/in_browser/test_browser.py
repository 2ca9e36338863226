"""The Incident page in a real Chromium, on a server that has answered nothing yet."""

import csv
import io
import os
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import TimeoutError, expect

from tests.pages.worlds import DOUBLE_BILLING, EXPIRED_HANDLE
from tests.waiting import PATIENCE_MS

pytestmark = pytest.mark.browser

LINK = f"/incident?incident={DOUBLE_BILLING}"
CHART = ".js-plotly-plot .barlayer path"


class Visit:
    """One tab of a person's browser, with what it asked for and what its console said."""

    def __init__(self, browser, base, color_scheme="light"):
        self.base, self.requests, self.errors = base, [], []
        self.page = browser.new_page()
        self.page.emulate_media(color_scheme=color_scheme)
        self.page.set_default_timeout(PATIENCE_MS)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("websocket", lambda socket: self.requests.append(socket.url))
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _heard(self, message):
        # Streamlit probes for its own endpoints under the page's path first; the 404 is known and harmless.
        if message.type == "error" and "/_stcore/" not in message.location.get("url", ""):
            self.errors.append(message.text)

    def open(self, path, wait=CHART):
        self.page.goto(self.base + path)
        self.page.wait_for_selector(wait)
        return self.page

    def keys(self):
        return parse_qs(urlsplit(self.page.url).query)

    def foreign_hosts(self):
        own = urlsplit(self.base).netloc
        outside = [url for url in self.requests if not url.startswith(("data:", "blob:"))]
        return {urlsplit(url).netloc for url in outside} - {own}


@pytest.fixture
def visit(person, server):
    """Return a function that makes tabs, of a person's browser unless told otherwise; they are closed at the end.

    The last tab of a browser stays open, and with it the process that has our scripts compiled.
    """
    tabs = []

    def new(on=person):
        tabs.append(Visit(on, server))
        return tabs[-1]

    yield new
    for tab in tabs:
        if tab.page.context.pages != [tab.page]:
            tab.page.close()


@pytest.fixture(scope="module")
def left_open(person, server):
    """A tab with the incident, for tests that leave it as they found it: to load the page takes most of such a test."""
    tab = Visit(person, server)
    tab.open(LINK)
    return tab


@pytest.fixture(scope="module")
def in_tokyo(person, server):
    """A tab with the incident in another zone than everybody's."""
    tab = Visit(person, server)
    tab.open(f"{LINK}&tz=Asia/Tokyo")
    yield tab
    tab.page.close()


@pytest.fixture(scope="module")
def in_the_dark(person, server):
    """A tab that the system asked to be dark before it was opened."""
    tab = Visit(person, server, color_scheme="dark")
    tab.open(LINK)
    yield tab
    tab.page.close()


def click_table(page, number, x, y, then):
    """Click into a table's canvas until it has been taken; its scroller lies over it, so the mouse goes there by hand.

    The grid takes a click only where it has seen the mouse arrive, and it does not say when it has.
    """
    canvas = page.locator("[data-testid=stDataFrame] canvas[data-testid=data-grid-canvas]").nth(number)
    for pause_ms in (300, 3_000, 10_000):
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        page.mouse.move(box["x"] + x, box["y"] + y)
        page.wait_for_timeout(pause_ms)
        page.mouse.click(box["x"] + x, box["y"] + y)
        with suppress(TimeoutError):
            return then.wait_for(timeout=PATIENCE_MS / 3)
    raise AssertionError(f"no click into table {number} was taken")


def has_rows(page, number, rows):
    """Wait until a table has this many rows, its header included."""
    grid = page.locator("[data-testid=stDataFrame] [role=grid]").nth(number)
    expect(grid).to_have_attribute("aria-rowcount", str(rows), timeout=PATIENCE_MS)
    return True


def picture(page, name, tmp_path):
    """Take a PNG; kept where DOUBLETAKE_PICTURES says, for people to look at."""
    folder = Path(os.environ.get("DOUBLETAKE_PICTURES") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.png"
    page.screenshot(path=path)
    return path


def test_a_link_on_a_cold_server_shows_headline_and_times_of_its_zone(in_tokyo, tmp_path):
    tab, page = in_tokyo, in_tokyo.page

    assert (
        page.locator("h1").inner_text()
        == "payments.fifo: 7 to 8 of 10 redelivered messages were processed more than once"
    )
    assert page.title() == f"{DOUBLE_BILLING} · Incident · Doubletake"
    assert page.get_by_text("time (Asia/Tokyo, UTC+09:00)").count() == 1
    assert "14:12" in "".join(page.locator(".xtick").all_text_contents())
    assert tab.foreign_hosts() == set()
    assert tab.errors == []
    assert picture(page, "incident-light", tmp_path).stat().st_size > 20_000

    chart, lanes = page.locator(".js-plotly-plot").bounding_box(), page.locator(CHART).last.bounding_box()

    assert chart["y"] < 420, "the chart begins on the first screen"
    assert lanes["y"] + lanes["height"] < 900, "and so does its last lane"


def test_a_click_on_a_bar_filters_the_tables_and_is_written_into_the_link(left_open, tmp_path):
    tab, page = left_open, left_open.page
    wide = max(page.locator(CHART).all(), key=lambda bar: bar.bounding_box()["width"]).bounding_box()
    steps = page.evaluate("() => history.length")
    page.mouse.click(wide["x"] + 0.6 * wide["width"], wide["y"] + 0.75 * wide["height"])
    clear = page.get_by_role("button", name="Clear")
    clear.wait_for()
    page.wait_for_url("**msg=**")
    (chosen,) = tab.keys()["msg"]

    assert chosen in {f"pay_{1040 + n}" for n in range(1, 11)}
    assert has_rows(page, 0, 1 + 2), "two deliveries"
    panel = page.locator(".st-key-event_panel")
    expect(panel).to_contain_text(chosen)
    box = panel.bounding_box()

    assert box["y"] > 0 and box["y"] + box["height"] <= 900, "what was clicked is told where one looks"
    assert page.evaluate("() => history.length") == steps + 1, "one press of Back takes the click back"
    assert picture(page, "incident-selected", tmp_path).exists()

    clear.click()
    clear.wait_for(state="detached")

    assert has_rows(page, 0, 1 + 20)
    assert "msg=" not in page.url


def test_bars_are_cut_to_the_frame_by_their_layer_and_not_each_by_itself(left_open):
    page = left_open.page
    cut = "all => all.map(one => getComputedStyle(one).clipPath)"
    kept = "all => all.every(one => getComputedStyle(one).clipPath != 'none' || getComputedStyle(one.closest('.overplot > g')).clipPath != 'none')"

    assert set(page.eval_on_selector_all(CHART, cut)) == {"none"}
    assert page.eval_on_selector_all(".js-plotly-plot .barlayer > .trace", kept)


def test_an_unknown_incident_keeps_its_link_and_says_so(visit):
    tab = visit()
    page = tab.open("/incident?incident=orders-20250101T0000Z", wait="[data-testid=stAlert]")

    assert "orders-20250101T0000Z is not in data version" in page.locator("[data-testid=stAlert]").inner_text()
    assert tab.keys()["incident"] == ["orders-20250101T0000Z"]


def test_on_a_phone_headline_and_chart_are_visible_without_the_sidebar(visit, phone, tmp_path):
    tab = visit(on=phone)
    page = tab.open(LINK)
    headline, chart = page.locator("h1").bounding_box(), page.locator(".js-plotly-plot").bounding_box()
    wide = page.evaluate("() => document.documentElement.scrollWidth")

    assert headline["x"] >= 0 and headline["x"] + headline["width"] <= 390
    assert chart["x"] >= 0 and chart["x"] + chart["width"] <= 390
    assert wide <= 390
    toolbar = page.locator(".js-plotly-plot .modebar").bounding_box()
    named = page.locator(".js-plotly-plot .annotation-text", has_text="time (").bounding_box()
    assert toolbar["y"] + toolbar["height"] <= named["y"]
    assert (
        page.locator("[data-testid=stMainBlockContainer] [data-testid=stVerticalBlock]").first.bounding_box()["y"] < 80
    )
    assert page.get_by_text("Ctrl + Shift").count() == 0
    assert page.locator(".js-plotly-plot .legend .scrollbar").first.get_attribute("height") in (None, "0")
    assert picture(page, "incident-phone", tmp_path).exists()


def test_dark_mode_draws_the_same_chart_on_a_dark_page(in_the_dark, tmp_path):
    page = in_the_dark.page
    background = page.evaluate("() => getComputedStyle(document.querySelector('.stApp')).backgroundColor")

    assert background == "rgb(14, 17, 23)"
    assert page.locator(CHART).count() > 30
    assert picture(page, "incident-dark", tmp_path).exists()


def test_zoom_survives_a_click_on_an_evidence_row(in_the_dark):
    page = in_the_dark.page
    shown = "() => document.querySelector('.js-plotly-plot')._fullLayout.xaxis.range.join()"
    before = page.evaluate(shown)
    lane = page.locator(CHART).first.bounding_box()
    page.mouse.move(lane["x"] + 20, lane["y"] + lane["height"] / 2)
    page.mouse.down()
    page.mouse.move(lane["x"] + 130, lane["y"] + lane["height"] / 2, steps=6)
    page.mouse.up()
    page.wait_for_function(f"before => ({shown})() !== before", arg=before)
    zoomed = page.evaluate(shown)
    click_table(page, 1, 40, 60, page.get_by_text("/aws/lambda/charge-card").last)

    assert page.evaluate(shown) == zoomed


COLOURS = """() => [...document.querySelectorAll('.js-plotly-plot .main-svg > g:not(.hoverlayer) text')]
    .map(text => getComputedStyle(text).fill)"""


def test_the_words_of_an_open_chart_follow_the_system_into_the_dark_and_back(left_open):
    page = left_open.page
    light = set(page.evaluate(COLOURS))
    page.emulate_media(color_scheme="dark")
    expect(page.locator(".stApp")).to_have_css("background-color", "rgb(14, 17, 23)", timeout=PATIENCE_MS)
    dark = set(page.evaluate(COLOURS))
    page.emulate_media(color_scheme="light")
    expect(page.locator(".stApp")).to_have_css("background-color", "rgb(255, 255, 255)", timeout=PATIENCE_MS)

    assert light
    assert not light & dark
    assert set(page.evaluate(COLOURS)) == light


def test_the_csv_lists_the_messages_that_may_have_been_processed_twice(left_open):
    page = left_open.page
    page.get_by_role("button", name="CSV").first.wait_for()  # before it is there its shortcut does nothing
    with page.expect_download() as download:
        page.keyboard.press("Control+Shift+E")
    rows = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text())))

    assert download.value.suggested_filename == f"{DOUBLE_BILLING}-messages.csv"
    assert len(rows) == 8
    assert {row["verdict"] for row in rows} == {"confirmed", "probable"}


def test_alt_p_and_alt_n_go_to_the_incident_before_and_after(left_open):
    tab, page = left_open, left_open.page
    page.get_by_role("button", name="Earlier").wait_for()
    page.keyboard.press("Alt+P")
    page.wait_for_url(f"**incident={EXPIRED_HANDLE}**")
    page.get_by_role("heading", name="1 redelivered message was processed more than once").wait_for()
    page.keyboard.press("Alt+N")
    page.wait_for_url(f"**incident={DOUBLE_BILLING}**")
    page.get_by_role(
        "heading", name="payments.fifo: 7 to 8 of 10 redelivered messages were processed more than once"
    ).wait_for()

    assert tab.errors == []


def test_the_list_leads_to_the_incident(visit, tmp_path):
    tab = visit()
    page = tab.open("/", wait="[data-testid=stDataFrame] canvas")
    picture(page, "incidents", tmp_path)
    click_table(page, 0, 200, 52, page.locator(CHART).first)

    assert tab.keys()["incident"] == [DOUBLE_BILLING]
    assert tab.foreign_hosts() == set()
    assert tab.errors == []


DOWNLOADS = {
    "HTML": (".html", b"<!doctype html>"),
    "PDF": (".pdf", b"%PDF-"),
    "Markdown": (".md", b"# "),
    "CSV": ("-messages.csv", b'"message_id"'),
    "JSON": (".json", b"{"),
    "SVG": (".svg", b"<svg"),
    "Timesketch": ("-timesketch.csv", b'"message","datetime","timestamp_desc"'),
    "Trace": ("-trace.json", b"{"),
    "ZIP of all": (".zip", b"PK"),
}


def test_every_form_of_the_report_downloads_under_its_name(visit, tmp_path):
    page = visit().open(f"/report?incident={DOUBLE_BILLING}", wait="iframe")
    for label, (ending, start) in DOWNLOADS.items():
        with page.expect_download() as download:
            page.get_by_role("button", name=label, exact=True).click()

        assert download.value.suggested_filename == f"{DOUBLE_BILLING}{ending}"
        assert Path(download.value.path()).read_bytes().lstrip().startswith(start)
    assert picture(page, "report", tmp_path).exists()


def test_two_tabs_with_different_zones_do_not_influence_each_other(in_tokyo, left_open):
    tokyo, utc = in_tokyo.page, left_open.page
    tokyo.reload()
    tokyo.wait_for_selector(CHART)

    assert utc.get_by_text("time (UTC)").count() == 1
    assert tokyo.get_by_text("time (Asia/Tokyo, UTC+09:00)").count() == 1


REACHED = {
    "the switch of forms": ("Invocations",),
    "a download": ("CSV",),
    "a table": ("stDataFrame", "data-grid-canvas"),
}


def test_the_keyboard_alone_reaches_the_switch_of_forms_and_the_tables(left_open):
    page = left_open.page
    left = dict(REACHED)
    for _ in range(160):
        page.keyboard.press("Tab")
        told = page.evaluate(
            "() => { const a = document.activeElement; const of = a.closest('[data-testid]');"
            " return (of ? of.dataset.testid : '') + ' ' + (a.innerText || a.getAttribute('role') || ''); }"
        )
        left = {place: words for place, words in left.items() if not any(word in told for word in words)}
        if not left:
            break

    assert left == {}


def test_no_empty_panel_hides_the_foot_of_the_chart(left_open):
    foot = left_open.page.locator("[data-testid=stBottom]")

    assert foot.count() == 1
    assert not foot.is_visible()
