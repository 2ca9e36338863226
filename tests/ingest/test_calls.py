"""Calls to SQS out of a trail's files and CloudTrail Lake: a row per message, hidden values unknown, handles never kept."""

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from forensics.coverage import read_spans
from forensics.lake import Lake
from forensics.tables.evidence import COVERAGE, METRIC_POINTS, QUARANTINE, SEND_RECORDS, SETTING_CHANGES
from forensics.window import TimeWindow
from ingest.file_forms import Form, recognise
from ingest.file_run import ImportChoices
from ingest.files import import_files
from tests.ingest.test_saved_records import CHANGE, RESULT

pytestmark = pytest.mark.lake

NOW = datetime(2026, 11, 21, tzinfo=UTC)
TRAIL = Path(__file__).parents[1] / "data" / "cloudtrail" / "data-events.json"
RECORDS = json.loads(TRAIL.read_text())["Records"]
QUEUE = "arn:aws:sqs:eu-west-1:111122223333:payments"
FIRST, SECOND = "93bb6e2d-1090-416c-81b0-31eb1faa8cd0", "93bb6e2d-1090-416c-81b0-31eb1faa8cd1"
HANDLE = RECORDS[3]["requestParameters"]["receiptHandle"]


def imported(folder, document, **choices):
    path = folder / "trail.json.gz"
    path.write_bytes(gzip.compress(json.dumps(document).encode()))
    lake = Lake(folder / "lake")
    return lake, import_files(lake, [path], ImportChoices(**choices), now=NOW)


def rows_of(lake):
    return sorted(lake.read(SEND_RECORDS).to_pylist(), key=lambda row: (row["called_at"], row["place"]))


def test_each_message_of_each_call_is_a_row(tmp_path):
    lake, report = imported(tmp_path, {"Records": RECORDS})

    told = [(r["operation"], r["place"], r["message_id"], r["error_code"]) for r in rows_of(lake)]
    assert told == [
        ("SendMessage", 0, FIRST, None),
        ("SendMessage", 0, SECOND, None),
        ("SendMessage", 1, None, "InvalidMessageContents"),
        ("ReceiveMessage", 0, FIRST, None),
        ("ReceiveMessage", 1, SECOND, None),
        ("ChangeMessageVisibility", 0, None, None),
        ("DeleteMessage", 0, None, "InvalidParameterValue"),
        ("DeleteMessage", 0, None, None),
    ]
    assert {r["queue_arn"] for r in rows_of(lake)} == {QUEUE}
    assert report.notes == ["trail.json.gz: 1 records that bear on no delivery were left out"]


def test_what_a_send_says_is_kept_but_its_body(tmp_path):
    lake, _ = imported(tmp_path, {"Records": RECORDS[:1]})
    (row,) = rows_of(lake)

    assert (row["group_id"], row["deduplication_id"]) == ("customer-1", "order-1")
    assert row["body_md5"] == "9a4e3f7a614d9dd9f8722092dbda17a2"
    assert row["request_id"] == RECORDS[0]["requestID"]
    assert row["actor"] == "arn:aws:sts::111122223333:assumed-role/orders-worker/i-1"


def test_handles_are_tokens_that_join_and_hidden_ones_are_unknown(tmp_path):
    lake, _ = imported(tmp_path, {"Records": RECORDS})
    rows = rows_of(lake)
    received, changed, refused, hidden = rows[3], rows[5], rows[6], rows[7]

    assert received["receipt_handle"] == changed["receipt_handle"] != refused["receipt_handle"]
    assert hidden["receipt_handle"] is None
    assert changed["visibility_timeout_s"] == 0
    assert received["visibility_timeout_s"] == 120
    assert all(HANDLE not in str(row) for row in rows)
    assert "The receipt handle has expired" in refused["error_text"]
    assert RECORDS[4]["requestParameters"]["receiptHandle"] not in refused["error_text"]


def test_a_service_that_calls_in_somebodys_name_is_the_one_who_called(tmp_path):
    moved = RECORDS[0] | {"userIdentity": RECORDS[0]["userIdentity"] | {"invokedBy": "sqs.amazonaws.com"}}
    lake, _ = imported(tmp_path, {"Records": [moved]})

    assert rows_of(lake)[0]["actor"] == "sqs.amazonaws.com"


def test_a_query_of_cloudtrail_lake_gives_the_same_rows(tmp_path):
    queried = {"QueryStatus": "FINISHED", "QueryResultRows": [[{"eventJson": json.dumps(r)}] for r in RECORDS]}
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    one, _ = imported(tmp_path / "one", {"Records": RECORDS})
    two, report = imported(tmp_path / "two", queried)

    assert rows_of(one) == rows_of(two)
    assert report.gaps == []


