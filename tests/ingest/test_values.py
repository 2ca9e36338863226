"""Pure pieces: AWS's values, places of log events, settings rows."""

from datetime import UTC, datetime

import pytest

from ingest.functions import to_row as function_row
from ingest.log_places import NEAR_MOMENTS, Places
from ingest.mappings import to_row as mapping_row
from ingest.queues import QueueRef
from ingest.queues import to_row as queue_row
from ingest.values import epoch_s, moment

QUEUE = QueueRef("q.fifo", "http://q", "arn:aws:sqs:eu-west-1:123456789012:q.fifo", "123456789012", "eu-west-1", None)
AT = datetime(2026, 11, 20, 5, 12, tzinfo=UTC)

MOMENTS = {
    "Lambda's form": ("2026-11-20T05:12:00.000+0000", AT),
    "another zone": ("2026-11-20T14:12:00+09:00", AT),
    "a datetime": (AT, AT),
    "epoch seconds": (1795151520, AT),
    "an emulator's fraction": ("1795151520.248574", AT),
    "nothing": (None, None),
    "nonsense": ("yesterday", None),
}


@pytest.mark.parametrize(("given", "wanted"), MOMENTS.values(), ids=MOMENTS)
def test_times_are_read_in_every_form(given, wanted):
    assert moment(given) == wanted


@pytest.mark.parametrize("given", ["", "NaN", "1e400", [], "99999999999999999999"])
def test_seconds_that_are_none_are_unknown(given):
    assert epoch_s(given) is None


REDRIVES = {
    "a number": (
        '{"deadLetterTargetArn": "arn:aws:sqs:eu-west-1:123456789012:d", "maxReceiveCount": 5}',
        ("arn:aws:sqs:eu-west-1:123456789012:d", 5),
    ),
    "a string": (
        '{"deadLetterTargetArn": "arn:aws:sqs:eu-west-1:123456789012:d", "maxReceiveCount": "5"}',
        ("arn:aws:sqs:eu-west-1:123456789012:d", 5),
    ),
    "none": (None, (None, None)),
    "broken": ('{"deadLetter', (None, None)),
    "no object": ("7", (None, None)),
}


@pytest.mark.parametrize(("policy", "wanted"), REDRIVES.values(), ids=REDRIVES)
def test_a_redrive_policy_is_read(policy, wanted):
    row = queue_row(QUEUE, {"RedrivePolicy": policy} if policy else {})

    assert (row["dead_letter_queue_arn"], row["max_receive_count"]) == wanted


def test_an_attribute_that_was_not_said_is_unknown():
    row = queue_row(QUEUE, {})

    assert row["visibility_timeout_s"] is None
    assert row["content_based_deduplication"] is None


def test_a_mapping_to_an_alias_belongs_to_the_function():
    mapping = {
        "UUID": "u",
        "FunctionArn": "arn:aws:lambda:eu-west-1:123456789012:function:pay:live",
        "BatchSize": 5,
        "FunctionResponseTypes": ["ReportBatchItemFailures"],
        "ScalingConfig": {"MaximumConcurrency": 2},
        "MetricsConfig": {"Metrics": ["EventCount"]},
    }
    row = mapping_row(QUEUE, mapping)

    assert row["function_arn"].endswith(":function:pay")
    assert (row["function_name"], row["batch_size"], row["maximum_concurrency"]) == ("pay", 5, 2)
    assert row["reports_batch_item_failures"] and row["counts_events"]


@pytest.mark.parametrize("qualifier", ["", "live", "7", "$LATEST"])
def test_a_mapping_names_the_version_or_alias_that_it_invokes(qualifier):
    function = "arn:aws:lambda:eu-west-1:123456789012:function:pay"
    named = f"{function}:{qualifier}" if qualifier else function
    row = mapping_row(QUEUE, {"UUID": "u", "FunctionArn": named})

    assert (row["function_arn"], row["qualifier"]) == (function, qualifier)


def test_a_function_without_logging_settings_logs_to_its_default_group():
    row = function_row("1", "r", {"FunctionArn": "arn:aws:lambda:r:1:function:pay", "Timeout": 30})

    assert (row["log_group"], row["log_format"], row["reserved_concurrency"]) == ("/aws/lambda/pay", "Text", None)


@pytest.mark.parametrize(
    ("said", "is_durable"),
    [({}, None), ({"DurableConfig": None}, False), ({"DurableConfig": {"ExecutionTimeout": 900}}, True)],
    ids=["a tool that does not know of it", "an API that does", "a durable function"],
)
def test_a_function_is_durable_where_its_configuration_says_so(said, is_durable):
    row = function_row("1", "r", {"FunctionArn": "arn:aws:lambda:r:1:function:pay"} | said)

    assert row["is_durable"] is is_durable


def test_places_number_equal_milliseconds_in_order():
    places = Places()

    assert [places.of("s", 1, "x", event_id)[0] for event_id in ("a", "b", "a", "c")] == [0, 1, 0, 2]


def test_an_event_that_comes_again_with_its_page_keeps_its_place():
    places = Places()
    orders = [places.of("s", 1, "x", event_id)[0] for page in (["a", "b"], ["a", "b"], ["c"]) for event_id in page]

    assert orders == [0, 1, 0, 1, 2]


def test_equal_lines_are_told_apart_however_many_streams_write_between_them():
    places = Places()
    first = places.of("s", 1, "x", None)
    for n in range(NEAR_MOMENTS):
        places.of(f"other-{n}", 1, "x", None)
    second = places.of("s", 1, "x", None)

    assert first[0] == 0 and second[0] == 1
    assert first[1] != second[1]


def test_what_was_long_before_is_forgotten():
    places = Places()
    for n in range(4 * NEAR_MOMENTS):
        places.of("s", n, "x", "a")

    assert len(places._now) + len(places._before) <= 2 * NEAR_MOMENTS


def test_streams_are_numbered_apart():
    places = Places()

    assert [places.of(stream, 1, "x", "a" + stream)[0] for stream in ("s", "t")] == [0, 0]


def test_equal_lines_without_ids_get_names_that_last():
    def names() -> list[str]:
        places = Places()
        return [places.of("s", 1, line, None)[1] for line in ("tick", "tick\n", "tock")]

    assert names() == names()
    assert len(set(names())) == 3
