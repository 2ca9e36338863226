"""Proposals in the settings file: what stood there stays, and what is written can be read."""

from dataclasses import replace

import pytest

from forensics.errors import SettingsError
from forensics.settings import Settings
from forensics.suggestions import Proposal, settings_text

EFFECT = Proposal(
    "function", "charge-card", "effect", r"charged (?P<key>\S+)", 99, 100, "messages", "it closes the work"
)
KEY = Proposal("queue", "payments.fifo", "business_key", "$.payment_id", 100, 100, "messages", "the effect prints it")


def test_an_empty_file_gets_its_sections_with_the_evidence_above_each_key():
    text = settings_text("", [EFFECT, KEY])
    settings = Settings.parse(text)

    assert settings.functions[0].effect == EFFECT.value
    assert settings.queue("payments.fifo").business_key == "$.payment_id"
    assert "# fits 99.0 % of 100 messages: it closes the work\neffect = 'charged (?P<key>\\S+)'" in text


def test_comments_order_and_other_keys_of_a_file_stay():
    before = (
        '# ours\n[team]\nzone = "Asia/Tokyo"\n\n[[function]]\nname = "charge-card" # the one\norder = "sequential"\n'
    )
    text = settings_text(before, [EFFECT])
    settings = Settings.parse(text)

    assert text.startswith(before)
    assert len(settings.functions) == 1
    assert (settings.functions[0].order, settings.functions[0].effect) == ("sequential", EFFECT.value)


def test_a_key_that_is_there_is_not_written_again():
    once = settings_text("", [EFFECT])

    assert settings_text(once, [replace(EFFECT, value="other (?P<key>x)")]) == once


def test_an_expression_with_both_kinds_of_quotes_is_read_back_as_it_was():
    odd = replace(EFFECT, value='it\'s "done" (?P<key>\\S+)')

    assert Settings.parse(settings_text("", [odd])).functions[0].effect == odd.value


def test_a_file_that_is_no_toml_is_one_sentence():
    with pytest.raises(SettingsError, match="not valid TOML"):
        settings_text("[[", [EFFECT])
