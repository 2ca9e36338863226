"""How long the incident page takes in a real browser: ``python -m tests.bench.pages``.

For incidents of 10, 200, 3,000 and 100,000 deliveries it serves the dashboard on loopback and measures with a headless
Chromium until the timeline is drawn: the first visit of a server, that of another browser, a second visit of the same
browser, all three with no debugger in the page; the chart alone; and a click on a bar until its event is told, and until the tables follow. Prints a table, or JSON with ``--json FILE``; exits 1 if a figure is over twice its budget. The load average beside each row says how busy
the machine was with other work: figures of a busy machine are no measure of the page.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import plotly
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.bench.alone import Alone
from tests.pages import tales
from tests.pages.browser import FLAGS, browser_path, dashboard
from tests.pages.worlds import HUGE, START, Story

SIZES = (10, 200, 3_000, 100_000)
"""Deliveries of the incident; every message has two."""
DRAWN = ".js-plotly-plot .barlayer path, .js-plotly-plot .heatmaplayer image"
ANSWER, CLEAR = ".st-key-event_panel [data-testid=stMarkdownContainer]", ".st-key-clear button"
"""What the clicked event says, and the button that shows all again. Found by class: to look for a role asks each of thousands
of marks, again and again, and measures that."""
WATCH_CLICK = """
window.clickTimes = {};
addEventListener("mousedown", () => { window.clickTimes = {pressed: performance.now() / 1000}; }, true);
new MutationObserver(() => {
  const times = window.clickTimes;
  if (!times.pressed || times.there || !document.querySelector("%s") || !document.querySelector("%s")) return;
  times.there = true;
  requestAnimationFrame(() => setTimeout(() => { times.answered = performance.now() / 1000; }));
}).observe(document, {childList: true, subtree: true});
"""
"""From the press of the button until the answer is painted, by the page's own clock: to ask a page from outside takes as long again."""
OVER = "[data-testid=stApp][data-test-script-state=notRunning]"
"""The script of the page has run to its end."""
BUDGETS_S = {"first_visit": 4.0, "new_browser": 4.0, "second_visit": 2.0, "chart": 0.8, "click": 0.3}
"""The design's: a cold browser with a cold and with a warm server, a page on a warm one, the chart, a click until it is answered."""
FIGURES = (*BUDGETS_S, "tables", "processor")
"""All that is measured; of the last the design says nothing: a click until the tables below the chart follow, and what the main
thread of the browser worked in the second visit."""
WATCH_CHART = """
window.chartTimes = {};
new MutationObserver(() => {
  const times = window.chartTimes, now = performance.now() / 1000;
  if (!times.frame && document.querySelector("[data-testid=stPlotlyChart]")) times.frame = now;
  if (!times.drawn && document.querySelector("%s")) times.drawn = now;
}).observe(document, {childList: true, subtree: true});
"""
LIMIT_MS = 180_000
PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
FIXED_PAGE = """
async () => {
  const n = 3000, each = [...Array(n).keys()];
  const bars = {type: "bar", orientation: "h", base: each.map(i => 1e4 * (i % 100)), x: each.map(() => 8e3), y: each.map(i => i / 100 | 0)};
  await Plotly.newPlot("chart", [bars], {width: 1000, height: 800});
  await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
}
"""


