"""What really happened: per delivery, per message. Only the oracle and its judge read this."""

from dataclasses import dataclass, field

RUNNING, DELETED = "running", "deleted"
INVOKED_AGAIN = "invoked_again"
"""Why a receive was in a further run: its poller, or its durable execution, invoked the function again."""


@dataclass(eq=False)
class Delivery:
    """One handling of one receive of one message, and what its consumer did in it.

    A receive has one, but where its poller invoked the function again, or a durable function's execution took several runs.
    """

    message_id: str
    receive_count: int
    received_ms: int
    visible_again_ms: int
    handle: str
    consumer: str | None = None  # function name or worker's log group; None: nobody handled it
    run_id: str | None = None
    effects_ms: list[int] = field(default_factory=list)
    is_marked: bool = False  # its effect line was printed
    shows_mark: bool = False  # that line was kept, and what the team says lets it be read as this delivery's
    shows_leftover: bool = (
        False  # its run printed the effect line of an earlier delivery of the message, as if it were its own
    )
    is_finished: bool = False  # the handler was through with this item
    is_guarded: bool = False
    is_dead: bool = False  # received from the dead-letter queue
    outcome: str = RUNNING
    ended_ms: int | None = None
    batch_count: int = 1
    settles: bool = True  # its run is the one by whose end the poller decides what becomes of the receive
    handlings: "list[Delivery]" = field(default_factory=list)  # all of its receive, in order; shared by them

    def __post_init__(self) -> None:
        self.handlings.append(self)

    def end(self, outcome: str, at_ms: int) -> None:
        """Note how this receive ended; the first word counts."""
        for handling in self.handlings:
            if handling.outcome == RUNNING:
                handling.outcome, handling.ended_ms = outcome, at_ms

    def again(self) -> "Delivery":
        """Return another handling of the same receive; it counts from when it ``joins`` this one."""
        told = self.message_id, self.receive_count, self.received_ms, self.visible_again_ms, self.handle
        return Delivery(*told, is_dead=self.is_dead)

    def join(self, earlier: "Delivery", settles: bool) -> None:
        """Be one of the handlings of another's receive, the one by whose end it ends or not."""
        for handling in earlier.handlings if settles else ():
            handling.settles = False
        self.settles, self.handlings = settles, earlier.handlings
        self.handlings.append(self)
        self.outcome, self.ended_ms = earlier.outcome, earlier.ended_ms

    @property
    def is_further(self) -> bool:
        """It is not the first handling of its receive."""
        return self.handlings[0] is not self


@dataclass(frozen=True, eq=False)
class Cause:
    """Why one redelivery happened; ``before`` is the delivery before it, ``was_finished`` whether its handler was through by then:
    what goes on in the background may finish it in a later run.
    """  # noqa: D205

    message_id: str
    receive_count: int  # of the later delivery
    code: str
    before: Delivery
    later_ms: int
    was_finished: bool = False

    @property
    def accepted(self) -> frozenset[str]:
        """The code, and those that the kept evidence cannot tell from it."""
        is_finished = self.before.is_finished and (self.was_finished or self.code == "visibility_expired")
        return accepted_codes(self.code, self.before, is_finished)


