"""One log line to one value: all that the line says."""

import re
from dataclasses import replace

import msgspec

from forensics.parsers import app_lines, json_lines, lambda_text, sqs_records
from forensics.parsers.batch_processors import given_back
from forensics.parsers.handle_errors import HandleError, handle_error
from forensics.parsers.idempotency import idempotency
from forensics.parsers.marks import Mark, is_denied, mark, placed
from forensics.parsers.mentions import is_taking, mentions
from forensics.parsers.sqs_records import Record
from forensics.parsers.workers import WorkerLine, worker
from forensics.settings import Consumer

ERROR_TEXT_CHARS = 300
NO_STATUS = "none"
"""Status of a platform's JSON report that bears none: those that do not tell failures, as of the Logs API, tell no success."""
TIMEOUT_ANSWER = "timeout_answer"
"""Kind of a line that is the answer to whoever invoked a run that timed out: its request id may be of another stream's run."""
LAMBDA_LOG_GROUPS = "/aws/lambda/"
"""In these the poller is Lambda's own: no worker framework deletes anything there."""


class ParsedLine(msgspec.Struct, frozen=True):
    """What one line says. None is unknown: the line does not say it.

    ``kind`` is init_start, start, end, report, timeout, timeout_answer, runtime_error, runtime_done, init_report, restore_start,
    restore_report, extension, telemetry, unhandled_error, logged_error (which the runtime or the application may have
    written), handle_error, app, platform or other. ``is_whole_batch``: the list of ``records`` is printed up to its end;
    ``takes_mentioned``: the line says that the ``mentions`` are in hand; ``given_back``: a message that the function returns as failed.
    """

    kind: str
    request_id: str | None = None
    level: str | None = None
    function_name: str | None = None
    duration_ms: float | None = None
    status: str | None = None
    error_type: str | None = None
    error_text: str | None = None
    timeout_s: float | None = None
    init_ms: float | None = None
    phase: str | None = None
    records: list[Record] | None = None
    is_whole_batch: bool = False
    mentions: list[str] | None = None
    takes_mentioned: bool = False
    batch_item_failures: list[str] | None = None
    handle_error: HandleError | None = None
    idempotency: str | None = None
    worker: WorkerLine | None = None
    effect: Mark | None = None
    started: Mark | None = None
    guard_mark: Mark | None = None
    deleted_mark: Mark | None = None
    failed_mark: Mark | None = None
    visibility_mark: Mark | None = None
    receive_count: int | None = None
    given_back: str | None = None


def parse_line(line: str, consumer: Consumer | None = None, log_group: str = "") -> ParsedLine:
    """Read one log event, several lines long or not; never raises for any text.

    Worker frameworks are looked for outside Lambda's own log groups only.

    >>> parse_line("REPORT RequestId: 3f2504e0-4f89-41d3-9a0c-0305e82c3301\\tDuration: 812.5 ms").duration_ms
    812.5
    """
    word = lambda_text.WORD.find(line, "word")
    if word:
        return _platform_text(line, lambda_text.KINDS[word])
    style = sqs_records.key_style(line)
    is_json = json_lines.START.compiled.search(line) is not None
    if style is None and is_json and (event := json_lines.PLATFORM_TYPE.find(line, "platform_type")):
        return _platform_json(line, json_lines.PLATFORM_KINDS.get(event.removeprefix("platform."), "platform"))
    if is_json and lambda_text.TIMEOUT_NEEDLE in line and (answer := lambda_text.TIMEOUT_PAYLOAD.compiled.search(line)):
        return ParsedLine(TIMEOUT_ANSWER, answer["request_id"], timeout_s=float(answer["timeout_s"]))
    return _application(line, style, is_json, consumer, log_group)


def _number(text: str | None) -> float | None:
    return None if text is None else float(text)


def _platform_text(line: str, kind: str) -> ParsedLine:
    status = lambda_text.STATUS.find(line, "status") if kind.endswith("report") else None
    return ParsedLine(
        kind,
        request_id=lambda_text.PLATFORM_REQUEST_ID.find(line, "request_id"),
        duration_ms=_number(lambda_text.DURATION.find(line, "duration_ms")) if kind == "report" else None,
        status=status.lower() if status else None,
        error_type=lambda_text.ERROR_TYPE.find(line, "error_type") if status else None,
        init_ms=_came_up_ms(line) if kind in ("report", "init_report") else None,
        phase=lambda_text.PHASE.find(line, "phase") if kind == "init_report" else None,
    )


def _came_up_ms(line: str) -> float | None:
    """Return for how long an environment came up: its init, or how long SnapStart restored it."""
    init = lambda_text.INIT_DURATION.find(line, "init_ms")
    return _number(lambda_text.RESTORE_DURATION.find(line, "restore_ms") if init is None else init)


def _platform_json(line: str, kind: str) -> ParsedLine:
    without_spans = json_lines.SPANS.replace(line, "")
    duration = _number(json_lines.METRIC_DURATION.find(without_spans, "duration_ms"))
    status = json_lines.PLATFORM_STATUS.find(line, 1)
    init_ms = duration if kind == "init_report" else _number(json_lines.METRIC_INIT.find(line, "init_ms"))
    if status is None and kind == "report":
        status = NO_STATUS
    return ParsedLine(
        kind,
        request_id=json_lines.PLATFORM_JSON_REQUEST_ID.find(line, 1) or lambda_text.PLATFORM_REQUEST_ID.find(line, 1),
        function_name=json_lines.PLATFORM_FUNCTION_NAME.find(line, 1) or json_lines.FUNCTION_ARN.find(line, 1),
        duration_ms=duration if kind in ("report", "runtime_done") else None,
        status=status.lower() if status else None,
        error_type=json_lines.PLATFORM_ERROR_TYPE.find(line, 1),
        init_ms=init_ms,
        phase=json_lines.PLATFORM_PHASE.find(line, 1),
    )


