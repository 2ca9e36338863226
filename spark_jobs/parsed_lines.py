"""Raw log lines to what each line says: one row per log event, in native Spark columns only.

The grammar is declared in ``forensics.parsers``; here its patterns run in the JVM, in the order in which
``forensics.parsers.line.parse_line`` runs them in Python. Tests hold the two together.

A line pays only for what it may be: START, END and REPORT are known by their first characters, and every pattern stands
behind a cheap search for a text that it needs. Nothing casts strictly, so no line can fail a job.
"""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from forensics.errors import SettingsError
from forensics.parsers import (
    app_lines,
    handle_errors,
    idempotency,
    json_lines,
    lambda_text,
    marks,
    mentions,
    sqs_records,
    workers,
)
from forensics.parsers.grammar import Pattern, Replacement
from forensics.parsers.line import ERROR_TEXT_CHARS, LAMBDA_LOG_GROUPS
from forensics.settings import Consumer

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
)
"""What ``parsed_lines`` returns, in this order."""

_COPIED = COLUMNS[:5]
_MARKS = ("effect", "started", "guard")
_TEXT_WORDS = ("START", "END", "REPORT")


def parsed_lines(log_events: DataFrame, consumers: Mapping[str, Consumer], *, with_bodies: bool = True) -> DataFrame:
    """Read every line once and return the columns of ``COLUMNS``; ``line`` itself is dropped.

    ``consumers`` gives the configured patterns of a log group. ``with_bodies=False`` leaves ``records.body`` null, for
    runs without a business key. Raises SettingsError for a configured pattern that Java cannot read.
    """
    _check_marks(log_events, consumers)
    line, word, style, text = F.col("line"), F.col("_word"), F.col("_style"), F.col("_text")
    prefix, level, event, ended = F.col("_prefix"), F.col("_level"), F.col("_event"), F.col("_ended")
    is_app = F.col("_is_app")
    frame = log_events.select(*_COPIED, "line", _first_word(line).alias("_word"))
    frame = frame.withColumns({"_style": F.when(word == "", _key_style(line)), "_json": (word == "") & _is_json(line)})
    frame = frame.withColumns(
        {
            "_event": F.when(
                F.col("_json") & style.isNull() & line.contains('"platform.'),
                F.substring(_raw(line, json_lines.PLATFORM_TYPE, 1), len("platform.") + 1, 60),
            ),
            "_ended": F.when((word == "") & style.isNull() & ~F.col("_json"), _ended(line)),
            "_plain": F.when(style.isNotNull(), _plain_text(line, style)),
        }
    )
    frame = frame.withColumns(
        {
            "_event": F.when(event != "", event),
            "_is_app": (word == "") & F.coalesce(event == "", F.lit(True)) & ended.isNull(),
            "_text": F.when(style.isNotNull(), _without_bodies(F.col("_plain"), style)).otherwise(line),
            "_bodies": F.when(style.isNotNull() & F.lit(with_bodies), _bodies(F.col("_plain"), style)),
        }
    )
    frame = frame.withColumns(
        {
            "records": F.when(style.isNotNull(), _records(text, F.col("_bodies"), with_bodies)),
            "_prefix": F.when(
                is_app & ~F.col("_json"), _raw(F.substring(line, 1, app_lines.HEAD_CHARS), app_lines.PREFIX)
            ),
            "_has_json": is_app & (F.col("_json") | line.startswith(json_lines.WARNING_START)),
        }
    )
    has_json, no_records = F.col("_has_json"), F.col("records").isNull()
    frame = frame.withColumns(
        {
            "records": F.when(F.size("records") > 0, F.col("records")),
            "_level": F.when(has_json, _raw(text, json_lines.LEVEL, 1)).when(
                is_app, _raw(prefix, app_lines.PREFIX_LEVEL, "level")
            ),
            "request_id": _request_id(line, text, prefix),
        }
    )
    bare = is_app & no_records
    frame = frame.withColumns(
        {
            "_unhandled": F.when(bare, _unhandled(line, level, has_json)),
            "_reason": F.when(is_app, _refusal(text, no_records)),
            "batch_item_failures": F.when(is_app, _batch_item_failures(text)),
            "idempotency": F.when(bare, _idempotency(line)),
            "mentions": F.when(bare, _mentions(line, F.col("request_id"))),
            "worker": F.when(bare & ~F.col("log_group").startswith(LAMBDA_LOG_GROUPS), _worker(line)),
        }
    )
    return frame.withColumn("kind", _kind()).select(*_COPIED, *_values(line, text, consumers))


