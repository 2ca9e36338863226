"""The lake: each key once, versions that stay as they were, generations that belong together."""

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Barrier

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from forensics.errors import LakeBusyError, LakeMissingError, LakeTooNewError
from forensics.lake import Appended, Lake, LakeDamagedError, commits, delta, handles, to_arrow
from forensics.lake.data_files import sha256_of
from forensics.lake.filters import between, equals, one_of
from forensics.lake.forgetting import forget_generations
from forensics.lake.schemas import described_schema
from forensics.tables import BY_NAME
from tests.tables import take_over

pytestmark = pytest.mark.lake

LOG_EVENTS, CONSUMERS = BY_NAME["log_events"], BY_NAME["consumers"]
MESSAGES, INCIDENTS = BY_NAME["messages"], BY_NAME["incidents"]
T = datetime(2026, 11, 20, 5, tzinfo=UTC)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


def event(number: int, line: str = "line") -> dict:
    return {"evidence_id": f"log:{number}", "logged_at": T + timedelta(seconds=number), "line": line}


def consumer(name: str) -> dict:
    return {"evidence_id": f"consumer:{name}", "log_group": name}


def add(lake: Lake, *rows: dict) -> Appended:
    return lake.append(LOG_EVENTS, list(rows), "log_events|/g")


def ids(lake: Lake, version: int | None = None) -> list[str]:
    return sorted(lake.read(LOG_EVENTS, ["evidence_id"], version=version)["evidence_id"].to_pylist())


def stage(lake: Lake, run_id: str, **counts: int) -> None:
    """Write staged files of findings tables, as a Spark job would."""
    for name, count in counts.items():
        table = BY_NAME[name]
        folder = lake.staging_folder(table, run_id)
        folder.mkdir(parents=True)
        key = table.key[0]
        rows = [{key: f"{run_id}-{n}"} for n in range(count)]
        pq.write_table(to_arrow(table, rows), folder / "part-0.parquet")


def publish(lake: Lake, run_id: str, **counts: int) -> None:
    stage(lake, run_id, **counts)
    findings = tuple(BY_NAME[name] for name in counts)
    about = {
        "generation_id": run_id * 20,
        "inputs": lake.versions(),
        "rules_version": "1",
        "data_until_at": T,
    }
    lake.publish(run_id, about, findings)


# -- appending ---------------------------------------------------------------------------------------------


def test_rows_already_there_are_left_out(lake):
    add(lake, event(1), event(2))

    assert add(lake, event(2), event(3)) == Appended(1, 1)
    assert ids(lake) == ["log:1", "log:2", "log:3"]


def test_a_key_that_comes_twice_at_once_is_stored_once_as_it_came_first(lake):
    assert add(lake, event(1, "first"), event(1, "second"), event(2)) == Appended(2, 1)
    assert sorted(lake.read(LOG_EVENTS, ["line"])["line"].to_pylist()) == ["first", "line"]


def test_appending_nothing_new_makes_no_version(lake):
    add(lake, event(1))
    version = lake.versions()["log_events"]
    add(lake, event(1))
    add(lake)

    assert lake.versions()["log_events"] == version


def test_rows_outside_the_span_of_the_new_ones_do_not_count(lake):
    """The comparison looks only where the new rows are: that is what keeps it fast."""
    add(lake, event(1), event(1_000_000))

    assert add(lake, event(500), event(501)) == Appended(2, 0)


@pytest.mark.parametrize("left", [0, 40], ids=["empty", "cut off"])
def test_a_commit_that_came_out_torn_is_told_by_the_append_that_made_it(lake, monkeypatch, left):
    add(lake, event(1))
    write = delta.commit

    def tearing(handle, *args, **more):
        write(handle, *args, **more)
        commit = lake.path(LOG_EVENTS) / "_delta_log" / f"{1:020d}.json"
        commit.write_bytes(commit.read_bytes()[:left])

    monkeypatch.setattr(delta, "commit", tearing)

    with pytest.raises(LakeDamagedError, match="table log_events .* cannot be read"):
        add(lake, event(2))


