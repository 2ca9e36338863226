"""One run of a Lambda function."""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from forensics.tables.findings import INVOCATIONS
from spark_jobs.in_force import join_in_force
from spark_jobs.inputs import Inputs
from spark_jobs.runs import with_end_status

_SHOWS: dict[str, Callable[[Column], Column]] = {
    "names_items": lambda f: (f["role"] != "failure") & (f["message_id"].isNotNull() | f["key"].isNotNull()),
    "shows_records": lambda f: f["role"] == "record",
    "shows_counts": lambda f: f["receive_count"].isNotNull(),
    "shows_starts": lambda f: f["role"] == "started",
    "shows_effects": lambda f: f["role"] == "effect",
}
"""What some fact of a run shows, as columns of their own: who asks no more than that need not read the facts."""


def named_runs(gathered: DataFrame, inputs: Inputs) -> DataFrame:
    """Give gathered runs their id, function, queue, times and end, under the timeout in force when they started."""
    groups = inputs.groups.select("log_group", "group_function_name", "group_queue_arn")
    named = (
        gathered.withColumn("started_at", F.coalesce("start_at", "first_line_at"))
        .join(F.broadcast(groups), "log_group", how="left")
        .withColumns(
            {
                "function_name": F.coalesce(
                    "function_name",
                    "group_function_name",
                    F.nullif(F.regexp_extract("log_group", "^/aws/lambda/(.+)$", 1), F.lit("")),
                ),
                "invocation_id": F.concat_ws(
                    "|", "log_group", "log_stream", "run_request_id", F.col("start_index").cast("string")
                ),
            }
        )
    )
    timed = join_in_force(
        named,
        inputs.function_settings,
        {"function_name": "function_name"},
        F.col("started_at"),
        {"timeout_s": "function_timeout_s"},
    )
    ids = F.transform(F.filter("facts", lambda f: f["message_id"].isNotNull() & (f["role"] != "failure")), _message_id)
    arns = F.transform(F.filter("facts", lambda f: f["queue_arn"].isNotNull()), lambda f: f["queue_arn"])
    ended = F.coalesce("ended_at", F.timestamp_millis(F.unix_millis("start_at") + F.col("duration_ms").cast("long")))
    return (
        with_end_status(timed)
        .withColumns(
            {
                "ended_well": F.col("end_status") == "success",
                "run_ended_at": ended,
                "message_count": F.size(F.array_distinct(ids)),
                "facts_count": F.size("facts"),
            }
        )
        .withColumns({name: F.exists("facts", holds) for name, holds in _SHOWS.items()})
        .withColumns(
            {
                "first_mark_id": F.get("mark_ids", F.lit(0)),
                "record_queue_arn": F.get(arns, F.lit(0)),
            }
        )
    )


def _message_id(fact: Column) -> Column:
    return fact["message_id"]


def invocations(runs: DataFrame) -> DataFrame:
    """Every run of which a line is in evidence.

    It rests on its platform lines; where there are none on those its messages were found in, else on one that names it.
    """
    lines_of_facts = F.array_distinct(F.transform("facts", lambda fact: fact["evidence_id"]))
    evidence = (
        F.when(F.size("mark_ids") > 0, F.col("mark_ids"))
        .when(F.size("facts") > 0, lines_of_facts)
        .otherwise(F.array("any_line_id"))
    )
    return runs.select(
        "invocation_id",
        "log_group",
        "log_stream",
        F.col("run_request_id").alias("request_id"),
        "start_index",
        "function_name",
        F.coalesce("record_queue_arn", "group_queue_arn").alias("queue_arn"),
        "started_at",
        F.col("run_ended_at").alias("ended_at"),
        F.floor("duration_ms").cast("long").alias("duration_ms"),
        "end_status",
        "error_type",
        F.col("start_at").isNotNull().alias("has_start"),
        "message_count",
        F.array_sort(evidence).alias("evidence_ids"),
    ).select(*INVOCATIONS.column_names)
