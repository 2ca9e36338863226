"""Sources beside logs and metrics: setting changes, redrives, log groups; and events that come late or early."""

from datetime import UTC, datetime, timedelta

import pytest

from forensics.tables import BY_NAME
from forensics.window import TimeWindow
from ingest.collect import collect
from tests.ingest.proxy import refuse, say
from tests.ingest.world import START, World, ms

pytestmark = pytest.mark.emulator

NOW = START + timedelta(hours=2)


@pytest.fixture
def worked(world: World) -> tuple[str, str]:
    """A queue with a function, and its log group with one line."""
    queue, group = world.queue("orders"), world.name("/shop/orders")
    world.function("take-order", [queue], group)
    world.log(group, [(1000, "first")])
    return queue, group


def rows(lake, table: str) -> list[dict]:
    return lake.read(BY_NAME[table]).to_pylist()


def lines(lake) -> set[str]:
    return {r["line"] for r in rows(lake, "log_events")}


def test_a_changed_attribute_is_found_in_the_trail(lake, aws, worked, world):
    queue, _ = worked
    world.client("sqs").set_queue_attributes(
        QueueUrl=world.queue_url(queue), Attributes={"VisibilityTimeout": "77", "DelaySeconds": "3"}
    )
    now = datetime.now(UTC) + timedelta(minutes=30)
    collect(lake, aws, [queue], TimeWindow(now - timedelta(hours=1), now), now=now)
    mine = [r for r in rows(lake, "setting_changes") if r["resource"] == queue and r["settings"]]

    assert [(r["event_name"], r["settings"]) for r in mine if r["event_name"] == "SetQueueAttributes"] == [
        ("SetQueueAttributes", ["DelaySeconds=3", "VisibilityTimeout=77"])
    ]


def test_redrives_of_a_dead_letter_queue_are_kept_a_row_per_state(lake, aws, world, proxy, hour):
    dead = world.queue("orders-dlq")
    queue = world.queue("orders", dead)
    task = {
        "TaskHandle": "handle-that-could-stop-it",
        "Status": "RUNNING",
        "SourceArn": world.queue_arn(dead),
        "ApproximateNumberOfMessagesMoved": 1,
        "ApproximateNumberOfMessagesToMove": 9,
        "StartedTimestamp": ms(START),
    }
    ended = task | {"Status": "COMPLETED", "ApproximateNumberOfMessagesMoved": 9}
    proxy.fail("sqs:ListMessageMoveTasks", say(Results=[task]), on=[1, 2])
    proxy.fail("sqs:ListMessageMoveTasks", say(Results=[ended]))
    for minute in range(3):
        report = collect(lake, aws, [queue], hour, now=NOW + timedelta(minutes=minute))
    found = sorted(rows(lake, "move_tasks"), key=lambda r: r["observed_at"])

    assert report.exit_code == 0
    assert [(r["status"], r["moved_count"], r["started_at"]) for r in found] == [
        ("RUNNING", 1, START),
        ("COMPLETED", 9, START),
    ]
    assert "could-stop-it" not in repr(found)


def test_redrives_that_may_not_be_read_are_a_gap(lake, aws, world, proxy, hour):
    queue = world.queue("orders", world.queue("orders-dlq"))
    proxy.fail("sqs:ListMessageMoveTasks", refuse("AccessDenied", 403))
    report = collect(lake, aws, [queue], hour, now=NOW)

    assert (report.exit_code, [r["status"] for r in rows(lake, "coverage") if r["source"] == "move_tasks"]) == (
        3,
        ["denied"],
    )


def test_a_dead_letter_queue_asked_for_tells_whose_it_is(lake, aws, world, proxy, hour):
    dead = world.queue("orders-dlq")
    queue = world.queue("orders", dead)
    proxy.fail("sqs:ListDeadLetterSourceQueues", say(queueUrls=[world.queue_url(queue)]))
    report = collect(lake, aws, [dead], hour, now=NOW)

    assert {r["queue_name"]: r["max_receive_count"] for r in rows(lake, "queue_settings")} == {dead: None, queue: 3}
    assert report.notes == (
        f"queue {dead!r} takes the dead letters of {queue!r}: add --queue {queue} to read its consumers",
    )


