"""import from the command line: what it says, what it refuses in a sentence, and its exit codes."""

import gzip
import json
import zipfile
from types import SimpleNamespace

import pytest

import cli
from cli.import_ import imported
from forensics.lake import Lake
from forensics.tables import BY_NAME
from ingest.file_forms import Form

LOG = "2026-11-20T05:12:00.000Z took m-1\n2026-11-20T05:12:01.500Z done m-1\n"


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in ("DOUBLETAKE_LAKE", "DOUBLETAKE_CONFIG", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "worker.log").write_text(LOG)

    def run_command(*args: str) -> tuple[int, str, str]:
        return cli.main(args), *capsys.readouterr()

    return run_command


@pytest.mark.lake
def test_it_says_what_was_read_and_a_second_time_that_nothing_is_new(run):
    command = ["import", "worker.log", "--log-group", "workers=orders"]
    first, second = run(*command), run(*command)

    assert (first[0], second[0]) == (0, 0)
    assert "Read 1 file: 1 worker log." in first[2]
    assert (
        "workers: 2 log events from 2026-11-20 05:12:00.000 to 2026-11-20 05:12:01.500 UTC, 2 of them new." in first[2]
    )
    assert "2 log events from 2026-11-20 05:12:00.000 to 2026-11-20 05:12:01.500 UTC, 0 of them new." in second[2]
    assert first[1] == ""


@pytest.mark.lake
def test_a_folder_of_everything_is_one_command(run, tmp_path):
    saved = tmp_path / "saved"
    saved.mkdir()
    (saved / "worker.log.1.gz").write_bytes(gzip.compress(LOG.encode()))
    arn = "arn:aws:sqs:eu-west-1:123456789012:orders"
    (saved / "queue.json").write_text(json.dumps({"Attributes": {"QueueArn": arn, "VisibilityTimeout": "30"}}))
    code, _, err = run("import", "saved", "--log-group", "workers=orders", "--lake", "there")
    lake = Lake(tmp_path / "there")

    assert code == 0
    assert "Read 2 files: 1 saved settings, 1 worker log." in err
    assert "1 setting of queues, functions and mappings, 1 of them new." in err
    assert lake.read(BY_NAME["consumers"]).to_pylist()[0]["queue_arn"] == arn
    assert {r["account_id"] for r in lake.read(BY_NAME["log_events"]).to_pylist()} == {"123456789012"}


@pytest.mark.lake
def test_a_zip_of_logs_is_no_damaged_bundle(run, tmp_path):
    with zipfile.ZipFile(tmp_path / "logs.zip", "w") as archive:
        archive.writestr("worker.log", LOG)
    code, _, err = run("import", "logs.zip", "--log-group", "workers")

    assert code == 2
    assert "logs.zip: a packed archive: unpack it, and import the folder" in err
    assert "bundle" not in err


@pytest.mark.lake
def test_every_file_that_was_looked_at_is_counted(run, tmp_path):
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "rotated.log").touch()
    (tmp_path / "saved" / "worker.log").write_text(LOG)
    _, _, err = run("import", "saved", "--log-group", "workers")

    assert "Read 2 files: 1 with nothing to import, 1 worker log." in err


@pytest.mark.lake
def test_a_file_that_is_not_understood_is_a_gap_and_exit_code_3(run, tmp_path):
    (tmp_path / "notes.txt").write_text("no time anywhere\n" * 9)
    code, _, err = run("import", "worker.log", "notes.txt", "--log-group", "workers")

    assert code == 3
    assert "Gap: notes.txt: not a log, an export or a saved reply that is known" in err


@pytest.mark.lake
def test_rows_that_were_read_and_rows_in_quarantine_are_told_apart(run, tmp_path):
    good, bad = "2026-11-20T05:12:00Z,took m-1", "soon,took m-2"
    (tmp_path / "half.csv").write_text(f"time,message\n{good}\n{bad}\n,took m-3\n")
    (tmp_path / "bad.csv").write_text(f"time,message\n{good.replace('05:12', '25:12')}\n")
    half = run("import", "half.csv", "--log-group", "workers")[2]
    bad = run("import", "bad.csv", "--log-group", "others", "--zone", "UTC")[2]

    assert "workers: 1 log event from" in half
    assert "1 of them new; 2 more could not be read as one and are in quarantine." in half
    assert "others: no log event was read; 1 could not be read as one and are in quarantine." in bad


@pytest.mark.parametrize(("content", "sentence"), [("hello", "it is no ZIP"), ("PK\3\4x", "is not as it was written")])
def test_a_bundle_that_is_none_is_named(run, tmp_path, content, sentence):
    (tmp_path / "case.zip").write_text(content)
    code, _, err = run("verify", "case.zip")

    assert code == 4
    assert "'case.zip': " in err
    assert sentence in err
    assert "'case.zip'" in run("import", "case.zip")[2]


@pytest.mark.lake
def test_settings_apply_to_what_is_imported(run, tmp_path):
    (tmp_path / "doubletake.toml").write_text("redact = ['m-\\d+']")
    run("import", "worker.log", "--log-group", "workers")
    lines = Lake(tmp_path / "lake").read(BY_NAME["log_events"])["line"].to_pylist()

    assert sorted(line.partition("Z ")[2] for line in lines) == ["done [redacted]", "took [redacted]"]


BAD = {
    "nothing there": (["nowhere.log"], "'nowhere.log' cannot be read", "Check the path"),
    "no log group": (["worker.log"], "does not say which log group it is from", "--log-group GROUP"),
    "no such zone": (["worker.log", "--zone", "Mars/Olympus"], "--zone 'Mars/Olympus' is not a time zone", "IANA"),
    "no account": (["worker.log", "--account", "12"], "--account '12' is not an AWS account", "12 digits"),
    "an end without a start": (["worker.log", "--complete-until", "1h"], "an end without a start", "--complete-since"),
    "a span that is none": (
        ["worker.log", "--complete-since", "soon"],
        "--complete-since 'soon' is not a time",
        "span",
    ),
    "a moment that is none": (["worker.log", "--observed-at", "soon"], "--observed-at 'soon' is not a time", "span"),
    "a queue without its log group": (
        ["worker.log", "--log-group", "=q"],
        "--log-group '=q' names no log group",
        "/ecs",
    ),
    "an empty queue": (["worker.log", "--log-group", "g="], "--log-group 'g=' names no queue behind its =", "orders"),
    "no path": ([], "PATH", "doubletake import --help"),
}


@pytest.mark.parametrize(("args", "sentence", "hint"), BAD.values(), ids=BAD)
def test_bad_input_is_one_sentence_and_writes_nothing(args, sentence, hint, run, tmp_path):
    code, out, err = run("import", *args)

    assert (code, out) == (2, "")
    assert sentence in err
    assert hint in err
    assert "Traceback" not in err
    assert not (tmp_path / "lake").exists()


def test_several_files_of_a_form_are_told_in_the_plural():
    report = SimpleNamespace(files={Form.WORKER_LOG: 13, Form.SETTINGS: 2, Form.EXPORT: 1}, groups={})

    assert next(imported(report)) == "Read 16 files: 1 CloudWatch export, 2 saved settings, 13 worker logs."
