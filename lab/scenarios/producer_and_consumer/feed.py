"""The poison message: no run can read it, and the queue has no dead-letter queue."""

import json
from collections.abc import Generator

from lab.functions import HandlerError, Run
from lab.scenarios.producer_and_consumer.part import Part, Stage
from lab.simulation import QueueSpec

FEED = QueueSpec("product-feed", visibility_timeout_s=60)
POISON_AFTER_MIN = 65.0

SETTINGS = r"""
[[function]]
name = "import-product"
effect = 'imported product_id=(?P<key>\S+)'
effect_is_exhaustive = true
started = 'importing (?P<message_id>\S+)'
order = "sequential"

[[queue]]
name = "product-feed"
business_key = "$.product_id"
owner = "catalogue team"
"""

CODE = """\
import json
import logging

logging.getLogger().setLevel(logging.INFO)

def handler(event, context):
    print(json.dumps(event))
    for record in event["Records"]:
        logging.info("importing %s", record["messageId"])
        logging.info("imported product_id=%s", json.loads(record["body"])["product_id"])
"""


def feed(stage: Stage) -> Part:
    """Return the part; one message is no JSON."""
    queue = stage.queue(FEED)
    sender_id = f"{stage.ids.role_id()}:catalogue-export"
    poison_at = stage.after(POISON_AFTER_MIN)
    for at in sorted([*stage.arrivals(30, [poison_at]), poison_at]):
        product_id = f"prd-{stage.ids.code(9)}"
        body = json.dumps({"product_id": product_id, "price": stage.chance.randrange(1, 2000)})
        is_poison = at == poison_at
        queue.send(
            at,
            "<product>" if is_poison else body,
            sender_id=sender_id,
            business_key=None if is_poison else product_id,
        )

    def read(run: Run) -> Generator[float, None, None]:
        yield 0.003
        run.prints(json.dumps(run.event()))
        for delivery in run.deliveries:
            run.logs(f"importing {delivery.message.message_id}")
            yield stage.chance.uniform(0.02, 0.2)
            if delivery.message.business_key is None:
                raise HandlerError("JSONDecodeError", "Expecting value: line 1 column 1 (char 0)")
            run.does_the_work_of(delivery)
            run.logs(f"imported product_id={delivery.message.business_key}")

    function = stage.function("import-product", read, timeout_s=10, batch_size=1)
    return Part(queue, SETTINGS, list(function.environments(queue, stage.start)), function, CODE)
