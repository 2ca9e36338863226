"""How application code puts things into a log: printed SQS events, plain lines, errors; by runtime and log format."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from forensics.identity import handle_token
from tests.oracle.lines import iso
from tests.oracle.sqs import Receipt


def sqs_record(receipt: Receipt) -> dict[str, Any]:
    """Build the record Lambda hands to a function; the receipt handle is the lake's token for it."""
    message, queue = receipt.message, receipt.queue
    attributes = {
        "ApproximateReceiveCount": str(receipt.receive_count),
        "SentTimestamp": str(message.sent_ms),
        "SenderId": "AROAEXAMPLE:producer",
        "ApproximateFirstReceiveTimestamp": str(message.first_receive_ms),
    }
    if message.group_id:
        attributes["MessageGroupId"] = message.group_id
    if queue.is_fifo:
        attributes["SequenceNumber"] = str(message.sequence)
        attributes["MessageDeduplicationId"] = receipt.deduplication_id or ""
    if receipt.moved_from:
        attributes["DeadLetterQueueSourceArn"] = receipt.moved_from
    return {
        "messageId": message.message_id,
        "receiptHandle": handle_token(receipt.handle),
        "body": message.body,
        "attributes": attributes,
        "messageAttributes": {},
        "md5OfBody": message.body_md5,
        "eventSource": "aws:sqs",
        "eventSourceARN": queue.arn,
        "awsRegion": queue.region,
    }


def received_message(receipt: Receipt) -> dict[str, Any]:
    """Build what ReceiveMessage returns to a worker."""
    record = sqs_record(receipt)
    return {
        "MessageId": record["messageId"],
        "ReceiptHandle": record["receiptHandle"],
        "MD5OfBody": record["md5OfBody"],
        "Body": record["body"],
        "Attributes": record["attributes"],
    }