@dataclass
class MessageTruth:
    """One message: how often its work was done, and everything that names it."""

    queue: str
    message_id: str
    business_key: str
    group_id: str | None
    deduplication_id: str | None
    sent_ms: int
    deliveries: list[Delivery] = field(default_factory=list)
    causes: list[Cause] = field(default_factory=list)
    dead_lettered_ms: int | None = None
    origin: str | None = None
    named_runs: set[str] = field(default_factory=set)  # runs whose kept lines name this message
    counts_shown: set[int] = field(default_factory=set)  # receive counts that kept lines print
    is_event_shown: bool = False  # a kept line prints its whole record
    told: set[Delivery] = field(default_factory=set)  # whose kept effect line is this message's own
    key_named_runs: set[str] = field(default_factory=set)  # runs whose kept lines mark its business key

    def forget_what_shows(self) -> None:
        """Begin anew with what kept lines show: other lines are kept now."""
        self.named_runs, self.counts_shown, self.is_event_shown = set(), set(), False
        self.told, self.key_named_runs = set(), set()

    def forget_dead_letters(self) -> None:
        """Leave out what was received from the dead-letter queue: no evidence links it with this message's queue."""
        dead = [d for d in self.deliveries if d.is_dead]
        runs, counts = {str(d.run_id) for d in dead}, {d.receive_count for d in dead}
        self.deliveries = [d for d in self.deliveries if not d.is_dead]
        self.causes = [c for c in self.causes if c.receive_count not in counts]
        self.named_runs, self.key_named_runs = self.named_runs - runs, self.key_named_runs - runs
        self.counts_shown, self.told = self.counts_shown - counts, self.told - set(dead)

    def add(self, delivery: Delivery) -> None:
        """Take in a delivery behind those of its receive, or of the receive before it."""
        place = sum(d.receive_count <= delivery.receive_count for d in self.deliveries)
        self.deliveries.insert(place, delivery)

    @property
    def receives(self) -> list[Delivery]:
        """The first handling of each receive."""
        return [d for d in self.deliveries if not d.is_further]

    @property
    def settling(self) -> Delivery:
        """The handling of the last receive by whose end the poller decides."""
        return next(d for d in self.deliveries[-1].handlings if d.settles)

    @property
    def effects_done(self) -> int:
        """How often the work of this message was done."""
        return sum(len(d.effects_ms) for d in self.deliveries)

    @property
    def is_told(self) -> bool:
        """Every effect left a kept line that names this message, in the run that did the work."""
        return all(not d.effects_ms or d in self.told for d in self.deliveries)

    @property
    def effects_up_to_shown_count(self) -> int:
        """How often the work was done up to the highest receive count that kept lines print."""
        return sum(len(d.effects_ms) for d in self.deliveries if not self.is_hidden(d))

    def is_hidden(self, delivery: Delivery) -> bool:
        """No kept line tells of a handling: none prints so high a receive count, nor, of one of several runs, names the message."""
        is_one_of_several = len(delivery.handlings) > 1 and delivery.run_id not in self.named_runs
        return delivery.receive_count > max(self.counts_shown, default=0) or is_one_of_several

    @property
    def is_known_to_repeat(self) -> bool:
        """The kept evidence shows a second delivery: two runs name the message, or a receive count above 1 is printed."""
        return len(self.named_runs) > 1 or max(self.counts_shown, default=0) > 1


def why_again(before: Delivery, later_ms: int) -> str:
    """Name the cause of a redelivery from what became of the delivery before it."""
    if before.outcome == RUNNING or (before.ended_ms or 0) > later_ms:
        return "visibility_expired" if later_ms >= before.visible_again_ms else "broker_copy"
    if later_ms < before.visible_again_ms and before.outcome not in ("released", "copied"):
        return "broker_copy"
    if before.outcome in ("timeout", "error", "crash") and before.is_finished and before.batch_count > 1:
        return "batch_collateral"
    return {
        "timeout": "function_timeout",
        "error": "function_error",
        "crash": "runtime_crash",
        "init_failed": "runtime_crash",
        "throttled": "throttled",
        "lost": "unseen_receive",
        "killed": "worker_killed",
        "released": "released",
        "named_in_response": "partial_response",
        "malformed_response": "partial_response",
        "delete_lost": "delete_ineffective",
        "delete_failed": "delete_failed",
        "delete_refused": "handle_expired",
        "delete_ignored": "visibility_expired",
        DELETED: "broker_copy",
    }[before.outcome]


def accepted_codes(code: str, before: Delivery, is_finished: bool) -> frozenset[str]:
    """Say which codes the evidence table cannot tell from the truth; ``undecidable`` is judged apart."""
    codes = {code}
    if before.outcome in ("timeout", "error", "crash"):
        by_run = {"timeout": "function_timeout", "error": "function_error", "crash": "runtime_crash"}[before.outcome]
        if is_finished and not before.shows_mark:
            codes.add(by_run)  # without a finish mark the table calls it by the run's end
        if (before.is_marked or before.shows_leftover) and not is_finished and before.batch_count > 1:
            codes.add("batch_collateral")  # marked, then cut off before the handler was through
    if code == "handle_expired":
        codes.add("visibility_expired")  # late is late; the poller's refused delete leaves no line
    if code == "visibility_expired" and before.outcome == "delete_refused":
        codes.add("handle_expired")  # where the refused delete is seen too, it wins
    if before.ended_ms is not None and before.ended_ms >= before.visible_again_ms:
        codes.add("visibility_expired")  # it would have come again however the handling ended
    if before.outcome == "released":
        codes.add("function_error")  # a framework releases what raised: both are so
    return frozenset(codes)
