"""Evidence tables: what AWS said. Append-only; receipt handles are digests before the first write."""

from forensics.tables.schema import Column, Table, sentence

_ID = Column("evidence_id", "string", "names this row permanently; findings cite it")
_ACCOUNT = Column("account_id", "string", "AWS account the source belongs to, 12 digits")
_REGION = Column("region", "string", "AWS region of the source")
_COLLECTED = Column("collected_at", "timestamp", "when Doubletake read it, UTC")
_OBSERVED = Column("observed_at", "timestamp", "when AWS gave this state, UTC; true from here back to the row before")

LOG_EVENTS = Table(
    "log_events",
    "evidence",
    grain="one log event of a consumer's log group, verbatim but for receipt handles and configured redactions",
    key=("evidence_id",),
    time_column="logged_at",
    columns=(
        Column("evidence_id", "string", "log: and the SHA-256 of account, region, group and event id"),
        _ACCOUNT,
        _REGION,
        Column("log_group", "string", "CloudWatch log group, or the name given to an imported file"),
        Column("log_stream", "string", "log stream; one Lambda execution environment writes one stream"),
        Column("event_id", "string", "CloudWatch's eventId; null for lines that came without one"),
        Column("logged_at", "timestamp", "the event's timestamp, set by the writer, UTC with milliseconds"),
        Column("ingested_at", "timestamp", "when CloudWatch took it in, UTC; null where the source does not say"),
        Column("order_in_ms", "int", "place among events of the same stream and millisecond, as the source gave them"),
        Column("line", "string", "the message text"),
        _COLLECTED,
    ),
)

METRIC_POINTS = Table(
    "metric_points",
    "evidence",
    grain="one value of one CloudWatch metric and statistic in one period; a revised value is a further row",
    key=("evidence_id",),
    time_column="point_at",
    columns=(
        Column("evidence_id", "string", "metric: and the SHA-256 of source, metric, statistic, period, time and value"),
        _ACCOUNT,
        _REGION,
        Column("namespace", "string", "AWS/SQS or AWS/Lambda"),
        Column("metric", "string", "metric name as CloudWatch spells it"),
        Column("resource", "string", "queue name, function name or event source mapping UUID: the metric's dimension"),
        Column("statistic", "string", "Sum, Average, Maximum or a percentile such as p99"),
        Column("period_s", "int", "length of the period in seconds"),
        Column("point_at", "timestamp", "start of the period, UTC"),
        Column("value", "double", "the value; no row means CloudWatch has no data, which is not zero"),
        _COLLECTED,
    ),
)

QUEUE_SETTINGS = Table(
    "queue_settings",
    "evidence",
    grain="one state of a queue's attributes; a new row only when something changed",
    key=("evidence_id",),
    columns=(
        Column("evidence_id", "string", "queue: and the SHA-256 of the settings and the time they were observed"),
        _ACCOUNT,
        _REGION,
        Column("queue_arn", "string", "the queue's ARN"),
        Column("queue_name", "string", "the queue's name"),
        Column("is_fifo", "bool", "true for a FIFO queue"),
        Column("visibility_timeout_s", "int", "how long a received message stays hidden"),
        Column("message_retention_s", "int", "how long SQS keeps a message"),
        Column("delay_s", "int", "delivery delay"),
        Column("receive_wait_s", "int", "long-polling wait"),
        Column("content_based_deduplication", "bool", "FIFO: the body's SHA-256 is the deduplication id"),
        Column("deduplication_scope", "string", "FIFO: queue or messageGroup; null where not said"),
        Column("fifo_throughput_limit", "string", "FIFO: perQueue or perMessageGroupId; null where not said"),
        Column("dead_letter_queue_arn", "string", "where messages go after too many receives; null without one"),
        Column("max_receive_count", "int", "receives allowed before the move; null without a dead-letter queue"),
        Column("created_at", "timestamp", "when the queue was created, UTC"),
        Column("last_modified_at", "timestamp", "when an attribute last changed, UTC; not which"),
        _OBSERVED,
    ),
)

FUNCTION_SETTINGS = Table(
    "function_settings",
    "evidence",
    grain="one state of a Lambda function's configuration, without environment variables",
    key=("evidence_id",),
    columns=(
        Column("evidence_id", "string", "function: and the SHA-256 of the settings and the time they were observed"),
        _ACCOUNT,
        _REGION,
        Column("function_arn", "string", "the function's ARN without version or alias"),
        Column("function_name", "string", "the function's name"),
        Column("timeout_s", "int", "function timeout"),
        Column("memory_mb", "int", "memory size"),
        Column("runtime", "string", "runtime identifier; null for container images"),
        Column("log_group", "string", "where it logs: the custom group, else /aws/lambda/<name>"),
        Column("log_format", "string", "Text or JSON"),
        Column("application_log_level", "string", "JSON only; null where not set"),
        Column("system_log_level", "string", "JSON only; at WARN a successful run leaves no START and no REPORT"),
        Column("reserved_concurrency", "int", "reserved concurrent executions; null where none or not readable"),
        Column(
            "is_durable", "bool", "a durable function: waits end its run, and another one replays it; null if not told"
        ),
        Column("last_modified_at", "timestamp", "when the function last changed, UTC"),
        _OBSERVED,
    ),
)