# How a pattern is asked


def _raw(text: Column, pattern: Pattern, group: str | int = 0) -> Column:
    """The first match of a group; empty where there is none."""
    return F.regexp_extract(text, pattern.java, pattern.index(group))


def _find(text: Column, pattern: Pattern, group: str | int = 0) -> Column:
    """The first match of a group; null where there is none. The pattern runs once."""
    return _nonempty(_raw(text, pattern, group))


def _nonempty(text: Column) -> Column:
    return F.get(F.array_remove(F.array(text), F.lit("")), F.lit(0))


def _has(text: Column, pattern: Pattern) -> Column:
    return F.rlike(text, F.lit(pattern.java))


def _find_all(text: Column, pattern: Pattern, group: str | int = 0) -> Column:
    return F.regexp_extract_all(text, F.lit(pattern.java), F.lit(pattern.index(group)))


def _replaced(text: Column, replacement: Replacement) -> Column:
    return F.regexp_replace(text, replacement.pattern.java, replacement.with_text)


def _contains_any(text: Column, needles: tuple[str, ...]) -> Column:
    found = F.lit(False)
    for needle in reversed(needles):
        found = text.contains(needle) | found if needle != needles[-1] else text.contains(needle)
    return found


def _number(text: Column) -> Column:
    return text.try_cast("double")


def _cases(*cases: tuple[Column, Column | str]) -> Column:
    """The first case that holds; null where none does."""
    (condition, value), *rest = cases
    chain = F.when(condition, value)
    for condition, value in rest:
        chain = chain.when(condition, value)
    return chain


# What a line is


def _first_word(line: Column) -> Column:
    quick = _cases(*[(line.startswith(f"{word} RequestId: "), F.lit(word)) for word in _TEXT_WORDS])
    return quick.when(line.startswith("{") | line.startswith("["), F.lit("")).otherwise(
        _raw(F.substring(line, 1, app_lines.HEAD_CHARS), lambda_text.WORD, "word")
    )


def _is_json(line: Column) -> Column:
    return line.startswith('{"') | (line.startswith("{") & _has(line, json_lines.START))


def _ended(line: Column) -> Column:
    maybe = _contains_any(line, lambda_text.RUNTIME_ERROR_NEEDLES) | line.startswith(lambda_text.RUNTIME_ERROR_START)
    crashed = _has(line, lambda_text.RUNTIME_ERROR) | _has(line, lambda_text.RUNTIME_ERROR_FRAME)
    return _cases(
        (line.contains(lambda_text.TIMEOUT_NEEDLE) & _has(line, lambda_text.TIMEOUT), F.lit("timeout")),
        (maybe & crashed, F.lit("runtime_error")),
    )


