"""Queue health from a few rows whose answer is known by hand: zones, weeks, readings that overlap, what was not read."""

from datetime import UTC, datetime, timedelta

import pytest

from forensics.lake import Lake
from forensics.settings import Settings
from forensics.tables import findings as T
from forensics.tables.evidence import CONSUMERS, COVERAGE, FUNCTION_SETTINGS, METRIC_POINTS, QUEUE_SETTINGS
from spark_jobs.inputs import read_inputs
from spark_jobs.queue_health import health_periods, queue_health, queue_weeks
from spark_jobs.session import spark_schema
from spark_jobs.setting_findings import setting_findings

pytestmark = pytest.mark.spark

ACCOUNT = "arn:aws:sqs:eu-west-1:111122223333:"
ORDERS, DEAD, CARTS = ACCOUNT + "orders", ACCOUNT + "orders-dlq", ACCOUNT + "carts"
GROUP = "/aws/lambda/ship"
HERE = {"account_id": "111122223333", "region": "eu-west-1"}
SUNDAY = datetime(2026, 11, 15, 14, 0, tzinfo=UTC)  # 23:00 in Tokyo
MONDAY = datetime(2026, 11, 15, 15, 0, tzinfo=UTC)  # midnight in Tokyo: the next day, and the next week
UNTIL = MONDAY + timedelta(hours=12)


def point(metric, at, value, period_s=60, resource="orders", statistic="Sum", collected=0, namespace="AWS/SQS"):
    return HERE | {
        "evidence_id": f"metric:{resource}:{metric}:{at:%d%H%M}:{period_s}:{value}",
        "namespace": namespace,
        "metric": metric,
        "resource": resource,
        "statistic": statistic,
        "period_s": period_s,
        "point_at": at,
        "value": float(value),
        "collected_at": UNTIL + timedelta(hours=collected),
    }


def level(metric, at, value, **more):
    return point(metric, at, value, statistic="Maximum", **more)


def minute(number):
    return MONDAY + timedelta(minutes=number)


POINTS = [
    point("NumberOfMessagesSent", SUNDAY, 3),
    point("NumberOfMessagesSent", minute(0), 5),
    point("NumberOfMessagesSent", minute(1), 7),
    # The same minutes, read again when they were older: one sum for five minutes.
    point("NumberOfMessagesSent", minute(0), 12, period_s=300, collected=900),
    point("NumberOfMessagesReceived", minute(0), 11),
    point("NumberOfMessagesReceived", minute(0), 13, collected=1),  # revised
    point("NumberOfMessagesDeleted", minute(0), 10),
    *[level("ApproximateAgeOfOldestMessage", minute(n), n) for n in range(100)],
    level("ApproximateNumberOfMessagesVisible", minute(0), 4),
    level("ApproximateNumberOfMessagesVisible", minute(9), 2),
    # The dead-letter queue: a baseline, two more, one taken out, one more.
    *[
        level("ApproximateNumberOfMessagesVisible", minute(n), v, resource="orders-dlq")
        for n, v in enumerate((1, 3, 2, 3))
    ],
    point("Throttles", minute(3), 2, resource="ship", namespace="AWS/Lambda"),
    point("Throttles", minute(70), 4, resource="ship", namespace="AWS/Lambda"),
]


def coverage(source, resource, queue_arn, start, hours, status="ok"):
    return HERE | {
        "evidence_id": f"coverage:{source}:{resource}:{start:%d%H}:{status}",
        "source": source,
        "resource": resource,
        "queue_arn": queue_arn,
        "window_start_at": start,
        "window_end_at": start + timedelta(hours=hours),
        "status": status,
        "collected_at": UNTIL,
    }


COVERED = [
    coverage("metric_points", "orders", ORDERS, SUNDAY, 3),
    coverage("log_events", GROUP, ORDERS, SUNDAY, 2),
    coverage("log_events", GROUP, ORDERS, SUNDAY, 1),  # inside the one above
    coverage("log_events", GROUP, ORDERS, MONDAY + timedelta(hours=5), 1, "denied"),
    coverage("metric_points", "carts", CARTS, MONDAY, 24),
]


