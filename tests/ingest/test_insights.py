"""Logs Insights: groups of the infrequent-access class are read whole, in as many queries as it takes."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from forensics.lake import Lake
from forensics.tables import BY_NAME
from forensics.window import TimeWindow
from ingest import insights, log_events
from ingest.aws_errors import AwsRefusedError
from ingest.log_events import LogGroup
from tests.ingest.stand_ins import AsModelled

T = datetime(2026, 11, 20, 5, tzinfo=UTC)
HOUR = TimeWindow(T, T + timedelta(hours=1))
LOG_EVENTS = BY_NAME["log_events"]


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    slept: list[float] = []
    monkeypatch.setattr(insights.time, "sleep", slept.append)
    return slept


class FakeInsights(AsModelled):
    """Answers queries over events of (time, text) as the service does: whole seconds, sorted, cut at the limit."""

    def __init__(self, events: list[tuple[datetime, str]], first_answers: list[dict[str, Any]] | None = None) -> None:
        self.events, self.first_answers = sorted(events), first_answers or []
        self.spans: list[tuple[int, int]] = []

    def call(self, service: str, operation: str, demand: str, **asked: Any) -> dict[str, Any]:
        if operation == "start_query":
            self.spans.append((asked["startTime"], asked["endTime"]))
            self.limit = asked["limit"]
            return {"queryId": str(len(self.spans) - 1)}
        if self.first_answers:
            return self.first_answers.pop(0)
        first_s, last_s = self.spans[int(asked["queryId"])]
        inside = [e for e in self.events if first_s <= int(e[0].timestamp()) <= last_s]
        rows = [
            [
                {"field": "@timestamp", "value": f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03}"},
                {"field": "@message", "value": text},
                {"field": "@logStream", "value": "s"},
                {"field": "@ptr", "value": f"{n}-{len(self.spans)}"},
            ]
            for n, (at, text) in enumerate(inside)
        ]
        return {"status": "Complete", "results": rows[: self.limit], "statistics": {"estimatedRecordsSkipped": 0.0}}


def group(aws: FakeInsights) -> LogGroup:
    return LogGroup("/archive", "123456789012", "eu-west-1", ("arn:q",), aws, "INFREQUENT_ACCESS")  # type: ignore[arg-type]


def at(second: float) -> datetime:
    return T + timedelta(seconds=second)


@pytest.mark.lake
def test_events_arrive_as_those_of_any_group(tmp_path):
    lake = Lake(tmp_path / "lake")
    aws = FakeInsights([(at(1.25), "START RequestId: a"), (at(2), "done")])
    reading = log_events.ingest(lake, group(aws), HOUR, at(7200))
    rows = sorted(lake.read(LOG_EVENTS).to_pylist(), key=lambda r: r["logged_at"])

    assert (reading.status, reading.stored_count) == ("ok", 2)
    assert [(r["logged_at"], r["log_stream"], r["line"], r["event_id"]) for r in rows] == [
        (at(1.25), "s", "START RequestId: a", None),
        (at(2), "s", "done", None),
    ]


@pytest.mark.lake
def test_a_second_query_adds_nothing_although_its_pointers_differ(tmp_path):
    lake = Lake(tmp_path / "lake")
    aws = FakeInsights([(at(1), "equal"), (at(1), "equal"), (at(1), "other")])

    assert log_events.ingest(lake, group(aws), HOUR, at(7200)).stored_count == 3
    assert log_events.ingest(lake, group(aws), HOUR, at(7201)).stored_count == 0


@pytest.mark.lake
def test_more_than_one_query_holds_is_cut_in_two_until_nothing_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(insights, "MOST_RESULTS", 10)
    lake = Lake(tmp_path / "lake")
    aws = FakeInsights([(at(n * 30), f"line {n}") for n in range(100)])
    reading = log_events.ingest(lake, group(aws), HOUR, at(7200))

    assert (reading.status, reading.stored_count) == ("ok", 100)
    assert len(aws.spans) > 10


def test_a_second_that_holds_too_much_is_a_gap_and_not_a_part(tmp_path, monkeypatch):
    monkeypatch.setattr(insights, "MOST_RESULTS", 10)
    aws = FakeInsights([(at(5), f"line {n}") for n in range(11)])
    reading = log_events.ingest(Lake(tmp_path / "lake"), group(aws), HOUR, at(7200))

    assert (reading.status, reading.seen_count) == ("failed", 0)
    assert "10 events or more in second" in (reading.detail or "")


def test_queries_count_whole_seconds_and_the_window_does_not():
    aws = FakeInsights([(at(0.4), "before"), (at(0.5), "first"), (at(1.499), "last"), (at(1.5), "after")])
    window = TimeWindow(at(0.5), at(1.5))

    assert [e["message"] for page in insights.fetch(aws, "/g", window) for e in page] == ["first", "last"]


def test_a_running_query_is_waited_for(no_waiting):
    aws = FakeInsights([(at(1), "x")], [{"status": "Scheduled"}, {"status": "Running"}])

    assert [len(page) for page in insights.fetch(aws, "/g", HOUR)] == [1]
    assert no_waiting == [0.25, 0.5]


@pytest.mark.parametrize("status", ["Failed", "Cancelled", "Timeout"])
def test_a_query_that_ends_otherwise_is_an_error(status):
    aws = FakeInsights([(at(1), "x")], [{"status": status}])

    with pytest.raises(AwsRefusedError, match=status):
        list(insights.fetch(aws, "/g", HOUR))


def test_a_query_that_never_ends_is_given_up(no_waiting):
    aws = FakeInsights([], [{"status": "Running"}] * 1000)

    with pytest.raises(AwsRefusedError, match="did not end within 90"):
        list(insights.fetch(aws, "/g", HOUR))


def test_a_result_that_aws_calls_incomplete_is_an_error():
    aws = FakeInsights([], [{"status": "Complete", "results": [], "statistics": {"estimatedRecordsSkipped": 3.0}}])

    with pytest.raises(AwsRefusedError, match="skipped about 3 events"):
        list(insights.fetch(aws, "/g", HOUR))


def test_a_group_that_nobody_can_read_is_a_named_gap(tmp_path):
    delivery = LogGroup("/d", "1", "eu-west-1", (), FakeInsights([]), "DELIVERY")  # type: ignore[arg-type]
    reading = log_events.ingest(Lake(tmp_path / "lake"), delivery, HOUR, at(7200))

    assert reading.status == "unsupported"
    assert reading.gap == (
        "log group '/d': cannot be read this way (FilterLogEvents: DELIVERY: AWS lets nobody read a log group of this class)"
    )
