"""The message that outlives its retention: two runs fail on it, and before a third SQS has dropped it."""

import json
from collections.abc import Generator

from lab.functions import HandlerError, Run
from lab.scenarios.producer_and_consumer.part import Part, Stage
from lab.simulation import QueueSpec

REFUNDS = QueueSpec(
    "refund-requests",
    visibility_timeout_s=480,
    dead_letter_queue="refund-requests-dlq",
    max_receive_count=5,
    message_retention_s=900,
)
"""Somebody set the retention to a quarter of an hour, shorter than two redeliveries take."""
FAILS_AFTER_MIN = 52.0

SETTINGS = r"""
[[function]]
name = "settle-refund"
effect = 'refunded refund_id=(?P<key>\S+)'
effect_is_exhaustive = true
started = 'settling (?P<message_id>\S+)'
order = "sequential"

[[queue]]
name = "refund-requests"
business_key = "$.refund_id"
owner = "payments team"
"""

CODE = """\
import json
import logging

logging.getLogger().setLevel(logging.INFO)

def handler(event, context):
    print(json.dumps(event))
    for record in event["Records"]:
        logging.info("settling %s", record["messageId"])
        logging.info("refunded refund_id=%s", json.loads(record["body"])["refund_id"])
"""


def refunds(stage: Stage) -> Part:
    """Return the part; one refund is never made."""
    queue = stage.queue(REFUNDS)
    sender_id = f"{stage.ids.role_id()}:service-desk"
    fails_at = stage.after(FAILS_AFTER_MIN)
    for at in sorted([*stage.arrivals(40, [fails_at]), fails_at]):
        refund_id = f"ref-{stage.ids.code(9)}"
        body = json.dumps({"refund_id": refund_id, "amount": stage.chance.randrange(5, 400)})
        queue.send(at, body, sender_id=sender_id, business_key=refund_id)
    [failing] = [m for m in queue.messages if m.sent_at == fails_at]

    def settle(run: Run) -> Generator[float, None, None]:
        yield 0.003
        run.prints(json.dumps(run.event()))
        for delivery in run.deliveries:
            run.logs(f"settling {delivery.message.message_id}")
            yield stage.chance.uniform(0.1, 0.7)
            if delivery.message is failing:
                raise HandlerError("AccountLockedError", "the account is locked by another transaction")
            run.does_the_work_of(delivery)
            run.logs(f"refunded refund_id={delivery.message.business_key}")

    function = stage.function("settle-refund", settle, batch_size=1)
    return Part(queue, SETTINGS, list(function.environments(queue, stage.start)), function, CODE)
