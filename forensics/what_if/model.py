"""The plain values of a replay: settings, what was observed of each message, and what came of it. Times in seconds."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Setup:
    """Settings of a queue and its consumer. ``timeout_s`` None: no function's timeout ends a run (workers).

    ``max_receives`` None: no dead-letter queue. ``concurrency`` is how many runs may go on at once. ``retention_s`` None: nothing
    tells how long a message is kept, so none is dropped.
    """

    visibility_s: float
    batch_size: int = 1
    timeout_s: float | None = None
    partial_responses: bool = False
    max_receives: int | None = None
    concurrency: int = 1
    retention_s: float | None = None


@dataclass(frozen=True)
class Attempt:
    """What one delivery's work took, and whether the handler raised at it. ``at_s``: when it began.

    ``is_known`` is false where the run was over before the work was: then it is taken to be like its neighbours. ``is_done``: the
    work was done before the handler raised.
    """

    at_s: float
    took_s: float
    raises: bool = False
    is_known: bool = True
    is_done: bool = False


@dataclass(frozen=True)
class Observed:
    """One message: when it was sent, its FIFO group (None: none), and its deliveries in order."""

    message_id: str
    sent_at_s: float
    group: str | None
    attempts: tuple[Attempt, ...]


@dataclass
class Outcome:
    """What came of all messages. Sums and counts are over the whole replay, or over what was observed.

    ``redelivered`` are messages that came more than once; ``repeats`` counts works done beyond the first of their message;
    ``blocked_s`` is how long FIFO groups with messages waiting were held by deliveries that had failed; ``waits_s`` is from
    sent to done, per message. ``unfinished`` are messages neither deleted nor dead-lettered at the end; None: not told.
    """

    runs: int = 0
    failed_runs: int = 0
    busy_s: float = 0.0
    redelivered: int = 0
    repeats: int = 0
    dead_lettered: int = 0
    unfinished: int | None = None
    blocked_s: float = 0.0
    waits_s: list[float] = field(default_factory=list)

    def wait_s(self, percent: float) -> float | None:
        """Return the waiting time that so many percent of the messages do not exceed; None where nothing was done."""
        if not self.waits_s:
            return None
        ordered = sorted(self.waits_s)
        return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]

    def numbers(self) -> Mapping[str, float | None]:
        """Return the numbers that are compared, by name."""
        return {
            "redelivered": self.redelivered,
            "repeats": self.repeats,
            "dead_lettered": self.dead_lettered,
            "unfinished": self.unfinished,
            "failed_runs": self.failed_runs,
            "blocked_s": round(self.blocked_s, 1),
            "wait_p50_s": _rounded(self.wait_s(50)),
            "wait_p95_s": _rounded(self.wait_s(95)),
            "wait_max_s": _rounded(max(self.waits_s, default=None)),
            "runs": self.runs,
            "busy_s": round(self.busy_s, 1),
        }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)
