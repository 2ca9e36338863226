"""The HTML report in a real Chromium: opened from a file, offline, it draws and asks nobody for anything."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from forensics.report.options import ReportOptions
from forensics.report.render import render
from tests.forensics.report.test_folded import with_rows
from tests.forensics.report.test_render import HOSTILE, with_text
from tests.pages.browser import chromium_or_skip
from tests.waiting import PATIENCE_MS

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def chromium():
    with chromium_or_skip() as browser:
        yield browser


@pytest.fixture(scope="module")
def person(chromium):
    """A browser whose tabs share a process, that of a report left open, in which plotly.js is compiled already."""
    return chromium.new_context()


@pytest.fixture(scope="module")
def opened(person, tmp_path_factory):
    """Open a page's bytes from a file; returns the page, its requests and what its console said.

    It is one file for all: plotly.js is compiled anew for each address from which it comes, a second every time.
    """
    file = tmp_path_factory.mktemp("opened") / "report.html"

    def open_file(content: bytes):
        file.write_bytes(content)
        page, requests, said = person.new_page(), [], []
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(f"dialog: {dialog.message}"))
        page.set_default_timeout(PATIENCE_MS)
        page.goto(file.as_uri())
        page.wait_for_selector("#timeline .barlayer path")
        return page, requests, said

    return open_file


@pytest.fixture(scope="module")
def as_it_is(opened, case):
    """A report as it is written, of which only the theme is changed."""
    return opened(render(case, "html"))


def test_the_report_draws_its_timeline_and_loads_nothing(as_it_is):
    page, requests, said = as_it_is

    assert page.locator("#timeline .barlayer path").count() >= 6
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []
    assert said == []


@pytest.mark.parametrize("hostile", HOSTILE[:4])
def test_hostile_evidence_runs_nothing_also_where_the_picture_shows_it(opened, case, hostile):
    page, requests, said = opened(render(with_text(case, hostile), "html"))
    page.locator("#timeline .barlayer path").first.hover(force=True)
    page.wait_for_selector("#timeline .hoverlayer .hovertext")

    assert said == []
    assert len(requests) == 1
    assert page.locator("#timeline a[href^='javascript']").count() == 0
    assert page.locator("#timeline img, #timeline script").count() == 0


def test_a_script_that_is_not_ours_is_refused(opened, case):
    page = render(case, "html").replace(b"</body>", b"<script>document.title = 'taken over'</script></body>")
    tab, _, said = opened(page)

    assert tab.title() != "taken over"
    assert any("Content Security Policy" in words for words in said)


def test_on_a_dark_screen_the_report_is_dark_and_its_chart_s_words_stand_off_it(as_it_is):
    page, _, _ = as_it_is
    page.emulate_media(color_scheme="dark")
    found = [v["id"] for v in Axe().run(page).response["violations"] if v["impact"] in ("serious", "critical")]
    words = page.locator("#timeline .xtick text, #timeline .legendtext").evaluate_all(
        "words => words.map(word => getComputedStyle(word).fill)"
    )

    assert found == []
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(14, 17, 23)"
    assert words and set(words) == {"rgb(230, 233, 238)"}
    page.emulate_media(color_scheme="dark", media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


TIMES_THAT_MEET = """
() => {
  const labels = [...document.querySelectorAll('#timeline .main-svg text')]
    .filter(text => /^x\\d*tick$/.test(text.parentElement.getAttribute('class')) && getComputedStyle(text).display !== 'none');
  const boxes = labels.map(text => text.getBoundingClientRect()).sort((a, b) => a.left - b.left);
  return [boxes.length, boxes.slice(1).filter((box, n) => box.left < boxes[n].right + 2).length];
}
"""
ONCE_DRAWN = f"() => {{ const told = ({TIMES_THAT_MEET})(); return told[0] >= 3 && told; }}"
"""Plotly draws the times of an axis after the bars, one by one."""


def test_on_a_phone_no_word_of_a_key_s_row_is_broken_where_words_have_no_spaces(opened, case):
    tab, _, _ = opened(render(case, "html", ReportOptions("ja")))
    tab.set_viewport_size({"width": 390, "height": 844})
    lines = tab.locator("#keys td:nth-child(2)").evaluate_all(
        "cells => cells.map(cell => { const text = document.createRange(); text.selectNodeContents(cell);"
        " return text.getClientRects().length; })"
    )

    assert set(lines) == {1}
    assert tab.locator("#moments td:has(small)").first.bounding_box()["width"] > 250


def test_on_a_phone_no_time_lies_on_another_and_the_tables_stand_apart(opened, case):
    tab, _, _ = opened(render(case, "html"))
    drawn_wide, met_wide = tab.wait_for_function(ONCE_DRAWN).json_value()
    tab.set_viewport_size({"width": 390, "height": 844})
    tab.wait_for_function("document.querySelector('#timeline .main-svg').getBoundingClientRect().width < 390")
    drawn, met = tab.wait_for_function(ONCE_DRAWN).json_value()
    keys, facts = tab.locator("#keys").bounding_box(), tab.locator("#facts").bounding_box()
    source = tab.locator("#moments td:has(small)").first.bounding_box()

    assert source["width"] > 100, "a log stream of a letter per line makes rows as high as the screen"
    assert drawn_wide >= drawn >= 3
    assert (met_wide, met) == (0, 0)
    assert facts["y"] - keys["y"] - keys["height"] >= 10


def test_a_link_opens_the_folded_row_that_it_leads_to(opened, case):
    page, _, said = opened(render(with_rows(case), "html"))
    row = page.locator("#E150")
    assert not row.is_visible()

    page.evaluate("location.hash = 'E150'")
    row.wait_for()

    assert page.locator("details.rows[open]").count() == 1
    assert said == []
