"""The code that does the work: items one after the other or at once, with markers, guards and faults.

The order inside an item is what makes double work hard to see: the effect comes first, its line a moment later, and a
kill may fall between the two.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from tests.oracle.plan import Plan
from tests.oracle.simulation import Gate, Process, Simulation, Steps, WorkError
from tests.oracle.sqs import Receipt
from tests.oracle.truth import Delivery

UNANSWERED = ("read timed out", "card provider answered 502", "socket hang up", "charge failed")
"""Errors of which nobody knows whether the provider had done what was asked of it."""


@dataclass
class Fate:
    """What will happen to one item in one delivery; drawn beforehand."""

    before_ms: int
    gap_ms: int  # between the effect and its line
    after_ms: int
    fails: str | None = None  # before or after (the effect)


@dataclass
class Guard:
    """An idempotency store: in progress until the function's deadline, then completed for its keeping time.

    ``table`` is what it would hold in DynamoDB, by key: status, expiry and end of the lock.
    """

    keep_ms: int
    records: dict[str, tuple[str, int]] = field(default_factory=dict)
    table: dict[str, tuple[str, int, int]] = field(default_factory=dict)

    def state(self, key: str, now: int) -> str:
        """Return free, in_progress or completed."""
        state, until = self.records.get(key, ("free", 0))
        return state if now < until else "free"

    def begin(self, key: str, deadline_ms: int, now: int) -> None:
        """Lock a key until the run's deadline."""
        self.records[key] = ("in_progress", deadline_ms)
        self.table[key] = ("INPROGRESS", now + self.keep_ms, deadline_ms)

    def complete(self, key: str, now: int) -> None:
        """Remember that the work is done."""
        self.records[key] = ("completed", now + self.keep_ms)
        if key in self.table:
            self.table[key] = ("COMPLETED", now + self.keep_ms, self.table[key][2])

    def drop(self, key: str) -> None:
        """Forget a key whose work failed."""
        self.records.pop(key, None)
        self.table.pop(key, None)


class Speaker(Protocol):
    """Where an item's lines go: a Lambda run's environment, or a worker; ``verb`` is how effect lines begin."""

    @property
    def verb(self) -> str: ...  # noqa: D102

    def say(
        self, text: str, role: str, level: str = "INFO", names: tuple[Delivery, ...] = (), keys: tuple[str, ...] = ()
    ) -> None:
        """Log one application line now."""

    def say_caught(self, error_type: str, text: str) -> None:
        """Log an exception that the handler caught."""


@dataclass(eq=False)
class Item:
    """One message in one batch."""

    receipt: Receipt
    delivery: Delivery
    fate: Fate
    key: str
    on_begin: Callable[[], None] | None = None
    execution: "Execution | None" = None  # of a durable function


class Suspension(WorkError):  # noqa: N818
    """Ends a run of a durable function well; another goes on after so many milliseconds."""

    def __init__(self, after_ms: int) -> None:
        super().__init__(f"goes on after {after_ms} ms")
        self.after_ms = after_ms


class ExecutionFailed(WorkError):  # noqa: N818
    """Ends the execution of a durable function: its SDK answers that it failed, and the run itself ends well."""


@dataclass
class Execution:
    """What one execution of a durable function has behind it, whatever run did it; ``ends_ms``: when it times out."""

    ends_ms: int
    done: set[str] = field(default_factory=set)  # checkpoints: steps and waits
    attempts: dict[str, int] = field(default_factory=dict)
    visited: int = 0  # of them, by the run that is on
    is_going_on: bool = False  # that run has come to something that was not done

    def has(self, operation: str) -> bool:
        """Come to an operation, and tell whether it was done before."""
        is_done = operation in self.done
        self.visited += is_done
        self.is_going_on |= not is_done
        return is_done


