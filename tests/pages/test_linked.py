"""What a link says of zone, language, form and filters, in whatever language and case, and what stays in the address."""

import pytest

from pages._ui import incident
from pages._ui.said import in_words
from tests.pages.reading import words
from tests.pages.worlds import DOUBLE_BILLING

pytestmark = pytest.mark.page


def address(at, key):
    """Return what the address says, of which a test's browser makes a list."""
    said = at.query_params[key]
    return said if isinstance(said, str) else said[0]


@pytest.mark.parametrize(
    ("asked", "lang", "stays"),
    [("invocations", "en", "Invocations"), ("Invocations", "ja", "実行"), ("実行", "en", "Invocations")],
)
def test_the_form_that_a_link_names_stays_in_the_address_as_the_switch_writes_it(visit, asked, lang, stays):
    at = visit("pages/incident.py", "demo", incident=DOUBLE_BILLING, lanes=asked, lang=lang)

    assert at.segmented_control(key="lanes").value == "Invocations"
    assert address(at, "lanes") == stays
    assert not at.warning


def test_the_link_to_share_is_of_the_page_as_it_is_seen(visit):
    at = visit("pages/incident.py", "demo", incident=DOUBLE_BILLING, lanes="invocations", gaps="true")
    shared = next(code.value for code in at.code if "incident?" in code.value)

    assert "lanes=Invocations" in shared and "gaps=true" in shared


@pytest.mark.parametrize("asked", ["Browser", "browser", "ブラウザー"])
@pytest.mark.parametrize("lang", ["en", "ja"])
def test_the_browser_s_zone_is_known_in_every_language(visit, asked, lang):
    at = visit("app.py", "demo", zone="Asia/Tokyo", tz=asked, lang=lang)

    assert at.segmented_control(key="tz").value == "Browser"
    assert address(at, "tz") == asked
    assert not at.warning


@pytest.mark.parametrize("asked", ["ja", "JA", "日本語"])
def test_a_link_s_language_stays_in_the_address_and_with_the_reader(visit, asked):
    at = visit("pages/messages.py", "demo", lang=asked)
    stays = address(at, "lang")
    del at.query_params["lang"]  # the way back to a page whose address was written before
    at.run()

    assert stays == asked
    assert at.segmented_control(key="lang").value == "ja"


def test_the_language_that_the_switch_chose_is_in_the_address_by_its_code(visit):
    at = visit("pages/messages.py", "demo")
    at.segmented_control(key="lang").set_value("ja").run()
    chosen = address(at, "lang")
    at.segmented_control(key="lang").set_value("en").run()

    assert chosen == "ja"
    assert "lang" not in at.query_params


def test_a_language_that_there_is_not_is_said(visit):
    at = visit("app.py", "demo", lang="fr")

    assert "lang=fr of the link is ignored: there is English, 日本語." in words(at)


@pytest.mark.parametrize("asked", ["batch_collateral", "Finished, but its batch failed", "完了後にバッチが失敗"])
def test_a_filter_is_read_as_the_switch_writes_it(visit, asked):
    at = visit("app.py", "demo", kind=asked)

    assert at.selectbox(key="kind").value == "batch_collateral"
    assert not at.warning


@pytest.mark.parametrize(
    ("zone", "told"), [("America/New_York", "09:45:00.000 UTC-05:00"), ("UTC", "14:45:00.000 UTC")]
)
def test_a_sentence_s_times_are_in_the_zone_of_the_page(visit, monkeypatch, zone, told):
    monkeypatch.setattr(
        incident, "told_cause", lambda *_: in_words("It is final after 2026-11-26 14:45:00.000 UTC, or sealed.")
    )
    at = visit("pages/incident.py", "demo", zone=zone, incident=DOUBLE_BILLING, tz="Browser")

    assert f"2026-11-26 {told}, or sealed." in words(at).replace("\\", "")
