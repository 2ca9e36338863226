"""Worker formats, identity across ids, guards, blind logs: small worlds written by hand."""

import json

from forensics.settings import Settings
from tests.spark_jobs import redriven
from tests.spark_jobs.small_lake import SmallLake, record, run, some_id

TASK, SHO, RAILS, SPRING, OWN = (some_id(n) for n in ("celery task", "shoryuken", "rails", "spring", "own format"))
LARAVEL = some_id("laravel one"), some_id("laravel two")
DEAD, BACK = some_id("dead"), some_id("redriven")
TWINS = some_id("twin one"), some_id("twin two")
HERE, THERE = some_id("key here"), some_id("key there")
EVENTS, OTHER_EVENT = (some_id("event once"), some_id("event twice")), some_id("another event")
LOST_RUN = some_id("lost run")
LOCKED, ABSORBED = some_id("locked"), some_id("absorbed")
SHIPPED = some_id("shipped twice")

SETTINGS = Settings.parse(
    r"""
[[worker]]
log_group = "/ecs/spring"
started = 'handling (?P<message_id>\S+)'
effect = 'stored (?P<message_id>\S+)'

[[worker]]
log_group = "/ecs/shipped"
started = 'handling (?P<message_id>\S+)'
effect = 'stored (?P<message_id>\S+)'

[[worker]]
log_group = "/ecs/rails"
effect = 'charged order=(?P<key>\S+)'

[[worker]]
log_group = "/ecs/own"
message_id = "$.sqs.id"
receive_count = "$.sqs.count"
started = '"event": "start"'
deleted = '"event": "deleted"'

[[queue]]
name = "here"
business_key = "$.payment_id"

[[queue]]
name = "there"
business_key = "$.payment_id"

[[function]]
name = "guarded"
effect = 'charged (?P<message_id>\S+)'
"""
    + redriven.SETTINGS
)


def sho(at_s: float, what: str) -> tuple[float, str]:
    return at_s, f"2026-11-20T12:00:{at_s:02.0f}Z 71 TID-ox9 ChargeWorker/sho/{SHO} INFO: {what}"


def rails(at_s: float, took_s: float, job: str) -> list[tuple[float, str]]:
    """Shoryuken hands a message to Active Job, whose job charges an order and names the message nowhere."""
    said = f"71 TID-ox9 ActiveJob::Wrapper/rails/{RAILS} INFO:"
    job_says = f"[ActiveJob] [ChargeJob] [{job}]"
    return [
        (at_s, f"{said} started at now"),
        (at_s + 0.1, f"{job_says} Performing ChargeJob (Job ID: {job}) from Shoryuken(rails) enqueued at now"),
        (at_s + took_s - 0.3, "charged order=o-1"),
        (at_s + took_s - 0.2, f"{job_says} Performed ChargeJob (Job ID: {job}) from Shoryuken(rails) in {took_s}ms"),
        (at_s + took_s, f"{said} completed in: {took_s} ms"),
    ]


def laravel(at_s: float, message_id: str, status: str) -> tuple[float, str]:
    fields = {
        "level": "info",
        "id": message_id,
        "uuid": some_id("one job"),
        "job": "App\\Jobs\\Charge",
        "status": status,
    }
    return at_s, json.dumps(fields | {"attempts": 1})


def own(at_s: float, event: str, count: int) -> tuple[float, str]:
    return at_s, json.dumps({"event": event, "sqs": {"id": OWN, "count": count}})