@dataclass
class Handler:
    """How one world's code works through a batch."""

    plan: Plan
    simulation: Simulation
    rng: random.Random
    guard: Guard | None
    follow_up: Callable[[Item, Speaker], None] | None = None
    """Called when the work of an item was done."""
    let_go: Callable[[Item, Speaker], None] | None = None
    """Called when it failed."""

    def guard_key(self, item: Item) -> str:
        """Return what the guard takes for the item's key."""
        return item.delivery.message_id if self.plan.guard_key == "message_id" else item.key

    def item(self, item: Item, speaker: Speaker, deadline_ms: int) -> Steps:
        """Work on one item; raises WorkError where it is fated to fail."""
        delivery, fate, now = item.delivery, item.fate, lambda: self.simulation.now
        if item.on_begin:
            item.on_begin()
        if self.plan.started_line:
            # without a declared pattern a bare id is a mention only to those who guess
            named = (delivery,) if self.plan.started_declared else ()
            speaker.say(f"processing {delivery.message_id}", "started", names=named)
        yield self.rng.randrange(1, 6)
        if self.guard:
            state = self.guard.state(self.guard_key(item), now())
            if state == "completed":
                self._say_guarded(item, speaker)
                delivery.is_guarded = delivery.is_finished = True
                return
            if state == "in_progress":
                self._refuse(item, speaker)
            self.guard.begin(self.guard_key(item), deadline_ms, now())
        yield fate.before_ms
        if self.plan.caught_errors and self.rng.random() < self.plan.trouble_rate:
            speaker.say_caught("ProviderBusy", f"card provider answered 429 for {item.key}, trying again")
        if fate.fails == "before":
            self._fail(item, speaker)
        delivery.effects_ms.append(now())
        yield fate.gap_ms
        if fate.fails == "after":
            self._fail(item, speaker)
        self._say_effect(item, speaker)
        if self.follow_up:
            self.follow_up(item, speaker)
        if self.guard:
            self.guard.complete(self.guard_key(item), now())
        yield fate.after_ms
        delivery.is_finished = True

    def _fail(self, item: Item, speaker: Speaker) -> None:
        if self.guard:
            self.guard.drop(self.guard_key(item))
        if self.let_go:
            self.let_go(item, speaker)
        raise WorkError(f"card provider answered 502 for {item.key}")

    def _say_effect(self, item: Item, speaker: Speaker) -> None:
        form, delivery = self.plan.effect_line, item.delivery
        if form is None:
            return
        words = {
            "both": f"{speaker.verb} payment_id={item.key} message_id={delivery.message_id}",
            "message": f"{speaker.verb} message_id={delivery.message_id}",
            "key": f"{speaker.verb} payment_id={item.key}",
        }[form]
        named = (delivery,) if form != "key" else ()
        speaker.say(words, "effect", names=named, keys=(item.key,) if form != "message" else ())
        links_key = self.plan.business_key_declared and self.plan.event_form in ("json", "repr", "object")
        delivery.is_marked = self.plan.effect_declared and (form != "key" or links_key)

    def _say_guarded(self, item: Item, speaker: Speaker) -> None:
        if self.plan.guard == "line" and self.plan.consumer == "lambda":
            speaker.say(f"already processed {item.key}", "guard", keys=(item.key,))
        elif self.plan.guard == "line":
            text = f"already processed {item.key} message_id={item.delivery.message_id}"
            speaker.say(text, "guard", names=(item.delivery,), keys=(item.key,))

    def _refuse(self, item: Item, speaker: Speaker) -> None:
        if self.plan.guard == "powertools":
            raise WorkError(
                "Execution already in progress with idempotency key: body.payment_id=charges#" + item.key,
                "IdempotencyAlreadyInProgressError",
            )
        self._say_guarded(item, speaker)
        raise WorkError(f"another worker holds {item.key}")

    # -- a batch -------------------------------------------------------------------------------------------

    def sequential(self, items: list[Item], speaker: Speaker, deadline_ms: int, stops_at_failure: bool) -> Steps:
        """Work through a batch in order and return the failed items; without partial responses a failure leaves it."""
        failed: list[Item] = []
        for number, item in enumerate(items):
            try:
                yield from self.item(item, speaker, deadline_ms)
            except WorkError as problem:
                if self.plan.response is None and self.plan.swallows is None:
                    raise
                self._say_failed(item, problem, speaker)
                failed.append(item)
                if stops_at_failure:
                    return failed + items[number + 1 :]
        return failed

    def _say_failed(self, item: Item, problem: BaseException, speaker: Speaker) -> None:
        """Log the error of an item, and go on."""
        what = f"record failed: {problem.args[0]}"
        if self.plan.swallows is not None:
            named = {"id": f"{item.delivery.message_id}: ", "key": f"{item.key}: "}.get(self.plan.swallows, "")
            what = f"record failed: {named}{self.rng.choice(UNANSWERED)}"
        if self.plan.runtime == "python_print" and (self.plan.swallows or not self.plan.is_response_heard):
            what = f"ERROR {what}"
        speaker.say(what, "item_error", level="ERROR")

    def parallel(
        self,
        items: list[Item],
        speaker: Speaker,
        deadline_ms: int,
        children: list[Process],
        spawn: Callable[[Steps], Process],
    ) -> Steps:
        """Work on all items at once and return the failed ones; ``children`` is filled for the run to kill or freeze."""
        settled = Gate()
        for item in items:
            children.append(spawn(self.item(item, speaker, deadline_ms)))
        waits_for_all = self.plan.awaits_siblings or self.plan.response is not None or self.plan.swallows is not None

        def look() -> None:
            failed = any(child.error for child in children)
            if all(child.done.is_open for child in children) or (failed and not waits_for_all):
                settled.open()

        for child in children:
            child.done.when_open(look)
        yield settled
        failed = [item for item, child in zip(items, children, strict=True) if child.error]
        if failed and self.plan.response is None and self.plan.swallows is None:
            raise next(child.error for child in children if child.error)
        for item, child in zip(items, children, strict=True):
            if child.error:
                self._say_failed(item, child.error, speaker)
        return failed


