"""JSON lines: Lambda's platform events, and what applications log as JSON.

Fields are found by name wherever they stand: key order is free, a line may be cut, and the event may be wrapped.
Quotes inside a JSON string are escaped, so a key in a nested text is never taken for one of the line's own.
"""

from forensics.parsers.grammar import BLANK, NUMBER, REQUEST_ID, SPACE, TIMESTAMP, Pattern, holds_any

PLATFORM_KINDS = {
    "start": "start",
    "end": "end",
    "report": "report",
    "runtimeDone": "runtime_done",
    "initStart": "init_start",
    "initReport": "init_report",
    "restoreStart": "restore_start",
    "restoreReport": "restore_report",
    "extension": "extension",
    "telemetrySubscription": "telemetry",
    "logsSubscription": "telemetry",
    "fault": "runtime_error",
}
"""platform.<x> to a kind; every other x is `platform`."""

START = Pattern("json_start", r"^\{" + SPACE + r"*+\"")
"""A line that is JSON from its first character."""
WARNING_START = "LAMBDA_WARNING"
"""JSON behind a text: the Python runtime's warning, a carriage return, then the error as JSON."""

PLATFORM_NEEDLE = "platform."
_COLON = r"\"" + SPACE + r"*+:" + SPACE + r"*+"


def _text(name: str, keys: str, value: str) -> Pattern:
    return Pattern(name, r"\"(?:" + keys + r")" + _COLON + r"\"(?P<" + name + ">" + value + ")")


PLATFORM_TYPE = _text("platform_type", "type", r"platform\.[A-Za-z]++")
"""The discriminator: platform lines have time, type and record; application lines timestamp, level and message.

>>> PLATFORM_TYPE.find('{"record":{}, "type" : "platform.runtimeDone"}', "platform_type")
'platform.runtimeDone'
"""
PLATFORM_JSON_REQUEST_ID = _text("json_request_id", "requestId", REQUEST_ID)
PLATFORM_STATUS = _text("json_status", "status", r"[A-Za-z]++")
PLATFORM_ERROR_TYPE = _text("json_error_type", "errorType", r"[^\"\\]++")
PLATFORM_PHASE = _text("json_phase", "phase", r"[a-z-]++")
SPANS = Pattern("spans", r"\"spans\"" + SPACE + r"*+:" + SPACE + r"*+\[[^\]]*+\]?")
"""Spans hold durations of their own; they are taken out before the run's duration is looked for."""
METRIC_DURATION = Pattern("metric_duration_ms", r"\"durationMs" + _COLON + r"(?P<duration_ms>" + NUMBER + ")")
METRIC_INIT = Pattern("metric_init_ms", r"\"(?:init|restore)DurationMs" + _COLON + r"(?P<init_ms>" + NUMBER + ")")
FUNCTION_ARN = Pattern("function_arn", r":function:(?P<function_name>[A-Za-z0-9_-]{1,140}+)")
"""The name inside a function's ARN, without version or alias."""

PLATFORM_FUNCTION_NAME = _text("platform_function_name", "functionName", r"[A-Za-z0-9_-]{1,140}+")

_OPEN = r"\"" + SPACE + r"*+:" + SPACE + r"*+\""


def _ends_with(*words: str) -> str:
    return "(?:" + "|".join(f"(?<={word})" for word in words) + ")"


