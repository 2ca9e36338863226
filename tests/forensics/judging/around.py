"""Rows of evidence around a work, in minutes after noon, for tests of what judging asks of its surroundings."""

from datetime import UTC, datetime, timedelta

from forensics.clock import micros

ACCOUNT = "arn:aws:sqs:eu-west-1:111122223333:"
PAYMENTS, MAILS, DEAD = ACCOUNT + "payments", ACCOUNT + "mails", ACCOUNT + "dead"
CHARGE, MAILER = "/aws/lambda/charge", "mailer"
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def moment(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


def at(minutes: float) -> int:
    return micros(moment(minutes))


def consumer(queue=PAYMENTS, log_group=CHARGE, kind="lambda", function="charge"):
    return {"queue_arn": queue, "log_group": log_group, "kind": kind, "function_name": function}


def read(start, end, resource=CHARGE, source="log_events", status="ok", collected=10_000, provisional=False):
    return {
        "source": source,
        "resource": resource,
        "status": status,
        "window_start_at": moment(start),
        "window_end_at": moment(end),
        "is_provisional": provisional,
        "collected_at": moment(collected),
    }


def point(minutes, metric="Throttles", resource="charge", value=1.0, period_s=60):
    return {
        "evidence_id": f"metric:{metric}:{minutes}",
        "account_id": "111122223333",
        "region": "eu-west-1",
        "metric": metric,
        "resource": resource,
        "point_at": moment(minutes),
        "period_s": period_s,
        "value": value,
    }


def depth(minutes, value=1.0, resource="dead"):
    return point(minutes, "ApproximateNumberOfMessagesVisible", resource, value)


def poll(minutes, metric="NumberOfEmptyReceives", resource="payments", value=1.0, **more):
    return point(minutes, metric, resource, value) | more


def queue(arn=PAYMENTS, minutes=-600, visibility_s=120, dead=DEAD, **more):
    return {
        "evidence_id": f"queue:{arn}:{minutes}",
        "queue_arn": arn,
        "queue_name": arn.rpartition(":")[2],
        "observed_at": moment(minutes),
        "last_modified_at": None,
        "visibility_timeout_s": visibility_s,
        "is_fifo": arn.endswith(".fifo"),
        "dead_letter_queue_arn": dead,
        "max_receive_count": 3 if dead else None,
        **more,
    }


def function(minutes=-600, level=None, timeout_s=30):
    return {
        "evidence_id": f"function:{minutes}",
        "function_name": "charge",
        "log_group": CHARGE,
        "observed_at": moment(minutes),
        "timeout_s": timeout_s,
        "system_log_level": level,
    }


def task(began, observed, status="COMPLETED", destination=None):
    return {
        "evidence_id": f"move:{began}:{observed}:{status}",
        "source_arn": DEAD,
        "destination_arn": destination,
        "started_at": moment(began),
        "observed_at": moment(observed),
        "status": status,
    }
