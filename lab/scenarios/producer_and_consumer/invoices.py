"""The producer: an invoice is sent again with the same deduplication id, later than five minutes after the first time."""

import json
from collections.abc import Generator
from datetime import timedelta

from lab.functions import Run
from lab.scenarios.producer_and_consumer.part import Part, Stage
from lab.simulation import QueueSpec

INVOICES = QueueSpec(
    "invoices.fifo", visibility_timeout_s=180, dead_letter_queue="invoices-dlq.fifo", max_receive_count=5
)
SENT_AGAIN = ((22.0, 120), (31.0, 421), (58.0, 640))
"""Minute of the window, and how many seconds later the job sent the invoice again. The first is inside five minutes."""

SETTINGS = r"""
[[function]]
name = "book-invoice"
effect = 'booked invoice_id=(?P<key>\S+)'
effect_is_exhaustive = true
started = 'booking (?P<message_id>\S+)'
order = "sequential"

[[queue]]
name = "invoices.fifo"
business_key = "$.invoice_id"
owner = "accounting"
"""

CODE = """\
import json
import logging

logging.getLogger().setLevel(logging.INFO)

def handler(event, context):
    print(json.dumps(event))
    for record in event["Records"]:
        logging.info("booking %s", record["messageId"])
        logging.info("booked invoice_id=%s", json.loads(record["body"])["invoice_id"])
"""


def invoices(stage: Stage) -> Part:
    """Return the part; three invoices are sent again, and SQS drops the first repeat."""
    queue = stage.queue(INVOICES)
    sender_id = f"{stage.ids.role_id()}:billing-run"
    again = [(stage.after(minute), timedelta(seconds=seconds)) for minute, seconds in SENT_AGAIN]
    sends = [(at, f"inv-{stage.ids.code(9)}") for at in stage.arrivals(20, [at for at, _ in again])]
    for at, later in again:
        invoice_id = f"inv-{stage.ids.code(9)}"
        sends += [(at, invoice_id), (at + later, invoice_id)]
    for at, invoice_id in sorted(sends):
        queue.send(
            at,
            json.dumps({"invoice_id": invoice_id, "amount": 100 + len(queue.messages) * 7 % 900, "currency": "EUR"}),
            sender_id=sender_id,
            business_key=invoice_id,
            group=f"ledger-{int(at.timestamp()) % 4}",
            deduplication_id=invoice_id,
        )

    def book(run: Run) -> Generator[float, None, None]:
        yield 0.003
        run.prints(json.dumps(run.event()))
        for delivery in run.deliveries:
            run.logs(f"booking {delivery.message.message_id}")
            yield stage.chance.uniform(0.05, 0.4)
            run.does_the_work_of(delivery)
            run.logs(f"booked invoice_id={delivery.message.business_key}")

    function = stage.function("book-invoice", book)
    return Part(queue, SETTINGS, list(function.environments(queue, stage.start, 2)), function, CODE)
