"""The slow consumer: a run outlives the visibility timeout, a second one overtakes it, and the old level is stored last."""

import json
from collections.abc import Generator
from datetime import timedelta

from lab.functions import Run
from lab.scenarios.producer_and_consumer.part import Part, Stage
from lab.simulation import QueueSpec

STOCK = QueueSpec("stock-levels.fifo", dead_letter_queue="stock-levels-dlq.fifo", max_receive_count=5)
SLOW_AFTER_MIN, SLOW_S = 44.0, 48.0
"""When the change is sent whose first run stalls, and for how long; the queue hides a message for 30 s."""
NEXT_S = 12
"""How long after it the next change of the same article is sent."""
ARTICLE = "sku-4711"

SETTINGS = r"""
[[function]]
name = "apply-stock"
effect = 'stored change_id=(?P<key>\S+)'
effect_is_exhaustive = true
started = 'applying (?P<message_id>\S+)'
order = "sequential"

[[queue]]
name = "stock-levels.fifo"
business_key = "$.change_id"
owner = "warehouse team"
"""

CODE = """\
import json
import logging

logging.getLogger().setLevel(logging.INFO)

def handler(event, context):
    print(json.dumps(event))
    for record in event["Records"]:
        change = json.loads(record["body"])
        logging.info("applying %s", record["messageId"])
        logging.info("stored change_id=%s level=%s", change["change_id"], change["level"])
"""


def stock(stage: Stage) -> Part:
    """Return the part; one change is applied by two runs at once."""
    queue = stage.queue(STOCK)
    sender_id = f"{stage.ids.role_id()}:warehouse"
    slow_at = stage.after(SLOW_AFTER_MIN)
    planned = {slow_at: ARTICLE, slow_at + timedelta(seconds=NEXT_S): ARTICLE}
    for at in sorted([*stage.arrivals(15), *planned]):
        article = planned.get(at, f"sku-{stage.chance.randrange(1000, 4000)}")
        change_id = f"chg-{stage.ids.code(9)}"
        queue.send(
            at,
            json.dumps({"change_id": change_id, "sku": article, "level": stage.chance.randrange(0, 500)}),
            sender_id=sender_id,
            business_key=change_id,
            group=article,
            deduplication_id=change_id,
        )
    [slow] = [m for m in queue.messages if m.sent_at == slow_at]

    def apply(run: Run) -> Generator[float, None, None]:
        yield 0.003
        run.prints(json.dumps(run.event()))
        for delivery in run.deliveries:
            run.logs(f"applying {delivery.message.message_id}")
            stalls = delivery.message is slow and delivery.receive_count == 1
            yield SLOW_S if stalls else stage.chance.uniform(0.05, 0.5)
            run.does_the_work_of(delivery)
            level = json.loads(delivery.message.body)["level"]
            run.logs(f"stored change_id={delivery.message.business_key} level={level}")

    function = stage.function("apply-stock", apply, timeout_s=60)
    return Part(queue, SETTINGS, list(function.environments(queue, stage.start, 3)), function, CODE)
