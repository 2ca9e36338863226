"""Throttling, failing servers, lost connections, expired sessions: injected into real clients, half of all requests."""

import json
import random
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.awsrequest import AWSResponse
from botocore.exceptions import ConnectionClosedError, EndpointConnectionError, ReadTimeoutError

from forensics.lake import Lake
from forensics.tables import BY_NAME
from forensics.window import TimeWindow
from ingest import clients, log_events
from ingest.clients import Aws
from ingest.log_events import LogGroup
from tests.ingest.model_account import GROUP, REGION, ModelAccount

pytestmark = pytest.mark.slow

T = datetime(2026, 11, 20, 5, tzinfo=UTC)
HOUR = TimeWindow(T, T + timedelta(hours=1))
NOW = T + timedelta(days=2)
EVENTS = [(T + timedelta(milliseconds=n * 731), f"s{n % 3}", f"line {n}") for n in range(400)]
LOG_EVENTS = BY_NAME["log_events"]


class Body(list):
    """A reply's body as urllib3 streams it."""

    def stream(self, **_: Any) -> "Body":
        return self


def reply(status: int, content: dict[str, Any]) -> AWSResponse:
    headers = {"content-type": "application/x-amz-json-1.1"}
    return AWSResponse("https://logs.example", status, headers, Body([json.dumps(content).encode()]))


def refused(code: str, status: int = 400) -> Callable[[], AWSResponse]:
    return lambda: reply(status, {"__type": code, "message": "not now"})


def broken(problem: Exception) -> Callable[[], AWSResponse]:
    def fail() -> AWSResponse:
        raise problem

    return fail


FAULTS = {
    "throttled": refused("ThrottlingException"),
    "an internal error": refused("InternalFailure", 500),
    "unavailable": refused("ServiceUnavailableException", 503),
    "a gateway that says nothing": lambda: reply(502, {}),
    "a connection that is closed": broken(ConnectionClosedError(endpoint_url="https://logs.example")),
    "a reply that does not come": broken(ReadTimeoutError(endpoint_url="https://logs.example")),
}


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Nothing really waits; returns what would have been waited."""
    found: list[float] = []
    here, sleep, monotonic = threading.current_thread(), time.sleep, time.monotonic

    def is_ours() -> bool:  # other threads of the run keep their time
        return threading.current_thread() is here or threading.current_thread().name == clients.CALLING

    monkeypatch.setattr("time.sleep", lambda s: found.append(s) if is_ours() else sleep(s))
    monkeypatch.setattr("time.monotonic", lambda: 1000 + sum(found) if is_ours() else monotonic())
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    return found


def with_faults(fault: Callable[[int], AWSResponse | None], patience_s: float = clients.PATIENCE_S) -> LogGroup:
    """Return a log group behind a real client whose requests are answered here; ``fault`` gets the request's number."""
    aws = Aws(region=REGION, endpoint_url="https://logs.example", patience_s=patience_s)
    account, count = ModelAccount(EVENTS), [0]

    def answer(request: Any, **_: Any) -> AWSResponse:
        count[0] += 1
        return fault(count[0]) or reply(200, account.filter_log_events(**json.loads(request.body)))

    aws.client("logs").meta.events.register("before-send.cloudwatch-logs", answer)
    return LogGroup(GROUP, "123456789012", REGION, ("arn:q",), aws)


def lines(lake: Lake) -> list[str]:
    return sorted(lake.read(LOG_EVENTS, ["line"])["line"].to_pylist())


WANTED = sorted(line for _, _, line in EVENTS)


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_half_of_all_requests_may_fail_and_nothing_is_lost(tmp_path, slept, fault):
    draw = random.Random(3)
    group = with_faults(lambda n: fault() if draw.random() < 0.5 else None)
    lake = Lake(tmp_path / "lake")
    reading = log_events.ingest(lake, group, HOUR, NOW)

    assert (reading.status, lines(lake)) == ("ok", WANTED)
    assert slept


def test_an_outage_longer_than_botocores_own_retries_is_waited_out_with_jitter(tmp_path, slept):
    group = with_faults(lambda n: refused("ServiceUnavailableException", 503)() if 2 <= n <= 14 else None)
    reading = log_events.ingest(Lake(tmp_path / "lake"), group, HOUR, NOW)

    assert reading.status == "ok"
    assert len(set(slept)) == len(slept)
    assert max(slept) <= 20


def test_an_outage_without_end_is_a_gap_after_two_minutes_and_keeps_what_came(tmp_path, slept):
    lake = Lake(tmp_path / "lake")
    group = with_faults(lambda n: refused("ThrottlingException")() if n > 4 else None)
    reading = log_events.ingest(lake, group, HOUR, NOW)

    assert (reading.status, "ThrottlingException" in (reading.detail or "")) == ("failed", True)
    assert 0 < len(lines(lake)) < len(WANTED)
    assert sum(slept) < clients.PATIENCE_S + 60


def test_patience_is_used_up_once_and_not_by_every_source_anew(tmp_path, slept):
    group = with_faults(lambda n: refused("ThrottlingException")())
    log_events.ingest(Lake(tmp_path / "lake"), group, HOUR, NOW)
    first = sum(slept)
    log_events.ingest(Lake(tmp_path / "lake"), group, HOUR, NOW)

    assert sum(slept) - first < 60


def test_a_session_that_expires_on_the_way_ends_cleanly_and_the_next_run_completes_it(tmp_path, slept):
    lake = Lake(tmp_path / "lake")
    expired = with_faults(lambda n: refused("ExpiredTokenException")() if n > 3 else None)
    reading = log_events.ingest(lake, expired, HOUR, NOW)
    assert (reading.status, slept) == ("failed", [])
    assert 0 < len(lines(lake)) < len(WANTED)

    again = log_events.ingest(lake, with_faults(lambda n: None), HOUR, NOW)
    assert (again.status, lines(lake)) == ("ok", WANTED)
    assert again.stored_count < len(WANTED)


def test_nothing_listening_is_given_up_soon(tmp_path, slept):
    group = with_faults(lambda n: broken(EndpointConnectionError(endpoint_url="https://logs.example"))())
    reading = log_events.ingest(Lake(tmp_path / "lake"), group, HOUR, NOW)

    assert reading.status == "failed"
    assert sum(slept) < 10


# -- poison ------------------------------------------------------------------------------------------------

POISON = {
    "a NUL": "a\0b",
    "half a surrogate pair": "\ud800",
    "bidi and ANSI": "\u202e\x1b[31mred",
    "a megabyte": "x" * 1_048_576,
    "deep JSON": "[" * 10_000,
    "an endless number": "9" * 5_000,
    "line ends of all kinds": "a\r\nb\u2028c\n",
    "nothing": "",
    "a byte order mark": "\ufeff{}",
    "JSON's strangers": '{"a": NaN, "a": Infinity, "b": 1e999}',
}


@pytest.mark.parametrize("line", POISON.values(), ids=POISON)
def test_a_poisonous_line_is_stored_or_quarantined_and_hides_no_other(tmp_path, line):
    lake = Lake(tmp_path / "lake")
    account = ModelAccount(
        [(T, "s", "before"), (T + timedelta(seconds=1), "s", line), (T + timedelta(seconds=2), "s", "z")]
    )
    reading = log_events.ingest(lake, LogGroup(GROUP, "1", REGION, (), account), HOUR, NOW)

    assert reading.seen_count == reading.stored_count + reading.already_count + reading.quarantined_count
    assert reading.stored_count + reading.quarantined_count == 3
    assert {"before", "z"} <= set(lines(lake))
    assert line in lines(lake) or reading.quarantined_count == 1
