"""One world: a queue, its producers and consumers, played from a seed; its truth and its evidence."""

import json
import random
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import NAMESPACE_URL, uuid5
from zlib import crc32

from tests.oracle import evidence, platform_lines
from tests.oracle.function import Function
from tests.oracle.handler import DurableHandler, Fate, Guard, Handler, Item, Reporter, Speaker
from tests.oracle.kinds import ANYTHING, KINDS
from tests.oracle.lines import LogBook
from tests.oracle.mapping import Mapping
from tests.oracle.plan import Plan
from tests.oracle.simulation import Simulation, Steps
from tests.oracle.sqs import HandleExpiredError, Message, Queue, Receipt
from tests.oracle.truth import RUNNING, Cause, Delivery, MessageTruth, why_again
from tests.oracle.worker import Worker

EPOCH_MS = int(datetime(2026, 1, 5, tzinfo=UTC).timestamp() * 1000)
LIMIT_MS = 6 * 3_600_000


def chance(seed: int) -> random.Random:
    """Return what a world draws from: its plan first, then all that happens in it."""
    return random.Random(f"oracle {seed}")


class Since(NamedTuple):
    """Log events of a world before ``at_ms`` are left out, though the lake has them; the world begins at ``started_ms``."""

    started_ms: int
    at_ms: int


