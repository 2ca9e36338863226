import json

import pytest

import cli
from forensics.tables.evidence import QUEUE_SETTINGS
from tests.forensics.redrive.test_plan import COMMON, DLQ, SAFE, again, saved


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
    said = capsys.readouterr().err
    assert "no queue that was read names 'payments.fifo' as its dead-letter queue" in said
    assert f"Its own dead-letter queue is {DLQ}: `doubletake redrive-plan {DLQ} --lake {lake}`" in said


@pytest.mark.parametrize("named", [("--queue", DLQ), (DLQ, "--queue", DLQ), ()], ids=["option", "both", "the only one"])
def test_the_queue_may_be_named_as_with_other_commands_and_the_only_one_need_not_be(lake, capsys, named):
    assert cli.main(["redrive-plan", *named, "--lake", lake]) == 0
    assert capsys.readouterr().out.endswith(f"{DLQ}: 1 does the work again, 1 may do it again, 1 safe.\n")


def test_two_queues_are_refused(lake, capsys):
    assert cli.main(["redrive-plan", DLQ, "--queue", "orders-dlq", "--lake", lake]) == 2
    assert f"two queues are named, '{DLQ}' and --queue 'orders-dlq'" in capsys.readouterr().err


@pytest.mark.lake
def test_of_several_dead_letter_queues_one_is_to_be_named(tmp_path, capsys):
    lake = saved(tmp_path / "lake")
    arn = "arn:aws:sqs:eu-west-1:111122223333:orders"
    more = {"evidence_id": "queue:4", "queue_arn": arn, "queue_name": "orders", "dead_letter_queue_arn": f"{arn}-dlq"}
    lake.append(QUEUE_SETTINGS, [COMMON | more], "test|orders")
    again(lake)

    assert cli.main(["redrive-plan", "--lake", str(lake.root)]) == 2
    said = capsys.readouterr().err
    assert "no dead-letter queue was named" in said
    assert f"There is: orders-dlq, {DLQ}." in said
