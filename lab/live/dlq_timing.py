"""dlq-timing, live and ten times faster: a function that always fails, visibility timeout 6 s, two receives allowed."""

import time
from dataclasses import replace

from lab.aws import EmbeddedAws
from lab.live.world import LiveWorld, as_told, body_of
from lab.played import Played
from lab.scenarios import dlq_timing
from lab.simulation import QueueSpec

WEBHOOKS = QueueSpec("webhooks", visibility_timeout_s=6, dead_letter_queue="webhooks-dlq", max_receive_count=2)
SETTINGS = dlq_timing.SETTINGS
REFUSED, UNREADABLE = "refused", "unreadable"

CODE = """\
import json

import ledger
import runtime_log

def handler(event, context):
    log = runtime_log.of_run(context)
    print(json.dumps(event), flush=True)
    for record in event["Records"]:
        webhook = json.loads(record["body"])
        log.info("delivering %s", record["messageId"])
        ledger.note(record, False)
        if webhook["receiver"] == "refused":
            raise ConnectionRefusedError("[Errno 111] Connection refused")
        ledger.note(record, True)
        log.info("delivered webhook_id=%s", webhook["webhook_id"])
        json.loads("" if webhook["receiver"] == "unreadable" else "{}")
"""

STORY = (
    "webhooks allows two receives. One webhook meets a closed port, one is accepted both times and the function fails on "
    "the answer; three others are delivered. At the second failure nothing moves: the receive after the visibility "
    "timeout of 6 s moves both to webhooks-dlq."
)


def play(aws: EmbeddedAws, slower: int = 1) -> Played:
    """Play it in real time; takes about 20 s, its timeouts ``slower`` times as long. Raises LivePlayError."""
    world = LiveWorld(aws)
    queue = replace(WEBHOOKS, visibility_timeout_s=WEBHOOKS.visibility_timeout_s * slower)
    world.create_queue(queue)
    mapping = world.create_function("deliver-webhook", CODE, queue.name, timeout_s=5 * slower, batch_size=1)
    receivers = ("fine", REFUSED, "fine", UNREADABLE, "fine")
    webhooks = [(f"whk-{time.time_ns() % 10**6}-{n}", receiver) for n, receiver in enumerate(receivers)]
    with world.measured(queue.name, str(queue.dead_letter_queue)):
        world.send(queue.name, [(body_of(webhook_id=key, receiver=receiver), key) for key, receiver in webhooks])
        world.enable(mapping)
        world.wait_until_empty(queue.name, 15 * queue.visibility_timeout_s)
        time.sleep(1)  # one more sample of the dead-letter queue
    world.dead_lettered(queue, receivers.count(REFUSED) + receivers.count(UNREADABLE))
    played = world.played(dlq_timing.NAME, STORY, [queue.name], SETTINGS)
    return as_told(played, {n: 2 for n, receiver in enumerate(receivers) if receiver != "fine"})
