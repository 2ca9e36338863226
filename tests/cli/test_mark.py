import json

import pytest

import cli
from tests.forensics.report import world

pytestmark = pytest.mark.lake


@pytest.fixture
def lake(tmp_path):
    return str(world.save(tmp_path / "lake").root)


def test_a_mark_is_put_and_listed(lake, capsys):
    given = [
        "mark",
        "pay-1001",
        "refunded",
        "--reason",
        "ticket 7",
        "--by",
        "Ana",
    ]

    assert cli.main([*given, "--lake", lake]) == 0
    assert cli.main(["marks", "--incident", world.INCIDENT, "--format", "json", "--lake", lake]) == 0
    (said,) = json.loads(capsys.readouterr().out)

    assert (said["item_id"], said["mark"], said["author"]) == (world.IDS[0], "refunded", "Ana")


@pytest.mark.parametrize(
    ("command", "of_the_message"),
    [(["find", "pay-1001"], True), (["messages", "--verdict", "confirmed"], True), (["incidents"], False)],
    ids=["find", "messages", "incidents"],
)
def test_what_stands_on_a_message_or_its_incident_is_listed_beside_the_verdict(lake, capsys, command, of_the_message):
    for more in ([world.INCIDENT, "accepted"], ["pay-1001", "refunded"]):
        assert cli.main(["mark", *more, "--reason", "r", "--by", "Ana", "--lake", lake]) == 0
    capsys.readouterr()

    assert cli.main([*command, "--format", "json", "--lake", lake]) == 0
    told = json.loads(capsys.readouterr().out)[0]["marks"]

    assert told == ("accepted (Ana), refunded (Ana)" if of_the_message else "accepted (Ana)")


def test_incidents_are_listed_with_the_verdicts_of_the_logs_and_what_was_set_aside(lake, capsys):
    assert cli.main(["mark", world.INCIDENT, "false-alarm", "--reason", "r", "--by", "Ana", "--lake", lake]) == 0
    capsys.readouterr()
    assert cli.main(["incidents", "--each", "--lake", lake]) == 0
    printed = capsys.readouterr()

    (row,) = [line.split() for line in printed.out.splitlines() if line.startswith(world.INCIDENT)]
    assert "were set aside by a person: nothing counts as processed more than once 1 1 0 0 1" in " ".join(row)
    assert "Set aside, --without-marks counts them: 2 works: false alarm (Ana" in printed.err


def test_an_unknown_incident_or_mark_is_one_sentence_and_exit_2(lake, capsys):
    assert cli.main(["mark", "x-1", "refunded", "--reason", "r", "--lake", lake]) == 2
    assert cli.main(["mark", world.INCIDENT, "solved", "--reason", "r", "--lake", lake]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_whoever_has_no_name_on_the_machine_is_named_by_number(lake, capsys, monkeypatch):
    monkeypatch.setattr("getpass.getuser", lambda: {}["uid not found: 4711"])
    monkeypatch.setattr("os.getuid", lambda: 4711)

    assert cli.main(["mark", world.INCIDENT, "accepted", "--reason", "r", "--lake", lake]) == 0
    assert "(user 4711)" in capsys.readouterr().err
