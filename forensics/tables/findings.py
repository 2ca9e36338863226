"""Findings tables: what follows from the evidence. Rebuildable; every row ends in the evidence it rests on."""

from forensics.tables.common import EVIDENCE as _EVIDENCE
from forensics.tables.common import QUEUE as _QUEUE
from forensics.tables.common import QUEUE_ARN as _QUEUE_ARN
from forensics.tables.health import QUEUE_HEALTH, QUEUE_WEEKS, SETTING_FINDINGS
from forensics.tables.incidents import COUNTERFACTUALS, INCIDENTS
from forensics.tables.readiness import LOGGING_READINESS
from forensics.tables.schema import Column, Table, sentence

_MESSAGE = Column(
    "message_id",
    "string",
    "SQS MessageId; survives redelivery and the move to a DLQ, not a redrive; null where only business keys are logged",
)
_ITEM = Column("item_id", "string", "the message id, or key:<business key> where no message id is logged")
_COUNT = Column(
    "receive_count",
    "int",
    "SQS's ApproximateReceiveCount of this delivery; null where it was not logged (unknown is never 1)",
)
_WORK = Column(
    "work_id",
    "string",
    "the work the message stands for; equal for messages linked by deduplication id or business key",
)
_KEYS = Column("business_keys", "strings", "configured business keys of the message, sorted")
_INCIDENT = Column("incident_id", "string", "<queue name>-<UTC start, yyyymmddThhmmZ>; null outside incidents")

INVOCATIONS = Table(
    "invocations",
    "findings",
    grain="one run of a Lambda function",
    key=("invocation_id",),
    columns=(
        Column(
            "invocation_id",
            "string",
            "log group, log stream, request id and time of START in ms since 1970 (0 where it is not in evidence), joined by |",
        ),
        Column("log_group", "string", "CloudWatch log group"),
        Column("log_stream", "string", "log stream"),
        Column(
            "request_id",
            "string",
            "Lambda request id; asynchronous retries reuse it, so it is not the key; ?ms.ms for lines in no run",
        ),
        Column(
            "start_index", "int", "which START of its request id in the stream, from 1; 0 where that is not in evidence"
        ),
        Column("function_name", "string", "the function; null where the log group names none"),
        Column("queue_arn", "string", "the queue whose messages it got; null where nothing tells"),
        Column(
            "started_at",
            "timestamp",
            "time of START, UTC; else of its first line, or so long before its end as its REPORT says it took",
        ),
        Column("ended_at", "timestamp", "time of END or REPORT, UTC; null where neither is in evidence"),
        Column("duration_ms", "long", "run time of REPORT, rounded down; null without one"),
        Column("end_status", "string", "success, timeout, error, crash, init_failed or unknown"),
        Column("error_type", "string", "error type the runtime or platform named"),
        Column("has_start", "bool", "its START (or platform.start) is in evidence"),
        Column("message_count", "int", "messages its lines name"),
        _EVIDENCE,
    ),
)

