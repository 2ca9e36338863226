import subprocess

import pytest

from tests.pages import browser

pytestmark = pytest.mark.page


def test_a_browser_on_the_path_is_taken(monkeypatch):
    monkeypatch.setattr(browser.shutil, "which", {"chromium-browser": "/usr/bin/chromium-browser"}.get)

    assert browser.browser_path() == "/usr/bin/chromium-browser"


@pytest.mark.parametrize(
    ("user_id", "command"), [(0, "apt-get update"), (1000, "playwright install chromium")], ids=["root", "a person"]
)
def test_without_a_browser_the_installer_that_fits_is_run_and_its_failure_told(monkeypatch, user_id, command):
    monkeypatch.setattr(browser, "find_browser", lambda: None)
    monkeypatch.setattr(browser.os, "geteuid", lambda: user_id)
    monkeypatch.setattr(browser.shutil, "which", lambda name: f"/usr/bin/{name}")
    ran = []

    def run(arguments, **_):
        ran.append(" ".join(arguments))
        return subprocess.CompletedProcess(arguments, 100, "", "no network")

    monkeypatch.setattr(browser.subprocess, "run", run)
    with pytest.raises(browser.NoBrowserError, match="no network"):
        browser.browser_path()

    assert command in ran[0]
