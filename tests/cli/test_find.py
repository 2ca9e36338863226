import json

import pytest

import cli
from tests.forensics.report import world


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    return str(world.save(tmp_path_factory.mktemp("find") / "lake").root)


def test_a_message_is_told_by_its_business_key(lake, capsys):
    assert cli.main(["find", "pay-1001", "--lake", lake, "--format", "json"]) == 0
    (record,) = json.loads(capsys.readouterr().out)

    assert record["message_id"] == world.IDS[0]
    assert record["verdict"] == "confirmed"
    assert record["incident_id"] == world.INCIDENT
    assert record["sentence"] == "Received 2 times, deleted once, work done 2 times."


def test_an_id_that_names_nothing_is_one_sentence_and_exit_2(lake, capsys):
    assert cli.main(["find", "no-such-id", "--lake", lake]) == 2
    assert "'no-such-id' names no message" in capsys.readouterr().err


def test_text_of_a_body_or_a_line_finds_the_message_and_lists_the_lines(tmp_path, capsys):
    lake = str(world.save(tmp_path / "lake").root)
    assert cli.main(["find", world.BODY, "--lake", lake, "--format", "json"]) in (0, 2)
    capsys.readouterr()
    assert cli.main(["find", "charged payment_id", "--lines", "--lake", lake, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)

    assert rows[0]["line"].startswith("charged payment_id=")
    assert cli.main(["find", "charged payment_id", "--incident", world.INCIDENT, "--lake", lake]) == 0
    assert cli.main(["find", "ab", "--lines", "--lake", lake]) == 2
    assert "'ab' is too short" in capsys.readouterr().err


def test_a_text_of_more_lines_than_are_read_says_so(lake, capsys, monkeypatch):
    monkeypatch.setattr("forensics.finding.lines.MOST_LINES", 2)
    assert cli.main(["find", "payment", "--lake", lake, "--format", "json"]) == 0

    assert "Of the first 2 lines with this text" in capsys.readouterr().err


@pytest.mark.lake
def test_one_line_that_speaks_of_no_message_is_one_line(tmp_path, capsys):
    line = world.lines()[0] | {"evidence_id": "log:alone", "line": "warming up the xylophone", "log_stream": "other"}
    lake = world.save(tmp_path / "lake", log_lines=[*world.lines(), line])

    assert cli.main(["find", "xylophone", "--lake", str(lake.root)]) == 2
    assert "'xylophone' stands in 1 line, and none speaks of a message" in capsys.readouterr().err


@pytest.mark.lake
def test_lines_that_were_left_out_are_not_said_to_speak_of_no_message(tmp_path, capsys):
    lake = world.save(tmp_path / "lake")
    world.publish(lake, {}, "run-2", data_since_at=world.after(10**6))

    assert cli.main(["find", "charged payment_id", "--lake", str(lake.root)]) == 2
    assert "of the time left out alone" in capsys.readouterr().err


NO_MESSAGES = {
    "too short": ("pa", "too short", "3 characters of a text"),
    "a queue": (world.QUEUE, "is a queue", f"doubletake incidents --queue {world.QUEUE}"),
}


@pytest.mark.parametrize(("asked", "said", "hint"), NO_MESSAGES.values(), ids=NO_MESSAGES)
def test_what_cannot_be_a_message_is_not_called_unknown(lake, capsys, asked, said, hint):
    code = cli.main(["find", asked, "--lake", lake])
    err = capsys.readouterr().err

    assert code == 2
    assert said in err
    assert hint in err
