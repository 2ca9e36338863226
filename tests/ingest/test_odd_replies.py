"""A reply of another shape than AWS's own models say never ends a collection: it is a named gap, and the rest is read."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings

from forensics.errors import ForensicsError
from forensics.lake import Lake
from forensics.tables import BY_NAME, EVIDENCE
from forensics.window import TimeWindow
from ingest.collect import CollectReport, collect
from ingest.reply_shape import ReplyShape
from tests.ingest.odd_replies import DEEP, GROUPS, HOUR, NOW, REPLIES, OddAccount, Swap, body_of, paths, swapped, swaps
from tests.tables import put_tables

WINDOW = TimeWindow(*HOUR)
LINES = 5


@pytest.fixture(scope="module")
def account() -> OddAccount:
    return OddAccount()


def collected(account: OddAccount, folder: Path, *changes: Swap) -> tuple[Lake, CollectReport | ForensicsError]:
    account.begin(changes)
    lake = Lake(folder / "lake")
    put_tables(lake, EVIDENCE)
    try:
        return lake, collect(lake, account.aws, None, WINDOW, [f"{GROUPS[1]}=refunds"], now=NOW)
    except ForensicsError as problem:
        return lake, problem


def rows(lake: Lake, table: str) -> list[dict]:
    return lake.read(BY_NAME[table]).to_pylist()


@pytest.mark.lake
def test_as_it_should_be_everything_is_read_and_nothing_is_missing(account, tmp_path):
    lake, report = collected(account, tmp_path)

    assert report.gaps == ()
    counts = {
        t: len(rows(lake, t)) for t in ("queue_settings", "event_source_mappings", "function_settings", "move_tasks")
    }
    assert counts == {"queue_settings": 3, "event_source_mappings": 1, "function_settings": 1, "move_tasks": 1}
    assert sorted({row["log_group"] for row in rows(lake, "log_events")}) == list(GROUPS)
    assert len(rows(lake, "setting_changes")) > 5


KNOWN = {
    "very deep JSON": Swap("lambda:GetFunctionConfiguration", ("Runtime",), DEEP),
    "a mapping without its function": Swap(
        "lambda:ListEventSourceMappings", ("EventSourceMappings", "*", "FunctionArn"), "missing"
    ),
    "a function that is no ARN": Swap(
        "lambda:ListEventSourceMappings", ("EventSourceMappings", "*", "FunctionArn"), "x"
    ),
    "a text that is none": Swap("lambda:GetFunctionConfiguration", ("Runtime",), ["python"]),
    "a redrive target that is a number": Swap(
        "sqs:GetQueueAttributes", ("Attributes", "RedrivePolicy"), '{"deadLetterTargetArn": 7, "maxReceiveCount": 3}'
    ),
    "a retention beyond measure": Swap("logs:DescribeLogGroups", ("logGroups", "*", "retentionInDays"), 1e300),
    "a queue's address without a path": Swap("sqs:ListQueues", ("QueueUrls", "*"), "https://host"),
    "more times than values": Swap("cloudwatch:GetMetricData", ("MetricDataResults", "*", "Values"), []),
    "a time that no calendar has": Swap("cloudtrail:LookupEvents", ("Events", "*", "EventTime"), "9" * 300),
    "a page's token that is a number": Swap("logs:FilterLogEvents", ("nextToken",), 7),
}


@pytest.mark.slow
@pytest.mark.parametrize("swap", KNOWN.values(), ids=KNOWN)
def test_a_reply_of_wrong_shape_is_a_gap_with_its_name_and_the_rest_is_collected(account, tmp_path, swap):
    lake, report = collected(account, tmp_path, swap)

    assert isinstance(report, CollectReport)
    assert report.exit_code == 3
    assert any(swap.operation.partition(":")[2] in gap or "FilterLogEvents" in gap for gap in report.gaps), report.gaps
    assert len(rows(lake, "log_events")) >= LINES
    assert len(rows(lake, "queue_settings")) >= 2


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(swap=swaps())
@example(swap=Swap("logs:FilterLogEvents", ("events", "*"), 7))
@example(swap=Swap("cloudtrail:LookupEvents", ("Events", "*"), []))
def test_no_reply_of_any_shape_ends_a_collection_or_leaves_an_event_unaccounted(account, swap):
    with tempfile.TemporaryDirectory() as folder:
        lake, report = collected(account, Path(folder), swap)

        if isinstance(report, ForensicsError):  # without queues there is nothing to collect
            assert swap.operation == "sqs:ListQueues"
            return
        if swap.operation not in ("logs:FilterLogEvents", "logs:DescribeLogGroups"):
            assert len([row for row in rows(lake, "log_events") if row["log_group"] == GROUPS[1]]) == LINES or any(
                "refunds" in gap for gap in report.gaps
            )
        if swap.operation != "cloudtrail:LookupEvents":
            assert len(rows(lake, "setting_changes")) > 5
        assert "canary-environment" not in json.dumps(rows(lake, "quarantine"), default=str)


@settings(max_examples=150, deadline=None)
@given(swap=swaps())
def test_what_fits_is_kept_and_what_does_not_is_told_without_showing_it(account, swap):
    service, name = swap.operation.split(":")
    shape = account.aws.client(service).meta.service_model.operation_model(name).output_shape
    asked = {
        "QueueUrl": "x/orders", "QueueName": "orders", "SourceArn": "x-dlq", "logGroupNamePrefix": "g", "startTime": 0,
        "endTime": 10**13, "MetricDataQueries": [{"Id": "q0"}, {"Id": "q1"}], "LookupAttributes": [{"AttributeValue": "PurgeQueue"}],
    }  # fmt: skip
    fits = ReplyShape()
    body = body_of(swapped(REPLIES[swap.operation](asked), swap.path, swap))
    kept = fits.fitted(name, body, shape)

    assert fits.fitted(name, kept, shape) == kept
    assert all(name in misfit and len(misfit) < 300 for misfit in fits.misfits)


def test_the_places_are_those_of_the_services_own_models():
    assert ("EventSourceMappings", "*", "ScalingConfig", "MaximumConcurrency") in paths(
        "lambda:ListEventSourceMappings"
    )
    assert sum(len(paths(operation)) for operation in REPLIES) > 150