@dataclass(frozen=True)
class Writer:
    """Writes application lines as one runtime does, in the text or the JSON log format."""

    runtime: str
    is_json: bool
    function_name: str
    function_arn: str

    def line(self, text: str, request_id: str, at_ms: int, level: str = "INFO") -> str:
        """Write one message of the application's."""
        if self.runtime == "powertools":
            return self._powertools(text, request_id, at_ms, level)
        if self.runtime == "python_print":
            return text + "\n"
        if self.is_json and self.runtime in ("node", "python_logging"):
            return self._json(text, request_id, at_ms, level)
        if self.runtime == "python_logging":
            return f"[{level}]\t{iso(at_ms)}\t{request_id}\t{text}\n"
        if self.runtime == "dotnet":
            word = {"INFO": "info", "ERROR": "fail", "WARNING": "warn"}[level]
            return f"{iso(at_ms)}\t{request_id}\t{word}\t{text}\n"
        return f"{iso(at_ms)}\t{request_id}\t{level}\t{text}\n"

    def event(self, records: Sequence[dict[str, Any]], form: str, request_id: str, at_ms: int) -> str:
        """Print the whole event in one of the forms of its runtime: json, repr or object."""
        event = {"Records": list(records)}
        if form == "repr":
            return self.line(repr(event), request_id, at_ms)
        if form == "object":
            return self.line(_inspected(records), request_id, at_ms)
        if self.runtime == "powertools":
            return self._powertools(event, request_id, at_ms, "INFO")
        if self.runtime == "node" and self.is_json:
            return self._json(event, request_id, at_ms, "INFO")
        if self.runtime == "dotnet":
            return self.line("EVENT: " + json.dumps(_pascal(event), indent=2), request_id, at_ms)
        return self.line(json.dumps(event), request_id, at_ms)

    def record(self, record: dict[str, Any], request_id: str, at_ms: int) -> str:
        """Print one record of an event, by itself."""
        if self.runtime == "powertools":
            return self._powertools(record, request_id, at_ms, "INFO")
        return self.line(json.dumps(record), request_id, at_ms)

    def unhandled(self, error_type: str, text: str, request_id: str, at_ms: int) -> str:
        """Write what the runtime logs of an exception that left the handler."""
        if self.runtime == "node":
            payload = {
                "errorType": error_type,
                "errorMessage": text,
                "stackTrace" if self.is_json else "stack": [f"{error_type}: {text}", "    at charge"],
            }
            if self.is_json:
                return self._json(payload, request_id, at_ms, "ERROR")
            return f"{iso(at_ms)}\t{request_id}\tERROR\tInvoke Error \t{json.dumps(payload)}\n"
        if self.runtime == "dotnet":
            return f"{iso(at_ms)}\t{request_id}\tfail\tSystem.{error_type}: {text}\n   at Charge.Handler()\n"
        if self.is_json:
            fields = {
                "timestamp": _whole_seconds(at_ms),
                "log_level": "ERROR",
                "errorMessage": text,
                "errorType": error_type,
                "requestId": request_id,
                "stackTrace": ['  File "/var/task/app.py", line 42, in handler\n'],
            }
            return "LAMBDA_WARNING: Unhandled exception. The most likely cause is an issue in the function code.\r" + (
                json.dumps(fields)
            )
        return (
            f"[ERROR] {error_type}: {text}\nTraceback (most recent call last):\n"
            '\u00a0\u00a0File "/var/task/app.py", line 42, in handler\n\u00a0\u00a0\u00a0\u00a0charge(record)'
        )

    def caught(self, error_type: str, text: str, request_id: str, at_ms: int) -> str:
        """Write an exception that the application caught and logs with its stack, as is usual in its runtime."""
        if self.runtime == "node":
            if self.is_json:  # console.error(error): the same line as the runtime's own
                return self.unhandled(error_type, text, request_id, at_ms)
            return f"{iso(at_ms)}\t{request_id}\tERROR\t{error_type}: {text}\n    at charge (/var/task/app.js:31:9)\n"
        if self.runtime == "dotnet":
            return f"{iso(at_ms)}\t{request_id}\tfail\tretrying: System.{error_type}: {text}\n   at Charge.Try()\n"
        stack = (
            f'Traceback (most recent call last):\n  File "/var/task/app.py", line 31, in charge\n{error_type}: {text}'
        )
        if self.runtime == "python_print":
            return stack
        return self.line(f"retrying\n{stack}", request_id, at_ms, "ERROR")

    def _json(self, message: Any, request_id: str, at_ms: int, level: str) -> str:
        if self.runtime == "node":
            fields = {"timestamp": iso(at_ms), "level": level, "requestId": request_id, "message": message}
            return json.dumps(fields, separators=(",", ":"))
        fields = {"timestamp": _whole_seconds(at_ms), "level": level, "message": message, "logger": "root"}
        return json.dumps({**fields, "requestId": request_id})

    def _powertools(self, message: Any, request_id: str, at_ms: int, level: str) -> str:
        stamp = datetime.fromtimestamp(at_ms // 1000, UTC).strftime("%Y-%m-%d %H:%M:%S") + f",{at_ms % 1000:03d}+0000"
        return json.dumps(
            {
                "level": level,
                "location": "decorate:352" if isinstance(message, dict) else "charge:31",
                "message": message,
                "timestamp": stamp,
                "service": "payments",
                "cold_start": False,
                "function_name": self.function_name,
                "function_memory_size": "256",
                "function_arn": self.function_arn,
                "function_request_id": request_id,
            }
        )


def _whole_seconds(at_ms: int) -> str:
    return iso(at_ms)[:19] + "Z"


def _pascal(value: Any) -> Any:
    if isinstance(value, dict):
        return {(key[:1].upper() + key[1:]).replace("ARN", "Arn"): _pascal(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_pascal(inner) for inner in value]
    return value


def _inspected(records: Sequence[dict[str, Any]]) -> str:
    """Node's console.log(event): nested objects collapse, so the receive count is lost."""
    lines = ["{", "  Records: ["]
    for number, record in enumerate(records):
        lines.append("    {")
        for key, value in record.items():
            shown = "[Object]" if key == "attributes" else "{}" if isinstance(value, dict) else _quoted(value)
            lines.append(f"      {key}: {shown}" + ("" if key == "awsRegion" else ","))
        lines.append("    }" + ("," if number + 1 < len(records) else ""))
    return "\n".join([*lines, "  ]", "}"])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("\n", "\\n")
    return f"'{escaped}'" if "'" not in escaped else f'"{escaped}"' if '"' not in escaped else f"`{escaped}`"
