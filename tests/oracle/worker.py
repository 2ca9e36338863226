"""Consumers that are not Lambda: a Laravel queue worker, and threads that write plain lines."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import NAMESPACE_URL, uuid5

from forensics.identity import handle_token
from tests.oracle.handler import Handler, Item
from tests.oracle.lines import LogBook
from tests.oracle.plan import Plan
from tests.oracle.printed import received_message
from tests.oracle.simulation import Gate, Simulation, Steps
from tests.oracle.sqs import HandleExpiredError, Queue, Receipt
from tests.oracle.truth import Delivery

JOB = "App\\Jobs\\ChargeCard"


@dataclass(eq=False)
class Voice:
    """Where one worker thread writes: a stream, perhaps shared with others."""

    worker: "Worker"
    stream: str
    thread: str
    run_id: str = ""
    skew_ms: int = 0
    verb: str = "charged"

    @property
    def now_ms(self) -> int:
        """What its host's clock says, as far as its lines tell it."""
        now, clock_ms = self.worker.simulation.now + self.skew_ms, self.worker.plan.clock_ms
        return now // clock_ms * clock_ms

    @property
    def local(self) -> datetime:
        """What its lines say of that in words, as UTC."""
        return datetime.fromtimestamp(self.now_ms / 1000, UTC)

    def write(
        self,
        text: str,
        role: str,
        names: tuple[Delivery, ...] = (),
        shows_counts: bool = False,
        keys: tuple[str, ...] = (),
    ) -> None:
        """Put one event into the stream."""
        w = self.worker
        w.book.write(
            w.log_group,
            self.stream,
            self.now_ms,
            text,
            role,
            self.run_id,
            names,
            shows_counts,
            keys,
        )

    def say(
        self, text: str, role: str, level: str = "INFO", names: tuple[Delivery, ...] = (), keys: tuple[str, ...] = ()
    ) -> None:
        """Log one application line."""
        local = self.local
        if self.worker.plan.consumer == "laravel":
            prefix = f"[{local:%Y-%m-%d %H:%M:%S}] production.{level}: "
        else:
            thread = f"[{self.thread}]" if self.worker.plan.threads != "untold" else self.thread
            prefix = f"{thread} {local:%Y-%m-%d %H:%M:%S.%f} "
        self.write(prefix + text, role, names, False, keys)

    def say_caught(self, error_type: str, text: str) -> None:
        """Log an exception that the handler caught."""
        self.say(f"{error_type}: {text}", "item_error", level="ERROR")


