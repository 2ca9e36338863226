"""expired-handle: a worker slower than the visibility timeout, whose delete comes too late.

orders.fifo keeps the default visibility timeout of 30 s. Three jobs run longer: their work is done, DeleteMessage is
refused, and the next delivery does the work again. (A standard queue would have accepted the late delete.) One repeat
overlaps with the first run, one message is worked on three times, one comes back to the very worker that lost it.
"""

import json
import random
from datetime import datetime, timedelta

from lab.aws import EmbeddedAws
from lab.ids import Ids
from lab.laravel import LaravelWorker
from lab.metrics import dead_letter_metrics, queue_metrics
from lab.played import Played, truths_of
from lab.simulation import Delivery, QueueSpec, SimulatedQueue, play_out
from lab.world import World

NAME = "expired-handle"
ABOUT = "a Laravel worker slower than the 30 s visibility timeout, whose deletes come too late"

LENGTH = timedelta(hours=2)
ENDED_BEFORE_NOW = timedelta(minutes=10)
AGE = timedelta(days=140)
LOG_GROUP = "/ecs/orders-worker"
ORDERS = QueueSpec("orders.fifo", dead_letter_queue="orders-dlq.fifo", max_receive_count=5)

SLOW_JOBS: tuple[tuple[timedelta, tuple[float, ...]], ...] = (
    # when the order is sent, how long its job takes at each delivery (seconds)
    (timedelta(minutes=63), (43.2, 5.1)),  # the idle worker takes it at 30 s: both run at once
    (timedelta(minutes=66), (41.4, 46.3, 4.2)),  # the second delivery is too slow as well
    (timedelta(minutes=70), (45.5, 6.0)),  # both workers busy: it comes back to the worker that lost it
    (timedelta(minutes=70, seconds=20), (28.4,)),  # slow, yet in time: nothing comes of it
)

SETTINGS = r"""
[[worker]]
log_group = "/ecs/orders-worker"
queue = "orders.fifo"
format = "laravel"
effect = 'charged order_id=(?P<key>\S+) \{"job":"(?P<message_id>[0-9a-f-]{36})"'
effect_is_exhaustive = true
order = "sequential"

[[queue]]
name = "orders.fifo"
business_key = "$.data.order_id"
owner = "orders team"
"""

STORY = (
    "Two Laravel workers charge the orders of orders.fifo, which hides a received message for 30 s. The card provider "
    "turns slow, and three jobs need more than 40 s. Each charges its order, then asks SQS to delete the message and is "
    "told that the receipt handle has expired: the message had become visible again. Its next delivery charges the same "
    "order once more, one of them even a third time."
)


def play(aws: EmbeddedAws, now: datetime) -> Played:
    """Play the incident into ``aws``; it ends ten minutes before ``now``."""
    end = now.replace(second=0, microsecond=0) - ENDED_BEFORE_NOW
    start = end - LENGTH
    ids = Ids(NAME)
    chance = random.Random(NAME)
    queue = SimulatedQueue(ORDERS, ids)
    slow = _send_orders(queue, start, end, ids, chance)

    def takes_s(delivery: Delivery) -> float:
        planned = slow.get(delivery.message.message_id)
        return planned[delivery.receive_count - 1] if planned else chance.uniform(0.7, 5.5)

    queue_url = f"https://sqs.{aws.region}.amazonaws.com/{aws.account_id}/{ORDERS.name}"
    workers = [
        LaravelWorker(
            "App\\Jobs\\ChargeOrder", queue_url, takes_s, _charged, chance, f"worker/orders-worker/{ids.hex(32)}"
        )
        for _ in range(2)
    ]
    play_out([worker.works(queue, start) for worker in workers], until=end)

    world = World(aws, start - AGE)
    world.create_queue(ORDERS)
    world.create_log_group(LOG_GROUP)
    world.put_log_lines(LOG_GROUP, [line for worker in workers for line in worker.lines])
    world.put_metrics("AWS/SQS", queue_metrics(queue, start, end) + dead_letter_metrics(queue, start, end))
    return Played(
        scenario=NAME,
        story=STORY,
        queues=(ORDERS.name,),
        log_groups=(f"{LOG_GROUP}={ORDERS.name}",),
        settings_text=SETTINGS,
        window_start=start,
        window_end=end,
        truths=truths_of([queue]),
    )


def _charged(delivery: Delivery) -> str:
    message = delivery.message
    return (
        f'charged order_id={message.business_key} {{"job":"{message.message_id}","attempt":{delivery.receive_count}}}'
    )


def _send_orders(
    queue: SimulatedQueue, start: datetime, end: datetime, ids: Ids, chance: random.Random
) -> dict[str, tuple[float, ...]]:
    """Send an order every eleven seconds or so, fewer around the slow ones; return how long those take."""
    plan: dict[datetime, tuple[float, ...]] = {start + after: takes_s for after, takes_s in SLOW_JOBS}
    at = start
    times = []
    while at < end - timedelta(minutes=3):
        at += timedelta(seconds=chance.expovariate(1 / 11))
        if all(abs(at - slow_at) > timedelta(seconds=6) for slow_at in plan):
            times.append(at)
    sender_id = f"{ids.role_id()}:shop-frontend"
    slow = {}
    for at in sorted([*times, *plan]):
        order_id = f"ord-{ids.code(8)}"
        body = {
            "uuid": ids.message_id(),
            "displayName": "App\\Jobs\\ChargeOrder",
            "job": "Illuminate\\Queue\\CallQueuedHandler@call",
            "data": {"commandName": "App\\Jobs\\ChargeOrder", "order_id": order_id},
        }
        message = queue.send(
            at,
            json.dumps(body, separators=(",", ":")),
            sender_id=sender_id,
            business_key=order_id,
            group=f"customer-{chance.randrange(1000, 9999)}",
            deduplication_id=ids.hex(64),
        )
        if at in plan:
            slow[message.message_id] = plan[at]
    return slow
