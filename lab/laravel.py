"""A simulated Laravel queue worker, `queue:work --json`, and its lines as a container's log driver keeps them.

Laravel deletes a job after it ran. When SQS refuses that delete, the exception is reported and no further status line
comes: the job counts as deleted inside the worker, though it is still in the queue.
"""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from lab.functions import LogLine
from lab.simulation import Delivery, Process, SimulatedQueue

EXPIRED = "Reason: The receipt handle has expired."
SLEEP_S = 3
"""How long the worker sleeps when it found no job (--sleep, default 3)."""


@dataclass
class LaravelWorker:
    """One worker process in one container, one job at a time.

    ``takes_s`` says how long a delivery's job runs; the work is done just before its end. ``application_line`` is what
    the job itself logs when the work is done.
    """

    job: str
    queue_url: str
    takes_s: Callable[[Delivery], float]
    application_line: Callable[[Delivery], str]
    random: random.Random
    stream: str
    lines: list[LogLine] = field(default_factory=list)

    def works(self, queue: SimulatedQueue, start: datetime) -> Process:
        """Consume the queue from ``start`` on."""
        now = start
        while True:
            yield now
            deliveries = queue.receive(now, 1, self.stream)
            if not deliveries:
                queue.empty_receives.append(now)
                now += timedelta(seconds=SLEEP_S) + self._some_ms(8, 25)
                continue
            delivery = deliveries[0]
            started_at = now + self._some_ms(3, 9)
            self.status(started_at, delivery, "starting")
            now = started_at + timedelta(seconds=self.takes_s(delivery))
            yield now
            delivery.effect_at = now
            self.application(now, "INFO", self.application_line(delivery))
            now += self._some_ms(9, 30)
            yield now
            if queue.delete(now, delivery) == "refused":
                self.refused(now, f"Value {delivery.receipt_handle} for parameter ReceiptHandle is invalid. {EXPIRED}")
            else:
                self.status(now, delivery, "success", (now - started_at).total_seconds())
            now += self._some_ms(2, 6)

    def status(self, at: datetime, delivery: Delivery, status: str, duration_s: float | None = None) -> None:
        """Write the JSON line of a job that starts or ended."""
        entry: dict[str, object] = {
            "level": "info",
            "id": delivery.message.message_id,
            "uuid": json.loads(delivery.message.body)["uuid"],
            "connection": "sqs",
            "queue": self.queue_url,
            "job": self.job,
            "status": status,
        }
        if status == "success":
            entry["result"] = "deleted"
        entry["attempts"] = delivery.receive_count
        entry["timestamp"] = at.strftime("%Y-%m-%dT%H:%M:%S.%f+00:00")
        if duration_s is not None:
            entry["duration"] = round(duration_s, 6)
        self._write(at, _php_json(entry))

    def refused(self, at: datetime, reason: str) -> None:
        """Report a refused delete, with the first frames of its stack; the log driver makes an event of each line."""
        endpoint = "/".join(self.queue_url.split("/")[:3])
        text = (
            f'Error executing "DeleteMessage" on "{endpoint}" AWS HTTP error: Client error: `POST {endpoint}` resulted '
            f"in a `400 Bad Request` {reason}"
        )
        escaped = text.replace('"', '\\"')
        thrower = "/var/www/vendor/aws/aws-sdk-php/src/WrappedHttpHandler.php"
        where = f"[object] (Aws\\\\Sqs\\\\Exception\\\\SqsException(code: 0): {escaped} at {thrower}:196)"
        self.application(at, "ERROR", f'{text} {{"exception":"{where}')
        for frame in (
            "[stacktrace]",
            f"#0 {thrower}(98): Aws\\WrappedHttpHandler->parseError(Array, Object(GuzzleHttp\\Psr7\\Request))",
            "#1 /var/www/vendor/laravel/framework/src/Illuminate/Queue/Jobs/SqsJob.php(71): "
            "Aws\\AwsClient->__call('deleteMessage', Array)",
            "#2 /var/www/vendor/laravel/framework/src/Illuminate/Queue/CallQueuedHandler.php(92): "
            "Illuminate\\Queue\\Jobs\\SqsJob->delete()",
            '"} ',
        ):
            self._write(at, frame)

    def application(self, at: datetime, level: str, text: str) -> None:
        """Write a line of the application's own log."""
        self._write(at, f"[{at:%Y-%m-%d %H:%M:%S}] production.{level}: {text}")

    def _write(self, at: datetime, text: str) -> None:
        self.lines.append(LogLine(self.stream, at, text))

    def _some_ms(self, least: float, most: float) -> timedelta:
        return timedelta(milliseconds=self.random.uniform(least, most))


def _php_json(entry: dict[str, object]) -> str:
    """Write JSON as PHP's json_encode does: no blanks, slashes escaped."""
    return json.dumps(entry, separators=(",", ":")).replace("/", "\\/")