def _kind() -> Column:
    word, event = F.col("_word"), F.col("_event")
    by_word = _cases(*[(word == name, F.lit(kind)) for name, kind in lambda_text.KINDS.items()])
    by_event = _cases(*[(event == name, F.lit(kind)) for name, kind in json_lines.PLATFORM_KINDS.items()])
    says = _cases(
        *[(F.col(c).isNotNull(), F.lit("app")) for c in ("records", "batch_item_failures", "idempotency", "worker")],
        (F.col("mentions").isNotNull() | F.col("_has_json"), F.lit("app")),
        (_has(F.col("_prefix"), app_lines.PREFIX_SAYS), F.lit("app")),
    )
    return (
        F.when(word != "", by_word)
        .when(event.isNotNull(), F.coalesce(by_event, F.lit("platform")))
        .when(F.col("_ended").isNotNull(), F.col("_ended"))
        .when(F.col("_unhandled").isNotNull(), F.lit("unhandled_error"))
        .when(F.col("_reason").isNotNull(), F.lit("handle_error"))
        .otherwise(F.coalesce(says, F.lit("other")))
    )


def _request_id(line: Column, text: Column, prefix: Column) -> Column:
    of_platform = _raw(line, lambda_text.PLATFORM_REQUEST_ID, "request_id")
    return (
        F.when(F.col("_word") != "", of_platform)
        .when(
            F.col("_event").isNotNull(),
            F.coalesce(_find(line, json_lines.PLATFORM_JSON_REQUEST_ID, 1), of_platform),
        )
        .when(F.col("_ended") == "timeout", _raw(line, lambda_text.TIMEOUT, "request_id"))
        .when(F.col("_ended") == "runtime_error", of_platform)
        .when(
            F.col("_has_json"),
            F.coalesce(_find(text, json_lines.OWN_REQUEST_ID, 1), _raw(text, json_lines.ANY_REQUEST_ID, 1)),
        )
        .otherwise(_raw(prefix, app_lines.PREFIX_REQUEST_ID))
    )


# Printed records and batch responses


def _key_style(line: Column) -> Column:
    has_key = _contains_any(line, sqs_records.KEY_NEEDLES)
    style = F.coalesce(_find(line, sqs_records.HANDLE_KEY), _find(line, sqs_records.COUNT_KEY))
    return F.when(line.contains(sqs_records.NEEDLE) & has_key, style)


def _plain_text(line: Column, style: Column) -> Column:
    from_html = line
    for replacement in sqs_records.HTML:
        from_html = _replaced(from_html, replacement)
    text = F.when(style.contains("&"), from_html).otherwise(line)
    once = _unescaped(text)
    return F.when(style.contains("\\\\\\"), _unescaped(once)).when(style.contains("\\"), once).otherwise(text)


def _unescaped(text: Column) -> Column:
    for replacement in sqs_records.UNESCAPE:
        text = _replaced(text, replacement)
    return text


def _by_style(style: Column, of_json: Column, of_repr: Column, of_any: Column) -> Column:
    is_json = style.contains('":') | style.contains("&quot;:")
    return F.when(is_json, of_json).when(style.contains("':"), of_repr).otherwise(of_any)


def _bodies(plain: Column, style: Column) -> Column:
    forms = (sqs_records.JSON_BODY, sqs_records.REPR_BODY, sqs_records.ANY_BODY)
    return _by_style(style, *[_find_all(plain, form, "body") for form in forms])


def _without_bodies(plain: Column, style: Column) -> Column:
    forms = (sqs_records.JSON_BODY, sqs_records.REPR_BODY, sqs_records.ANY_BODY)
    blanked = _by_style(style, *[F.regexp_replace(plain, form.java, sqs_records.BODY_BLANK) for form in forms])
    return _replaced(blanked, sqs_records.ATTRIBUTES)


