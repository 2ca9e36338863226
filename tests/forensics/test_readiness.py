"""What a log lacks, and whether the lines we ask for would tell it: each is run, and what it prints is read."""

import contextlib
import io
import json
import shutil
import subprocess

import pytest

from forensics.parsers import parse_line
from forensics.readiness import BATCH, EFFECT, ITEM_START, RECEIVED, RESPONSE, LogFacts, Missing, readiness
from forensics.settings import Settings

MESSAGE_ID = "861bec95-b670-4f2a-acf9-19d5bdd7cbe5"
RECORD = {
    "messageId": MESSAGE_ID,
    "receiptHandle": "AQEBsecret",
    "body": '{"card": "4111"}',
    "attributes": {"ApproximateReceiveCount": "2", "SentTimestamp": "1", "ApproximateFirstReceiveTimestamp": "2"},
    "md5OfBody": "0" * 32,
    "eventSourceARN": "arn:aws:sqs:eu-west-1:123456789012:payments",
}
RECEIVED_MESSAGE = {
    "MessageId": MESSAGE_ID,
    "ReceiptHandle": "AQEBsecret",
    "Body": '{"card": "4111"}',
    "MD5OfBody": "0" * 32,
    "Attributes": RECORD["attributes"],
}
NAMES = {
    "event": {"Records": [RECORD]},
    "record": RECORD,
    "message": RECEIVED_MESSAGE,
    "failures": [{"itemIdentifier": MESSAGE_ID}],
}


def printed_by_python(missing: Missing) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(missing.python, {"json": json, **NAMES})
    return out.getvalue()


def printed_by_node(missing: Missing) -> str:
    given = "".join(f"const {name} = {json.dumps(value)};\n" for name, value in NAMES.items())
    done = subprocess.run(["node", "-e", given + missing.node], capture_output=True, text=True, check=True, timeout=20)
    return done.stdout


ENGINES = {
    "python": printed_by_python,
    "node": pytest.param(
        printed_by_node, marks=pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
    ),
}


@pytest.mark.parametrize("printed", ENGINES.values(), ids=ENGINES)
@pytest.mark.parametrize("missing", [BATCH, RECEIVED], ids=["batch", "received"])
def test_the_line_for_the_batch_tells_id_and_count_and_no_secret(printed, missing):
    text = printed(missing)
    (record,) = parse_line(text).records or []

    assert (record.message_id, record.receive_count) == (MESSAGE_ID, 2)
    assert "AQEB" not in text
    assert "4111" not in text


@pytest.mark.parametrize("printed", ENGINES.values(), ids=ENGINES)
@pytest.mark.parametrize(("missing", "mark"), [(EFFECT, "effect"), (ITEM_START, "started")], ids=["effect", "start"])
def test_the_line_for_an_item_is_found_by_the_setting_beside_it(printed, missing, mark):
    settings = Settings.parse(f'[[function]]\nname = "charge"\n{missing.setting}\n')
    found = getattr(parse_line(printed(missing), settings.functions[0]), mark)

    assert found.message_id == MESSAGE_ID


@pytest.mark.parametrize("printed", ENGINES.values(), ids=ENGINES)
def test_the_line_for_the_response_names_what_was_given_back(printed):
    assert parse_line(printed(RESPONSE)).batch_item_failures == [MESSAGE_ID]


FULL = LogFacts("lambda", 9, 9, 9, 9, 9, 9, 9, asks_response=True, effect="done (?P<key>.*)")
LEVELS = {
    "everything": (FULL, "ready", []),
    "no message named": (FULL._replace(with_message=0, with_count=0), "blind", ["the batch"]),
    "no message named by a worker": (FULL._replace(kind="worker", with_message=0), "blind", ["the message"]),
    "no receive counts": (FULL._replace(with_count=0), "partial", ["the receive count"]),
    "effects printed, but not declared": (FULL._replace(effect=None), "partial", ["the effect"]),
    "effects declared, but not printed": (FULL._replace(with_effect=0), "partial", ["the effect"]),
    "no item starts": (FULL._replace(with_item_start=0), "partial", ["an item's start"]),
    "no response": (FULL._replace(with_response=0), "partial", ["the response"]),
    "no response, none asked for": (FULL._replace(with_response=0, asks_response=False), "ready", []),
    "no response, mapping not known": (FULL._replace(with_response=0, asks_response=None), "ready", []),
}


@pytest.mark.parametrize(("log", "level", "missing"), LEVELS.values(), ids=LEVELS)
def test_readiness_of_a_log(log, level, missing):
    found = readiness(log)

    assert found.level == level
    assert [m.what for m in found.missing] == missing


EXHAUSTIVE = FULL._replace(is_exhaustive=True, unmarked=2, unmarked_id="m-1")
CONTRADICTED = {
    "messages without it": (EXHAUSTIVE, True),
    "none without it": (EXHAUSTIVE._replace(unmarked=0, unmarked_id=None), False),
    "not every effect is to print it": (EXHAUSTIVE._replace(is_exhaustive=False), False),
    "no line is like it at all": (EXHAUSTIVE._replace(with_effect=0), False),
}


@pytest.mark.parametrize(("log", "is_said"), CONTRADICTED.values(), ids=CONTRADICTED)
def test_work_without_the_line_that_every_effect_prints_is_said_with_an_example(log, is_said):
    expected = "without an effect line: 2 messages, such as m-1. That counts as work not done"

    assert (expected in readiness(log).sentence) is is_said
