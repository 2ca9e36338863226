"""What single application lines state, as Spark columns: one function per grammar file of ``forensics.parsers``.

Each stands behind the texts its patterns need; few lines pass, so what comes after may be slow.
"""

from pyspark.sql import Column
from pyspark.sql import functions as F

from forensics.parsers import app_lines, handle_errors, json_lines, lambda_text, workers
from forensics.parsers import idempotency as idempotency_lines
from forensics.parsers import mentions as mention_lines
from spark_jobs.grammar_columns import cases, contains_any, find, find_all, has, let, lowered, raw


def runtime_error_type(line: Column, ended: Column) -> Column:
    """The error type on the second line of a crash."""
    return F.when(ended == "runtime_error", find(line, lambda_text.RUNTIME_ERROR_TYPE, "error_type"))


def runtime_error_text(line: Column, ended: Column) -> Column:
    """Why the runtime died, in its words."""
    return F.when(
        ended == "runtime_error",
        F.coalesce(
            find(line, lambda_text.RUNTIME_ERROR, "cause"),
            find(line, lambda_text.RUNTIME_ERROR, "sentence"),
            find(line, lambda_text.RUNTIME_ERROR_FRAME, "sentence"),
        ),
    )


def unhandled_error(line: Column, level: Column, has_json: Column) -> Column:
    """Type and text of an error nobody caught, as ``app_lines.unhandled_error``; null for every other line."""
    starts_python, starts_ruby = line.startswith(app_lines.PYTHON_START), line.startswith(app_lines.RUBY_START)
    by_dotnet = level.isin(*app_lines.DOTNET_LEVELS)
    by_node = (level == app_lines.NODE_LEVEL) & contains_any(line, app_lines.NODE_NEEDLES)
    by_json = has_json & line.contains("log_level")
    by_java = ~has_json & (level == "") & line.contains(app_lines.JAVA_NEEDLE)

    def told(whole: Column) -> Column:
        name = raw(whole, app_lines.PYTHON_UNHANDLED, "error_type")
        python = (whole.contains(app_lines.TRACEBACK) & (name != "")) | has(name, app_lines.ERROR_NAME)
        in_json = (
            (by_node & has(whole, app_lines.NODE_UNHANDLED))
            | (by_json & has(whole, json_lines.UNHANDLED_MARK))
            | (starts_ruby & has(whole, app_lines.RUBY_UNHANDLED))
        )
        forms = (
            (starts_python & python, app_lines.PYTHON_UNHANDLED, app_lines.PYTHON_UNHANDLED),
            (
                by_dotnet & has(whole, app_lines.DOTNET_UNHANDLED),
                app_lines.DOTNET_UNHANDLED,
                app_lines.DOTNET_UNHANDLED,
            ),
            (by_java & has(whole, app_lines.JAVA_UNHANDLED), app_lines.JAVA_UNHANDLED, app_lines.JAVA_UNHANDLED),
            (in_json, json_lines.ERROR_TYPE, json_lines.ERROR_MESSAGE),
        )
        return cases(
            *[
                (
                    holds,
                    F.struct(
                        find(whole, types, "error_type").alias("error_type"),
                        find(whole, texts, "error_text").alias("error_text"),
                    ),
                )
                for holds, types, texts in forms
            ]
        )

    return F.when(starts_python | by_dotnet | by_node | by_json | starts_ruby | by_java, let(line, told))


def handle_error(text: Column, own_request_id: Column) -> Column:
    """A refused or failed delete or visibility change, as ``handle_errors.handle_error``."""

    def read(whole: Column) -> Column:
        return let(_reason(whole), lambda reason: F.when(reason.isNotNull(), _refusal(whole, reason, own_request_id)))

    return F.when(contains_any(text, (*handle_errors.HANDLE_NEEDLES, *handle_errors.DELETE_NEEDLES)), let(text, read))


def _reason(text: Column) -> Column:
    said = raw(text, handle_errors.REASON, "reason")
    cut = F.lower(F.regexp_replace(said, r"[ .\t\u00a0\u2026]++(?![\s\S])", ""))

    def begins(whole: str) -> Column:
        return (F.length(cut) >= handle_errors.CUT_CHARS) & F.startswith(F.lit(whole), cut)

    by_handle = cases(
        (has(text, handle_errors.EXPIRED) | begins(handle_errors.EXPIRED_REASON), F.lit("expired")),
        (has(text, handle_errors.GONE) | begins(handle_errors.GONE_REASON), F.lit("gone")),
        (has(text, handle_errors.WRONG_QUEUE), F.lit("wrong_queue")),
        (has(text, handle_errors.GARBAGE), F.lit("garbage")),
        (has(text, handle_errors.FRAME) | has(text, handle_errors.TYPED), F.lit("other")),
    )
    maybe_delete = contains_any(text, handle_errors.DELETE_NEEDLES)
    return F.coalesce(
        F.when(contains_any(text, handle_errors.HANDLE_NEEDLES), by_handle),
        F.when(maybe_delete & has(text, handle_errors.FAILED_DELETE), F.lit("other")),
    )