def _records(text: Column, bodies: Column, with_bodies: bool) -> Column:
    listed = F.coalesce(_find(text, sqs_records.LIST, "rest"), text)
    parts = F.filter(F.split(listed, sqs_records.BETWEEN.java), lambda part: part.contains(sqs_records.NEEDLE))

    def field(part: Column, pattern: Pattern) -> Column:
        return F.get(_find_all(part, pattern, pattern.name), F.lit(0))

    def record(part: Column, index: Column) -> Column:
        body = _unquoted(F.get(bodies, index)) if with_bodies else F.lit(None).cast("string")
        return F.struct(
            (index + 1).alias("position"),
            F.lower(field(part, sqs_records.MESSAGE_ID)).alias("message_id"),
            field(part, sqs_records.RECEIVE_COUNT).try_cast("int").alias("receive_count"),
            field(part, sqs_records.SENT).try_cast("bigint").alias("sent_ms"),
            field(part, sqs_records.FIRST_RECEIVE).try_cast("bigint").alias("first_receive_ms"),
            field(part, sqs_records.GROUP_ID).alias("group_id"),
            field(part, sqs_records.DEDUPLICATION_ID).alias("deduplication_id"),
            field(part, sqs_records.RECEIPT_HANDLE).alias("receipt_handle"),
            F.lower(field(part, sqs_records.BODY_MD5)).alias("body_md5"),
            field(part, sqs_records.QUEUE_ARN).alias("queue_arn"),
            field(part, sqs_records.DEAD_LETTER_SOURCE_ARN).alias("dead_letter_source_arn"),
            body.alias("body"),
        )

    return F.filter(
        F.transform(parts, record),
        lambda r: r["message_id"].isNotNull() & (r["receive_count"].isNotNull() | r["receipt_handle"].isNotNull()),
    )


def _unquoted(printed: Column) -> Column:
    quote = F.substring(printed, 1, 1)
    inside = F.substring(printed, F.lit(2), F.length(printed) - 2)
    return (
        F.when(~quote.isin('"', "'", "`"), printed)
        .when((F.length(printed) >= 2) & printed.endswith(quote) & ~inside.contains("\\"), inside)
        .when((F.length(printed) >= 2) & printed.endswith(quote), _unescaped(inside))
    )


def _batch_item_failures(text: Column) -> Column:
    listed = _find(text, sqs_records.RESPONSE, "list")
    ids = F.transform(_find_all(listed, sqs_records.ITEM_IDENTIFIER, "id"), F.lower)
    bare_ids = F.transform(_find_all(listed, mentions.ONE_ID), F.lower)
    found = _cases(
        (_has(listed, sqs_records.EMPTY_RESPONSE), F.array().cast("array<string>")),
        (F.size(ids) > 0, ids),
        (F.size(bare_ids) > 0, bare_ids),
    )
    return F.when(text.contains(sqs_records.RESPONSE_NEEDLE), found)


# What application lines say


def _unhandled(line: Column, level: Column, has_json: Column) -> Column:
    name = _raw(line, app_lines.PYTHON_UNHANDLED, "error_type")
    by_python = line.startswith(app_lines.PYTHON_START) & (
        (line.contains(app_lines.TRACEBACK) & (name != "")) | _has(name, app_lines.ERROR_NAME)
    )
    by_node = (
        (level == app_lines.NODE_LEVEL)
        & _contains_any(line, app_lines.NODE_NEEDLES)
        & _has(line, app_lines.NODE_UNHANDLED)
    )
    by_json = has_json & line.contains("log_level") & _has(line, json_lines.UNHANDLED_MARK)
    by_ruby = line.startswith(app_lines.RUBY_START) & _has(line, app_lines.RUBY_UNHANDLED)
    return _cases(
        (by_python, F.lit("python")),
        (level.isin(*app_lines.DOTNET_LEVELS) & _has(line, app_lines.DOTNET_UNHANDLED), F.lit("dotnet")),
        (~has_json & line.contains(app_lines.JAVA_NEEDLE) & _has(line, app_lines.JAVA_UNHANDLED), F.lit("java")),
        (by_node | by_json | by_ruby, F.lit("json")),
    )


