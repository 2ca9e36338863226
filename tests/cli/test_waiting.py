import json

import pytest

import cli
from tests.forensics.report import world


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    return str(world.save(tmp_path_factory.mktemp("waiting") / "lake").root)


def test_waiting_times_come_with_their_intervals_for_people_and_programs(lake, capsys):
    assert cli.main(["waiting", "--lake", lake, "--promise", "60"]) == 0
    assert "66.7 % (9.4 % to 99.2 %)" in capsys.readouterr().out
    assert cli.main(["waiting", world.QUEUE, "--lake", lake, "--promise", "60", "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)

    assert (row["over"], row["promised"], row["received_p95_high_s"]) == (2, 3, None)


@pytest.mark.lake
def test_where_no_wait_is_known_it_is_said(tmp_path, capsys):
    lake = world.save(tmp_path / "lake", {})

    assert cli.main(["waiting", "--lake", str(lake.root)]) == 0
    assert capsys.readouterr().err == "No delivery tells when its message was sent, so no wait is known.\n"


@pytest.mark.parametrize(("args", "value"), [(["mails"], "'mails'"), (["--promise", "0"], "--promise 0 ")])
def test_what_cannot_be_meant_is_one_sentence_and_exit_2(lake, capsys, args, value):
    assert cli.main(["waiting", *args, "--lake", lake]) == 2
    assert value in capsys.readouterr().err
