"""Raw log lines to what each line says: one row per log event, in native Spark columns only.

The grammar is declared in ``forensics.parsers``; here its patterns run in the JVM and give what
``forensics.parsers.parse_line`` gives in Python. Tests hold the two together.

A line pays only for what it may be: START, END and REPORT are known by their first characters, and every pattern stands
behind a cheap search for a text that it needs. Nothing casts what a pattern has not checked, so no line can fail a job.
"""

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from forensics.parsers import app_lines, json_lines, lambda_text
from forensics.parsers.line import ERROR_TEXT_CHARS, LAMBDA_LOG_GROUPS
from forensics.settings import Consumer
from spark_jobs import said_lines
from spark_jobs.configured_marks import MARKS, check_marks, kind_of_consumer, mark, marked_values, placed_values
from spark_jobs.grammar_columns import cases, find, has, lowered, raw
from spark_jobs.printed_records import (
    batch_item_failures,
    before_list,
    careful,
    key_style,
    list_mark,
    quick_records,
    tail,
)

COLUMNS = (
    "evidence_id",
    "log_group",
    "log_stream",
    "logged_at",
    "order_in_ms",
    "kind",
    "request_id",
    "level",
    "function_name",
    "duration_ms",
    "status",
    "error_type",
    "error_text",
    "timeout_s",
    "init_ms",
    "phase",
    "records",
    "mentions",
    "batch_item_failures",
    "handle_error",
    "idempotency",
    "worker",
    "effect",
    "started",
    "guard_mark",
    "deleted_mark",
    "failed_mark",
    "receive_count",
)
"""What ``parsed_lines`` returns, in this order."""

_COPIED = COLUMNS[:5]
_QUICK_STARTS = {f"{word} RequestId: ": word for word in ("START", "END", "REPORT")}


def parsed_lines(log_events: DataFrame, consumers: Mapping[str, Consumer], *, with_bodies: bool = True) -> DataFrame:
    """Read every line once and return the columns of ``COLUMNS``; ``line`` itself is dropped.

    ``consumers`` gives the configured patterns of a log group. ``with_bodies=False`` leaves ``records.body`` null, for
    runs without a business key. Raises SettingsError for a configured pattern that Java cannot read.
    """
    check_marks(log_events.sparkSession, consumers)
    frame = _with_class(log_events.select(*_COPIED, "line"))
    frame = _with_records(frame, with_bodies)
    frame = frame.withColumn("_consumer", F.when(F.col("_is_app"), kind_of_consumer(consumers)))
    frame = frame.withColumns(placed_values(F.col("_text"), F.col("_consumer"), consumers))
    frame = _with_request(frame, consumers)
    frame = _with_statements(frame)
    return frame.select(*_COPIED, *_values(consumers, frame.columns))


def marks_of_runs(log_events: DataFrame) -> DataFrame:
    """Return log group and kind of the lines that begin, end or report a run: only a Lambda function's group has them.

    Nothing else is read of a line, so it costs a small part of ``parsed_lines``.
    """
    by_word, by_event = _platform_kinds()
    classed = _with_class(log_events.select(*_COPIED, "line"))
    return classed.select("log_group", F.coalesce(by_word, by_event).alias("kind")).where(
        F.col("kind").isin("start", "end", "report")
    )


def _with_class(frame: DataFrame) -> DataFrame:
    """Add what the line is: a platform word, a platform event, an end without a word, or an application's line."""
    line, style, is_json, is_words = F.col("line"), F.col("_style"), F.col("_is_json"), F.col("_word") == ""
    frame = frame.withColumns({"_word": _first_word(line), "_is_json": _is_json(line)})
    frame = frame.withColumn("_style", F.when(is_words, key_style(line)))
    frame = frame.withColumns(
        {
            "_mark": F.when(style.isNotNull(), list_mark(line)),
            "_event": F.when(
                is_json & style.isNull() & line.contains(json_lines.PLATFORM_NEEDLE),
                find(line, json_lines.PLATFORM_TYPE, "platform_type"),
            ),
            "_ended": F.when(is_words & style.isNull() & ~is_json, _ended(line)),
        }
    )
    is_app = is_words & F.col("_event").isNull() & F.col("_ended").isNull()
    return frame.withColumns(
        {"_is_app": is_app, "_has_json": is_app & (is_json | line.startswith(json_lines.WARNING_START))}
    )


