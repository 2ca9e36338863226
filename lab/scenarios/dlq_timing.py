"""dlq-timing: when a message goes to the dead-letter queue, and what it costs to send it back from there.

maxReceiveCount is 2, and the function fails on every webhook of some customers. Nothing is moved at the second failure:
the third receive moves it. One of the failing webhooks had been accepted by its receiver each time, so redriving it
delivers it a third time; one was turned away before it was sent, and may be redriven.
"""

import json
import random
from collections.abc import Generator
from datetime import datetime, timedelta

from lab.aws import EmbeddedAws
from lab.functions import HandlerError, Run, SimulatedFunction
from lab.ids import Ids
from lab.metrics import dead_letter_metrics, function_metrics, queue_metrics
from lab.played import Played, truths_of
from lab.simulation import QueueSpec, SimulatedQueue, play_out
from lab.world import World

NAME = "dlq-timing"
ABOUT = "a consumer that always fails: nothing is moved at the second failure, the third receive moves it"

LENGTH = timedelta(hours=1)
ENDED_BEFORE_NOW = timedelta(minutes=10)
AGE = timedelta(days=80)
WEBHOOKS = QueueSpec("webhooks", visibility_timeout_s=60, dead_letter_queue="webhooks-dlq", max_receive_count=2)
REFUSED_AFTER_MIN = (21.0, 23.5)
"""Webhooks whose receiver refuses the connection: nothing is delivered."""
UNREADABLE_AFTER_MIN = (27.0,)
"""Webhooks that are accepted, and whose receiver then answers with something that the function cannot read."""
BUSY_AFTER_MIN = (31.0,)
"""Webhooks whose receiver is known to be busy: the function does not try, and gives them back in its response."""

SETTINGS = r"""
[[function]]
name = "deliver-webhook"
effect = 'delivered webhook_id=(?P<key>\S+)'
effect_is_exhaustive = true
started = 'delivering (?P<message_id>\S+)'
order = "sequential"

[[queue]]
name = "webhooks"
business_key = "$.webhook_id"
owner = "integrations team"
"""

STORY = (
    "webhooks allows two receives. Two webhooks meet a closed port and fail twice; one is accepted by its receiver both "
    "times, and the function fails on the answer; one is given back untried, because its receiver is known to be busy. At "
    "the second failure nothing moves: the messages stay hidden for "
    "their 60 s, and the receive after that moves them to webhooks-dlq. Redriving the third would deliver it again, redriving the fourth is safe."
)

CODE = '''\
import json
import logging

logging.getLogger().setLevel(logging.INFO)

def handler(event, context):
    print(json.dumps(event))
    failed = []
    for record in event["Records"]:
        webhook = json.loads(record["body"])
        if is_busy(webhook):
            failed.append({"itemIdentifier": record["messageId"]})
            continue
        logging.info("delivering %s", record["messageId"])
        answer = post(webhook)
        logging.info("delivered webhook_id=%s", webhook["webhook_id"])
        json.loads(answer)
    response = {"batchItemFailures": failed}
    if failed:
        print(json.dumps(response))
    return response

def is_busy(webhook):
    """Say whether the receiver asked to be left alone; the lab's never does."""
    return False

def post(webhook):
    """Ask the receiver; the lab has none."""
    return "{}"
'''


def play(aws: EmbeddedAws, now: datetime) -> Played:
    """Play the incident into ``aws``; it ends ten minutes before ``now``."""
    end = now.replace(second=0, microsecond=0) - ENDED_BEFORE_NOW
    start = end - LENGTH
    ids = Ids(NAME)
    chance = random.Random(NAME)
    queue = SimulatedQueue(WEBHOOKS, ids)
    refused = {start + timedelta(minutes=m) for m in REFUSED_AFTER_MIN}
    busy = {start + timedelta(minutes=m) for m in BUSY_AFTER_MIN}
    unreadable = {start + timedelta(minutes=m) for m in UNREADABLE_AFTER_MIN}
    sender_id = f"{ids.role_id()}:event-bus"
    for at in sorted([*_arrivals(start, end, chance), *refused, *unreadable, *busy]):
        webhook_id = f"whk-{ids.code(9)}"
        body = json.dumps({"webhook_id": webhook_id, "event": chance.choice(("paid", "shipped", "returned"))})
        queue.send(at, body, sender_id=sender_id, business_key=webhook_id)

    def deliver(run: Run) -> Generator[float, None, None]:
        yield 0.003
        run.prints(json.dumps(run.event()))
        for delivery in run.deliveries:
            if delivery.message.sent_at in busy:
                run.gives_back(delivery)
                continue
            run.logs(f"delivering {delivery.message.message_id}")
            yield chance.uniform(0.1, 0.6)
            if delivery.message.sent_at in refused:
                raise HandlerError("ConnectionRefusedError", "[Errno 111] Connection refused")
            run.does_the_work_of(delivery)
            run.logs(f"delivered webhook_id={delivery.message.business_key}")
            yield 0.01
            if delivery.message.sent_at in unreadable:
                raise HandlerError("JSONDecodeError", "Expecting value: line 1 column 1 (char 0)")

    function = SimulatedFunction(
        "deliver-webhook", aws.region, aws.account_id, deliver, ids, chance, timeout_s=10, batch_size=1
    )
    play_out(function.environments(queue, start, 2), until=end)

    world = World(aws, start - AGE)
    world.create_function(
        function, world.create_queue(WEBHOOKS), CODE, FunctionResponseTypes=["ReportBatchItemFailures"]
    )
    world.put_log_lines(function.log_group, function.lines)
    world.put_metrics("AWS/SQS", queue_metrics(queue, start, end) + dead_letter_metrics(queue, start, end))
    world.put_metrics("AWS/Lambda", function_metrics(function, start, end))
    return Played(
        scenario=NAME,
        story=STORY,
        queues=(WEBHOOKS.name,),
        log_groups=(),
        settings_text=SETTINGS,
        window_start=start,
        window_end=end,
        truths=truths_of([queue]),
    )


def _arrivals(start: datetime, end: datetime, chance: random.Random) -> list[datetime]:
    """Return when healthy webhooks are sent: one every eight seconds or so, to the millisecond."""
    found, at = [], start
    while at < end - timedelta(minutes=2):
        at += timedelta(seconds=chance.expovariate(1 / 8))
        found.append(at.replace(microsecond=at.microsecond // 1000 * 1000))
    return found