def queue(arn, **more):
    return HERE | {
        "evidence_id": f"queue:{arn}",
        "queue_arn": arn,
        "queue_name": arn.rpartition(":")[2],
        "is_fifo": False,
        "visibility_timeout_s": 20,
        "message_retention_s": 345_600,
        "observed_at": UNTIL,
        **more,
    }


EVIDENCE = {
    METRIC_POINTS: POINTS,
    COVERAGE: COVERED,
    QUEUE_SETTINGS: [
        queue(ORDERS, dead_letter_queue_arn=DEAD, max_receive_count=2),
        queue(DEAD, message_retention_s=1_209_600),
        queue(CARTS),
    ],
    CONSUMERS: [
        HERE
        | {
            "evidence_id": "consumer:1",
            "queue_arn": ORDERS,
            "queue_name": "orders",
            "log_group": GROUP,
            "kind": "lambda",
            "function_name": "ship",
            "found_by": "mapping",
        }
    ],
    FUNCTION_SETTINGS: [
        HERE
        | {
            "evidence_id": "function:1",
            "function_arn": "arn:aws:lambda:eu-west-1:111122223333:function:ship",
            "function_name": "ship",
            "timeout_s": 30,
            "log_group": GROUP,
            "log_format": "Text",
            "observed_at": UNTIL,
        }
    ],
}


def delivery(item, index, at, count=None, **more):
    return {
        "queue_arn": ORDERS,
        "queue": "orders",
        "item_id": item,
        "delivery_index": index,
        "message_id": item,
        "receive_count": index if count is None else count,
        "is_seen": True,
        "consumer": f"run-{item}-{index}",
        "consumer_kind": "lambda",
        "function_name": "ship",
        "log_group": GROUP,
        "received_at": at,
        "ended_by": "deleted",
        "run_status": "success",
        "batch_count": 1,
        "evidence_ids": [f"log:{item}:{index}"],
        **more,
    }


DELIVERIES = [
    delivery("a", 1, SUNDAY),
    delivery("a", 2, MONDAY),
    delivery("b", 1, minute(1), started_at=minute(1), finished_at=minute(1) + timedelta(seconds=4)),
    delivery("c", 1, minute(2), ended_by="visibility_expired", run_status="error"),
    delivery("c", 2, minute(3), ended_by="dead_lettered", run_status="timeout"),
    delivery("d", 1, minute(4), delete_status="expired", ended_by="delete_refused"),
    delivery("e", 1, minute(5), ended_by="dead_lettered"),
    delivery("g", 1, None, is_seen=False, consumer=None, consumer_kind=None, function_name=None, log_group=None),
    delivery("g", 2, minute(95)),
    delivery("f", 3, minute(90), sent_at=SUNDAY - timedelta(hours=1), ended_by="visibility_expired"),
]


def invocation(name, at, duration_ms, status="success"):
    return {
        "invocation_id": name,
        "log_group": GROUP,
        "function_name": "ship",
        "queue_arn": ORDERS,
        "started_at": at,
        "duration_ms": duration_ms,
        "end_status": status,
        "message_count": 1,
        "evidence_ids": [f"log:{name}"],
    }


