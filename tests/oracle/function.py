"""A simulated Lambda function: environments that write one stream each, runs that end well, late or not at all."""

import json
import random
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID

from forensics.identity import handle_token
from tests.oracle import platform_lines
from tests.oracle.handler import Execution, ExecutionFailed, Handler, Item, Suspension
from tests.oracle.lines import LogBook, iso
from tests.oracle.plan import Plan
from tests.oracle.printed import Writer, sqs_record
from tests.oracle.simulation import Gate, Process, Simulation, Steps
from tests.oracle.sqs import Queue
from tests.oracle.truth import Delivery


@dataclass(eq=False)
class Run:
    """One invocation."""

    run_id: str
    request_id: str
    items: list[Item]
    started_ms: int
    status: str = "running"
    ended_ms: int = 0
    response: object = None
    goes_on_after_ms: int | None = None  # the durable execution that it is of goes on after so long
    ended_execution: str | None = None  # it failed (error) or timed out, with this run as its last
    done: Gate = field(default_factory=Gate)

    @property
    def execution(self) -> Execution | None:
        """The durable execution that it is of."""
        return self.items[0].execution


@dataclass(eq=False)
class Environment:
    """One execution environment: one log stream, one run at a time; frozen work may go on in its next run."""

    function: "Function"
    stream: str
    is_fresh: bool = True  # its init is still to run
    was_reset: bool = False  # a timeout or crash ended its last run: init repeats inside the next
    run: Run | None = None
    is_busy: bool = False
    frozen: list[Process] = field(default_factory=list)

    @property
    def verb(self) -> str:
        """How effect lines begin."""
        return self.function.verb

    def write(
        self,
        text: str,
        role: str,
        names: tuple[Delivery, ...] = (),
        shows_counts: bool = False,
        keys: tuple[str, ...] = (),
        at_ms: int | None = None,
    ) -> None:
        """Put one event into the stream."""
        now = self.function.simulation.now if at_ms is None else at_ms
        run_id = self.run.run_id if self.run else None
        self.function.book.write(
            self.function.log_group, self.stream, now, text, role, run_id, names, shows_counts, keys
        )

    def say_caught(self, error_type: str, text: str) -> None:
        """Log an exception that the application caught, with its stack, and go on."""
        assert self.run
        now = self.function.simulation.now
        self.write(self.function.writer.caught(error_type, text, self.run.request_id, now), "item_error")

    def say(
        self, text: str, role: str, level: str = "INFO", names: tuple[Delivery, ...] = (), keys: tuple[str, ...] = ()
    ) -> None:
        """Log one application line under the run that is on now."""
        assert self.run
        now = self.function.simulation.now
        self.write(self.function.writer.line(text, self.run.request_id, now, level), role, names, False, keys)


