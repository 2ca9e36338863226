"""What a settings check looks at: one queue, one of its consumers, and what was seen of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime


@dataclass(frozen=True)
class Setup:
    """Settings in force at the end of the evidence, and numbers seen in its last seven days; None means unknown.

    ``logging_level`` and what follows it are the consumer's row of logging_readiness, which looks at all of the evidence.
    ``seen_from`` is when these seven days began.
    Where the function timeout was set within these seven days, ``timeout_set_at`` says when, ``since_*`` count the runs that
    began under the present value, and ``earlier_*`` those that an earlier one stopped: how many, and the longest of them.
    A queue without a known consumer has ``consumer`` None. Times are UTC. ``evidence`` holds, per part
    (SOURCES), the ids of the rows that its values come from.
    """

    queue: str
    consumer: str | None = None
    consumer_kind: str | None = None

    has_queue_settings: bool = True
    is_fifo: bool | None = None
    is_dead_letter_queue: bool = False
    visibility_timeout_s: int | None = None
    message_retention_s: int | None = None
    receive_wait_s: int | None = None
    content_based_deduplication: bool | None = None
    dead_letter_queue: str | None = None
    max_receive_count: int | None = None
    queue_changed_at: datetime | None = None

    dead_letter_retention_s: int | None = None

    function_timeout_s: int | None = None
    reserved_concurrency: int | None = None
    log_format: str | None = None
    system_log_level: str | None = None
    function_changed_at: datetime | None = None

    batch_size: int | None = None
    batching_window_s: int | None = None
    reports_batch_item_failures: bool | None = None
    maximum_concurrency: int | None = None
    counts_events: bool | None = None
    mapping_changed_at: datetime | None = None
    mapping_state: str | None = None
    filter_patterns: tuple[str, ...] | None = None

    first_visibility_timeout_s: int | None = None
    first_function_timeout_s: int | None = None

    seen_from: datetime | None = None
    run_count: int | None = None
    timeout_count: int | None = None
    failed_run_count: int | None = None
    run_p99_ms: int | None = None
    run_max_ms: int | None = None
    item_p99_ms: int | None = None
    largest_batch: int | None = None
    delivery_count: int | None = None
    highest_receive_count: int | None = None
    has_one_group: bool | None = None
    returned_whole_count: int | None = None
    throttle_count: int | None = None
    recursion_dropped_count: int | None = None
    known_dedup_count: int | None = None
    random_dedup_count: int | None = None
    self_sent_count: int | None = None
    redelivery_count: int | None = None

    consumers: tuple[str, ...] | None = None
    has_guard_line: bool | None = None
    empty_receive_count: int | None = None
    received_count: int | None = None
    in_flight_max_count: int | None = None
    sent_again_count: int | None = None
    stopped_count: int | None = None
    filtered_event_count: int | None = None
    backlog_max_count: int | None = None

    timeout_set_at: datetime | None = None
    since_run_count: int | None = None
    since_timeout_count: int | None = None
    since_run_p99_ms: int | None = None
    earlier_timeout_count: int | None = None
    earlier_limit_ms: int | None = None

    logging_level: str | None = None
    logging_sentence: str = ""
    handling_count: int | None = None
    named_count: int | None = None
    counted_count: int | None = None
    response_count: int | None = None
    line_to_add: str | None = None

    evidence: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    @property
    def is_lambda(self) -> bool:
        """The consumer is a Lambda function behind an event source mapping."""
        return self.consumer_kind == "lambda"

    @property
    def window_s(self) -> int:
        """The batching window; 0 where none is set, which is the default."""
        return self.batching_window_s or 0

    @property
    def under_this_timeout(self) -> tuple[int | None, int | None, int | None]:
        """Runs, timeouts and p99 (ms) of the runs that began under the function timeout now in force."""
        if self.timeout_set_at is None:
            return self.run_count, self.timeout_count, self.run_p99_ms
        return self.since_run_count, self.since_timeout_count, self.since_run_p99_ms

    def ids(self, names: tuple[str, ...]) -> list[str]:
        """Return the evidence behind the named values, sorted."""
        parts = {SOURCES[name] for name in names if name in SOURCES}
        return sorted({i for part in parts for i in self.evidence.get(part, ())})

    def numbers(self, names: tuple[str, ...]) -> list[str]:
        """Return ``name=value`` of the named values that are known."""
        return [f"{name}={_text(getattr(self, name))}" for name in names if getattr(self, name) is not None]


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return value.strftime("%Y-%m-%dT%H:%M:%SZ") if isinstance(value, datetime) else str(value)


_PARTS = {
    "queue": (
        "has_queue_settings is_fifo visibility_timeout_s message_retention_s dead_letter_queue max_receive_count "
        "queue_changed_at is_dead_letter_queue receive_wait_s content_based_deduplication"
    ),
    "dead_letter_queue": "dead_letter_retention_s",
    "function": "function_timeout_s reserved_concurrency log_format system_log_level function_changed_at",
    "mapping": (
        "batch_size batching_window_s reports_batch_item_failures maximum_concurrency counts_events mapping_changed_at "
        "mapping_state filter_patterns"
    ),
    "first": "first_visibility_timeout_s first_function_timeout_s",
    "observed": (
        "run_count timeout_count failed_run_count run_p99_ms run_max_ms item_p99_ms largest_batch delivery_count "
        "highest_receive_count has_one_group returned_whole_count recursion_dropped_count known_dedup_count "
        "random_dedup_count self_sent_count redelivery_count"
    ),
    "throttles": "throttle_count",
    "timeout_change": (
        "timeout_set_at since_run_count since_timeout_count since_run_p99_ms earlier_timeout_count earlier_limit_ms"
    ),
    "logs": "logging_level handling_count named_count counted_count response_count",
    "consumers": "consumers",
    "days": (
        "empty_receive_count received_count in_flight_max_count sent_again_count stopped_count filtered_event_count "
        "backlog_max_count"
    ),
}
SOURCES: dict[str, str] = {name: part for part, names in _PARTS.items() for name in names.split()}
"""Which part's evidence a value rests on."""

assert set(SOURCES) <= {f.name for f in fields(Setup)}, "SOURCES names a value that a Setup does not have"
