"""Text of bodies and lines leads to the messages it speaks of, and to no other."""

import json

import pytest

from forensics.finding import TextUnclearError, in_lines
from forensics.finding.lines import BODY, LINE, RUN
from tests.forensics.report import world


def record(n, body):
    return {
        "messageId": world.IDS[n],
        "receiptHandle": "RH~x",
        "body": json.dumps(body),
        "attributes": {"ApproximateReceiveCount": "1", "SenderId": f"AROA:{'till' if n else 'shop'}"},
    }


PRINTED = {"Records": [record(0, {"customer": "cust-7", "note": "caf\u00e9"}), record(1, {"customer": "cust-81"})]}


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    lines = world.lines()
    lines[1]["line"] = json.dumps(PRINTED)
    lines[2]["line"] = "charged payment_id=pay-1001 for Order 55-A"
    lines[3]["line"] = "the till of shop 9 answered slowly"
    return world.save(tmp_path_factory.mktemp("text") / "lake", world.findings(), lines)


def found(lake, text, incident=None):
    return {item: way for line in in_lines(lake.findings(), text, incident) for (_, item), way in line.messages.items()}


def test_a_value_of_a_body_leads_to_its_message_and_not_to_its_batch(lake):
    assert found(lake, "cust-7") == {world.IDS[0]: BODY}
    assert found(lake, "CUST-8") == {world.IDS[1]: BODY}
    assert found(lake, "cust-") == {world.IDS[0]: BODY, world.IDS[1]: BODY}


def test_what_json_escapes_is_found_as_it_was_meant(lake):
    (line,) = in_lines(lake.findings(), "caf\u00e9")

    assert line.log_group == world.GROUP


def test_who_sent_it_is_found(lake):
    assert found(lake, "AROA:till") == {world.IDS[1]: BODY}


def test_a_line_that_one_delivery_cites_leads_to_that_message(lake):
    assert world.IDS[0] in found(lake, "order 55-a")
    assert set(found(lake, "order 55-a").values()) <= {LINE, RUN}


def test_a_line_that_nothing_cites_leads_to_the_messages_of_its_run(lake):
    assert found(lake, "answered slowly") == dict.fromkeys(world.IDS, RUN)


def test_the_lines_of_one_incident_can_be_searched(lake):
    assert found(lake, "cust-7", world.INCIDENT) == {world.IDS[0]: BODY}
    with pytest.raises(TextUnclearError, match="no incident 'other'"):
        in_lines(lake.findings(), "cust-7", "other")


@pytest.mark.parametrize("text", ["", "  ", "ab"])
def test_a_text_that_is_too_short_is_refused_with_its_value(lake, text):
    with pytest.raises(TextUnclearError, match="too short"):
        in_lines(lake.findings(), text)


def test_a_text_that_stands_nowhere_finds_nothing(lake):
    assert in_lines(lake.findings(), "nowhere to be seen") == []


def test_of_too_many_lines_the_oldest_are_told(lake, monkeypatch):
    every = in_lines(lake.findings(), "payment")
    monkeypatch.setattr("forensics.finding.lines.MOST_LINES", 3)

    assert in_lines(lake.findings(), "payment") == every[:3]
    assert [line.at for line in every] == sorted(line.at for line in every)
    assert len(every) > 3