def test_both_forms_are_recognised(tmp_path):
    path = tmp_path / "rows.json"
    path.write_text(json.dumps({"QueryResultRows": []}))

    assert recognise(TRAIL, "data-events.json").form is Form.RECORDS
    assert recognise(path, "rows.json").form is Form.RECORDS


def test_importing_again_adds_nothing(tmp_path):
    lake, first = imported(tmp_path, {"Records": RECORDS})
    again = import_files(lake, [tmp_path / "trail.json.gz"], now=NOW)

    assert first.records_stored_count == 8
    assert again.records_stored_count == 0


BROKEN = {
    "without an id": (RECORDS[0] | {"eventID": None}, "lacks its id or time"),
    "without a time": (RECORDS[0] | {"eventTime": "noon"}, "lacks its id or time"),
    "without a region": (RECORDS[0] | {"awsRegion": None}, "does not name its region"),
    "of no queue": (RECORDS[0] | {"resources": None, "requestParameters": None}, "does not name its queue"),
}


@pytest.mark.parametrize(("record", "sentence"), BROKEN.values(), ids=BROKEN)
def test_a_record_that_cannot_be_understood_is_a_gap_and_kept_aside(tmp_path, record, sentence):
    lake, report = imported(tmp_path, {"Records": [RECORDS[1], record]})

    assert any(sentence in gap for gap in report.gaps)
    assert lake.read(QUARANTINE).num_rows == 1
    assert lake.read(SEND_RECORDS).num_rows == 2
    assert report.exit_code == 3


def test_a_query_that_did_not_select_the_event_is_told_so(tmp_path):
    lake, report = imported(tmp_path, {"QueryResultRows": [[{"eventName": "SendMessage"}]]})

    assert any("has no column eventJson: select it" in gap for gap in report.gaps)
    assert lake.read(QUARANTINE).num_rows == 1


ODD = {
    "no parameters": RECORDS[5] | {"requestParameters": None},
    "names as the API spells them": RECORDS[3]
    | {"requestParameters": {"QueueUrl": "u", "ReceiptHandle": HANDLE, "VisibilityTimeout": "0"}},
    "entries that are no objects": RECORDS[1] | {"requestParameters": {"entries": ["a", None]}, "responseElements": []},
    "half a character": RECORDS[0] | {"errorMessage": "\ud83d", "errorCode": "Odd"},
}


@pytest.mark.parametrize("record", ODD.values(), ids=ODD)
def test_odd_records_still_are_calls_of_their_queue(tmp_path, record):
    lake, report = imported(tmp_path, {"Records": [record]})

    assert report.gaps == []
    assert {r["queue_arn"] for r in rows_of(lake)} == {QUEUE}


def coverage_of(lake):
    return lake.read(COVERAGE).to_pylist()


def test_files_of_calls_count_as_read_in_part(tmp_path):
    lake, _ = imported(tmp_path, {"Records": RECORDS})
    (row,) = coverage_of(lake)

    assert (row["source"], row["resource"], row["queue_arn"], row["status"]) == (
        "send_records",
        QUEUE,
        QUEUE,
        "partial",
    )
    assert row["window_start_at"] == datetime(2026, 11, 20, 5, tzinfo=UTC)
    assert read_spans([row]) == {}


def test_files_that_somebody_vouches_for_count_as_read(tmp_path):
    window = TimeWindow(datetime(2026, 11, 20, 4, tzinfo=UTC), datetime(2026, 11, 20, 6, tzinfo=UTC))
    lake, _ = imported(tmp_path, {"Records": RECORDS}, complete=window)

    assert "send_records" in read_spans(coverage_of(lake))


def test_imported_metrics_and_changes_have_coverage_too_and_always_in_part(tmp_path):
    window = TimeWindow(datetime(2026, 11, 20, 4, tzinfo=UTC), datetime(2026, 11, 20, 6, tzinfo=UTC))
    path = tmp_path / "saved.json"
    path.write_text(json.dumps({"MetricDataResults": [RESULT]}) + json.dumps({"Records": [CHANGE]}))
    lake = Lake(tmp_path / "lake")
    import_files(lake, [path], ImportChoices(complete=window), now=NOW)

    told = {(r["source"], r["resource"], r["status"], r["account_id"], r["region"]) for r in coverage_of(lake)}
    assert told == {
        (METRIC_POINTS.name, "payments.fifo", "partial", "111122223333", "eu-west-1"),
        (SETTING_CHANGES.name, "CloudTrail", "partial", "111122223333", "eu-west-1"),
    }
