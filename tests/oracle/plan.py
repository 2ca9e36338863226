"""What a world is like: its queue, its consumer, what goes wrong, and how much of it the logs tell."""

import random
from dataclasses import dataclass, replace

CONSUMERS = ("lambda", "laravel", "lines")
TROUBLES = (
    "slow",
    "error",
    "error_after_effect",
    "poison",
    "crash",
    "init_failure",
    "throttle",
    "delete_lost",
    "short_visibility",
    "lost_receive",
    "copy",
    "same_work_again",
    "redrive",
    "reused_request_id",
)
WORKER_TROUBLES = ("slow", "error", "killed", "delete_failed", "lost_receive", "copy", "same_work_again", "redrive")
RUNTIMES = ("python_logging", "python_print", "powertools", "node", "dotnet")
EVENT_FORMS = {
    "python_logging": ("json", "repr", "ids", "nothing"),
    "python_print": ("json", "repr", "ids", "nothing"),
    "powertools": ("json", "ids", "nothing"),
    "node": ("json", "object", "ids", "nothing"),
    "dotnet": ("json", "ids", "nothing"),
}
LATEST, ALIAS, PUBLISHED = "$LATEST", "live", "3"
"""What a mapping may name, and the version that the alias stands for."""
PARTIAL_FORMS = ("first", "each", "sampled")
"""Only the first record is printed; each as the handler comes to it; or the whole event of some runs."""
RESPONSES = ("right", "right_logged", "wrong_id", "empty_id", "wrong_key", "unlogged_wrong_id")
LOSSES = ("none", "lines", "gap", "late", "head", "tail", "denied")
CALLS = ("all", "hidden", "sends")
SEVERAL_RUNS = (
    "invokes_again",
    "is_durable",
    "durability_kept",
    "waits",
    "step_attempts",
    "step_lines",
    "execution_timeout_s",
)
"""What is drawn in worlds alone in which one receive may be in several runs."""
BODIES = ("json", "nested", "sns")
"""And, in worlds of their own: "timed", which says when it was sent, as which attempt and by which request; and "bare", which
beside that says nothing that tells one payment from the next."""


