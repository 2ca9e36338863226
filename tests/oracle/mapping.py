"""The event source mapping: polls the queue, invokes the function, deletes what it may."""

import random
from collections.abc import Callable

from tests.oracle.function import Function, Run
from tests.oracle.handler import Execution, Item
from tests.oracle.plan import Plan
from tests.oracle.simulation import Simulation, Steps
from tests.oracle.sqs import HandleExpiredError, Queue, Receipt
from tests.oracle.truth import Delivery

MappingSteps = Steps


class Mapping:
    """Feeds one queue to one function with several pollers."""

    def __init__(
        self,
        simulation: Simulation,
        rng: random.Random,
        plan: Plan,
        queue: Queue,
        function: Function,
        make_item: Callable[[Receipt], Item],
        make_again: Callable[[Item], Item],
        note_handled: Callable[[Delivery], None],
        is_over: Callable[[], bool],
    ) -> None:
        """``make_again`` makes of an item what another run gets of its receive; ``note_handled`` is told when one does."""
        self.simulation, self.rng, self.plan = simulation, rng, plan
        self.queue, self.function, self.is_over = queue, function, is_over
        self.make_item, self.make_again, self.note_handled = make_item, make_again, note_handled
        self.deleted: list[tuple[int, int]] = []  # (time, how many the queue let go)
        self.invoked: list[tuple[int, int]] = []
        self.failed: list[tuple[int, int]] = []
        self.accepted: list[tuple[int, int]] = []  # (time, deletes that SQS took)

    def start(self) -> None:
        """Start as many pollers as the function may run at once, and one more."""
        for _ in range(self.plan.concurrency + 1):
            self.simulation.spawn(self._poll(), at=self.simulation.now + self.rng.randrange(1000))

    def _poll(self) -> MappingSteps:
        while not self.is_over():
            receipts = self.queue.receive(self.plan.batch_size)
            if not receipts:
                yield self.rng.randrange(200, 1500)
                continue
            receipts += yield from self._gather(len(receipts))
            items = [self.make_item(receipt) for receipt in receipts]
            self._begin_execution(items)
            yield self.rng.randrange(5, 120)  # between the receive and START
            run = self.function.invoke(items)
            gives_up = min(receipt.visible_again_ms for receipt in receipts) - 1
            while run is None and self.simulation.now < gives_up:
                yield min(self.rng.randrange(800, 3000), gives_up - self.simulation.now)
                run = self.function.invoke(items) if self.simulation.now < gives_up else None
            if run is None:
                for item in items:
                    item.delivery.end("throttled", self.simulation.now)
                continue
            self.invoked.append((self.simulation.now, len(items)))
            if self.plan.may_be_several_runs:
                run = yield from self._see_through(run, gives_up)
            yield run.done
            yield self.rng.randrange(5, 40)
            self._settle(run)

    def _see_through(self, run: Run, gives_up: int) -> MappingSteps:
        """Return the run by whose end the receive ends, of all that have it: of several executions, and of one."""
        if self.rng.random() < self.plan.invokes_again:
            yield self.rng.choice(
                (self.rng.randrange(5, 50), self.rng.randrange(50, 3_000), self.rng.randrange(3_000, 40_000))
            )
            settles = self.rng.random() < 0.5
            again = self._invoke(run, settles) if self.simulation.now < gives_up else None
            if again:  # the other one nobody waits for
                run, other = (again, run) if settles else (run, again)
                self.simulation.spawn(self._go_on(other, settles=False))
        return (yield from self._go_on(run))

    def _begin_execution(self, items: list[Item]) -> None:
        """Let a durable function begin anew with these; each invocation by a poller does."""
        if self.plan.is_durable:
            execution = Execution(self.simulation.now + self.plan.execution_timeout_s * 1_000)
            for item in items:
                item.execution = execution

    def _invoke(self, run: Run, settles: bool, execution: Execution | None = None) -> Run | None:
        """Invoke the function with the very batch of another run; None where it was throttled."""
        items = [self.make_again(item) for item in run.items]
        self._begin_execution(items)
        for item in items if execution else ():
            item.execution = execution
        again = self.function.invoke(items)
        if again:
            for item, had in zip(items, run.items, strict=True):
                item.delivery.join(had.delivery, settles)
                self.note_handled(item.delivery)
        return again

    def _go_on(self, run: Run, settles: bool = True) -> MappingSteps:
        """Invoke a durable function until its execution is over, and return the last run of it; any other has but one."""
        execution = run.execution
        while execution:
            yield run.done
            if run.goes_on_after_ms is None and run.status == "success":
                break
            again = None
            next_ms = self.simulation.now + (run.goes_on_after_ms or self.rng.randrange(500, 3_000))
            while again is None and next_ms < execution.ends_ms:
                yield next_ms - self.simulation.now
                again = self._invoke(run, settles, execution)
                next_ms = self.simulation.now + self.rng.randrange(800, 3_000)
            if again is None:
                yield max(0, execution.ends_ms - self.simulation.now)
                run.ended_execution = "timeout" if run.status == "success" else run.status
                break
            run = again
        return run

    def _gather(self, count: int) -> MappingSteps:
        """Go on receiving until the batch is full or the batching window is over."""
        more: list[Receipt] = []
        ends_ms = self.simulation.now + self.plan.batch_window_s * 1000
        while count + len(more) < self.plan.batch_size and self.simulation.now < ends_ms:
            yield min(self.rng.randrange(200, 1500), ends_ms - self.simulation.now)
            more += self.queue.receive(self.plan.batch_size - count - len(more))
        return more

    def _settle(self, run: Run) -> None:
        now = self.simulation.now
        if run.status != "success" or run.ended_execution:
            self.failed.append((run.ended_ms, len(run.items)))
            for item in run.items:
                item.delivery.end(run.ended_execution or run.status, now)
            return
        failed = self._failed_ids(run)
        self.failed.append((run.ended_ms, len(run.items) if failed is None else len(failed)))
        let_go = 0
        for item in run.items:
            if failed is None:
                item.delivery.end("malformed_response", now)
            elif item.delivery.message_id in failed:
                item.delivery.end("named_in_response", now)
            elif "delete_lost" in self.plan.troubles and self.rng.random() < self.plan.trouble_rate:
                item.delivery.end("delete_lost", now)
            else:
                let_go += self._delete(item)
        self.deleted.append((now, let_go))

    def _delete(self, item: Item) -> int:
        try:
            gone = self.queue.delete(item.receipt)
        except HandleExpiredError:
            item.delivery.end("delete_refused", self.simulation.now)
            return 0
        self.accepted.append((self.simulation.now, 1))
        item.delivery.end("deleted" if gone else "delete_ignored", self.simulation.now)
        return int(gone)

    def _failed_ids(self, run: Run) -> set[str] | None:
        """Read batchItemFailures as Lambda does; None means complete failure of the batch."""
        if self.plan.response is None or not self.plan.is_response_heard:
            return set()
        listed = run.response["batchItemFailures"]  # type: ignore[index]
        ids = [entry.get("itemIdentifier") for entry in listed]
        known = {item.delivery.message_id for item in run.items}
        if any(not one or one not in known for one in ids):
            return None
        return set(ids)
