"""The lab's log lines beside real ones, byte for byte."""

import ast
import json
from datetime import UTC, datetime, timedelta

import pytest

from lab.ids import Ids
from lab.loglines import JsonFormat, RunEnd, TextFormat, sqs_event
from lab.simulation import QueueSpec, SimulatedQueue

AT = datetime(2026, 11, 20, 5, 12, 0, 200_000, UTC)

REAL_TEXT_ENDS = {
    # azul issue 5622 (2023): the line of its own came before END and REPORT
    "old timeout": (
        RunEnd(
            "4299ee26-8d1d-4ea9-bd43-77b85ed96cfe",
            datetime(2023, 10, 20, 16, 28, 17, 840_000, UTC),
            "timeout_line",
            31012.52,
            31,
            128,
            109,
        ),
        [
            "2023-10-20T16:28:17.840Z 4299ee26-8d1d-4ea9-bd43-77b85ed96cfe Task timed out after 31.01 seconds\n\n",
            "END RequestId: 4299ee26-8d1d-4ea9-bd43-77b85ed96cfe\n",
            "REPORT RequestId: 4299ee26-8d1d-4ea9-bd43-77b85ed96cfe\tDuration: 31012.52 ms\tBilled Duration: 31000 ms\t"
            "Memory Size: 128 MB\tMax Memory Used: 109 MB\t\n",
        ],
    ),
    # public file 56144997678 (2025-26): no line of its own, the initialisation is billed
    "timeout of today": (
        RunEnd("1f60b20c-8ed7-41ed-9945-08dcafcc74ee", AT, "timeout_status", 3000.0, 3, 128, 73, 402.04),
        [
            "END RequestId: 1f60b20c-8ed7-41ed-9945-08dcafcc74ee\n",
            "REPORT RequestId: 1f60b20c-8ed7-41ed-9945-08dcafcc74ee\tDuration: 3000.00 ms\tBilled Duration: 3403 ms\t"
            "Memory Size: 128 MB\tMax Memory Used: 73 MB\tInit Duration: 402.04 ms\tStatus: timeout\n",
        ],
    ),
}


@pytest.mark.parametrize(("end", "real"), REAL_TEXT_ENDS.values(), ids=REAL_TEXT_ENDS)
def test_the_end_of_a_run_in_text_is_what_lambda_wrote(end, real):
    assert TextFormat().ended(end) == real


def test_the_report_of_a_run_in_json_is_what_lambda_wrote():
    at = datetime(2026, 10, 8, 7, 30, 29, 470_000, UTC)
    end = RunEnd("79b5e81f-9cdd-4145-b1f6-7c50ef8a2a36", at, "success", 1233.96, 30, 256, 123, 463.512)

    assert JsonFormat().ended(end) == [
        '{"time":"2026-10-08T07:30:29.470Z","type":"platform.report","record":{"requestId":'
        '"79b5e81f-9cdd-4145-b1f6-7c50ef8a2a36","metrics":{"durationMs":1233.96,"billedDurationMs":1698,'
        '"memorySizeMB":256,"maxMemoryUsedMB":123,"initDurationMs":463.512},"status":"success"}}\n'
    ]


def test_a_timeout_in_json_has_no_text_but_two_platform_events():
    end = RunEnd("aec7a529-47f9-4090-be01-c9ed91bf83cf", AT, "timeout_status", 5000.0, 5, 128, 70)
    events = [json.loads(line) for line in JsonFormat().ended(end)]

    assert [event["type"] for event in events] == ["platform.runtimeDone", "platform.report"]
    assert {event["record"]["status"] for event in events} == {"timeout"}


def test_an_unhandled_error_is_one_event_indented_by_no_break_spaces():
    text = TextFormat().unhandled(AT, "any", "ValueError", "no such card")

    assert text.startswith("[ERROR] ValueError: no such card\nTraceback (most recent call last):\n\u00a0\u00a0File ")


def test_an_unhandled_error_in_json_is_a_text_a_carriage_return_and_json():
    text = JsonFormat().unhandled(AT, "79b5e81f-9cdd-4145-b1f6-7c50ef8a2a36", "ValueError", "no such card")
    warning, _, error = text.partition("\r")

    assert warning.startswith("LAMBDA_WARNING: Unhandled exception.")
    assert json.loads(error)["errorType"] == "ValueError"


@pytest.mark.parametrize("name", ["orders.fifo", "orders"], ids=["FIFO", "standard"])
def test_an_event_has_the_fields_of_a_real_one_and_survives_both_ways_of_printing(name):
    queue = SimulatedQueue(QueueSpec(name), Ids("event"))
    fifo_only = {"group": "g", "deduplication_id": "d"} if name.endswith(".fifo") else {}
    queue.send(AT, "Test message.", sender_id="AROAEXAMPLE:producer", **fifo_only)
    [delivery] = queue.receive(AT + timedelta(milliseconds=7), 10, "consumer")
    event = sqs_event([delivery], f"arn:aws:sqs:us-east-2:123456789012:{name}")
    [record] = event["Records"]

    assert json.loads(json.dumps(event)) == ast.literal_eval(str(event)) == event
    assert record["md5OfBody"] == "e4e68fb7bd0e697a0ae8f1bb342846b3"
    assert record["awsRegion"] == "us-east-2"
    assert record["attributes"]["ApproximateFirstReceiveTimestamp"] == "1795151520207"
    assert ("SequenceNumber" in record["attributes"]) == name.endswith(".fifo")
    assert all(isinstance(value, str) for value in record["attributes"].values())
