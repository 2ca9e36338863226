"""fifo-order, live, at its published times: three threads, 20 messages of one group, and one that always fails."""

import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from lab.aws import EmbeddedAws
from lab.functions import LogLine
from lab.live.workers import run_workers
from lab.live.world import LiveWorld, as_told
from lab.played import Played
from lab.scenarios import fifo_order
from lab.simulation import Delivery
from lab.worker_lines import received_line
from lab.world import World

SLEEPS_S = 5
"""How long the failing message keeps its thread, longer than the visibility timeout of 3 s."""


def play(aws: EmbeddedAws, slower: int = 1) -> Played:
    """Play it in real time; takes about 15 s, its timeouts ``slower`` times as long. Raises LivePlayError."""
    world = LiveWorld(aws)
    queue = replace(fifo_order.NUMBERS, visibility_timeout_s=fifo_order.NUMBERS.visibility_timeout_s * slower)
    url = world.create_queue(queue)
    World(aws, world.started_at).create_log_group(fifo_order.LOG_GROUP)
    lines: list[LogLine] = []

    def thread(name: str) -> Any:
        def handle(client: Any, queue_url: str, delivery: Delivery) -> None:
            body = delivery.message.body
            is_failing = body == fifo_order.FAILING
            at = datetime.now(UTC)
            lines.append(LogLine("worker/numbers-worker/live", at, received_line(delivery)))
            failed = " failed" if is_failing else ""
            lines.append(LogLine("worker/numbers-worker/live", at, f"{name} {at:%Y-%m-%d %H:%M:%S.%f} {body}{failed}"))
            world.note(delivery.message.message_id, delivery.receive_count, not is_failing, delivery.received_at)
            if is_failing:
                time.sleep(SLEEPS_S * slower)  # the published handler's own, longer than the visibility timeout
                return
            client.delete_message(QueueUrl=queue_url, ReceiptHandle=delivery.receipt_handle)

        return handle

    numbers = [(str(n), None) for n in range(20)]
    with world.measured(queue.name, str(queue.dead_letter_queue)):
        for first in (0, 10):
            world.send(queue.name, numbers[first : first + 10], "numbers")
        run_workers(
            world,
            url,
            [thread(name) for name in fifo_order.THREADS],
            lambda: world.wait_until_empty(queue.name, 120 * slower),
        )
        time.sleep(1)  # one more sample of the dead-letter queue
    world.put_log_lines(fifo_order.LOG_GROUP, lines)
    world.dead_lettered(queue, 1)
    played = world.played(
        fifo_order.NAME,
        fifo_order.STORY,
        [queue.name],
        fifo_order.SETTINGS,
        f"{fifo_order.LOG_GROUP}={queue.name}",
    )
    return as_told(played, {int(fifo_order.FAILING): int(queue.max_receive_count or 0)})
