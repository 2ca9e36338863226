"""Take the pictures that README and docs show: ``python docs/make_screenshots.py LAKE``.

Serves the lake on loopback, opens the pages in a headless Chromium and writes PNGs, each page on a light and a dark screen
and at a phone's width; of a part of a page, that part. The lake of ``doubletake demo --no-serve`` gives the pictures of the
repository, that of ``--scenario eight-weeks`` queue-health and dead-letters (``--only``); an incident without message ids
comes from the tests' own lake. Marks and the login are put on a copy.
"""

import argparse
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from PIL import Image  # noqa: E402
from playwright.sync_api import Browser, FloatRect, Page, sync_playwright  # noqa: E402

from forensics.lake import Lake  # noqa: E402
from forensics.people.marks import annotate  # noqa: E402
from forensics.report.week import weeks_read  # noqa: E402
from forensics.tables.findings import INCIDENTS, MESSAGES, QUEUE_FINDINGS  # noqa: E402
from tests.pages.blind_tale import BLIND  # noqa: E402
from tests.pages.blind_tale import blind as tell_blind  # noqa: E402
from tests.pages.browser import FLAGS, browser_path, dashboard  # noqa: E402
from tests.pages.worlds import START, Story  # noqa: E402

CHART = ".js-plotly-plot .barlayer path"
LINES = ".js-plotly-plot .scatterlayer .js-line"
LEAST_HEIGHT = 720
TABLE = "[data-testid=stDataFrame] canvas"


@dataclass(frozen=True)
class View:
    """One page to picture: its name, its address, what to wait for, and how much of it to show, in pixels.

    ``part`` names the heading that a part of a page starts at; ``height`` is then that part's.
    """

    name: str
    path: str
    wait: str
    height: int = 900
    phone_height: int = 1240
    part: str | None = None


@dataclass(frozen=True)
class Screen:
    """A screen: what is put behind a picture's name, its width in pixels, its colours and its pixel ratio."""

    suffix: str
    width: int
    scheme: str = "light"
    ratio: float = 1.5


SCREENS = (Screen("", 1360), Screen("-dark", 1360, "dark", 1), Screen("-phone", 390))


def views(incident: str, key: str) -> tuple[View, ...]:
    """Return the pages of one incident's lake; ``key`` names one of its messages."""
    return (
        View("incidents", "/", TABLE, 720, 844),
        View("incident", f"/incident?incident={incident}", CHART, 1180),
        View("find-a-message", f"/messages?q={key}", CHART),
        View("queue-health", "/queue_health", LINES, 1500),
        View("report", f"/report?incident={incident}", "iframe"),
        View("data", "/data", TABLE, 1100),
        View("blocked-group", f"/incident?incident={incident}", CHART, 190, part="queue-findings"),
        View("prevention", f"/incident?incident={incident}", CHART, 560, part="prevention"),
        View("dead-letters", f"/incident?incident={incident}", CHART, 330, part="dead-letters"),
    )


SIGN_IN = View("sign-in", "/", "[data-testid=stBaseButton-primary]", 260, 360)
LOGIN = '[access]\nmode = "oidc"\nemails = ["@payments.example.com"]\n'
BLIND_VIEWS = (View("blind-incident", f"/incident?incident={BLIND}", TABLE, 1500, 1800),)


def take(browser: Browser, base: str, view: View, screen: Screen, folder: Path) -> Path:
    """Open one page on one screen and write its picture."""
    is_phone = screen.width < 600
    shown = view.phone_height if is_phone else view.height
    height = shown if is_phone else max(shown, LEAST_HEIGHT)
    context = browser.new_context(
        viewport={"width": screen.width, "height": height},
        color_scheme=screen.scheme,
        device_scale_factor=screen.ratio,
    )
    try:
        page = context.new_page()
        page.goto(base + view.path)
        page.wait_for_selector(view.wait, timeout=60_000)
        page.wait_for_function("() => !document.querySelector('[data-testid=stSkeleton]')", timeout=60_000)
        page.wait_for_timeout(1500)  # charts and tables fade in
        target = folder / f"{view.name}{screen.suffix}.png"
        top: FloatRect = {"x": 0, "y": 0, "width": screen.width, "height": shown}
        page.screenshot(path=target, clip=_clip(page, view) if view.part else top)
        with Image.open(target) as drawn:
            few = drawn.convert("RGB").quantize(256)  # a third of the size, and no eye sees it on these pages
        few.save(target, optimize=True)
        return target
    finally:
        context.close()


def _clip(page: Page, view: View) -> FloatRect:
    """Return the part of the page below a heading, scrolled into view."""
    heading = page.locator(f"#{view.part}")
    heading.scroll_into_view_if_needed()
    page.evaluate("part => document.getElementById(part).scrollIntoView({block: 'start'})", view.part)
    page.wait_for_timeout(1500)  # tables are drawn when they come into view
    main = page.locator("[data-testid=stMainBlockContainer]").bounding_box()
    top = heading.bounding_box()
    assert main and top
    return {"x": main["x"] + 60, "y": top["y"] - 12, "width": main["width"] - 120, "height": view.height}


