"""What the lab puts into AWS, read back over HTTP; what Doubletake makes of it is tested in tests/scenarios."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest

from lab.aws import EmbeddedAws
from lab.played import Played
from lab.scenarios import scenario

pytestmark = pytest.mark.emulator

NOW = datetime.now(UTC)


@pytest.fixture(scope="module")
def world():
    with EmbeddedAws() as aws:
        yield aws, scenario("double-billing").play(aws, NOW)


@pytest.fixture(scope="module")
def played(world) -> Played:
    return world[1]


@pytest.fixture(scope="module")
def charge_card_events(world) -> list[dict]:
    aws, played = world
    pages = aws.client("logs").get_paginator("filter_log_events").paginate(logGroupName="/aws/lambda/charge-card")
    return [event for page in pages for event in page["events"]]


def metric(
    aws, namespace: str, name: str, statistic: str, dimension: str, resource: str, played: Played
) -> list[float]:
    query = {
        "Id": "m",
        "MetricStat": {
            "Metric": {
                "Namespace": namespace,
                "MetricName": name,
                "Dimensions": [{"Name": dimension, "Value": resource}],
            },
            "Period": 60,
            "Stat": statistic,
        },
    }
    reply = aws.client("cloudwatch").get_metric_data(
        MetricDataQueries=[query], StartTime=played.window_start, EndTime=played.window_end
    )
    return reply["MetricDataResults"][0]["Values"]


def test_two_batches_of_ten_come_again_and_eleven_charges_are_seen_twice(played, charge_card_events):
    keys = [found[1] for e in charge_card_events if (found := re.search(r"charged payment_id=(\S+)", e["message"]))]
    again = played.delivered_again("payments.fifo")
    charged_twice_in_the_log = {key for key in keys if keys.count(key) == 2}

    assert len(again) == 20
    assert len(charged_twice_in_the_log) == 11
    assert charged_twice_in_the_log < {truth.business_key for truth in again}


def test_one_charge_under_way_at_a_kill_went_through_and_one_did_not(played, charge_card_events):
    logged = " ".join(e["message"] for e in charge_card_events)
    in_doubt = [
        truth
        for truth in played.delivered_again("payments.fifo")
        if logged.count(f"processing {truth.message_id}") == 2
        and logged.count(f"charged payment_id={truth.business_key} ") == 1
    ]

    assert [truth.effects for truth in in_doubt] == [2, 1]


def test_a_redelivery_comes_600_s_after_the_receive_and_nothing_in_between(played):
    again = played.delivered_again("payments.fifo")
    gaps_s = {(t.deliveries[1].received_at - t.deliveries[0].received_at).total_seconds() for t in again}
    blocked = {(t.deliveries[0].received_at, t.deliveries[1].received_at) for t in again}
    others = {d.received_at for t in played.truths if t.queue == "payments.fifo" for d in t.deliveries}

    assert all(600.0 <= gap_s < 600.2 for gap_s in gaps_s)
    assert len(blocked) == 2
    assert not any(start < at < end for start, end in blocked for at in others)


def test_the_repeats_of_the_second_queue_were_stopped_by_its_guard(played):
    again = played.delivered_again("shipment-updates")

    assert len(again) > 1
    assert {truth.effects for truth in again} == {1}


def test_every_other_message_was_delivered_and_worked_once(played):
    once = [truth for truth in played.truths if len(truth.deliveries) == 1]

    assert len(once) > 2_000
    assert {truth.effects for truth in once} == {1}


def test_both_forms_of_a_timeout_are_in_the_log(charge_card_events):
    old = [e["message"] for e in charge_card_events if "Task timed out" in e["message"]]
    new = [e["message"] for e in charge_card_events if "Status: timeout" in e["message"]]

    assert len(old) == len(new) == 1
    assert re.fullmatch(r"\S+Z [0-9a-f-]{36} Task timed out after 30\.0\d seconds\n\n", old[0])
    assert re.search(r"\tDuration: 30000\.00 ms\t.*\tStatus: timeout\n$", new[0])


def test_log_lines_carry_what_real_ones_carry(charge_card_events):
    printed = [e["message"] for e in charge_card_events if e["message"].startswith('{"Records"')]
    records = [record for text in printed for record in json.loads(text)["Records"]]
    starts = [e for e in charge_card_events if e["message"].startswith("START RequestId: ")]

    assert len(charge_card_events) > 6_000
    assert all(re.fullmatch(r"AQEB[A-Za-z0-9+/=]{200,}", record["receiptHandle"]) for record in records)
    assert all(re.fullmatch(r"\d{20}", record["attributes"]["SequenceNumber"]) for record in records)
    assert {record["attributes"]["ApproximateReceiveCount"] for record in records} == {"1", "2"}
    assert all(e["message"][len("START RequestId: ") + 14] == "5" for e in starts)
    assert all(re.fullmatch(r"\d{4}/\d\d/\d\d/\[\$LATEST\][0-9a-f]{32}", e["logStreamName"]) for e in starts)
    assert all(0 < e["ingestionTime"] - e["timestamp"] < 620_000 for e in starts)


def test_everything_lies_in_a_window_that_ended_a_few_minutes_ago(played, charge_card_events):
    times = [datetime.fromtimestamp(e["timestamp"] / 1000, UTC) for e in charge_card_events]

    assert played.window_start <= min(times) and max(times) < played.window_end
    assert timedelta(minutes=5) < NOW - played.window_end < timedelta(minutes=15)


def test_queue_and_function_are_really_there_and_older_than_the_incident(world):
    aws, played = world
    sqs = aws.client("sqs")
    url = sqs.get_queue_url(QueueName="payments.fifo")["QueueUrl"]
    queue = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    function = aws.client("lambda").get_function_configuration(FunctionName="charge-card")
    mapping = aws.client("lambda").list_event_source_mappings(FunctionName="charge-card")["EventSourceMappings"][0]

    assert (queue["VisibilityTimeout"], function["Timeout"], mapping["BatchSize"]) == ("600", 30, 10)
    assert (mapping["EventSourceArn"], mapping["State"]) == (queue["QueueArn"], "Enabled")
    assert json.loads(queue["RedrivePolicy"])["maxReceiveCount"] == 5
    assert datetime.fromtimestamp(int(queue["LastModifiedTimestamp"]), UTC) < played.window_start
    assert datetime.fromisoformat(function["LastModified"]) < played.window_start


def test_metrics_agree_with_the_truth(world):
    aws, played = world
    truths = [truth for truth in played.truths if truth.queue == "payments.fifo"]
    received = metric(aws, "AWS/SQS", "NumberOfMessagesReceived", "Sum", "QueueName", "payments.fifo", played)
    deleted = metric(aws, "AWS/SQS", "NumberOfMessagesDeleted", "Sum", "QueueName", "payments.fifo", played)
    oldest_s = metric(aws, "AWS/SQS", "ApproximateAgeOfOldestMessage", "Maximum", "QueueName", "payments.fifo", played)
    errors = metric(aws, "AWS/Lambda", "Errors", "Sum", "FunctionName", "charge-card", played)
    duration_ms = metric(aws, "AWS/Lambda", "Duration", "Maximum", "FunctionName", "charge-card", played)

    assert sum(received) - sum(deleted) == 20
    assert sum(deleted) == len(truths)
    assert 1_100 < max(oldest_s) < 1_300
    assert sum(errors) == 2
    assert 30_000 <= max(duration_ms) < 30_020


def test_the_same_play_names_the_same_messages(played):
    with EmbeddedAws() as aws:
        again = scenario("double-billing").play(aws, NOW)

    assert again.truths == played.truths