def _refusal(text: Column, reason: Column, own_request_id: Column) -> Column:
    by_words = cases(*[(has(text, words), F.lit(name)) for words, name in handle_errors.OPERATION_WORDS])
    handle = F.regexp_replace(raw(text, handle_errors.HANDLE, "handle"), r"[\s\u00a0]", "")
    ids = F.array_remove(
        find_all(text, handle_errors.SQS_REQUEST_ID, "sqs_request_id"), F.coalesce(own_request_id, F.lit(""))
    )
    code = F.coalesce(find(text, handle_errors.CODE, "code"), find(text, handle_errors.KNOWN_CODE, "code"))
    return F.struct(
        F.coalesce(find(text, handle_errors.OPERATION, "operation"), by_words).alias("operation"),
        code.alias("code"),
        reason.alias("reason"),
        F.when(~has(handle, handle_errors.PLACEHOLDER), handle).alias("handle"),
        F.get(ids, F.lit(0)).alias("sqs_request_id"),
    )


def idempotency(line: Column) -> Column:
    """in_progress, already_done or validation, as ``idempotency.idempotency``."""

    def meaning(whole: Column) -> Column:
        return cases(
            (has(whole, idempotency_lines.VALIDATION), F.lit("validation")),
            (has(whole, idempotency_lines.IN_PROGRESS), F.lit("in_progress")),
            (has(whole, idempotency_lines.ALREADY_DONE), F.lit("already_done")),
        )

    return F.when(contains_any(line, idempotency_lines.NEEDLES), let(line, meaning))


def named_ids(line: Column) -> Column:
    """The places where the line names message ids: each one id or a list of them."""
    return F.when(~line.contains(mention_lines.SEND_NEEDLE), find_all(line, mention_lines.MENTION, "ids"))


def mentions(line: Column, named: Column, own_request_id: Column) -> Column:
    """Message ids the line names, as ``mentions.mentions``, from its ``named_ids``; null where it names none."""
    own = F.coalesce(own_request_id, F.lit(""))

    def several(places: Column) -> Column:
        ids = find_all(F.lower(F.array_join(places, " ")), mention_lines.ONE_ID)
        others = F.array_remove(F.array_distinct(ids), F.lower(own))
        return let(others, lambda o: F.when(F.size(o) > 0, o))

    first = F.get(named, F.lit(0))
    is_one = (F.size(named) == 1) & (F.octet_length(first) == _ID_BYTES) & ~F.rlike(first, F.lit("[A-Z]"))
    return F.when(is_one & (first != own), named).when(F.size(named) > 0, let(named, several))


_ID_BYTES = 36
_WORKER = "struct<format:string,event:string,message_id:string,receive_count:int,job:string,job_id:string>"


def worker(line: Column) -> Column:
    """A framework's line about one item, as ``workers.worker``."""
    return let(line, _worker)


def _worker(line: Column) -> Column:
    nothing = F.lit(None).cast("string")

    def said(form: workers.Form) -> Column:
        found = {g: find(line, form.pattern, g) for g in form.pattern.groups}
        return F.struct(
            F.lit(form.format).alias("format"),
            F.lit(form.event).alias("event"),
            lowered(found.get("message_id", nothing)).alias("message_id"),
            F.lit(None).cast("int").alias("receive_count"),
            found.get("job", nothing).alias("job"),
            lowered(found.get("job_id", nothing)).alias("job_id"),
        ).cast(_WORKER)

    return cases(
        (line.contains(workers.JSON_NEEDLE) & has(line, workers.JSON_STATUS), _laravel_json(line)),
        *[(contains_any(line, form.needles) & has(line, form.pattern), said(form)) for form in workers.FORMS],
    )


def _laravel_json(line: Column) -> Column:
    status = raw(line, workers.JSON_STATUS, "status")
    failed = cases(
        (has(line, workers.JSON_REFUSED), F.lit("refused")),
        (has(line, workers.JSON_TIMED_OUT), F.lit("timed_out")),
        (has(line, workers.JSON_DELETED), F.lit("gave_up")),
    )
    event = F.when(status == "failed", F.coalesce(failed, F.lit("failed")))
    for printed, meaning in workers.JSON_EVENTS.items():
        event = event.when(status == printed, F.lit(meaning))
    return F.struct(
        F.lit("laravel").alias("format"),
        event.alias("event"),
        lowered(find(line, workers.JSON_ID, "id")).alias("message_id"),
        raw(line, workers.JSON_ATTEMPTS, "attempts").try_cast("int").alias("receive_count"),
        F.replace(find(line, workers.JSON_JOB, "job"), F.lit("\\\\"), F.lit("\\")).alias("job"),
        lowered(find(line, workers.JSON_JOB_ID, "job_id")).alias("job_id"),
    ).cast(_WORKER)
