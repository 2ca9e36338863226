"""The Data page: what was read, what is missing, and the settings in force."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from forensics.lake import Lake
from forensics.settings_text import text_digest
from pages._ui import sources
from pages._ui.cards import MOST_NAME_PX, ROW_PX, TEXT_CELL_PX, TEXT_PADDING_PX
from tests.pages import tales
from tests.pages.reading import words
from tests.pages.worlds import START, Story

pytestmark = pytest.mark.page


def test_the_policy_of_the_role_that_reads_can_be_downloaded(visit):
    at = visit("pages/data.py", "demo")
    button = next(b for b in at.get("download_button") if b.proto.label == "Required permissions")

    assert json.loads(sources.POLICY.read_text())["Version"] == "2012-10-17"
    assert button.proto.url


def test_data_says_what_was_read_and_that_looking_changes_nothing(visit):
    at = visit("pages/data.py", "demo")

    assert "All 3 sources read in full for the requested period" in words(at)
    assert "never calls ReceiveMessage" in words(at)


def test_data_names_gaps_and_marks_the_day(visit):
    at = visit("pages/data.py", "gaps")
    coverage, missing = at.dataframe[0].value, at.dataframe[1].value

    assert coverage.set_index("Queue").loc["mail", "18 Nov"] == "◐ partial"
    assert "AccessDenied" in missing["Why"][0]
    assert missing["Length"][0] == "30 min"


@pytest.mark.parametrize("name", ["mail", "prod-eu-west-1-payments-platform-card-authorisation-capture-requests-v2"])
def test_queues_that_begin_alike_are_named_whole_where_coverage_is_told(visit, tmp_path, name):
    story = Story(data_until_at=START)
    story.coverage(replace(tales.MAIL, queue=name), START - timedelta(hours=1), START)
    coverage = visit("pages/data.py", story.save(tmp_path / "lake")).dataframe[0]
    lines = -(-len(name) * TEXT_CELL_PX // (MOST_NAME_PX - TEXT_PADDING_PX))

    assert list(coverage.value["Queue"]) == [name]
    assert coverage.proto.row_height >= 20 * lines
    assert (coverage.proto.row_height == ROW_PX) == (lines == 1)


def test_data_shows_the_settings_file_word_for_word(visit, tmp_path):
    text = "[[function]]\nname = 'charge-card'\neffect = 'charged (?P<key>\\S+)'\n"
    (tmp_path / "doubletake.toml").write_text(text)
    at = visit("pages/data.py", "demo")

    assert any(code.value == text.strip() for code in at.code)


def test_data_looks_for_the_marks_of_a_queue_on_demand_and_says_what_it_found(visit):
    at = visit("pages/data.py", "demo")
    before = words(at)
    at.button(key="look_for_marks").click().run()

    assert "Find the marks in the log" in before
    assert "Nothing to propose" not in before
    assert not at.exception
    assert "Nothing to propose" in words(at) or "All together" in words(at)


MADE_WITH = '[[function]]\nname = "charge-card"\norder = "sequential"\n'


@pytest.fixture
def made_with_settings(tmp_path, monkeypatch):
    """A lake whose findings were made with settings, and a working folder without any."""
    monkeypatch.chdir(tmp_path)
    story = Story(data_until_at=START + timedelta(hours=1))
    story.coverage(tales.CHARGE, START - timedelta(days=1), story.data_until_at)
    tales.double_billing(story)
    root = story.save(tmp_path / "lake", with_findings=False)
    kept = {
        "settings_text": MADE_WITH,
        "settings_digest": text_digest(MADE_WITH),
        "made_at": START + timedelta(hours=2),
    }
    story.publish(Lake(root), **kept)
    return root


def test_the_settings_shown_are_those_the_version_was_made_with_beside_todays(visit, made_with_settings):
    at = visit("pages/data.py", made_with_settings)
    said = words(at).replace("\\", "")

    assert MADE_WITH.strip() in [c.value for c in at.code]
    assert "function charge-card is no longer in them: order 'sequential'" in said
    assert "Made with other settings than today's (1 difference): see Data." in said
    assert at.dataframe[-2].value["Settings"][0] == text_digest(MADE_WITH)
    assert at.dataframe[-2].value["Made at"][0].startswith("20 Nov")


def test_a_settings_file_in_the_lake_is_found(visit, made_with_settings):
    (made_with_settings / "doubletake.toml").write_text("# ours\n" + MADE_WITH)
    said = words(visit("pages/data.py", made_with_settings)).replace("\\", "")

    assert "lake/doubletake.toml): the same settings." in said
    assert "other settings" not in said


def test_settings_that_were_not_kept_are_not_called_defaults(visit):
    said = words(visit("pages/data.py", "demo"))

    assert "did not keep the settings it was made with" in said
    assert "every default" not in said


def test_whole_numbers_of_tables_are_read_in_thousands(visit):
    at = visit("pages/data.py", "demo")
    columns = [json.loads(frame.proto.columns) for frame in at.dataframe]
    formats = {
        name: kind["type_config"].get("format")
        for table in columns
        for name, kind in table.items()
        if "type_config" in kind
    }

    assert formats["Rows"] == formats["Seen"] == "localized"
    assert formats.get("Queue") is None


def test_wide_tables_show_the_columns_that_fit_and_a_chosen_row_whole(visit):
    at = visit("pages/data.py", "demo", selection={"sources": {"selection": {"rows": [0], "cells": []}}})
    shown = {tuple(frame.proto.column_order) for frame in at.dataframe}

    assert ("Queue", "Source", "Resource", "State", "Read until", "Last event") in shown
    assert all(len(columns) <= 6 for columns in shown)
    assert any("**Read from**" in m.value and "**Stored**" in m.value for m in at.markdown)


def test_the_data_versions_count_incidents_in_japanese_too(visit):
    at = visit("pages/data.py", "demo", lang="ja")
    labels = [json.loads(table.proto.columns).get("Incidents", {}).get("label") for table in at.dataframe]

    assert "インシデント" in labels
