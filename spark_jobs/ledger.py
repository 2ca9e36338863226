"""Facts to raw deliveries: one row per consumer and message, Lambda runs and worker handlings alike."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from forensics.parsers.grammar import UUID
from spark_jobs.facts import FACT_FIELDS
from spark_jobs.in_force import join_in_force
from spark_jobs.inputs import Inputs
from spark_jobs.runs import RUN_KEY

_RECORD_MAX = (
    "receive_count",
    "sent_ms",
    "first_receive_ms",
    "group_id",
    "deduplication_id",
    "receipt_handle",
    "body_md5",
    "dead_letter_source_arn",
)

CARRIED = (
    "consumer",
    "consumer_kind",
    "log_group",
    "log_stream",
    "request_id",
    "function_name",
    "run_started_at",
    "run_ended_at",
    "run_last_line_at",
    "run_status",
    "error_type",
    "has_response",
    "is_malformed_response",
    "is_batch_printed",
    "has_stray_mark",
    "has_stray_guard",
    "batch_count",
    "end_ids",
)
"""What every delivery takes over from its run. A stray mark or guard is a line that names only a business key of which
nothing tells the message: then the absence of a message's own line says nothing."""

BY_KEY = "by key"
"""Detail of an effect line that named its message by a business key only."""

_OF_RUNS = ("has_response", "is_malformed_response", "is_batch_printed", "has_stray_mark", "has_stray_guard")
_MARKS, _GUARDS = ("effect", "started"), ("guard", "idempotency")


MANY_FACTS = 400
"""Runs that state more than this are split by message through a shuffle; inside a row that would take their square."""


def run_deliveries(runs: DataFrame, has_big_runs: bool = True) -> DataFrame:
    """One row per Lambda run and message named in it; ``has_big_runs``: some run may state more than ``MANY_FACTS``."""
    understood = runs.withColumn("is_malformed_response", _is_malformed(F.col("facts"))).withColumns(
        {
            "has_response": F.coalesce("has_response", F.lit(False)) & ~F.col("is_malformed_response"),
            "facts": _without_strangers(F.col("facts")),
        }
    )
    facts = F.col("facts")
    keyed = understood.withColumn("facts", _with_named_keys(facts)).withColumns(
        {
            "_items": F.array_compact(F.array_distinct(F.transform("facts", _item_of))),
            "is_batch_printed": F.exists(facts, lambda f: f["role"] == "record"),
            "has_stray_mark": F.exists(facts, lambda f: f["role"].isin(*_MARKS) & f["message_id"].isNull()),
            "has_stray_guard": F.exists(facts, lambda f: f["role"].isin(*_GUARDS) & f["message_id"].isNull()),
        }
    )
    carried = keyed.select(
        "stream_hash",
        F.col("invocation_id").alias("consumer"),
        F.lit("lambda").alias("consumer_kind"),
        "log_group",
        "log_stream",
        F.col("run_request_id").alias("request_id"),
        "function_name",
        F.col("started_at").alias("run_started_at"),
        "run_ended_at",
        F.col("last_line_at").alias("run_last_line_at"),
        F.col("end_status").alias("run_status"),
        "error_type",
        "has_response",
        "is_malformed_response",
        "is_batch_printed",
        "has_stray_mark",
        "has_stray_guard",
        F.size("_items").alias("batch_count"),
        F.when(F.col("end_status") != "success", F.col("mark_ids")).alias("end_ids"),
        "facts_count",
        "facts",
        "_items",
    )
    if not has_big_runs:
        return _judged_facts(_split_in_row(carried))
    few = F.col("facts_count") <= MANY_FACTS
    big = (
        carried.where(~few)
        .select("stream_hash", *CARRIED, F.explode("facts").alias("fact"))
        .where(F.col("fact.message_id").isNotNull() | F.col("fact.key").isNotNull())
    )
    return _judged_facts(_split_in_row(carried.where(few)).unionByName(_split_by_shuffle(big)))


