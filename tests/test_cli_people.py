import json

import pytest

import cli
from tests.forensics.report import world


@pytest.fixture
def lake(tmp_path):
    return str(world.save(tmp_path / "lake").root)


def test_a_mark_is_put_and_listed(lake, capsys):
    given = [
        "annotate",
        world.INCIDENT,
        "--message",
        "pay-1001",
        "--mark",
        "refunded",
        "--reason",
        "ticket 7",
        "--by",
        "Ana",
    ]

    assert cli.main([*given, "--lake", lake]) == 0
    assert cli.main(["annotations", "--incident", world.INCIDENT, "--format", "json", "--lake", lake]) == 0
    (said,) = json.loads(capsys.readouterr().out)

    assert (said["item_id"], said["mark"], said["author"]) == (world.IDS[0], "refunded", "Ana")


def test_an_unknown_incident_or_mark_is_one_sentence_and_exit_2(lake, capsys):
    assert cli.main(["annotate", "x-1", "--mark", "refunded", "--reason", "r", "--lake", lake]) == 2
    assert cli.main(["annotate", world.INCIDENT, "--mark", "solved", "--reason", "r", "--lake", lake]) == 2
    assert "Traceback" not in capsys.readouterr().err