def test_concurrency_that_may_not_be_read_is_a_gap_of_its_own(lake, aws, worked, proxy, hour):
    proxy.fail("lambda:GetFunctionConcurrency", refuse("AccessDeniedException"))
    report = collect(lake, aws, [worked[0]], hour, now=NOW)

    assert (report.exit_code, len(report.gaps)) == (3, 1)
    assert "(reserved concurrency)': AWS denied reading" in report.gaps[0]
    assert [r["timeout_s"] for r in rows(lake, "function_settings")] == [30]


def test_retention_and_class_of_a_log_group_are_kept(lake, aws, worked, world, hour):
    world.client("logs").put_retention_policy(logGroupName=worked[1], retentionInDays=3)
    collect(lake, aws, [worked[0]], hour, now=NOW)

    assert [(r["log_group"], r["log_class"], r["retention_days"]) for r in rows(lake, "log_group_settings")] == [
        (worked[1], "STANDARD", 3)
    ]


def test_a_group_of_infrequent_access_is_read_with_insights(lake, aws, worked, proxy, hour):
    def as_infrequent(upstream, _request):
        reply = upstream()
        groups = [g | {"logGroupClass": "INFREQUENT_ACCESS"} for g in reply.json()["logGroups"]]
        return reply.with_json(logGroups=groups)

    proxy.fail("logs:DescribeLogGroups", as_infrequent)
    proxy.fail("logs:FilterLogEvents", refuse("InvalidParameterException"))
    report = collect(lake, aws, [worked[0]], hour, now=NOW)

    assert (report.exit_code, lines(lake)) == (0, {"first"})
    assert "Logs Insights" in report.notes[0]


LAGS = {
    "a second": (timedelta(seconds=1), timedelta(minutes=20)),
    "ten minutes": (timedelta(minutes=10), timedelta(minutes=20)),
    "an hour": (timedelta(hours=1), timedelta(hours=2, minutes=1)),
    "a day, nearly": (timedelta(hours=23), timedelta(hours=24, minutes=1)),
}


@pytest.mark.parametrize(("lag", "found_after"), LAGS.values(), ids=LAGS)
def test_a_late_event_is_found_at_the_promised_rung(lake, aws, worked, world, lag, found_after):
    """Each run sees the last hours again; the event shows up ``lag`` after its time."""
    queue, group = worked
    quarter = START + timedelta(minutes=15)
    ages = [timedelta(seconds=0), timedelta(minutes=6), timedelta(minutes=16), timedelta(hours=2, seconds=30)]
    ages += [timedelta(hours=6), timedelta(hours=24, seconds=30)]
    found_at = None
    is_there = False
    for age in ages:
        now = quarter + age
        if not is_there and age >= lag:
            world.log(group, [(899_000, "late")])
            is_there = True
        window = TimeWindow(START, now)
        collect(lake, aws, [queue], window, now=now)
        if found_at is None and "late" in lines(lake):
            found_at = age

    assert found_at is not None
    assert found_at <= found_after


def test_an_event_after_the_last_rung_is_found_when_the_window_is_sealed(lake, aws, worked, world, hour):
    queue, group = worked
    collect(lake, aws, [queue], hour, now=START + timedelta(days=2))
    world.log(group, [(2000, "thirteen days late")])
    collect(lake, aws, [queue], hour, now=START + timedelta(days=13))
    assert "thirteen days late" not in lines(lake)
    collect(lake, aws, [queue], hour, now=START + timedelta(days=13, minutes=1), seal=True)

    assert "thirteen days late" in lines(lake)
    assert [r["resource"] for r in rows(lake, "coverage") if r["is_sealed"] and r["source"] == "log_events"] == [group]


def test_an_event_stamped_ahead_of_time_is_read_with_an_open_end(lake, aws, worked, world):
    queue, group = worked
    now = START + timedelta(minutes=30)
    world.log(group, [(100 * 60_000, "from a clock that is fast"), (160 * 60_000, "three hours ahead")])
    collect(lake, aws, [queue], TimeWindow(START, now), now=now)

    assert lines(lake) == {"first", "from a clock that is fast"}
    assert {r["window_end_at"] for r in rows(lake, "coverage") if r["source"] == "log_events"} == {now}