def _with_records(frame: DataFrame, with_bodies: bool) -> DataFrame:
    """Add ``records``, and what the line says besides them: ``_text`` and ``_around``."""
    line, style, mark = F.col("line"), F.col("_style"), F.col("_mark")
    is_quick = F.col("_quick").isNotNull()
    frame = frame.withColumn("_quick", F.when(style.isNotNull(), quick_records(line, style, mark, with_bodies)))
    frame = frame.withColumn("_careful", F.when(style.isNotNull() & ~is_quick, careful(line, style, with_bodies)))
    before = before_list(line, mark)
    around = F.when(is_quick, F.concat(before, F.lit("\n"), tail(line))).otherwise(F.col("_careful.around"))
    return frame.withColumns(
        {
            "records": F.coalesce("_quick", "_careful.records"),
            "_text": F.when(style.isNull(), line).when(is_quick, before).otherwise(F.col("_careful.text")),
            "_around": F.when(F.col("_has_json"), F.when(style.isNull(), line).otherwise(around)),
            "_prefix": F.when(F.col("_is_app") & ~F.col("_has_json"), raw(line, app_lines.PREFIX)),
            "line": F.when(is_quick, "").otherwise(line),
        }
    ).drop("_quick", "_careful", "_mark")


def _with_request(frame: DataFrame, consumers: Mapping[str, Consumer]) -> DataFrame:
    """Add request id and level, and what the line names: message ids, and the values of configured marks."""
    line, around, prefix = F.col("line"), F.col("_around"), F.col("_prefix")
    of_platform = raw(line, lambda_text.PLATFORM_REQUEST_ID, "request_id")
    request_id = (
        F.when(F.col("_word") != "", of_platform)
        .when(F.col("_event").isNotNull(), F.coalesce(find(line, json_lines.PLATFORM_JSON_REQUEST_ID, 1), of_platform))
        .when(F.col("_ended") == "timeout", raw(line, lambda_text.TIMEOUT, "request_id"))
        .when(F.col("_ended").isNotNull(), of_platform)
        .when(
            F.col("_has_json"),
            F.coalesce(find(around, json_lines.OWN_REQUEST_ID, 1), raw(around, json_lines.ANY_REQUEST_ID, 1)),
        )
        .otherwise(raw(prefix, app_lines.PREFIX_REQUEST_ID))
    )
    level = F.when(F.col("_has_json"), raw(around, json_lines.LEVEL, 1)).otherwise(
        raw(prefix, app_lines.PREFIX_LEVEL, "level")
    )
    bare = F.col("_is_app") & F.col("records").isNull()
    return frame.withColumns(
        {
            "request_id": request_id,
            "_level": level,
            "_named": F.when(bare, said_lines.named_ids(line)),
            **marked_values(F.col("_text"), F.col("_consumer"), consumers),
        }
    )


def _with_statements(frame: DataFrame) -> DataFrame:
    """Add what application lines state."""
    line, text, request_id = F.col("line"), F.col("_text"), F.col("request_id")
    is_app, bare = F.col("_is_app"), F.col("_is_app") & F.col("records").isNull()
    at_work = bare & ~F.col("log_group").startswith(LAMBDA_LOG_GROUPS)
    return frame.withColumns(
        {
            "_unhandled": F.when(bare, said_lines.unhandled_error(line, F.col("_level"), F.col("_has_json"))),
            "handle_error": F.when(is_app, said_lines.handle_error(text, request_id)),
            "batch_item_failures": F.when(is_app, batch_item_failures(text)),
            "idempotency": F.when(bare, said_lines.idempotency(line)),
            "mentions": said_lines.mentions(line, F.col("_named"), request_id),
            "worker": F.when(at_work, said_lines.worker(line)),
        }
    )


def _first_word(line: Column) -> Column:
    quick = cases(*[(line.startswith(start), F.lit(word)) for start, word in _QUICK_STARTS.items()])
    return quick.when(line.startswith("{") | line.startswith("["), F.lit("")).otherwise(
        raw(line, lambda_text.WORD, "word")
    )


def _is_json(line: Column) -> Column:
    return line.startswith('{"') | (line.startswith("{") & has(line, json_lines.START))


def _ended(line: Column) -> Column:
    crashed = has(line, lambda_text.RUNTIME_ERROR) | has(line, lambda_text.RUNTIME_ERROR_FRAME)
    maybe = line.startswith(lambda_text.RUNTIME_ERROR_START) | line.contains(lambda_text.RUNTIME_ERROR_NEEDLE)
    return cases(
        (line.contains(lambda_text.TIMEOUT_NEEDLE) & has(line, lambda_text.TIMEOUT), F.lit("timeout")),
        (maybe & crashed, F.lit("runtime_error")),
    )


def _platform_kinds() -> tuple[Column, Column]:
    word, event = F.col("_word"), F.col("_event")
    by_word = cases(*[(word == name, F.lit(kind)) for name, kind in lambda_text.KINDS.items()])
    by_event = cases(*[(event == f"platform.{x}", F.lit(kind)) for x, kind in json_lines.PLATFORM_KINDS.items()])
    return by_word, by_event


