"""Idempotency tables from files: an export to S3 with its manifests, or what the AWS command line answered."""

import gzip
import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from forensics.coverage import is_from_files
from forensics.lake import Lake
from forensics.settings import Consumer, GuardTable, Settings
from forensics.tables import BY_NAME
from ingest.file_run import ImportChoices
from ingest.files import import_files
from ingest.saved_guard_tables import TableUnclearError

pytestmark = pytest.mark.lake

DATA = Path(__file__).parents[1] / "data" / "dynamodb"
SCAN = json.loads((DATA / "scan.json").read_text())
NOW = datetime(2026, 11, 21, tzinfo=UTC)
READ_AT = datetime(2026, 11, 20, 5, tzinfo=UTC)
CARD = "4000-0000-0000-0002"


def settings(*tables: str, **form) -> Settings:
    said = tuple(Consumer(name=f"f{n}", guard_table=name) for n, name in enumerate(tables))
    return Settings(functions=said, guard_tables=(GuardTable(tables[0], **form),) if form else ())


def imported(tmp_path: Path, *paths: Path, **choices):
    lake = Lake(tmp_path / "lake")
    return lake, import_files(lake, list(paths), ImportChoices(**choices), now=NOW)


def rows(lake: Lake, table: str) -> list[dict]:
    return sorted(lake.read(BY_NAME[table]).to_pylist(), key=lambda row: row["evidence_id"])


def saved(tmp_path: Path, content: dict) -> Path:
    path = tmp_path / "saved.json"
    path.write_text(json.dumps(content))
    return path


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """An export as it lies in S3: its data packed."""
    folder = tmp_path / "AWSDynamoDB" / "01795150800000-5a3c"
    shutil.copytree(DATA / "export", folder)
    plain = folder / "data" / "aaaa.json"
    (folder / "data" / "aaaa.json.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    return folder


def test_an_export_tells_its_table_its_place_and_when_it_was_made(tmp_path, export):
    lake, report = imported(tmp_path, export)
    found = sorted(
        (r["record_status"], r["guard_table"], r["region"], r["observed_at"]) for r in rows(lake, "guard_records")
    )
    (coverage,) = [r for r in rows(lake, "coverage") if r["source"] == "guard_records"]

    assert (report.exit_code, report.gaps) == (0, [])
    assert found == [(status, "idempotency", "eu-west-1", READ_AT) for status in ("COMPLETED", "INPROGRESS")]
    assert (coverage["status"], coverage["collected_at"], coverage["account_id"]) == ("ok", READ_AT, "111122223333")


def test_an_export_of_a_table_that_the_settings_name_by_its_arn_is_of_that_one(tmp_path, export):
    arn = "arn:aws:dynamodb:eu-west-1:111122223333:table/idempotency"
    lake, _ = imported(tmp_path, export, settings=settings(arn))

    assert {r["guard_table"] for r in rows(lake, "guard_records")} == {arn}


def test_results_stay_in_the_file(tmp_path, export):
    lake, _ = imported(tmp_path, export, DATA / "scan.json", settings=settings("idempotency"))
    everything = [rows(lake, name) for name in ("guard_records", "coverage", "quarantine")]

    assert len(rows(lake, "guard_records")) == 4  # the scan does not say where it was
    assert CARD not in repr(everything)


def test_the_same_export_again_adds_nothing(tmp_path, export):
    imported(tmp_path, export)
    lake, report = imported(tmp_path, export)

    assert (report.records_seen_count, report.records_stored_count, len(rows(lake, "guard_records"))) == (2, 0, 2)


def test_an_export_of_which_a_file_is_missing_is_read_in_part(tmp_path, export):
    summary = json.loads((export / "manifest-summary.json").read_text()) | {"itemCount": 3}
    (export / "manifest-summary.json").write_text(json.dumps(summary))
    lake, _ = imported(tmp_path, export)

    assert [r["status"] for r in rows(lake, "coverage")] == ["partial"]


STATUSES = {
    "whole, and when it was read is said": ({}, {"observed_at": READ_AT}, "ok"),
    "whole, and when it was read is not said": ({}, {}, "partial"),
    "with a pointer to more": ({"NextToken": "eyJ"}, {"observed_at": READ_AT}, "partial"),
    "cut by the server": ({"LastEvaluatedKey": {"id": {"S": "k"}}}, {"observed_at": READ_AT}, "partial"),
    "filtered": ({"ScannedCount": 9}, {"observed_at": READ_AT}, "partial"),
    "an empty table": ({"Items": [], "Count": 0, "ScannedCount": 0}, {"observed_at": READ_AT}, "ok"),
}


@pytest.mark.parametrize(("change", "choices", "status"), STATUSES.values(), ids=STATUSES)
def test_a_scan_counts_as_whole_only_where_nothing_can_be_missing(tmp_path, change, choices, status):
    lake, report = imported(tmp_path, saved(tmp_path, SCAN | change), settings=settings("idempotency"), **choices)

    (read,) = rows(lake, "coverage")
    is_unsure = "observed_at" not in choices

    assert report.gaps == []
    assert read["status"] == status
    assert is_from_files(read["status"], read["detail"]) == is_unsure, "a file that lacks items is no more than a part"


def test_a_table_is_named_by_the_option_before_the_settings(tmp_path):
    lake, _ = imported(tmp_path, DATA / "scan.json", settings=settings("a-table", "b-table"), guard_table="b-table")

    assert {r["guard_table"] for r in rows(lake, "guard_records")} == {"b-table"}


@pytest.mark.parametrize("tables", [(), ("a-table", "b-table")], ids=["none", "two"])
def test_a_file_of_no_known_table_is_refused_with_what_to_give(tmp_path, tables):
    with pytest.raises(TableUnclearError, match="does not say which idempotency table it is of") as problem:
        imported(tmp_path, DATA / "scan.json", settings=settings(*tables))

    assert problem.value.hint == "Give --guard-table NAME; import each table's files by themselves."
    assert not (tmp_path / "lake").exists()


def test_what_time_to_live_does_is_read_too(tmp_path):
    said = {"TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": "expiration"}}
    lake, _ = imported(tmp_path, saved(tmp_path, said), settings=settings("idempotency"))
    (row,) = rows(lake, "guard_table_settings")

    assert (row["guard_table"], row["deletes_expired"], row["expiry_attribute"]) == ("idempotency", True, "expiration")
    assert not [r for r in rows(lake, "coverage") if r["source"] == "guard_records"]


