"""The plain values that streams are made of: a log group, a line, a fact, an invocation, a delivery."""

from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from forensics.identity import KEY_ITEM, queue_name
from forensics.settings import Consumer


@dataclass(frozen=True, slots=True)
class LogGroup:
    """Who writes a log group, and what the team says of how it logs. None: nothing tells.

    ``kind`` is lambda or worker. ``silence_ms``: so long a silence parts what no START and no opening line parts.
    ``is_visibility_known``: of a worker's, it is taken from the visibility timeout of its queue. ``runs_latest``: all runs in
    streams that Lambda did not name say that they are of the last code, which no version or alias names.
    """

    name: str
    kind: str
    function_name: str | None = None
    queue_arn: str | None = None
    consumer: Consumer = Consumer()
    silence_ms: int = 30_000
    is_visibility_known: bool = True
    runs_latest: bool | None = None

    @property
    def queue_name(self) -> str | None:
        """The name at the end of the queue's ARN."""
        return queue_name(self.queue_arn or None)


class LogLine(NamedTuple):
    """One log event of a stream; lines of a stream sort by themselves."""

    at: int
    order_in_ms: int
    evidence_id: str
    line: str


WHOLE = "whole batch"
"""Detail of a record whose line prints the whole batch: what it does not hold was not handed to that run."""

TAKEN = "taken"
"""Detail of a mention whose line says that the message is in hand; else the consumer may speak of one that it never had."""

SKIPPED = "skipped"
"""Detail of a mention whose line reads as if the work was not done again, in words that no settings name."""

PERHAPS = "perhaps"
"""Detail of a worker's effect or guard that names only a key: it may be of a message of which no line tells that it has this key."""

ONE_OF = "one of"
"""Begin of the detail of such a line, followed by message ids: it is of one of these, or of none that its stream has in hand."""
GUESSED = "guessed"
"""Detail of an effect that names only a key, given to the one message in hand when that was visible again."""

HIDDEN, NOT_HIDDEN = "worker_visibility_set", "worker_visibility_refused"
"""Roles of facts that say for how long a worker hid its message from then on, and that its last change was refused."""

ERROR = "error"
"""Role of a fact that an application logged an error: of the message it names, else of any that its run had."""

REPEAT = "repeat"
"""Role of a fact that a line reads as if the work was not done again, in words that no settings name."""

LONGEST_DETAIL = 4_000
"""So much of the line of either is looked at for whose it is, and what failed."""

_DELETE = ":DeleteMessage"
"""In the detail of a handle error whose refused call was DeleteMessage or DeleteMessageBatch."""


class Fact(NamedTuple):
    """What one line says of one message.

    ``role`` is record, mention, started, effect, guard, failure (named in batchItemFailures), handle_error, idempotency, error, repeat or
    worker_<event>; ``detail`` is the reason:operation of a handle error, the kind of an idempotency line, the seconds for which
    a worker hid its message (HIDDEN), the framework's job id, the text of an error or a repeat, WHOLE or TAKEN. Celery's
    lines name no message: its task id is their key; Active Job's job id stands for one, as it does in the tags of other lines.
    ``thread`` is that of a worker which wrote the line, if the line says it. ``body``: of a record of a function that prints
    no whole batch and no business key, the message's body. ``line_mark``: of a worker's line that tells its own time, what it is
    known by wherever it stands (``mark_of``).
    """

    role: str
    at: int
    evidence_id: str
    message_id: str | None = None
    key: str | None = None
    receive_count: int | None = None
    position: int | None = None
    sent_ms: int | None = None
    first_receive_ms: int | None = None
    group_id: str | None = None
    deduplication_id: str | None = None
    receipt_handle: str | None = None
    body_md5: str | None = None
    queue_arn: str | None = None
    dead_letter_source_arn: str | None = None
    sender_id: str | None = None
    body_shape: str | None = None
    detail: str | None = None
    thread: str | None = None
    body: str | None = None
    line_mark: int | None = None

    @property
    def is_passing(self) -> bool:
        """It names a message and says nothing of it, not even that it is in hand."""
        return self.role == ERROR or (self.role == "mention" and self.detail != TAKEN)

    @property
    def is_of_hand(self) -> bool:
        """It says that a message was handed to the run: printed, begun, or taken."""
        return self.role in ("record", "started") or self.detail == TAKEN

    @property
    def is_failed_delete(self) -> bool:
        """It says that the message could not be deleted."""
        if self.role == "handle_error":
            return self.detail is not None and _DELETE in self.detail
        return self.role == "worker_delete_failed"

    @property
    def item_id(self) -> str | None:
        """What the fact is about: its message, else its business key."""
        return self.message_id or (f"{KEY_ITEM}{self.key}" if self.key is not None else None)


