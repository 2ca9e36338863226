"""expired-handle, live and ten times faster: workers slower than a visibility timeout of 3 s, whose deletes are refused."""

import json
import random
import time
import uuid
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import ClientError

from lab.aws import EmbeddedAws
from lab.laravel import LaravelWorker
from lab.live.workers import run_workers
from lab.live.world import LiveWorld, as_told, body_of
from lab.played import Played
from lab.scenarios import expired_handle
from lab.simulation import Delivery, QueueSpec
from lab.world import World

ORDERS = QueueSpec("orders.fifo", visibility_timeout_s=3, dead_letter_queue="orders-dlq.fifo", max_receive_count=5)
SLOW_S, QUICK_S = 4.3, 0.1
SLOW_ORDER, SLOW_PLACE = "ord-slow", 2


def play(aws: EmbeddedAws, slower: int = 1) -> Played:
    """Play it in real time; takes about 10 s, its timeouts ``slower`` times as long. Raises LivePlayError."""
    world = LiveWorld(aws)
    queue = replace(ORDERS, visibility_timeout_s=ORDERS.visibility_timeout_s * slower)
    url = world.create_queue(queue)
    World(aws, world.started_at).create_log_group(expired_handle.LOG_GROUP)
    workers = [_Worker(world, f"worker/orders-worker/{uuid.uuid4().hex}", url, SLOW_S * slower) for _ in range(2)]
    orders = [SLOW_ORDER if n == SLOW_PLACE else f"ord-{uuid.uuid4().hex[:8]}" for n in range(6)]
    with world.measured(queue.name, str(queue.dead_letter_queue)):
        for order_id in orders:
            world.send(queue.name, [(_order(order_id), order_id)], f"customer-{order_id}")
        run_workers(world, url, [w.handle for w in workers], lambda: world.wait_until_empty(queue.name, 120 * slower))
    world.put_log_lines(expired_handle.LOG_GROUP, [line for worker in workers for line in worker.writer.lines])
    played = world.played(
        expired_handle.NAME,
        expired_handle.STORY.replace("30 s", "3 s").replace("three jobs need more than 40 s", "one job needs 4.3 s"),
        [queue.name],
        expired_handle.SETTINGS,
        f"{expired_handle.LOG_GROUP}={queue.name}",
    )
    return as_told(played, {SLOW_PLACE: 2})


class _Worker:
    """A Laravel worker that is none: it takes real messages, and writes Laravel's lines about them."""

    def __init__(self, world: LiveWorld, stream: str, queue_url: str, slow_s: float) -> None:
        self._world = world
        self._slow_s = slow_s
        self.writer = LaravelWorker(
            "App\\Jobs\\ChargeOrder", queue_url, lambda _: 0.0, lambda _: "", random.Random(), stream
        )

    def handle(self, client: Any, queue_url: str, delivery: Delivery) -> None:
        """Run one job, then delete it, as Laravel does."""
        message_id, count = delivery.message.message_id, delivery.receive_count
        started_at = datetime.now(UTC)
        self.writer.status(started_at, delivery, "starting")
        self._world.note(message_id, count, False)
        order_id = _order_id(delivery.message.body)
        time.sleep(self._slow_s if order_id == SLOW_ORDER and count == 1 else QUICK_S)  # the work itself
        self._world.note(message_id, count, True)
        now = datetime.now(UTC)
        self.writer.application(now, "INFO", f'charged order_id={order_id} {{"job":"{message_id}","attempt":{count}}}')
        try:
            client.delete_message(QueueUrl=queue_url, ReceiptHandle=delivery.receipt_handle)
        except ClientError as refusal:
            self.writer.refused(datetime.now(UTC), refusal.response["Error"]["Message"])
        else:
            now = datetime.now(UTC)
            self.writer.status(now, delivery, "success", (now - started_at).total_seconds())


def _order(order_id: str) -> str:
    command = {"commandName": "App\\Jobs\\ChargeOrder", "order_id": order_id}
    return body_of(uuid=str(uuid.uuid4()), displayName="App\\Jobs\\ChargeOrder", data=command)


def _order_id(body: str) -> str:
    return str(json.loads(body)["data"]["order_id"])
