import json

import pytest

import cli
from tests.forensics.report import world


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    return str(world.save(tmp_path_factory.mktemp("what-if") / "lake").root)


def test_what_was_observed_stands_first_and_what_was_asked_is_among_the_rows(lake, capsys):
    assert cli.main(["what-if", world.QUEUE, "--batch-size", "2", "--lake", lake, "--format", "json"]) == 0
    rows = {r["settings"]: r for r in json.loads(capsys.readouterr().out)}

    assert list(rows)[:3] == ["observed", "replayed as it was", "as asked"]
    assert rows["as asked"]["batch_size"] == 2
    assert rows["observed"]["redelivered_low"] == 3


@pytest.mark.parametrize("option", ["--visibility", "--timeout"])
def test_a_value_that_aws_refuses_is_one_sentence_and_exit_2(lake, capsys, option):
    assert cli.main(["what-if", world.QUEUE, option, "99999", "--lake", lake]) == 2
    assert "99999 s is not possible" in capsys.readouterr().err


def test_a_queue_that_is_not_there_is_named(lake, capsys):
    assert cli.main(["what-if", "no-such-queue", "--lake", lake]) == 2
    assert "'no-such-queue'" in capsys.readouterr().err


def test_more_than_ten_of_a_fifo_queue_is_refused(lake, capsys):
    assert cli.main(["what-if", world.QUEUE, "--batch-size", "20", "--lake", lake]) == 2
    assert capsys.readouterr().err.split("\n")[:2] == [
        "doubletake: a batch size of 20 is not possible",
        "  AWS takes 1 to 10.",
    ]


def test_that_the_replay_does_not_fit_is_said_before_the_numbers(lake, monkeypatch, capsys):
    said = []
    monkeypatch.setattr("cli.what_if.print_rows", lambda *_: said.append(capsys.readouterr().err))
    monkeypatch.setattr("forensics.what_if.answer._faithful", lambda *_: (False, "It does not fit."))
    cli.main(["what-if", world.QUEUE, "--lake", lake])

    assert said == ["It does not fit.\n"]
    assert "It does not fit" not in capsys.readouterr().err
