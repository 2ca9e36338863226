"""What the lab puts into AWS for expired-handle, read back over HTTP."""

import json
import re
from datetime import UTC, datetime

import pytest

from lab.scenarios import scenario

pytestmark = pytest.mark.emulator

REFUSED = re.compile(
    r'production\.ERROR: Error executing "DeleteMessage" on "https://sqs\.ap-northeast-1\.amazonaws\.com" AWS HTTP error: '
    r"Client error: `POST https://sqs\.ap-northeast-1\.amazonaws\.com` resulted in a `400 Bad Request` "
    r"Value AQEB\S{200,} for parameter ReceiptHandle is invalid\. Reason: The receipt handle has expired\."
)


@pytest.fixture(scope="module")
def played(aws):
    return scenario("expired-handle").play(aws, datetime.now(UTC))


@pytest.fixture(scope="module")
def events(aws, played) -> list[dict]:
    pages = aws.client("logs").get_paginator("filter_log_events").paginate(logGroupName="/ecs/orders-worker")
    return [event for page in pages for event in page["events"]]


@pytest.fixture(scope="module")
def statuses(events) -> list[dict]:
    return [json.loads(e["message"]) for e in events if e["message"].startswith('{"level"')]


def test_three_orders_are_charged_two_or_three_times(played):
    again = played.delivered_again("orders.fifo")

    assert [(len(truth.deliveries), truth.effects) for truth in again] == [(2, 2), (3, 3), (2, 2)]


def test_one_repeat_overlaps_the_first_run_and_one_follows_the_refused_delete(played):
    first, _, third = played.delivered_again("orders.fifo")
    overlaps = [t.deliveries[1].received_at < t.deliveries[0].effect_at for t in (first, third)]

    assert overlaps == [True, False]


def test_every_late_delete_was_refused_in_laravels_words_and_none_other(played, events):
    refused = [e for e in events if "for parameter ReceiptHandle is invalid" in e["message"]]

    assert len(refused) == 4
    assert all(REFUSED.search(e["message"]) for e in refused)


def test_a_job_whose_delete_was_refused_has_no_success_line(played, statuses):
    started = sum(1 for status in statuses if status["status"] == "starting")
    succeeded = sum(1 for status in statuses if status["status"] == "success")

    assert started == sum(len(truth.deliveries) for truth in played.truths)
    assert started - succeeded == 4


def test_status_lines_name_the_message_and_its_receive_count(played, statuses):
    counts: dict[str, set[int]] = {}
    for status in statuses:
        counts.setdefault(status["id"], set()).add(status["attempts"])

    assert counts == {t.message_id: {d.receive_count for d in t.deliveries} for t in played.truths}


def test_healthy_jobs_surround_the_incident_on_two_workers(played, events):
    once = [truth for truth in played.truths if len(truth.deliveries) == 1]
    first_again = played.delivered_again("orders.fifo")[0].deliveries[0].received_at

    assert len(once) > 500
    assert any(t.deliveries[0].received_at < first_again for t in once)
    assert any(t.deliveries[0].received_at > first_again for t in once)
    assert len({e["logStreamName"] for e in events}) == 2
