"""Idempotency tables around a work, in seconds: runs that ask them, rows of what they hold, and readings of them."""

import hashlib
import json

from forensics.clock import moment
from forensics.judging.guard_records import GuardRecords
from forensics.settings import Consumer, GuardTable, Queue, Settings
from tests.forensics.judging.plain import S, delivery

TABLE, KEY = "idempotency", "p-1"
ARN = "arn:aws:sqs:eu-west-1:123456789012:orders"
PLACE = {"account_id": "123456789012", "region": "eu-west-1"}


def run(at: float, effect: str = "yes", took_s: float = 5, **facts):
    """A run of 30 s at most that had one message of the work."""
    known = {
        "consumer": f"run {at}",
        "function_name": "charge",
        "business_keys": [KEY],
        "guard_table": TABLE,
        "function_timeout_s": 30,
        "run_started_at": int(at * S),
        "received_at": int(at * S),
        "run_ended_at": int((at + took_s) * S),
        "effect": effect,
        "basis": "returned",
        "effect_at": int((at + took_s) * S) if effect == "yes" else None,
    }
    return delivery(facts.pop("item_id", "m1"), **known | facts)


def digest(value: object, algorithm: str = "md5") -> str:
    return hashlib.new(algorithm, json.dumps(value).encode()).hexdigest()


def record(expires=3600.0, locked=30.0, status="COMPLETED", key=None, guarded="charge.app.pay", observed=9000, **more):
    """A record as Powertools writes it for the work's key; of a table of another form with ``guarded`` None."""
    key = key or (f"{guarded}#{digest(KEY)}" if guarded else KEY)
    return {
        "evidence_id": f"guard:{key}:{status}:{expires}:{locked}",
        **PLACE,
        "guard_table": TABLE,
        "record_key": key,
        "guarded_function": guarded,
        "record_status": status,
        "expires_at": None if expires is None else moment(int(expires * S)),
        "locked_until_at": None if locked is None else moment(int(locked * S)),
        "observed_at": moment(int(observed * S)),
        **more,
    }


def reading(at=9000.0, status="ok", **more):
    return (
        {"source": "guard_records", "resource": TABLE, "collected_at": moment(int(at * S)), "status": status}
        | PLACE
        | more
    )


def settings_row(deletes_expired: bool | None, **more):
    return {"guard_table": TABLE, "deletes_expired": deletes_expired} | PLACE | more


def guard_records(records=(), readings=(), tables=(), guard_s=None, **form) -> GuardRecords:
    said = Settings(
        functions=(Consumer(name="charge", guard_table=TABLE),),
        queues=(Queue("orders", guard_s=guard_s),),
        guard_tables=(GuardTable(TABLE, **form),),
    )
    return GuardRecords(said, records, tables, readings)
