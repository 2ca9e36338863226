"""A torn lake: what the doctor sets aside, what it has collected again, and that it leaves a healthy lake alone."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import deltalake
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forensics.errors import LakeBusyError, LakeMissingError
from forensics.lake import Lake, LakeDamagedError, doctor, to_arrow
from forensics.lake.delta import commit_file
from forensics.lake.doctor import heal
from forensics.lake.recount import recount
from forensics.tables import BY_NAME
from forensics.tables.people import ANNOTATIONS

LOG_EVENTS, COVERAGE, MESSAGES = BY_NAME["log_events"], BY_NAME["coverage"], BY_NAME["messages"]
T = datetime(2026, 11, 20, 5, tzinfo=UTC)
WHERE = {"account_id": "123456789012", "region": "eu-west-1"}
READINGS = 4


@pytest.fixture(scope="module")
def four_readings(tmp_path_factory) -> Path:
    lake = Lake(tmp_path_factory.mktemp("four") / "lake")
    for hour in range(READINGS):
        collect(lake, hour)
    return lake.root


@pytest.fixture
def lake(four_readings: Path, tmp_path: Path) -> Lake:
    """Four readings of one log group, each an hour with ten events, each with its coverage."""
    return Lake(shutil.copytree(four_readings, tmp_path / "lake"))


def collect(lake: Lake, hour: int, at: datetime | None = None) -> None:
    """Read one hour as a collection does: the events, then the coverage row."""
    read_at = at or T + timedelta(days=2, minutes=hour)
    start_at = T + timedelta(hours=hour)
    events = [
        WHERE
        | {
            "evidence_id": f"log:{hour}-{n}",
            "log_group": "/g",
            "logged_at": start_at + timedelta(minutes=n),
            "line": f"line {n}",
            "collected_at": read_at,
        }
        for n in range(10)
    ]
    stored_count = lake.append(LOG_EVENTS, events, "log_events|/g").stored_count
    row = WHERE | {
        "evidence_id": f"coverage:{hour}-{read_at}",
        "source": "log_events",
        "resource": "/g",
        "queue_arn": "arn:q",
        "window_start_at": start_at,
        "window_end_at": start_at + timedelta(hours=1),
        "status": "ok",
        "seen_count": 10,
        "stored_count": stored_count,
        "already_count": 10 - stored_count,
        "collected_at": read_at,
    }
    lake.append(COVERAGE, [row], "coverage|collect")


def lost_hours(lake: Lake) -> set[int]:
    rows = [r for r in lake.read(COVERAGE).to_pylist() if r["status"] == "lost"]
    return {int((r["window_start_at"] - T) / timedelta(hours=1)) for r in rows}


def newest_commit(lake: Lake, table=LOG_EVENTS) -> Path:
    return max(path for path in (lake.path(table) / "_delta_log").glob("*.json"))


def newest_file(lake: Lake) -> Path:
    version = int(newest_commit(lake).stem)
    (added,) = set(lake.files(LOG_EVENTS, version)) - set(lake.files(LOG_EVENTS, version - 1))
    return Path(added)


def cut(path: Path, tenths: int) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * tenths // 10])


TORN = {
    "empty": lambda lake: newest_commit(lake).write_bytes(b""),
    "filled with NUL": lambda lake: newest_commit(lake).write_bytes(b"\0" * 900),
    "without its first line": lambda lake: newest_commit(lake).write_text(
        "\n".join(newest_commit(lake).read_text().splitlines()[1:])
    ),
    "cut after its first line": lambda lake: newest_commit(lake).write_text(
        newest_commit(lake).read_text().splitlines()[0] + "\n"
    ),
    **{f"cut at {n} tenths": lambda lake, n=n: cut(newest_commit(lake), n) for n in range(1, 10)},
    "its data file empty": lambda lake: newest_file(lake).write_bytes(b""),
    "its data file cut": lambda lake: cut(newest_file(lake), 5),
    "its data file filled with NUL": lambda lake: newest_file(lake).write_bytes(
        b"\0" * newest_file(lake).stat().st_size
    ),
    "its data file gone": lambda lake: newest_file(lake).unlink(),
}


@pytest.mark.lake
@pytest.mark.parametrize("tear", TORN.values(), ids=TORN)
def test_a_torn_newest_commit_is_set_aside_and_its_window_read_again(lake, tear):
    tear(lake)
    repairs = heal(lake).repairs

    assert repairs
    assert all(r.is_mended for r in repairs)
    assert lake.count(LOG_EVENTS) == 10 * (READINGS - 1)
    assert lost_hours(lake) == {READINGS - 1}
    assert [p for p in (lake.root / "damaged").rglob("*") if p.is_file()] or "is missing" in repairs[0].sentence

    collect(lake, READINGS - 1, at=T + timedelta(days=3))
    assert sorted(lake.read(LOG_EVENTS, ["evidence_id"])["evidence_id"].to_pylist()) == sorted(
        f"log:{hour}-{n}" for hour in range(READINGS) for n in range(10)
    )


@pytest.mark.parametrize("tear", [TORN["empty"], TORN["cut at 5 tenths"]], ids=["empty", "cut"])
def test_a_torn_commit_is_said_with_the_way_out(lake, tear):
    tear(lake)

    with pytest.raises(LakeDamagedError, match="table log_events of the lake at .* cannot be read") as caught:
        lake.read(LOG_EVENTS)
    assert "doubletake doctor" in caught.value.hint


def test_a_torn_coverage_commit_only_has_its_window_read_again(lake):
    newest_commit(lake, COVERAGE).write_bytes(b"")
    heal(lake)

    assert lake.count(COVERAGE) == READINGS - 1
    assert lake.count(LOG_EVENTS) == 10 * READINGS


@pytest.mark.lake
def test_a_damaged_file_of_an_older_commit_is_taken_out_and_only_its_window_is_lost(lake):
    older = set(lake.files(LOG_EVENTS, 1)) - set(lake.files(LOG_EVENTS, 0))
    Path(older.pop()).write_bytes(b"")
    heal(lake)

    assert lake.count(LOG_EVENTS) == 10 * (READINGS - 1)
    assert lost_hours(lake) == {1}


@pytest.mark.lake
def test_several_torn_commits_are_all_set_aside(lake):
    for version in (2, 3):
        commit_file(lake.path(LOG_EVENTS), version).write_bytes(b"")
    heal(lake)

    assert lake.count(LOG_EVENTS) == 20
    assert lost_hours(lake) == {2, 3}


@pytest.mark.lake
@pytest.mark.parametrize("tear", [TORN["empty"], TORN["cut at 5 tenths"]], ids=["empty", "cut"])
def test_a_table_whose_only_commit_is_torn_begins_again(tmp_path, tear):
    lake = Lake(tmp_path / "lake")
    collect(lake, 0)
    tear(lake)
    heal(lake)

    assert lake.count(LOG_EVENTS) == 0
    assert lost_hours(lake) == {0}
    collect(lake, 0, at=T + timedelta(days=3))
    assert lake.count(LOG_EVENTS) == 10


def test_a_torn_checkpoint_costs_nothing(lake):
    from deltalake import DeltaTable

    DeltaTable(str(lake.path(LOG_EVENTS))).create_checkpoint()
    log = lake.path(LOG_EVENTS) / "_delta_log"
    (checkpoint,) = log.glob("*.checkpoint.parquet")
    cut(checkpoint, 5)
    heal(lake)

    assert lake.count(LOG_EVENTS) == 10 * READINGS
    assert not (log / "_last_checkpoint").exists()
    assert lost_hours(lake) == set()


@pytest.mark.lake
def test_damaged_findings_are_set_aside_as_a_whole(lake):
    folder = lake.staging_folder(MESSAGES, "r1")
    folder.mkdir(parents=True)
    pq.write_table(to_arrow(MESSAGES, [{MESSAGES.key[0]: "a"}]), folder / "part-0.parquet")
    about = {"generation_id": "g", "inputs": lake.versions(), "rules_version": "1", "data_until_at": T}
    lake.publish("r1", about, (MESSAGES,))
    newest_commit(lake, MESSAGES).write_bytes(b"")
    repairs = heal(lake).repairs

    assert ["doubletake correlate" in r.sentence for r in repairs] == [True]
    assert lake.generation() is None
    assert lake.count(LOG_EVENTS) == 10 * READINGS


def test_a_healthy_lake_is_left_alone(lake):
    before = {str(p): p.read_bytes() for p in lake.root.rglob("*") if p.is_file()}

    assert heal(lake).repairs == ()
    after = {str(p): p.read_bytes() for p in lake.root.rglob("*") if p.is_file()}
    assert {name: content for name, content in after.items() if not name.endswith(".lock")} == before
    assert heal(lake).repairs == ()


@pytest.mark.lake
def test_a_second_visit_does_nothing_more(lake):
    newest_commit(lake).write_bytes(b"")
    heal(lake)
    again = heal(lake).repairs

    assert again == ()


def test_a_lake_that_is_being_written_is_not_touched(lake):
    with lake.writing("collect"), pytest.raises(LakeBusyError):
        heal(lake)


def test_no_lake_is_said(tmp_path):
    with pytest.raises(LakeMissingError, match="there is no lake"):
        heal(Lake(tmp_path / "none"))


# -- a disk that spoils what lay on it ---------------------------------------------------------------------


def file_of(lake: Lake, hour: int, table=LOG_EVENTS) -> Path:
    """The data file that the reading of an hour added."""
    (added,) = set(lake.files(table, hour)) - set(lake.files(table, hour - 1) if hour else ())
    return Path(added)


def flip(file: Path, at: int) -> None:
    """Change one byte; the file keeps its size."""
    content = bytearray(file.read_bytes())
    content[at] ^= 0x55
    file.write_bytes(content)


def flip_line(file: Path) -> None:
    """Change the text of a line: whoever counts rows does not meet it."""
    columns = pq.read_metadata(file).row_group(0)
    (line,) = [c for c in map(columns.column, range(columns.num_columns)) if c.path_in_schema == "line"]
    flip(file, line.dictionary_page_offset + line.total_compressed_size - 2)


def readable(lake: Lake) -> list[str]:
    return sorted(lake.read(LOG_EVENTS, ["evidence_id"])["evidence_id"].to_pylist())


ALL_IDS = sorted(f"log:{hour}-{n}" for hour in range(READINGS) for n in range(10))


@pytest.mark.lake
@pytest.mark.parametrize("tenth", range(10))
def test_one_changed_byte_of_an_older_file_is_found_and_only_its_window_read_again(lake, tenth):
    file = file_of(lake, 1)
    flip(file, file.stat().st_size * tenth // 10 + 3)
    visit = heal(lake, full=True)

    assert [r.is_mended for r in visit.repairs] == [True, True]
    assert f"data file {file.name} is not what was written; set aside" in visit.repairs[0].sentence
    assert [p.name for p in (lake.root / "damaged").rglob("*.parquet")] == [file.name]
    assert lost_hours(lake) == {1}

    collect(lake, 1, at=T + timedelta(days=3))
    assert readable(lake) == ALL_IDS
    assert heal(lake, full=True).repairs == ()


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=st.floats(0, 1, exclude_max=True), mask=st.integers(1, 255))
def test_whoever_reads_a_changed_file_gets_the_rows_that_were_written_or_is_told_which_file_it_is(lake, where, mask):
    file = file_of(lake, 2)
    whole = file.read_bytes()
    # What follows the pages tells where they are, and has no checksum of its own: that is what the digest is for.
    pages_end = len(whole) - int.from_bytes(whole[-8:-4], "little") - 8
    content = bytearray(whole)
    content[int(pages_end * where)] ^= mask
    try:
        file.write_bytes(content)
        assert lake.read(LOG_EVENTS).num_rows == 10 * READINGS
        assert readable(lake) == ALL_IDS
    except LakeDamagedError as problem:
        assert f"table log_events of the lake at {str(lake.root)!r} is damaged in its file {file.name}: " in str(
            problem
        )
        assert "doubletake doctor --full" in problem.hint
    finally:
        file.write_bytes(whole)


@pytest.mark.lake
def test_a_sample_is_called_one(lake, monkeypatch):
    monkeypatch.setattr(doctor, "SAMPLE_BYTES", 0)
    flip_line(file_of(lake, 1))
    sample, full = heal(lake), heal(lake, full=True)

    assert sample.repairs == ()
    assert (sample.read_count, sample.file_count) == (2, 2 * READINGS)  # the newest of each table
    assert (full.read_count, full.file_count) == (2 * READINGS, 2 * READINGS)
    assert full.repairs


@pytest.mark.lake
def test_a_file_outside_the_sample_that_the_count_cannot_read_is_healed_as_well(lake, monkeypatch):
    monkeypatch.setattr(doctor, "SAMPLE_BYTES", 0)
    flip(file_of(lake, 1), 200)
    visit = heal(lake)

    assert visit.read_count == visit.file_count
    assert lost_hours(lake) == {1}


@pytest.mark.lake
def test_a_small_lake_is_read_whole_without_being_asked(lake):
    flip(file_of(lake, 1), 200)
    visit = heal(lake)

    assert visit.read_count == visit.file_count
    assert visit.repairs


@pytest.mark.lake
def test_rows_of_a_killed_run_that_go_with_a_file_open_the_window_that_found_them_there(lake):
    """The run that stored them left no reading, so no count misses them; the next reading only said "already there"."""
    hour = READINGS
    event = WHERE | {"evidence_id": f"log:{hour}-0", "log_group": "/g", "logged_at": T + timedelta(hours=hour)}
    lake.append(LOG_EVENTS, [event | {"line": "line 0", "collected_at": T + timedelta(days=1)}], "log_events|/g")
    killed = newest_file(lake)
    collect(lake, hour)
    (reading,) = [r for r in lake.read(COVERAGE).to_pylist() if r["already_count"]]
    assert (reading["stored_count"], reading["already_count"]) == (9, 1)

    flip(killed, 200)
    heal(lake, full=True)

    assert lost_hours(lake) == {hour}


@pytest.mark.lake
def test_merged_files_carry_checksums_too(lake):
    lake.compact(LOG_EVENTS, at_files=2)
    (merged,) = map(Path, lake.files(LOG_EVENTS))
    flip(merged, merged.stat().st_size - 30)  # in its footer
    heal(lake, full=True)

    assert lost_hours(lake) == set(range(READINGS))
    assert lake.count(LOG_EVENTS) == 0


@pytest.mark.lake
def test_a_file_of_an_earlier_release_is_read_without_checksums(lake):
    rows = to_arrow(
        LOG_EVENTS, [WHERE | {"evidence_id": "log:old", "log_group": "/g", "logged_at": T, "line": "x" * 999}]
    )
    deltalake.write_deltalake(str(lake.path(LOG_EVENTS)), rows, mode="append")
    old = newest_file(lake)
    collect(lake, READINGS)

    assert heal(lake, full=True).repairs == ()
    content = old.read_bytes()
    old.write_bytes(content[:40] + b"\xff" * 40 + content[80:])
    assert "cannot be read; set aside" in heal(lake, full=True).repairs[0].sentence


@pytest.mark.lake
@pytest.mark.parametrize(("count", "compression"), [(1, "SNAPPY"), (400, "ZSTD")])
def test_the_files_are_zstd_where_they_hold_more_than_a_few_rows(tmp_path, count, compression):
    lake = Lake(tmp_path)
    lake.append(
        LOG_EVENTS, [WHERE | {"evidence_id": f"log:{n}", "logged_at": T} for n in range(count)], "log_events|/g"
    )
    columns = pq.ParquetFile(*lake.files(LOG_EVENTS)).metadata.row_group(0)

    assert {columns.column(n).compression for n in range(columns.num_columns)} == {compression}


@pytest.mark.lake
def test_what_people_said_is_looked_after_as_well(lake):
    said = {"evidence_id": "annotation:1", "incident_id": "i", "mark": "refunded", "reason": "r", "marked_at": T}
    lake.append(ANNOTATIONS, [said], "annotations|people")
    flip(Path(*lake.files(ANNOTATIONS)), 200)

    assert "what people said there is no longer counted" in heal(lake, full=True).repairs[0].sentence


# -- the recount -------------------------------------------------------------------------------------------


def test_the_recount_agrees_with_what_was_stored(lake):
    found = recount(lake)

    assert (found.reading_count, found.row_count, found.miscounts) == (READINGS, 10 * READINGS, ())


@pytest.mark.lake
def test_rows_of_a_killed_run_are_no_miscount(lake):
    event = WHERE | {"evidence_id": "log:x", "log_group": "/g", "logged_at": T, "collected_at": T + timedelta(days=9)}
    lake.append(LOG_EVENTS, [event], "log_events|/g")

    assert recount(lake).miscounts == ()


@pytest.mark.lake
def test_a_reading_that_served_two_queues_is_counted_once(lake):
    row = lake.read(COVERAGE).to_pylist()[0] | {"evidence_id": "coverage:other", "queue_arn": "arn:other"}
    lake.append(COVERAGE, [row], "coverage|collect")

    assert recount(lake).miscounts == ()


def test_a_reading_whose_rows_are_gone_is_named(lake):
    newest_file(lake).unlink()
    from deltalake import DeltaTable

    DeltaTable(str(lake.path(LOG_EVENTS))).repair()
    (miscount,) = recount(lake).miscounts

    assert (miscount.resource, miscount.stored_count, miscount.found_count) == ("/g", 10, 0)
    assert miscount.sentence.endswith("10 rows were stored, 0 are there")


@pytest.mark.lake
def test_a_reading_that_stored_nothing_at_the_same_moment_hides_none_that_did(lake):
    row = lake.read(COVERAGE).to_pylist()[0]
    for number in range(2):  # whichever of them is read first
        other = row | {"evidence_id": f"coverage:{number}", "queue_arn": f"arn:{number}", "stored_count": 10 * number}
        lake.append(COVERAGE, [other], "coverage|collect")

    assert recount(lake).miscounts == ()
