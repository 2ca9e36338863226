"""The log of a function that the emulator really ran, as AWS would have kept it.

The emulator stamps all lines of a run with its end, tells a timeout in words that AWS no longer writes, and splits a
traceback into lines. Here the lines get the times that they carry themselves, and AWS's forms.
"""

import re
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from lab.functions import LogLine
from lab.loglines import RunEnd, TextFormat, epoch_ms

_STAMP = re.compile(r"(?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3})Z")
_TIMED_OUT = re.compile(r"Task timed out after \d+\.\d\d seconds$")
_TRACEBACK = "Traceback (most recent call last):"
_ERROR = re.compile(r"(?P<type>(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(?:: (?P<text>.*))?$")

RUNTIME_LOG = '''\
"""Writes log lines as Lambda's Python runtime does; the emulator's runtime leaves time and request id out."""

import logging
import sys
import time


def of_run(context):
    """Return the logger of one run."""
    form = f"[%(levelname)s]\\t%(asctime)s.%(msecs)03dZ\\t{context.aws_request_id}\\t%(message)s"
    formatter = logging.Formatter(form, "%Y-%m-%dT%H:%M:%S")
    formatter.converter = time.gmtime
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(formatter)
    log = logging.getLogger()
    log.handlers = [handler]
    log.setLevel(logging.INFO)
    return log
'''
"""A module that goes with a live function's code."""


@dataclass(frozen=True)
class EmulatedRun:
    """What the emulator says of one run; ``text`` is what the handler wrote. Times are aware UTC."""

    request_id: str
    text: str
    ended_at: datetime
    duration_ms: float
    timeout_s: int
    memory_mb: int
    failed: bool


def aws_lines(run: EmulatedRun, stream: str) -> list[LogLine]:
    """Return a run's log events with the times and in the forms of LogFormat Text."""
    form = TextFormat()
    timed_out = any(_TIMED_OUT.match(line) for line in run.text.splitlines())
    told_at = [_time(m["at"]) for m in _STAMP.finditer(run.text)]
    longest_ms = run.timeout_s * 1000.0 if timed_out else run.duration_ms
    duration_ms = min(run.duration_ms, longest_ms)
    # What is above the timeout went into starting the process.
    started_at = datetime.fromtimestamp(run.ended_at.timestamp() - duration_ms / 1000, UTC)
    started_at = min([started_at, *told_at])
    lines = [LogLine(stream, started_at, form.start(started_at, run.request_id, ""))]
    body, error = _without_traceback(run.text.splitlines())
    at = started_at
    for line in body:
        if _TIMED_OUT.match(line):
            continue
        if stamp := _STAMP.search(line):
            at = max(at, _time(stamp["at"]))
        lines.append(LogLine(stream, at, f"{line}\n"))
    ended_at = max(at, run.ended_at)
    if error:
        lines.append(LogLine(stream, ended_at, form.unhandled(ended_at, run.request_id, *error)))
    outcome = "timeout_status" if timed_out else "error" if run.failed else "success"
    end = RunEnd(
        run.request_id,
        ended_at,
        outcome,  # type: ignore[arg-type]
        duration_ms,
        run.timeout_s,
        run.memory_mb,
        max_memory_mb=61,
    )
    return lines + [LogLine(stream, ended_at, text) for text in form.ended(end)]


def log_writer(now: Callable[[], float] = time.time) -> Callable[..., None]:
    """Return what takes the place of the emulator's own writing of function logs."""

    def write(
        func: dict[str, Any],
        request_id: str,
        log_text: str,
        error: bool,
        duration_ms: float,
        *,
        log_source: str | None = None,
    ) -> None:
        from ministack.services import cloudwatch_logs

        config = func.get("config") or func
        ended_at = datetime.fromtimestamp(now(), UTC)
        stream_name = f"{ended_at:%Y/%m/%d}/[$LATEST]{uuid.uuid4().hex}"
        run = EmulatedRun(
            request_id,
            log_text or "",
            ended_at,
            duration_ms,
            int(config.get("Timeout") or 3),
            int(config.get("MemorySize") or 128),
            error,
        )
        group_name = (config.get("LoggingConfig") or {}).get("LogGroup") or f"/aws/lambda/{config['FunctionName']}"
        now_ms = epoch_ms(ended_at)
        if group_name not in cloudwatch_logs._log_groups:
            cloudwatch_logs._log_groups[group_name] = {
                "arn": cloudwatch_logs._make_group_arn(group_name),
                "creationTime": now_ms,
                "retentionInDays": None,
                "tags": {},
                "subscriptionFilters": {},
                "streams": {},
            }
        stream = cloudwatch_logs._log_groups[group_name]["streams"][stream_name] = {
            "events": [],
            "uploadSequenceToken": "1",
            "creationTime": now_ms,
            "firstEventTimestamp": None,
            "lastEventTimestamp": None,
            "lastIngestionTime": None,
        }
        events = [
            {"timestamp": epoch_ms(line.at), "message": line.text, "ingestionTime": now_ms}
            for line in aws_lines(run, stream_name)
        ]
        cloudwatch_logs._append_log_events(stream, events)

    return write


def _without_traceback(lines: list[str]) -> tuple[list[str], tuple[str, str] | None]:
    """Return the lines before an unhandled exception, and its type and text."""
    if _TRACEBACK not in lines:
        return lines, None
    start = lines.index(_TRACEBACK)
    for line in lines[start + 1 :]:
        if not line.startswith(" ") and (found := _ERROR.match(line)):
            return lines[:start], (found["type"], found["text"] or "")
    return lines[:start], ("Exception", "")


def _time(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}+00:00")