def _refusal(text: Column, no_records: Column) -> Column:
    """Why SQS refused a call, as ``forensics.parsers.handle_errors.reason_of``."""
    reason = _raw(text, handle_errors.REASON, "reason")
    cut = F.lower(F.regexp_replace(reason, r"[ .\t\u00a0\u2026]++(?![\s\S])", ""))

    def begins(whole: str) -> Column:
        return (F.length(cut) >= handle_errors.CUT_CHARS) & F.startswith(F.lit(whole), cut)

    by_handle = _cases(
        (_has(text, handle_errors.EXPIRED) | begins(handle_errors.EXPIRED_REASON), F.lit("expired")),
        (_has(text, handle_errors.GONE) | begins(handle_errors.GONE_REASON), F.lit("gone")),
        (_has(text, handle_errors.WRONG_QUEUE), F.lit("wrong_queue")),
        (_has(text, handle_errors.GARBAGE), F.lit("garbage")),
        (_has(text, handle_errors.FRAME) | _has(text, handle_errors.TYPED), F.lit("other")),
    )
    by_delete = F.when(
        _contains_any(text, handle_errors.DELETE_NEEDLES) & _has(text, handle_errors.FAILED_DELETE), F.lit("other")
    )
    maybe = no_records | _contains_any(text, handle_errors.RECORD_LINE_NEEDLES)
    return F.when(maybe, F.coalesce(F.when(_contains_any(text, handle_errors.HANDLE_NEEDLES), by_handle), by_delete))


def _handle_error(text: Column, reason: Column, own_request_id: Column) -> Column:
    by_words = _cases(*[(_has(text, words), F.lit(name)) for words, name in handle_errors.OPERATION_WORDS])
    handle = F.regexp_replace(_raw(text, handle_errors.HANDLE, "handle"), r"[\s\u00a0]", "")
    ids = F.array_remove(
        _find_all(text, handle_errors.SQS_REQUEST_ID, "sqs_request_id"), F.coalesce(own_request_id, F.lit(""))
    )
    return F.when(
        reason.isNotNull(),
        F.struct(
            F.coalesce(_find(text, handle_errors.OPERATION, "operation"), by_words).alias("operation"),
            F.coalesce(_find(text, handle_errors.CODE, "code"), _find(text, handle_errors.KNOWN_CODE, "code")).alias(
                "code"
            ),
            reason.alias("reason"),
            F.when(~_has(handle, handle_errors.PLACEHOLDER), handle).alias("handle"),
            F.get(ids, F.lit(0)).alias("sqs_request_id"),
        ),
    )


def _idempotency(line: Column) -> Column:
    meaning = _cases(
        (_has(line, idempotency.VALIDATION), F.lit("validation")),
        (_has(line, idempotency.IN_PROGRESS), F.lit("in_progress")),
        (_has(line, idempotency.ALREADY_DONE), F.lit("already_done")),
    )
    return F.when(_contains_any(line, idempotency.NEEDLES), meaning)


def _mentions(line: Column, own_request_id: Column) -> Column:
    nothing = F.array().cast("array<string>")
    runs = F.concat(
        F.when(line.contains(mentions.MESSAGE_NEEDLE), _find_all(line, mentions.MESSAGE, "ids")).otherwise(nothing),
        F.when(_contains_any(line, mentions.OTHER_NEEDLES), _find_all(line, mentions.OTHER, "ids")).otherwise(nothing),
    )
    ids = F.array_distinct(_find_all(F.lower(F.array_join(runs, " ")), mentions.ONE_ID))
    others = F.array_remove(ids, F.lower(F.coalesce(own_request_id, F.lit(""))))
    maybe = line.contains(mentions.MESSAGE_NEEDLE) | _contains_any(line, mentions.OTHER_NEEDLES)
    return F.when(maybe & ~line.contains(mentions.SEND_NEEDLE), F.when(F.size(others) > 0, others))


_WORKER = "struct<format:string,event:string,message_id:string,receive_count:int,job:string>"