EVENT_SOURCE_MAPPINGS = Table(
    "event_source_mappings",
    "evidence",
    grain="one state of the mapping that feeds a queue to a function",
    key=("evidence_id",),
    columns=(
        Column("evidence_id", "string", "mapping: and the SHA-256 of the settings and the time they were observed"),
        _ACCOUNT,
        _REGION,
        Column("mapping_uuid", "string", "the mapping's UUID"),
        Column("queue_arn", "string", "the queue it polls"),
        Column("function_arn", "string", "the function it invokes, without version or alias"),
        Column("function_name", "string", "the function's name"),
        Column("qualifier", "string", "the version or alias it invokes, $LATEST too; empty for none; null if not told"),
        Column("batch_size", "int", "most messages in one invocation"),
        Column("batching_window_s", "int", "how long the poller gathers a batch"),
        Column("reports_batch_item_failures", "bool", "FunctionResponseTypes has ReportBatchItemFailures"),
        Column("maximum_concurrency", "int", "ScalingConfig.MaximumConcurrency; null without a limit"),
        Column("counts_events", "bool", "the opt-in EventCount metrics are on"),
        Column("state", "string", "Enabled, Disabled, ..."),
        Column(
            "filter_patterns",
            "strings",
            "FilterCriteria: messages that match none are deleted unread; null without one",
        ),
        Column("last_modified_at", "timestamp", "when the mapping last changed, UTC"),
        _OBSERVED,
    ),
)

LOG_GROUP_SETTINGS = Table(
    "log_group_settings",
    "evidence",
    grain="one state of a log group: how it can be read, and how long it keeps its events",
    key=("evidence_id",),
    columns=(
        Column("evidence_id", "string", "loggroup: and the SHA-256 of the settings and the time they were observed"),
        _ACCOUNT,
        _REGION,
        Column("log_group", "string", "the log group's name"),
        Column(
            "log_class", "string", "STANDARD, INFREQUENT_ACCESS (Logs Insights only) or DELIVERY; null where not said"
        ),
        Column("retention_days", "int", "days after which CloudWatch deletes an event; null: never"),
        Column("created_at", "timestamp", "when the group was created, UTC"),
        _OBSERVED,
    ),
)

SETTING_CHANGES = Table(
    "setting_changes",
    "evidence",
    grain="one call that changed, purged or redrove something, as CloudTrail recorded it; refused calls too",
    key=("evidence_id",),
    time_column="changed_at",
    columns=(
        Column("evidence_id", "string", "change: and the SHA-256 of account, region and CloudTrail's event id"),
        _ACCOUNT,
        _REGION,
        Column("event_id", "string", "CloudTrail's eventID"),
        Column("changed_at", "timestamp", "when AWS took the call, UTC; an attribute takes up to 60 s to hold"),
        Column("event_source", "string", "sqs.amazonaws.com or lambda.amazonaws.com"),
        Column("event_name", "string", "the operation without Lambda's date, such as SetQueueAttributes"),
        Column("resource_kind", "string", "queue, function or mapping"),
        Column("resource", "string", "queue name, function name or mapping UUID; null where the record does not say"),
        Column("queue_arn", "string", "the queue concerned; for a mapping the one it polls; null where not said"),
        Column("function_name", "string", "the function concerned; null where none or not said"),
        Column("settings", "strings", "what was set, as name=value, sorted; only settings that bear on deliveries"),
        Column("actor", "string", "who called: the identity's ARN, or the AWS service"),
        Column("error_code", "string", "why AWS refused; null where the call took effect"),
        _COLLECTED,
    ),
)