def test_an_incremental_export_is_a_gap(tmp_path):
    change = {
        "Metadata": {"WriteTimestampMicros": {"N": "1"}},
        "Keys": {"id": {"S": "k"}},
        "NewImage": {"id": {"S": "k"}},
    }
    lake, report = imported(tmp_path, saved(tmp_path, change), settings=settings("idempotency"))

    assert (report.exit_code, rows(lake, "guard_records")) == (3, [])
    assert "it is of an incremental export; give a full one" in report.gaps[0]


def test_items_without_the_named_key_are_a_gap(tmp_path):
    lake, report = imported(tmp_path, DATA / "scan.json", settings=settings("idempotency", key="pk"))

    assert report.gaps == ["scan.json: 2 items have no attribute 'pk': name it as key under [[guard_table]]"]
    assert rows(lake, "guard_records") == []


def test_a_file_that_ends_in_the_middle_keeps_what_came_before(tmp_path):
    path = tmp_path / "cut.json"
    path.write_text((DATA / "scan.json").read_text()[:-300])
    lake, report = imported(tmp_path, path, settings=settings("idempotency"), observed_at=READ_AT)

    assert (report.exit_code, len(rows(lake, "guard_records"))) == (3, 1)
    assert [r["status"] for r in rows(lake, "coverage")] == ["partial"]
    assert READ_AT + timedelta(milliseconds=1) == rows(lake, "coverage")[0]["window_end_at"]