def world() -> SmallLake:
    lake = SmallLake()
    lake.queue("tasks", 1800)
    received, done = f"Task charge[{TASK}] received", f"Task charge[{TASK}] succeeded in 0.3s: None"
    lake.worker("tasks", (0, received), (1, done), (1802, received), (1803, done))
    lake.queue("sho")
    lake.worker("sho", sho(0, "started at now"), sho(40, "completed in: 40000 ms"))
    lake.worker("sho", sho(31, "started at now"), sho(33, "completed in: 2000 ms"), stream="app/2")
    lake.queue("rails")
    lake.worker("rails", *rails(0, 40, some_id("first job")), (41, "next"))
    lake.worker("rails", *rails(31, 2, some_id("first job")), stream="app/2")
    lake.queue("spring")
    lake.worker(
        "spring",
        (0, f"handling {SPRING}"),
        (1, f"stored {SPRING}"),
        (2, f"Error acknowledging in queue spring messages {SPRING} in 900ms"),
        (31, f"handling {SPRING}"),
        (32, f"stored {SPRING}"),
        kind=None,
    )
    lake.queue("shipped")
    said = f"2026-11-20 12:00:00,004 INFO handling {SHIPPED}", f"2026-11-20 12:00:01,010 INFO stored {SHIPPED}"
    lake.worker("shipped", (0, said[0]), (1, said[1]))
    lake.worker("shipped", (90, said[0]), (92, said[1]), stream="copy/app/1")
    lake.queue("own")
    lake.worker("own", own(0, "start", 1), own(1, "deleted", 1), own(31, "start", 2), own(32, "deleted", 2))
    lake.queue("jobs")
    lake.worker(
        "jobs",
        *(laravel(s, LARAVEL[n], word) for n in (0, 1) for s, word in ((n * 60, "starting"), (n * 60 + 1, "success"))),
    )
    lake.queue("ledger.fifo", most=1)
    dead = record(DEAD, 1, "ledger.fifo", "{}", 0, MessageGroupId="g", MessageDeduplicationId="order-1")
    back = record(BACK, 1, "ledger.fifo", "{}", 600, MessageGroupId="g", MessageDeduplicationId=DEAD)
    lake.function("ledger.fifo", "ledger", *run("l1", 1, 10, dead, status="timeout"), *run("l2", 601, 1, back))
    lake.queue("twins")
    twins = [record(one, 1, "twins", "same body", 0) for one in TWINS]
    lake.function("twins", "twins", *run("t1", 1, 1, twins[0]), *run("t2", 5, 1, twins[1]))
    for queue, one in (("here", HERE), ("there", THERE)):
        lake.queue(queue)
        lake.function(queue, queue, *run(queue, 1, 1, record(one, 1, queue, '{"payment_id": "p-1"}', 0)))
    lake.queue("events")
    for n, (one, event) in enumerate((*((one, "event 1") for one in EVENTS), (OTHER_EVENT, "event 2"))):
        body = {"Type": "Notification", "MessageId": some_id(event), "TopicArn": "arn:t", "Message": "{}", "n": n}
        lake.function(
            "events", "events", *run(f"e{n}", 10 * n + 1, 1, record(one, 1, "events", json.dumps(body), 10 * n))
        )
    lake.queue("guarded", 60, changed=None)
    first, second = (record(LOCKED, n, "guarded", "{}", 0) for n in (1, 2))
    again = [record(ABSORBED, n, "guarded", "{}", 0) for n in (1, 2)]
    busy = "IdempotencyAlreadyInProgressError: Execution already in progress with idempotency key: charge#1"
    lake.function(
        "guarded",
        "guarded",
        *run("g1", 1, 10, first, says=(f"charged {LOCKED}",), status="timeout"),
        *run("g2", 62, 1, second, says=(f"charged {LOCKED}",)),
        *run("g3", 100, 1, again[0], says=(f"charged {ABSORBED}",)),
        *run("g4", 161, 1, again[1], says=(busy,)),
    )
    lake.queue("blind")
    lake.function("blind", "blind", *run("b1", 1, 10, status="timeout"), *run("b2", 31, 10, status="timeout"))
    lake.queue("lost")
    lake.function("lost", "lost", (1, f"2026-11-20T12:00:01.000Z\t{LOST_RUN}\tERROR\tno answer from the card provider"))
    redriven.add_parcels(lake)
    return lake
