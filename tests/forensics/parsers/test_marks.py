"""What a team configured for a consumer, on the consumer's lines: marks, and the places where ids and counts stand."""

import pytest

from forensics.parsers import parse_line
from forensics.parsers.marks import Mark
from forensics.settings import Consumer, Settings

ID = "861bec95-b670-4f2a-acf9-19d5bdd7cbe5"
SETTINGS = Settings.parse(
    r"""
[[worker]]
log_group = "/ecs/orders-worker"
message_id = "$.sqs.id"
receive_count = "$.sqs.count"
started = '"event": "start"'
deleted = '"event": "deleted"'
failed = '"event": "failed"'
effect = 'charged payment_id=(?P<key>\S+)'

[[function]]
name = "charge-card"
message_id = 'msg=(?P<message_id>[0-9a-fA-F-]{36})'
receive_count = 'attempt=(?P<receive_count>[0-9]+)'
started = 'begin'
visibility_set = 'lease for (?P<seconds>[0-9.]+) s'
effect = 'charged (?P<key>p-[0-9]+)'
guard = 'already charged (?P<key>p-[0-9]+)'
"""
)
WORKER, FUNCTION = SETTINGS.workers[0], SETTINGS.functions[0]
MARKS = ("started", "effect", "guard_mark", "deleted_mark", "failed_mark", "visibility_mark")

CASES = {
    "an id and a number in JSON": (
        WORKER,
        f'{{"event": "start", "sqs": {{"id": "{ID}", "count": 3}}}}',
        {"started": Mark(ID, None), "receive_count": 3},
    ),
    "an id in capitals, a number in quotes": (
        WORKER,
        f'{{"event": "deleted", "sqs": {{"id": "{ID.upper()}", "count": "2"}}}}',
        {"deleted_mark": Mark(ID, None), "receive_count": 2},
    ),
    "no id, and a count that is none": (WORKER, '{"event": "failed", "sqs": {"count": "many"}}', {}),
    "another shape where the id should stand": (WORKER, '{"event": "failed", "sqs": ["861bec95"]}', {}),
    "a key alone": (WORKER, "charged payment_id=p-9", {"effect": Mark(None, "p-9")}),
    "an id and a count in text": (
        FUNCTION,
        f"begin msg={ID.upper()} attempt=2",
        {"started": Mark(ID, None), "receive_count": 2},
    ),
    "a mark about no message": (FUNCTION, "begin attempt=2", {"receive_count": 2}),
    "a key beside the id": (FUNCTION, f"charged p-7 msg={ID}", {"effect": Mark(ID, "p-7")}),
    "a guard that holds the words of the effect": (
        FUNCTION,
        "already charged p-7",
        {"guard_mark": Mark(None, "p-7")},
    ),
    "a guard beside the effect": (
        FUNCTION,
        "charged p-7, as it was not already charged p-7",
        {"guard_mark": Mark(None, "p-7"), "effect": Mark(None, "p-7")},
    ),
    "for how long it is hidden": (FUNCTION, f"lease for 40 s msg={ID}", {"visibility_mark": Mark(ID, None, 40)}),
    "for no whole seconds": (FUNCTION, f"lease for 4.5 s msg={ID}", {}),
    "a long line": (
        WORKER,
        '{"event": "start", "note": "' + "\\u00e9 \U0001f600 " * 30_000 + '", "sqs": {"id": "A1"}}',
        {"started": Mark("a1", None)},
    ),
}


@pytest.mark.parametrize(("consumer", "line", "expected"), CASES.values(), ids=CASES)
def test_a_line_says_what_its_consumer_is_configured_for(consumer, line, expected):
    said = parse_line(line, consumer)

    assert {name: getattr(said, name) for name in (*MARKS, "receive_count")} == {
        **dict.fromkeys((*MARKS, "receive_count")),
        **expected,
    }


DENIED = {
    "already charged": "already charged p-7",
    "in capitals": "ALREADY charged p-7",
    "been done": "pay has already been charged p-7",
    "not done": "was not charged p-7",
    "not done yet": "not yet charged p-7",
    "with a short form": "hadn't been charged p-7",
    "never done": "never charged p-7",
    "before": "previously charged p-7",
    "in one word": "event=already_charged p-7",
    "in a field": '{"event": "not-charged p-7"}',
}
SAID = {
    "nothing before it": "charged p-7",
    "further words before it": "already there: charged p-7",
    "another sentence": "it was not. charged p-7",
    "a part of a word": "knot charged p-7",
    "a longer word": "another charged p-7",
    "behind it": "charged p-7, not p-8, already",
    "on the line before": "already\ncharged p-7",
    "so long before it that it says nothing": f"not{' ' * 40}charged p-7",
}


@pytest.mark.parametrize("line", DENIED.values(), ids=DENIED)
def test_an_effect_is_none_that_the_words_before_it_deny(line):
    assert parse_line(line, Consumer(effect="charged (?P<key>p-[0-9]+)")).effect is None


@pytest.mark.parametrize("line", SAID.values(), ids=SAID)
def test_other_words_deny_no_effect(line):
    assert parse_line(line, Consumer(effect="charged (?P<key>p-[0-9]+)")).effect == Mark(None, "p-7")


def test_what_an_expression_itself_matches_denies_nothing():
    consumer = Consumer(effect="not yet charged (?P<key>p-[0-9]+)")

    assert parse_line("not yet charged p-7", consumer).effect == Mark(None, "p-7")


DENIABLE = {
    "effect": ("effect", None),
    "started": ("started", None),
    "deleted": ("deleted_mark", None),
    "guard": ("guard_mark", Mark(None, "p-7")),
    "failed": ("failed_mark", Mark(None, "p-7")),
}


@pytest.mark.parametrize(("setting", "expected"), DENIABLE.items(), ids=DENIABLE)
def test_what_says_that_work_began_or_was_done_can_be_denied(setting, expected):
    name, mark = expected
    said = parse_line("already done p-7", Consumer(**{setting: "done (?P<key>p-[0-9]+)"}))

    assert getattr(said, name) == mark
