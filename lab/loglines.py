"""Lambda's log text as AWS writes it: platform lines and a Python handler's own, in the Text and the JSON format.

Every function returns one log event's message, with the TABs and newlines that the real one has. Whatever simulates a
function writes its platform lines with these.
"""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from lab.simulation import Delivery

RUNTIME_VERSION = "python:3.12.mainlinev2.v43"
RUNTIME_ARN_HASH = "36aeb19f3326e129d9f096dea0a3c6a9ca8dce2610e62d2b2060747602d863ae"
NO_BREAK_SPACE = "\u00a0"
UNHANDLED_WARNING = (
    "LAMBDA_WARNING: Unhandled exception. The most likely cause is an issue in the function code. However, in rare "
    "cases, a Lambda runtime update can cause unexpected function behavior. For functions using managed runtimes, "
    "runtime updates can be triggered by a function change, or can be applied automatically. To determine if the "
    "runtime has been updated, check the runtime version in the INIT_START log entry. If this error correlates with a "
    "change in the runtime version, you may be able to mitigate this error by temporarily rolling back to the previous "
    "runtime version. For more information, see https://docs.aws.amazon.com/lambda/latest/dg/runtimes-update.html"
)


@dataclass(frozen=True)
class RunEnd:
    """How a run ended. ``timeout_line`` is the old form, a line of its own; ``timeout_status`` the form of today."""

    request_id: str
    at: datetime
    outcome: Literal["success", "error", "timeout_line", "timeout_status"]
    duration_ms: float
    timeout_s: int
    memory_mb: int
    max_memory_mb: int
    init_ms: float | None = None


class LogFormat(Protocol):
    """What a function's LoggingConfig.LogFormat decides."""

    name: str

    def init_start(self, at: datetime, function: str, stream: str, region: str) -> str:
        """Return the line of a cold start."""

    def start(self, at: datetime, request_id: str, function_arn: str) -> str:
        """Return the first line of a run."""

    def logged(self, at: datetime, level: str, request_id: str, text: str) -> str:
        """Return what Python's logging writes."""

    def unhandled(self, at: datetime, request_id: str, error_type: str, text: str) -> str:
        """Return what an exception that leaves the handler writes."""

    def ended(self, end: RunEnd) -> list[str]:
        """Return the last lines of a run."""


def iso_ms(at: datetime) -> str:
    """Write a time as Lambda does.

    >>> from datetime import UTC
    >>> iso_ms(datetime(2026, 11, 20, 5, 12, 0, 200_000, UTC))
    '2026-11-20T05:12:00.200Z'
    """
    return at.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def epoch_ms(at: datetime) -> int:
    """Return milliseconds since the epoch, rounded down as log events have them."""
    return math.floor(at.timestamp() * 1000 + 1e-6)


def init_start_line(region: str = "eu-west-1") -> str:
    """INIT_START with the runtime's version."""
    arn = f"arn:aws:lambda:{region}::runtime:{RUNTIME_ARN_HASH}"
    return f"INIT_START Runtime Version: {RUNTIME_VERSION}\tRuntime Version ARN: {arn}\n"


def start_line(request_id: str, version: str = "$LATEST") -> str:
    """START with the request id and the version that runs."""
    return f"START RequestId: {request_id} Version: {version}\n"


def end_line(request_id: str) -> str:
    """END with the request id."""
    return f"END RequestId: {request_id}\n"


def timed_out_line(at: str, request_id: str, duration_ms: float) -> str:
    """Return the line that told a timeout until 2025, between the handler's lines and END; ``at`` as Lambda writes it."""
    return f"{at} {request_id} Task timed out after {duration_ms / 1000:.2f} seconds\n\n"


def report_line(
    request_id: str,
    duration_ms: float,
    billed_ms: int | None = None,
    memory_mb: int = 256,
    max_memory_mb: int = 91,
    init_ms: float | None = None,
    status: str = "",
) -> str:
    """REPORT; ``status`` is what stands at its end after a failure: ``Status: timeout``, for instance."""
    parts = [
        f"REPORT RequestId: {request_id}",
        f"Duration: {duration_ms:.2f} ms",
        f"Billed Duration: {math.ceil(duration_ms + (init_ms or 0.0)) if billed_ms is None else billed_ms} ms",
        f"Memory Size: {memory_mb} MB",
        f"Max Memory Used: {max_memory_mb} MB",
    ]
    if init_ms is not None:
        parts.append(f"Init Duration: {init_ms:.2f} ms")
    return "\t".join([*parts, status]) + "\n"


def platform_event(at: str, kind: str, record: dict[str, Any]) -> str:
    """Return one event of the JSON format, without the newline at its end; ``at`` as Lambda writes it."""
    return json.dumps({"time": at, "type": f"platform.{kind}", "record": record}, separators=(",", ":"))