SEND_RECORDS = Table(
    "send_records",
    "evidence",
    grain="one message in one call to SQS (send, receive, delete, change of visibility), as a CloudTrail data event or a "
    "producer's own line tells; one row for a call whose record names no message",
    key=("evidence_id",),
    time_column="called_at",
    columns=(
        Column(
            "evidence_id", "string", "send: and the SHA-256 of account, region, what told it, its event id and place"
        ),
        _ACCOUNT,
        _REGION,
        Column(
            "event_id", "string", "CloudTrail's eventID; of a producer's line its own id, or one made of what it says"
        ),
        Column("place", "int", "which message of the call, from 0"),
        Column(
            "called_at",
            "timestamp",
            "when SQS took the call, UTC; CloudTrail tells whole seconds, a line the producer's clock",
        ),
        Column(
            "operation",
            "string",
            "SendMessage, ReceiveMessage, DeleteMessage or ChangeMessageVisibility; of batches too",
        ),
        Column("queue_arn", "string", "the queue that was called"),
        Column("message_id", "string", "SQS MessageId; null where the record does not say"),
        Column("receipt_handle", "string", "token of the handle; null where CloudTrail hides it"),
        Column("visibility_timeout_s", "int", "what a receive or a change asked for; null where not said"),
        Column("group_id", "string", "MessageGroupId of a send"),
        Column("deduplication_id", "string", "MessageDeduplicationId of a send"),
        Column("body_md5", "string", "MD5 of the body, as SQS answered a send"),
        Column("request_id", "string", "SQS's id of the call; a retry of the SDK has another"),
        Column("actor", "string", "who called: the identity's ARN, or the AWS service"),
        Column("error_code", "string", "why SQS refused; null where the call took effect"),
        Column("error_text", "string", "what SQS said to it, without receipt handles"),
        Column("business_key", "string", "what the work is about, as a producer's line says; null of CloudTrail"),
        Column("producer_request_id", "string", "the producer's own request or job that sent it; null where not said"),
        Column("log_group", "string", "where the producer wrote the line; null of CloudTrail"),
        Column("log_stream", "string", "the log stream of the line"),
        Column("line", "string", "the line, verbatim but for receipt handles and what the settings redact"),
        Column("pattern", "string", "digest of the settings that read the line: rows of others do not count"),
        _COLLECTED,
    ),
)

MOVE_TASKS = Table(
    "move_tasks",
    "evidence",
    grain="one state of one redrive out of a dead-letter queue; a new row only when something changed",
    key=("evidence_id",),
    columns=(
        Column("evidence_id", "string", "move: and the SHA-256 of the task's state and the time it was observed"),
        _ACCOUNT,
        _REGION,
        Column("task", "string", "names the task: the queue's ARN and the start"),
        Column("source_arn", "string", "the dead-letter queue the messages left"),
        Column("destination_arn", "string", "where they went; null: each to the queue it had come from"),
        Column("started_at", "timestamp", "when the task began, UTC"),
        Column("status", "string", "RUNNING, COMPLETED, CANCELLING, CANCELLED or FAILED"),
        Column("moved_count", "long", "messages moved so far, approximately"),
        Column("to_move_count", "long", "messages there were to move, approximately; null while not known"),
        Column("max_per_second", "int", "the speed limit somebody set; null without one"),
        Column("failure_reason", "string", "why it failed; null where it did not"),
        _OBSERVED,
    ),
)

TASK_STOPS = Table(
    "task_stops",
    "evidence",
    grain="one ECS task that stopped, as EventBridge told: the process of a worker is over",
    key=("evidence_id",),
    time_column="stopped_at",
    columns=(
        Column("evidence_id", "string", "stop: and the SHA-256 of account, region and the task"),
        _ACCOUNT,
        _REGION,
        Column("task_id", "string", "last part of the task's ARN: log streams of the awslogs driver end in it"),
        Column("cluster", "string", "the cluster's name"),
        Column("task_group", "string", "what started it, as service:name; null where not said"),
        Column("stopped_at", "timestamp", "when its containers had stopped, UTC"),
        Column("stop_code", "string", "such as EssentialContainerExited or UserInitiated; null where not said"),
        Column("stopped_reason", "string", "why, in ECS's words"),
        Column(
            "container_reasons", "strings", "name: exit code and reason of each container, such as OutOfMemoryError"
        ),
        _COLLECTED,
    ),
)

GUARD_TABLE_SETTINGS = Table(
    "guard_table_settings",
    "evidence",
    grain="one state of an idempotency table's own settings; a new row only when something changed",
    key=("evidence_id",),
    columns=(
        Column("evidence_id", "string", "guardtable: and the SHA-256 of the settings and the time they were observed"),
        _ACCOUNT,
        _REGION,
        Column("guard_table", "string", "the DynamoDB table's name"),
        Column("partition_key", "string", "the attribute that is its partition key"),
        Column("sort_key", "string", "the attribute that is its sort key; null without one"),
        Column("deletes_expired", "bool", "time to live is enabled; null where that could not be read"),
        Column("expiry_attribute", "string", "the attribute that time to live looks at; null where not enabled"),
        _OBSERVED,
    ),
)

