"""The delete that fails after the commit: the mail is sent, SQS does not answer the delete, and the mail is sent again."""

import json
from datetime import datetime, timedelta

from lab.functions import LogLine
from lab.scenarios.producer_and_consumer.part import Part, Stage
from lab.simulation import Delivery, Process, QueueSpec, SimulatedQueue
from lab.worker_lines import received_line

MAILS = QueueSpec("mails", visibility_timeout_s=60, dead_letter_queue="mails-dlq", max_receive_count=5)
LOG_GROUP = "/ecs/mail-worker"
FAILS_AFTER_MIN = (36.0, 36.4, 71.0)
"""Minutes of the window from which the next delete fails."""
GIVES_UP_S = 5.2
"""How long the client tries."""
POLL_S = 4

SETTINGS = r"""
[[worker]]
log_group = "/ecs/mail-worker"
queue = "mails"
format = "lines"
effect = 'mail sent mail_id=(?P<key>\S+)'
effect_is_exhaustive = true
order = "sequential"

[[queue]]
name = "mails"
business_key = "$.mail_id"
owner = "customer team"
"""


def mails(stage: Stage) -> Part:
    """Return the part; three deletes fail."""
    queue = stage.queue(MAILS)
    sender_id = f"{stage.ids.role_id()}:shop"
    for at in stage.arrivals(18):
        mail_id = f"mail-{stage.ids.code(8)}"
        body = json.dumps({"mail_id": mail_id, "template": stage.chance.choice(("order", "shipped", "welcome"))})
        queue.send(at, body, sender_id=sender_id, business_key=mail_id)
    worker = _MailWorker(stage, f"worker/mail-worker/{stage.ids.hex(32)}")
    return Part(queue, SETTINGS, [worker.works(queue)], log_group=LOG_GROUP, lines=lambda: worker.lines)


class _MailWorker:
    """A plain Python loop around boto3."""

    def __init__(self, stage: Stage, stream: str) -> None:
        self._stage = stage
        self._stream = stream
        self._fails_from = [stage.after(minute) for minute in FAILS_AFTER_MIN]
        self.lines: list[LogLine] = []

    def works(self, queue: SimulatedQueue) -> Process:
        """Consume the queue from the start of the window on."""
        now = self._stage.start
        while True:
            yield now
            deliveries = queue.receive(now, 1, self._stream)
            if not deliveries:
                queue.empty_receives.append(now)
                now += timedelta(seconds=POLL_S)
                continue
            [delivery] = deliveries
            self._write(now, f"INFO:worker:received {received_line(delivery)}")
            now += timedelta(seconds=self._stage.chance.uniform(0.2, 1.1))
            delivery.effect_at = now
            self._write(now, f"INFO:worker:mail sent mail_id={delivery.message.business_key}")
            yield now
            now = self._deletes(queue, delivery, now)

    def _deletes(self, queue: SimulatedQueue, delivery: Delivery, now: datetime) -> datetime:
        if self._fails_from and now >= self._fails_from[0]:
            self._fails_from.pop(0)
            now += timedelta(seconds=GIVES_UP_S)
            self._write(
                now,
                f"ERROR:worker:cannot delete {delivery.message.message_id}\nTraceback (most recent call last):\n"
                '  File "/app/worker.py", line 41, in run\n    sqs.delete_message(QueueUrl=URL, ReceiptHandle=handle)\n'
                "botocore.exceptions.ClientError: An error occurred (ServiceUnavailable) when calling the DeleteMessage "
                "operation (reached max retries: 4): Service Unavailable",
            )
            return now
        queue.delete(now + timedelta(milliseconds=18), delivery)
        return now + timedelta(milliseconds=30)

    def _write(self, at: datetime, text: str) -> None:
        self.lines.append(LogLine(self._stream, at, text))