def _worker(line: Column) -> Column:
    none = F.lit(None).cast("string")

    def said(form: workers.Form) -> Column:
        found = {g: _find(line, form.pattern, g) for g in form.pattern.groups}
        return F.struct(
            F.lit(form.format).alias("format"),
            F.lit(form.event).alias("event"),
            F.lower(found.get("message_id", none)).alias("message_id"),
            F.lit(None).cast("int").alias("receive_count"),
            found.get("job", none).alias("job"),
        ).cast(_WORKER)

    status = _raw(line, workers.JSON_STATUS, "status")
    failed = _cases(
        (_has(line, workers.JSON_REFUSED), F.lit("refused")), (_has(line, workers.JSON_TIMED_OUT), F.lit("timed_out"))
    )
    event = F.when(status == "failed", F.coalesce(failed, F.lit("failed")))
    for printed, meaning in workers.JSON_EVENTS.items():
        event = event.when(status == printed, F.lit(meaning))
    laravel_json = F.struct(
        F.lit("laravel").alias("format"),
        event.alias("event"),
        F.lower(_find(line, workers.JSON_ID, "id")).alias("message_id"),
        _raw(line, workers.JSON_ATTEMPTS, "attempts").try_cast("int").alias("receive_count"),
        F.replace(_find(line, workers.JSON_JOB, "job"), F.lit("\\\\"), F.lit("\\")).alias("job"),
    ).cast(_WORKER)
    return _cases(
        (line.contains(workers.JSON_NEEDLE) & _has(line, workers.JSON_STATUS), laravel_json),
        *[(_contains_any(line, form.needles) & _has(line, form.pattern), said(form)) for form in workers.FORMS],
    )


# Values of the output


def _values(line: Column, text: Column, consumers: Mapping[str, Consumer]) -> list[Column]:
    kind, event, unhandled = F.col("kind"), F.col("_event"), F.col("_unhandled")
    is_event = event.isNotNull()
    is_text = F.col("_word") != ""
    is_text_report = is_text & kind.isin("report", "init_report", "restore_report")
    has_json = F.col("_has_json")
    metric = _number(_raw(F.regexp_replace(line, json_lines.SPANS.java, ""), json_lines.METRIC_DURATION, "duration_ms"))
    duration = _cases(
        (is_text & (kind == "report"), _number(_raw(line, lambda_text.DURATION, "duration_ms"))),
        (is_event & kind.isin("report", "runtime_done"), metric),
    )
    status = F.lower(
        _cases(
            (is_text_report & line.contains("Status:"), _find(line, lambda_text.STATUS, "status")),
            (is_event, _find(line, json_lines.PLATFORM_STATUS, 1)),
        )
    )
    json_type = F.coalesce(_find(text, json_lines.ERROR_TYPE, 1), _find(text, json_lines.EXCEPTION_NAME, 1))
    error_type = _cases(
        (is_text_report & line.contains("Status:"), _find(line, lambda_text.ERROR_TYPE, "error_type")),
        (is_event, _find(line, json_lines.PLATFORM_ERROR_TYPE, 1)),
        (kind == "runtime_error", _find(line, lambda_text.RUNTIME_ERROR_TYPE, "error_type")),
        (unhandled == "python", _find(line, app_lines.PYTHON_UNHANDLED, "error_type")),
        (unhandled == "dotnet", _find(line, app_lines.DOTNET_UNHANDLED, "error_type")),
        (unhandled == "java", _find(line, app_lines.JAVA_UNHANDLED, "error_type")),
        (unhandled == "json", _find(line, json_lines.ERROR_TYPE, 1)),
        (has_json, json_type),
    )
    error_text = _cases(
        (
            ~is_event & (kind == "runtime_error"),
            F.coalesce(
                _find(line, lambda_text.RUNTIME_ERROR, "cause"),
                _find(line, lambda_text.RUNTIME_ERROR, "sentence"),
                _find(line, lambda_text.RUNTIME_ERROR_FRAME, "sentence"),
            ),
        ),
        (unhandled == "python", _find(line, app_lines.PYTHON_UNHANDLED, "message")),
        (unhandled == "dotnet", _find(line, app_lines.DOTNET_UNHANDLED, "message")),
        (unhandled == "java", _find(line, app_lines.JAVA_UNHANDLED, "message")),
        (unhandled == "json", _find(line, json_lines.ERROR_MESSAGE, 1)),
        (has_json, _find(text, json_lines.ERROR_MESSAGE, 1)),
    )
    function_name = _cases(
        (
            is_event,
            F.coalesce(_find(line, json_lines.PLATFORM_FUNCTION_NAME, 1), _find(line, json_lines.FUNCTION_ARN, 1)),
        ),
        (has_json, F.coalesce(_find(text, json_lines.FUNCTION_NAME, 1), _find(text, json_lines.FUNCTION_ARN, 1))),
    )
    init_ms = _cases(
        (
            is_text & kind.isin("report", "init_report") & line.contains("Init"),
            _number(_raw(line, lambda_text.INIT_DURATION, "init_ms")),
        ),
        (is_event & (kind == "init_report"), metric),
        (is_event, _number(_raw(line, json_lines.METRIC_INIT, "init_ms"))),
    )
    phase = _cases(
        (is_text & (kind == "init_report"), _find(line, lambda_text.PHASE, "phase")),
        (is_event, _find(line, json_lines.PLATFORM_PHASE, 1)),
    )
    return [
        kind,
        F.when(F.col("request_id") != "", F.col("request_id")).alias("request_id"),
        F.when(F.col("_level") != "", F.col("_level")).alias("level"),
        function_name.alias("function_name"),
        duration.alias("duration_ms"),
        status.alias("status"),
        error_type.alias("error_type"),
        F.substring(error_text, 1, ERROR_TEXT_CHARS).alias("error_text"),
        F.when(F.col("_ended") == "timeout", _number(_raw(line, lambda_text.TIMEOUT, "timeout_s"))).alias("timeout_s"),
        init_ms.alias("init_ms"),
        phase.alias("phase"),
        F.col("records"),
        F.col("mentions"),
        F.col("batch_item_failures"),
        _handle_error(text, F.col("_reason"), F.col("request_id")).alias("handle_error"),
        F.col("idempotency"),
        F.col("worker"),
        *[_mark(text, consumers, name).alias("guard_mark" if name == "guard" else name) for name in _MARKS],
    ]