GUARD_RECORDS = Table(
    "guard_records",
    "evidence",
    grain="one state of one record of an idempotency table: what it is about, how far, until when; never the result it keeps",
    key=("evidence_id",),
    columns=(
        Column("evidence_id", "string", "guard: and the SHA-256 of account, region, table and the record's state"),
        _ACCOUNT,
        _REGION,
        Column("guard_table", "string", "the DynamoDB table's name"),
        Column("record_key", "string", "what the record is about, as its guard wrote it: often a digest"),
        Column("guarded_function", "string", "what stands before the digest of a Powertools key; null without one"),
        Column("record_status", "string", "how far it is, such as INPROGRESS or COMPLETED; null where it says none"),
        Column("expires_at", "timestamp", "from when on it no longer holds, UTC; null: never"),
        Column("locked_until_at", "timestamp", "until when whoever is at it holds it, UTC; null where not said"),
        Column("observed_at", "timestamp", "when the table was first read with the record so, UTC"),
    ),
)

CONSUMERS = Table(
    "consumers",
    "evidence",
    grain="one log group in which the consumer of one queue writes",
    key=("evidence_id",),
    columns=(
        Column("evidence_id", "string", "consumer: and the SHA-256 of queue, log group and function"),
        _ACCOUNT,
        _REGION,
        Column("queue_arn", "string", "the queue"),
        Column("queue_name", "string", "the queue's name"),
        Column("log_group", "string", "the log group"),
        Column("kind", "string", "lambda or worker; null where an imported file does not tell"),
        Column("function_name", "string", "the function; null for workers"),
        Column(
            "found_by", "string", "mapping, option (--log-group), settings file or printed event (of an imported log)"
        ),
    ),
)

COVERAGE = Table(
    "coverage",
    "evidence",
    grain="one reading of one source for one window, written after its last page",
    key=("evidence_id",),
    columns=(
        Column("evidence_id", "string", "coverage: and the SHA-256 of source, resource, window, status and time"),
        _ACCOUNT,
        _REGION,
        Column("source", "string", "the evidence table that was read into"),
        Column("resource", "string", "log group, metric resource, queue or function that was asked for"),
        Column("queue_arn", "string", "the queue this reading served, a row each if several; null where none"),
        Column("window_start_at", "timestamp", "start of the window, UTC, inclusive"),
        Column("window_end_at", "timestamp", "end of the window, UTC, exclusive"),
        Column(
            "status",
            "string",
            "ok, denied, failed, gone, unsupported, partial (files that nobody vouches for), or lost: stored, then damaged",
        ),
        *sentence("detail", "AWS's error code and message where the status is not ok, or why it was read in part"),
        Column("seen_count", "long", "rows the source gave"),
        Column("stored_count", "long", "rows that were new"),
        Column("already_count", "long", "rows that were in the lake before"),
        Column("quarantined_count", "long", "rows that could not be kept as they were"),
        Column("is_provisional", "bool", "read before the window was 5 minutes old: late events may be missing"),
        Column("is_sealed", "bool", "read again as a whole when a case was sealed; null in older lakes"),
        _COLLECTED,
    ),
)

QUARANTINE = Table(
    "quarantine",
    "evidence",
    grain="one piece of input that could not be stored as what it claimed to be",
    key=("evidence_id",),
    columns=(
        Column("evidence_id", "string", "quarantine: and the SHA-256 of source, resource, reason and content"),
        Column("source", "string", "the evidence table it was meant for"),
        Column("resource", "string", "log group it was meant for, or the file where none is known"),
        Column("reason", "string", "what is wrong with it"),
        Column("offset", "long", "place in the page or file"),
        Column("length_chars", "long", "length of the whole text"),
        Column("head", "string", "first 200 characters, escaped, with receipt handles as digests"),
        Column("file", "string", "below the path that was named; null for AWS's replies, and in older lakes"),
        Column("line_number", "long", "line of the file it begins in, from 1; null where none is counted"),
        Column("replaces", "string", "evidence_id of the row whose place it takes; null: none"),
        Column("is_cleared", "bool", "its file was imported again without what it replaces: nothing stands"),
        _COLLECTED,
    ),
)

EVIDENCE = (
    LOG_EVENTS,
    METRIC_POINTS,
    QUEUE_SETTINGS,
    FUNCTION_SETTINGS,
    EVENT_SOURCE_MAPPINGS,
    LOG_GROUP_SETTINGS,
    SETTING_CHANGES,
    SEND_RECORDS,
    MOVE_TASKS,
    TASK_STOPS,
    GUARD_TABLE_SETTINGS,
    GUARD_RECORDS,
    CONSUMERS,
    COVERAGE,
    QUARANTINE,
)
