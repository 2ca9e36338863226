"""fifo-order, live, at its published times: three threads, 20 messages of one group, and one that always fails."""

import time
from datetime import UTC, datetime
from typing import Any

from lab.aws import EmbeddedAws
from lab.functions import LogLine
from lab.live.workers import run_workers
from lab.live.world import LiveWorld
from lab.played import Played
from lab.scenarios import fifo_order
from lab.simulation import Delivery
from lab.worker_lines import received_line
from lab.world import World

SLEEPS_S = 5
"""How long the failing message keeps its thread, longer than the visibility timeout of 3 s."""


def play(aws: EmbeddedAws) -> Played:
    """Play it in real time; takes about 15 s."""
    world = LiveWorld(aws)
    url = world.create_queue(fifo_order.NUMBERS)
    World(aws, world.started_at).create_log_group(fifo_order.LOG_GROUP)
    lines: list[LogLine] = []

    def thread(name: str) -> Any:
        def handle(client: Any, queue_url: str, delivery: Delivery) -> None:
            body = delivery.message.body
            is_failing = body == fifo_order.FAILING
            lines.append(LogLine("worker/numbers-worker/live", delivery.received_at, received_line(delivery)))
            at = datetime.now(UTC)
            failed = " failed" if is_failing else ""
            lines.append(LogLine("worker/numbers-worker/live", at, f"{name} {at:%Y-%m-%d %H:%M:%S.%f} {body}{failed}"))
            world.note(delivery.message.message_id, delivery.receive_count, not is_failing)
            if is_failing:
                time.sleep(SLEEPS_S)  # the published handler's own, longer than the visibility timeout
                return
            client.delete_message(QueueUrl=queue_url, ReceiptHandle=delivery.receipt_handle)

        return handle

    numbers = [(str(n), None) for n in range(20)]
    with world.measured(fifo_order.NUMBERS.name, str(fifo_order.NUMBERS.dead_letter_queue)):
        for first in (0, 10):
            world.send(fifo_order.NUMBERS.name, numbers[first : first + 10], "numbers")
        run_workers(
            world,
            url,
            [thread(name) for name in fifo_order.THREADS],
            lambda: world.wait_until_empty(fifo_order.NUMBERS.name, 120),
        )
        time.sleep(1)  # one more sample of the dead-letter queue
    world.put_log_lines(fifo_order.LOG_GROUP, lines)
    return world.played(
        fifo_order.NAME,
        fifo_order.STORY,
        [fifo_order.NUMBERS.name],
        fifo_order.SETTINGS,
        f"{fifo_order.LOG_GROUP}={fifo_order.NUMBERS.name}",
    )