def _split_in_row(runs: DataFrame) -> DataFrame:
    """One row per message of a run, with the facts about it as ``mine``."""

    def of_item(item: Column) -> Column:
        return F.struct(item.alias("item_id"), F.filter("facts", lambda f: _item_of(f) == item).alias("mine"))

    exploded = runs.select("stream_hash", *CARRIED, F.explode(F.transform("_items", of_item)).alias("of_item"))
    return exploded.select("stream_hash", *CARRIED, "of_item.item_id", "of_item.mine")


def _split_by_shuffle(facts: DataFrame) -> DataFrame:
    """The same from one row per ``fact``."""
    by = ("stream_hash", "consumer")
    return (
        facts.withColumn("item_id", _item_of(F.col("fact")))
        .groupBy(*by, "item_id")
        .agg(*[F.any_value(c).alias(c) for c in CARRIED if c not in by], F.collect_list("fact").alias("mine"))
    )


def worker_deliveries(facts: DataFrame) -> DataFrame:
    """One row per handling of a message by a worker."""
    carried = facts.select(
        F.xxhash64("log_group", "log_stream").alias("stream_hash"),
        "consumer",
        F.lit("worker").alias("consumer_kind"),
        "log_group",
        "log_stream",
        F.lit(None).cast("string").alias("request_id"),
        F.lit(None).cast("string").alias("function_name"),
        F.lit(None).cast("timestamp").alias("run_started_at"),
        F.lit(None).cast("timestamp").alias("run_ended_at"),
        F.lit(None).cast("timestamp").alias("run_last_line_at"),
        F.lit("unknown").alias("run_status"),
        F.lit(None).cast("string").alias("error_type"),
        *[F.lit(False).alias(c) for c in _OF_RUNS],
        F.lit(1).alias("batch_count"),
        F.lit(None).cast("array<string>").alias("end_ids"),
        F.struct(*FACT_FIELDS).alias("fact"),
    )
    gathered = _judged_facts(_split_by_shuffle(carried))
    done = F.coalesce("worker_finished_at", "worker_failed_at", "delete_at")
    return gathered.withColumns(
        {
            "run_started_at": F.col("first_fact_at"),
            "run_last_line_at": F.col("last_fact_at"),
            "run_ended_at": F.coalesce(done, F.col("last_fact_at")),
            "run_status": F.when(F.col("is_timed_out"), "timeout")
            .when(F.col("worker_finished_at").isNotNull(), "success")
            .when(F.col("worker_failed_at").isNotNull(), "error")
            .otherwise("unknown"),
        }
    )


def _item_of(fact: Column | object) -> Column:
    get = fact if callable(fact) else lambda name: fact[name]  # type: ignore[index]
    return F.coalesce(get("message_id"), F.concat(F.lit("key:"), get("key")))


def _is_stranger(fact: Column, facts: Column) -> Column:
    """The fact names a failed item that is no message of the batch, or none at all.

    Where the batch was not printed, what looks like a message id is taken for one.
    """
    said = F.filter(facts, lambda f: (f["role"] != "failure") & f["message_id"].isNotNull())
    ids = F.transform(said, lambda f: f["message_id"])
    is_printed = F.exists(facts, lambda f: f["role"] == "record")
    is_one = F.array_contains(ids, fact["message_id"]) | (~is_printed & fact["message_id"].rlike(f"^{UUID}$"))
    return (fact["role"] == "failure") & ~F.coalesce(is_one, F.lit(False))


def _is_malformed(facts: Column) -> Column:
    """A response that names an id outside the batch gives the whole batch back, whatever else it says."""
    return F.when(_has_failure(facts), F.exists(facts, lambda f: _is_stranger(f, facts))).otherwise(F.lit(False))


def _without_strangers(facts: Column) -> Column:
    """Leave out failures that name no message of the batch: they are not messages."""
    return F.when(_has_failure(facts), F.filter(facts, lambda f: ~_is_stranger(f, facts))).otherwise(facts)


