"""A torn lake: what the doctor sets aside, what it has collected again, and that it leaves a healthy lake alone."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from forensics.errors import LakeBusyError, LakeMissingError
from forensics.lake import Lake, LakeDamagedError, to_arrow
from forensics.lake.delta import commit_file
from forensics.lake.doctor import heal
from forensics.lake.recount import recount
from forensics.tables import BY_NAME

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


@pytest.mark.parametrize("tear", TORN.values(), ids=TORN)
def test_a_torn_newest_commit_is_set_aside_and_its_window_read_again(lake, tear):
    tear(lake)
    repairs = heal(lake)

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


def test_a_damaged_file_of_an_older_commit_is_taken_out_and_only_its_window_is_lost(lake):
    older = set(lake.files(LOG_EVENTS, 2)) - set(lake.files(LOG_EVENTS, 1))
    Path(older.pop()).write_bytes(b"")
    heal(lake)

    assert lake.count(LOG_EVENTS) == 10 * (READINGS - 1)
    assert lost_hours(lake) == {1}


def test_several_torn_commits_are_all_set_aside(lake):
    for version in (3, 4):
        commit_file(lake.path(LOG_EVENTS), version).write_bytes(b"")
    heal(lake)

    assert lake.count(LOG_EVENTS) == 20
    assert lost_hours(lake) == {2, 3}


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


def test_damaged_findings_are_set_aside_as_a_whole(lake):
    folder = lake.staging_folder(MESSAGES, "r1")
    folder.mkdir(parents=True)
    pq.write_table(to_arrow(MESSAGES, [{MESSAGES.key[0]: "a"}]), folder / "part-0.parquet")
    about = {"generation_id": "g", "inputs": lake.versions(), "rules_version": "1", "data_until_at": T}
    lake.publish("r1", about, (MESSAGES,))
    newest_commit(lake, MESSAGES).write_bytes(b"")
    repairs = heal(lake)

    assert ["doubletake correlate" in r.sentence for r in repairs] == [True]
    assert lake.generation() is None
    assert lake.count(LOG_EVENTS) == 10 * READINGS


def test_a_healthy_lake_is_left_alone(lake):
    before = {str(p): p.read_bytes() for p in lake.root.rglob("*") if p.is_file()}

    assert heal(lake) == []
    after = {str(p): p.read_bytes() for p in lake.root.rglob("*") if p.is_file()}
    assert {name: content for name, content in after.items() if not name.endswith(".lock")} == before
    assert heal(lake) == []


def test_a_second_visit_does_nothing_more(lake):
    newest_commit(lake).write_bytes(b"")
    heal(lake)
    again = heal(lake)

    assert again == []


def test_a_lake_that_is_being_written_is_not_touched(lake):
    with lake.writing("collect"), pytest.raises(LakeBusyError):
        heal(lake)


def test_no_lake_is_said(tmp_path):
    with pytest.raises(LakeMissingError, match="there is no lake"):
        heal(Lake(tmp_path / "none"))


# -- the recount -------------------------------------------------------------------------------------------


def test_the_recount_agrees_with_what_was_stored(lake):
    found = recount(lake)

    assert (found.reading_count, found.row_count, found.miscounts) == (READINGS, 10 * READINGS, ())


def test_rows_of_a_killed_run_are_no_miscount(lake):
    event = WHERE | {"evidence_id": "log:x", "log_group": "/g", "logged_at": T, "collected_at": T + timedelta(days=9)}
    lake.append(LOG_EVENTS, [event], "log_events|/g")

    assert recount(lake).miscounts == ()


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


def test_a_reading_that_stored_nothing_at_the_same_moment_hides_none_that_did(lake):
    row = lake.read(COVERAGE).to_pylist()[0]
    for number in range(2):  # whichever of them is read first
        other = row | {"evidence_id": f"coverage:{number}", "queue_arn": f"arn:{number}", "stored_count": 10 * number}
        lake.append(COVERAGE, [other], "coverage|collect")

    assert recount(lake).miscounts == ()
