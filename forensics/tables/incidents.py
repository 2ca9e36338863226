"""Findings about incidents: one row each, and what each change would have prevented. Rebuildable, as all findings."""

from forensics.tables.common import EVIDENCE, QUEUE, QUEUE_ARN
from forensics.tables.schema import Column, Table, sentence

INCIDENTS = Table(
    "incidents",
    "findings",
    grain="messages of one queue that may have been processed twice, close in time",
    key=("incident_id",),
    columns=(
        Column("incident_id", "string", "<queue name>-<UTC start, yyyymmddThhmmZ>"),
        QUEUE_ARN,
        QUEUE,
        Column("started_at", "timestamp", "first receive of an affected message, UTC"),
        Column("ended_at", "timestamp", "last activity of an affected message, UTC"),
        Column(
            "first_repeat_at",
            "timestamp",
            "first redelivery of an affected message (a second run's start where it had the same receive), receive of another id of its work, or line of its key that shows a repeat at the latest, UTC",
        ),
        Column("messages", "int", "affected messages; null where logs name none"),
        Column("messages_at_most", "int", "upper bound of affected messages"),
        Column("confirmed", "int", "messages whose work was done more than once"),
        Column("probable", "int", "messages done once for sure and maybe again"),
        Column("possible", "int", "messages maybe done more than once"),
        Column("absorbed", "int", "messages delivered again where a guard stopped the repeat"),
        Column("harmless", "int", "messages delivered again and done at most once"),
        Column(
            "works",
            "int",
            "works of the affected messages: one sent under several ids is one; null where logs name none",
        ),
        Column("works_shared", "int", "of these, works of which another incident holds a message too"),
        Column(
            "received_once",
            "int",
            "messages of it of which no redelivery is seen: another id or a line of their key tells of the repeat; null where logs name none",
        ),
        Column("repeated_elsewhere", "strings", "item ids of these works of which every repeat is another incident's"),
        Column("works_confirmed", "int", "works done more than once; null where logs name no message"),
        Column("works_probable", "int", "works done once for sure and maybe again; null where logs name no message"),
        Column("works_possible", "int", "works maybe done more than once; null where logs name no message"),
        Column("works_absorbed", "int", "works of which a guard stopped the repeat; null where logs name no message"),
        Column("works_harmless", "int", "works done at most once; null where logs name no message"),
        Column("causes", "strings", "code=count, highest first"),
        Column(
            "primary_cause",
            "string",
            "the cause of the most affected redeliveries; the origin where nothing was redelivered",
        ),
        Column(
            "trigger",
            "string",
            "what began most of its redeliveries: the primary cause, or what cut the batch of finished messages off",
        ),
        Column(
            "why", "strings", "the numbers of cause_sentence as name=value, so that it can be said in another language"
        ),
        *sentence("headline", "what happened, one sentence with numbers"),
        *sentence("cause_sentence", "why, in one or two sentences, the trigger first"),
        *sentence("excluded", "rival causes with why they are out", "strings"),
        *sentence("still_open", "rival causes that are not out: why, for how many, and what would decide", "strings"),
        Column("certainty", "string", "proved when every confirmed verdict is, else inferred"),
        Column("is_provisional", "bool", "late lines may still change a verdict of it"),
        Column(
            "final_at",
            "timestamp",
            "when all its verdicts are final once that time is read again, UTC; null where they are",
        ),
        Column("functions", "strings", "functions or log groups that consumed it"),
        Column("is_fifo", "bool", "the queue is FIFO; null if no snapshot says"),
        Column("visibility_timeout_s", "int", "in force; null if no snapshot"),
        Column("function_timeout_s", "int", "in force; null for workers or without a snapshot"),
        Column("batch_size", "int", "of the mapping; null for workers or without a snapshot"),
        Column("group_count", "int", "message groups among the affected messages; null where not logged"),
        Column(
            "blocked_ms",
            "long",
            "how long the affected groups were held by deliveries that failed; null on standard queues",
        ),
        Column("extra_effects_at_least", "int", "repeats of work done for sure, each work counted once"),
        Column("extra_effects_at_most", "int", "repeats of work that may have been done; null means no upper bound"),
        *sentence("unread_sources", "what the evidence lacks inside the incident's time, in words", "strings"),
        EVIDENCE,
    ),
)

COUNTERFACTUALS = Table(
    "counterfactuals",
    "findings",
    grain="one change, and how many of one incident's repeats it would have prevented",
    key=("incident_id", "change"),
    columns=(
        Column("incident_id", "string", "the incident"),
        QUEUE_ARN,
        QUEUE,
        Column(
            "change",
            "string",
            "batch_size_1, longer_visibility, longer_function_timeout, partial_responses, maximum_concurrency or idempotency_key",
        ),
        Column(
            "repeats", "int", "deliveries in which work was done, or may have been done, that an earlier one had done"
        ),
        Column("prevented", "int", "repeats that the change would have prevented"),
        Column("undecided", "int", "repeats of which the evidence does not tell"),
        Column("prevented_percent", "int", "share of the repeats that would have been prevented, rounded down"),
        *sentence("reason", "why, per answer the most frequent reason with its count"),
        EVIDENCE,
    ),
)
