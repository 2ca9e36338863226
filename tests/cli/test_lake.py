"""doctor, seal and status --verify from the command line."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import cli
from forensics.lake import Lake, to_arrow
from forensics.tables import BY_NAME, EVIDENCE
from forensics.window import TimeWindow
from ingest.collect import collect
from tests.ingest.model_account import GROUP, QUEUE, ModelAccount

pytestmark = pytest.mark.slow

T = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(days=3)
EVENTS = [(T + timedelta(minutes=n), "s", f"line {n}") for n in range(30)]
LOG_EVENTS, INCIDENTS = BY_NAME["log_events"], BY_NAME["incidents"]


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """A lake with one collected hour."""
    lake = Lake(tmp_path / "lake")
    read(lake)
    return lake


def read(lake: Lake) -> None:
    collect(lake, ModelAccount(EVENTS), [QUEUE], TimeWindow(T, T + timedelta(hours=1)), [GROUP])


@pytest.fixture
def run(capsys, lake):
    def run_command(*args: str) -> tuple[int, str, str]:
        return cli.main([*args, "--lake", str(lake.root)]), *capsys.readouterr()

    return run_command


def newest_commit(lake: Lake) -> Path:
    return max((lake.path(LOG_EVENTS) / "_delta_log").glob("*.json"))


@pytest.mark.parametrize("command", ["status", "incidents", "doctor", "correlate"])
def test_a_file_is_no_lake_and_a_name_that_no_file_can_have_is_said(capsys, tmp_path, command):
    (tmp_path / "file").write_text("x")
    of_file = cli.main([command, "--lake", str(tmp_path / "file")]), *capsys.readouterr()
    of_long = cli.main([command, "--lake", "a" * 5000]), *capsys.readouterr()

    assert (of_file[0], of_long[0]) == (2, 2)
    assert "/file' is a file, and a lake is a folder\n  Choose another place with --lake." in of_file[2]
    assert "File name too long" in of_long[2]


def test_a_reason_of_delta_rs_is_told_without_its_own_frames(run, lake):
    for commit in (lake.root / "evidence" / "log_events" / "_delta_log").glob("*.json"):
        commit.write_text("{")
    code, _, err = run("find", "nobody", "--lines")

    assert code == 2
    assert "cannot be read: " in err
    assert "<unknown>" not in err and "start_thread" not in err


def test_a_sound_lake_is_verified_and_left_alone_by_the_doctor(run):
    verified, sound = run("status", "--verify"), run("doctor")

    assert (verified[0], sound[0]) == (0, 0)
    assert "Verified: " in verified[2]
    assert "is sound" in sound[2]


def test_a_torn_lake_is_said_healed_and_whole_again_after_the_next_collection(run, lake):
    newest_commit(lake).write_text("")
    torn, healed = run("status"), run("doctor")
    assert (torn[0], healed[0]) == (2, 0)
    assert "doubletake doctor" in torn[2]
    assert "log_events: commit 0 is empty; set aside" in healed[2]
    assert "30 rows were stored, 0 are there" in healed[2]

    status = json.loads(run("status", "--format", "json", "--verify")[1])
    assert {s["status"] for s in status["sources"] if s["source"] == "log_events"} == {"lost"}
    read(lake)
    assert lake.count(LOG_EVENTS) == len(EVENTS)
    assert run("status", "--verify")[0] == 0


def test_rows_that_are_missing_end_verification_with_4(run, lake):
    from deltalake import DeltaTable

    for file in lake.files(LOG_EVENTS):
        Path(file).unlink()
    DeltaTable(str(lake.path(LOG_EVENTS))).repair()
    code, _, err = run("status", "--verify")

    assert code == 4
    assert "Not as recorded: log_events of /ecs/orders" in err
    assert "doubletake doctor" in err


def spoil(lake: Lake) -> Path:
    """Change bytes of an older log_events file, as a bad disk does: commit, size and name stay."""
    file = Path(lake.files(LOG_EVENTS)[0])
    late = ModelAccount([*EVENTS, (T + timedelta(hours=1, minutes=1), "s", "later")])
    collect(lake, late, [QUEUE], TimeWindow(T + timedelta(hours=1), T + timedelta(hours=2)), [GROUP])
    content = bytearray(file.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 64] = bytes(b ^ 0xFF for b in content[middle : middle + 64])
    file.write_bytes(content)
    return file


def test_a_spoiled_file_is_named_set_aside_and_its_lines_fetched_again(run, lake):
    file = spoil(lake)
    verified, healed = run("status", "--verify"), run("doctor", "--full")
    assert (verified[0], healed[0]) == (4, 0)
    assert f"Damaged: log_events: data file {file.name} is not what was written" in verified[2]
    assert "doubletake doctor --full" in verified[2]
    assert f"log_events: data file {file.name} is not what was written; set aside" in healed[2]

    read(lake)
    assert lake.count(LOG_EVENTS) == len(EVENTS) + 1
    code, _, err = run("status", "--verify")
    assert code == 0
    assert "data files are what was written" in err


def test_a_sound_lake_is_called_so_only_as_far_as_it_was_read(run, lake, monkeypatch):
    whole = run("doctor")
    monkeypatch.setattr("forensics.lake.doctor.SAMPLE_BYTES", 0)
    spoil(lake)
    file_counts = [len(lake.files(table)) for table in EVIDENCE if lake.exists(table)]
    sample = run("doctor")

    assert "looked at only by size" not in whole[2]
    assert sample[0] == 0
    older_count = sum(file_counts) - len(file_counts)
    assert older_count > 0
    told = f"{len(file_counts)} data files read to the end, {older_count} more looked at only by size and footer (--full reads all)"
    assert told in sample[2]


def test_damage_met_while_reading_is_told_as_damage(run, lake):
    file = spoil(lake)
    code, _, err = run("import", str(_again(lake)), "--log-group", GROUP)

    assert code == 2
    assert f"is damaged in its file {file.name}: it is not what was written" in err
    assert "doubletake doctor --full" in err


def _again(lake: Lake) -> Path:
    log = lake.root.parent / "worker.log"
    log.write_text("".join(f"{at:%Y-%m-%dT%H:%M:%S}.000Z {line}\n" for at, _, line in EVENTS))
    return log


def test_a_failure_that_names_no_file_is_told_as_damage_where_that_explains_it(run, lake, monkeypatch):
    def fail(lake):
        raise RuntimeError("snappy: corrupt input")

    monkeypatch.setattr("forensics.report.lake_status.lake_status", fail)
    sound = run("status")
    file = spoil(lake)
    spoiled = run("status")

    assert (sound[0], spoiled[0]) == (1, 2)
    assert "this is a bug of ours: RuntimeError: snappy: corrupt input" in sound[2]
    assert f"its file {file.name}: it is not what was written" in spoiled[2]


def test_sealing_a_case_reads_its_time_again_and_stamps_it(run, lake, monkeypatch):
    folder = lake.staging_folder(INCIDENTS, "r1")
    folder.mkdir(parents=True)
    times = {"started_at": T + timedelta(minutes=5), "ended_at": T + timedelta(minutes=9)}
    row = {"incident_id": "orders-1", "queue": QUEUE, **times}
    pq.write_table(to_arrow(INCIDENTS, [row]), folder / "part-0.parquet")
    about = {"generation_id": "g", "inputs": lake.versions(), "rules_version": "1", "data_until_at": T}
    lake.publish("r1", about, (INCIDENTS,))
    account = ModelAccount([*EVENTS, (T + timedelta(minutes=40), "s", "two days late")])
    account.list_event_source_mappings = lambda **_: {"EventSourceMappings": []}
    monkeypatch.setattr("cli.seal.accesses", lambda chosen, settings: [account])
    code, _, err = run("seal", "orders-1")
    sealed = [r for r in lake.read(BY_NAME["coverage"]).to_pylist() if r["is_sealed"]]

    assert code == 0
    assert "two days late" in lake.read(LOG_EVENTS, ["line"])["line"].to_pylist()
    assert {r["source"] for r in sealed} >= {"log_events", "metric_points"}
    assert "seal it again after" in err


HOUR = timedelta(hours=1)
CASE = {"started_at": T, "ended_at": T + HOUR, "visibility_timeout_s": 30, "final_at": None}
SEALED = {
    "an hour around it": ({}, 48, (-1, 2)),
    "two visibility timeouts, where they are longer": ({"visibility_timeout_s": 3 * 3600}, 48, (-6, 7)),
    "as far as its verdicts rest on what is missing": ({"final_at": T + 29 * HOUR}, 48, (-1, 5)),
    "no further than now": ({"final_at": T + 29 * HOUR}, 3, (-1, 3)),
}


@pytest.mark.parametrize(("facts", "now", "expected"), SEALED.values(), ids=SEALED)
def test_a_case_is_read_again_as_far_as_its_verdicts_reach(facts, now, expected):
    from cli.seal import _span

    assert _span(CASE | facts, T + now * HOUR) == tuple(T + hours * HOUR for hours in expected)


def test_an_incident_that_is_not_there_is_not_sealed(run):
    code, _, err = run("seal", "orders-1")

    assert code == 2
    assert "no findings" in err