def _has_failure(facts: Column) -> Column:
    return F.exists(facts, lambda f: f["role"] == "failure")


def _with_named_keys(facts: Column) -> Column:
    """Give facts that name only a business key, a handle or nothing the message of their run that they mean."""
    records = F.filter(facts, lambda f: (f["role"] == "record") & f["message_id"].isNotNull())
    ids = F.array_distinct(
        F.transform(F.filter(facts, lambda f: f["message_id"].isNotNull()), lambda f: f["message_id"])
    )
    keyed = F.filter(facts, lambda f: f["key"].isNotNull() & f["message_id"].isNotNull())

    def named(fact: Column) -> Column:
        of_key = F.filter(keyed, lambda k: k["key"] == fact["key"])
        of_handle = F.filter(
            records, lambda r: F.substring(r["receipt_handle"], 1, 27) == F.substring(fact["receipt_handle"], 1, 27)
        )
        only = F.when(F.size(ids) == 1, F.try_element_at(ids, F.lit(1)))
        by_key = F.try_element_at(of_key, F.lit(1))["message_id"]
        by_handle = F.try_element_at(of_handle, F.lit(1))["message_id"]
        found = F.when(fact["key"].isNotNull(), by_key).otherwise(F.coalesce(by_handle, only))
        told = F.when(fact["key"].isNotNull() & (fact["role"] == "effect"), BY_KEY).otherwise(fact["detail"])
        given = fact.withField("message_id", found).withField("detail", told)
        return F.when(fact["message_id"].isNotNull(), fact).otherwise(given)

    has_nameless = F.exists(facts, lambda f: f["message_id"].isNull())
    return F.when(has_nameless, F.transform(facts, named)).otherwise(facts)


def _judged_facts(split: DataFrame) -> DataFrame:
    """Say in columns what the facts about one message in one run say together; ``mine`` goes."""
    mine = F.col("mine")

    def highest(name: str) -> Column:
        return F.array_max(F.transform(mine, lambda f: f[name]))

    def first(*roles: str) -> Column:
        return F.array_min(F.transform(F.filter(mine, lambda f: f["role"].isin(*roles)), lambda f: f["at"]))

    def is_delete(fact: Column) -> Column:
        return (fact["role"] == "handle_error") & fact["detail"].contains(":DeleteMessage")

    def any_delete(fact: Column) -> Column:
        return (fact["role"] == "worker_delete_failed") | is_delete(fact)

    def reason(fact: Column) -> Column:
        return F.substring_index(fact["detail"], ":", 1)

    def delete_reason(fact: Column) -> Column:
        return F.when(is_delete(fact), reason(fact)).otherwise(F.lit("other"))

    def by_key(fact: Column) -> Column:
        return (fact["role"] == "effect") & F.coalesce(fact["detail"] == BY_KEY, F.lit(False))

    def of_framework(fact: Column) -> Column:
        return fact["role"].startswith("worker_")

    def of_other_call(fact: Column) -> Column:
        return (fact["role"] == "handle_error") & ~is_delete(fact)

    deletes = F.filter(mine, any_delete)
    others = F.filter(mine, of_other_call)
    idempotency = F.filter(mine, lambda f: f["role"] == "idempotency")
    return split.select(
        "stream_hash",
        "item_id",
        *CARRIED,
        highest("message_id").alias("message_id"),
        *[highest(c).alias(c) for c in _RECORD_MAX],
        highest("queue_arn").alias("record_queue_arn"),
        F.array_min(F.transform(mine, lambda f: f["position"])).alias("batch_position"),
        first("record").alias("record_at"),
        first("started", "worker_started").alias("started_at"),
        first("effect").alias("marker_at"),
        F.size(F.filter(mine, by_key)).alias("key_marker_count"),
        first("guard", "worker_refused").alias("guard_at"),
        F.exists(mine, lambda f: f["role"] == "worker_refused").alias("is_refused"),
        F.array_max(F.transform(F.filter(mine, of_framework), lambda f: f["detail"])).alias("job_id"),
        F.array_max(F.transform(idempotency, lambda f: f["detail"])).alias("idempotency"),
        first("worker_finished").alias("worker_finished_at"),
        first("worker_failed", "worker_gave_up", "worker_timed_out").alias("worker_failed_at"),
        F.exists(mine, lambda f: f["role"] == "worker_gave_up").alias("is_given_up"),
        F.exists(mine, lambda f: f["role"] == "worker_timed_out").alias("is_timed_out"),
        F.exists(mine, lambda f: f["role"] == "failure").alias("is_named_failure"),
        F.array_min(F.transform(deletes, lambda f: f["at"])).alias("delete_at"),
        F.array_max(F.transform(deletes, delete_reason)).alias("delete_reason"),
        F.array_max(F.transform(others, reason)).alias("handle_reason"),
        F.array_min(F.transform(mine, lambda f: f["at"])).alias("first_fact_at"),
        F.array_max(F.transform(mine, lambda f: f["at"])).alias("last_fact_at"),
        F.array_sort(F.array_distinct(F.array_compact(F.transform(mine, lambda f: f["key"])))).alias("business_keys"),
        F.array_distinct(F.transform(mine, lambda f: f["evidence_id"])).alias("fact_ids"),
    )


