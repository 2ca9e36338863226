"""Evidence is for whoever collected it: nobody else on the machine reads a lake, a report, or credentials on the way."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import cli
from cli import dashboard
from forensics.lake import Lake
from tests.forensics.report import world


def open_to_others(folder: Path) -> list[str]:
    return [str(p) for p in [folder, *folder.rglob("*")] if not p.is_symlink() and p.stat().st_mode & 0o077]


@pytest.fixture
def log(tmp_path) -> Path:
    path = tmp_path / "worker.log"
    path.write_text("2026-11-20T05:12:00Z took 1\n")
    return path


@pytest.fixture(autouse=True)
def usual_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.lake
def test_a_lake_and_everything_in_it_is_its_owners_alone(tmp_path, log):
    lake = tmp_path / "lake"
    assert cli.main(["import", str(log), "--log-group", "/g=orders", "--lake", str(lake)]) == 0

    assert open_to_others(lake) == []
    assert (tmp_path / "x").mkdir() is None
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o755, "the process's own way of making files is as it was"


@pytest.mark.lake
def test_a_lake_that_an_earlier_release_left_open_is_closed(tmp_path, log):
    lake = tmp_path / "lake"
    lake.mkdir(mode=0o755)
    cli.main(["import", str(log), "--log-group", "/g=orders", "--lake", str(lake)])

    assert lake.stat().st_mode & 0o777 == 0o700


def test_a_lake_that_its_owner_shares_with_a_group_stays_shared(tmp_path):
    root = tmp_path / "lake"
    root.mkdir()
    root.chmod(0o750)
    with Lake(root).writing("collect"):
        pass

    assert root.stat().st_mode & 0o777 == 0o750


@pytest.mark.lake
def test_a_report_is_its_owners_alone(tmp_path):
    lake, report = world.save(tmp_path / "lake", world.findings()), tmp_path / "report.html"
    assert cli.main(["report", world.INCIDENT, "-o", str(report), "--lake", str(lake.root)]) == 0

    assert report.stat().st_mode & 0o777 == 0o600


def test_the_dashboards_process_has_no_credentials(tmp_path, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "canary")
    seen: dict[str, str] = {}

    def started(command: list[str], env: dict[str, str], **_: object) -> subprocess.Popen[bytes]:
        seen.update(env)
        return real([sys.executable, "-c", ""], stdin=subprocess.PIPE)

    real = subprocess.Popen
    monkeypatch.setattr(dashboard.subprocess, "Popen", started)
    with pytest.raises(dashboard.DashboardError), dashboard.dashboard(tmp_path, None, None):
        pass

    assert seen["DOUBLETAKE_LAKE"] == str(tmp_path)
    assert "canary" not in seen.values()
    assert not [name for name in seen if name.startswith("AWS_")]


def modes(folder: Path) -> set[int]:
    return {p.stat().st_mode & 0o777 for p in folder.rglob("*") if p.is_file()}


@pytest.mark.lake
@pytest.mark.parametrize(("mode", "files"), [(0o2750, 0o640), (0o2770, 0o660), (0o2700, 0o600)], ids=oct)
def test_what_is_written_into_a_lake_is_as_open_to_its_group_as_the_folder(tmp_path, log, mode, files):
    lake, report = tmp_path / "lake", tmp_path / "report.csv"
    lake.mkdir()
    lake.chmod(mode)
    assert cli.main(["import", str(log), "--log-group", "/g=orders", "--lake", str(lake)]) == 0
    assert cli.main(["status", "--format", "csv", "--lake", str(lake)]) in (0, 3)
    world.publish(Lake(lake), world.findings())
    assert cli.main(["mark", "pay-1001", "refunded", "--reason", "r", "--by", "Ana", "--lake", str(lake)]) == 0
    assert cli.main(["report", world.INCIDENT, "-o", str(report), "--lake", str(lake)]) == 0

    assert modes(lake / "evidence") == {files}
    assert (lake / "runs.jsonl").stat().st_mode & 0o777 == files
    assert report.stat().st_mode & 0o777 == 0o600


@pytest.mark.lake
def test_a_folder_of_a_group_that_its_files_would_not_get_is_not_followed(tmp_path, log, monkeypatch):
    lake = tmp_path / "lake"
    lake.mkdir()
    lake.chmod(0o770)
    monkeypatch.setattr(os, "getegid", lambda: lake.stat().st_gid + 1)
    cli.main(["import", str(log), "--log-group", "/g=orders", "--lake", str(lake)])

    assert modes(lake / "evidence") == {0o600}