RUNS = [
    invocation("sunday", SUNDAY, 90),
    *[invocation(f"run{n}", minute(n), 100 * n) for n in range(1, 100)],
    invocation("late", minute(100), 30_000, "timeout"),
]
MESSAGES = [
    {
        "queue_arn": ORDERS,
        "item_id": "a",
        "verdict": "confirmed",
        "first_received_at": SUNDAY,
        "evidence_ids": ["log:a:1"],
    },
    {"queue_arn": ORDERS, "item_id": "c", "verdict": "possible", "first_received_at": minute(2), "evidence_ids": []},
    {"queue_arn": ORDERS, "item_id": "d", "verdict": "absorbed", "first_received_at": minute(4), "evidence_ids": []},
]
REDELIVERIES = [
    {"queue_arn": ORDERS, "item_id": "e", "delivery_index": 2, "cause": "throttled", "evidence_ids": []},
]
READINESS = [
    {
        "queue_arn": ORDERS,
        "queue": "orders",
        "log_group": GROUP,
        "function_name": "ship",
        "level": "partial",
        "sentence": "101 of 101 handlings name their messages; missing: the effect.",
        "handling_count": 101,
        "named_count": 101,
        "counted_count": 101,
        "missing": ["the effect"],
        "python_lines": ["print('done')"],
        "node_lines": ["console.log('done')"],
        "evidence_ids": ["log:readiness"],
    }
]


@pytest.fixture(scope="module")
def found(spark, tmp_path_factory):
    """The tables of the world above, for a team in Tokyo."""
    lake = Lake(tmp_path_factory.mktemp("health") / "lake")
    for table, rows in EVIDENCE.items():
        lake.append(table, rows, "test|health")
    settings = Settings.parse('[team]\nzone = "Asia/Tokyo"')
    inputs = read_inputs(spark, lake, settings, lake.versions(), None)

    def frame(table, rows):
        return spark.createDataFrame(
            [tuple(row.get(c) for c in table.column_names) for row in rows], spark_schema(table)
        )

    deliveries = frame(T.DELIVERIES, DELIVERIES)
    periods = health_periods(
        deliveries,
        frame(T.INVOCATIONS, RUNS),
        frame(T.MESSAGES, MESSAGES),
        frame(T.REDELIVERIES, REDELIVERIES),
        inputs,
        UNTIL,
    ).cache()
    days = {(r["queue"], r["day"]): r.asDict() for r in queue_health(periods, inputs).collect()}
    weeks = {(r["queue"], r["week"]): r.asDict() for r in queue_weeks(periods, inputs).collect()}
    ends = deliveries.where("ended_by is null or ended_by <> 'deleted'")
    found = setting_findings(periods, ends, frame(T.LOGGING_READINESS, READINESS), inputs, UNTIL)
    checks = {(r["queue"], r["code"]): r.asDict() for r in found.collect()}
    periods.unpersist()
    return days, weeks, checks


@pytest.fixture
def monday(found):
    return found[0]["orders", "2026-11-16"]


def test_days_and_weeks_begin_at_midnight_of_the_teams_zone(found):
    days, weeks, _ = found

    assert set(days) == {
        ("orders", "2026-11-15"),
        ("orders", "2026-11-16"),
        ("orders-dlq", "2026-11-16"),
        ("carts", "2026-11-16"),
    }
    assert {w for q, w in weeks if q == "orders"} == {"2026-W46", "2026-W47"}
    assert (weeks["orders", "2026-W47"]["starts_at"].astimezone(UTC), weeks["orders", "2026-W47"]["zone"]) == (
        MONDAY,
        "Asia/Tokyo",
    )
    assert weeks["orders", "2026-W47"]["ends_at"].astimezone(UTC) == MONDAY + timedelta(days=7)


def test_minutes_that_were_read_twice_count_once_and_a_revised_value_replaces_the_old(monday, found):
    assert (monday["sent_count"], monday["received_count"], monday["deleted_count"]) == (12, 13, 10)
    assert found[0]["orders", "2026-11-15"]["sent_count"] == 3


def test_levels_are_the_highest_and_the_95th_percentile(monday):
    assert (monday["age_max_s"], monday["age_p95_s"], monday["backlog_max_count"]) == (99, 94, 4)
    assert monday["in_flight_max_count"] is None


def test_a_dead_letter_queue_gains_what_its_level_rose(monday, found):
    assert monday["dead_letter_rise_count"] == 3
    assert found[0]["orders-dlq", "2026-11-16"]["is_dead_letter_queue"]
    assert not monday["is_dead_letter_queue"]


