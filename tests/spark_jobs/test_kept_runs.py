"""What a round may take over: only what rests on the same, and is whole."""

import json
from dataclasses import asdict, replace
from datetime import UTC, datetime
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from forensics.lake import Lake
from forensics.tables.evidence import LOG_EVENTS
from spark_jobs.basis import Basis, setting_text
from spark_jobs.in_force import clipped
from spark_jobs.kept_runs import KeptRuns
from spark_jobs.manifest import Manifest, Part, write_manifest

UNTIL = datetime(2026, 1, 5, 12, tzinfo=UTC)
BASIS = Basis("key", {"/aws/lambda/f": "lambda"})
SETTING = {
    "queue_arn": "q",
    "visibility_timeout_s": 30,
    "in_force_from": datetime(1970, 1, 1, tzinfo=UTC),
    "in_force_until": datetime(9999, 1, 1, tzinfo=UTC),
}


@pytest.fixture
def lake(tmp_path) -> Lake:
    lake = Lake(tmp_path / "lake")
    add_line(lake, "one")
    return lake


def add_line(lake: Lake, name: str) -> None:
    row = dict.fromkeys(LOG_EVENTS.column_names) | {
        "evidence_id": name,
        "log_group": "/aws/lambda/f",
        "log_stream": "s",
        "logged_at": UNTIL,
    }
    lake.append(LOG_EVENTS, [row], "log_events|f")


def inputs(lake: Lake, setting: dict = SETTING) -> SimpleNamespace:
    return SimpleNamespace(versions=lake.versions(), in_force={"queue_settings": [setting]})


def kept(lake: Lake, **changed: object) -> Manifest:
    """Keep one part of one run, as a round before would have."""
    version = lake.versions()[LOG_EVENTS.name]
    folder = lake.root / "findings" / ".kept"
    for name in ("round-1/runs", "round-1-works/items/shelf=0"):
        (folder / name).mkdir(parents=True)
        pq.write_table(pa.table({"a": [1]}), folder / name / "part.parquet")
    manifest = Manifest(
        BASIS.key,
        dict(BASIS.groups),
        version,
        lake.commit_digest(LOG_EVENTS, version),
        UNTIL.isoformat(),
        [setting_text(row) for row in clipped([SETTING], UNTIL)],
        [Part("round-1", 1)],
        shelves={"round-1-works/0": 1},
        rows={"round-1/runs/part.parquet": 1, "round-1-works/items/shelf=0/part.parquet": 1},
    )
    manifest = replace(manifest, **changed)
    (folder / "manifest.json").write_text(json.dumps(asdict(manifest)))
    return manifest


def begun(lake: Lake, basis: Basis = BASIS, setting: dict = SETTING, anew: bool = False) -> KeptRuns:
    found = KeptRuns(lake, "round-2", inputs(lake, setting), 2)
    found.begin(basis, anew)
    return found


def test_what_is_kept_is_taken_over_where_nothing_else_changed(lake):
    kept(lake)

    assert begun(lake).is_round


def test_only_files_that_came_since_are_new(lake):
    kept(lake)
    add_line(lake, "two")
    add_line(lake, "three")

    assert len(begun(lake)._new_files) == 2


def test_merging_small_files_makes_nothing_new(lake):
    kept(lake)
    add_line(lake, "two")
    new = begun(lake)._new_files
    lake.compact(LOG_EVENTS, at_files=2)

    assert begun(lake)._new_files == new
    assert len(new) == 1


SOMETHING_ELSE = {
    "other code, rules or settings file": {"basis": Basis("other", BASIS.groups)},
    "a log group is a worker's now": {"basis": Basis("key", {"/aws/lambda/f": "worker"})},
    "a log group is not known any more": {"basis": Basis("key", {})},
    "another timeout was in force all along": {"setting": SETTING | {"visibility_timeout_s": 60}},
    "all anew was asked for": {"anew": True},
}


@pytest.mark.parametrize("other", SOMETHING_ELSE.values(), ids=SOMETHING_ELSE)
def test_nothing_is_taken_over_where_it_rests_on(other, lake):
    kept(lake)

    assert not begun(lake, **other).is_round


def test_a_log_group_more_changes_nothing(lake):
    kept(lake)

    assert begun(lake, basis=Basis("key", {**BASIS.groups, "/aws/lambda/g": "lambda"})).is_round


def test_a_setting_changed_after_everything_kept_changes_nothing(lake):
    kept(lake)
    later = [SETTING | {"in_force_until": UNTIL}, SETTING | {"in_force_from": UNTIL, "visibility_timeout_s": 60}]
    found = KeptRuns(lake, "round-2", SimpleNamespace(versions=lake.versions(), in_force={"queue_settings": later}), 2)
    found.begin(BASIS)

    assert found.is_round


def test_another_commit_under_the_same_number_forgets_what_is_kept(lake):
    kept(lake, log_commit="of a commit that was set aside")

    assert not begun(lake).is_round


@pytest.mark.parametrize("text", ["", "{", "{}", '{"key": 1}', "[]", "null"])
def test_a_manifest_that_cannot_be_read_keeps_nothing(text, lake):
    kept(lake)
    (lake.root / "findings" / ".kept" / "manifest.json").write_text(text)

    assert not begun(lake).is_round


@pytest.mark.parametrize("file", ["round-1/runs/part.parquet", "round-1-works/items/shelf=0/part.parquet"])
def test_a_torn_file_keeps_nothing(file, lake):
    kept(lake)
    torn = lake.root / "findings" / ".kept" / file
    torn.write_bytes(torn.read_bytes()[:-9])

    assert not begun(lake).is_round


@pytest.mark.parametrize("file", ["round-1/runs/part.parquet", "round-1-works/items/shelf=0/part.parquet"])
def test_a_file_that_is_gone_keeps_nothing(file, lake):
    """What it held would be missing from the findings without a word."""
    kept(lake)
    (lake.root / "findings" / ".kept" / file).unlink()

    assert not begun(lake).is_round


def test_findings_files_that_are_gone_keep_nothing(lake):
    kept(lake, files={"deliveries": ["findings/deliveries/data/round-1/0-a.parquet"]})

    assert not begun(lake).is_round


def test_a_round_that_failed_leaves_what_was_kept(lake):
    kept(lake)
    failed = begun(lake)
    failed.path("runs").mkdir(parents=True)
    failed.discard()

    assert not failed.path("runs").exists()
    assert begun(lake).is_round


def test_a_shelf_that_was_emptied_is_removed(lake):
    manifest = kept(lake)
    folder = lake.root / "findings" / ".kept"
    for shelf in ("round-1-works/items/shelf=1", "round-0-works/items/shelf=0"):
        (folder / shelf).mkdir(parents=True)
    write_manifest(folder, manifest, "round-1")

    assert sorted(str(f.relative_to(folder)) for f in folder.rglob("shelf=*")) == ["round-1-works/items/shelf=0"]
    assert begun(lake).is_round
