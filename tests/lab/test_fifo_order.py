"""What the lab puts into AWS for fifo-order: the published figures, read back over HTTP."""

import ast
import re
from datetime import UTC, datetime, timedelta

import pytest

from lab.scenarios import scenario

pytestmark = pytest.mark.emulator

PUBLISHED = [
    "123145414438912 {day} 08:20:26.588985 14",
    "123145414438912 {day} 08:20:26.653587 15 failed",
    "123145397649408 {day} 08:20:29.719290 15 failed",
    "123145414438912 {day} 08:20:32.746732 16",
]


@pytest.fixture(scope="module")
def played(aws):
    return scenario("fifo-order").play(aws, datetime.now(UTC))


@pytest.fixture(scope="module")
def lines(aws, played) -> list[str]:
    pages = aws.client("logs").get_paginator("filter_log_events").paginate(logGroupName="/ecs/numbers-worker")
    return [event["message"] for page in pages for event in page["events"]]


def test_the_published_lines_are_there_one_after_the_other(played, lines):
    handled = [line for line in lines if re.match(r"\d+ ", line)]
    first = handled.index(PUBLISHED[0].format(day=played.window_start.date()))

    assert handled[first : first + 4] == [line.format(day=played.window_start.date()) for line in PUBLISHED]


def test_the_order_is_kept_with_15_twice(lines):
    bodies = [line.split()[3] for line in lines if re.match(r"\d+ ", line)]

    assert bodies == [str(n) for n in [*range(16), *range(15, 20)]]


def test_15_is_received_twice_then_dead_lettered_as_16_is_handed_out(played):
    [fifteen] = played.delivered_again("numbers.fifo")
    sixteen = played.truths[16]

    assert [f"{d.received_at:%H:%M:%S.%f}"[:11] for d in fifteen.deliveries] == ["08:20:26.65", "08:20:29.71"]
    assert fifteen.dead_lettered_at == sixteen.deliveries[0].received_at
    assert (fifteen.dead_lettered_at - fifteen.deliveries[0].received_at).total_seconds() == pytest.approx(
        6.1, abs=0.05
    )


def test_nothing_of_the_group_is_handed_out_while_15_holds_it(played):
    [fifteen] = played.delivered_again("numbers.fifo")
    held = (fifteen.deliveries[0].received_at, fifteen.dead_lettered_at)
    others = [d.received_at for t in played.truths if t is not fifteen for d in t.deliveries]

    assert not any(held[0] <= at < held[1] for at in others)


def test_the_worker_printed_what_boto3_gave_it(lines):
    printed = [ast.literal_eval(line) for line in lines if line.startswith("{'MessageId'")]
    counts = [message["Attributes"]["ApproximateReceiveCount"] for message in printed if message["Body"] == "15"]

    assert len(printed) == 21
    assert counts == ["1", "2"]
    assert {message["Attributes"]["MessageGroupId"] for message in printed} == {"numbers"}


@pytest.mark.parametrize(
    ("now", "day"),
    [("2026-11-20T08:00:00+00:00", 19), ("2026-11-20T08:31:00+00:00", 20), ("2026-11-20T23:59:00+00:00", 20)],
    ids=["before that time of day", "just after it", "late in the day"],
)
def test_it_is_played_on_the_last_day_on_which_it_is_past(now, day):
    from lab.scenarios.fifo_order import last_day

    at = datetime.fromisoformat(now)

    assert last_day(at).day == day
    assert at - datetime.combine(last_day(at), datetime.min.time(), UTC) > timedelta(hours=8)
