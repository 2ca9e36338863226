"""double-billing, live and ten times faster: function timeout 3 s, visibility timeout 60 s, batches of ten."""

import random
import time

from lab.aws import EmbeddedAws
from lab.live.world import LiveWorld, body_of
from lab.played import Played
from lab.scenarios import double_billing
from lab.simulation import QueueSpec

PAYMENTS = QueueSpec(
    "payments.fifo", visibility_timeout_s=60, dead_letter_queue="payments-dlq.fifo", max_receive_count=5
)
TIMEOUT_S = 3
SLOW_S = 0.4
"""What one charge takes while the provider is slow; seven fit into 3 s."""
SLOW_FOR_S = 15

SETTINGS = r"""
[[function]]
name = "charge-card"
effect = 'charged payment_id=(?P<key>\S+)'
effect_is_exhaustive = true
started = 'processing (?P<message_id>\S+)'
order = "sequential"

[[queue]]
name = "payments.fifo"
business_key = "$.payment_id"
owner = "payments team"
"""

CODE = """\
import json
import os
import time

import ledger
import runtime_log

def handler(event, context):
    log = runtime_log.of_run(context)
    print(json.dumps(event), flush=True)
    for record in event["Records"]:
        payment = json.loads(record["body"])
        log.info("processing %s", record["messageId"])
        ledger.note(record, False)
        # The charge itself: slow at first, so that the batch runs into its timeout, then quick.
        time.sleep(float(os.environ["SLOW_S"]) if time.time() < float(os.environ["SLOW_UNTIL"]) else 0.05)
        ledger.note(record, True)
        log.info("charged payment_id=%s amount=%s", payment["payment_id"], payment["amount"])
"""

STORY = (
    "payments.fifo feeds charge-card, ten payments a batch, one message group. The provider turns slow, the batch is "
    "killed by the 3 s function timeout after about 7 charges, and 60 s after its receive SQS shows all ten again: what "
    "had been charged is charged a second time. Meanwhile the queue stands still."
)


def play(aws: EmbeddedAws) -> Played:
    """Play it in real time; takes about 70 s. Raises LivePlayError."""
    chance = random.Random()
    world = LiveWorld(aws)
    world.create_queue(PAYMENTS)
    mapping = world.create_function(
        "charge-card",
        CODE,
        PAYMENTS.name,
        timeout_s=TIMEOUT_S,
        batch_size=10,
        SLOW_S=str(SLOW_S),
        SLOW_UNTIL=str(time.time() + SLOW_FOR_S),
    )
    with world.measured(PAYMENTS.name, str(PAYMENTS.dead_letter_queue)):
        world.send(PAYMENTS.name, _payments(10, chance), "card-payments")
        world.enable(mapping)  # only now, so that the first batch is full
        time.sleep(TIMEOUT_S + 2)  # what is sent now finds the first batch cut off and hidden
        world.send(PAYMENTS.name, _payments(6, chance), "card-payments")
        world.wait_until_empty(PAYMENTS.name, PAYMENTS.visibility_timeout_s + 30)
    return world.played(double_billing.NAME, STORY, [PAYMENTS.name], SETTINGS)


def _payments(count: int, chance: random.Random) -> list[tuple[str, str]]:
    keys = [f"pay-{chance.randrange(36**8):08x}" for _ in range(count)]
    return [(body_of(payment_id=key, amount=chance.randrange(480, 29_800, 10), currency="JPY"), key) for key in keys]