OWN_REQUEST_ID = Pattern(
    "own_request_id",
    r"equest_?[Ii]d"
    + _ends_with(
        "unction_request_id",
        "unctionRequestId",
        "ws_request_id",
        "wsRequestId",
        "WSRequestId",
        "ambda_request_id",
        "ambdaRequestId",
    )
    + _OPEN
    + r"(?P<request_id>"
    + REQUEST_ID
    + ")",
)
"""What Powertools and structured loggers call Lambda's request id; preferred to a bare requestId."""
ANY_REQUEST_ID = Pattern(
    "any_request_id",
    r"equest_?[Ii]d"
    + _ends_with(r"\"requestId", r"\"RequestId", r"\"request_id")
    + _OPEN
    + r"(?P<request_id>"
    + REQUEST_ID
    + ")",
)
LEVEL = Pattern(
    "json_level",
    r"evel(?:name)?"
    + _ends_with(r"\"level", r"\"Level", r"log_level", r"[gG]Level", r"\"levelname")
    + _OPEN
    + r"(?P<level>[A-Za-z]{2,16}+)",
)
NUMERIC_LEVEL = Pattern(
    "json_numeric_level", r"(?:^\{|\"pid\":[0-9]{1,10}+,)\"level\":(?P<level>[56]0),\"(?:time|msg)\""
)
"""Pino's line begins with it; Bunyan's has it behind the process."""
ERROR_LEVELS = {"50": "error", "60": "fatal"}
ERROR_LEVEL_NEEDLES = tuple(f'"level":{number}' for number in ERROR_LEVELS)
FUNCTION_NAME = Pattern(
    "json_function_name",
    r"unction(?:_name|Name(?<=FunctionName))" + _OPEN + r"(?P<function_name>[A-Za-z0-9_-]{1,140}+)",
)
"""What Powertools adds; a bare functionName may be any function the line talks about."""
ERROR_TYPE = Pattern(
    "app_error_type",
    r"rrorType" + _OPEN + r"(?P<error_type>[^\"\\]{1,200}+(?:\\\\[A-Za-z_][^\"\\]{0,100}+){0,20}+)",  # PHP's namespaces
)
EXCEPTION_NAME = Pattern("app_exception_name", r"xception_name" + _OPEN + r"(?P<error_type>[^\"\\]{1,200}+)")
ERROR_MESSAGE = Pattern(
    "app_error_message",
    r"rrorMessage" + _OPEN + r"(?P<error_text>[^\"\\]{0,300}+(?:\\[^\n][^\"\\]{0,300}+){0,40}+)",
)
_NEXT = SPACE + r"*+," + SPACE + r"*+\""
UNHANDLED_MARK = Pattern(
    "unhandled_mark",
    r"\"log_level\""
    + SPACE
    + r"*+:|^\{\"timestamp"
    + _COLON
    + r"\"[^\"]{20,30}+\""
    + _NEXT
    + r"level"
    + _COLON
    + r"\"ERROR\""
    + _NEXT
    + r"errorMessage\"",
)
"""Only the Python runtime's own report of an unhandled exception has this key, or an error and no message of a logger's."""
UNHANDLED_NEEDLES = ('"log_level"', 'errorMessage"')
DOTNET_UNHANDLED = Pattern(
    "dotnet_unhandled_json", r"\"message" + _COLON + r"null" + _NEXT + r"errorType" + _COLON + r"\""
)
""".NET's own report: an error and no message; an application's logger is given one."""
JAVA_NEEDLE = r"\n\tat "
JAVA_UNHANDLED = Pattern(
    "java_unhandled_json",
    r"\"message" + _COLON + r"\"(?P<error_text>(?:[^\"\\]|\\[^n]){1,300}?): "
    r"(?P<error_type>(?:[a-z][A-Za-z0-9_]*+\.){1,8}+[A-Z][A-Za-z0-9_$]*+)(?:\\[rn])++(?P=error_type)(?![A-Za-z0-9_$])",
)
"""Java's own report names the exception's class twice, as in the text format."""
GO_NEEDLE = "rrorMessage"
GO_ERROR = Pattern(
    "go_error",
    r"^(?:" + TIMESTAMP + BLANK + r"++)?+(?:[^\s\"{]{1,200}:[0-9]{1,6}:" + BLANK + r"++)?+"
    r"\{\"errorMessage\":\"(?P<error_text>(?:[^\"\\]|\\[\s\S]){0,8000}+)\",\"errorType\":\"(?P<error_type>[^\"\\]{0,200}+)\""
    r"(?:,\"stackTrace\":\[|\}" + SPACE + r"*+(?![\s\S]))",
)
"""What Go's runtime prints of an error that the handler returned: by the standard logger, without a level. A handler that prints what another
function answered writes the same."""
GO_ERROR_INSIDE = Pattern(
    "go_error_inside",
    r"(?:\"(?:msg|message)\":" + SPACE + r"?|(?<![0-9A-Za-z_])msg=)\"\{\\\"errorMessage\\\":\\\""
    r"(?P<error_text>(?:[^\"\\]|\\\\(?:\\[\s\S]|[^\"\\])){0,8000}+)"
    r"\\\",\\\"errorType\\\":\\\"(?P<error_type>[^\"\\]{0,200}+)\\\"(?:,\\\"stackTrace\\\":\[|\}\")",
)
"""The same, where the standard logger writes into another one (slog, zap, zerolog, logrus)."""
NODE_ERROR = Pattern(
    "node_error_json",
    r"^\{\"timestamp"
    + _COLON
    + r"\"[^\"]{20,30}+\""
    + _NEXT
    + r"level"
    + _COLON
    + r"\"ERROR\""
    + _NEXT
    + r"requestId"
    + _COLON
    + r"\"[^\"]{1,60}+\""
    + _NEXT
    + r"message"
    + _COLON
    + r"\{"
    + SPACE
    + r"*+\"errorType"
    + _COLON
    + r"\"",
)
"""An error that Node's console prints alone: by the runtime, or by the application after it caught it."""


def level_of(text: str) -> str | None:
    """Return the level that a line of JSON states, in words; of numbers those of errors alone.

    >>> level_of('{"level":50,"time":1767614400123,"pid":7,"msg":"card declined"}')
    'error'
    """
    if named := LEVEL.find(text, 1):
        return named
    number = NUMERIC_LEVEL.find(text, "level") if holds_any(text, ERROR_LEVEL_NEEDLES) else None
    return ERROR_LEVELS[number] if number else None


def error_type_in(text: str) -> str | None:
    """Return the type of an error that JSON states, with PHP's namespaces as they are written.

    >>> print(error_type_in(r'{"errorType":"App\\\\Exception\\\\Declined"}'))
    App\\Exception\\Declined
    """
    found = ERROR_TYPE.find(text, 1)
    return found.replace("\\\\", "\\") if found else None
