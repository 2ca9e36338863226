"""What one line says of single messages, in one shape whatever the line was."""

from collections import defaultdict
from collections.abc import Callable, Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

from forensics.settings import Queue

FACT_FIELDS = {
    "role": "string",
    "message_id": "string",
    "key": "string",
    "at": "timestamp",
    "evidence_id": "string",
    "receive_count": "int",
    "position": "int",
    "sent_ms": "bigint",
    "first_receive_ms": "bigint",
    "group_id": "string",
    "deduplication_id": "string",
    "receipt_handle": "string",
    "body_md5": "string",
    "queue_arn": "string",
    "dead_letter_source_arn": "string",
    "detail": "string",
}
"""One fact. ``role`` is record, mention, started, effect, guard, failure (named in batchItemFailures), handle_error,
idempotency or worker_<event>; ``detail`` is the reason:operation of a handle error, the kind of an idempotency line or
the framework's job id. Celery's lines name no message: its task id is their key."""

_RECORD_FIELDS = (
    "receive_count",
    "position",
    "sent_ms",
    "first_receive_ms",
    "group_id",
    "deduplication_id",
    "receipt_handle",
    "body_md5",
    "queue_arn",
    "dead_letter_source_arn",
)


def facts_of_line(queues: Sequence[Queue], queue_names_by_group: dict[str, str]) -> Column:
    """Return the parsed line's facts as an array, null where it has none.

    ``queues`` gives the JSON path of each queue's business key; ``queue_names_by_group`` the queue of a log group
    whose printed messages name no queue.
    """
    key_of = _business_key(queues, queue_names_by_group)
    records = F.transform("records", lambda r: _fact("record", r["message_id"], key_of(r), r, _RECORD_FIELDS))
    mentions = F.transform("mentions", lambda m: _fact("mention", m))
    failures = F.transform("batch_item_failures", lambda m: _fact("failure", m))
    singles = [
        F.when(
            # "already charged k=1" matches the pattern of "charged k=1" too: a stopped repeat is no effect.
            F.col("effect").isNotNull() & F.col("guard_mark").isNull(),
            _fact("effect", F.col("effect.message_id"), F.col("effect.key")),
        ),
        F.when(
            F.col("started").isNotNull(),
            _fact(
                "started",
                F.col("started.message_id"),
                F.col("started.key"),
                receive_count=F.col("receive_count"),
            ),
        ),
        *[
            F.when(F.col(column).isNotNull(), _fact(role, F.col(f"{column}.message_id"), F.col(f"{column}.key")))
            for column, role in (("deleted_mark", "worker_finished"), ("failed_mark", "worker_failed"))
        ],
        F.when(
            F.col("guard_mark").isNotNull(), _fact("guard", F.col("guard_mark.message_id"), F.col("guard_mark.key"))
        ),
        F.when(F.col("idempotency").isNotNull(), _fact("idempotency", None, detail=F.col("idempotency"))),
        F.when(
            F.col("handle_error").isNotNull(),
            _fact(
                "handle_error",
                F.when(F.size("mentions") == 1, F.try_element_at("mentions", F.lit(1))),
                receipt_handle=F.col("handle_error.handle"),
                detail=F.concat_ws(":", "handle_error.reason", F.coalesce("handle_error.operation", F.lit(""))),
            ),
        ),
        F.when(
            F.col("worker").isNotNull(),
            _fact(
                F.concat(F.lit("worker_"), F.col("worker.event")),
                F.col("worker.message_id"),
                F.when(F.col("worker.format") == "celery", F.col("worker.job_id")),
                receive_count=F.col("worker.receive_count"),
                detail=F.col("worker.job_id"),
            ),
        ),
    ]
    nothing = F.array().cast(f"array<struct<{FACT_TYPE}>>")
    lists = [F.coalesce(c, nothing) for c in (records, mentions, failures)]
    marks = F.array_compact(F.array(*singles))
    has_any = F.coalesce(
        *[F.when(F.col(c).isNotNull(), True) for c in _MARKED],
        *[F.when(F.col(c).isNotNull(), True) for c in ("handle_error", "worker")],
        *[F.when(F.size(c) > 0, True) for c in ("records", "mentions", "batch_item_failures")],
        F.lit(False),
    )
    return F.when(has_any, F.concat(*lists, marks))


_MARKED = ("effect", "started", "guard_mark", "deleted_mark", "failed_mark", "idempotency")
FACT_TYPE = ", ".join(f"{name}: {kind}" for name, kind in FACT_FIELDS.items())


def _fact(
    role: str | Column,
    message_id: Column | None,
    key: Column | None = None,
    record: Column | None = None,
    copied: Sequence[str] = (),
    **more: Column,
) -> Column:
    values: dict[str, Column] = {"role": F.lit(role) if isinstance(role, str) else role}
    values |= {"at": F.col("logged_at"), "evidence_id": F.col("evidence_id"), **more}
    if message_id is not None:
        values["message_id"] = message_id
    if key is not None:
        values["key"] = key
    if record is not None:
        values |= {name: record[name] for name in copied}
    for name in ("message_id", "key"):  # a group that took no part in the match comes as empty text
        if name in values:
            values[name] = F.nullif(values[name].cast("string"), F.lit(""))
    nothing = F.lit(None)
    return F.struct(*[values.get(name, nothing).cast(kind).alias(name) for name, kind in FACT_FIELDS.items()])


def item_of_fact() -> Column:
    """Return what a fact is about: its message, else its business key."""
    return F.coalesce("message_id", F.concat(F.lit("key:"), F.col("key")))


def _business_key(queues: Sequence[Queue], queue_names_by_group: dict[str, str]) -> Callable[[Column], Column]:
    names_by_path: dict[str, list[str]] = defaultdict(list)  # many queues keep their key at the same place
    for queue in queues:
        if queue.business_key:
            names_by_path[str(queue.business_key)].append(queue.name)

    def key_of(record: Column) -> Column:
        key = F.lit(None).cast("string")
        body = record["body"]
        for path, names in names_by_path.items():
            here = F.substring_index(record["queue_arn"], ":", -1).isin(names)
            if groups := sorted(group for group, name in queue_names_by_group.items() if name in names):
                here = here | (record["queue_arn"].isNull() & F.col("log_group").isin(groups))
            key = F.when(here, body if path == "$" else F.get_json_object(body, path)).otherwise(key)
        return key

    return key_of
