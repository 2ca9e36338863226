"""Every page in Japanese: no English is left but names, ids and lines of logs."""

from string import ascii_letters
from unicodedata import east_asian_width

import pytest

from tests.pages.english import english_in, texts
from tests.pages.reading import PAGES, words

pytestmark = pytest.mark.page

MESSAGE = {"pages/messages.py": {"q": "pay_10"}}


def left_in_english(at) -> dict[str, list[str]]:
    """Return every text of a page that has English words, with the words."""
    return {f"{where}: {text}": found for where, text in texts(at) if (found := english_in(text))}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_no_english_but_names_and_ids(visit, page):
    at = visit(page, "demo", lang="ja", **MESSAGE.get(page, {}))

    assert not at.exception
    assert left_in_english(at) == {}


@pytest.mark.parametrize("world", ["gaps", "blind", "empty", "evidence-only"])
@pytest.mark.parametrize("page", ["app.py", "pages/incident.py", "pages/queue_health.py", "pages/data.py"])
def test_a_page_on_a_poor_lake_has_no_english_either(visit, page, world):
    assert left_in_english(visit(page, world, lang="ja")) == {}


def test_the_probe_finds_english_where_it_is(visit):
    found = left_in_english(visit("pages/incident.py", "demo"))

    for where in ("button.label", "figure.name", "figure.note", "column", "cell of Effect"):
        assert any(text.startswith(where) for text in found), where


CARD_CHARS = 20
"""Latin characters that a card's label shows where two stand side by side on a phone of 390 px; the help takes 2 of them."""


@pytest.mark.parametrize("lang", ["en", "ja"])
@pytest.mark.parametrize("page", ["app.py", "pages/queue_health.py", "pages/data.py"])
def test_on_a_phone_no_label_of_a_card_is_cut(visit, page, lang):
    cards = visit(page, "demo", lang=lang).metric
    width = {card.label: sum(2 if east_asian_width(c) in "WF" else 1 for c in card.label) for card in cards}

    assert cards
    assert [card.label for card in cards if width[card.label] + 2 * bool(card.help) > CARD_CHARS] == []


def test_the_team_says_the_language_and_the_link_another(visit, tmp_path):
    (tmp_path / "doubletake.toml").write_text('[team]\nlanguage = "ja"\n')

    assert visit("app.py", "demo").title[0].value == "インシデント一覧"
    assert visit("app.py", "demo", lang="en").title[0].value == "Incidents"


@pytest.mark.parametrize("page", ["pages/incident.py", "pages/report.py"])
def test_the_heading_of_a_page_without_an_incident_is_in_the_readers_language(visit, page):
    at = visit(page, "nothing", lang="ja")

    assert not set(at.title[0].value) & set(ascii_letters)


def test_the_switch_stands_in_the_sidebar_and_changes_the_page(visit):
    at = visit("app.py", "demo")
    at.segmented_control(key="lang").set_value("ja").run()

    assert at.title[0].value == "インシデント一覧"
    assert "2 回以上処理されました" in words(at)
