"""What is kept of small tables: the rows of files that were read, and what young commits say; never what lies there no more."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from forensics.errors import LakeTooNewError
from forensics.lake import Lake, LakeDamagedError, commits, data_files, delta, handles
from forensics.lake.filters import equals
from forensics.tables.evidence import LOG_EVENTS
from tests.tables import take_over

pytestmark = pytest.mark.lake

T = datetime(2026, 11, 10, tzinfo=UTC)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> data_files._Kept:
    kept = data_files._Kept()
    monkeypatch.setattr(data_files, "_kept", kept)
    return kept


def add(lake: Lake, *numbers: int) -> None:
    rows = [{"evidence_id": f"log:{n}", "logged_at": T + timedelta(seconds=n), "line": f"line {n}"} for n in numbers]
    lake.append(LOG_EVENTS, rows, "log_events|/g")


def lines(lake: Lake) -> list[str]:
    return lake.read(LOG_EVENTS, ["line"])["line"].to_pylist()


# -- rows of small files -----------------------------------------------------------------------------------


def test_a_small_file_is_read_once_and_says_the_same_as_one_that_is_not_kept(lake, kept, monkeypatch):
    add(lake, 1, 2)
    add(lake, 3)
    read, whole = [], data_files._whole
    monkeypatch.setattr(data_files, "_whole", lambda table, file: read.append(file) or whole(table, file))
    asked = [
        (columns, where)
        for columns in (None, ["line"], ["line", "evidence_id"], [])
        for where in (
            None,
            equals("line", "line 2"),
            equals("line", "none"),
            equals("log_group", "null is never equal"),
        )
    ]
    small = [lake.read(LOG_EVENTS, *question) for question in asked]

    assert sorted(read) == lake.files(LOG_EVENTS)
    monkeypatch.setattr(data_files, "KEPT_FILES_BYTES", 1)
    for question, rows in zip(asked, small, strict=True):
        large = lake.read(LOG_EVENTS, *question)
        assert (rows.schema, rows.num_rows) == (large.schema, large.num_rows)
        assert sorted(rows.to_pylist(), key=str) == sorted(large.to_pylist(), key=str)
    assert len(read) == 2


def test_a_small_file_is_read_by_one_thread(lake, kept, monkeypatch):
    add(lake, 1)
    threads, read = [], data_files.pq.ParquetFile.read
    monkeypatch.setattr(
        data_files.pq.ParquetFile, "read", lambda file, **how: threads.append(how["use_threads"]) or read(file, **how)
    )

    assert lines(lake) == ["line 1"]
    assert threads == [False]


def test_what_is_large_is_read_by_more_threads_than_one(lake, kept, monkeypatch):
    add(lake, 1)
    threads, dataset = [], data_files.dataset

    class Watched:
        def __init__(self, *of: Any) -> None:
            self.of = dataset(*of)

        def to_table(self, **how: Any) -> Any:
            threads.append(how.get("use_threads", True))
            return self.of.to_table(**how)

    monkeypatch.setattr(data_files, "dataset", Watched)
    monkeypatch.setattr(data_files, "KEPT_FILES_BYTES", 1)

    assert lines(lake) == ["line 1"]
    assert threads == [True]


def test_a_file_that_is_spoilt_after_it_was_read_is_told(lake):
    add(lake, 1)
    assert lines(lake) == ["line 1"]
    (file,) = map(Path, lake.files(LOG_EVENTS))
    content = bytearray(file.read_bytes())
    content[len(content) // 3] ^= 0xFF
    file.write_bytes(content)

    with pytest.raises(LakeDamagedError, match="is not what was written"):
        lines(lake)
    file.unlink()
    with pytest.raises(LakeDamagedError, match="is missing"):
        lines(lake)


def test_no_more_rows_are_kept_than_some_bytes(lake, kept, monkeypatch):
    for number in range(4):
        add(lake, number)
    lines(lake)
    one = kept._bytes // 4
    monkeypatch.setattr(data_files, "KEPT_BYTES", 2 * one)
    add(lake, 4)

    assert sorted(lines(lake)) == [f"line {number}" for number in range(5)]
    assert 1 <= len(kept._held) <= 2
    assert kept._bytes == sum(rows.get_total_buffer_size() for _, rows in kept._held.values()) <= 2 * one


# -- what young commits say --------------------------------------------------------------------------------


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

    assert newest > 29
    assert found == {version: lake.files(LOG_EVENTS, version) for version in found}
    assert [len(found[version]) for version in (0, 1, 4)] == [1, 2, 1]


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
    take_over(lake.path(LOG_EVENTS), delta.SCHEMA_VERSION + 1)

    with pytest.raises(LakeTooNewError):
        lines(lake)


def test_a_commit_that_is_torn_after_it_was_read_is_told(lake):
    add(lake, 1)
    assert lines(lake) == ["line 1"]
    commit = commits.commit_file(lake.path(LOG_EVENTS), 0)
    commit.write_text(commit.read_text()[:-40])

    with pytest.raises(LakeDamagedError):
        lines(lake)


def test_what_is_kept_of_commits_does_not_pile_up(lake, monkeypatch):
    monkeypatch.setattr(delta, "MOST_TOLD", 3)
    for number in range(6):
        add(lake, number)
        lake.count(LOG_EVENTS, version=number)

    assert len(delta._told) <= 3