def test_a_table_without_times_is_compared_whole(lake):
    lake.append(CONSUMERS, [consumer("a")], "consumers|x")

    assert lake.append(CONSUMERS, [consumer("a"), consumer("b")], "consumers|x") == Appended(1, 1)


def test_many_appends_add_up(lake):
    for number in range(12):
        add(lake, event(number), event(number + 1))

    assert ids(lake) == sorted(f"log:{n}" for n in range(13))


def test_a_column_that_is_not_declared_is_refused(lake):
    with pytest.raises(ValueError, match="table log_events has no column 'colour'"):
        add(lake, event(1) | {"colour": "red"})
    assert not lake.exists(LOG_EVENTS)


def test_findings_take_no_appends(lake):
    with pytest.raises(ValueError, match="messages is not an evidence table"):
        lake.append(MESSAGES, [], "x")


def test_evidence_has_no_staging_folder(lake):
    with pytest.raises(ValueError, match="log_events is not a findings table"):
        lake.staging_folder(LOG_EVENTS, "run")


def test_evidence_tables_refuse_to_lose_rows(lake):
    add(lake, event(1))
    log = lake.path(LOG_EVENTS) / "_delta_log" / f"{0:020d}.json"
    metadata = next(json.loads(line)["metaData"] for line in log.read_text().splitlines() if "metaData" in line)

    assert metadata["configuration"]["delta.appendOnly"] == "true"


# -- reading -----------------------------------------------------------------------------------------------


def test_an_earlier_version_stays_as_it_was(lake):
    add(lake, event(1))
    pinned, files = lake.versions()["log_events"], lake.files(LOG_EVENTS)
    add(lake, event(2))

    assert ids(lake, pinned) == ["log:1"]
    assert lake.files(LOG_EVENTS, pinned) == files
    assert len(ids(lake)) == 2


def test_a_table_that_is_not_there_has_no_rows_but_its_columns(lake):
    empty = lake.read(LOG_EVENTS)

    assert empty.num_rows == 0
    assert tuple(empty.column_names) == LOG_EVENTS.column_names


FILTERS = {
    "equal": (equals("line", "b"), ["log:2"]),
    "one of": (one_of("line", ["a", "c"]), ["log:1", "log:3"]),
    "one of none": (one_of("line", []), []),
    "between, both ends included": (
        between("logged_at", T + timedelta(seconds=2), T + timedelta(seconds=3)),
        ["log:2", "log:3"],
    ),
}


@pytest.mark.parametrize(("where", "wanted"), FILTERS.values(), ids=FILTERS)
def test_rows_can_be_chosen(lake, where, wanted):
    add(lake, event(1, "a"), event(2, "b"), event(3, "c"))

    assert sorted(lake.read(LOG_EVENTS, ["evidence_id"], where)["evidence_id"].to_pylist()) == wanted


def test_times_come_back_in_utc_to_the_microsecond(lake):
    moment = datetime(2026, 11, 20, 14, 0, 0, 123456, tzinfo=UTC)
    add(lake, event(1) | {"logged_at": moment})

    assert lake.read(LOG_EVENTS).to_pylist()[0]["logged_at"] == moment


@pytest.mark.parametrize("name", ["a lake", "lake #1", "Seen-é", "what?"])
def test_a_lake_may_lie_in_any_folder(tmp_path, name):
    lake = Lake(tmp_path / name)
    add(lake, event(1))
    add(lake, event(2))
    publish(lake, "r1", messages=1)

    assert len(ids(lake)) == 2
    assert lake.findings().read(MESSAGES).num_rows == 1