class Function:
    """A function with its log group; ``invoke`` gives a run, or None when it is throttled."""

    def __init__(
        self,
        simulation: Simulation,
        rng: random.Random,
        plan: Plan,
        name: str,
        queue: Queue,
        handler: Handler,
        book: LogBook,
        log_group: str | None = None,
        verb: str = "charged",
    ) -> None:
        """``log_group`` is one of the team's choice; ``verb`` is how its effect lines begin."""
        self.simulation, self.rng, self.plan, self.name, self.verb = simulation, rng, plan, name, verb
        self.queue, self.handler, self.book = queue, handler, book
        self.arn = f"arn:aws:lambda:{queue.region}:{queue.account_id}:function:{name}"
        self.log_group = log_group or f"/aws/lambda/{name}"
        self.is_named_in_streams = log_group is not None
        self.writer = Writer(plan.runtime, plan.platform == "json", name, self.arn)
        self.timeout_ms = plan.function_timeout_s * 1000
        self.environments: list[Environment] = []
        self.runs: list[Run] = []
        self.throttles: list[int] = []
        self.blocked: list[tuple[int, int]] = []  # when other traffic takes all concurrency

    def invoke(self, items: list[Item]) -> Run | None:
        """Start a run on a free environment; None where there is none: throttled."""
        now = self.simulation.now
        blocked = any(start <= now < end for start, end in self.blocked)
        environment = None if blocked else self._free_environment()
        if environment is None:
            self.throttles.append(now)
            return None
        request_id = str(UUID(int=self.rng.getrandbits(128), version=5))
        if "reused_request_id" in self.plan.troubles and self._strikes():
            first = items[0].delivery.message_id
            before = [r for r in self.runs if any(i.delivery.message_id == first for i in r.items)]
            request_id = before[-1].request_id if before else request_id  # as asynchronous retries do
        run = Run(f"{self.name}#{len(self.runs) + 1}", request_id, items, now)
        self.runs.append(run)
        environment.is_busy = True
        for item in items:
            item.delivery.consumer, item.delivery.run_id = self.name, run.run_id
            item.delivery.batch_count = len(items)
        self.simulation.spawn(self._play(environment, run))
        return run

    def _free_environment(self) -> Environment | None:
        for environment in self.environments:
            if not environment.is_busy:
                return environment
        if len(self.environments) >= self.plan.concurrency:
            return None
        day = iso(self.simulation.now)[:10].replace("-", "/")
        named = self.name if self.is_named_in_streams else ""
        marker = f"{day}/{named}[{self.plan.version}]{self.rng.getrandbits(128):032x}"
        if self.plan.one_stream and self.environments:
            marker = self.environments[0].stream
        self.environments.append(Environment(self, marker))
        return self.environments[-1]

    def _play(self, environment: Environment, run: Run) -> Steps:
        platform = self.plan.platform
        init_ms: float | None = None
        fails_init = "init_failure" in self.plan.troubles and environment.is_fresh and self._strikes()
        if environment.is_fresh and not environment.was_reset:
            init_ms = self.rng.randrange(15_000, 80_000) / (9 if self.plan.slow_init else 100)
            begun, over = (
                platform_lines.init_start_line(platform, self.simulation.now, self.name, self.plan.version),
                None,
            )
            if self.plan.snap_start:
                begun, over = platform_lines.restore_lines(platform, self.simulation.now, init_ms, self.plan.version)
            environment.write(begun, "platform")
            yield init_ms
            if over:
                environment.write(over, "platform")
            if fails_init:
                self._write_failed_init(environment, "init", init_ms)
        environment.run = run
        run.started_ms = self.simulation.now
        if self.plan.system_log_level != "WARN" or platform != "json":
            text = platform_lines.start_line(platform, run.request_id, run.started_ms, self.arn, self.plan.version)
            environment.write(text, "start")
        if fails_init:
            yield self.rng.randrange(80, 300)
            self._write_failed_init(environment, "invoke", self.simulation.now - run.started_ms)
            self._close(environment, run, "init_failed", None, [])
            return
        if environment.was_reset:
            yield self.rng.randrange(100, 400)  # suppressed init, inside the run
        environment.is_fresh = environment.was_reset = False
        children: list[Process] = []
        for left in environment.frozen:
            left.thaw()
        main = self.simulation.spawn(self._work(environment, run, children))
        over = Gate()
        main.done.when_open(over.open)
        deadline = run.started_ms + self.timeout_ms
        self.simulation.at(deadline, over.open)
        crash_at = None
        if "crash" in self.plan.troubles and self._strikes():
            crash_at = self.simulation.now + self.rng.randrange(5, max(6, min(self.timeout_ms - 500, 8_000)))
            self.simulation.at(crash_at, over.open)
        yield over
        if isinstance(main.error, Suspension | ExecutionFailed):
            status, run.ended_execution = "success", "error" if isinstance(main.error, ExecutionFailed) else None
            run.goes_on_after_ms = main.error.after_ms if isinstance(main.error, Suspension) else None
            main.error = None
        elif main.done.is_open:
            status = "error" if main.error else "success"
        else:
            status = "timeout" if self.simulation.now >= deadline else "crash"
            main.kill()
        if main.error:
            problem = main.error
            kind = problem.args[1] if len(problem.args) > 1 else "ValueError"
            text = self.writer.unhandled(kind, str(problem.args[0]), run.request_id, self.simulation.now)
            environment.write(text, "error")
        self._close(environment, run, status, init_ms, children)

    def _work(self, environment: Environment, run: Run, children: list[Process]) -> Steps:
        deadline = run.started_ms + self.timeout_ms
        if run.execution:
            run.execution.visited, run.execution.is_going_on = 0, False
        self._print_event(environment, run)
        yield self.rng.randrange(1, 8)
        if self.plan.order == "parallel":
            failed = yield from self.handler.parallel(run.items, environment, deadline, children, self.simulation.spawn)
        else:
            stops = (self.queue.is_fifo and self.plan.response in ("right", "right_logged")) or self.plan.leaves_rest
            failed = yield from self.handler.sequential(run.items, environment, deadline, stops)
        if self.plan.response is not None:
            run.response = self._respond(failed)
            if not self.plan.response.startswith("unlogged") and self.plan.response != "right":
                text = "response: " + json.dumps(run.response)
                named = tuple(item.delivery for item in failed) if self.plan.response == "right_logged" else ()
                environment.say(text, "response", names=named)

    def _print_event(self, environment: Environment, run: Run) -> None:
        form, now = self.plan.event_form, self.simulation.now
        deliveries = tuple(item.delivery for item in run.items)
        if form == "sampled" and self.rng.random() < 0.6:
            return
        if form in ("first", "each"):
            for item in run.items:
                item.on_begin = partial(self._print_record, environment, item)
            if form == "first":
                self._print_record(environment, run.items[0])
                run.items[0].on_begin = None
                for item in run.items[1:]:
                    item.on_begin = None
            return
        if form in ("json", "repr", "object", "sampled"):
            records = [sqs_record(item.receipt) for item in run.items]
            text = self.writer.event(records, form, run.request_id, now)
            for part, whole in self._cut(text, deliveries):
                environment.write(part, "event", whole, form != "object" and bool(whole))
        elif form == "ids":
            for delivery in deliveries:
                environment.say(f"Processing message {delivery.message_id}", "ids", names=(delivery,))

    def _cut(self, text: str, deliveries: tuple[Delivery, ...]) -> list[tuple[str, tuple[Delivery, ...]]]:
        """Cut an event that is too long for a log event; each part with the deliveries whose records it prints in whole."""
        limit = self.plan.event_limit
        if limit is None or len(text) <= limit:
            return [(text, deliveries)]
        ends = [text.index(d.handle if d.handle in text else handle_token(d.handle)) + 700 for d in deliveries]
        whole = tuple(d for d, end in zip(deliveries, ends, strict=True) if end < limit)
        return [(text[:limit], whole), *([(text[limit:], ())] if self.plan.event_goes_on else [])]

    def _print_record(self, environment: Environment, item: Item) -> None:
        if environment.run is None:
            return
        record = sqs_record(item.receipt)
        text = self.writer.record(record, environment.run.request_id, self.simulation.now)
        environment.write(text, "event", (item.delivery,), True)

    def _respond(self, failed: list[Item]) -> object:
        ids = [item.delivery.message_id for item in failed]
        form = self.plan.response or ""
        if form.endswith("wrong_id") and ids:
            ids = [item.key for item in failed]
        if form == "empty_id" and ids:
            ids = ["" for _ in failed]
        word = "itemId" if form == "wrong_key" else "itemIdentifier"
        return {"batchItemFailures": [{word: one} for one in ids]}

    def _close(
        self, environment: Environment, run: Run, status: str, init_ms: float | None, children: list[Process]
    ) -> None:
        now = self.simulation.now
        end = platform_lines.RunEnd(
            run.request_id,
            run.started_ms,
            now,
            status,
            self.timeout_ms,
            init_ms,
            error_type=self.rng.choice(types) if len(types := self.plan.raised_types) > 1 else types[0],
            reported_as=self.rng.choice(self.plan.raised_statuses),
            is_restored=self.plan.snap_start,
        )
        for at_ms, role, text in platform_lines.end_lines(self.plan.platform, end, self.plan.system_log_level):
            environment.write(text, role, at_ms=at_ms)
        survivors = [p for p in [*environment.frozen, *children] if not p.done.is_open]
        environment.frozen = []
        for process in survivors:
            if status in ("success", "error"):
                process.freeze()
                environment.frozen.append(process)
            else:
                process.kill()
        if status not in ("success", "error"):
            environment.is_fresh = environment.was_reset = True
        run.status, run.ended_ms = status, now
        environment.run, environment.is_busy = None, False
        run.done.open()

    def _write_failed_init(self, environment: Environment, phase: str, init_ms: float) -> None:
        for text in platform_lines.failed_init_lines(self.plan.platform, self.simulation.now, phase, init_ms):
            environment.write(text, "platform")

    def _strikes(self) -> bool:
        return self.rng.random() < self.plan.trouble_rate