def with_dead_letters(lake: Path) -> str | None:
    """Return the incident with the most dead-lettered messages; None where there is none."""
    found = Lake(lake).findings().read(QUEUE_FINDINGS, ["incident_id", "code"]).to_pylist()
    counted = Counter(f["incident_id"] for f in found if f["code"] == "dead_lettered" and f["incident_id"])
    return max(counted, key=lambda i: (counted[i], i), default=None)


def gravest(lake: Path) -> str:
    """Return the incident with the most confirmed messages; raises LakeMissingError, or ValueError if there is none."""
    found = Lake(lake).findings().read(INCIDENTS, ["incident_id", "confirmed"]).to_pylist()
    if not found:
        raise ValueError(f"the lake at {str(lake)!r} holds no incident")
    return max(found, key=lambda i: (i["confirmed"] or 0, i["incident_id"]))["incident_id"]


def a_key(lake: Path, incident: str) -> str:
    """Return the business key, or else the id, of the incident's gravest message."""
    columns = ["incident_id", "effects_at_least", "message_id", "item_id", "business_keys"]
    found = [m for m in Lake(lake).findings().read(MESSAGES, columns).to_pylist() if m["incident_id"] == incident]
    first = max(found, key=lambda m: (m["effects_at_least"] or 0, m["item_id"]))
    return next(iter(first["business_keys"] or ()), first["message_id"] or first["item_id"])


def first_confirmed(lake: Path, incident: str, number: int) -> list[str]:
    """Return the item ids of the incident's first confirmed messages."""
    columns = ["incident_id", "item_id", "verdict", "first_received_at"]
    found = [m for m in Lake(lake).findings().read(MESSAGES, columns).to_pylist() if m["incident_id"] == incident]
    confirmed = [m for m in found if m["verdict"] == "confirmed"]
    return [m["item_id"] for m in sorted(confirmed, key=lambda m: m["first_received_at"])[:number]]


def take_marked(lake: Path, incident: str, wanted: Sequence[View], folder: Path) -> None:
    """Write the pictures that need marks, and the one that needs a login."""
    for item in first_confirmed(lake, incident, 3):
        annotate(Lake(lake).findings(), incident, item, "refunded", "ticket 77", "Ana", datetime.now(UTC))
    if refunds := [view for view in wanted if view is not SIGN_IN]:
        take_all(lake, refunds, folder)
    if SIGN_IN in wanted:
        settings = lake / "doubletake.toml"
        settings.write_text(LOGIN + (settings.read_text() if settings.exists() else ""))
        take_all(lake, [SIGN_IN], folder)


def take_all(lake: Path, wanted: Sequence[View], folder: Path) -> None:
    """Serve a lake and write the pictures of its pages, saying each file's name."""
    settings = lake.absolute() / "doubletake.toml"  # where the demo leaves the scenario's
    environment = {"DOUBLETAKE_CONFIG": str(settings)} if settings.exists() else {}
    with (
        tempfile.TemporaryDirectory() as logs,
        dashboard(lake.absolute(), Path(logs) / "server.log", **environment) as base,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=browser_path(), args=list(FLAGS))
        for view in wanted:
            for screen in SCREENS[:2] if view.part else SCREENS:
                print(take(browser, base, view, screen, folder))
        browser.close()


def main() -> None:
    """Take every picture."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("lake", type=Path, help="a lake with findings")
    arguments.add_argument("--out", type=Path, default=ROOT / "docs" / "img", help="where the PNGs go")
    arguments.add_argument("--incident", help="which incident; default: the one with the most confirmed messages")
    arguments.add_argument("--only", metavar="NAME", help="only this page, e.g. queue-health of eight-weeks' lake")
    chosen = arguments.parse_args()
    dead = with_dead_letters(chosen.lake)
    incident = chosen.incident or (dead if chosen.only == "dead-letters" and dead else gravest(chosen.lake))
    chosen.out.mkdir(parents=True, exist_ok=True)
    wanted = [v for v in views(incident, a_key(chosen.lake, incident)) if chosen.only in (None, v.name)]
    if len(weeks_read(Lake(chosen.lake).findings())) < 2:  # one week draws no line
        wanted = [v for v in wanted if v.name != "queue-health"]
    if incident != dead:
        wanted = [v for v in wanted if v.name != "dead-letters"]
    if wanted:
        take_all(chosen.lake, wanted, chosen.out)
    refunds = View("refunds", f"/incident?incident={incident}", CHART, 590, part="verdicts")
    if marked := [v for v in (refunds, SIGN_IN) if chosen.only in (None, v.name)]:
        with tempfile.TemporaryDirectory() as folder:
            take_marked(Path(shutil.copytree(chosen.lake, Path(folder) / "lake")), incident, marked, chosen.out)
    if blind := [v for v in BLIND_VIEWS if chosen.only in (None, v.name)]:
        with tempfile.TemporaryDirectory() as folder:
            story = Story(data_until_at=START + timedelta(hours=1))
            tell_blind(story)
            take_all(story.save(Path(folder) / "lake"), blind, chosen.out)


if __name__ == "__main__":
    main()