def test_a_lake_may_be_named_by_way_of_a_folder_above(lake, tmp_path):
    add(lake, event(1))
    (tmp_path / "elsewhere").mkdir()
    named = Lake(tmp_path / "elsewhere" / ".." / "lake")

    named.check_files([LOG_EVENTS])

    assert named.root == lake.root
    assert ids(named) == ["log:1"]


def test_a_copied_lake_reads_by_itself(lake, tmp_path):
    add(lake, event(1))
    publish(lake, "r1", messages=2)
    shutil.move(lake.root, tmp_path / "elsewhere")
    moved = Lake(tmp_path / "elsewhere")

    assert ids(moved) == ["log:1"]
    assert moved.findings().read(MESSAGES).num_rows == 2


# -- generations -------------------------------------------------------------------------------------------


def test_a_reader_stays_with_its_generation_while_the_next_is_written(lake):
    add(lake, event(1))
    publish(lake, "r1", messages=1, incidents=1)
    reader = lake.findings()
    add(lake, event(2))
    publish(lake, "r2", messages=3, incidents=2)

    assert [reader.read(t).num_rows for t in (MESSAGES, INCIDENTS, LOG_EVENTS)] == [1, 1, 1]
    assert [lake.findings().read(t).num_rows for t in (MESSAGES, INCIDENTS, LOG_EVENTS)] == [3, 2, 2]


def test_a_crash_before_the_last_step_leaves_readers_where_they_were(lake, monkeypatch):
    add(lake, event(1))
    publish(lake, "r1", messages=1, incidents=1)
    replace = Lake._replace

    def replace_then_crash(self, table, *told):
        if table is INCIDENTS:
            raise KeyboardInterrupt
        return replace(self, table, *told)

    monkeypatch.setattr(Lake, "_replace", replace_then_crash)
    with pytest.raises(KeyboardInterrupt):
        publish(lake, "r2", messages=9, incidents=9)

    assert [lake.findings().read(t).num_rows for t in (MESSAGES, INCIDENTS)] == [1, 1]


def test_staged_files_are_invisible_until_published(lake):
    add(lake, event(1))
    publish(lake, "r1", messages=1)
    stage(lake, "r2", messages=5)

    assert lake.findings().read(MESSAGES).num_rows == 1
    assert lake.read(MESSAGES).num_rows == 1


def test_a_file_that_the_generation_before_named_is_not_read_again(lake, monkeypatch):
    publish(lake, "r1", messages=2)
    folder = lake.path(BY_NAME["messages"])
    before = folder / "data" / "r1" / "part-0.parquet"
    named = commits.digests(folder)["data/r1/part-0.parquet"]
    digested: list[str] = []
    (folder / "data" / "r2").mkdir()
    os.link(before, folder / "data" / "r2" / "linked.parquet")
    shutil.copyfile(before, folder / "data" / "r2" / "copied.parquet")

    about = {"generation_id": "r2" * 20, "inputs": lake.versions(), "rules_version": "1", "data_until_at": T}
    lake.publish("r2", about, (BY_NAME["messages"],), lambda file: digested.append(file.name) or sha256_of(file))

    assert "linked.parquet" not in digested and "copied.parquet" in digested
    assert [commits.digests(folder)[f"data/r2/{name}.parquet"] for name in ("linked", "copied")] == [named, named]
    assert lake.count(BY_NAME["messages"]) == 4


def test_earlier_generations_can_be_named(lake):
    add(lake, event(1))
    publish(lake, "r1", messages=1)
    publish(lake, "r2", messages=2)

    assert [g.row_counts["messages"] for g in lake.generations()] == [2, 1]
    assert lake.generation().data_version == ("r2" * 20)[:12]


def test_a_table_without_rows_that_gets_none_stays_at_its_version_until_it_gets_some(lake):
    add(lake, event(1))
    counts = (0, 0, 3, 0)
    for number, count in enumerate(counts):
        publish(lake, f"r{number}", messages=1, incidents=count)

    versions = [generation.versions["incidents"] for generation in reversed(lake.generations())]
    assert versions[0] == versions[1] < versions[2] < versions[3]
    assert tuple(lake.read(INCIDENTS, version=version).num_rows for version in versions) == counts


