"""What is kept of young tables, as their commits say it: never what lies there no more."""

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from forensics.errors import LakeTooNewError
from forensics.lake import Lake, LakeDamagedError, commits, delta, handles
from forensics.tables.evidence import LOG_EVENTS

pytestmark = pytest.mark.lake

T = datetime(2026, 11, 10, tzinfo=UTC)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


def add(lake: Lake, *numbers: int) -> None:
    rows = [{"evidence_id": f"log:{n}", "logged_at": T + timedelta(seconds=n), "line": f"line {n}"} for n in numbers]
    lake.append(LOG_EVENTS, rows, "log_events|/g")


def lines(lake: Lake) -> list[str]:
    return lake.read(LOG_EVENTS, ["line"])["line"].to_pylist()


def test_a_young_table_is_read_and_checked_without_being_opened(lake):
    add(lake, 1)
    handles._opened.clear()

    lake.check()
    assert lines(lake) == ["line 1"]
    assert lake.count(LOG_EVENTS) == 1
    assert not handles._opened


def test_the_files_of_every_version_are_those_that_delta_names(lake, monkeypatch):
    for number in range(30):
        add(lake, number)
        if number in (3, 8):
            lake.compact(LOG_EVENTS, at_files=2)
    newest = lake.versions()["log_events"]
    found = {version: lake.files(LOG_EVENTS, version) for version in range(newest + 1)}
    monkeypatch.setattr(delta, "YOUNG", -1)

    assert newest > 30
    assert found == {version: lake.files(LOG_EVENTS, version) for version in found}
    assert [len(found[version]) for version in (0, 1, 5)] == [0, 1, 1]


def test_long_commits_are_opened_for_the_files_they_name(lake, monkeypatch):
    add(lake, 1)
    monkeypatch.setattr(delta, "SHORT_BYTES", 1)
    handles._opened.clear()
    delta._told.clear()

    assert lines(lake) == ["line 1"]
    assert {folder.name for folder, _ in handles._opened} == {"log_events"}


def test_a_table_made_anew_in_the_same_folder_has_other_files(lake):
    add(lake, 1)
    assert lines(lake) == ["line 1"]
    shutil.rmtree(lake.root)
    add(lake, 2)

    assert lines(lake) == ["line 2"]


def test_what_a_newer_release_wrote_is_refused_though_an_earlier_version_of_it_was_read(lake):
    add(lake, 1)
    assert lines(lake) == ["line 1"]
    commit = commits.commit_file(lake.path(LOG_EVENTS), 0)
    said = [json.loads(line) for line in commit.read_text().splitlines()]
    for action in said:
        if "metaData" in action:
            action["metaData"]["configuration"]["doubletake.schemaVersion"] = str(delta.SCHEMA_VERSION + 1)
    commit.write_text("\n".join(map(json.dumps, said)))

    with pytest.raises(LakeTooNewError):
        lines(lake)


def test_a_commit_that_is_torn_after_it_was_read_is_told(lake):
    add(lake, 1)
    assert lines(lake) == ["line 1"]
    commit = commits.commit_file(lake.path(LOG_EVENTS), 1)
    commit.write_text(commit.read_text()[:-40])

    with pytest.raises(LakeDamagedError):
        lines(lake)


def test_what_is_kept_of_commits_does_not_pile_up(lake, monkeypatch):
    monkeypatch.setattr(delta, "MOST_TOLD", 3)
    for number in range(6):
        add(lake, number)
        lake.count(LOG_EVENTS, version=number)

    assert len(delta._told) <= 3
