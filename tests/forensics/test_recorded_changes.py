"""CloudTrail's settings as columns: which call changed what, of which queue, function or mapping."""

from datetime import UTC, datetime

import pytest

from forensics.recorded_changes import recorded_changes

AT = datetime(2026, 11, 20, 4, tzinfo=UTC)
QUEUE = "arn:aws:sqs:eu-west-1:123456789012:payments.fifo"
MAPPINGS = [{"mapping_uuid": "u-1", "queue_arn": QUEUE, "function_name": "charge"}]


def row(kind: str, *settings: str, **more) -> dict:
    return {
        "evidence_id": "change:1",
        "changed_at": AT,
        "resource_kind": kind,
        "resource": None,
        "queue_arn": QUEUE if kind == "queue" else None,
        "function_name": "charge" if kind == "function" else None,
        "settings": list(settings),
        "error_code": None,
        **more,
    }


CASES = {
    "a visibility timeout": (
        row("queue", "VisibilityTimeout=600"),
        ("queue_settings", (QUEUE,), {"visibility_timeout_s": 600}),
    ),
    "a dead-letter queue": (
        row("queue", 'RedrivePolicy={"deadLetterTargetArn": "arn:dlq", "maxReceiveCount": "5"}'),
        ("queue_settings", (QUEUE,), {"dead_letter_queue_arn": "arn:dlq", "max_receive_count": 5}),
    ),
    "a dead-letter queue taken away": (
        row("queue", "RedrivePolicy="),
        ("queue_settings", (QUEUE,), {"dead_letter_queue_arn": None, "max_receive_count": None}),
    ),
    "content-based deduplication": (
        row("queue", "ContentBasedDeduplication=TRUE"),
        ("queue_settings", (QUEUE,), {"content_based_deduplication": True}),
    ),
    "content-based deduplication taken away": (
        row("queue", "ContentBasedDeduplication=false"),
        ("queue_settings", (QUEUE,), {"content_based_deduplication": False}),
    ),
    "a function timeout": (row("function", "timeout=30"), ("function_settings", ("charge",), {"timeout_s": 30})),
    "a mapping, by its UUID": (
        row("mapping", 'functionResponseTypes=["ReportBatchItemFailures"]', "batchSize=5", resource="u-1"),
        (
            "event_source_mappings",
            (QUEUE, "charge"),
            {"reports_batch_item_failures": True, "batch_size": 5},
        ),
    ),
}


@pytest.mark.parametrize(("recorded", "expected"), CASES.values(), ids=CASES)
def test_a_recorded_call_changes_its_columns(recorded, expected):
    table, key, values = expected
    found = recorded_changes([recorded], MAPPINGS)

    (change,) = found[table][key]
    assert (change.changed_at, change.values, change.evidence_id) == (AT, values, "change:1")


NOTHING = {
    "a refused call": row("queue", "VisibilityTimeout=600", error_code="AccessDenied"),
    "a setting that bears on nothing": row("function", "runtime=python3.13"),
    "a value that is no number": row("queue", "VisibilityTimeout=soon"),
    "a policy that is no JSON": row("queue", "RedrivePolicy={cut"),
    "a mapping that nobody knows": row("mapping", "batchSize=5", resource="u-2"),
}


@pytest.mark.parametrize("recorded", NOTHING.values(), ids=NOTHING)
def test_nothing_is_changed_by(recorded):
    assert all(not changes for changes in recorded_changes([recorded], MAPPINGS).values())