class PlacedFact(NamedTuple):
    """A fact and where its stream says it: ``at`` in µs, the line's order within that ms, the fact's place in the line."""

    at: int
    order_in_ms: int
    place: int
    fact: Fact


@dataclass(slots=True)
class Invocation:
    """One run of a Lambda function, or lines that stand in no run (``request_id`` then begins with ``?``).

    ``facts`` are in the order of their lines; ``mark_ids`` are the platform's own lines about the run. ``init_ms``: its environment
    came up for so long before it, 0 where its REPORT speaks of none, None without a REPORT. ``is_beside_others``: its environment
    began another run before this one ended, so that lines without a request id may be of either; ``may_lack_lines``: one that
    names no message was given to another. ``behind_at``: when the run before it in its environment wrote its last line. ``order``: in which its function works on a batch, as declared.
    """

    invocation_id: str
    log_group: str
    log_stream: str
    request_id: str
    start_index: int
    function_name: str | None
    start_at: int | None
    first_line_at: int
    last_line_at: int
    ended_at: int | None
    duration_ms: float | None
    end_status: str
    error_type: str | None
    has_response: bool
    any_line_id: str
    init_ms: int | None = None
    is_beside_others: bool = False
    may_lack_lines: bool = False
    behind_at: int | None = None
    order: str | None = None
    facts: list[Fact] = field(default_factory=list)
    mark_ids: list[str] = field(default_factory=list)

    @property
    def started_at(self) -> int:
        """Time of START, else of the first line, or so long before its end as its REPORT says that it took."""
        if self.start_at is not None:
            return self.start_at
        if self.ended_at is None or self.duration_ms is None:
            return self.first_line_at
        return min(self.first_line_at, self.ended_at - int(self.duration_ms * 1000))


