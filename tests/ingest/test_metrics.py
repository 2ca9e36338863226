"""Metrics: full calls, every page, periods by age, and failures told from silence."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from forensics.counting.metrics import LEVELS, SUMS
from forensics.tables import BY_NAME
from forensics.window import TimeWindow
from ingest import metrics
from ingest.aws_errors import AwsRefusedError
from tests.ingest.stand_ins import AsModelled
from tests.ingest.world import START

NOW = datetime(2026, 11, 20, 12, 30, tzinfo=UTC)
POINTS = BY_NAME["metric_points"]


class FakeAws(AsModelled):
    """Stands for the client: answers GetMetricData from a function and keeps what was asked."""

    def __init__(self, answer: Callable[[dict[str, Any], int], dict[str, Any]]) -> None:
        self.answer = answer
        self.asked: list[dict[str, Any]] = []

    def call(self, service: str, operation: str, demand: str, **parameters: Any) -> dict[str, Any]:
        self.asked.append(parameters)
        return self.answer(parameters, len(self.asked))


def complete(parameters: dict[str, Any], values: tuple[float, ...] = (1.0,)) -> dict[str, Any]:
    stamps = [parameters["StartTime"] + timedelta(minutes=n) for n in range(len(values))]
    results = [
        {"Id": query["Id"], "Timestamps": stamps, "Values": list(values), "StatusCode": "Complete"}
        for query in parameters["MetricDataQueries"]
    ]
    return {"MetricDataResults": results}


def queues(aws: FakeAws, count: int = 1) -> list[metrics.Measured]:
    return [metrics.of_queue(f"q{n}", "123456789012", "eu-west-1", f"arn:q{n}", aws) for n in range(count)]


def last_hour() -> TimeWindow:
    return TimeWindow(NOW - timedelta(hours=1), NOW)


AGES = {
    "today": (1, 0, [("11-19 12:30", 60)]),
    "on both sides of 15 days": (16, 0, [("11-04 12:30", 300), ("11-05 13:00", 60)]),
    "three periods": (70, 0, [("09-11 12:00", 3600), ("09-18 13:00", 300), ("11-05 13:00", 60)]),
    "all of it months ago": (80, 70, [("09-01 12:00", 3600)]),
}


@pytest.mark.parametrize(("since_d", "until_d", "wanted"), AGES.values(), ids=AGES)
def test_old_points_are_asked_for_in_the_periods_still_kept(since_d, until_d, wanted):
    window = TimeWindow(NOW - timedelta(days=since_d), NOW - timedelta(days=until_d))
    cut = metrics.spans(window, NOW)

    assert [(f"{start_at:%m-%d %H:%M}", period_s) for start_at, _, period_s in cut] == wanted
    assert all(int(start_at.timestamp()) % period_s == 0 for start_at, _, period_s in cut)
    assert cut[-1][1] == window.end_at


def test_the_spans_leave_no_hole():
    cut = metrics.spans(TimeWindow(NOW - timedelta(days=100), NOW), NOW)

    assert all(earlier[1] == later[0] for earlier, later in zip(cut, cut[1:], strict=False))


def test_no_span_asks_for_a_finer_period_than_is_kept():
    for days in range(1, 100):
        for start_at, _, period_s in metrics.spans(TimeWindow(NOW - timedelta(days=days), NOW), NOW):
            age = NOW - start_at

            assert period_s == 3600 or age < timedelta(days=63)
            assert period_s >= 300 or age < timedelta(days=15)


@pytest.mark.lake
def test_calls_are_full(lake):
    aws = FakeAws(lambda asked, _: complete(asked))
    wanted = queues(aws, 130)
    metrics.ingest(lake, wanted, last_hour(), NOW)
    per_queue = len(wanted[0].metrics)

    assert [len(call["MetricDataQueries"]) for call in aws.asked] == [500, 500, 130 * per_queue - 1000]
    assert lake.read(POINTS).num_rows == 130 * per_queue
    assert all(call["ScanBy"] == "TimestampAscending" for call in aws.asked)


@pytest.mark.lake
def test_every_page_counts(lake):
    def two_pages(asked: dict[str, Any], count: int) -> dict[str, Any]:
        if count == 1:
            page = complete(asked, (1.0, 2.0))
            for result in page["MetricDataResults"]:
                result["StatusCode"] = "PartialData"
            return page | {"NextToken": "more"}
        shifted = asked | {"StartTime": asked["StartTime"] + timedelta(minutes=2)}
        return complete(shifted, (3.0,))

    aws = FakeAws(two_pages)
    (reading,) = metrics.ingest(lake, queues(aws), last_hour(), NOW)

    assert (reading.status, reading.stored_count) == ("ok", 3 * len(queues(aws)[0].metrics))
    assert aws.asked[1]["NextToken"] == "more"


def with_status(status: str, metric: str, times: int) -> Callable[[dict[str, Any], int], dict[str, Any]]:
    def answer(asked: dict[str, Any], count: int) -> dict[str, Any]:
        reply = complete(asked)
        for query, result in zip(asked["MetricDataQueries"], reply["MetricDataResults"], strict=True):
            if query["MetricStat"]["Metric"]["MetricName"] == metric and count <= times:
                result |= {"StatusCode": status, "Timestamps": [], "Values": []}
        return reply

    return answer


@pytest.mark.lake
def test_a_query_that_failed_inside_aws_is_asked_again_alone(lake):
    aws = FakeAws(with_status("InternalError", "NumberOfMessagesSent", 1))
    (reading,) = metrics.ingest(lake, queues(aws), last_hour(), NOW)

    assert reading.status == "ok"
    assert [len(call["MetricDataQueries"]) for call in aws.asked][1:] == [1]


@pytest.mark.lake
@pytest.mark.parametrize(
    ("said", "status"), [("InternalError", "failed"), ("PartialData", "failed"), ("Forbidden", "denied")]
)
def test_what_stays_unanswered_is_a_gap_of_its_queue_only(lake, said, status):
    aws = FakeAws(with_status(said, "NumberOfMessagesSent", 99))
    wanted = [*queues(aws), metrics.of_function("charge", "123456789012", "eu-west-1", ("arn:q0",), aws)]
    of_queue, of_function = metrics.ingest(lake, wanted, last_hour(), NOW)

    assert (of_queue.status, of_function.status) == (status, "ok")
    assert of_queue.detail == f"GetMetricData: NumberOfMessagesSent: {said}"
    assert of_queue.stored_count == len(wanted[0].metrics) - 1


def test_a_refused_call_is_a_gap(lake):
    def refused(*_: Any) -> dict[str, Any]:
        raise AwsRefusedError("GetMetricData", "AccessDenied", "no", "denied")

    (reading,) = metrics.ingest(lake, queues(FakeAws(refused)), last_hour(), NOW)

    assert (reading.status, reading.seen_count) == ("denied", 0)


@pytest.mark.lake
def test_a_revised_value_is_a_further_row(lake):
    window = last_hour()
    for value in (1.0, 1.0, 2.0):
        metrics.ingest(lake, queues(FakeAws(lambda asked, _, v=value: complete(asked, (v,)))), window, NOW)
    sent = [r for r in lake.read(POINTS).to_pylist() if r["metric"] == "NumberOfMessagesSent"]

    assert sorted(r["value"] for r in sent) == [1.0, 2.0]


@pytest.mark.lake
def test_what_another_collector_stored_meanwhile_is_there_already(lake, monkeypatch):
    aws = FakeAws(lambda asked, _: complete(asked, (1.0,)))
    (first,) = metrics.ingest(lake, queues(aws), last_hour(), NOW)
    monkeypatch.setattr(metrics, "_known_ids", lambda *_: set())  # it looked before the other one wrote
    (second,) = metrics.ingest(lake, queues(aws), last_hour(), NOW)

    assert first.stored_count == second.already_count == second.seen_count > 0
    assert second.stored_count == 0


def test_fifo_and_standard_queues_have_metrics_of_their_own():
    fifo = {m for m, _ in metrics.of_queue("q.fifo", "1", "r", "a", None).metrics}
    standard = {m for m, _ in metrics.of_queue("q", "1", "r", "a", None).metrics}

    assert fifo - standard == {"NumberOfDeduplicatedSentMessages"}


def test_every_metric_that_is_collected_is_used():
    used = {*SUMS, *LEVELS}
    asked = {m for name in ("q", "q.fifo") for m, _ in metrics.of_queue(name, "1", "r", "a", None).metrics}
    asked |= {m for m, _ in metrics.of_function("f", "1", "r", ("a",), None).metrics}
    asked |= {m for m, _ in metrics.of_mapping("u", "1", "r", "a", None).metrics}

    assert asked == used


@pytest.mark.emulator
def test_points_come_over_http_with_their_times(lake, moto_world, moto_aws, hour):
    queue = moto_world.queue("measured")
    moto_world.metric(queue, "NumberOfMessagesReceived", [4, 0, 6])
    wanted = metrics.of_queue(queue, "123456789012", "eu-west-1", "arn", moto_aws)
    (reading,) = metrics.ingest(lake, [wanted], hour, START + timedelta(hours=2))
    rows = sorted(lake.read(POINTS).to_pylist(), key=lambda r: r["point_at"])

    assert reading.status == "ok"
    assert [(r["point_at"] - START, r["value"]) for r in rows] == [
        (timedelta(minutes=n), v) for n, v in enumerate([4, 0, 6])
    ]
    assert {(r["namespace"], r["resource"], r["statistic"], r["period_s"]) for r in rows} == {
        ("AWS/SQS", queue, "Sum", 60)
    }


@pytest.mark.emulator
def test_a_mapping_that_counts_events_is_measured_too(world, hour):
    measured = metrics.of_mapping("a-uuid", "000000000000", "eu-west-1", "arn", None)

    assert (measured.dimension, measured.resource) == ("EventSourceMappingUUID", "a-uuid")
    assert ("DeletedEventCount", "Sum") in measured.metrics
