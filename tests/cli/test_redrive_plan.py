import json

import pytest

import cli
from tests.forensics.redrive.test_plan import DLQ, SAFE, again, saved


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    return str(again(saved(tmp_path_factory.mktemp("plan") / "lake")).root)


def test_the_plan_lists_every_message_with_its_decision(lake, capsys):
    assert cli.main(["redrive-plan", DLQ, "--lake", lake]) == 0
    told = capsys.readouterr().out

    assert f"{DLQ}: 1 does the work again, 1 may do it again, 1 safe." in told
    assert SAFE in told


def test_programs_get_reasons_and_times(lake, capsys):
    assert cli.main(["redrive-plan", DLQ, "--lake", lake, "--format", "json"]) == 0
    rows = {row["message_id"]: row for row in json.loads(capsys.readouterr().out)}

    assert rows[SAFE]["left_out"] == ""
    assert rows[SAFE]["expires_at"] == "2026-12-04T05:11:59.400Z"


def test_the_script_holds_the_safe_message_alone_and_can_be_run_by_its_owner_only(lake, tmp_path, capsys):
    file = tmp_path / "redrive.py"

    assert cli.main(["redrive-plan", DLQ, "--lake", lake, "--script", str(file)]) == 0
    assert file.stat().st_mode & 0o777 == 0o700
    assert f'"id": "{SAFE}"' in file.read_text()
    assert file.read_text().count('"id": ') == 1
    assert "without --apply it calls nothing" in capsys.readouterr().err


def test_a_queue_that_is_no_dead_letter_queue_is_one_sentence_and_exit_2(lake, capsys):
    assert cli.main(["redrive-plan", "payments.fifo", "--lake", lake]) == 2
    assert "no queue that was read names 'payments.fifo' as its dead-letter queue" in capsys.readouterr().err