DELIVERIES = Table(
    "deliveries",
    "findings",
    grain="one message handed to one consumer, once; also receives that only the receive count shows",
    key=("queue_arn", "item_id", "delivery_index"),
    columns=(
        _QUEUE_ARN,
        _QUEUE,
        _ITEM,
        Column("delivery_index", "int", "place of this delivery among the item's deliveries in this ledger, from 1"),
        _MESSAGE,
        _COUNT,
        Column("is_seen", "bool", "false: the receive count says it happened and no log shows it"),
        Column(
            "consumer", "string", "invocation id of a Lambda run; log group, stream and start of a worker's handling"
        ),
        Column("consumer_kind", "string", "lambda or worker; null for an unlogged receive"),
        Column("function_name", "string", "the function; null for workers"),
        Column("request_id", "string", "Lambda request id; null for workers"),
        Column("log_group", "string", "where its lines are"),
        Column("log_stream", "string", "where its lines are"),
        Column("batch_position", "int", "place in the printed batch, from 1; null where the batch was not printed"),
        Column("batch_count", "int", "messages seen in the same run"),
        Column("received_at", "timestamp", "when SQS handed it out, UTC; the best the evidence gives"),
        Column(
            "received_basis",
            "string",
            "first_receive (exact, from SQS), call (CloudTrail's, to the second), run_start (START less its init) or line: not after",
        ),
        Column("visibility_timeout_s", "int", "visibility timeout in force at the receive; null if no snapshot"),
        Column("hidden_until_at", "timestamp", "received_at + visibility timeout, UTC; null where either is unknown"),
        Column("started_at", "timestamp", "when work on this item began, UTC; null where nothing tells"),
        Column("finished_at", "timestamp", "first effect marker or the framework's completion line, UTC"),
        Column("run_ended_at", "timestamp", "end of the run or of the worker's handling, UTC"),
        Column("run_status", "string", "how the run ended: success, timeout, error, crash, init_failed, unknown"),
        Column("delete_status", "string", "attempted, expired, gone, failed; null where no line tells"),
        Column("delete_at", "timestamp", "time of that line, UTC"),
        Column(
            "ended_by", "string", "deleted, visibility_expired, delete_refused, dead_lettered, in_flight or unknown"
        ),
        Column("effect", "string", "was the work done in this delivery: yes, no or unknown"),
        Column("basis", "string", "which row of the effect table decided"),
        Column("effect_at", "timestamp", "time of the line that shows the effect, UTC"),
        Column("group_id", "string", "FIFO message group"),
        Column("deduplication_id", "string", "FIFO deduplication id"),
        Column("sent_at", "timestamp", "SentTimestamp, UTC; null where not logged"),
        Column("body_md5", "string", "SQS's md5OfBody"),
        Column(
            "sender_id",
            "string",
            "SenderId: an IAM user's id, a role's id and session (a function's name), or an account; null where not logged",
        ),
        Column("receipt_handle", "string", "prefix and digest of the receipt handle, never the handle"),
        Column(
            "received_from_arn",
            "string",
            "the dead-letter queue it was received from, whose consumer does the same work; null where that is queue_arn",
        ),
        Column(
            "is_provisional",
            "bool",
            "the effect rests on a line that is missing, and late lines may still come; null for what came once",
        ),
        _KEYS,
        _EVIDENCE,
    ),
)

REDELIVERIES = Table(
    "redeliveries",
    "findings",
    grain="one delivery of a message beside the one before it",
    key=("queue_arn", "item_id", "delivery_index"),
    columns=(
        _QUEUE_ARN,
        _QUEUE,
        _ITEM,
        Column("delivery_index", "int", "the later delivery's place in the ledger"),
        _MESSAGE,
        _COUNT,
        Column("earlier_received_at", "timestamp", "receive of the delivery before, UTC"),
        Column("later_received_at", "timestamp", "receive of this one, UTC"),
        Column(
            "gap_ms",
            "long",
            "between the two receives; null where either is unlogged, where the two times cannot both hold, or where there was one",
        ),
        Column(
            "visibility_timeout_s",
            "int",
            "in force at the earlier receive; null if no snapshot, or where heartbeats set it",
        ),
        Column("overlap_ms", "long", "how long both ran at once; 0 if not, null where unknown"),
        Column("cause", "string", "the first cause that is supported, else undecidable"),
        Column("causes", "strings", "every supported cause, primary first"),
        *sentence("sentence", "why it was redelivered, in words"),
        *sentence("excluded", "rival causes with why they are out, in words", "strings"),
        *sentence("would_decide", "what evidence would decide it; null where decided"),
        Column("is_provisional", "bool", "the cause rests on lines that are missing, and late lines may still come"),
        Column(
            "is_one_receive",
            "bool",
            "both runs had it by one receive: Lambda's poller invoked the function again, and SQS did nothing; null in data versions "
            "of earlier releases",
        ),
        Column(
            "invoked_again_at", "timestamp", "when the later run of one receive began, UTC; null where nothing tells"
        ),
        _EVIDENCE,
    ),
)

