"""The weeks of eight-weeks, simulated without an AWS: what each queue suffers, and when."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from types import SimpleNamespace

import pytest

from lab.history import dead_letter_history, function_history, queue_history
from lab.scenarios import eight_weeks
from lab.scenarios.eight_weeks import LINES, ZONE, _play_day, _sessions, _stretch

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
START = datetime(2026, 9, 27, 15, 0, tzinfo=UTC)  # Monday 28 September in Tokyo
DAY = timedelta(days=1)
AWS = SimpleNamespace(region="ap-northeast-1", account_id="123456789012")


def played(name, weeks=8):
    line = next(line for line in LINES if line.queue.name == name)
    stretch = _stretch(AWS, line)
    for week, at in _sessions(START, NOW, weeks):
        _play_day(stretch, line, week, at, NOW)
    return stretch


@pytest.fixture(scope="module")
def payments():
    return played("payments.fifo")


@pytest.fixture(scope="module")
def webhooks():
    return played("webhooks", weeks=3)


@pytest.fixture(scope="module")
def exports():
    return played("exports")


def week_of(at):
    return (at - START).days // 7


def test_sessions_are_one_a_day_at_ten_until_now():
    sessions = list(_sessions(START, NOW, 8))

    assert {at.astimezone(ZONE).hour for _, at in sessions} == {10}
    assert (len(sessions), sessions[-1][0]) == (55, 7)


def test_payments_are_charged_twice_in_the_last_week_only(payments):
    twice = [m for m in payments.queue.messages if sum(d.effect_at is not None for d in m.deliveries) > 1]
    timeouts = [run for run in payments.function.runs if run.outcome.startswith("timeout")]

    assert twice
    assert {week_of(m.sent_at) for m in twice} == {7}
    assert {week_of(run.started_at) for run in timeouts} == {7}


def test_weekends_are_quiet(payments):
    per_day = Counter(m.sent_at.astimezone(ZONE).date() for m in payments.queue.messages)
    weekday = [n for day, n in per_day.items() if day.weekday() < 5]
    weekend = [n for day, n in per_day.items() if day.weekday() > 4]

    assert max(weekend) * 2 < min(weekday)


def test_a_throttled_poll_is_a_receive_without_a_run(webhooks):
    unseen = [d for m in webhooks.queue.messages for d in m.deliveries if d.consumer == "no room"]
    throttles = sum(d["Value"] for d in function_history(webhooks, NOW) if d["MetricName"] == "Throttles")

    assert len(unseen) == throttles > 0


def test_what_always_fails_is_dead_lettered_and_the_level_grows(webhooks):
    moved = [m for m in webhooks.queue.messages if m.moved_at]
    level = [d["Value"] for d in dead_letter_history(webhooks.queue, NOW)]

    assert moved
    assert (level[0], level[-1]) == (0.0, len(moved))
    assert level == sorted(level)


def test_the_metrics_count_every_send_and_receive_once(webhooks):
    sums = Counter()
    for datum in queue_history(webhooks.queue, NOW):
        sums[datum["MetricName"]] += datum["Value"]

    assert sums["NumberOfMessagesSent"] == len(webhooks.queue.messages)
    assert sums["NumberOfMessagesReceived"] == sum(len(m.deliveries) for m in webhooks.queue.messages)


def test_the_age_leaves_out_a_message_that_was_received_three_times(webhooks):
    ages = [d["Value"] for d in queue_history(webhooks.queue, NOW) if "Age" in d["MetricName"]]
    real = max((m.moved_at - m.sent_at for m in webhooks.queue.messages if m.moved_at), default=timedelta())

    assert max(ages) < real.total_seconds()


def test_two_plays_are_the_same(webhooks):
    again = played("webhooks", weeks=3)

    assert [m.message_id for m in again.queue.messages] == [m.message_id for m in webhooks.queue.messages]
    assert again.function.lines == webhooks.function.lines


def test_the_story_names_every_queue_that_is_not_well():
    assert all(name in eight_weeks.STORY for name in ("payments.fifo", "invoices", "webhooks", "exports"))


def test_consumers_work_all_day_so_what_always_fails_comes_back_until_it_expires(exports):
    poison = [m for m in exports.queue.messages if len(m.deliveries) > 3]
    gaps = [b.received_at - a.received_at for m in poison for a, b in pairwise(m.deliveries)]

    assert poison
    assert max(gaps) < timedelta(minutes=20)  # 15 minutes of visibility timeout, and a poll
    assert any(m.expired_at and m.deliveries[-1].received_at - m.sent_at > 3.9 * DAY for m in poison)


def test_points_are_a_minute_long_where_cloudwatch_still_keeps_minutes(webhooks):
    """Whoever collects asks for minutes then: a point of five would be stored as one of one."""
    late = played("webhooks", weeks=8)
    times = {d["Timestamp"] for d in [*queue_history(late.queue, NOW), *function_history(late, NOW)]}
    fine = {at for at in times if at >= NOW - 15 * DAY}

    assert any(at.minute % 5 for at in fine)
    assert not any(at.minute % 5 for at in times - fine)
