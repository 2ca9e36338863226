import hashlib
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

import cli
from forensics.lake import Lake
from forensics.report.bundle import contents, to_zip
from forensics.report.case import load_case
from forensics.report.evidence_bundle import evidence_bundle
from forensics.report.options import ReportOptions
from forensics.report.render import file_name, render
from forensics.tables.evidence import LOG_EVENTS
from tests.forensics.report import world
from tests.forensics.report.test_evidence_bundle import saved

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    return saved(tmp_path_factory.mktemp("cli-bundle") / "lake")


def test_a_bundle_is_made_verified_and_imported(lake, tmp_path, capsys):
    file, again = tmp_path / "case.zip", tmp_path / "again"

    assert cli.main(["bundle", world.INCIDENT, "--lake", str(lake.root), "-o", str(file), "--redact", "cards"]) == 0
    assert f"SHA-256: {hashlib.sha256(file.read_bytes()).hexdigest()}" in capsys.readouterr().out
    assert cli.main(["verify", str(file)]) == 0
    assert cli.main(["import", str(file), "--lake", str(again)]) == 0
    assert "Redacted before it was handed on: cards." in capsys.readouterr().err
    assert Lake(again).count(LOG_EVENTS) == lake.count(LOG_EVENTS)


REFUSED = {
    "a span that is none": (["--margin", "soon"], "--margin 'soon' is not a span"),
    "a pattern that is none": (["--redact", "("], "--redact '(' cannot be used"),
}


@pytest.mark.parametrize(("args", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_meant_is_one_sentence_and_exit_2(lake, capsys, args, sentence):
    assert cli.main(["bundle", world.INCIDENT, "--lake", str(lake.root), *args]) == 2
    assert sentence in capsys.readouterr().err


ODD_SETTINGS = {
    "no settings file": ("[[[[ nope", None, "Its settings cannot be used and were left out"),
    "who may look, and where it is told": (
        '[[queue]]\nname = "a"\nbusiness_key = "$.id"\n\n[notify]\ndashboard = "https://a.example"\n\n'
        '[access]\nmode = "none"\n',
        '[[queue]]\nname = "a"\nbusiness_key = "$.id"\n',
        "Its settings: ",
    ),
}


@pytest.mark.parametrize(("settings", "kept", "said"), ODD_SETTINGS.values(), ids=ODD_SETTINGS)
def test_of_a_strangers_settings_only_what_is_judged_by_is_taken(lake, tmp_path, capsys, settings, kept, said):
    case = load_case(lake.findings(), world.INCIDENT)
    _, files = contents(evidence_bundle(lake.findings(), case))
    more = {name: data for name, data in files.items() if name.startswith("evidence-")}
    names = {kind: file_name(case, kind) for kind in ("html", "md", "json", "csv")}
    hostile = to_zip(case, ReportOptions(), render, names, more | {"doubletake.toml": settings.encode()})
    (tmp_path / "case.zip").write_bytes(hostile)

    assert cli.main(["import", str(tmp_path / "case.zip"), "--lake", str(tmp_path / "again")]) == 0
    assert said in capsys.readouterr().err
    beside = tmp_path / "again" / "doubletake.toml"
    assert (beside.read_text() if beside.exists() else None) == kept


def test_a_zip_that_is_no_bundle_is_refused_and_nothing_is_stored(tmp_path, capsys):
    (tmp_path / "odd.zip").write_bytes(b"PK\x03\x04" + bytes(200))

    assert cli.main(["import", str(tmp_path / "odd.zip"), "--lake", str(tmp_path / "lake")]) == 4
    assert "it is damaged, or not of this release" in capsys.readouterr().err
    assert not (tmp_path / "lake").exists()


def test_the_signature_of_the_page_holds_and_breaks_with_the_first_changed_byte(tmp_path):
    page = (Path(__file__).resolve().parents[2] / "docs" / "bundle.md").read_text(encoding="utf-8")
    section = page.partition("## Sign it")[2]
    commands = [line for block in re.findall(r"```sh\n(.*?)```", section, re.DOTALL) for line in block.splitlines()]
    bundle = tmp_path / "case.zip"
    bundle.write_bytes(b"PK" + bytes(2000))
    runs = [subprocess.run(shlex.split(c), cwd=tmp_path, capture_output=True, text=True) for c in commands]
    bundle.write_bytes(b"PK" + bytes(1999) + b"\1")
    changed = subprocess.run(shlex.split(commands[-1]), cwd=tmp_path, capture_output=True)

    assert [r.returncode for r in runs] == [0, 0, 0, 0], runs[-1].stderr
    assert "Signature Verified Successfully" in runs[-1].stdout
    assert changed.returncode == 1


def test_a_pipe_is_no_bundle_and_is_not_waited_for(tmp_path, capsys):
    os.mkfifo(tmp_path / "case.zip")

    assert cli.main(["verify", str(tmp_path / "case.zip")]) == 2
    assert "is a folder, a pipe or a device, and no file" in capsys.readouterr().err


def test_a_bundle_that_is_not_there_is_told_without_an_imports_hint(capsys):
    assert cli.main(["verify", "nowhere.zip"]) == 2
    assert "there is no file 'nowhere.zip'" in (err := capsys.readouterr().err)
    assert "Check the path." in err
    assert "stored twice" not in err