class Reporter(Handler):
    """Code that reports dead letters, and does none of their work."""

    def item(self, item: Item, speaker: Speaker, deadline_ms: int) -> Steps:
        """Say in an effect line's form that a message was put into the archive."""
        if item.on_begin:
            item.on_begin()
        yield self.rng.randrange(1, 50)
        words = f"{speaker.verb} payment_id={item.key} message_id={item.delivery.message_id}"
        speaker.say(words, "archived", names=(item.delivery,))
        item.delivery.is_finished = True


class DurableHandler(Handler):
    """Code of a durable function: what it charges, it charges in a step, once per attempt; what it waits for ends the run."""

    def sequential(self, items: list[Item], speaker: Speaker, deadline_ms: int, stops_at_failure: bool) -> Steps:
        """Work through a batch in order; whatever a step raised at last fails the item, or the execution."""
        failed: list[Item] = []
        for number, item in enumerate(items):
            try:
                yield from self.item(item, speaker, deadline_ms)
            except Suspension:
                raise
            except WorkError as problem:
                if self.plan.response is None:
                    raise ExecutionFailed(*problem.args) from problem
                self._say_failed(item, problem, speaker)
                failed.append(item)
                if stops_at_failure:
                    return failed + items[number + 1 :]
        return failed

    def item(self, item: Item, speaker: Speaker, deadline_ms: int) -> Steps:
        """Wait, charge and wait, as far as that is not done; raises WorkError where the step has failed for good."""
        execution, message_id = item.execution, item.delivery.message_id
        assert execution
        if item.on_begin:
            item.on_begin()
        if self.plan.started_line and (self.plan.step_lines != "logger" or self._is_heard(execution)):
            named = (item.delivery,) if self.plan.started_declared else ()
            speaker.say(f"processing {message_id}", "started", names=named)
        yield self.rng.randrange(1, 6)
        if self.plan.waits == "before":
            self._wait(execution, f"{message_id} before")
        is_done = execution.has(message_id)
        if execution.attempts.get(message_id, 0) >= self.plan.step_attempts:
            raise WorkError(f"card provider answered 502 for {item.key}")
        if not is_done:
            yield from self._step(item, execution, speaker)
        if self.plan.step_lines == "outside" or (self.plan.step_lines == "logger" and self._is_heard(execution)):
            yield item.fate.gap_ms
            self._say_effect(item, speaker)
        if self.plan.waits == "after":
            self._wait(execution, f"{message_id} after")
        item.delivery.is_finished = True

    def _step(self, item: Item, execution: Execution, speaker: Speaker) -> Steps:
        fate = item.fate
        yield fate.before_ms
        if fate.fails == "before":
            self._fail_step(item, execution, speaker)
        item.delivery.effects_ms.append(self.simulation.now)
        if self.plan.step_lines == "inside":
            yield fate.gap_ms
            if fate.fails != "after":
                self._say_effect(item, speaker)
        if fate.fails == "after":
            self._fail_step(item, execution, speaker)
        yield fate.after_ms
        execution.done.add(item.delivery.message_id)
        execution.visited += 1

    def _fail_step(self, item: Item, execution: Execution, speaker: Speaker) -> None:
        """Try a step again in a later run, unless it was tried often enough; what failed is logged."""
        tried = execution.attempts[item.delivery.message_id] = execution.attempts.get(item.delivery.message_id, 0) + 1
        problem = WorkError(f"card provider answered 502 for {item.key}")
        if tried >= self.plan.step_attempts:
            raise problem
        self._say_failed(item, problem, speaker)
        raise Suspension(1_000 * 2**tried)

    def _wait(self, execution: Execution, operation: str) -> None:
        if not execution.has(operation):
            execution.done.add(operation)
            raise Suspension(self.rng.randrange(1_000, 20_000))

    def _is_heard(self, execution: Execution) -> bool:
        """Tell whether the SDK's logger prints: not in a replay, which ends with the last checkpoint, or after it (Node)."""
        if self.plan.runtime == "node":
            return execution.is_going_on or not execution.done
        return execution.visited >= len(execution.done)