class TextFormat:
    """LogFormat Text."""

    name = "Text"

    def init_start(self, at: datetime, function: str, stream: str, region: str) -> str:
        """INIT_START with the runtime's version."""
        return init_start_line(region)

    def start(self, at: datetime, request_id: str, function_arn: str) -> str:
        """START with the request id."""
        return start_line(request_id)

    def logged(self, at: datetime, level: str, request_id: str, text: str) -> str:
        """Level, time, request id and text, divided by TABs."""
        return f"[{level}]\t{iso_ms(at)}\t{request_id}\t{text}\n"

    def unhandled(self, at: datetime, request_id: str, error_type: str, text: str) -> str:
        """One event without time or request id, its traceback indented by no-break spaces."""
        indent = NO_BREAK_SPACE * 2
        return (
            f"[ERROR] {error_type}: {text}\nTraceback (most recent call last):\n"
            f'{indent}File "/var/task/index.py", line 14, in handler\n{indent * 2}raise {error_type}({text!r})'
        )

    def ended(self, end: RunEnd) -> list[str]:
        """END and REPORT; in the old form of a timeout a line of its own stands before them."""
        is_old_timeout = end.outcome == "timeout_line"
        report = report_line(
            end.request_id,
            end.duration_ms,
            end.timeout_s * 1000 if is_old_timeout else None,
            end.memory_mb,
            end.max_memory_mb,
            end.init_ms,
            "Status: timeout" if end.outcome == "timeout_status" else "",
        )
        timed_out = [timed_out_line(iso_ms(end.at), end.request_id, end.duration_ms)] if is_old_timeout else []
        return [*timed_out, end_line(end.request_id), report]


class JsonFormat:
    """LogFormat JSON at the default levels: a run that went well has a start and a report."""

    name = "JSON"

    def init_start(self, at: datetime, function: str, stream: str, region: str) -> str:
        """platform.initStart."""
        record = {
            "initializationType": "on-demand",
            "phase": "init",
            "runtimeVersion": RUNTIME_VERSION,
            "runtimeVersionArn": f"arn:aws:lambda:{region}::runtime:{RUNTIME_ARN_HASH}",
            "functionName": function,
            "functionVersion": "$LATEST",
            "instanceId": stream,
            "instanceMaxMemory": 268435456,
        }
        return _platform(at, "initStart", record)

    def start(self, at: datetime, request_id: str, function_arn: str) -> str:
        """platform.start."""
        record = {"requestId": request_id, "functionArn": function_arn, "version": "$LATEST"}
        return _platform(at, "start", record)

    def logged(self, at: datetime, level: str, request_id: str, text: str) -> str:
        """Python's logging as JSON; its timestamp has whole seconds."""
        whole = at.strftime("%Y-%m-%dT%H:%M:%SZ")
        return (
            json.dumps({"timestamp": whole, "level": level, "message": text, "logger": "root", "requestId": request_id})
            + "\n"
        )

    def unhandled(self, at: datetime, request_id: str, error_type: str, text: str) -> str:
        """A warning in plain text, a carriage return, then JSON with other keys than the rest."""
        error = {
            "timestamp": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "log_level": "ERROR",
            "errorMessage": text,
            "errorType": error_type,
            "requestId": request_id,
            "stackTrace": ['  File "/var/task/index.py", line 22, in handler\n    metrics.flush()\n'],
        }
        return f"{UNHANDLED_WARNING}\r{json.dumps(error)}\n"

    def ended(self, end: RunEnd) -> list[str]:
        """platform.report, after a failure with platform.runtimeDone before it."""
        status = {"success": "success", "error": "failure"}.get(end.outcome, "timeout")
        metrics: dict[str, Any] = {
            "durationMs": round(end.duration_ms, 3),
            "billedDurationMs": math.ceil(end.duration_ms + (end.init_ms or 0.0)),
            "memorySizeMB": end.memory_mb,
            "maxMemoryUsedMB": end.max_memory_mb,
        }
        if end.init_ms is not None:
            metrics["initDurationMs"] = round(end.init_ms, 3)
        lines = []
        if status != "success":
            done = {
                "requestId": end.request_id,
                "status": status,
                "metrics": {"durationMs": round(end.duration_ms, 3), "producedBytes": 0},
            }
            lines.append(_platform(end.at, "runtimeDone", done))
        lines.append(_platform(end.at, "report", {"requestId": end.request_id, "metrics": metrics, "status": status}))
        return lines


def sqs_event(deliveries: Iterable[Delivery], queue_arn: str) -> dict[str, Any]:
    """Return the event a function gets from a mapping: every attribute a string."""
    return {"Records": [_record(delivery, queue_arn) for delivery in deliveries]}


def _record(delivery: Delivery, queue_arn: str) -> dict[str, Any]:
    message = delivery.message
    attributes = {
        "ApproximateReceiveCount": str(delivery.receive_count),
        "SentTimestamp": str(epoch_ms(message.sent_at)),
    }
    if message.sequence_number is not None:
        attributes["SequenceNumber"] = message.sequence_number
    if message.group is not None:
        attributes["MessageGroupId"] = message.group
    attributes["SenderId"] = message.sender_id
    if message.deduplication_id is not None:
        attributes["MessageDeduplicationId"] = message.deduplication_id
    attributes["ApproximateFirstReceiveTimestamp"] = str(epoch_ms(message.deliveries[0].received_at))
    return {
        "messageId": message.message_id,
        "receiptHandle": delivery.receipt_handle,
        "body": message.body,
        "attributes": attributes,
        "messageAttributes": {},
        "md5OfBody": message.md5,
        "eventSource": "aws:sqs",
        "eventSourceARN": queue_arn,
        "awsRegion": queue_arn.split(":")[3],
    }


def _platform(at: datetime, kind: str, record: dict[str, Any]) -> str:
    return platform_event(iso_ms(at), kind, record) + "\n"
