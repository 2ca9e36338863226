"""What an incident's report says to log where no line names a message."""

import pytest

from forensics.readiness import BATCH
from forensics.report.case import load_case
from forensics.report.log_readiness import not_checked, unlike_effects, unlike_keys, unlike_keys_text
from forensics.report.render import render
from forensics.tables.findings import LOGGING_READINESS
from tests.forensics.report import world

pytestmark = pytest.mark.slow

SEEN = ("handling_count", "named_count", "counted_count", "item_start_count", "effect_count", "response_count")


def consumer(group, level, queue_arn=world.QUEUE_ARN):
    row = dict.fromkeys(LOGGING_READINESS.column_names) | dict.fromkeys((*SEEN, "start_line_count"), 0)
    told = {"missing": [BATCH.what], "reasons": [BATCH.why], "python_lines": [BATCH.python], "node_lines": [BATCH.node]}
    return (
        row
        | told
        | {
            "queue_arn": queue_arn,
            "queue": world.QUEUE,
            "log_group": group,
            "consumer_kind": "lambda",
            "level": level,
            "sentence": "No line names a message.",
            "setting_lines": [""],
            "evidence_ids": [],
        }
    )


@pytest.fixture
def case(tmp_path):
    rows = [consumer("/aws/lambda/mute", "blind"), consumer("/aws/lambda/fine", "ready")]
    rows.append(consumer("/aws/lambda/elsewhere", "blind", world.QUEUE_ARN + "-other"))
    lake = world.save(tmp_path / "lake", world.findings() | {"logging_readiness": rows})
    return load_case(lake.findings(), world.INCIDENT)


@pytest.mark.parametrize("kind", ["html", "md"])
def test_the_lines_to_add_stand_in_the_report_for_each_consumer_that_names_no_message(case, kind):
    page = render(case, kind).decode()

    assert [row["log_group"] for row in case.to_log] == ["/aws/lambda/mute"]
    assert "What to log, so that the next incident names its messages" in page
    assert "/aws/lambda/mute" in page
    assert "/aws/lambda/elsewhere" not in page
    assert "Records: event.Records.map" in page


def test_a_report_whose_consumers_name_their_messages_has_nothing_to_add(tmp_path):
    lake = world.save(tmp_path / "lake", world.findings() | {"logging_readiness": [consumer("/g", "ready")]})

    assert b"What to log, so that" not in render(load_case(lake.findings(), world.INCIDENT), "html")


def test_of_whom_nothing_was_checked_is_told_by_queue_and_consumer(tmp_path):
    rows = [consumer("/aws/lambda/mute", "blind"), consumer("/aws/lambda/fine", "ready")]
    findings = world.save(tmp_path / "lake", world.findings() | {"logging_readiness": rows}).findings()

    assert not_checked(findings, "another") == []
    assert not_checked(findings) == [
        f"No line of /aws/lambda/mute names a message: what it got of {world.QUEUE} was not checked. "
        f"Look for lines that may: `doubletake suggest {world.QUEUE}`"
    ]


def test_of_whom_only_failures_were_checked_is_told_apart_from_whom_nothing_was(tmp_path):
    rows = [consumer("/aws/lambda/mute", "blind") | {"named_count": 1}]
    findings = world.save(tmp_path / "lake", world.findings() | {"logging_readiness": rows}).findings()

    assert not_checked(findings) == [
        f"Only lines of failures of /aws/lambda/mute name a message: what else it got of {world.QUEUE} was not checked. "
        f"Look for lines that may: `doubletake suggest {world.QUEUE}`"
    ]


EFFECT = r"charged (?P<key>\S+)"


def test_an_effect_that_no_line_is_like_is_told_where_lines_name_messages(tmp_path):
    named = {"named_count": 9, "handling_count": 9}
    rows = [
        consumer("/aws/lambda/charge", "partial") | named | {"function_name": "charge", "unlike_effect": EFFECT},
        consumer("/ecs/mail", "ready") | named | {"effect_count": 1},
        consumer("/aws/lambda/undeclared", "partial") | named,
        consumer("/ecs/blind", "blind") | {"unlike_effect": EFFECT},
    ]
    findings = world.save(tmp_path / "lake", world.findings() | {"logging_readiness": rows}).findings()

    assert unlike_effects(findings) == [
        "No line of charge is like its effect, 'charged (?P<key>\\S+)', so nothing tells which work was done. "
        f"Look for lines that do: `doubletake suggest {world.QUEUE}`"
    ]


def test_of_a_consumer_that_names_no_message_it_is_told_that_nothing_was_checked_and_no_more(tmp_path):
    rows = [consumer("/ecs/mail", "blind")]
    findings = world.save(tmp_path / "lake", world.findings() | {"logging_readiness": rows}).findings()

    assert unlike_effects(findings) == []


HANDED = {
    "queue": "orders",
    "log_group": "/aws/lambda/ship",
    "message_id": "m1",
    "business_keys": ["ord-1", "sns:ORD-1"],
}
LOGGED = HANDED | {"message_id": None, "basis": "marker", "business_keys": ["ORD-1"]}
KEYS = {
    "no line's key is a message's": ([HANDED, LOGGED], True),
    "one is": ([HANDED, LOGGED, HANDED | {"business_keys": ["ORD-1"]}], False),
    "a line with a message's key was told from its thread": ([HANDED, LOGGED, HANDED | {"basis": "marker"}], False),
    "messages have none": ([HANDED | {"business_keys": []}, LOGGED], False),
    "another consumer's messages have others": ([HANDED | {"log_group": "/ecs/other"}, LOGGED], False),
    "lines that tell of no effect": ([HANDED, LOGGED | {"basis": "no_item_lines"}], False),
    "no line names a key alone": ([HANDED], False),
}


@pytest.mark.parametrize(("rows", "is_told"), KEYS.values(), ids=KEYS)
def test_keys_of_effect_lines_that_no_message_has_are_told_with_one_of_each(tmp_path, rows, is_told):
    blank = world.findings()["deliveries"][0]
    told = [blank | {"item_id": f"i{n}", "basis": "returned", **row} for n, row in enumerate(rows)]
    findings = world.save(tmp_path / "lake", world.findings() | {"deliveries": told}).findings()

    sentence = unlike_keys_text("orders", "/aws/lambda/ship", "ORD-1", "ord-1")
    assert unlike_keys(findings) == unlike_keys(findings, "orders") == [sentence] * is_told
    assert unlike_keys(findings, "another") == []


def test_keys_that_look_the_same_are_told_by_their_characters():
    told = unlike_keys_text("orders", "ship", "Mu\u0308ller", "M\u00fcller")

    assert r"'Mu\u0308ller', messages 'M\xfcller'" in str(told)
