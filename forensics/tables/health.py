"""Findings about queues over days and weeks, and about their settings. Rebuildable, as all findings."""

from forensics.tables.common import EVIDENCE, QUEUE, QUEUE_ARN
from forensics.tables.schema import Column, Table, sentence

_HEALTH: tuple[Column, ...] = (
    Column("zone", "string", "the team's time zone, in which days and weeks begin and end"),
    Column("starts_at", "timestamp", "start of the period, UTC, inclusive"),
    Column("ends_at", "timestamp", "end of the period, UTC, exclusive"),
    Column("is_dead_letter_queue", "bool", "another queue's redrive policy names it"),
    Column("metrics_read_s", "int", "seconds of the period for which the queue's metrics were read in full"),
    Column("logs_read_s", "int", "seconds for which every log group of its consumers was read in full"),
    Column("sent_count", "long", "NumberOfMessagesSent; null where CloudWatch has no data, which is not zero"),
    Column("received_count", "long", "NumberOfMessagesReceived; repeats count again; null without data"),
    Column("deleted_count", "long", "NumberOfMessagesDeleted; repeated deletes count again; null without data"),
    Column("delivery_count", "long", "deliveries in the ledger; null where no log was read"),
    Column("redelivery_count", "long", "deliveries that were not the message's first; null where no log was read"),
    Column(
        "unseen_count",
        "long",
        "receives that only the receive count shows, at the next seen one; null where no log was read",
    ),
    Column("item_count", "long", "messages received for the first time; null where no log was read"),
    Column("twice_at_least", "int", "works done more than once for sure, at the first receive of the work"),
    Column(
        "twice_at_most",
        "int",
        "works that may have been done more than once; one under several message ids counts once",
    ),
    Column("stopped_count", "int", "works of which a guard stopped the repeat"),
    Column("run_count", "long", "invocations, and a worker's handlings; null where no log was read"),
    Column("timeout_count", "long", "invocations that ran into the function timeout"),
    Column("error_count", "long", "invocations that ended in an error"),
    Column("crash_count", "long", "invocations that crashed or whose environment did not start"),
    Column("throttle_count", "long", "Throttles of its functions, all their callers together; null without data"),
    Column("expired_handle_count", "long", "deletes that SQS refused because the receipt handle had expired"),
    Column("dead_lettered_count", "long", "messages moved to the dead-letter queue, as the ledger shows"),
    Column("dead_letter_reasons", "strings", "code=count: how the last delivery before the move ended, highest first"),
    Column(
        "dead_letter_rise_count",
        "long",
        "how many visible messages its dead-letter queue gained, from metrics: what left in between hides; null without data",
    ),
    Column("empty_receive_count", "long", "NumberOfEmptyReceives: receives that brought nothing; null without data"),
    Column(
        "deduplicated_count",
        "long",
        "NumberOfDeduplicatedSentMessages: sends that FIFO took for repeats; null without data",
    ),
    Column("invocation_count", "long", "Invocations of its functions, all their callers together; null without data"),
    Column("invocation_error_count", "long", "Errors of its functions, all their callers together; null without data"),
    Column(
        "recursion_dropped_count",
        "long",
        "RecursiveInvocationsDropped: what Lambda stopped as a loop; null without data",
    ),
    Column("polled_event_count", "long", "PolledEventCount of its mappings (opt-in); null without data"),
    Column(
        "filtered_event_count",
        "long",
        "FilteredOutEventCount of its mappings (opt-in): deleted unread; null without data",
    ),
    Column("invoked_event_count", "long", "InvokedEventCount of its mappings (opt-in); null without data"),
    Column("failed_invoke_event_count", "long", "FailedInvokeEventCount of its mappings (opt-in); null without data"),
    Column("deleted_event_count", "long", "DeletedEventCount of its mappings (opt-in); null without data"),
    Column("age_p95_s", "int", "95th percentile of ApproximateAgeOfOldestMessage; null without data"),
    Column("age_max_s", "int", "highest ApproximateAgeOfOldestMessage; null without data"),
    Column("backlog_max_count", "long", "most visible messages at once; null without data"),
    Column("in_flight_max_count", "long", "most messages in flight at once; null without data"),
    Column(
        "waiting_start_count",
        "long",
        "messages in the queue (visible, in flight, delayed) at its first point; null without data",
    ),
    Column("waiting_end_count", "long", "the same at its last point"),
    Column(
        "waiting_start_least",
        "long",
        "the fewest there can have been before its first point: the level less what was sent in that point's time",
    ),
    Column("waiting_end_least", "long", "the same after its last point: less what was deleted in that point's time"),
    Column("handler_p50_ms", "long", "median run of the handler, a whole batch; null without a run of known length"),
    Column("handler_p95_ms", "long", "95th percentile of the same"),
    Column("handler_p99_ms", "long", "99th percentile of the same"),
    Column("handler_max_ms", "long", "longest run"),
    Column("item_p99_ms", "long", "99th percentile of one message's handling; null where no line tells start and end"),
    Column(
        "poison_count", "long", "standard queue: messages received for the third time, which the age metric leaves out"
    ),
    Column("poison_age_s", "int", "age of the oldest of them at its last receive; null where not logged"),
    Column(
        "evidence_ids",
        "strings",
        "readings, peaks, failed runs and affected messages this rests on, sorted; at most 200",
    ),
)

QUEUE_HEALTH = Table(
    "queue_health",
    "findings",
    grain="one queue on one day of the team's zone",
    key=("queue_arn", "day"),
    columns=(
        QUEUE_ARN,
        QUEUE,
        Column("day", "string", "the day, yyyy-mm-dd"),
        Column("week", "string", "the ISO week it belongs to, yyyy-Www"),
        *_HEALTH,
    ),
)

QUEUE_WEEKS = Table(
    "queue_weeks",
    "findings",
    grain="one queue in one ISO week of the team's zone",
    key=("queue_arn", "week"),
    columns=(QUEUE_ARN, QUEUE, Column("week", "string", "the ISO week, yyyy-Www"), *_HEALTH),
)

SETTING_FINDINGS = Table(
    "setting_findings",
    "findings",
    grain="one settings check's answer for one queue and one of its consumers",
    key=("queue_arn", "consumer", "code"),
    columns=(
        QUEUE_ARN,
        QUEUE,
        Column("consumer", "string", "the function or the worker's log group; - for checks of the queue alone"),
        Column("code", "string", "the check's code"),
        Column("status", "string", "fails, passes or unknown; a check that does not apply has no row"),
        Column("severity", "string", "critical, warning or note where it fails; null otherwise"),
        *sentence("sentence", "what was compared, with the numbers"),
        *sentence("advice", "what to change; null unless it fails"),
        Column("would_decide", "string", "the evidence that is missing; null unless unknown"),
        Column("numbers", "strings", "name=value of every number that was compared, in the order of the sentence"),
        Column("observed_until_at", "timestamp", "end of the evidence it was judged by, UTC"),
        EVIDENCE,
    ),
)
