"""Lines to runs: which invocation each line belongs to, and what that invocation's lines say together."""

from collections.abc import Mapping, Sequence

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

_FIRST = ("start_at", "first_line_at", "any_line_id")
_LAST = (
    "last_line_at",
    "ended_at",
    "duration_ms",
    "is_timeout",
    "end_rank",
    "error_type",
    "function_name",
    "has_response",
)
_LISTS = ("facts", "mark_ids")
"""What is gathered of a run's lines: the lowest, the highest, all."""

_LONGEST_MS = 30_000
"""Silence that parts lines without a run where neither a function timeout nor a visibility timeout is known."""

_TIMEOUT, _SUCCESS, _CRASH, _ERROR, _PLAIN_REPORT = 5, 4, 3, 2, 1
"""How much a line says of the run's end; the highest decides. An explicit success outweighs an error that was caught
and logged; a REPORT without status does not. A timeout line can stand beside any of them and wins by itself."""


def lines_in_runs(
    parsed: DataFrame,
    queues: Sequence[Queue],
    queue_names_by_group: dict[str, str],
    streams: DataFrame | None = None,
) -> DataFrame:
    """Give each parsed line of a Lambda log group its run, and the facts it states of single messages.

    A line with a request id belongs to that request's run; one without belongs to the run that is open in its stream:
    after its START, before its REPORT. Outside any open run, which means that lines are missing, it belongs to a run
    without a name, ``?`` and the number of run borders before it: never to a neighbour.

    Streams may be read on from a START: ``streams`` then says per stream_hash how many stand before it (``starts_before``).
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
    starts = F.count(F.when(is_start, 1)).over(in_stream).cast("int")
    if streams is not None:
        narrow = narrow.join(F.broadcast(streams.select("stream_hash", "starts_before")), "stream_hash", how="left")
        starts = starts + F.coalesce("starts_before", F.lit(0))
    return (
        narrow.withColumns(
            {
                "_last_start": F.last(F.when(is_start, F.col("request_id")), ignorenulls=True).over(in_stream),
                "_open": F.coalesce(F.last(opened, ignorenulls=True).over(in_stream), F.lit("")),
                "_starts": starts,
                "_borders": F.count(F.when(is_start | is_report, 1)).over(in_stream),
            }
        )
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
        .drop("_open", "_last_start", "_starts", "_borders", "starts_before")
    )


def runs(lines: DataFrame) -> DataFrame:
    """Gather each run's lines into one row: times, how it ended, and its facts. Nameless runs without facts are left out."""
    kind, status = F.col("kind"), F.col("status")
    is_end = kind.isin("report", "runtime_done")
    by_handler = F.coalesce(F.col("error_type").startswith("Function."), F.lit(False))
    ended = (
        F.when((kind == "timeout") | (status == "timeout"), _TIMEOUT)
        .when((kind == "runtime_error") | (is_end & (status == "error") & ~by_handler), _CRASH)
        .when((kind == "unhandled_error") | (is_end & status.isin("error", "failure")), _ERROR)
        .when(kind.isin("report", "runtime_done") & (status == "success"), _SUCCESS)
        .when((kind == "report") & status.isNull(), _PLAIN_REPORT)
    )
    is_mark = kind.isin("start", "end", "report", "timeout", "runtime_error", "runtime_done", "unhandled_error")
    grouped = lines.groupBy(*RUN_KEY)
    return grouped.agg(
        *[F.any_value(c).alias(c) for c in _STREAM],
        F.min(F.when(kind == "start", F.col("logged_at"))).alias("start_at"),
        F.min("logged_at").alias("first_line_at"),
        F.min("evidence_id").alias("any_line_id"),
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
        *[F.min(c).alias(c) for c in _FIRST],
        *[F.max(c).alias(c) for c in _LAST],
        *[F.flatten(F.collect_list(c)).alias(c) for c in _LISTS],
    )


def as_gathered(named: DataFrame) -> DataFrame:
    """Take off what was added to gathered runs since."""
    return named.select(*RUN_KEY, *_STREAM, *_FIRST, *_LAST, *_LISTS)


def has_nameless(gathered: DataFrame) -> bool:
    """Tell whether any lines stand in no run."""
    return not gathered.where(F.col("run_request_id").startswith("?")).isEmpty()


def split_nameless(gathered: DataFrame, longest_run_ms: Mapping[str, int]) -> DataFrame:
    """Part lines that stand in no run: who printed no START (log level WARN) would else seem to have run once.

    A message begins a new run where its record is printed under another receipt handle, or where it was not spoken of
    for longer than one run can take (``longest_run_ms``, per log group). Facts that name no message stay with the
    records printed last.
    """
    limit = F.lit(_LONGEST_MS)
    for group, ms in longest_run_ms.items():
        limit = F.when(F.col("log_group") == group, ms).otherwise(limit)
    is_blob = F.col("run_request_id").startswith("?") & (F.col("last_line_at") > F.col("first_line_at"))
    facts = gathered.where(is_blob).select(*RUN_KEY, *_STREAM, F.explode("facts").alias("fact"))
    of_item = Window.partitionBy(*RUN_KEY, "fact.message_id").orderBy("fact.at", "fact.evidence_id", "fact.position")
    of_run = Window.partitionBy(*RUN_KEY).orderBy("fact.at", "fact.evidence_id", "fact.position")
    is_record = F.col("fact.role") == "record"
    handle = F.when(is_record, F.coalesce("fact.receipt_handle", "fact.evidence_id"))
    before = F.last(handle, ignorenulls=True).over(of_item.rowsBetween(Window.unboundedPreceding, -1))
    silent = F.unix_millis("fact.at") - F.unix_millis(F.lag("fact.at").over(of_item)) > limit
    opens = F.col("_before").isNull() & is_record | (handle != F.col("_before")) | F.col("_silent")
    parted = (
        facts.withColumns(
            {
                "_before": before,
                "_silent": silent,
            }
        )
        .withColumn("_opens", F.coalesce(opens, F.lag("fact.at").over(of_item).isNull()))
        .withColumns(
            {
                "_of_item": F.last(F.when(F.col("_opens"), F.col("fact.at")), ignorenulls=True).over(of_item),
                "_of_run": F.last(F.when(is_record, F.col("fact.at")), ignorenulls=True).over(of_run),
            }
        )
        .withColumn(
            "_part", F.when(F.col("fact.message_id").isNotNull(), F.col("_of_item")).otherwise(F.col("_of_run"))
        )
        .withColumn("_part", F.coalesce(F.unix_millis("_part").cast("string"), F.lit("0")))
        .withColumn("run_request_id", F.concat_ws(".", "run_request_id", "_part"))
        .groupBy(*RUN_KEY)
        .agg(
            *[F.any_value(c).alias(c) for c in _STREAM],
            F.min("fact.at").alias("first_line_at"),
            F.max("fact.at").alias("last_line_at"),
            F.collect_list("fact").alias("facts"),
        )
    )
    return gathered.where(~is_blob).unionByName(parted, allowMissingColumns=True)


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