RULINGS = Table(
    "rulings",
    "findings",
    grain="one rule's answer for one redelivery",
    key=("queue_arn", "item_id", "delivery_index", "code"),
    columns=(
        _QUEUE_ARN,
        _ITEM,
        Column("delivery_index", "int", "the later delivery's place in the ledger"),
        Column("code", "string", "the rule's cause code"),
        Column("stance", "string", "supported, excluded or undecidable"),
        *sentence("sentence", "why, in words with numbers"),
        *sentence("would_decide", "what evidence would decide it; null where decided"),
        _EVIDENCE,
    ),
)

MESSAGES = Table(
    "messages",
    "findings",
    grain="one message that was delivered more than once, or that shares its work, or may share it, with another message",
    key=("queue_arn", "item_id"),
    columns=(
        _QUEUE_ARN,
        _QUEUE,
        _ITEM,
        _MESSAGE,
        _INCIDENT,
        _WORK,
        Column("verdict", "string", "confirmed, probable, possible, absorbed or harmless"),
        Column(
            "certainty",
            "string",
            "proved when every yes rests on marker or finished, and the upper bound on no order and no consumer that is only inferred; else inferred",
        ),
        Column("effects_at_least", "int", "times the work was done for sure"),
        Column("effects_at_most", "int", "times it may have been done; null means no upper bound"),
        Column("deliveries", "int", "deliveries seen in logs"),
        Column("receive_count", "int", "highest receive count; null where not logged"),
        Column("causes", "strings", "cause per redelivery, in order, each once"),
        Column("origin", "string", "producer_retry, dedup_window_passed or dlq_redrive; null for the first id"),
        *sentence("trigger_sentence", "why it was redelivered"),
        *sentence("guard_sentence", "why the repeat was or was not stopped"),
        *sentence("effect_sentence", "how often the work was done, and what shows it"),
        Column("first_received_at", "timestamp", "first receive, UTC"),
        Column("last_received_at", "timestamp", "last receive seen, UTC"),
        Column(
            "repeat_shown_at",
            "timestamp",
            "by when its work was done again, as lines that name its key alone show, UTC; null where none does",
        ),
        Column("sent_at", "timestamp", "SentTimestamp, UTC; null where not logged"),
        Column("group_id", "string", "FIFO message group"),
        Column("deduplication_id", "string", "FIFO deduplication id"),
        Column("sender_id", "string", "who sent it, as SenderId says; null where not logged"),
        Column("is_dead_lettered", "bool", "it went to the dead-letter queue"),
        Column("is_provisional", "bool", "the interval rests on lines that are missing, and late lines may still come"),
        Column(
            "final_at",
            "timestamp",
            "when it is final once that time is read again, UTC; null where it is, or was sealed",
        ),
        _KEYS,
        Column("related_message_ids", "strings", "other messages of the same work, sorted"),
        Column(
            "maybe_related_message_ids",
            "strings",
            "others that may be the same work, as their deduplication id and bodies tell, sorted; they raise only effects_at_most."
            " Of more than 50 the nearest in time",
        ),
        _EVIDENCE,
    ),
)

