"""A real Chromium for tests: one on the machine, else installed; and a dashboard server to point it at."""

import json
import os
import shutil
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from tests.waiting import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--process-per-site",
)
"""The last: a second tab beside an open one takes its process, which has our scripts compiled: half the work of a page."""
SHORT_LIVED = (
    "--js-flags="
    + ",".join(
        (
            "--no-turbofan",  # the slowest of V8's compilers: pages that are looked at for seconds do not win back what it takes
            "--no-script-streaming",  # compiles what arrives beside what is compiled already
            "--no-flush-bytecode",  # forgets what was compiled, to compile it again
            "--initial-heap-size=512",  # looks for garbage among some 50 MB again and again
            "--min-semi-space-size=32",
        )
    )
)
"""Leaves out what pays only in a browser that runs for hours: a seventh of all that Chromium and its pages take."""

PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1"
"""What a phone's browser says that it is."""
SCREEN = {"width": 390, "height": 844}


class NoBrowserError(RuntimeError):
    """No browser is on this machine and none could be installed; the text says what was tried."""


def find_browser() -> str | None:
    """Return the path of a Chromium on PATH, else of Playwright's own download, else None."""
    if found := next(filter(None, map(shutil.which, NAMES)), None):
        return found
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if Path(own).exists() else None


def browser_path() -> str:
    """Return a Chromium, installing one if there is none: Debian's package as root, else Playwright's download.

    Raises NoBrowserError with the installer's last words.
    """
    if found := find_browser():
        return found
    as_root = os.geteuid() == 0 and shutil.which("apt-get")
    installers = (
        [["apt-get", "update"], ["apt-get", "install", "-y", "--no-install-recommends", "chromium"]]
        if as_root
        else [[sys.executable, "-m", "playwright", "install", "chromium"]]
    )
    said = ""
    for command in installers:
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        except (OSError, subprocess.TimeoutExpired) as problem:
            said = f"{' '.join(command)}: {problem}"
            break
        said = f"{' '.join(command)}: exit {done.returncode}: {(done.stderr or done.stdout).strip()[-300:]}"
    if found := find_browser():
        return found
    raise NoBrowserError(f"no Chromium on PATH ({', '.join(NAMES)}), and installing one failed: {said}")


def free_port() -> int:
    """Return a loopback port that is free now."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextmanager
def dashboard(lake: Path, log: Path, **environment: str) -> Iterator[str]:
    """Serve the dashboard on loopback until the block ends; yields its address without a slash at the end."""
    port = free_port()
    with open(log, "w") as out:
        server = subprocess.Popen(
            [
                sys.executable,
                "-P",
                str(ROOT / "pages/_ui/start.py"),
                str(ROOT / "app.py"),
                json.dumps({"server.port": port}),
            ],
            cwd=log.parent,
            env=os.environ | {"DOUBLETAKE_LAKE": str(lake)} | environment,
            stdin=subprocess.PIPE,  # it ends with its stdin
            stdout=out,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait(f"http://127.0.0.1:{port}/_stcore/health", server, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            try:
                server.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:  # it is still answering a page
                server.kill()
                server.wait()


def _wait(url: str, server: subprocess.Popen, log: Path, seconds: float = PATIENCE_S) -> None:
    end = monotonic() + seconds
    while monotonic() < end:
        if server.poll() is not None:
            break
        try:
            with urllib.request.urlopen(url, timeout=10):  # a loopback address of ours
                return
        except OSError:
            sleep(0.1)
    raise RuntimeError(f"the dashboard did not start: {log.read_text()[-2000:]}")


@contextmanager
def chromium_or_skip() -> Iterator[Any]:
    """Run one Chromium; without one CI fails, and a person's machine skips."""
    from playwright.sync_api import sync_playwright

    try:
        path = browser_path()
    except NoBrowserError as problem:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(problem))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*FLAGS, SHORT_LIVED])
        yield browser
        browser.close()


class Phone:
    """A person's phone of 390 px: its tabs lie among those of their desk, in one process, which has our scripts compiled.

    A browser of its own for it compiles them anew, two seconds of work. To a page it is the same: its size, its touch and its name.
    """

    def __init__(self, person: Any) -> None:
        self.person = person

    def new_page(self) -> Any:
        """Open a tab."""
        tab = self.person.new_page()
        tab.set_viewport_size(SCREEN)
        devtools = self.person.new_cdp_session(tab)
        held_upright = {"angle": 0, "type": "portraitPrimary"}
        size = SCREEN | {"deviceScaleFactor": 1, "mobile": True, "screenOrientation": held_upright}
        devtools.send("Emulation.setDeviceMetricsOverride", size)
        devtools.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
        devtools.send("Emulation.setUserAgentOverride", {"userAgent": PHONE})
        return tab
