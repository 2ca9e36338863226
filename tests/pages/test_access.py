"""The gate: who is not let in sees no page at all, whichever address they open."""

import time
import tomllib
from datetime import UTC, datetime

import pytest
from streamlit import config

from forensics.access import Access
from pages._ui import access
from tests.pages.reading import PAGES, ROOT, words
from tests.pages.worlds import DOUBLE_BILLING, uuid

pytestmark = pytest.mark.page

OIDC = '[access]\nmode = "oidc"\nemails = ["ana@example.com", "@team.example.com"]\n'
ANA = {"is_logged_in": True, "email": "ana@example.com", "iat": time.time()}


@pytest.fixture
def guarded(visit, tmp_path, monkeypatch):
    """Open a page with a login in front of it, as somebody with these claims."""
    (tmp_path / "doubletake.toml").write_text(OIDC)

    def open_as(page, claims, **keys):
        monkeypatch.setattr(access, "claims", lambda: claims)
        return visit(page, "demo", incident=DOUBLE_BILLING, q=uuid("payment", 3), **keys)

    return open_as


def shows_nothing(at):
    """Tell whether a page keeps everything of the lake to itself."""
    kinds = ("dataframe", "metric", "plotly_chart", "download_button", "code", "subheader", "page_link", "selectbox")
    return not any(at.get(kind) for kind in kinds) and "payments" not in words(at)


@pytest.mark.parametrize("page", PAGES)
def test_a_visitor_who_did_not_sign_in_sees_only_the_button(guarded, page):
    at = guarded(page, {})

    assert not at.exception
    assert [b.label for b in at.button] == ["Sign in"]
    assert at.title[0].value == "Doubletake"
    assert shows_nothing(at)


@pytest.mark.parametrize("page", PAGES)
def test_a_stranger_who_signed_in_sees_no_page_either(guarded, page):
    at = guarded(page, ANA | {"email": "eve@example.com"})

    assert "eve@example.com is not on the list" in at.error[0].value.replace("\\", "")
    assert shows_nothing(at)


@pytest.mark.parametrize("page", PAGES)
def test_whoever_is_on_the_list_sees_the_page(guarded, page):
    at = guarded(page, ANA)

    assert not at.exception
    assert not at.error
    assert "Sign out" in [b.label for b in at.button]
    assert not shows_nothing(at)


@pytest.mark.parametrize("page", PAGES)
def test_while_the_settings_file_is_broken_nobody_is_let_in(visit, tmp_path, page):
    (tmp_path / "doubletake.toml").write_text(OIDC + "[access\n")
    at = visit(page, "demo")

    assert "DATA-01" in words(at)
    assert shows_nothing(at)


@pytest.mark.parametrize("page", PAGES)
def test_beyond_this_machine_nothing_is_shown_without_a_login(visit, monkeypatch, page):
    monkeypatch.setattr(access.st, "get_option", lambda name: "0.0.0.0")
    at = visit(page, "demo")

    assert "listens beyond this machine" in words(at)
    assert shows_nothing(at)


def test_a_mark_carries_the_name_of_who_signed_in(guarded):
    name = guarded("pages/incident.py", ANA).text_input(key="mark_author")

    assert (name.value, name.disabled) == ("ana@example.com", True)


PROMISED = {
    "server.address": "127.0.0.1",
    "server.allowedHosts": ["127.0.0.1", "localhost"],
    "server.enableCORS": True,
    "server.enableXsrfProtection": True,
    "server.enableStaticServing": False,
    "server.maxUploadSize": 50,
    "client.showErrorDetails": "none",
    "client.showErrorLinks": False,
    "client.showSidebarNavigation": False,
    "client.toolbarMode": "minimal",
    "client.disableDataExport": True,
    "browser.gatherUsageStats": False,
}


@pytest.mark.parametrize("name", PROMISED)
def test_the_server_is_closed_by_its_own_configuration(name):
    section, key = name.split(".")
    said = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())

    assert said[section][key] == PROMISED[name]
    assert name in config.get_config_options(), "Streamlit does not know this option"


NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
HOUR_S = 3600
LIST = Access("oidc", ("ana@example.com", "@team.example.com"))
REFUSED = {
    "no address": ({}, "no e-mail address"),
    "another address": ({"email": "ana@example.org"}, "not on the list"),
    "an address that only ends like one of the list": ({"email": "x-ana@example.com"}, "not on the list"),
    "a domain inside another": ({"email": "eve@evil-team.example.com"}, "not on the list"),
    "a domain below the listed one": ({"email": "eve@a.team.example.com"}, "not on the list"),
    "only a domain": ({"email": "@team.example.com"}, "not on the list"),
    "an address the provider did not verify": ({"email": "ana@example.com", "email_verified": False}, "not verified"),
    "one it says so of in words": ({"email": "ana@example.com", "email_verified": "false"}, "not verified"),
}


@pytest.mark.parametrize(("claims", "why"), REFUSED.values(), ids=REFUSED)
def test_the_list_refuses(claims, why):
    assert why in LIST.refusal(claims)


@pytest.mark.parametrize("email", ["ana@example.com", "ANA@Example.com ", "ben@team.example.com"])
def test_the_list_lets_in(email):
    assert LIST.refusal({"email": email, "email_verified": True}) is None


AGES = {
    "just made": ({"iat": NOW.timestamp()}, False),
    "nearly over": ({"iat": NOW.timestamp() - 12 * HOUR_S}, False),
    "over": ({"iat": NOW.timestamp() - 12 * HOUR_S - 1}, True),
    "made nobody says when": ({}, True),
    "made at a time that is none": ({"iat": "yesterday"}, True),
    "made at a time that is no number": ({"iat": float("nan")}, True),
    "made by a clock a little ahead": ({"iat": NOW.timestamp() + 60}, False),
    "made tomorrow": ({"iat": NOW.timestamp() + 24 * HOUR_S}, True),
}


@pytest.mark.parametrize(("claims", "is_over"), AGES.values(), ids=AGES)
def test_a_sign_in_is_over_after_its_hours(claims, is_over):
    assert LIST.is_over(claims, NOW) is is_over


@pytest.mark.parametrize("page", PAGES)
def test_whoever_signed_in_yesterday_is_asked_again_and_sees_no_page(guarded, page):
    at = guarded(page, ANA | {"iat": time.time() - 13 * HOUR_S})

    assert "older than 12 h" in at.info[0].value
    assert [b.label for b in at.button] == ["Sign in"]
    assert shows_nothing(at)