class Delivery(msgspec.Struct, kw_only=True, array_like=True):
    """One message handed to one consumer, once; also a receive that only the receive count shows (``is_seen`` false).

    First what the consumer's lines say, then the settings in force at the receive, then what was judged.
    ``run_ended_at`` of a worker that says nothing of an end is its last line; then ``is_end_known`` is false. ``stopped_at``:
    its process was told to stop, and wrote nothing more of the message. ``has_failed_first``: its worker failed, and then
    deleted it or tried to: it gave the message up, or had tried again. ``is_job``: its worker's framework says when its jobs begin, and so how they end. ``visibility_set``: when its worker changed the message's visibility, and until when; ``has_heartbeat``: again and again, for as long each. ``*_by_call``: as a recorded call to SQS tells, with this delivery's receipt handle;
    ``process_ended_at``: its worker's task had stopped, for the reason in ``process_end_words``; ``receiver``: who made a receive that no log shows, ``is_other_receiver``: none of those whose handlings logs show.
    ``run_behind_at``: a function's run, whose START is not logged, began later than that, for another wrote in its environment then. ``is_passing``: lines name the message, and none says that it was in hand; ``in_hand_count``: of a function's run that printed no
    batch, of so many messages some line does.
    ``received_from_arn``: the dead-letter queue it was received from, where it counts with the queue (``queue_arn``) that set its message aside;
    ``received_dead_at``: when the message was received from there next; ``hidden_at_least_until``: of one that went there, also where it was received before its run. ``effect_declared``: what its consumer's effect line is like.
    ``body_shape``: of a FIFO body without a business key, what is left of it without what differs at each send.
    ``lone_mark_count``: so often its effect was told once more by a line that stands alone, ``told_again_count``: while it was in hand.
    ``done_more_count``: its worker tried it again in hand, and its effect was told in so many tries more than one; ``maybe_more_count``: it may have been done in so many more. ``line_marks``: of lines with their own
    time what they are known by in other streams. ``is_runtime_lambdas``: settings name one of Lambda's own runtimes. ``runs_latest``: its run was of the last code, which no
    version or alias names; ``is_one_of_several``: more runs or handlings than this had its message.
    A stray mark or guard (``has_stray_*``) is a line of the run that names only a business key of which nothing tells the
    message: then the absence of a message's own line says nothing. ``is_guard_by_key``: the line of its guard names but a key. ``is_mark_guessed``: its effect names a key, and its message was visible again. ``may_be_of_another``: of a key alone, whose line may be of a message
    whose key no line tells, and ``one_of`` the messages that were in hand then and may have the key. ``has_error``: the run ended in success, and logged an error
    for which it may not have done this message's work; ``may_be_two``: of a worker, whose lines may be of two deliveries (``Handling``);
    ``is_named_in_error``: its run failed, and an error line names it; ``caught_error_count``: so many errors it had logged before, and went on; ``may_be_skipped``: a line reads as if a repeat was stopped; ``has_unanswered_error``: an error of this message, or of any, after which
    it may have been done all the same, without its line.
    """

    item_id: str
    message_id: str | None = None
    queue_arn: str = ""
    queue: str = ""
    received_from_arn: str | None = None
    consumer: str | None = None
    consumer_kind: str | None = None
    log_group: str | None = None
    log_stream: str | None = None
    request_id: str | None = None
    function_name: str | None = None
    run_started_at: int | None = None
    run_behind_at: int | None = None
    init_ms: int | None = None
    run_ended_at: int | None = None
    is_end_known: bool = True
    run_last_line_at: int | None = None
    run_status: str | None = None
    error_type: str | None = None
    has_response: bool = False
    is_malformed_response: bool = False
    is_batch_printed: bool = False
    is_passing: bool = False
    has_stray_mark: bool = False
    has_stray_guard: bool = False
    may_be_of_another: bool = False
    may_be_two: bool = False
    one_of: list[str] = msgspec.field(default_factory=list)
    has_error: bool = False
    has_unanswered_error: bool = False
    batch_count: int | None = None
    in_hand_count: int | None = None
    batch_position: int | None = None
    receive_count: int | None = None
    sent_ms: int | None = None
    first_receive_ms: int | None = None
    group_id: str | None = None
    deduplication_id: str | None = None
    receipt_handle: str | None = None
    body_md5: str | None = None
    record_queue_arn: str | None = None
    dead_letter_source_arn: str | None = None
    sender_id: str | None = None
    body_shape: str | None = None
    record_at: int | None = None
    started_at: int | None = None
    marker_at: int | None = None
    key_marker_count: int = 0
    is_guard_by_key: bool = False
    is_mark_guessed: bool = False
    guard_at: int | None = None
    is_refused: bool = False
    job_id: str | None = None
    idempotency: str | None = None
    worker_finished_at: int | None = None
    worker_failed_at: int | None = None
    stopped_at: int | None = None
    is_given_up: bool = False
    visibility_set: list[tuple[int, int]] = msgspec.field(default_factory=list)
    has_failed_first: bool = False
    is_job: bool = False
    is_timed_out: bool = False
    is_named_failure: bool = False
    delete_at: int | None = None
    delete_reason: str | None = None
    handle_reason: str | None = None
    first_fact_at: int | None = None
    last_fact_at: int | None = None
    business_keys: list[str] = msgspec.field(default_factory=list)
    fact_ids: list[str] = msgspec.field(default_factory=list)
    line_marks: list[int] = msgspec.field(default_factory=list)
    end_ids: list[str] = msgspec.field(default_factory=list)
    is_named_in_error: bool = False
    caught_error_count: int = 0
    may_be_skipped: bool = False
    is_in_progress: bool = False
    is_not_reached: bool = False

    # settings in force at the receive, and what the team says of the consumer
    received_at: int | None = None
    received_basis: str | None = None
    visibility_timeout_s: int | None = None
    is_fifo: bool | None = None
    max_receive_count: int | None = None
    dead_letter_queue_arn: str | None = None
    queue_settings_id: str | None = None
    is_visibility_assumed: bool | None = None
    reports_batch_item_failures: bool | None = None
    batch_size: int | None = None
    batching_window_s: int | None = None
    mapping_id: str | None = None
    function_timeout_s: int | None = None
    function_settings_id: str | None = None
    is_function_timeout_assumed: bool | None = None
    is_durable: bool | None = None
    is_runtime_lambdas: bool = False
    runs_latest: bool | None = None
    hidden_until_at: int | None = None
    is_hidden_by_call: bool = False
    has_heartbeat: bool = False
    process_ended_at: int | None = None
    process_end_words: str | None = None
    deleted_by_call_at: int | None = None
    receiver: str | None = None
    is_other_receiver: bool = False
    order_declared: str | None = None
    order_inferred: str | None = None
    order_runs: int | None = None
    has_effect: bool = False
    effect_declared: str | None = None
    is_exhaustive: bool = False
    has_started: bool = False
    has_guard: bool = False
    is_idempotent: bool | None = None
    guard_table: str | None = None

    # judged
    delivery_index: int = 1
    is_seen: bool = True
    came_again: bool = False
    is_one_of_several: bool = False
    may_be_same_receive: bool = False
    unseen_basis: str | None = None
    effect: str = "unknown"
    basis: str = "no_item_lines"
    effect_at: int | None = None
    finished_at: int | None = None
    ended_by: str = "unknown"
    delete_status: str | None = None
    is_in_dead_letter_queue: bool = False
    received_dead_at: int | None = None
    hidden_at_least_until: int | None = None
    was_given_back: bool | None = None
    is_throttled: bool | None = None
    is_watched: bool | None = None
    order_at: int | None = None
    after_at: int | None = None
    before_at: int | None = None
    work_id: str = ""
    is_provisional: bool | None = None
    is_answered_by_record: bool = False
    lone_mark_count: int = 0
    told_again_count: int = 0
    done_more_count: int = 0
    maybe_more_count: int = 0
    evidence_ids: list[str] = msgspec.field(default_factory=list)

    @property
    def polled_arn(self) -> str:
        """The queue that it was received from."""
        return self.received_from_arn or self.queue_arn

    @property
    def is_beside_messages(self) -> bool:
        """It is a line that names a business key alone, and the messages of its work are known; needs ``work_id``."""
        return self.message_id is None and self.work_id != self.item_id

    @property
    def sent_at(self) -> int | None:
        """SentTimestamp in microseconds."""
        return None if self.sent_ms is None else self.sent_ms * 1000

    @property
    def order(self) -> str | None:
        """How the consumer takes its batch: as declared, else as its runs let infer; ``order_runs``: from at least so many."""
        return self.order_declared or self.order_inferred

    @property
    def may_be_given_back(self) -> bool:
        """Its run named it as failed, and its mapping may read that: a mapping without partial responses deletes what it names."""
        return self.is_named_failure and self.reports_batch_item_failures is not False

    @property
    def setting_ids(self) -> list[str]:
        """Evidence of the settings in force at the receive."""
        return [i for i in (self.queue_settings_id, self.mapping_id, self.function_settings_id) if i]
