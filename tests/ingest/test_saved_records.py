"""Metrics, CloudTrail events and move tasks out of files, in the rows that a collection makes of them."""

import json
from datetime import UTC, datetime

import pytest

from forensics.lake import Lake
from forensics.tables.evidence import METRIC_POINTS, MOVE_TASKS, QUARANTINE, SETTING_CHANGES
from ingest.file_forms import Form, recognise
from ingest.files import import_files

NOW = datetime(2026, 11, 21, tzinfo=UTC)
CHANGE = {
    "eventVersion": "1.08",
    "eventID": "e-1",
    "eventTime": "2026-11-20T05:00:00Z",
    "eventSource": "sqs.amazonaws.com",
    "eventName": "SetQueueAttributes",
    "awsRegion": "eu-west-1",
    "recipientAccountId": "111122223333",
    "userIdentity": {"arn": "arn:aws:iam::111122223333:user/ana"},
    "requestParameters": {
        "queueUrl": "https://sqs.eu-west-1.amazonaws.com/111122223333/payments.fifo",
        "attributes": {"VisibilityTimeout": "400"},
    },
}
OTHER = CHANGE | {"eventID": "e-2", "eventName": "RunInstances", "eventSource": "ec2.amazonaws.com"}
TASK = {
    "Status": "COMPLETED",
    "SourceArn": "arn:aws:sqs:eu-west-1:111122223333:payments-dlq.fifo",
    "DestinationArn": "arn:aws:sqs:eu-west-1:111122223333:payments.fifo",
    "ApproximateNumberOfMessagesMoved": 4,
    "StartedTimestamp": 1795151520000,
}
STREAMED = {
    "metric_stream_name": "all",
    "account_id": "111122223333",
    "region": "eu-west-1",
    "namespace": "AWS/SQS",
    "metric_name": "NumberOfMessagesSent",
    "dimensions": {"QueueName": "payments.fifo"},
    "timestamp": 1795151520000,
    "value": {"max": 1.0, "min": 1.0, "sum": 12.0, "count": 12.0},
    "unit": "Count",
}
LABEL = "QueueName payments.fifo NumberOfMessagesSent Sum 60 111122223333 eu-west-1"
RESULT = {
    "Id": "m1",
    "Label": LABEL,
    "Timestamps": ["2026-11-20T05:12:00+00:00"],
    "Values": [12.0],
    "StatusCode": "Complete",
}

FILES = {
    "looked-up events": {
        "Events": [{"EventId": "e-1", "EventName": "SetQueueAttributes", "CloudTrailEvent": json.dumps(CHANGE)}]
    },
    "a trail's file": {"Records": [CHANGE, OTHER]},
    "move tasks": {"Results": [TASK]},
    "a metric stream": STREAMED,
    "metric data": {"MetricDataResults": [RESULT], "Messages": []},
}


def imported(folder, *documents):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "saved.json").write_text("\n".join(json.dumps(d) for d in documents))
    lake = Lake(folder / "lake")
    return lake, import_files(lake, [folder / "saved.json"], now=NOW)


@pytest.mark.parametrize("document", FILES.values(), ids=FILES)
def test_a_file_is_known_by_what_it_holds(tmp_path, document):
    (tmp_path / "saved.json").write_text(json.dumps(document))

    assert recognise(tmp_path / "saved.json", "saved.json").form is Form.RECORDS


@pytest.mark.lake
def test_events_are_the_same_row_whichever_way_they_were_saved(tmp_path):
    rows = []
    for name in ("looked-up events", "a trail's file"):
        lake, report = imported(tmp_path / name.replace("'", ""), FILES[name])
        rows.append(lake.read(SETTING_CHANGES).to_pylist())
        assert report.gaps == []

    assert rows[0] == rows[1]
    assert (rows[0][0]["event_name"], rows[0][0]["resource"]) == ("SetQueueAttributes", "payments.fifo")
    assert rows[0][0]["settings"] == ["VisibilityTimeout=400"]


@pytest.mark.lake
def test_records_of_other_services_are_left_out_and_counted(tmp_path):
    lake, report = imported(tmp_path, FILES["a trail's file"])

    assert lake.read(SETTING_CHANGES).num_rows == 1
    assert report.notes == ["saved.json: 1 records that bear on no delivery were left out"]


@pytest.mark.lake
def test_a_move_task_is_kept_with_the_queue_it_is_of(tmp_path):
    lake, _ = imported(tmp_path, FILES["move tasks"])
    (row,) = lake.read(MOVE_TASKS).to_pylist()

    assert (row["source_arn"], row["status"], row["moved_count"]) == (TASK["SourceArn"], "COMPLETED", 4)


@pytest.mark.lake
def test_a_minute_is_the_same_point_from_a_stream_and_from_metric_data(tmp_path):
    points = []
    for name in ("a metric stream", "metric data"):
        lake, _ = imported(tmp_path / name, FILES[name])
        points.append(lake.read(METRIC_POINTS).to_pylist())

    assert points[0] == points[1]
    assert (points[0][0]["resource"], points[0][0]["statistic"], points[0][0]["value"]) == (
        "payments.fifo",
        "Sum",
        12.0,
    )


@pytest.mark.lake
def test_importing_again_adds_nothing(tmp_path):
    lake, first = imported(tmp_path, *FILES.values())
    again = import_files(lake, [tmp_path / "saved.json"], now=NOW)

    assert first.records_stored_count > 0
    assert again.records_stored_count == 0


BROKEN = {
    "a task of no queue": ({"Results": [TASK | {"SourceArn": "here"}]}, "does not name the queue it is of"),
    "a label that says nothing": (
        {"MetricDataResults": [RESULT | {"Label": "m1"}]},
        "must read DIMENSION RESOURCE METRIC",
    ),
    "a point without a time": (STREAMED | {"timestamp": "noon"}, "lacks its time, account, region or value"),
    "a change without a region": ({"Records": [CHANGE | {"awsRegion": None}]}, "does not name its region"),
    "half a record": ({"Events": [{"EventId": "x", "CloudTrailEvent": "{"}]}, "is not JSON"),
}


@pytest.mark.lake
@pytest.mark.parametrize(("document", "sentence"), BROKEN.values(), ids=BROKEN)
def test_what_cannot_be_understood_is_a_gap_and_kept_aside(tmp_path, document, sentence):
    lake, report = imported(tmp_path, document)

    assert any(sentence in gap for gap in report.gaps)
    assert lake.read(QUARANTINE).num_rows == 1
    assert report.exit_code == 3
