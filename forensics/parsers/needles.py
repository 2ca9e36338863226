"""Texts of which a line must hold one to say anything: what a quick look at many lines can leave to nobody."""

from forensics.parsers import (
    app_lines,
    error_lines,
    handle_errors,
    idempotency,
    json_lines,
    lambda_text,
    sqs_records,
    workers,
)
from forensics.parsers.marks import needle_of
from forensics.settings import Consumer

MARKS = ("effect", "started", "guard", "deleted", "failed", "visibility_set")
"""The settings of a consumer that hold an expression each, for what its lines mark."""

_OF_ALL = (
    sqs_records.RESPONSE_NEEDLE,
    *sqs_records.NEEDLES,
    *handle_errors.HANDLE_NEEDLES,
    *handle_errors.DELETE_NEEDLES,
    *idempotency.NEEDLES,
)
OF_FUNCTIONS = (
    *_OF_ALL,
    lambda_text.TIMEOUT_NEEDLE,
    lambda_text.RUNTIME_ERROR_NEEDLE,
    lambda_text.RUNTIME_ERROR_START,
    "RequestId",
    "START",
    "END ",
    "REPORT",
    "INIT_",
    "RESTORE_",
    json_lines.PLATFORM_NEEDLE,
    app_lines.PYTHON_START,
    *app_lines.NODE_NEEDLES,
    *app_lines.DOTNET_LEVELS,
    app_lines.RUBY_START,
    app_lines.JAVA_NEEDLE,
    *error_lines.NEEDLES,
    "log_level",
    "unction_name",
    "unctionName",
    ":function:",
)
"""A function's line with none of these, no id but its own request's and no configured mark says nothing."""
OF_WORKERS = (
    *_OF_ALL,
    workers.JSON_NEEDLE,
    *(needle for form in workers.FORMS for needle in form.needles),
    app_lines.TRACEBACK,
    "failed",
    *idempotency.REPEAT_NEEDLES,
)
"""A worker's line with none of these, no id and no configured mark says nothing."""


def of_marks(consumer: Consumer) -> list[str]:
    """Return what every line with one of a consumer's marks begins that with; an empty text where none is sure."""
    return [needle_of(text) for name in MARKS if (text := getattr(consumer, name))]