class World:
    """Plays at once when made. ``truth`` is by message id; ``rows(table)`` is what AWS would have kept.

    Names of queue, function and log group hold the seed, so that many worlds fit into one lake.
    """

    def __init__(self, seed: int, plan: Plan | None = None, kind: str = ANYTHING, since: Since | None = None) -> None:
        self.seed, self.kind, self.since = seed, kind, since
        self._given_plan = plan
        self.rng = chance(seed)
        self.plan = KINDS[kind](self.rng).deployed(random.Random(f"deployed {seed}")) if plan is None else plan
        self.started_ms = EPOCH_MS + (seed % 5000) * 7 * 3_600_000 + self.rng.randrange(3_600_000)
        if since:
            self.started_ms = since.started_ms
        self.simulation = Simulation(self.started_ms)
        self.book = LogBook()
        self.truth: dict[str, MessageTruth] = {}
        self.ended_ms: int | None = None  # where it was not over when its time was
        self._pending = 0
        self._build()
        self._play()
        self.evidence = evidence.Kept(self)
        self._forget_dead_letters()

    def __reduce__(self) -> tuple[type["World"], tuple[int, Plan | None, str, Since | None]]:
        """Travel to other processes as what it was made of: they play the same again."""
        return World, (self.seed, self._given_plan, self.kind, self.since)

    @property
    def queue_name(self) -> str:
        """The queue's name."""
        return self.queue.name

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Return the evidence rows of one table, as collecting would have stored them."""
        return self.evidence.rows(table)

    @property
    def has_late_lines(self) -> bool:
        """Some lines are not there yet: the evidence is that of a first reading until it is ``read_again``."""
        return evidence.has_late_lines(self.plan) and self.evidence.is_first_reading

    def read_again(self) -> None:
        """Let a day pass, and what was still to come be there."""
        self.evidence = evidence.Kept(self, is_first_reading=False)
        self._forget_dead_letters()

    def settings_text(self) -> str:
        """Return this world's part of doubletake.toml."""
        return evidence.settings_text(self)

    # -- what is there -------------------------------------------------------------------------------------

    def _build(self) -> None:
        plan, name = self.plan, f"w{self.seed:06d}-payments"
        suffix = ".fifo" if plan.is_fifo else ""
        self.dead_letters = Queue(self.simulation, self.rng, f"{name}-dlq{suffix}", 30_000, plan.is_fifo)
        self.queue = Queue(
            self.simulation,
            self.rng,
            name + suffix,
            (min(plan.visibility_s, 12) if "short_visibility" in plan.troubles else plan.visibility_s) * 1000,
            plan.is_fifo,
            plan.max_receive_count,
            self.dead_letters if plan.max_receive_count else None,
            copy_rate=0.0005 if "copy" in plan.troubles else 0.0,
            deduplicates_in_groups=plan.deduplication == "place",
        )
        self.queue.on_receive = self._note_receive
        self.queue.on_dead_letter = self._note_dead_letter
        guard = Guard(plan.guard_store_s * 1000) if plan.guard else None
        kind = DurableHandler if plan.is_durable else Handler
        self.handler = kind(plan, self.simulation, self.rng, guard)
        if plan.follow_ups:
            self.handler.follow_up = self._follow_up
        if plan.lets_go_after_s is not None:
            self.handler.let_go = self._let_go
        self.functions: list[Function] = []
        self.mappings: list[Mapping] = []
        self.worker: Worker | None = None
        if plan.consumer == "lambda":
            group = f"/payments/w{self.seed:06d}" if plan.shared_group else None
            for number in range(2 if plan.second_function else 1):
                function_name = f"w{self.seed:06d}-charge" + ("-b" if number else "")
                verb = "posted" if plan.shared_group and number else "charged"
                function = Function(
                    self.simulation, self.rng, plan, function_name, self.queue, self.handler, self.book, group, verb
                )
                self.functions.append(function)
                self.mappings.append(self._mapping(self.queue, function))
            if plan.dead_letter_consumer:
                self._feed_dead_letters(plan.dead_letter_consumer, group)
        else:
            group = f"/ecs/w{self.seed:06d}-worker"
            self.worker = Worker(
                self.simulation,
                self.rng,
                plan,
                group,
                self.queue,
                self.handler,
                self.book,
                self._make_item,
                self.is_over,
            )

    def _feed_dead_letters(self, kind: str, group: str | None) -> None:
        """Let a function receive what was set aside: the queue's own, or one that does the same or other work."""
        function, plan = self.functions[0], self.plan
        if kind != "same":
            name, verb = f"w{self.seed:06d}-{kind}", "charged" if kind == "again" else "archived"
            handler = self.handler if kind == "again" else Reporter(plan, self.simulation, self.rng, None)
            function = Function(
                self.simulation, self.rng, plan, name, self.dead_letters, handler, self.book, group, verb
            )
            self.functions.append(function)
        self.dead_letters.on_receive = self._note_receive
        self.mappings.append(self._mapping(self.dead_letters, function))

    def _mapping(self, queue: Queue, function: Function) -> Mapping:
        steps = self._make_item, self._make_again, self._note_handled, self.is_over
        return Mapping(self.simulation, self.rng, self.plan, queue, function, *steps)

    @property
    def consumer_groups(self) -> list[str]:
        """Log groups of the consumers."""
        groups = [f.log_group for f in self.functions] or [self.worker.log_group if self.worker else ""]
        return list(dict.fromkeys(groups))

    def is_over(self) -> bool:
        """Nothing is left to send or to deliver."""
        is_drained = self.queue.is_drained and (not self.plan.dead_letter_consumer or self.dead_letters.is_drained)
        return self._pending == 0 and is_drained

    # -- what happens --------------------------------------------------------------------------------------

    def _play(self) -> None:
        plan, rng = self.plan, self.rng
        poisoned = (
            rng.sample(range(plan.message_count), min(2, plan.message_count)) if "poison" in plan.troubles else []
        )
        self._poison = {self._key(number) for number in poisoned}
        self._pending += plan.message_count
        for number in range(plan.message_count):
            sent = self.started_ms + 2_000 + rng.randrange(plan.send_spread_s * 1000)
            self.simulation.at(sent, lambda number=number: self._send(number))  # type: ignore[misc]
            if "same_work_again" in plan.troubles and rng.random() < plan.trouble_rate:
                self._pending += 1
                later = sent + (rng.randrange(301_000, 700_000) if plan.is_fifo else rng.randrange(400, 20_000))
                self.simulation.at(later, lambda number=number: self._send(number))  # type: ignore[misc]
        if plan.shared_group:
            self.simulation.spawn(self._talk_of_others())
        if "throttle" in plan.troubles:
            self._block_functions()
        if "lost_receive" in plan.troubles:
            self.simulation.spawn(self._peek(), at=self.started_ms + 2_500)
        if "redrive" in plan.troubles and plan.max_receive_count:
            self._pending += 1
            self.simulation.spawn(self._redrive(), at=self.started_ms + plan.send_spread_s * 1000)
        for consumer in [*self.mappings, self.worker]:
            if consumer:
                consumer.start()
        self.simulation.run(self.started_ms + LIMIT_MS)
        self.ended_ms = None if self.is_over() else self.started_ms + LIMIT_MS

    def _key(self, number: int) -> str:
        return f"pay_{self.seed:06d}_{number:04d}"

    def _send(self, number: int) -> None:
        self._pending -= 1
        key, plan = self._key(number), self.plan
        group = f"customer-{number % plan.group_count}" if plan.group_count else None
        before = [t for t in self.truth.values() if t.business_key == key]
        deduplication_id = {
            "work": f"order-{key}",
            "place": f"step-{number // max(1, plan.group_count)}",
            "customer": f"customer-{number % 7}",
        }[plan.deduplication]
        message = self.queue.send(self._body(key), group, deduplication_id if plan.is_fifo else None)
        if message is not None:
            origin = None if not before else "dedup_window_passed" if plan.is_fifo else "producer_retry"
            self._register(message, key, origin)

    def _follow_up(self, item: Item, speaker: Speaker) -> None:
        """Send the next step of a payment to the same queue, and say under which message id."""
        if item.key.endswith("-capture"):
            return
        key = f"{item.key}-capture"
        known = self.truth[item.delivery.message_id]
        before = [t for t in self.truth.values() if t.business_key == key]
        message = self.queue.send(self._body(key), known.group_id, f"order-{key}" if self.plan.is_fifo else None)
        if message is not None:
            self._register(
                message, key, ("dedup_window_passed" if self.plan.is_fifo else "producer_retry") if before else None
            )
            words = ("queued capture as message {}", "capture: message_id={}", "next is message {}")
            speaker.say(words[self.seed % 3].format(message.message_id), "follow_up")

    def _let_go(self, item: Item, speaker: Speaker) -> None:
        """Let a message that failed be visible again soon, unless SQS refuses."""
        seconds = self.plan.lets_go_after_s or 0
        try:
            self.queue.change_visibility(item.receipt, seconds * 1000)
        except HandleExpiredError:
            return
        if self.simulation.now < item.delivery.visible_again_ms:
            item.delivery.end("released", self.simulation.now)
        words = f"lease of {item.delivery.message_id} runs {seconds} s more"
        # in words that no setting knows the line names nothing
        speaker.say(words, "lease", names=(item.delivery,) if self.plan.own_words else ())

    def _body(self, key: str) -> str:
        # One payment has one body, however often it is sent, unless the producer puts the time of each send in it.
        self.rng.randrange(90_000)  # what is drawn after it stays as it was
        payment: dict[str, Any] = {"payment_id": key, "amount": 100 + crc32(key.encode()) % 90_000, "currency": "EUR"}
        other = self._some_uuid()
        if self.plan.body == "nested":
            payment["note"] = 'it\'s "quoted", {braced} \\ slashed'
            payment["caused_by"] = {
                "messageId": str(uuid5(NAMESPACE_URL, key)),
                "receiptHandle": "AQEBnested",
                "attributes": {"ApproximateReceiveCount": "7", "MessageGroupId": "not-mine"},
                "md5OfBody": "0" * 32,
            }
        if self.plan.body == "bare":  # what a customer orders is always the same
            del payment["payment_id"]
            payment["amount"] = 500
        if self.plan.body in ("timed", "bare"):
            now = datetime.fromtimestamp(self.simulation.now / 1000, UTC).isoformat(timespec="milliseconds")
            before = sum(t.business_key == key for t in self.truth.values())
            payment |= {"sentAt": now.replace("+00:00", "Z"), "attempt": 1 + before, "requestId": other}
        if self.plan.body == "sns":
            payment = {
                "Type": "Notification",
                "MessageId": other,
                "TopicArn": "arn:aws:sns:eu-west-1:123456789012:payments",
                "Message": json.dumps(payment),
            }
        return json.dumps(payment)

    def _some_uuid(self) -> str:
        raw = f"{self.rng.getrandbits(128):032x}"
        return f"{raw[:8]}-{raw[8:12]}-4{raw[13:16]}-8{raw[17:20]}-{raw[20:]}"

    def _register(self, message: Message, key: str, origin: str | None) -> None:
        self.truth[message.message_id] = MessageTruth(
            self.queue.name,
            message.message_id,
            key,
            message.group_id,
            message.deduplication_id,
            message.sent_ms,
            origin=origin,
        )

    def _note_receive(self, receipt: Receipt) -> None:
        known = self.truth[receipt.message.message_id]
        delivery = Delivery(
            known.message_id, receipt.receive_count, receipt.received_ms, receipt.visible_again_ms, receipt.handle
        )
        delivery.is_dead = receipt.message.moved_from is not None
        if known.deliveries:
            before = known.settling
            code = why_again(before, receipt.received_ms)
            number, at_ms = receipt.receive_count, receipt.received_ms
            cause = Cause(known.message_id, number, code, before, at_ms, before.is_finished)
            known.causes.append(cause)
        known.add(delivery)

    def _note_dead_letter(self, message: Message) -> None:
        self.truth[message.message_id].dead_lettered_ms = self.simulation.now

    def _make_item(self, receipt: Receipt) -> Item:
        known = self.truth[receipt.message.message_id]
        delivery = known.deliveries[-1]
        assert delivery.handle == receipt.handle
        return Item(receipt, delivery, self._fate(known), known.business_key)

    def _make_again(self, item: Item) -> Item:
        """Make of an item what another run of its function gets of the same receive."""
        known = self.truth[item.delivery.message_id]
        return Item(item.receipt, item.delivery.again(), self._fate(known), item.key)

    def _note_handled(self, delivery: Delivery) -> None:
        self.truth[delivery.message_id].add(delivery)

    def _fate(self, known: MessageTruth) -> Fate:
        plan, rng = self.plan, self.rng
        share = plan.trouble_rate / max(1, plan.batch_size / 3)
        fate = (
            Fate(120, 5, 5)
            if plan.even_pace
            else Fate(rng.randrange(20, 400), rng.randrange(0, 30), rng.randrange(1, 20))
        )
        if "slow" in plan.troubles and rng.random() < share:
            limit_ms = plan.function_timeout_s * 1000 if plan.consumer == "lambda" else self.queue.visibility_ms
            slow_ms = int(limit_ms * rng.uniform(0.5, 1.7))
            part = rng.choices(("before", "gap", "after"), (6, 2, 2))[0]
            if part == "before":
                fate.before_ms += slow_ms
            elif part == "gap":
                fate.gap_ms += slow_ms
            else:
                fate.after_ms += slow_ms
        if "short_visibility" in plan.troubles and rng.random() < share:
            fate.before_ms += rng.randrange(6_000, 22_000)
        incurable = plan.max_receive_count is not None or known.deliveries[-1].receive_count <= 4
        if (known.business_key in self._poison and incurable and not known.deliveries[-1].is_dead) or (
            "error" in plan.troubles and rng.random() < share
        ):
            fate.fails = "before"
        elif "error_after_effect" in plan.troubles and rng.random() < share:
            fate.fails = "after"
        return fate

    # -- what others do ------------------------------------------------------------------------------------

    def _block_functions(self) -> None:
        start = self.started_ms + self.rng.randrange(1_000, 2_000 + self.plan.send_spread_s * 500)
        for _ in range(3):
            length = int(self.queue.visibility_ms * self.rng.uniform(0.6, 2.2))
            for function in self.functions:
                function.blocked.append((start, start + length))
            start += length + self.rng.randrange(20_000, 90_000)

    def _talk_of_others(self) -> Steps:
        """A function of another queue in the same log group: it fails now and then, and speaks of payments in others' words."""
        name = f"w{self.seed:06d}-audit"
        group, day = (
            self.functions[0].log_group,
            datetime.fromtimestamp(self.started_ms / 1000, UTC).strftime("%Y/%m/%d"),
        )
        stream = f"{day}/{name}[$LATEST]{self.rng.getrandbits(128):032x}"

        def say(text: str) -> None:
            self.book.write(group, stream, self.simulation.now, text, "stranger", f"{name}#1")

        while not self.is_over():
            yield self.rng.randrange(500, 20_000)
            request_id, began = self._some_uuid(), self.simulation.now
            say(
                platform_lines.start_line(
                    self.plan.platform, request_id, began, f"arn:aws:lambda:eu-west-1:1:function:{name}"
                )
            )
            for known in self.rng.sample(
                sorted(self.truth.values(), key=lambda t: t.message_id), min(2, len(self.truth))
            ):
                say(f"charged payment_id={known.business_key} message_id={known.message_id}")
                yield self.rng.randrange(1, 50)
            status = self.rng.choice(("success", "success", "crash"))
            end = platform_lines.RunEnd(request_id, began, self.simulation.now, status, 3_000)
            for _, _, text in platform_lines.end_lines(self.plan.platform, end, "INFO"):
                say(text)

    def _peek(self) -> Steps:
        """A person in the console, or a receive whose answer got lost: counts rise, nobody works."""
        for _ in range(12):
            if self.is_over():
                return
            yield self.rng.randrange(500, 12_000)
            for receipt in self.queue.receive(self.rng.choice((1, 1, 3)), by="somebody"):
                self.truth[receipt.message.message_id].deliveries[-1].end("lost", self.simulation.now)

    def _redrive(self) -> Steps:
        """An operator sends the dead letters back: new message ids, same bodies."""
        for _ in range(200):
            yield 20_000
            waiting = [m for m in self.dead_letters.messages if not m.is_deleted]
            if waiting or (self.queue.is_drained and self._pending == 1):
                break
        yield self.rng.randrange(5_000, 400_000)
        self._pending -= 1
        for message in self.dead_letters.messages:
            if message.is_deleted:
                continue
            self.dead_letters.drop(message)
            key = self.truth[message.message_id].business_key
            again = self.queue.send(message.body, message.group_id, message.deduplication_id, by="sqs.amazonaws.com")
            if again is not None:
                self._register(again, key, "dlq_redrive")

    # -- the truth, as far as the evidence's time reaches ----------------------------------------------------

    def _forget_dead_letters(self) -> None:
        """Count what was received from the dead-letter queue only where evidence tells that it is the same work there."""
        plan = self.plan
        is_same = plan.dead_letter_consumer == "same" or (plan.dead_letter_consumer == "again" and plan.effect_declared)
        runs = {run.run_id for f in self.functions for run in f.runs if run.items[0].delivery.is_dead}
        for known in self.truth.values() if plan.dead_letter_consumer else ():
            is_shown = bool(known.named_runs & runs) and bool(known.named_runs - runs)
            if not (is_same and plan.queue_settings_kept and is_shown):
                known.forget_dead_letters()

    def cut_truth(self, end_ms: int) -> None:
        """Forget what happened after the evidence was read; for the truth it has not happened yet."""
        for message_id, known in list(self.truth.items()):
            known.deliveries = [d for d in known.deliveries if d.received_ms < end_ms]
            known.causes = [c for c in known.causes if c.later_ms < end_ms]
            for delivery in known.deliveries:
                delivery.effects_ms = [at for at in delivery.effects_ms if at < end_ms]
                if delivery.ended_ms is not None and delivery.ended_ms >= end_ms:
                    delivery.outcome = RUNNING
            if known.dead_lettered_ms is not None and known.dead_lettered_ms >= end_ms:
                known.dead_lettered_ms = None
            if not known.deliveries:
                del self.truth[message_id]