@dataclass(frozen=True)
class Plan:
    """The parameters of one world. ``*_declared`` is what doubletake.toml says; it is never a lie, only silence."""

    # the queue
    is_fifo: bool = True
    group_count: int = 1
    message_count: int = 30
    send_spread_s: int = 300
    visibility_s: int = 120
    max_receive_count: int | None = 5
    body: str = "json"
    # the consumer
    consumer: str = "lambda"
    runtime: str = "python_logging"
    platform: str = "text"  # text_old, text or json
    system_log_level: str = "INFO"
    function_timeout_s: int = 20
    batch_size: int = 10
    concurrency: int = 2
    response: str | None = None  # None: partial responses are off
    order: str = "sequential"
    awaits_siblings: bool = True
    even_pace: bool = False  # every item takes the same time: what is begun at once also ends in order
    second_function: bool = False
    shared_group: bool = False  # all functions write to one log group, each in words of its own, and so does a stranger
    lets_go_after_s: int | None = (
        None  # who fails sets its message's visibility timeout to that, and says so in words of its own
    )
    own_words: bool = False  # for that line it has words that no grammar knows, and a setting that does
    heartbeat: bool = False  # a worker extends the visibility timeout while it works, and says so
    # the handler's lines
    event_form: str = "json"
    started_line: bool = False
    effect_line: str | None = "both"  # both, message or key
    guard: str | None = None  # line, silent or powertools
    guard_store_s: int = 3600
    guard_key: str = "business_key"  # or message_id
    guard_table: str | None = None  # its store is a table that is read: whole, part or denied
    guard_table_forgets: bool = False  # and has deleted some of what has expired
    # what goes wrong
    troubles: frozenset[str] = frozenset({"slow"})
    trouble_rate: float = 0.15
    raised_statuses: tuple[str, ...] = ("error", "failure")  # a JSON report's words for a run whose handler raised
    raised_types: tuple[str, ...] = ("Function.ValueError",)  # and its error types
    caught_errors: bool = False  # the handler logs exceptions that it caught, and goes on
    swallows: str | None = (
        None  # what it says of an item whose error it swallows: its id, its key, or nothing; the run succeeds
    )
    leaves_rest: bool = False  # and it leaves the rest of its batch alone then
    is_response_heard: bool = True  # the mapping uses the partial responses that the handler gives
    # what the settings file says
    effect_declared: bool = True
    exhaustive_declared: bool = True
    started_declared: bool = False
    order_declared: bool = True
    idempotent_declared: bool = False
    business_key_declared: bool = True
    # what evidence is kept
    queue_settings_kept: bool = True
    function_settings_kept: bool = True
    mapping_kept: bool = True
    metrics_kept: bool = True
    dead_letter_consumer: str | None = (
        None  # again: another function does the work; same: the same; reports: one that does other work
    )
    counts_events: bool = False  # the mapping's opt-in metrics are on
    calls: str | None = None  # what CloudTrail keeps of calls: all, with ids and handles hidden, or sends alone;
    # or "producer": no trail, the producer's own log of its sends
    task_events: bool = False  # EventBridge's events of tasks that stopped
    # what AWS and teams do besides
    event_limit: int | None = None  # a printed event is cut behind so many characters
    event_goes_on: bool = False  # and the rest stands in the next event
    batch_window_s: int = 0  # the poller gathers a batch for so long
    snap_start: bool = False  # environments are restored, not started
    slow_init: bool = False  # environments take seconds to come up before START
    one_stream: bool = False  # a function's runs, or a worker's processes, write to one stream side by side
    clock_skew_ms: int = 0  # clocks of the worker's hosts are off by up to so much
    clock_ms: int = 1  # a worker's lines say when they were written to so many milliseconds, rounded down
    doubled_lines: bool = False  # some lines are delivered twice, under another event id
    follow_ups: bool = False  # the handler sends further work to its own queue, and logs its message id
    threads: str = "untold"  # a worker's lines say which thread wrote them: own names, or alike in several processes
    says_deleted: bool = False  # a worker says when it has deleted a message
    deduplication: str = "work"  # what a deduplication id stands for: work, place (in its group) or customer
    settings_change_later: bool = False  # the team changes every setting when all is over; only then they are read
    retention_passed: bool = False  # the log group no longer had the first lines when it was read
    loss: str = "none"
    # what is invoked more than once for one receive
    invokes_again: float = (
        0.0  # the share of batches with which the poller invokes the function again, without a failure
    )
    is_durable: bool = False  # its executions take several runs, each of which begins the handler anew
    durability_kept: bool = True  # and its settings say so
    waits: str | None = None  # an item waits before its step or after it: that ends the run
    step_attempts: int = 1  # a step that raised is tried again so often in all, in further runs
    step_lines: str = "inside"  # effect lines: inside the step, outside (in every run), or by the SDK's logger
    execution_timeout_s: int = 300
    # how functions are deployed
    qualifier: str = ""  # the version or alias that the mapping names, LATEST too; none: none

    def __post_init__(self) -> None:
        unknown = self.troubles - set(TROUBLES) - set(WORKER_TROUBLES)
        if unknown:
            raise ValueError(f"no such trouble: {sorted(unknown)}")

    @property
    def version(self) -> str:
        """The version that runs."""
        return PUBLISHED if self.qualifier == ALIAS else LATEST

    @property
    def may_be_durable(self) -> bool:
        """For all that the kept settings and the names of streams tell, its functions may be durable."""
        return self.is_durable or not ((self.function_settings_kept and self.durability_kept) or not self.qualifier)

    @property
    def may_be_several_runs(self) -> bool:
        """One receive may be in several runs."""
        return self.is_durable or self.invokes_again > 0

    @property
    def has_responses_heard(self) -> bool:
        """The mapping uses partial batch responses."""
        return self.response is not None and self.is_response_heard

    @classmethod
    def draw(cls, rng: random.Random) -> "Plan":
        """Draw a world; every combination it can give is one that AWS and honest settings can give."""

        def maybe(share: float) -> bool:
            return rng.random() < share

        consumer = rng.choices(CONSUMERS, (7, 2, 2))[0]
        is_fifo = maybe(0.5)
        runtime = rng.choice(RUNTIMES)
        effect_line = rng.choices(("both", "message", "key", None), (4, 2, 2, 3))[0]
        guard = rng.choices((None, "line", "silent", "powertools"), (6, 2, 1, 1))[0]
        often = ("slow", "slow", "slow", "error", "error_after_effect", "crash", "same_work_again")
        drawn = tuple(t for t in TROUBLES if t != "reused_request_id")  # rare for a queue: drawn by plans only
        pool = (*drawn, *often) if consumer == "lambda" else (*WORKER_TROUBLES, "slow", "slow")
        troubles = rng.sample(pool, rng.choice((1, 2, 2, 3)))
        plan = cls(
            is_fifo=is_fifo,
            group_count=rng.choice((1, 1, 3, 8)) if is_fifo else rng.choice((0, 0, 3)),
            message_count=rng.choice((8, 15, 30)),
            send_spread_s=rng.choice((1, 1, 10, 60, 300)),
            visibility_s=rng.choice((30, 60, 120, 600)),
            max_receive_count=rng.choice((None, 2, 3, 5)),
            body=rng.choices(BODIES, (6, 2, 1))[0],
            consumer=consumer,
            runtime=runtime,
            platform=rng.choice(("text_old", "text", "json")),
            system_log_level=rng.choices(("INFO", "WARN"), (4, 1))[0],
            function_timeout_s=rng.choice((5, 15, 30)),
            batch_size=rng.choice((1, 4, 10)),
            concurrency=rng.choice((1, 2, 4)),
            response=rng.choice(RESPONSES) if maybe(0.35) else None,
            order=rng.choice(("sequential", "sequential", "parallel")),
            awaits_siblings=maybe(0.5),
            second_function=maybe(0.1),
            event_form=rng.choices(EVENT_FORMS[runtime], (5, 3, 2, 1)[: len(EVENT_FORMS[runtime])])[0],
            started_line=maybe(0.4),
            effect_line=effect_line,
            guard=guard,
            guard_store_s=rng.choice((3600, 86_400)),
            troubles=frozenset(troubles),
            trouble_rate=rng.choice((0.1, 0.2, 0.4)),
            effect_declared=maybe(0.85),
            exhaustive_declared=maybe(0.6),
            started_declared=maybe(0.7),
            order_declared=maybe(0.7),
            idempotent_declared=maybe(0.5),
            business_key_declared=maybe(0.7),
            queue_settings_kept=maybe(0.85),
            function_settings_kept=maybe(0.8),
            mapping_kept=maybe(0.85),
            metrics_kept=maybe(0.5),
            loss=rng.choices(LOSSES, (8, 2, 1, 1, 1, 1, 1))[0],
        )
        return plan.made_fair()

    def made_fair(self) -> "Plan":
        """Take out what no settings file could honestly say and no account could hold."""
        plan = self._of_runs_again() if self.may_be_several_runs else self
        if plan.consumer == "laravel":
            # Laravel takes one job at a time and its own lines name the message
            plan = replace(plan, order="sequential", batch_size=1, runtime="python_print", second_function=False)
            plan = replace(plan, guard=None if plan.guard == "powertools" else plan.guard)
        if plan.consumer == "lines":
            # a worker that says nothing at all is not found by anyone: it prints an event, starts or effects
            plan = replace(plan, started_line=True, started_declared=True, second_function=False, response=None)
            plan = replace(plan, runtime="python_print", guard=None if plan.guard == "powertools" else plan.guard)
        if plan.consumer != "lambda":
            # worker frameworks say "done" of a job that a silent guard skipped: then nothing could tell
            plan = replace(plan, guard="line" if plan.guard == "silent" else plan.guard, response=None)
            plan = replace(plan, loss=plan.loss if plan.loss in ("none", "lines", "tail", "to_come") else "none")
            plan = replace(plan, troubles=plan.troubles & set(WORKER_TROUBLES) or frozenset({"slow"}))
        else:
            plan = replace(plan, troubles=plan.troubles & set(TROUBLES) or frozenset({"slow"}))
        if plan.event_form not in (*EVENT_FORMS[plan.runtime], *PARTIAL_FORMS):
            plan = replace(plan, event_form="json")
        if plan.platform == "json" and plan.event_form == "object":
            plan = replace(plan, event_form="json")  # in the JSON log format Node prints whole objects
        if plan.body != "json":
            plan = replace(plan, business_key_declared=False)
        if not plan.is_fifo and plan.guard and not plan.business_key_declared:
            # a guard by business key needs the key to be known, else the same work under two ids cannot be linked
            plan = replace(plan, troubles=plan.troubles - {"same_work_again", "redrive"} or frozenset({"slow"}))
        is_linked = plan.event_form in ("json", "repr") and plan.loss == "none"
        if plan.guard in ("silent", "powertools") and plan.consumer == "lambda" and not is_linked:
            # nor may the line be lost that links them: a run that a guard cut short would look like the work's own
            plan = replace(plan, troubles=plan.troubles - {"same_work_again", "redrive"} or frozenset({"slow"}))
        if plan.swallows is not None or not plan.is_response_heard:
            # where the line is lost that tells of the error, nobody could know that a run which succeeded had failed
            plan = replace(plan, loss="denied" if plan.loss == "denied" else "none", retention_passed=False)
        if plan.is_fifo:
            plan = replace(plan, troubles=plan.troubles - {"copy"} or frozenset({"slow"}))
            plan = replace(plan, group_count=plan.group_count or 3)
        if plan.consumer != "lambda":
            plan = replace(plan, shared_group=False, follow_ups=False)
        else:
            plan = replace(plan, clock_ms=1)  # CloudWatch's times of a function's lines are in milliseconds
        if plan.consumer != "lambda" or plan.guard is None:
            plan = replace(plan, guard_table=None)
        if plan.consumer != "lambda" or plan.event_form != "json" or plan.body != "json" or plan.guard is not None:
            plan = replace(plan, deduplication="work")  # nothing but bodies tells that one id stood for several works
        if "short_visibility" in plan.troubles:
            plan = replace(plan, visibility_s=min(plan.visibility_s, 30), function_timeout_s=30)
        elif plan.consumer == "lambda":
            # Lambda refuses to create a mapping whose function timeout is above the queue's visibility timeout
            plan = replace(plan, function_timeout_s=min(plan.function_timeout_s, plan.visibility_s))
        if plan.effect_line is None:
            plan = replace(plan, effect_declared=False)
        if not plan.effect_declared:
            plan = replace(plan, exhaustive_declared=False)
        goes_on = "error_after_effect" in plan.troubles and plan.response is not None and plan.is_response_heard
        # a run of a durable function ends well whatever its step raised, and Node's logger is silent until it has replayed all
        goes_on = goes_on or ("error_after_effect" in plan.troubles and plan.is_durable)
        is_silent = plan.is_durable and plan.step_lines == "logger" and plan.runtime == "node"
        if goes_on or is_silent or plan.loss in ("lines", "gap"):
            # an effect whose line is missing although the run ended well: nobody could call the markers exhaustive
            plan = replace(plan, exhaustive_declared=False)
        if plan.effect_line == "key" and not plan.effect_declared:
            plan = replace(plan, effect_line="both")
        if not plan.started_line:
            plan = replace(plan, started_declared=False)
        if plan.guard:
            plan = replace(plan, idempotent_declared=False)
        if plan.guard == "silent" and plan.response in ("wrong_id", "empty_id", "wrong_key"):
            plan = replace(plan, response="right_logged")
        if plan.system_log_level == "WARN" and plan.platform != "json":
            plan = replace(plan, system_log_level="INFO")
        if plan.system_log_level == "WARN" and (
            plan.event_form not in ("json", "repr") or plan.loss in ("lines", "gap")
        ):
            # a request id run again without a START is seen to by the batch it prints alone: else one run names its message twice
            plan = replace(plan, troubles=plan.troubles - {"reused_request_id"} or frozenset({"slow"}))
        if plan.shared_group and plan.loss == "denied":
            plan = replace(plan, loss="none")
        if plan.consumer != "lambda" or plan.max_receive_count is None or "redrive" in plan.troubles:
            plan = replace(plan, dead_letter_consumer=None)
        if plan.dead_letter_consumer == "same" and plan.event_form not in ("json", "repr"):
            plan = replace(plan, dead_letter_consumer="again")  # what it prints must tell out of which queue it came
        if plan.loss == "denied" and not plan.second_function:
            plan = replace(plan, second_function=True)
        if plan.snap_start or (plan.is_durable and not plan.qualifier):
            # SnapStart restores published versions; Lambda refuses to invoke durable functions without a version or an alias
            plan = replace(plan, qualifier=ALIAS)
        is_told = plan.mapping_kept or (plan.function_settings_kept and plan.durability_kept)
        if plan.is_durable and plan.qualifier == LATEST and not is_told:
            plan = replace(plan, qualifier=ALIAS)  # a run of the last code is taken for one of no durable function
        return plan

    def deployed(self, rng: random.Random) -> "Plan":
        """Let its mappings name an alias, or nothing; some of those that must name something name the last code."""
        share = 0.85 if self.is_durable else 0.3
        qualifier = ALIAS if rng.random() < share else LATEST if self.is_durable else ""
        return replace(self, qualifier=qualifier).made_fair()

    def _of_runs_again(self) -> "Plan":
        """Make it a world of functions; those that are durable take their batches in order, each work in a step of its own."""
        plan = replace(self, consumer="lambda", follow_ups=False, dead_letter_consumer=None)
        if (
            plan.loss == "to_come"
        ):  # nobody says that a run of a receive which others show may be among the lines to come
            plan = replace(plan, loss="none")
        if plan.runtime == "python_print":  # no line of it bears a request id: Lambda's own lines tell its runs apart
            plan = replace(plan, system_log_level="INFO")
        if plan.system_log_level == "WARN":
            plan = replace(plan, troubles=plan.troubles - {"reused_request_id"})
        if not plan.is_durable:
            return plan
        if plan.step_lines == "logger" and plan.event_form == "nothing":  # else runs that do the work may name nothing
            plan = replace(plan, step_lines="inside")
        return replace(
            plan,
            message_count=min(plan.message_count, 30),
            batch_size=min(plan.batch_size, 4),
            visibility_s=max(plan.visibility_s, plan.execution_timeout_s if plan.max_receive_count is None else 0),
            order="sequential",
            guard=None,
            swallows=None,
            leaves_rest=False,
            is_response_heard=True,
            lets_go_after_s=None,
            counts_events=False,
            caught_errors=False,
            troubles=plan.troubles - {"reused_request_id", "short_visibility"},
        )
