"""Lines to runs: which invocation each line belongs to, and what that invocation's lines say together."""

from collections.abc import Sequence

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from forensics.settings import Queue
from spark_jobs.facts import facts_of_line

INIT_ERRORS = (
    "Runtime.ImportModuleError",
    "Runtime.HandlerNotFound",
    "Runtime.InvalidEntrypoint",
    "Runtime.BadFunctionCode",
    "Runtime.UserCodeSyntaxError",
)
"""Error types of a run whose handler never began."""

RUN_KEY = ("stream_hash", "run_request_id", "start_index")
"""A run within its stream. ``stream_hash`` is 64 bits of log group and stream: sorting by a number is what makes
millions of lines sort fast; the names travel beside it."""

_STREAM = ("log_group", "log_stream")

_TIMEOUT, _SUCCESS, _CRASH, _ERROR, _PLAIN_REPORT = 5, 4, 3, 2, 1
"""How much a line says of the run's end; the highest decides. An explicit success outweighs an error that was caught
and logged; a REPORT without status does not. A timeout line can stand beside any of them and wins by itself."""


def lines_in_runs(parsed: DataFrame, queues: Sequence[Queue], queue_names_by_group: dict[str, str]) -> DataFrame:
    """Give each parsed line of a Lambda log group its run, and the facts it states of single messages.

    A line with a request id belongs to that request's run; one without belongs to the run that is open in its stream:
    after its START, before its REPORT. Outside any open run, which means that lines are missing, it belongs to a run
    without a name, ``?`` and the number of run borders before it: never to a neighbour.
    """
    in_stream = (
        Window.partitionBy("stream_hash")
        .orderBy("logged_at", "order_in_ms", "evidence_id")
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    named = F.col("request_id").isNotNull()
    is_start = (F.col("kind") == "start") & named
    is_report = (F.col("kind") == "report") & named
    narrow = parsed.select(
        F.xxhash64(*_STREAM).alias("stream_hash"),
        "log_group",
        "log_stream",
        "logged_at",
        "order_in_ms",
        "evidence_id",
        "kind",
        "request_id",
        "duration_ms",
        "status",
        "error_type",
        "function_name",
        F.col("batch_item_failures").isNotNull().alias("is_response"),
        facts_of_line(queues, queue_names_by_group).alias("facts"),
    )
    opened = F.when(is_start, F.col("request_id")).when(is_report, F.lit(""))
    return (
        narrow.withColumn(
            "_last_start", F.last(F.when(is_start, F.col("request_id")), ignorenulls=True).over(in_stream)
        )
        .withColumn("_open", F.coalesce(F.last(opened, ignorenulls=True).over(in_stream), F.lit("")))
        .withColumn("_starts", F.count(F.when(is_start, 1)).over(in_stream).cast("int"))
        .withColumn("_borders", F.count(F.when(is_start | is_report, 1)).over(in_stream))
        .withColumn(
            "run_request_id",
            F.coalesce(
                "request_id",
                F.when(F.col("_open") != "", F.col("_open")),
                F.concat(F.lit("?"), F.col("_borders").cast("string")),
            ),
        )
        .withColumn(
            "start_index",
            F.when(F.col("run_request_id") == F.col("_last_start"), F.col("_starts")).otherwise(0),
        )
        .drop("_open", "_last_start", "_starts", "_borders")
    )


def runs(lines: DataFrame) -> DataFrame:
    """Gather each run's lines into one row: times, how it ended, and its facts. Nameless runs without facts are left out."""
    kind, status = F.col("kind"), F.col("status")
    ended = (
        F.when((kind == "timeout") | (status == "timeout"), _TIMEOUT)
        .when((kind == "runtime_error") | (kind.isin("report", "runtime_done") & (status == "error")), _CRASH)
        .when((kind == "unhandled_error") | (kind.isin("report", "runtime_done") & (status == "failure")), _ERROR)
        .when(kind.isin("report", "runtime_done") & (status == "success"), _SUCCESS)
        .when((kind == "report") & status.isNull(), _PLAIN_REPORT)
    )
    is_mark = kind.isin("start", "end", "report", "timeout", "runtime_error", "runtime_done", "unhandled_error")
    grouped = lines.groupBy(*RUN_KEY)
    return grouped.agg(
        *[F.any_value(c).alias(c) for c in _STREAM],
        F.min(F.when(kind == "start", F.col("logged_at"))).alias("start_at"),
        F.min("logged_at").alias("first_line_at"),
        F.max("logged_at").alias("last_line_at"),
        F.max(F.when(kind.isin("end", "report", "runtime_done"), F.col("logged_at"))).alias("ended_at"),
        F.max(F.when(kind == "report", F.col("duration_ms"))).alias("duration_ms"),
        F.max(F.when(ended == _TIMEOUT, True)).alias("is_timeout"),
        F.max(ended).alias("end_rank"),
        F.max(F.when(ended.isin(_CRASH, _ERROR), F.col("error_type"))).alias("error_type"),
        F.max("function_name").alias("function_name"),
        F.max(F.when(F.col("is_response"), True)).alias("has_response"),
        F.flatten(F.collect_list("facts")).alias("facts"),
        F.collect_list(F.when(is_mark, F.col("evidence_id"))).alias("mark_ids"),
    ).where(~F.col("run_request_id").startswith("?") | (F.size("facts") > 0))


def has_late_lines(gathered: DataFrame) -> bool:
    """Tell whether any run has lines that stood outside it in the stream."""
    return not gathered.where((F.col("start_index") == 0) & ~F.col("run_request_id").startswith("?")).isEmpty()


def join_late_lines(gathered: DataFrame) -> DataFrame:
    """Give lines that stood outside their run back to it: to the first START of their request id in the stream."""
    by_request = Window.partitionBy("stream_hash", "run_request_id")
    first_start = F.min(F.when(F.col("start_index") > 0, F.col("start_index"))).over(by_request)
    placed = gathered.withColumn("_first", first_start).withColumn(
        "start_index", F.when(F.col("start_index") == 0, F.coalesce("_first", F.lit(0))).otherwise(F.col("start_index"))
    )
    return placed.groupBy(*RUN_KEY).agg(
        *[F.any_value(c).alias(c) for c in _STREAM],
        *[F.min(c).alias(c) for c in ("start_at", "first_line_at")],
        *[F.max(c).alias(c) for c in ("last_line_at", "ended_at", "duration_ms", "is_timeout", "end_rank")],
        *[F.max(c).alias(c) for c in ("error_type", "function_name", "has_response")],
        *[F.flatten(F.collect_list(c)).alias(c) for c in ("facts", "mark_ids")],
    )


def with_end_status(gathered: DataFrame) -> DataFrame:
    """Add how each run ended, given ``function_timeout_s``: success, timeout, error, crash, init_failed or unknown.

    A REPORT without status is a success only below the function's timeout: older functions overran it, and a run that
    took exactly that long may have lost its timeout line.
    """
    limit_ms = F.col("function_timeout_s") * 1000
    plain = (
        F.when(F.col("duration_ms") > limit_ms, "timeout")
        .when(F.col("duration_ms") == limit_ms, "unknown")
        .otherwise("success")
    )
    return gathered.withColumn(
        "end_status",
        F.when(F.col("is_timeout"), "timeout")
        .when(F.col("end_rank") == _SUCCESS, "success")
        .when((F.col("end_rank") == _CRASH) & F.col("error_type").isin(*INIT_ERRORS), "init_failed")
        .when(F.col("end_rank") == _CRASH, "crash")
        .when(F.col("end_rank") == _ERROR, "error")
        .when(F.col("end_rank") == _PLAIN_REPORT, plain)
        .otherwise("unknown"),
    )