def _kind() -> Column:
    word, event = F.col("_word"), F.col("_event")
    by_word, by_event = _platform_kinds()
    says = ("records", "mentions", "batch_item_failures", "idempotency", "worker")
    is_app = F.col("_has_json") | has(F.col("_prefix"), app_lines.PREFIX_SAYS)
    for name in says:
        is_app = is_app | F.col(name).isNotNull()
    return (
        F.when(word != "", by_word)
        .when(event.isNotNull(), F.coalesce(by_event, F.lit("platform")))
        .when(F.col("_ended").isNotNull(), F.col("_ended"))
        .when(F.col("_unhandled").isNotNull(), F.lit("unhandled_error"))
        .when(F.col("handle_error").isNotNull(), F.lit("handle_error"))
        .when(is_app, F.lit("app"))
        .otherwise(F.lit("other"))
    )


def _values(consumers: Mapping[str, Consumer], columns: Sequence[str]) -> list[Column]:
    line, word, event, around = F.col("line"), F.col("_word"), F.col("_event"), F.col("_around")
    is_report, is_event, has_json = word == "REPORT", event.isNotNull(), F.col("_has_json")
    has_status = word.isin("REPORT", "INIT_REPORT", "RESTORE_REPORT") & line.contains("Status:")
    ended, unhandled = F.col("_ended"), F.col("_unhandled")
    without_spans = F.regexp_replace(line, json_lines.SPANS.java, "")
    metric = _number(raw(without_spans, json_lines.METRIC_DURATION, "duration_ms"))
    values = {
        "request_id": F.when(F.col("request_id") != "", F.col("request_id")),
        "level": F.when(F.col("_level") != "", F.col("_level")),
        "function_name": cases(
            (
                is_event,
                F.coalesce(find(line, json_lines.PLATFORM_FUNCTION_NAME, 1), find(line, json_lines.FUNCTION_ARN, 1)),
            ),
            (has_json, F.coalesce(find(around, json_lines.FUNCTION_NAME, 1), find(around, json_lines.FUNCTION_ARN, 1))),
        ),
        "duration_ms": cases(
            (is_report, _number(raw(line, lambda_text.DURATION, "duration_ms"))),
            (event.isin("platform.report", "platform.runtimeDone"), metric),
        ),
        "status": lowered(
            cases(
                (has_status, find(line, lambda_text.STATUS, "status")),
                (is_event, find(line, json_lines.PLATFORM_STATUS, 1)),
            )
        ),
        "error_type": cases(
            (has_status, find(line, lambda_text.ERROR_TYPE, "error_type")),
            (is_event, find(line, json_lines.PLATFORM_ERROR_TYPE, 1)),
            (ended.isNotNull(), said_lines.runtime_error_type(line, ended)),
            (unhandled.isNotNull(), F.col("_unhandled.error_type")),
            (
                has_json,
                F.coalesce(find(around, json_lines.ERROR_TYPE, 1), find(around, json_lines.EXCEPTION_NAME, 1)),
            ),
        ),
        "error_text": F.substring(
            cases(
                (ended.isNotNull(), said_lines.runtime_error_text(line, ended)),
                (unhandled.isNotNull(), F.col("_unhandled.error_text")),
                (has_json, find(around, json_lines.ERROR_MESSAGE, 1)),
            ),
            1,
            ERROR_TEXT_CHARS,
        ),
        "timeout_s": F.when(ended == "timeout", _number(raw(line, lambda_text.TIMEOUT, "timeout_s"))),
        "init_ms": cases(
            (
                word.isin("REPORT", "INIT_REPORT") & line.contains("Init"),
                _number(raw(line, lambda_text.INIT_DURATION, "init_ms")),
            ),
            (event == "platform.initReport", metric),
            (is_event, _number(raw(line, json_lines.METRIC_INIT, "init_ms"))),
        ),
        "phase": cases(
            (word == "INIT_REPORT", find(line, lambda_text.PHASE, "phase")),
            (is_event, find(line, json_lines.PLATFORM_PHASE, 1)),
        ),
    }
    stated = ("records", "mentions", "batch_item_failures", "handle_error", "idempotency", "worker")
    return [
        _kind().alias("kind"),
        *[value.alias(name) for name, value in values.items()],
        *[F.col(name) for name in stated],
        *[mark(name, columns).alias(column) for name, column in MARKS.items()],
        _count(F.col("_line_receive_count")).alias("receive_count"),
    ]


def _count(text: Column) -> Column:
    return F.when(F.rlike(text, F.lit("^[0-9]{1,9}$")), text.try_cast("int"))


def _number(text: Column) -> Column:
    return text.try_cast("double")
