"""One line is kept of every run that changes a lake or hands on what is in it: what was asked, and what came of it."""

import json
import re
from pathlib import Path

import pytest

import cli
from forensics import ledger
from tests.forensics.report import world


@pytest.fixture
def log(tmp_path) -> Path:
    path = tmp_path / "worker.log"
    path.write_text("2026-11-20T05:12:00Z took 1\n2026-11-20T05:12:01Z took 2\nno time\n")
    return path


def kept(lake: Path, capsys) -> list[dict]:
    capsys.readouterr()
    assert cli.main(["runs", "--format", "json", "--lake", str(lake)]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.lake
def test_a_run_is_told_with_its_arguments_counts_and_end(tmp_path, log, capsys):
    lake = tmp_path / "lake"
    asked = ["import", str(log), "--log-group", "/g=orders", "--lake", str(lake)]
    assert cli.main(asked) == 0
    assert cli.main(["import", str(log), "--zone", "Mars/Olympus", "--lake", str(lake)]) == 2
    refused, done = kept(lake, capsys)

    assert (done["command"], done["exit"]) == ("import", 0)
    assert (done["counts"]["events_seen"], done["counts"]["events_stored"]) == (2, 2)
    assert done["arguments"]["log_group"] == ["/g=orders"]
    assert done["seconds"] > 0
    assert done["started_at"].endswith("Z")
    assert (refused["exit"], refused["arguments"]["zone"]) == (2, "Mars/Olympus")


@pytest.mark.lake
@pytest.mark.parametrize("code", ["en", "ja"])
def test_a_run_s_arguments_are_named_as_they_are_typed_in_every_language(tmp_path, log, capsys, code):
    lake = tmp_path / "lake"
    cli.main(["import", str(log), "--log-group", "/g=orders", "--lake", str(lake)])
    capsys.readouterr()
    cli.main(["runs", "--lake", str(lake), "--language", code])
    row = capsys.readouterr().out.splitlines()[2]

    assert re.match(r"\d{4}-\d\d-\d\dT[\d:.]+Z  import ", row)
    assert "log_group ['/g=orders']" in row


@pytest.mark.lake
def test_no_secret_of_a_command_line_is_kept(tmp_path, log, capsys):
    lake = tmp_path / "lake"
    handle = "AQEB" + "x" * 90
    cli.main(
        ["import", str(log), "--log-group", f"/g={handle}", "--lake", str(lake)]
        + ["--endpoint-url", "https://ana:s3cret@aws.example:4566", "--profile", "AKIAABCDEFGHIJKLMNOP"]
    )
    line = (lake / ledger.FILE).read_text()

    assert "s3cret" not in line
    assert handle not in line
    assert "AKIAABCDEFGHIJKLMNOP" not in line
    assert "aws.example:4566" in line


@pytest.mark.lake
def test_looking_leaves_no_line_and_a_report_does(tmp_path, capsys):
    lake = world.save(tmp_path / "lake", world.findings()).root
    cli.main(["incidents", "--lake", str(lake)])
    assert kept(lake, capsys) == []

    cli.main(["report", world.INCIDENT, "-o", str(tmp_path / "r.md"), "--lake", str(lake)])
    (line,) = kept(lake, capsys)
    assert (line["command"], line["arguments"]["incident"]) == ("report", world.INCIDENT)


def test_where_no_lake_came_of_it_nothing_is_written(tmp_path):
    assert cli.main(["correlate", "--lake", str(tmp_path / "none")]) == 2
    assert list(tmp_path.iterdir()) == []


def test_a_line_that_was_cut_off_hides_no_other(tmp_path):
    run = ledger.RunLine("2026-11-20T05:12:00.000+00:00", "collect", {}, "1", 0, 1.5, {"events_seen": 3})
    ledger.append(tmp_path, run)
    with (tmp_path / ledger.FILE).open("ab") as file:
        file.write(b'{"started_at": "2026-\n')
    ledger.append(tmp_path, run)

    assert list(ledger.read(tmp_path)) == [run, run]