TIMELINE = Table(
    "timeline",
    "findings",
    grain="one mark or bar of an incident's timeline",
    key=("incident_id", "item_id", "delivery_index", "kind", "at"),
    columns=(
        Column("incident_id", "string", "the incident"),
        _ITEM,
        Column("delivery_index", "int", "place of the delivery in the ledger; 0 before the first"),
        _MESSAGE,
        _COUNT,
        Column("lane", "int", "lane of the message, affected ones first, from 1"),
        Column(
            "kind",
            "string",
            "sent, in_flight, handling, effect, repeat, timeout, error, crash, deleted, delete_refused, dead_lettered or unseen",
        ),
        Column("at", "timestamp", "when, or start of the bar, UTC"),
        Column("until_at", "timestamp", "end of the bar, UTC; null for marks"),
        Column(
            "ended_by",
            "string",
            "for in_flight bars: deleted, visibility_expired, delete_refused, dead_lettered, in_flight or unknown",
        ),
        Column("function_name", "string", "the function; null for workers"),
        Column("consumer", "string", "invocation id or worker handling"),
        Column("source", "string", "log stream and request id, or derived"),
        *sentence("label", "what to say on hover"),
        _EVIDENCE,
    ),
)

QUEUE_FINDINGS = Table(
    "queue_findings",
    "findings",
    grain="one thing that went wrong with a queue or a message group, at one message, over one span of time",
    key=("queue_arn", "code", "item_id", "from_at"),
    columns=(
        _QUEUE_ARN,
        _QUEUE,
        Column(
            "code",
            "string",
            "fifo_group_blocked, dead_lettered, retention_expired, poison_without_dlq or out_of_order_commit",
        ),
        _ITEM,
        _MESSAGE,
        _INCIDENT,
        Column("group_id", "string", "FIFO message group"),
        Column("stance", "string", "supported, excluded or undecidable"),
        Column("from_at", "timestamp", "when it began, UTC; of a move to the dead-letter queue: not before"),
        Column("until_at", "timestamp", "when it was over, UTC, of a move: not after; null where nothing tells"),
        Column("span_ms", "long", "from from_at to until_at; null where either is unknown"),
        Column(
            "message_count", "int", "messages concerned: those that waited behind a blocked group, else the one or two"
        ),
        Column("message_ids", "strings", "their ids, sorted; of more than 1,000 the first by id"),
        _KEYS,
        Column("effects_at_least", "int", "times the message's work was done for sure; null where it does not matter"),
        Column("effects_at_most", "int", "times it may have been done; null means no upper bound"),
        Column("redrive", "string", "what redriving does: safe, repeats or may_repeat; null for all but dead_lettered"),
        *sentence("sentence", "what happened, in words with numbers"),
        *sentence("redrive_sentence", "what redriving does, in words; null for all but dead_lettered"),
        *sentence("would_decide", "what evidence would decide it; null where decided"),
        _EVIDENCE,
    ),
)

GENERATIONS = Table(
    "generations",
    "findings",
    grain="one correlation run: the versions of all findings tables that belong together",
    key=("generation_id",),
    columns=(
        Column(
            "generation_id", "string", "SHA-256 of the inputs: files of evidence, settings file, rules version, window"
        ),
        Column("tables", "strings", "table=version of every findings table of this run"),
        Column("inputs", "strings", "table=version of every evidence table that was read"),
        Column("rules_version", "string", "version of grammar and rules"),
        Column("row_counts", "strings", "table=rows"),
        Column("data_until_at", "timestamp", "latest log event read, UTC"),
        Column(
            "data_since_at",
            "timestamp",
            "log events before it, UTC, were left out (`correlate --since`); null: none, or an earlier release did not keep it",
        ),
        Column("made_at", "timestamp", "when this run was published, UTC; null: an earlier release did not keep it"),
        Column(
            "settings_text",
            "string",
            "the settings findings rest on, as TOML; null: an earlier release did not keep them",
        ),
        Column("settings_digest", "string", "12 characters of the SHA-256 of settings_text"),
    ),
)

FINDINGS = (
    INVOCATIONS,
    DELIVERIES,
    REDELIVERIES,
    RULINGS,
    MESSAGES,
    INCIDENTS,
    TIMELINE,
    QUEUE_FINDINGS,
    COUNTERFACTUALS,
    QUEUE_HEALTH,
    QUEUE_WEEKS,
    SETTING_FINDINGS,
    LOGGING_READINESS,
)
"""The result tables of a correlation run, in the order they are built."""
