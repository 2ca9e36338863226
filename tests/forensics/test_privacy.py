"""Configured redaction: what patterns match is never written, no line makes them slow, handles always go."""

import pytest

from forensics.errors import ForensicsError
from forensics.privacy import REDACTED, Privacy, redact, redacting
from forensics.settings import Settings
from tests.ingest.world import HANDLE
from tests.waiting import grows_with_its_input

CARD = r"redact = ['\b\d{13,16}\b', '(?i)bearer [a-z0-9._-]+', '[a-z0-9._%+-]+@[a-z0-9.-]+\.[a-z]{2,}']"


def test_what_a_pattern_matches_is_replaced_wherever_it_stands():
    with redacting(Settings.parse(CARD)):
        cleaned = redact("card 4111111111111111 of ann@example.org, Authorization: Bearer abc.def-1 \u2028 grüße")

    assert cleaned == f"card {REDACTED} of {REDACTED}, Authorization: {REDACTED} \u2028 grüße"


def test_rules_hold_inside_the_block_only_and_handles_always_go():
    line = f"card 4111111111111111, receiptHandle: '{HANDLE}'"
    with redacting(Settings.parse(CARD)):
        inside = redact(line)

    assert "4111111111111111" not in inside
    assert "4111111111111111" in redact(line)
    assert HANDLE not in inside + redact(line)


def test_half_a_surrogate_pair_is_no_reason_to_stop():
    with redacting(Settings.parse(CARD)):
        assert redact("4111111111111111 \ud800") == f"{REDACTED} \\ud800"


def test_bodies_go_only_if_the_settings_say_so_and_business_keys_stay():
    line = '{"messageId": "m", "body": "{\\"payment_id\\": \\"p-17\\", \\"card\\": 4111}"}'
    privacy = Privacy.of(Settings.parse("keep_bodies = false\n[[queue]]\nname = 'q'\nbusiness_key = '$.payment_id'"))

    assert Privacy().clean(line) == line
    assert privacy.clean(line) == '{"messageId": "m", "body": "{\\"payment_id\\": \\"p-17\\"}"}'


BAD = {
    "not a list": ("redact = 'x'", "redact = 'x' is not a list"),
    "not text": ("redact = [7]", "redact has 7, which is not a text"),
    "not a pattern": ("redact = ['(']", "missing )"),
    "a lookahead": ("redact = ['a(?=b)']", "invalid perl operator"),
    "a back-reference": (r"redact = ['(a)\1']", "invalid escape sequence"),
    "matches nothing": ("redact = ['x*']", "matches an empty text"),
    "not true or false": ("keep_bodies = 'no'", "is not true or false"),
    "in a section": ("[team]\nkeep_bodies = false", "no key 'keep_bodies'"),
}


@pytest.mark.parametrize(("text", "sentence"), BAD.values(), ids=BAD)
def test_a_rule_that_cannot_be_meant_is_said_before_anything_is_read(text, sentence):
    with pytest.raises(ForensicsError) as caught:
        Settings.parse(text)

    assert sentence in str(caught.value)


SLOW = {
    "e-mail": (r"[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}", "a" * 1_000_000),
    "nested repeats": (r"(x+x+)+y", "x" * 1_000_000),
    "alternatives": (r"(a|aa)+$", "a" * 1_000_000 + "b"),
    "card": (r"\b(?:\d[ -]*?){13,16}\b", "1 " * 500_000),
    "secrets": (r"(?i)(?:secret|token|password)\s*[:=]\s*\S+", "secret " * 140_000),
}


@pytest.mark.parametrize(("pattern", "line"), SLOW.values(), ids=SLOW)
def test_no_line_of_a_megabyte_makes_a_pattern_slow(pattern, line):
    privacy = Privacy(patterns=(pattern,))

    assert grows_with_its_input(privacy.clean, line)
