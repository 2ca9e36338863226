"""Tables that are open already: never an older state than what lies on the disk."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from forensics.lake import Lake, commits
from forensics.lake import handles as handles_module
from forensics.lake.handles import opened
from forensics.tables.evidence import LOG_EVENTS

pytestmark = pytest.mark.lake

T = datetime(2026, 11, 10, tzinfo=UTC)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


def add(lake: Lake, number: int) -> None:
    rows = [{"evidence_id": f"log:{number}", "logged_at": T + timedelta(seconds=number), "line": "line"}]
    lake.append(LOG_EVENTS, rows, "log_events|/g")


def test_a_table_is_opened_once_as_long_as_nothing_is_committed(lake):
    add(lake, 1)
    first = opened(lake.path(LOG_EVENTS))

    assert opened(lake.path(LOG_EVENTS)) is first
    add(lake, 2)
    assert opened(lake.path(LOG_EVENTS)).version() == first.version() + 1
    assert opened(lake.path(LOG_EVENTS), first.version()).version() == first.version()


def test_the_newest_version_by_its_number_is_the_table_that_is_open_already(lake):
    add(lake, 1)
    newest = opened(lake.path(LOG_EVENTS))

    assert opened(lake.path(LOG_EVENTS), newest.version()) is newest
    add(lake, 2)
    assert opened(lake.path(LOG_EVENTS), newest.version()).version() == newest.version()


def test_a_table_made_anew_in_the_same_folder_is_another(lake):
    add(lake, 1)
    assert lake.count(LOG_EVENTS) == 1
    shutil.rmtree(lake.root)
    add(lake, 2)

    assert lake.read(LOG_EVENTS)["evidence_id"].to_pylist() == ["log:2"]


def test_another_handle_writing_is_seen_by_whoever_opened_before(lake):
    other = Lake(lake.root)
    for number in range(3):
        add(lake, number)
        add(other, 10 + number)
        assert lake.count(LOG_EVENTS) == other.count(LOG_EVENTS) == 2 * number + 2


def test_of_a_table_that_is_written_again_and_again_one_handle_is_kept(lake):
    handles_module._opened.clear()
    for number in range(6):
        add(lake, number)
        lake.count(LOG_EVENTS)

    assert len(handles_module._opened) == 1


def test_the_newest_commit_is_found_from_the_one_before_without_listing_thousands(lake, monkeypatch):
    add(lake, 1)
    other = Lake(lake.root)
    lake.count(LOG_EVENTS)
    monkeypatch.setattr(commits, "_newest_listed", lambda folder: pytest.fail("listed all commits"))
    for number in range(2, 5):
        add(other, number)

        assert lake.count(LOG_EVENTS) == number


def test_a_newest_commit_that_is_taken_away_is_no_longer_the_newest(lake):
    add(lake, 1)
    add(lake, 2)
    folder = lake.path(LOG_EVENTS)
    commits.commit_file(folder, lake.versions()["log_events"]).unlink()

    assert lake.count(LOG_EVENTS) == 1
    shutil.rmtree(commits.log_folder(folder))
    assert not lake.exists(LOG_EVENTS)


def test_what_lies_beside_the_commits_is_none(lake):
    add(lake, 1)
    log = commits.log_folder(lake.path(LOG_EVENTS))
    for name in (
        "zz.json",
        "00000000000000000007.json.tmp",
        "00000000000000000000.00000000000000000009.compacted.json",
    ):
        (log / name).write_text("{}")

    assert commits.newest_version(lake.path(LOG_EVENTS)) == lake.versions()["log_events"] == 0


def test_handles_do_not_pile_up(lake, monkeypatch):
    monkeypatch.setattr(handles_module, "MOST", 3)
    for number in range(6):
        add(lake, number)
        lake.count(LOG_EVENTS, version=number)

    assert len(handles_module._opened) <= 3