def _mark(text: Column, consumers: Mapping[str, Consumer], name: str) -> Column:
    """What a log group's configured pattern finds: one branch per configured group."""
    none = F.lit(None).cast("struct<message_id:string,key:string>")
    branches = []
    for group, consumer in sorted(consumers.items()):
        expression = getattr(consumer, name)
        if not expression:
            continue
        pattern = marks.mark_pattern(expression)
        found = {g: _find(text, pattern, g) for g in ("message_id", "key") if g in pattern.groups}
        null = F.lit(None).cast("string")
        value = F.struct(
            F.lower(found.get("message_id", null)).alias("message_id"), found.get("key", null).alias("key")
        )
        needle = marks.needle_of(expression)
        here = F.col("_is_app") & (F.col("log_group") == group)
        branches.append(
            (here & text.contains(needle) & _has(text, pattern) if needle else here & _has(text, pattern), value)
        )
    return _cases(*branches, (F.lit(True), none)) if branches else none


def _check_marks(frame: DataFrame, consumers: Mapping[str, Consumer]) -> None:
    compile_in_java = frame.sparkSession._jvm.java.util.regex.Pattern.compile  # type: ignore[union-attr]
    for consumer in consumers.values():
        for name in _MARKS:
            expression = getattr(consumer, name)
            if not expression:
                continue
            try:
                compile_in_java(marks.mark_pattern(expression).java)
            except Exception as problem:
                raise SettingsError(
                    f"{name} = {expression!r} is a regular expression for Python only; Spark's Java cannot read it",
                    "Leave out conditionals and other forms that only Python has.",
                ) from problem
