import json

import pytest

import cli
from tests.forensics.report import world


@pytest.fixture
def lake(tmp_path):
    return str(world.save(tmp_path / "lake").root)


@pytest.fixture
def ledger(tmp_path):
    file = tmp_path / "charges.csv"
    file.write_text("payment_id,amount\npay-1001,10.10 EUR\npay-1002,7 EUR\npay-1002,7.00 EUR\npay-9,1 EUR\n")
    return str(file)


@pytest.mark.lake
def test_books_are_held_against_the_logs_and_summed(lake, ledger, capsys):
    assert cli.main(["reconcile", ledger, "--key", "payment_id", "--amount", "amount", "--lake", lake]) == 0
    told = capsys.readouterr().out

    assert "1 key that the logs left open: the books prove the repeat." in told
    assert "To refund: 7.00 EUR." in told
    assert "1 key in the books alone" in told


@pytest.mark.lake
def test_what_was_read_before_is_there_without_a_file_for_programs(lake, ledger, capsys):
    cli.main(["reconcile", ledger, "--key", "payment_id", "--amount", "amount", "--lake", lake])
    capsys.readouterr()
    assert cli.main(["reconcile", "--lake", lake, "--format", "json"]) == 0
    rows = {row["key"]: row for row in json.loads(capsys.readouterr().out)}

    assert rows["pay-1002"]["to_refund"] == {"EUR": "7.00"}
    assert rows["pay-1003"]["outcome"] == "logs_only"


@pytest.mark.lake
def test_a_ledger_read_again_with_a_time_replaces_what_it_said_and_says_so(lake, tmp_path, capsys):
    file = tmp_path / "charges.csv"
    file.write_text("payment_id,amount,at\n" + "".join(f"pay-1002,7 EUR,2026-11-20T05:{m}:00Z\n" for m in (12, 22)))
    options = ["reconcile", str(file), "--key", "payment_id", "--amount", "amount", "--lake", lake]
    cli.main(options)
    capsys.readouterr()

    assert cli.main([*options, "--time", "at"]) == 0
    told = capsys.readouterr()
    assert "To refund: 7 EUR." in told.out
    assert "Rows that were read before and now say something else: 2." in told.err


REFUSED = {
    "no key": (["charges.csv"], "--key is missing"),
    "no ledger": (["--key", "payment_id"], "no ledger is named"),
    "none was read": ([], "no ledger was read into this lake"),
    "a file that is not there": (["nothing.csv", "--key", "a"], "'nothing.csv' is no file"),
    "a column that is not there": (["charges.csv", "--key", "pid"], "has no column 'pid'"),
    "a currency that is none": (
        ["charges.csv", "--key", "payment_id", "--currency", "eru"],
        "has no column 'eru', and that is no currency's code",
    ),
    "half a choice": (["charges.csv", "--key", "payment_id", "--only", "type"], "--only 'type' is not COLUMN=VALUE"),
    "a ledger nobody read": (["--withdraw", "bank"], "no ledger 'bank' counts in this lake"),
}


@pytest.mark.parametrize(("args", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_meant_is_one_sentence_and_exit_2(lake, ledger, tmp_path, monkeypatch, capsys, args, sentence):
    monkeypatch.chdir(tmp_path)

    assert cli.main(["reconcile", *args, "--lake", lake]) == 2
    assert sentence in capsys.readouterr().err
