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