def without_incidents(lake: Lake, run_id: str) -> int:
    """Publish one message, and nothing for incidents; return the version of incidents."""
    stage(lake, run_id, messages=1)
    about = {"generation_id": run_id * 20, "inputs": {}, "rules_version": "1", "data_until_at": T}
    return lake.publish(run_id, about, (MESSAGES, INCIDENTS)).versions["incidents"]


def test_a_table_without_rows_that_gets_none_is_not_opened(lake, monkeypatch):
    first, opened = without_incidents(lake, "r1"), []
    monkeypatch.setattr(
        handles, "DeltaTable", lambda at, **more: opened.append(Path(at).name) or DeltaTable(at, **more)
    )

    assert without_incidents(lake, "r2") == first
    assert "messages" in opened and "incidents" not in opened


@pytest.mark.parametrize("since", ["a column", "a property"])
def test_a_table_of_an_earlier_release_gets_what_was_declared_since_though_it_gets_no_rows(lake, since, monkeypatch):
    release = BY_NAME["incidents"]
    if since == "a column":
        earlier = replace(release, columns=release.columns[:-1])
        delta.create_table(lake.path(INCIDENTS), earlier)
    else:
        monkeypatch.setattr(delta, "CHECKPOINT_EVERY", "10")
        delta.create_table(lake.path(INCIDENTS), release)
        monkeypatch.undo()

    without_incidents(lake, "r1")
    handle = DeltaTable(str(lake.path(INCIDENTS)))
    assert len(handle.schema().fields) == len(release.columns)
    assert handle.metadata().configuration["delta.checkpointInterval"] == delta.CHECKPOINT_EVERY


def staged_again(lake: Lake, earlier: str, run_id: str) -> None:
    """Stage the very file of an earlier run's messages under another name, and one without rows beside it."""
    folder = lake.staging_folder(MESSAGES, run_id)
    folder.mkdir(parents=True)
    os.link(lake.staging_folder(MESSAGES, earlier) / "part-0.parquet", folder / "part-7.parquet")
    pq.write_table(to_arrow(MESSAGES, []), folder / "part-8.parquet")


def published(lake: Lake, run_id: str) -> tuple[int, int]:
    """Publish what is staged of messages; return their version and how many they are."""
    about = {"generation_id": run_id * 20, "inputs": {}, "rules_version": "1", "data_until_at": T}
    found = lake.publish(run_id, about, (MESSAGES,))
    return found.versions["messages"], found.row_counts["messages"]


@pytest.mark.parametrize("young", [delta.YOUNG, -1], ids=["whose commits are read", "that is opened"])
def test_a_table_that_gets_the_very_files_it_has_stays_at_its_version(lake, monkeypatch, young):
    stage(lake, "r1", messages=2)
    first = published(lake, "r1")
    monkeypatch.setattr(delta, "YOUNG", young)
    staged_again(lake, "r1", "r2")

    assert published(lake, "r2") == first == (0, 2)
    forget_generations(lake)
    assert lake.findings().read(MESSAGES).num_rows == 2
    assert [folder.name for folder in (lake.path(MESSAGES) / "data").iterdir()] == ["r1"]


def test_a_table_that_gets_one_file_more_or_fewer_does_not(lake):
    stage(lake, "r1", messages=2)
    first = published(lake, "r1")
    publish_again(lake, "r2", "r1")
    staged_again(lake, "r1", "r3")

    assert first < published(lake, "r3") == (2, 2)