def build(deliveries: int, root: Path) -> Path:
    """Write a lake with one incident of that many deliveries."""
    story = Story(data_until_at=START)
    begin = datetime(2026, 11, 17, tzinfo=START.tzinfo)
    story.coverage(tales.CLICKS, begin, START)
    tales.huge(story, deliveries // 2)
    return story.save(root)


def fixed_page(browser: Browser) -> float:
    """Return the seconds that a page of fixed content takes on this machine now: Plotly from a file, and 3,000 bars."""
    page = browser.new_page()
    page.set_content('<div id="chart"></div>')
    start = perf_counter()
    page.add_script_tag(path=str(PLOTLY))
    page.evaluate(FIXED_PAGE)
    took = perf_counter() - start
    page.close()
    return took


def new_browser(browser: Browser) -> BrowserContext:
    """Return a browser that has seen nothing yet."""
    context = browser.new_context(viewport={"width": 1360, "height": 900})
    context.add_init_script(WATCH_CLICK % (ANSWER, CLEAR))
    return context


def visit(alone: Alone, address: str) -> dict[str, float]:
    """Return the seconds, by the page's own clock, from the address to the chart's frame and to the chart.

    The page is left once its script has run to the end: a server is warm when it has loaded what stands below the chart.
    """
    over = f"window.chartTimes && window.chartTimes.drawn && document.querySelector('{OVER}')"
    return alone.visit(address, WATCH_CHART % DRAWN, f"({over}) ? window.chartTimes : null")


def open_page(context: BrowserContext, address: str) -> Page:
    """Open a page in a new tab and return it once its chart is drawn."""
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector(DRAWN, timeout=LIMIT_MS, state="attached")
    return page


def click_bar(page: Page) -> tuple[float, float] | None:
    """Click a bar; return the seconds until its event is told and until the tables follow; None where the form has no bars."""
    page.wait_for_function("() => !document.querySelector('[data-testid=stSkeleton]')", timeout=LIMIT_MS)
    bars = page.locator(".js-plotly-plot .barlayer path")
    if not bars.count():
        return None
    wide = max(bars.all()[:200], key=lambda bar: (bar.bounding_box() or {"width": 0})["width"]).bounding_box()
    page.wait_for_timeout(1000)  # the first run must be over, or its end is measured too
    page.mouse.move(wide["x"] + 0.6 * wide["width"], wide["y"] + 0.75 * wide["height"])
    page.wait_for_timeout(500)  # a person points before they click: what the bar says when pointed at is drawn by then
    start = perf_counter()
    page.mouse.down()
    page.mouse.up()
    page.wait_for_function("() => window.clickTimes.answered", timeout=LIMIT_MS)
    page.wait_for_selector(OVER, timeout=LIMIT_MS)
    tables = perf_counter() - start
    times = page.evaluate("() => window.clickTimes")
    return times["answered"] - times["pressed"], tables


def measure(deliveries: int, browser: Browser, folder: Path) -> dict[str, Any]:
    """Return the figures of one size, in seconds."""
    lake = build(deliveries, folder / "lake")
    with dashboard(lake, folder / "server.log") as base:
        address = f"{base}/incident?incident={HUGE}"
        with Alone(folder / "first") as alone:
            first = visit(alone, address)
        with Alone(folder / "second") as alone:
            cold = visit(alone, address)
            time.sleep(1)  # what it keeps of the page is written by then
            second = visit(alone, address)
        context = new_browser(browser)
        page = open_page(context, address)
        page.wait_for_selector(OVER, timeout=LIMIT_MS)
        page.wait_for_function("() => !document.querySelector('[data-testid=stSkeleton]')", timeout=LIMIT_MS)
        form = "Overview" if page.locator(".heatmaplayer image").count() else "bars"
        click = click_bar(page)
        context.close()
    return {
        "deliveries": deliveries,
        "form": form,
        "first_visit": round(first["drawn"], 2),
        "new_browser": round(cold["drawn"], 2),
        "second_visit": round(second["drawn"], 2),
        "chart": round(second["drawn"] - second["frame"], 2),
        "click": click and round(click[0], 2),
        "tables": click and round(click[1], 2),
        "processor": round(second["processor_s"], 2),
        "fixed_page": round(fixed_page(browser), 2),
        "load": round(os.getloadavg()[0], 1),
    }


def main() -> int:
    """Measure every size and print the figures."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="DELIVERIES")
    arguments.add_argument("--json", type=Path, help="write the figures there")
    chosen = arguments.parse_args()
    found = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=list(FLAGS))
        titles = "".join(f"{name.replace('_', ' '):>14}" for name in FIGURES)
        print(f"{'deliveries':>10}  {'form':<10}{titles}  (seconds; {os.cpu_count()} cores)")
        for size in chosen.sizes:
            with tempfile.TemporaryDirectory() as folder:
                row = measure(size, browser, Path(folder))
            found.append(row)
            figures = "".join(f"{'–' if row[name] is None else format(row[name], '.2f'):>14}" for name in FIGURES)
            print(
                f"{size:>10,}  {row['form']:<10}{figures}  fixed page {row['fixed_page']}  load {row['load']}",
                flush=True,
            )
        browser.close()
    if chosen.json:
        chosen.json.write_text(json.dumps({"budgets_s": BUDGETS_S, "figures_s": found}, indent=1) + "\n")
    over = [
        f"{row['deliveries']:,} deliveries: {name} {row[name]} s, budget {most} s"
        for row in found
        for name, most in BUDGETS_S.items()
        if row[name] is not None and row[name] > 2 * most
    ]
    for line in over:
        print(f"over twice its budget: {line}", file=sys.stderr)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