def test_deliveries_are_counted_by_what_became_of_them(monday, found):
    counts = {name: monday[f"{name}_count"] for name in ("delivery", "redelivery", "item", "unseen", "expired_handle")}

    assert counts == {"delivery": 9, "redelivery": 4, "item": 5, "unseen": 1, "expired_handle": 1}
    assert monday["dead_lettered_count"] == 2
    assert monday["dead_letter_reasons"] == ["function_timeout=1", "throttled=1"]
    assert found[1]["orders", "2026-W46"]["item_count"] == 1


def test_a_message_counts_on_the_day_it_was_first_received(monday, found):
    sunday = found[0]["orders", "2026-11-15"]

    assert (sunday["twice_at_least"], sunday["twice_at_most"]) == (1, 1)
    assert (monday["twice_at_least"], monday["twice_at_most"], monday["stopped_count"]) == (0, 1, 1)


def test_poison_that_the_age_metric_hides_has_its_true_age(monday):
    assert (monday["poison_count"], monday["poison_age_s"]) == (1, int((minute(90) - SUNDAY).total_seconds()) + 3600)


def test_runs_have_percentiles_and_ends(monday):
    assert (monday["run_count"], monday["timeout_count"], monday["throttle_count"]) == (100, 1, 6)
    assert (monday["handler_p50_ms"], monday["handler_p95_ms"], monday["handler_max_ms"]) == (5050, 9505, 30_000)
    assert monday["item_p99_ms"] == 4000


def test_seconds_read_leave_out_what_was_refused_and_count_overlaps_once(monday, found):
    assert (monday["metrics_read_s"], monday["logs_read_s"]) == (7200, 3600)
    assert found[0]["orders", "2026-11-15"]["logs_read_s"] == 3600


def test_a_queue_without_logs_or_points_is_unknown_and_not_zero(found):
    carts = found[0]["carts", "2026-11-16"]

    assert (carts["metrics_read_s"], carts["logs_read_s"]) == (86_400, 0)
    assert {carts[c] for c in ("sent_count", "delivery_count", "timeout_count", "twice_at_least", "age_max_s")} == {
        None
    }


def test_every_row_cites_evidence(found):
    days, weeks, checks = found

    assert all(r["evidence_ids"] for r in (*days.values(), *weeks.values()))
    assert all(r["evidence_ids"] for r in checks.values() if r["status"] != "unknown")
    assert "log:late" in weeks["orders", "2026-W47"]["evidence_ids"]


def test_settings_are_checked_against_what_was_observed(found):
    checks = found[2]
    failed = {key: row["severity"] for key, row in checks.items() if row["status"] == "fails"}

    assert failed == {
        ("orders", "visibility_below_timeout"): "critical",
        ("orders", "max_receive_count"): "warning",
        ("orders", "run_near_timeout"): "critical",
        ("orders", "handling_outgrows_visibility"): "warning",
        ("orders", "logging_readiness"): "note",
        ("carts", "dead_letter_queue_missing"): "warning",
    }
    assert checks["orders", "visibility_below_timeout"]["evidence_ids"] == ["function:1", "queue:" + ORDERS]
    assert checks["orders", "logging_readiness"]["sentence"] == READINESS[0]["sentence"].rstrip(".")
    assert "print('done')" in checks["orders", "logging_readiness"]["advice"]
    assert "log:readiness" in checks["orders", "logging_readiness"]["evidence_ids"]
    assert "1 run of 101 hit the function timeout 30 s" in checks["orders", "run_near_timeout"]["sentence"]


def test_a_mapping_that_was_not_read_is_unknown(found):
    unknown = {code for (name, code), row in found[2].items() if name == "orders" and row["status"] == "unknown"}

    assert unknown == {"drift", "partial_responses", "concurrency_limit", "mapping_metrics_off"}