def test_a_file_that_was_changed_in_its_table_is_named_again(lake):
    stage(lake, "r1", messages=2)
    first, _ = published(lake, "r1")
    file = lake.staging_folder(MESSAGES, "r1") / "part-0.parquet"
    content = file.read_bytes()
    staged_again(lake, "r1", "r2")
    file.unlink()
    file.write_bytes(content[:-9] + b"spoilt" + content[-3:])

    version, _ = published(lake, "r2")
    assert version > first
    assert lake.findings().read(MESSAGES).num_rows == 2


def test_a_table_that_no_generation_names_is_named_again_for_its_files_may_not_be_on_the_disk(lake):
    stage(lake, "r1", messages=2)
    first, _ = published(lake, "r1")
    shutil.rmtree(lake.path(BY_NAME["generations"]))
    staged_again(lake, "r1", "r2")

    assert published(lake, "r2")[0] > first


@pytest.mark.parametrize("young", [delta.YOUNG, -1], ids=["whose commits are read", "that is opened"])
def test_a_table_of_an_earlier_release_gets_a_column_declared_since_though_its_rows_stay(lake, monkeypatch, young):
    columns = MESSAGES.columns
    with monkeypatch.context() as patch:
        patch.setattr(
            delta, "described_schema", lambda table: described_schema(replace(table, columns=table.columns[:-1]))
        )
        stage(lake, "r1", messages=2)
        published(lake, "r1")
    monkeypatch.setattr(delta, "YOUNG", young)
    staged_again(lake, "r1", "r2")

    assert published(lake, "r2")[1] == 2
    assert len(DeltaTable(str(lake.path(MESSAGES))).schema().fields) == len(columns)


def test_evidence_ids_lead_to_their_rows(lake):
    add(lake, event(1), event(2))
    lake.append(CONSUMERS, [consumer("a")], "consumers|x")
    publish(lake, "r1", messages=1)
    found = lake.findings().evidence_rows(["log:2", "consumer:a", "log:missing"])

    assert {name: [row["evidence_id"] for row in rows] for name, rows in found.items()} == {
        "log_events": ["log:2"],
        "consumers": ["consumer:a"],
    }


# -- what reached the disk ---------------------------------------------------------------------------------


@pytest.fixture
def flushed(monkeypatch) -> list[str]:
    paths: list[str] = []
    fsync = os.fsync

    def recording(fd: int) -> None:
        paths.append(os.readlink(f"/proc/self/fd/{fd}"))
        fsync(fd)

    monkeypatch.setattr(os, "fsync", recording)
    return paths


def test_a_commit_and_its_files_are_flushed_before_the_append_returns(lake, flushed):
    add(lake, event(1))
    folder = lake.path(LOG_EVENTS)
    written = {str(path) for path in folder.rglob("*") if path.suffix in (".json", ".parquet")}

    assert written <= set(flushed)
    assert {str(folder / "_delta_log"), str(folder), str(folder.parent), str(lake.root)} <= set(flushed)


def publish_again(lake: Lake, run_id: str, earlier: str) -> Path:
    """Publish the file of an earlier run under another name beside a new file; returns the folder."""
    folder = lake.staging_folder(MESSAGES, run_id)
    folder.mkdir(parents=True)
    os.link(lake.staging_folder(MESSAGES, earlier) / "part-0.parquet", folder / "part-1.parquet")
    pq.write_table(to_arrow(MESSAGES, [{"item_id": f"{run_id}-new"}]), folder / "part-0.parquet")
    about = {"generation_id": run_id * 20, "inputs": {}, "rules_version": "1", "data_until_at": T, "made_at": T}
    lake.publish(run_id, about, (MESSAGES,))
    return folder


def test_of_a_file_that_a_generation_named_before_only_the_name_is_flushed(lake, flushed):
    publish(lake, "r1", messages=2)
    flushed.clear()

    folder = publish_again(lake, "r2", "r1")

    assert {str(folder), str(folder / "part-0.parquet")} <= set(flushed)
    assert str(folder / "part-1.parquet") not in flushed
    assert lake.read(MESSAGES, version=lake.generation().versions["messages"]).num_rows == 3


