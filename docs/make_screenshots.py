"""Take the pictures that README and docs show: ``python docs/make_screenshots.py LAKE``.

Serves the lake on loopback, opens the pages in a headless Chromium and writes PNGs. The lake of
``doubletake demo --no-serve`` gives the pictures of the repository, that of ``--scenario eight-weeks`` queue-health.
"""

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, sync_playwright  # noqa: E402

from forensics.lake import Lake  # noqa: E402
from forensics.tables.findings import INCIDENTS, MESSAGES  # noqa: E402
from tests.pages.browser import FLAGS, browser_path, dashboard  # noqa: E402

CHART = ".js-plotly-plot .barlayer path"
LINES = ".js-plotly-plot .scatterlayer .js-line"
TABLE = "[data-testid=stDataFrame] canvas"


@dataclass(frozen=True)
class Shot:
    """One picture: file name, page, what to wait for, and the screen it is taken on."""

    name: str
    path: str
    wait: str
    width: int = 1360
    height: int = 900
    scheme: str = "light"


def shots(incident: str, key: str) -> tuple[Shot, ...]:
    """Return the pictures of one incident's lake; ``key`` names one of its messages."""
    page = f"/incident?incident={incident}"
    return (
        Shot("incidents", "/", TABLE, height=720),
        Shot("incident", page, CHART, height=1180),
        Shot("incident-dark", page, CHART, scheme="dark"),
        Shot("report", page.replace("/incident?", "/report?"), "img[src], [data-testid=stCode]"),
        Shot("incident-phone", page, CHART, 390, 1240),
        Shot("queue-health", "/queue_health", LINES, height=1500),
        Shot("data", "/data", TABLE),
        Shot("find-a-message", f"/messages?q={key}", CHART),
        Shot("incidents-dark", "/", TABLE, height=720, scheme="dark"),
        Shot("incidents-phone", "/", TABLE, 390, 844),
    )


def take(browser: Browser, base: str, shot: Shot, folder: Path) -> Path:
    """Open one page and write its picture."""
    context = browser.new_context(
        viewport={"width": shot.width, "height": shot.height}, color_scheme=shot.scheme, device_scale_factor=1.5
    )
    try:
        page = context.new_page()
        page.goto(base + shot.path)
        page.wait_for_selector(shot.wait, timeout=60_000)
        page.wait_for_function("() => !document.querySelector('[data-testid=stSkeleton]')", timeout=60_000)
        page.wait_for_timeout(1500)  # charts and tables fade in
        target = folder / f"{shot.name}.png"
        page.screenshot(path=target)
        return target
    finally:
        context.close()


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


def main() -> None:
    """Take every picture."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("lake", type=Path, help="a lake with findings")
    arguments.add_argument("--out", type=Path, default=ROOT / "docs" / "img", help="where the PNGs go")
    arguments.add_argument("--incident", help="which incident; default: the one with the most confirmed messages")
    arguments.add_argument("--only", metavar="NAME", help="only this picture, e.g. queue-health of eight-weeks' lake")
    chosen = arguments.parse_args()
    incident = chosen.incident or gravest(chosen.lake)
    chosen.out.mkdir(parents=True, exist_ok=True)
    settings = chosen.lake.absolute() / "doubletake.toml"  # where the demo leaves the scenario's
    environment = {"DOUBLETAKE_CONFIG": str(settings)} if settings.exists() else {}
    with (
        tempfile.TemporaryDirectory() as folder,
        dashboard(chosen.lake.absolute(), Path(folder) / "server.log", **environment) as base,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=browser_path(), args=list(FLAGS))
        for shot in shots(incident, a_key(chosen.lake, incident)):
            if chosen.only in (None, shot.name):
                print(take(browser, base, shot, chosen.out))
        browser.close()


if __name__ == "__main__":
    main()