class Worker:
    """Several threads or processes that receive, work and delete."""

    def __init__(
        self,
        simulation: Simulation,
        rng: random.Random,
        plan: Plan,
        log_group: str,
        queue: Queue,
        handler: Handler,
        book: LogBook,
        make_item: Callable[[Receipt], Item],
        is_over: Callable[[], bool],
    ) -> None:
        self.simulation, self.rng, self.plan, self.log_group = simulation, rng, plan, log_group
        self.queue, self.handler, self.book = queue, handler, book
        self.make_item, self.is_over = make_item, is_over
        self.tries = rng.choice((0, 3)) if plan.consumer == "laravel" else 0
        self.backoff_ms = rng.choice((0, 0, 10_000))
        self.stops: list[tuple[str, int]] = []
        self._handlings = 0
        self._shared_stream = rng.random() < 0.5

    def start(self) -> None:
        """Start the threads."""
        for number in range(self.plan.concurrency):
            self.simulation.spawn(self._live(number), at=self.simulation.now + self.rng.randrange(1000))

    def _new_voice(self, number: int) -> Voice:
        is_shared = self.plan.consumer == "lines" and self._shared_stream and not self.plan.task_events
        name = f"worker-{number // 2 if self.plan.threads == 'alike' else number}"
        if is_shared or self.plan.one_stream:
            return Voice(self, "worker/app/0", name)
        skew_ms = (
            self.rng.randrange(-self.plan.clock_skew_ms, self.plan.clock_skew_ms) if self.plan.clock_skew_ms else 0
        )
        return Voice(self, f"worker/app/{self.rng.getrandbits(64):016x}", name, skew_ms=skew_ms)

    def _live(self, number: int) -> Steps:
        voice = self._new_voice(number)
        while not self.is_over():
            receipts = self.queue.receive(1)
            if not receipts:
                yield self.rng.randrange(200, 1500)
                continue
            (receipt,) = receipts
            item = self.make_item(receipt)
            self._handlings += 1
            voice.run_id = f"{self.log_group}#{self._handlings}"
            item.delivery.consumer, item.delivery.run_id = self.log_group, voice.run_id
            yield self.rng.randrange(1, 15)
            survived = yield from self._handle(item, voice)
            if not survived:
                yield self.rng.randrange(5_000, 20_000)  # the container is started again
                voice = self._new_voice(number)

    def _handle(self, item: Item, voice: Voice) -> Steps:
        """Handle one message; returns False where the worker was killed."""
        delivery = item.delivery
        self._say_received(item, voice)
        if self.tries and delivery.receive_count > self.tries:
            self._refuse(item, voice)
            return True
        over = Gate()
        work = self.simulation.spawn(self.handler.item(item, voice, self.simulation.now + self.queue.visibility_ms))
        work.done.when_open(over.open)
        if self.plan.heartbeat and self.plan.consumer == "lines":
            self.simulation.spawn(self._beat(item, voice, over))
        if "killed" in self.plan.troubles and self.rng.random() < self.plan.trouble_rate:
            self.simulation.at(self.simulation.now + self.rng.randrange(3, 600), over.open)
        yield over
        if not work.done.is_open:
            work.kill()
            delivery.end("killed", self.simulation.now)
            self.stops.append((voice.stream, self.simulation.now))
            if self.rng.random() < 0.5:
                voice.say("received SIGTERM, stopping", "stop")
            return False
        if work.error:
            self._fail(item, voice, str(work.error.args[0]))
        else:
            self._delete(item, voice)
        return True

    def _beat(self, item: Item, voice: Voice, over: Gate) -> Steps:
        """Extend the visibility timeout again and again while the message is in hand."""
        while True:
            yield self.queue.visibility_ms * 2 // 3
            if over.is_open:
                return
            try:
                self.queue.change_visibility(item.receipt, self.queue.visibility_ms)
            except HandleExpiredError:
                self._say_refused(item, voice, "ChangeMessageVisibility")
                return
            if self.simulation.now < item.delivery.visible_again_ms:
                item.delivery.visible_again_ms = self.simulation.now + self.queue.visibility_ms
            seconds = self.queue.visibility_ms // 1000
            words = "extended visibility timeout of message {} to {} seconds"
            words = "lease of {} runs {} s more" if self.plan.own_words else words
            voice.say(words.format(item.delivery.message_id, seconds), "heartbeat", names=(item.delivery,))

    # -- what frameworks say -------------------------------------------------------------------------------

    def _say_received(self, item: Item, voice: Voice) -> None:
        if self.plan.consumer == "laravel":
            self._say_job(item, voice, "starting", "RUNNING", None)
        elif self.plan.event_form in ("json", "repr"):
            message = received_message(item.receipt)
            text = json.dumps(message) if self.plan.event_form == "json" else repr(message)
            voice.write(text, "event", (item.delivery,), True)

    def _say_job(self, item: Item, voice: Voice, status: str, word: str, problem: tuple[str, str] | None) -> None:
        local = voice.local
        role = "framework" if status != "failed" else "guard"
        if self.plan.platform != "json":
            took = "" if status == "starting" else " 312.40ms"
            voice.write(f"  {local:%Y-%m-%d %H:%M:%S} {JOB} {'.' * 40}{took} {word}", role)
            return
        fields: dict = {
            "level": "info" if status in ("starting", "success") else "warning",
            "id": item.delivery.message_id,
            "uuid": str(uuid5(NAMESPACE_URL, item.key)),
            "connection": "sqs",
            "queue": self.queue.url,
            "job": JOB,
            "status": status,
            "result": {"success": "deleted", "released_after_exception": "released", "failed": "deleted"}.get(status),
            "attempts": item.delivery.receive_count,
            "exception": problem[0] if problem else None,
            "message": problem[1] if problem else None,
            "timestamp": f"{local:%Y-%m-%dT%H:%M:%S.%f}+00:00",
        }
        fields = {key: value for key, value in fields.items() if value}
        if status != "starting":
            fields["duration"] = 0.3124
        voice.write(json.dumps(fields), role, (item.delivery,), True)

    def _refuse(self, item: Item, voice: Voice) -> None:
        item.delivery.is_guarded = True
        text = f"{JOB} has been attempted too many times."
        try:
            self.queue.delete(item.receipt)
            item.delivery.end("deleted", self.simulation.now)
        except HandleExpiredError:  # pragma: no cover - a refusal takes no time
            item.delivery.end("delete_refused", self.simulation.now)
        voice.say(
            f'{text} {{"exception":"[object] (Illuminate\\\\Queue\\\\MaxAttemptsExceededException)"}}', "guard", "ERROR"
        )
        self._say_job(item, voice, "failed", "FAIL", ("Illuminate\\Queue\\MaxAttemptsExceededException", text))

    def _fail(self, item: Item, voice: Voice, text: str) -> None:
        delivery = item.delivery
        if self.plan.consumer == "lines":
            voice.say(f"failed message_id={delivery.message_id}: {text}", "error", "ERROR", names=(delivery,))
            delivery.end("error", self.simulation.now)
            return
        voice.say(f'{text} {{"exception":"[object] (RuntimeException)"}}', "error", "ERROR")
        if self.tries and delivery.receive_count >= self.tries:
            try:
                self.queue.delete(item.receipt)
                delivery.end("deleted", self.simulation.now)
            except HandleExpiredError:
                delivery.end("delete_refused", self.simulation.now)
                self._say_refused(item, voice, "DeleteMessage")
            self._say_job(item, voice, "failed", "FAIL", ("RuntimeException", text))
            return
        try:
            self.queue.change_visibility(item.receipt, self.backoff_ms)
            delivery.end("released", self.simulation.now)
            self._say_job(item, voice, "released_after_exception", "FAIL", None)
        except HandleExpiredError:
            delivery.end("error", self.simulation.now)
            self._say_refused(item, voice, "ChangeMessageVisibility")

    def _delete(self, item: Item, voice: Voice) -> None:
        delivery, now = item.delivery, self.simulation.now
        if "delete_failed" in self.plan.troubles and self.rng.random() < self.plan.trouble_rate:
            delivery.end("delete_failed", now)
            if self.plan.consumer == "laravel":
                voice.say(
                    f'Error executing "DeleteMessage" on "{self.queue.url}"; AWS HTTP error: cURL error 28: '
                    "Operation timed out after 60000 milliseconds",
                    "delete_error",
                    "ERROR",
                )
            else:
                voice.say(
                    f"delete failed message_id={delivery.message_id}: An error occurred (InternalError) when calling the "
                    "DeleteMessage operation (reached max retries: 4): We encountered an internal error. Please try again.",
                    "delete_error",
                    "ERROR",
                    names=(delivery,),
                )
            return
        try:
            gone = self.queue.delete(item.receipt)
        except HandleExpiredError:
            delivery.end("delete_refused", now)
            self._say_refused(item, voice, "DeleteMessage")
            return
        delivery.end("deleted" if gone else "delete_ignored", now)
        if self.plan.consumer == "laravel":
            self._say_job(item, voice, "success", "DONE", None)
        elif self.plan.says_deleted:
            voice.say(f"removed {delivery.message_id}", "framework", names=(delivery,))

    def _say_refused(self, item: Item, voice: Voice, operation: str) -> None:
        value = handle_token(item.delivery.handle)
        reason = f"Value {value} for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired."
        if self.plan.consumer == "laravel":
            voice.say(
                f'Error executing "{operation}" on "{self.queue.url}"; AWS HTTP error: Client error: `POST {self.queue.url}` '
                f"resulted in a `400 Bad Request` response:\nInvalidParameterValue (client): {reason}",
                "delete_error",
                "ERROR",
            )
        else:
            voice.say(
                f"botocore.exceptions.ClientError: An error occurred (InvalidParameterValue) when calling the {operation} "
                f"operation: {reason}",
                "delete_error",
                "ERROR",
            )