def test_a_file_of_a_commit_that_no_generation_names_is_flushed_again(lake, flushed, monkeypatch):
    publish(lake, "r1", messages=1)
    with monkeypatch.context() as killed, pytest.raises(KeyboardInterrupt):
        killed.setattr(delta, "flush", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        publish(lake, "r2", messages=2)
    flushed.clear()

    folder = publish_again(lake, "r3", "r2")

    assert str(folder / "part-1.parquet") in flushed


def test_a_torn_commit_is_said_and_not_read_around(lake):
    add(lake, event(1))
    newest = lake.path(LOG_EVENTS) / "_delta_log" / f"{0:020d}.json"
    newest.write_text(newest.read_text()[:40])

    with pytest.raises(LakeDamagedError, match="table log_events of the lake at .* cannot be read"):
        lake.read(LOG_EVENTS)


# -- others at work ----------------------------------------------------------------------------------------


def test_a_second_writer_of_the_same_source_is_told_to_wait(lake, monkeypatch):
    add(lake, event(1))
    compare = Lake._without_known

    def compare_while_another_commits(self, table, data, version):
        fresh = compare(self, table, data, version)
        monkeypatch.setattr(Lake, "_without_known", compare)
        add(Lake(lake.root), event(2))
        return fresh

    monkeypatch.setattr(Lake, "_without_known", compare_while_another_commits)
    with pytest.raises(LakeBusyError, match="another process is writing log_events") as caught:
        add(lake, event(2), event(3))

    assert caught.value.exit_code == 75
    assert ids(lake) == ["log:1", "log:2"]
    assert add(lake, event(2), event(3)) == Appended(1, 1)


def test_of_two_writers_that_find_no_table_the_second_appends_to_what_the_first_created(lake, monkeypatch):
    compare = Lake._without_known

    def compare_while_another_creates(self, table, data, version):
        fresh = compare(self, table, data, version)
        monkeypatch.setattr(Lake, "_without_known", compare)
        assert add(Lake(lake.root), event(1), event(2)) == Appended(2, 0)
        return fresh

    monkeypatch.setattr(Lake, "_without_known", compare_while_another_creates)
    assert add(lake, event(2), event(3)) == Appended(1, 1)

    assert ids(lake) == ["log:1", "log:2", "log:3"]
    assert {*lake.path(LOG_EVENTS).glob("*.parquet")} == {*map(Path, lake.files(LOG_EVENTS))}


def test_of_writers_that_create_a_table_at_once_none_writes_over_another(lake):
    created = Barrier(4)

    def create(number):
        created.wait()
        return add(Lake(lake.root), event(number)).stored_count

    with ThreadPoolExecutor(4) as writers:
        stored = [writers.submit(create, number) for number in range(4)]
    done = [one.result() for one in stored if not isinstance(one.exception(), LakeBusyError)]

    assert done
    assert len(ids(lake)) == sum(done)


def test_one_kind_of_work_at_a_time(lake):
    with lake.writing("collect"):
        with lake.writing("correlate"):
            pass
        with pytest.raises(LakeBusyError, match="another `doubletake collect` is writing"), lake.writing("collect"):
            pass
    with lake.writing("collect"):
        pass


def test_a_folder_that_takes_no_files_is_said(tmp_path):
    (tmp_path / "file").write_text("")

    with (
        pytest.raises(LakeMissingError, match="cannot be written"),
        Lake(tmp_path / "file" / "lake").writing("collect"),
    ):
        pass


# -- what is not there, or not for us ----------------------------------------------------------------------


def test_no_lake_and_an_empty_lake_are_told_apart(lake):
    with pytest.raises(LakeMissingError, match="there is no lake at"):
        lake.check()
    lake.root.mkdir()
    with pytest.raises(LakeMissingError, match="is empty") as caught:
        lake.check()

    assert "doubletake collect" in caught.value.hint


def test_evidence_without_findings_says_which_command_is_next(lake):
    add(lake, event(1))

    with pytest.raises(LakeMissingError, match="holds evidence but no findings") as caught:
        lake.findings()
    assert "doubletake correlate" in caught.value.hint


@pytest.mark.parametrize("commit_count", [1, delta.YOUNG, delta.YOUNG + 1])
def test_a_lake_of_a_newer_release_is_left_alone(lake, commit_count):
    for n in range(commit_count):
        add(lake, event(n))
    for checkpoint in (lake.path(LOG_EVENTS) / "_delta_log").glob("*checkpoint*"):
        checkpoint.unlink()
    take_over(lake.path(LOG_EVENTS))

    with pytest.raises(LakeTooNewError, match="has schema 99; this release reads up to 1"):
        lake.check()
    with pytest.raises(LakeTooNewError):
        lake.versions()
    with pytest.raises(LakeTooNewError):
        add(lake, event(99))


def test_a_table_that_a_newer_release_took_over_is_of_that_release(lake):
    add(lake, event(1))
    handle = DeltaTable(str(lake.path(LOG_EVENTS)))
    handle.alter.set_table_properties({"doubletake.schemaVersion": "2"}, raise_if_not_exists=False)

    with pytest.raises(LakeTooNewError, match="has schema 2"):
        lake.check()


def test_what_a_lake_is_made_of_is_told_without_opening_young_tables(lake, monkeypatch):
    add(lake, event(1))
    monkeypatch.setattr(handles, "DeltaTable", None)

    lake.check()
    assert lake.versions() == {"log_events": 0}


@pytest.mark.parametrize(
    "spoil", ["", "{", '{"metaData": 1}', '{"metaData": {"configuration": {"x": 1}}}', "\0\0", "[]"]
)
def test_what_opening_says_of_a_spoilt_commit_is_said_by_who_asks_for_all_tables(lake, spoil):
    add(lake, event(1))
    (lake.path(LOG_EVENTS) / "_delta_log" / f"{2:020}.json").write_text(spoil)
    told = []
    for ask in (lake.check, lake.versions, lambda: lake.count(LOG_EVENTS)):
        try:
            told.append(ask() and None)
        except LakeDamagedError as problem:
            told.append(str(problem))

    assert len(set(told)) == 1


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("50%25", "a per cent sign"),
        ("a\\b", "a backslash"),
        ("a\nb", "a control character"),
        (os.fsdecode(b"a-\xff"), "bytes that are not UTF-8"),
    ],
)
def test_a_path_that_delta_rs_would_misread_is_refused(tmp_path, name, what):
    with pytest.raises(LakeMissingError, match=f"has .*{what}.* in its path"):
        Lake(tmp_path / name)


@pytest.mark.parametrize("name", ["a b", "注文", "a#b?c*[d]~", "it's;&$HOME"])
def test_any_other_path_will_do(tmp_path, name):
    lake = Lake(tmp_path / name)
    add(lake, event(1))
    assert Lake(tmp_path / name).count(LOG_EVENTS) == 1


def test_an_address_is_not_a_folder():
    with pytest.raises(LakeMissingError, match="'s3://bucket/lake' is not a local folder"):
        Lake("s3://bucket/lake")


def test_the_newest_commits_change_with_every_commit_and_with_damage(lake):
    empty = lake.newest_commits()
    add(lake, event(1))
    first = lake.newest_commits()
    again = lake.newest_commits()
    add(lake, event(2))
    second = lake.newest_commits()
    newest = max((lake.path(LOG_EVENTS) / "_delta_log").glob("*.json"))
    newest.write_text(newest.read_text()[:40])

    assert empty == ()
    assert first == again
    assert len({first, second, lake.newest_commits()}) == 3
    assert lake.newest_commits((CONSUMERS,)) == ()
