"""Could a line have told why a message was redelivered? Asked of what a world wrote down and kept, whatever anybody makes of it.

It could where the log of the earlier delivery was kept, names the message, and holds what says how that delivery ended: the end of
its run, its response, its failed delete, its stop; or where the metric, event or recorded call that says so was kept. It could
not where nothing of the kind was ever written, such as the response of a function that does not print it; nor, where the
visibility timeout is not known, of a receive that may lie on either side of that end; nor of a receive that no log shows at a time of
which a log was not read.
"""

from collections import defaultdict
from typing import TYPE_CHECKING

from tests.oracle.truth import Cause

if TYPE_CHECKING:
    from tests.oracle.world import World

ENDS = frozenset({"end", "report", "timeout", "crash", "error"})
_RUN_ENDED = frozenset({"function_timeout", "function_error", "runtime_crash", "batch_collateral"})
_NOT_DELETED = frozenset({"partial_response", "delete_ineffective"})
_POLLER_MS = 1_000
"""So long a poller may take from a receive to the run."""


class Telling:
    """What the kept lines of one world say of each delivery's end."""

    def __init__(self, world: "World") -> None:
        self.plan = world.plan
        self._roles: dict[str | None, set[str]] = defaultdict(set)
        self._last_ms: dict[str | None, int] = {}
        self._named: set[int] = set()
        self._ended_ms = {run.run_id: run.ended_ms for f in world.functions for run in f.runs}
        self._began_ms = {run.run_id: run.started_ms for f in world.functions for run in f.runs}
        self._truth, self._evidence = world.truth, world.evidence
        self._came_back: dict[tuple[str | None, int], set[str]] = defaultdict(set)
        for cause in (c for known in world.truth.values() for c in known.causes):
            if cause.before.run_id in self._ended_ms and cause.code in _NOT_DELETED:
                self._came_back[self._minute(cause)].add(cause.code)
        for line in world.evidence.lines:
            self._roles[line.run_id].add(line.role)
            self._last_ms[line.run_id] = max(line.at_ms, self._last_ms.get(line.run_id, 0))
            self._named.update(id(delivery) for delivery in line.names)

    def could_tell(self, cause: Cause) -> bool:
        """Tell whether what says how the delivery before ended was written and kept."""
        before, plan = cause.before, self.plan
        if cause.code in ("throttled", "unseen_receive"):
            is_read = self._was_read(before.received_ms, cause.later_ms)
            return is_read and (plan.metrics_kept or (cause.code == "unseen_receive" and plan.consumer != "lambda"))
        if before.run_id is None or id(before) not in self._named:
            return False
        if len(before.handlings) > 1 or plan.is_durable:
            return False  # which of the runs of one receive tells how it ended, or that an execution did, no line says
        roles = self._roles[before.run_id]
        has_end = bool(roles & ENDS)
        if cause.code in _RUN_ENDED:
            return has_end and (self._shows_visibility or (self._ms_apart(cause) or 0) >= _POLLER_MS)
        if cause.code in _NOT_DELETED:
            if not plan.has_responses_heard:
                return has_end and plan.mapping_kept and not plan.settings_change_later
            return has_end and ("response" in roles or self._counts_tell(cause))
        if cause.code == "worker_killed":
            return "stop" in roles or plan.task_events
        if cause.code in ("delete_failed", "handle_expired"):
            return "delete_error" in roles
        if cause.code == "visibility_expired":
            is_told = self._shows_visibility or before.run_id not in self._ended_ms or (self._ms_apart(cause) or 0) < 0
            return is_told and (has_end or self._last_ms[before.run_id] > cause.later_ms)
        is_said = cause.code == "released" and (plan.is_fifo or "lease" in roles)
        return plan.calls == "all" or is_said

    @property
    def _shows_visibility(self) -> bool:
        """The visibility timeout in force is known."""
        return self.plan.queue_settings_kept and not self.plan.settings_change_later

    def _was_read(self, start_ms: int, end_ms: int) -> bool:
        """All that consumers wrote in a time was read."""
        kept = self._evidence
        is_inside = kept.read_from_ms <= start_ms and end_ms < kept.end_ms and not kept.is_provisional
        is_whole = kept.gap is None or end_ms < kept.gap[0] or start_ms >= kept.gap[1]
        return is_inside and is_whole and self.plan.loss != "denied"

    def _ms_apart(self, cause: Cause) -> int | None:
        """Return how long after the end of the earlier run the later one began, negative while that was on; None: no run began."""
        later = self._truth[cause.message_id].receives[cause.receive_count - 1]
        began_ms = self._began_ms.get(later.run_id)
        return None if began_ms is None else began_ms - self._ended_ms[cause.before.run_id]

    def _counts_tell(self, cause: Cause) -> bool:
        """The mapping's counts tell what a run gave back, unless another of the same minute could have, in its stead.

        Who was given back is counted when the run ends, and who could not be deleted is not: two messages that came back of
        runs that ended in one minute, the one for the one reason and the other for the other, might as well have changed places.
        """
        if not (self.plan.counts_events and self.plan.metrics_kept):
            return False
        kinds = self._came_back[self._minute(cause)]
        return len({code == "partial_response" for code in kinds}) == 1

    def _minute(self, cause: Cause) -> tuple[str | None, int]:
        return cause.before.consumer, self._ended_ms[cause.before.run_id] // 60_000
