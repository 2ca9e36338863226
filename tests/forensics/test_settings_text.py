"""What is kept of the settings beside findings, and what is said of two that differ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.settings import Consumer, Queue, Settings, Team
from forensics.settings_text import bearing_text, changed_since, differences, text_digest

CHARGE = """
[[function]]
name = "charge-card"
effect = 'charged payment_id=(?P<key>\\S+)'
effect_is_exhaustive = true
order = "sequential"

[[queue]]
name = "payments.fifo"
business_key = "$.payment_id"
owner = "payments team"
"""


def bearing(text):
    return bearing_text(Settings.parse(text))


def test_what_is_kept_reads_as_a_settings_file_and_says_the_same():
    kept = Settings.parse(bearing(CHARGE))

    assert kept.functions == Settings.parse(CHARGE).functions
    assert kept.queues == (Queue("payments.fifo", "$.payment_id"),)


def test_who_may_look_and_what_is_told_where_is_not_kept():
    more = '[access]\nmode = "oidc"\nemails = ["a@example.com"]\n[notify]\nwebhook_env = "HOOK"\n[team]\nzone = "Asia/Tokyo"\n'
    kept = bearing(CHARGE + more)

    assert "example.com" not in kept
    assert "HOOK" not in kept
    assert "payments team" not in kept
    assert 'zone = "Asia/Tokyo"' in kept


def test_comments_and_order_of_a_file_make_no_other_digest():
    turned = "# ours\n" + "\n[[queue]]" + CHARGE.split("[[queue]]")[1] + CHARGE.split("[[queue]]")[0]

    assert text_digest(bearing(turned)) == text_digest(bearing(CHARGE))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_in_a_setting_is_kept_as_it_is(text):
    (queue,) = Settings.parse(bearing_text(Settings(queues=(Queue("q", "$." + "k", owner=text),)))).queues
    settings = Settings(functions=(Consumer(name=text),), team=Team(zone="UTC"))

    assert queue.business_key == "$.k"
    assert not differences(bearing_text(settings), bearing_text(settings))


CHANGES = {
    "all of it gone": ("", ["function charge-card is no longer in them", "queue payments.fifo is no longer in them"]),
    "one key": (
        CHARGE.replace("sequential", "parallel"),
        ["order of function charge-card was 'sequential', now 'parallel'"],
    ),
    "one key not set": (
        CHARGE.replace("effect_is_exhaustive = true\n", ""),
        ["effect_is_exhaustive of function charge-card was true, now not set"],
    ),
    "a worker more": (
        CHARGE + '[[worker]]\nlog_group = "/ecs/w"\nqueue = "q"\n',
        ["worker /ecs/w is new in them: queue 'q'"],
    ),
    "nothing that bears": (CHARGE.replace("payments team", "nobody"), []),
}


@pytest.mark.parametrize(("now", "told"), CHANGES.values(), ids=CHANGES)
def test_each_difference_is_told(now, told):
    found = differences(bearing(CHARGE), bearing(now))

    assert len(found) == len(told)
    assert all(line.startswith(start) for line, start in zip(found, told, strict=True))


def test_settings_that_an_earlier_release_did_not_keep_are_unknown_and_no_difference():
    assert changed_since(None, Settings.parse(CHARGE)) == []
    assert changed_since("", Settings.parse(CHARGE)) != []