def _application(line: str, style: str | None, is_json: bool, consumer: Consumer | None, log_group: str) -> ParsedLine:
    if style is None and not is_json and (ended := _platform_words(line)):
        return ended
    text = around = line
    found, is_whole = None, False
    if style is not None:
        printed = sqs_records.printed(line, style)
        found, text, around, is_whole = printed.records, printed.text, printed.around, printed.is_whole
    has_json = is_json or line.startswith(json_lines.WARNING_START)
    prefix = app_lines.PREFIX.find(line) or ""
    request_id = app_lines.PREFIX_REQUEST_ID.find(prefix)
    level = app_lines.PREFIX_LEVEL.find(prefix, "level")
    error_type = error_text = function_name = None
    if has_json:
        request_id = json_lines.OWN_REQUEST_ID.find(around, 1) or json_lines.ANY_REQUEST_ID.find(around, 1)
        level = json_lines.level_of(around)
        error_type = json_lines.error_type_in(around) or json_lines.EXCEPTION_NAME.find(around, 1)
        error_text = json_lines.ERROR_MESSAGE.find(around, 1)
        function_name = json_lines.FUNCTION_NAME.find(around, 1) or json_lines.FUNCTION_ARN.find(around, 1)
    unhandled = app_lines.unhandled_error(line, level, has_json) if found is None else None
    if unhandled:
        error_type, error_text, _ = unhandled
    refused = handle_error(text, request_id)
    response = sqs_records.batch_item_failures(text)
    repeat = framework = named = None
    if found is None:
        repeat, named = idempotency(line), mentions(line, request_id)
        named = None if named and sqs_records.goes_on(line) else named
        framework = None if log_group.startswith(LAMBDA_LOG_GROUPS) else worker(line)
        if framework and framework.message_id is None and consumer and consumer.names_messages:
            framework = replace(
                framework, message_id=framework.job_id
            )  # they name its tasks so, and it has no other name
    is_silent = found is None and response is None and repeat is None and framework is None and named is None
    is_app = has_json or not is_silent or app_lines.PREFIX_SAYS.find(prefix) is not None
    said = consumer or Consumer()
    message_id, count = placed(text, said.message_id, "message_id"), placed(text, said.receive_count, "receive_count")
    message_id = message_id.lower() if message_id else None
    effect, started, guard, deleted, failed, hidden = (
        mark(text, e, message_id) if e else None
        for e in (said.effect, said.started, said.guard, said.deleted, said.failed, said.visibility_set)
    )
    # "already charged k=1" matches the expression of "charged k=1", too
    effect, started, deleted = (
        None if e is None or found_mark is None or is_denied(text, e) else found_mark
        for e, found_mark in ((said.effect, effect), (said.started, started), (said.deleted, deleted))
    )
    kind = "handle_error" if refused else "app" if is_app else "other"
    if unhandled:
        kind = "unhandled_error" if unhandled.is_certain else "logged_error"
    return ParsedLine(
        kind,
        request_id=request_id,
        level=level,
        function_name=function_name,
        error_type=error_type,
        error_text=error_text[:ERROR_TEXT_CHARS] if error_text else None,
        records=found,
        is_whole_batch=is_whole,
        mentions=named,
        takes_mentioned=named is not None and is_taking(line),
        batch_item_failures=response,
        handle_error=refused,
        idempotency=repeat,
        worker=framework,
        effect=effect,
        started=started,
        guard_mark=guard,
        deleted_mark=deleted,
        failed_mark=failed,
        visibility_mark=hidden,
        given_back=given_back(text),
        receive_count=int(count) if count and re.fullmatch(r"[0-9]{1,9}", count) else None,
    )


def _platform_words(line: str) -> ParsedLine | None:
    """Read the lines Lambda writes without one of its words in front."""
    if lambda_text.TIMEOUT_NEEDLE in line and (seconds := lambda_text.TIMEOUT.find(line, "timeout_s")):
        return ParsedLine(
            "timeout",
            request_id=lambda_text.TIMEOUT.find(line, "request_id"),
            timeout_s=float(seconds),
        )
    if lambda_text.RUNTIME_ERROR_NEEDLE not in line and not line.startswith(lambda_text.RUNTIME_ERROR_START):
        return None
    said = lambda_text.RUNTIME_ERROR
    cause = (
        said.find(line, "cause")
        or said.find(line, "sentence")
        or lambda_text.RUNTIME_ERROR_FRAME.find(line, "sentence")
    )
    if cause is None:
        return None
    return ParsedLine(
        "runtime_error",
        request_id=lambda_text.PLATFORM_REQUEST_ID.find(line, "request_id"),
        error_type=lambda_text.RUNTIME_ERROR_TYPE.find(line, "error_type")
        or lambda_text.RUNTIME_ERROR_TYPE.find(line, "same_line"),
        error_text=cause[:ERROR_TEXT_CHARS],
    )