def with_settings(raw: DataFrame, inputs: Inputs) -> DataFrame:
    """Add queue, receive time, and the settings that were in force then."""
    with_group = raw.join(F.broadcast(inputs.groups.drop("consumer_kind")), "log_group", how="left")
    first_receive = F.when(F.col("receive_count") == 1, F.timestamp_millis("first_receive_ms"))
    lambda_start = F.when(F.col("consumer_kind") == "lambda", F.col("run_started_at"))
    queue_arn = F.coalesce("record_queue_arn", "group_queue_arn", F.col("log_group"))
    placed = (
        with_group.withColumn("queue_arn", queue_arn)
        .withColumns(
            {
                "queue": F.substring_index("queue_arn", ":", -1),
                "function_name": F.coalesce("function_name", "group_function_name"),
                "received_at": F.coalesce(first_receive, lambda_start, "record_at", "first_fact_at"),
                "received_basis": F.when(first_receive.isNotNull(), "first_receive")
                .when(lambda_start.isNotNull(), "run_start")
                .otherwise("line"),
            }
        )
        .drop("record_queue_arn", "group_queue_arn", "group_function_name", "record_at")
    )
    at = F.col("received_at")
    placed = join_in_force(
        placed,
        inputs.queue_settings,
        {"queue_arn": "queue_arn"},
        at,
        {
            "visibility_timeout_s": "visibility_timeout_s",
            "is_fifo": "is_fifo",
            "max_receive_count": "max_receive_count",
            "dead_letter_queue_arn": "dead_letter_queue_arn",
            "evidence_id": "queue_settings_id",
            "is_later_snapshot": "is_visibility_assumed",
        },
    )
    placed = join_in_force(
        placed,
        inputs.mappings,
        {"queue_arn": "queue_arn", "function_name": "function_name"},
        at,
        {
            "reports_batch_item_failures": "reports_batch_item_failures",
            "batch_size": "batch_size",
            "evidence_id": "mapping_id",
        },
    )
    placed = join_in_force(
        placed,
        inputs.function_settings,
        {"function_name": "function_name"},
        at,
        {
            "timeout_s": "function_timeout_s",
            "evidence_id": "function_settings_id",
            "is_later_snapshot": "is_function_timeout_assumed",
        },
    )
    return placed.withColumns(
        {
            "is_fifo": F.coalesce("is_fifo", F.col("queue").endswith(".fifo")),
            "hidden_until_at": F.timestamp_millis(
                F.unix_millis("received_at") + F.col("visibility_timeout_s").cast("long") * 1000
            ),
        }
    )


__all__ = ["RUN_KEY", "run_deliveries", "with_settings", "worker_deliveries"]
