"""The event source mapping: polls the queue, invokes the function, deletes what it may."""

import random
from collections.abc import Callable

from tests.oracle.function import Function, Run
from tests.oracle.handler import Item
from tests.oracle.plan import Plan
from tests.oracle.simulation import Simulation, Steps
from tests.oracle.sqs import HandleExpiredError, Queue, Receipt

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
        is_over: Callable[[], bool],
    ) -> None:
        self.simulation, self.rng, self.plan = simulation, rng, plan
        self.queue, self.function, self.make_item, self.is_over = queue, function, make_item, is_over
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
            yield run.done
            yield self.rng.randrange(5, 40)
            self._settle(run)

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
        if run.status != "success":
            self.failed.append((run.ended_ms, len(run.items)))
            for item in run.items:
                item.delivery.end(run.status, now)
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
