"""CloudTrail records become changes: what was set, on what, by whom; and nothing that is nobody's business."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from forensics.errors import ConservationError
from forensics.lake import Appended, Lake
from forensics.tables import BY_NAME
from forensics.window import TimeWindow
from ingest import setting_changes
from ingest.setting_changes import to_row
from tests.ingest.stand_ins import AsModelled

T = datetime(2026, 11, 20, 5, tzinfo=UTC)
HOUR = TimeWindow(T, T + timedelta(hours=1))


def record(name: str, asked: dict[str, Any] | None, answered: dict[str, Any] | None = None, **more: Any) -> dict:
    source = "lambda" if "2015" in name or "2017" in name else "sqs"
    content = {
        "eventVersion": "1.11",
        "userIdentity": {"arn": "arn:aws:sts::123456789012:assumed-role/deploy/ci", "accountId": "123456789012"},
        "eventTime": "2026-11-20T05:12:00Z",
        "eventSource": f"{source}.amazonaws.com",
        "eventName": name,
        "requestParameters": asked,
        "responseElements": answered,
        "eventID": f"id-of-{name}",
        "recipientAccountId": "123456789012",
    } | more
    return {"EventId": content["eventID"], "EventName": name, "CloudTrailEvent": json.dumps(content)}


URL = "https://sqs.eu-west-1.amazonaws.com/123456789012/payments.fifo"
ARN = "arn:aws:sqs:eu-west-1:123456789012:payments.fifo"
FUNCTION = "arn:aws:lambda:eu-west-1:123456789012:function:charge-card"

CASES = {
    "a queue's attributes": (
        record("SetQueueAttributes", {"queueUrl": URL, "attributes": {"VisibilityTimeout": "30", "Policy": "secret"}}),
        ("SetQueueAttributes", "queue", "payments.fifo", ARN, None, ["VisibilityTimeout=30"]),
    ),
    "a purge": (record("PurgeQueue", {"queueUrl": URL}), ("PurgeQueue", "queue", "payments.fifo", ARN, None, [])),
    "a new queue": (
        record("CreateQueue", {"queueName": "payments.fifo", "attribute": {"DelaySeconds": "5"}}),
        ("CreateQueue", "queue", "payments.fifo", ARN, None, ["DelaySeconds=5"]),
    ),
    "a redrive": (
        record("StartMessageMoveTask", {"sourceArn": ARN, "maxNumberOfMessagesPerSecond": 5}),
        ("StartMessageMoveTask", "queue", "payments.fifo", ARN, None, ["maxNumberOfMessagesPerSecond=5"]),
    ),
    "a function's settings, without its environment": (
        record(
            "UpdateFunctionConfiguration20150331v2",
            {"functionName": FUNCTION, "timeout": 30, "environment": {"variables": {"KEY": "secret"}}},
        ),
        ("UpdateFunctionConfiguration", "function", "charge-card", None, "charge-card", ["timeout=30"]),
    ),
    "a mapping": (
        record(
            "UpdateEventSourceMapping20150331",
            {"uUID": "uuid-1", "batchSize": 1},
            {"eventSourceArn": ARN, "functionArn": f"{FUNCTION}:live", "uUID": "uuid-1"},
        ),
        ("UpdateEventSourceMapping", "mapping", "uuid-1", ARN, "charge-card", ["batchSize=1"]),
    ),
    "reserved concurrency, by a partial ARN": (
        record(
            "PutFunctionConcurrency20171031",
            {"functionName": "123456789012:function:charge-card", "reservedConcurrentExecutions": 2},
        ),
        (
            "PutFunctionConcurrency",
            "function",
            "charge-card",
            None,
            "charge-card",
            ["reservedConcurrentExecutions=2"],
        ),
    ),
    "a record without parameters": (record("PurgeQueue", None), ("PurgeQueue", "queue", None, None, None, [])),
}


@pytest.mark.parametrize(("event", "wanted"), CASES.values(), ids=CASES)
def test_a_record_says_what_was_set_on_what(event, wanted):
    row = to_row("eu-west-1", event, T)
    columns = ("event_name", "resource_kind", "resource", "queue_arn", "function_name", "settings")

    assert tuple(row[c] for c in columns) == wanted
    assert "secret" not in repr(row)
    assert (row["changed_at"], row["actor"]) == (
        datetime(2026, 11, 20, 5, 12, tzinfo=UTC),
        "arn:aws:sts::123456789012:assumed-role/deploy/ci",
    )


def test_a_refused_call_says_so():
    assert to_row("eu-west-1", record("PurgeQueue", {}, errorCode="AccessDenied"), T)["error_code"] == "AccessDenied"


class FakeTrail(AsModelled):
    """Answers LookupEvents by event name, two records a page."""

    def __init__(self, *events: dict) -> None:
        self.events = events
        self.asked: list[str] = []

    def call(self, service: str, operation: str, demand: str, **asked: Any) -> dict[str, Any]:
        name = asked["LookupAttributes"][0]["AttributeValue"]
        self.asked.append(name)
        mine = [e for e in self.events if e["EventName"] == name]
        first = int(asked.get("NextToken", 0))
        more = {"NextToken": str(first + 2)} if first + 2 < len(mine) else {}
        return {"Events": mine[first : first + 2], **more}


@pytest.mark.lake
def test_every_page_of_every_kind_of_change_is_read_and_a_second_time_adds_nothing(tmp_path):
    lake = Lake(tmp_path / "lake")
    events = [record("PurgeQueue", {"queueUrl": URL}, eventID=f"e{n}") for n in range(5)]
    trail = FakeTrail(*events, record("DeleteQueue", {"queueUrl": URL}))
    readings = [setting_changes.ingest(lake, trail, "123456789012", "eu-west-1", HOUR, T) for _ in range(2)]

    assert [(r.seen_count, r.stored_count, r.already_count) for r in readings] == [(6, 6, 0), (6, 0, 6)]
    assert set(trail.asked) == {*setting_changes.QUEUE_CALLS, *setting_changes.LAMBDA_CALLS}


def test_a_lost_change_breaks_the_conservation_law(tmp_path, monkeypatch):
    trail = FakeTrail(*(record("PurgeQueue", {"queueUrl": URL}, eventID=f"e{n}") for n in range(3)))
    monkeypatch.setattr(Lake, "append", lambda lake, table, rows, writer: Appended(len(rows) - 1, 0))

    with pytest.raises(ConservationError, match="3 changes seen, but 2 stored"):
        setting_changes.ingest(Lake(tmp_path / "lake"), trail, "123456789012", "eu-west-1", HOUR, T)


POISON = {
    "not JSON": {"EventId": "x", "EventName": "PurgeQueue", "CloudTrailEvent": "{"},
    "not there": {"EventId": "x", "EventName": "PurgeQueue"},
    "not an object": {"EventId": "x", "EventName": "PurgeQueue", "CloudTrailEvent": "[1]"},
    "without a time": {"EventId": "x", "EventName": "PurgeQueue", "CloudTrailEvent": '{"eventName": "PurgeQueue"}'},
    "too deep": {"EventId": "x", "EventName": "PurgeQueue", "CloudTrailEvent": "[" * 100_000},
}


@pytest.mark.lake
@pytest.mark.parametrize("event", POISON.values(), ids=POISON)
def test_a_record_that_is_none_is_quarantined_and_stops_nothing(tmp_path, event):
    lake = Lake(tmp_path / "lake")
    trail = FakeTrail(event, record("PurgeQueue", {"queueUrl": URL}))
    reading = setting_changes.ingest(lake, trail, "123456789012", "eu-west-1", HOUR, T)

    assert (reading.status, reading.seen_count, reading.stored_count, reading.quarantined_count) == ("ok", 2, 1, 1)
    assert "CloudTrail record" in lake.read(BY_NAME["quarantine"]).to_pylist()[0]["reason"]
