"""What a collection would cost is known before it runs, from metrics, without reading a log or writing a row."""

from datetime import timedelta

import pytest

from cli.estimate import estimated
from forensics.settings import Consumer, GuardTable, Settings
from forensics.window import TimeWindow
from ingest.collect import collect
from ingest.estimate import PAGE_BYTES, GroupEstimate, TableEstimate, estimate
from ingest.setting_changes import CALLS
from tests.ingest.proxy import refuse, say
from tests.ingest.world import START


@pytest.mark.emulator
def test_calls_seconds_and_bytes_come_from_the_metrics_of_the_groups(world, lake, aws, proxy):
    queue = world.queue("orders")
    function = world.function("handle-order", [queue])
    group = f"/aws/lambda/{function}"
    for metric, value in (("IncomingBytes", 3.5 * PAGE_BYTES), ("IncomingLogEvents", 12_000.0)):
        world.client("cloudwatch").put_metric_data(
            Namespace="AWS/Logs",
            MetricData=[
                {
                    "MetricName": metric,
                    "Dimensions": [{"Name": "LogGroupName", "Value": group}],
                    "Timestamp": START + timedelta(minutes=minute),
                    "Value": value,
                }
                for minute in (0, 1)
            ],
        )
    window = TimeWindow(START, START + timedelta(hours=1))
    found = estimate(lake, aws, [queue], window, ["/ecs/quiet"], Settings(), START + timedelta(hours=2))

    assert found.groups == (GroupEstimate(group, 24_000, 7 * PAGE_BYTES), GroupEstimate("/ecs/quiet", None, None))
    assert (found.log_calls, found.seconds) == (8, 4.0)
    assert (found.events, found.bytes) == (24_000, 7 * PAGE_BYTES)
    assert found.metric_count > 10
    assert found.metric_calls == 1
    assert found.trail_calls == len(CALLS)
    assert found.gaps == (f"log group '{group}': not there", "log group '/ecs/quiet': not there")
    assert "logs:FilterLogEvents" not in proxy.calls
    assert not lake.root.exists()


@pytest.mark.emulator
def test_what_would_be_missing_is_named_and_a_queue_known_before_is_still_estimated(world, lake, aws, proxy):
    queue = world.queue("orders")
    function = world.function("handle-order", [queue])
    window, now = TimeWindow(START, START + timedelta(hours=1)), START + timedelta(hours=2)
    world.log(f"/aws/lambda/{function}", [(0, "hello")])
    collect(lake, aws, [queue], window, now=now)
    proxy.fail("lambda:*", refuse("AccessDeniedException"))
    proxy.fail("cloudwatch:*", refuse("AccessDeniedException"))
    found = estimate(lake, aws, [queue], window, [], Settings(), now)

    assert [group.log_group for group in found.groups] == [f"/aws/lambda/{function}"]
    assert {gap.split(":")[0] for gap in found.gaps} == {
        f"event source mappings of queue '{queue}'",
        f"settings of function '{function}'",
        f"metrics of '/aws/lambda/{function}'",
    }


@pytest.mark.emulator
def test_a_group_of_infrequent_access_costs_queries_and_scanned_bytes(world, lake, aws, proxy):
    queue = world.queue("orders")
    group = {"logGroupName": "/ecs/rare", "logGroupClass": "INFREQUENT_ACCESS"}
    proxy.fail("logs:DescribeLogGroups", say(logGroups=[group]))
    window = TimeWindow(START, START + timedelta(hours=1))
    found = estimate(lake, aws, [queue], window, ["/ecs/rare"], Settings(), START + timedelta(hours=2))

    assert found.groups == (GroupEstimate("/ecs/rare", None, None, is_infrequent=True),)
    assert (found.log_calls, found.query_calls) == (0, 1)
    assert any("Infrequent access: 1 query of Logs Insights" in line for line in estimated(found))


def asking_a_table(world) -> tuple[str, Settings]:
    """Return a queue and the settings of its function, which asks the table "idempotency"."""
    queue = world.queue("orders")
    consumer = Consumer(name=world.function("take-order", [queue]), guard_table="idempotency")
    return queue, Settings(functions=(consumer,), guard_tables=(GuardTable("idempotency"),))


@pytest.mark.emulator
def test_an_idempotency_table_costs_pages_and_read_capacity(world, lake, aws, proxy):
    queue, settings = asking_a_table(world)
    window, now = TimeWindow(START, START + timedelta(hours=1)), START + timedelta(hours=2)
    proxy.fail("dynamodb:DescribeTable", say(Table={"ItemCount": 40_000, "TableSizeBytes": 2 * PAGE_BYTES + 1}))
    found = estimate(lake, aws, [queue], window, [], settings, now)

    assert found.guard_tables == (TableEstimate("idempotency", 40_000, 2 * PAGE_BYTES + 1),)
    said = "  Idempotency table idempotency: 40,000 records, at most 3 pages in 4 s at our pace, 257 of its read capacity units."
    assert said in estimated(found)
    assert "dynamodb:Scan" not in proxy.calls


@pytest.mark.emulator
def test_an_idempotency_table_that_may_not_be_read_is_a_gap_of_the_estimate(world, lake, aws, proxy):
    queue, settings = asking_a_table(world)
    window, now = TimeWindow(START, START + timedelta(hours=1)), START + timedelta(hours=2)
    proxy.fail("dynamodb:DescribeTable", refuse("AccessDeniedException"))
    found = estimate(lake, aws, [queue], window, [], settings, now)

    assert found.guard_tables == ()
    assert any("idempotency" in gap and "denied" in gap for gap in found.gaps)


def test_no_more_of_a_table_is_counted_than_is_read():
    most = TableEstimate("t", None, 200 * PAGE_BYTES)

    assert (most.calls, most.units, most.seconds) == (60, 60 * 128, 118)
    assert (TableEstimate("t", 0, None).calls, TableEstimate("t", 0, None).units) == (1, 0)


SIZES = {
    "nothing known": (None, None, 1),
    "nothing logged": (0, 0, 1),
    "one full page of events": (10_000, 5, 1),
    "one event more": (10_001, 5, 2),
    "bytes decide": (10, 3 * PAGE_BYTES + 1, 4),
}


@pytest.mark.parametrize(("events", "size", "calls"), SIZES.values(), ids=SIZES)
def test_a_page_holds_so_many_events_and_so_many_bytes(events, size, calls):
    assert GroupEstimate("g", events, size).calls == calls
