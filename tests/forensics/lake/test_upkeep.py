"""Small files merged, commits whose answer got lost, and lakes of an earlier release."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import deltalake
import pyarrow.parquet as pq
import pytest

from forensics.errors import LakeBusyError
from forensics.lake import Appended, Lake, compaction, data_files, delta, handles
from forensics.lake import lake as lake_module
from forensics.lake.delta import CHECKPOINT_EVERY, actions
from forensics.tables import BY_NAME

pytestmark = pytest.mark.lake

LOG_EVENTS, COVERAGE = BY_NAME["log_events"], BY_NAME["coverage"]
T = datetime(2026, 11, 20, 5, tzinfo=UTC)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


def add(lake: Lake, *numbers: int, line: str = "line") -> Appended:
    rows = [{"evidence_id": f"log:{n}", "logged_at": T + timedelta(seconds=n), "line": line} for n in numbers]
    return lake.append(LOG_EVENTS, rows, "log_events|/g")


def ids(lake: Lake, version: int | None = None) -> list[str]:
    return sorted(lake.read(LOG_EVENTS, ["evidence_id"], version=version)["evidence_id"].to_pylist())


# -- compaction --------------------------------------------------------------------------------------------


def test_many_small_files_become_one_and_no_row_changes(lake):
    for number in range(12):
        add(lake, number)
    before, rows = lake.versions()["log_events"], lake.read(LOG_EVENTS).sort_by("evidence_id")

    assert lake.compact(LOG_EVENTS, at_files=10) == 12
    assert len(lake.files(LOG_EVENTS)) == 1
    assert lake.read(LOG_EVENTS).sort_by("evidence_id").equals(rows)
    assert ids(lake, before) == ids(lake)
    assert len(lake.files(LOG_EVENTS, before)) == 12


def test_few_files_are_left_alone(lake):
    add(lake, 1)
    add(lake, 2)
    version = lake.versions()

    assert lake.compact(LOG_EVENTS, at_files=3) == 0
    assert lake.compact(COVERAGE) == 0
    assert lake.versions() == version


def test_small_files_do_not_have_larger_ones_written_again(lake):
    lake.append(LOG_EVENTS, big_rows(3_000), "log_events|/g")
    (larger,) = lake.files(LOG_EVENTS)
    for number in range(4):
        add(lake, number)

    assert lake.compact(LOG_EVENTS, at_files=4) == 4
    assert larger in lake.files(LOG_EVENTS)
    assert len(lake.files(LOG_EVENTS)) == 2


def big_rows(count: int) -> list[dict[str, Any]]:
    return [
        {"evidence_id": f"big:{n}", "logged_at": T + timedelta(seconds=n), "line": f"{n * 7919:x} {n}"}
        for n in range(count)
    ]


def test_a_merged_table_takes_appends_and_leaves_out_what_it_has(lake):
    for number in range(5):
        add(lake, number)
    lake.compact(LOG_EVENTS, at_files=5)

    assert add(lake, 3, 4, 5) == Appended(1, 2)
    assert ids(lake) == [f"log:{n}" for n in range(6)]


def test_keys_are_looked_up_only_in_files_of_their_time(lake, monkeypatch):
    for day in range(5):
        add(lake, day * 86_400, day * 86_400 + 1)
    looked_up = []
    is_in = lake_module.pc.is_in
    monkeypatch.setattr(lake_module.pc, "is_in", lambda *args, **given: looked_up.append(1) or is_in(*args, **given))

    row = {"evidence_id": "log:172800", "logged_at": T + timedelta(days=2)}
    assert lake.known(LOG_EVENTS, [row, row | {"evidence_id": "log:new"}]) == {"log:172800"}
    assert len(looked_up) == 1


KEYED = {
    LOG_EVENTS: lambda n: {"evidence_id": f"log:{n}", "logged_at": T + timedelta(days=n, microseconds=123_456 + n)},
    COVERAGE: lambda n: {"evidence_id": f"coverage:{n * 7919 % 100:02}", "collected_at": T},
}
"""Rows of a table with times, to the microsecond, and of one without."""


@pytest.mark.parametrize("table", KEYED, ids=lambda table: table.name)
def test_a_key_is_found_wherever_it_lies_and_no_other_file_is_opened(lake, monkeypatch, table):
    rows = [KEYED[table](n) for n in range(int(CHECKPOINT_EVERY) + 3)]
    for row in rows:
        lake.append(table, [row], f"{table.name}|/g")
    handles._opened.clear()  # what a checkpoint keeps of the files counts
    opened, scan = [], data_files.scan
    monkeypatch.setattr(
        data_files, "scan", lambda of, files, *more: opened.append(len(files)) or scan(of, files, *more)
    )

    assert [lake.known(table, [row]) for row in rows] == [{row["evidence_id"]} for row in rows]
    assert opened == [1] * len(rows)
    assert lake.known(table, rows) == {row["evidence_id"] for row in rows}


@pytest.mark.parametrize("table", KEYED, ids=lambda table: table.name)
def test_a_file_of_which_the_commit_does_not_say_what_it_holds_is_looked_into(lake, monkeypatch, table):
    first, second = KEYED[table](1), KEYED[table](2)
    monkeypatch.setattr(data_files, "_spanned", lambda table: [])
    lake.append(table, [first], f"{table.name}|/g")

    assert lake.append(table, [first, second], f"{table.name}|/g") == Appended(1, 1)


def test_merging_is_no_new_data(lake):
    for number in range(3):
        add(lake, number)
    data, contents = lake.data_versions(), lake.contents()
    lake.compact(LOG_EVENTS, at_files=2)

    assert lake.versions() != data
    assert lake.data_versions() == data
    assert lake.contents() == contents
    assert lake.gained(lake.versions()) == lake.gained(data) == set()
    add(lake, 9)
    assert lake.contents() != contents
    assert lake.data_versions() == lake.versions()
    assert lake.gained(data) == {"log_events"}
    assert lake.gained({}) == {"log_events"}


def test_lakes_of_other_rows_are_told_apart_though_as_much_was_written(tmp_path):
    lakes = [Lake(tmp_path / name) for name in ("one", "other", "one again")]
    for lake, second in zip(lakes, (1, 2, 1), strict=True):
        for number in (0, second):
            add(lake, number)
    one, other, again = (lake.contents() for lake in lakes)

    assert lakes[0].data_versions() == lakes[1].data_versions()
    assert one == again != other


def test_a_file_that_has_grown_large_is_not_written_again(lake, monkeypatch):
    for number in range(4):
        add(lake, number)
    lake.compact(LOG_EVENTS, at_files=2)
    (large,) = lake.files(LOG_EVENTS)
    monkeypatch.setattr(compaction, "SMALL_BYTES", Path(large).stat().st_size)
    for number in range(4, 8):
        add(lake, number)
    lake.compact(LOG_EVENTS, at_files=2)

    assert large in lake.files(LOG_EVENTS)
    assert ids(lake) == [f"log:{n}" for n in range(8)]


def test_a_checkpoint_does_not_grow_with_what_was_merged_long_ago(lake, monkeypatch):
    """Each repeats what was removed lately; with years of it, checkpoints of a watched table would be larger each time."""
    for number in range(8):
        add(lake, number)
    lake.compact(LOG_EVENTS, at_files=8)
    monkeypatch.setattr(delta, "REMEMBERED", "interval 0 hours")
    lake.append(LOG_EVENTS, [], "log_events|/g")
    for number in range(8, 24):
        add(lake, number)
    (checkpoint,) = (lake.path(LOG_EVENTS) / "_delta_log").glob("*.checkpoint.parquet")

    removed = pq.read_table(checkpoint, columns=["remove"])["remove"]
    assert removed.null_count == len(removed)
    assert ids(lake) == sorted(f"log:{n}" for n in range(24))
    assert ids(lake, 8) == sorted(f"log:{n}" for n in range(8))


def test_opening_a_table_reads_few_commits(lake):
    """Each of those since the last checkpoint is read by a thread of its own, and kept."""
    for number in range(45):
        add(lake, number)
    log = lake.path(LOG_EVENTS) / "_delta_log"

    newest = max(int(file.name[:20]) for file in log.glob("*.checkpoint.parquet"))
    assert lake.versions()["log_events"] - newest <= 20


# -- unclear commits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "problem", [deltalake.exceptions.CommitFailedError("conflict"), OSError("connection reset")], ids=["conflict", "io"]
)
def test_a_commit_that_landed_although_an_error_came_back_is_not_made_again(lake, monkeypatch, problem):
    add(lake, 1)
    write = delta.commit

    def write_and_lose_the_reply(*args, **kwargs):
        write(*args, **kwargs)
        raise problem

    monkeypatch.setattr(delta, "commit", write_and_lose_the_reply)

    assert add(lake, 2, 3) == Appended(2, 0)
    assert ids(lake) == ["log:1", "log:2", "log:3"]


def test_a_commit_that_did_not_land_is_an_error_and_can_be_made_again(lake, monkeypatch):
    add(lake, 1)
    write = delta.commit

    def refuse(*args, **kwargs):
        raise deltalake.exceptions.CommitFailedError("conflict")

    monkeypatch.setattr(delta, "commit", refuse)
    with pytest.raises(LakeBusyError):
        add(lake, 2)
    monkeypatch.setattr(delta, "commit", write)

    assert add(lake, 2) == Appended(1, 0)


def test_a_text_with_strange_line_ends_keeps_the_commit_readable(lake):
    """Delta keeps the least and greatest text of a file in its commit, which is one JSON object a line."""
    add(lake, 1, line="a\u2028b\u2029c\x85d\r\n")

    assert [a["add"]["dataChange"] for a in actions(lake.path(LOG_EVENTS), 0) if "add" in a] == [True]


# -- earlier releases --------------------------------------------------------------------------------------


def test_a_table_of_an_earlier_release_gets_the_columns_declared_since(lake, monkeypatch):
    old = COVERAGE.__class__(
        COVERAGE.name,
        COVERAGE.layer,
        COVERAGE.grain,
        COVERAGE.key,
        tuple(c for c in COVERAGE.columns if c.name != "is_sealed"),
    )
    lake.append(old, [{"evidence_id": "coverage:old", "resource": "/g"}], "coverage|collect")
    lake.append(COVERAGE, [{"evidence_id": "coverage:new", "resource": "/g", "is_sealed": True}], "coverage|collect")
    rows = {r["evidence_id"]: r["is_sealed"] for r in lake.read(COVERAGE).to_pylist()}

    assert rows == {"coverage:old": None, "coverage:new": True}
    commits = sorted((lake.path(COVERAGE) / "_delta_log").glob("*.json"))
    assert json.loads(commits[1].read_text().split("\n")[0])["commitInfo"]["operation"] == "ADD COLUMN"


def test_a_table_of_an_earlier_release_gets_the_properties_declared_since_and_no_new_data(lake, monkeypatch):
    with monkeypatch.context() as earlier:
        earlier.setattr(delta, "CHECKPOINT_EVERY", "100")
        add(lake, 1)
    data = lake.data_versions()
    add(lake, 1)
    configuration = deltalake.DeltaTable(str(lake.path(LOG_EVENTS))).metadata().configuration

    assert configuration["delta.checkpointInterval"] == delta.CHECKPOINT_EVERY
    assert configuration["delta.appendOnly"] == "true"
    assert lake.versions() != data
    assert lake.data_versions() == data
    version = lake.versions()
    add(lake, 1)
    assert lake.versions() == version
