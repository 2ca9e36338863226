"""In which deliveries does no line tell whether the work was done? Asked of what a world wrote down and kept, whatever anybody makes of it.

A delivery is untold where another world would have written and kept the very same, with the work done in the one and not in the
other. Each such world is one step away, and the simulation could play it:

- a run or worker that was cut off between an effect and its line, or just before the effect (``Fate.gap_ms``, ``before_ms``);
- a handler that raised after the effect instead of before it (``Fate.fails``);
- a batch taken in an order that nobody declared, or of which no line says how far it got: cut off one message earlier or later;
- an effect without a line, where the team does not say that every effect prints one;
- a repeat that a silent guard answered, or did: what was done once may be done again without a word;
- a message that a response gave back or not, of which neither the response nor a count tells;
- an error that a handler caught and logged: it tried again, or gave the item up, or all that its batch still held;
- a run that printed nothing, or whose end was lost;
- a further run of one receive, where the function may be durable: a step that was done again prints what a replay prints.

Everything else counts as told: where we are in doubt a line could tell. What an exception says in words of its own is no line
that tells: which message of a batch it means, only its author knows.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tests.oracle.function import Run
from tests.oracle.lines import Line
from tests.oracle.telling import ENDS
from tests.oracle.truth import Delivery, MessageTruth

if TYPE_CHECKING:
    from tests.oracle.world import World

ORDER_SHOWS_FROM = 30
"""So many runs of several messages that succeeded show in which order they are taken."""


class Untold:
    """What the kept lines of one world leave open of its deliveries' effects."""

    def __init__(self, world: "World") -> None:
        self.world, self.plan = world, world.plan
        self._runs: dict[str | None, Run] = {run.run_id: run for f in world.functions for run in f.runs}
        self._roles: dict[str | None, set[str]] = defaultdict(set)
        self._marked: set[int] = set()
        self._marked_keys: set[tuple[str | None, str]] = set()
        self._begun: set[int] = set()
        self._named: set[int] = set()
        self._is_event_shown = self.plan.event_form in ("json", "repr", "object")
        for line in world.evidence.lines:
            self._roles[line.run_id].add(line.role)
            named = {id(delivery) for delivery in line.names}
            self._named |= named
            if line.role == "effect" and self.plan.effect_declared:
                self._marked |= {id(d) for d in line.names if self._is_of(d, line)}
                self._marked_keys.update((line.run_id, key) for key in line.keys)
            elif line.role == "guard":
                self._marked |= named
                self._marked_keys.update((line.run_id, key) for key in line.keys)
            elif line.role == "started" and self.plan.started_declared:
                self._begun |= named
        self._links_keys = self.plan.business_key_declared and self._is_event_shown
        self._has_marks = self.plan.effect_declared and self.plan.effect_line is not None
        several = (run for run in self._runs.values() if len(run.items) > 1 and run.status == "success")
        self._shown_runs = Counter(run.items[0].delivery.consumer for run in several)

    def _is_of(self, delivery: Delivery, line: Line) -> bool:
        """Tell whether an effect line shows whose it is: what a run left behind may be printed in a later one.

        Then that one's batch must show that the message is not in it.
        """
        if delivery.run_id == line.run_id or not self.world.functions:
            return True
        run = self._runs.get(line.run_id)
        batch = {item.delivery.message_id for item in run.items} if run else set()
        return self._is_event_shown and delivery.message_id not in batch

    def count(self, works: Iterable[MessageTruth], by_key: bool = False) -> int:
        """Return in how many deliveries of these messages, all of one work, no line tells whether it was done.

        Of deliveries that lines show: a run that names the message, or a later receive count. ``by_key``: of runs whose marks
        name the work's key, and nothing else.
        """
        shown = [(d, known) for known in works for d in known.deliveries if self._is_shown(d, known, by_key)]
        found, is_done = 0, False
        for delivery, known in sorted(shown, key=lambda pair: pair[0].received_ms):
            is_told = by_key or self.tells(delivery, known.business_key, is_done)
            is_done = is_done or (is_told and bool(delivery.effects_ms))
            found += not is_told
        return found

    @staticmethod
    def _is_shown(delivery: Delivery, known: MessageTruth, by_key: bool) -> bool:
        if by_key:
            return delivery.run_id in known.key_named_runs
        return delivery.run_id in known.named_runs or delivery.receive_count <= max(known.counts_shown, default=0)

    def tells(self, delivery: Delivery, key: str, was_done: bool = False) -> bool:
        """Tell whether lines say if the work was done in a delivery; ``was_done``: they say so of an earlier one."""
        if self._may_be_replay(delivery):
            return False
        if id(delivery) in self._marked:
            return True
        if (self._links_keys or delivery.batch_count == 1) and (delivery.run_id, key) in self._marked_keys:
            return True
        if delivery.run_id is None:
            return self._shows_every_run and delivery.received_ms >= self.world.evidence.since_ms
        if id(delivery) not in self._named:
            return False
        if self.plan.is_durable and len(delivery.handlings) > 1 and not self._has_marks:
            return False
        if not self.world.functions:
            return self._worker_tells(delivery)
        run = self._runs[delivery.run_id]
        has_end = bool(self._roles[run.run_id] & ENDS)
        if run.status == "success":
            return has_end and self._success_tells(delivery, run, was_done)
        if run.status == "init_failed":
            return has_end
        return self._progress_tells(delivery, run, was_done)

    def _may_be_replay(self, delivery: Delivery) -> bool:
        """It is a further run of its receive, and the function is durable for all that the settings say."""
        return self.plan.may_be_durable and delivery.is_further

    def _is_sequential(self, delivery: Delivery) -> bool:
        """Settings, or runs enough of its function, tell that batches are taken one after the other."""
        is_shown = self.plan.order_declared or self._shown_runs[delivery.consumer] >= ORDER_SHOWS_FROM
        return self.plan.order == "sequential" and is_shown

    @property
    def _shows_every_run(self) -> bool:
        """Every run would have shown, and named its messages."""
        plan = self.plan
        is_printed = plan.system_log_level != "WARN" and plan.event_form != "nothing"
        return bool(self.world.functions) and is_printed and plan.loss == "none"

    def _success_tells(self, delivery: Delivery, run: Run, was_done: bool) -> bool:
        if "item_error" in self._roles[run.run_id]:
            return False
        if self._has_marks:
            return self.plan.exhaustive_declared
        if not self._tells_not_given_back(delivery, run):
            return False
        return not was_done or self.plan.idempotent_declared or self.plan.guard_table in ("whole", "part")

    def _tells_not_given_back(self, delivery: Delivery, run: Run) -> bool:
        """Lines, settings, counts or calls tell that a run which succeeded did not give the message back."""
        plan = self.plan
        if not plan.has_responses_heard:
            return plan.mapping_kept
        if delivery.outcome == "named_in_response" or delivery.outcome == "malformed_response":
            return False  # given back: raised before its effect, or after
        is_deleted = delivery.outcome in ("deleted", "delete_ignored", "delete_refused")
        if is_deleted and plan.calls == "all":
            return True
        if "response" in self._roles[run.run_id]:
            return True
        is_last = self.world.truth[delivery.message_id].deliveries[-1] is delivery
        return (is_last and plan.loss == "none") or (plan.counts_events and plan.metrics_kept)

    def _progress_tells(self, delivery: Delivery, run: Run, was_done: bool) -> bool:
        """Lines tell how far a run got that failed: what was not reached was not done, what it went on from was."""
        batch = [item.delivery for item in run.items]
        if self.plan.may_be_durable or len(batch) == 1 or not self._is_sequential(delivery) or not self._is_event_shown:
            return False
        is_shown = self.plan.started_declared and any(id(d) in self._begun for d in batch)
        if not is_shown and not self.plan.exhaustive_declared:
            return False
        reached = next((place for place, d in enumerate(batch) if not d.is_finished), len(batch))
        place = batch.index(delivery)
        if place >= reached:
            # a silent guard answers repeats without a mark: the run may have gone on from them
            is_unguarded = is_shown or self.plan.idempotent_declared or self.plan.guard == "line"
            return place > reached and (is_unguarded or any(d.receive_count == 1 for d in batch[reached:place]))
        if self._has_marks:
            return self.plan.exhaustive_declared
        return not self.plan.has_responses_heard and self.plan.mapping_kept and not was_done

    def _worker_tells(self, delivery: Delivery) -> bool:
        """A worker's own lines tell: done, or its delete was tried, as a recorded call tells, too; or it never came again."""
        roles, plan = self._roles[delivery.run_id], self.plan
        tried = ("deleted", "delete_failed", "delete_refused", "delete_ignored")
        if delivery.outcome in tried and not delivery.is_guarded:
            if plan.consumer == "laravel":
                return bool(roles & {"framework", "delete_error"})
            known = self.world.truth[delivery.message_id]
            is_gone = known.deliveries[-1] is delivery and known.dead_lettered_ms is None and plan.loss == "none"
            return is_gone or "delete_error" in roles or plan.calls == "all"
        return False
