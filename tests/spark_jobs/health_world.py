"""A few rows whose health is known by hand, for a team in Tokyo: zones, weeks, readings that overlap, what was not read."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import polars as pl

from forensics.counting.periods import of_days
from forensics.known import Known
from forensics.lake import to_arrow
from forensics.tables import Table
from forensics.tables import evidence as E
from forensics.tables import findings as T

TOKYO = ZoneInfo("Asia/Tokyo")
ACCOUNT = "arn:aws:sqs:eu-west-1:111122223333:"
ORDERS, DEAD, CARTS = ACCOUNT + "orders", ACCOUNT + "orders-dlq", ACCOUNT + "carts"
GROUP = "/aws/lambda/ship"
SUNDAY = datetime(2026, 11, 15, 14, 0, tzinfo=UTC)  # 23:00 in Tokyo
MONDAY = datetime(2026, 11, 15, 15, 0, tzinfo=UTC)  # midnight in Tokyo: the next day, and the next week
UNTIL = MONDAY + timedelta(hours=12)


def frame(table: Table, rows: list[dict]) -> pl.DataFrame:
    """Return rows as a frame in the columns of a table; what a row lacks is null."""
    found = pl.from_arrow(to_arrow(table, rows))
    assert isinstance(found, pl.DataFrame)
    return found


def in_days(parts: list[pl.DataFrame], zone: ZoneInfo, until: datetime | None) -> pl.DataFrame:
    """Return the measures of parts, each counted by itself."""
    return pl.concat([of_days(part, zone, until) for part in parts])


def whole(table: Table, row: dict) -> dict:
    """Return a row with every column of its table, as the lake gives it back."""
    return {name: row.get(name) for name in table.column_names}


def minute(number: int) -> datetime:
    """Return a minute of Monday."""
    return MONDAY + timedelta(minutes=number)


def point(metric, at, value, period_s=60, resource="orders", statistic="Sum", collected=0, namespace="AWS/SQS"):
    """One reading of a metric."""
    return {
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
    """One reading of a metric that is a level."""
    return point(metric, at, value, statistic="Maximum", **more)


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
    """One reading of a source."""
    row = {
        "evidence_id": f"coverage:{source}:{resource}:{start:%d%H}:{status}",
        "source": source,
        "resource": resource,
        "queue_arn": queue_arn,
        "window_start_at": start,
        "window_end_at": start + timedelta(hours=hours),
        "status": status,
        "collected_at": UNTIL,
    }
    return whole(E.COVERAGE, row)


def queue(arn, **more):
    """One state of a queue."""
    row = {
        "evidence_id": f"queue:{arn}",
        "queue_arn": arn,
        "queue_name": arn.rpartition(":")[2],
        "is_fifo": False,
        "visibility_timeout_s": 20,
        "message_retention_s": 345_600,
        "observed_at": UNTIL,
        **more,
    }
    return whole(E.QUEUE_SETTINGS, row)


CONSUMER = whole(
    E.CONSUMERS,
    {
        "evidence_id": "consumer:1",
        "queue_arn": ORDERS,
        "queue_name": "orders",
        "log_group": GROUP,
        "kind": "lambda",
        "function_name": "ship",
    },
)
FUNCTION = whole(
    E.FUNCTION_SETTINGS,
    {
        "evidence_id": "function:1",
        "function_arn": "arn:aws:lambda:eu-west-1:111122223333:function:ship",
        "function_name": "ship",
        "timeout_s": 30,
        "log_group": GROUP,
        "log_format": "Text",
        "observed_at": UNTIL,
    },
)
KNOWN = Known(
    queue_arn_by_name={"orders": ORDERS, "orders-dlq": DEAD, "carts": CARTS},
    queue_arn_by_group={GROUP: ORDERS},
    consumers=[CONSUMER],
    coverage=[
        coverage("metric_points", "orders", ORDERS, SUNDAY, 3),
        coverage("log_events", GROUP, ORDERS, SUNDAY, 2),
        coverage("log_events", GROUP, ORDERS, SUNDAY, 1),  # inside the one above
        coverage("log_events", GROUP, ORDERS, MONDAY + timedelta(hours=5), 1, "denied"),
        coverage("metric_points", "carts", CARTS, MONDAY, 24),
    ],
    queue_settings=[
        queue(ORDERS, dead_letter_queue_arn=DEAD, max_receive_count=2),
        queue(DEAD, message_retention_s=1_209_600),
        queue(CARTS),
    ],
    function_settings=[FUNCTION],
)


def delivery(item, index, at, count=None, **more):
    """One delivery of a message of orders, handled well by a Lambda function."""
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


def unlogged(item, index, at=None):
    """One receive that only the receive count shows."""
    nobody = dict.fromkeys(("consumer", "consumer_kind", "function_name", "log_group", "run_status"))
    return delivery(item, index, at, is_seen=False, **nobody)


DELIVERIES = [
    delivery("a", 1, SUNDAY),
    delivery("a", 2, MONDAY),
    delivery("b", 1, minute(1), started_at=minute(1), finished_at=minute(1) + timedelta(seconds=4)),
    delivery("c", 1, minute(2), ended_by="visibility_expired", run_status="error"),
    delivery("c", 2, minute(3), ended_by="dead_lettered", run_status="timeout"),
    delivery("d", 1, minute(4), delete_status="expired", ended_by="delete_refused"),
    delivery("e", 1, minute(5), ended_by="dead_lettered"),
    unlogged("g", 1),
    delivery("g", 2, minute(95)),
    delivery("f", 3, minute(90), sent_at=SUNDAY - timedelta(hours=1), ended_by="visibility_expired"),
]


def invocation(name, at, duration_ms, status="success", **more):
    """One invocation of the function."""
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
        **more,
    }


INVOCATIONS = [
    invocation("sunday", SUNDAY, 90),
    *[invocation(f"run{n}", minute(n), 100 * n) for n in range(1, 100)],
    invocation("late", minute(100), 30_000, "timeout"),
]


def verdict(item, name, at, *ids):
    """The verdict on a message of orders."""
    return {
        "queue_arn": ORDERS,
        "item_id": item,
        "work_id": item,
        "verdict": name,
        "first_received_at": at,
        "evidence_ids": list(ids),
    }


MESSAGES = [
    verdict("a", "confirmed", SUNDAY, "log:a:1"),
    verdict("c", "possible", minute(2)),
    verdict("d", "absorbed", minute(4)),
]
REDELIVERIES = [
    {"queue_arn": ORDERS, "item_id": "e", "delivery_index": index, "cause": cause, "evidence_ids": []}
    for index, cause in ((3, "throttled"), (2, "slow_handler"))
]
READINESS = [
    whole(
        T.LOGGING_READINESS,
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
        },
    )
]
