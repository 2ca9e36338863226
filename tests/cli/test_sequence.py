import json

import pytest

import cli
from tests.forensics.report import world
from tests.forensics.sequence.test_check import lake_of

pytestmark = pytest.mark.lake


@pytest.fixture
def lake(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "doubletake.toml").write_text(f'[[queue]]\nname = "{world.QUEUE}"\nsequence = "$.version"\n')
    (tmp_path / "orders.csv").write_text("id\npay-1001\npay-7777\n")
    return str(lake_of(tmp_path, 1, 4, 2).root)


def test_the_field_of_the_settings_is_checked_and_commits_beside_it(lake, capsys):
    args = ["sequence", world.QUEUE, "--lake", lake, "--commits", "orders.csv", "--key", "id"]
    assert cli.main(args) == 0
    told = capsys.readouterr().out

    assert "Number 3 was never seen" in told
    assert "Number 2 was sent at" in told
    assert "Of 2 committed works 1 were never seen delivered: pay-7777." in told
    assert cli.main(["sequence", world.QUEUE, "--lake", lake, "--format", "json"]) == 0
    assert [row["kind"] for row in json.loads(capsys.readouterr().out)] == ["gap", "out_of_order"]


REFUSED = {
    "a path that is none": (["--field", "version"], "--field 'version' is not a JSON path"),
    "commits without a key": (["--commits", "orders.csv"], "--commits and --key belong together"),
    "a file that is not there": (["--commits", "no.csv", "--key", "id"], "'no.csv' is no file"),
    "a column that is not there": (["--commits", "orders.csv", "--key", "pid"], "has no column 'pid'"),
}


@pytest.mark.parametrize(("args", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_meant_is_one_sentence_and_exit_2(lake, capsys, args, sentence):
    assert cli.main(["sequence", world.QUEUE, "--lake", lake, *args]) == 2
    assert sentence in capsys.readouterr().err
