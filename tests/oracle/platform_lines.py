"""What the Lambda platform writes about a run: the text format of then and now, and JSON."""

from dataclasses import dataclass

from lab import loglines
from lab.loglines import RUNTIME_ARN_HASH, RUNTIME_VERSION, end_line, report_line, timed_out_line
from tests.oracle.lines import iso


@dataclass(frozen=True)
class RunEnd:
    """How a run ended, as the platform knows it."""

    request_id: str
    started_ms: int
    ended_ms: int
    status: str  # success, error (the handler raised), timeout, crash or init_failed
    timeout_ms: int
    init_ms: float | None = None
    crash_type: str = "Runtime.OutOfMemory"
    memory_mb: int = 256
    error_type: str = "Function.ValueError"
    reported_as: str = "error"
    is_restored: bool = False
    """Error type and status in a JSON report of a run whose handler raised; the status may even be success. ``is_restored``: SnapStart
    restored its environment, in ``init_ms``.
    """

    @property
    def duration_ms(self) -> float:
        """Run time without init."""
        return float(self.ended_ms - self.started_ms)


def start_line(platform: str, request_id: str, at_ms: int, function_arn: str, version: str = "$LATEST") -> str:
    """START, or platform.start."""
    if platform != "json":
        return loglines.start_line(request_id, version)
    record = {"requestId": request_id, "functionArn": function_arn, "version": version}
    return _json(at_ms, "start", record)


def restore_lines(platform: str, at_ms: int, restore_ms: float, version: str) -> tuple[str, str]:
    """SnapStart's two lines, of the beginning and the end."""
    if platform != "json":
        start = loglines.init_start_line().replace("INIT_START", "RESTORE_START")
        return start, f"RESTORE_REPORT Restore Duration: {restore_ms:.2f} ms\n"
    record = {"runtimeVersion": RUNTIME_VERSION, "functionName": "", "functionVersion": version}
    report = {"status": "success", "metrics": {"durationMs": restore_ms}}
    return _json(at_ms, "restoreStart", record), _json(at_ms + round(restore_ms), "restoreReport", report)


def init_start_line(platform: str, at_ms: int, function_name: str, version: str) -> str:
    """INIT_START, or platform.initStart."""
    if platform != "json":
        return loglines.init_start_line()
    record = {
        "initializationType": "on-demand",
        "phase": "init",
        "runtimeVersion": RUNTIME_VERSION,
        "runtimeVersionArn": f"arn:aws:lambda:eu-west-1::runtime:{RUNTIME_ARN_HASH}",
        "functionName": function_name,
        "functionVersion": version,
    }
    return _json(at_ms, "initStart", record)


def failed_init_lines(platform: str, at_ms: int, phase: str, init_ms: float) -> list[str]:
    """What a failed init leaves: the runtime's error, and its report."""
    error = (
        "[ERROR] Runtime.ImportModuleError: Unable to import module 'app': No module named 'requests'\n"
        "Traceback (most recent call last):"
    )
    if platform != "json":
        report = f"INIT_REPORT Init Duration: {init_ms:.2f} ms\tPhase: {phase}\tStatus: error"
        return [error, report + "\tError Type: Runtime.ImportModuleError\n"]
    record = {
        "initializationType": "on-demand",
        "phase": phase,
        "status": "error",
        "errorType": "Runtime.ImportModuleError",
        "metrics": {"durationMs": init_ms},
    }
    return [error, _json(at_ms, "initReport", record)]


def end_lines(platform: str, end: RunEnd, log_level: str) -> list[tuple[int, str, str]]:
    """Return (time, role, text) of what closes a run, in the order the platform writes it."""
    if platform == "json":
        return _json_end(end, log_level)
    closing = end_line(end.request_id)
    at = end.ended_ms
    if platform == "text_old":
        overrun = end.duration_ms + (12.52 if end.status == "timeout" else 0.37)
        report = _report(end, overrun, "")
        if end.status == "timeout":
            timed_out = timed_out_line(iso(at + 12), end.request_id, overrun)
            return [(at + 12, "timeout", timed_out), (at + 12, "end", closing), (at + 12, "report", report)]
        lines = [(at, "end", closing), (at, "report", report)]
        if end.status in ("crash", "init_failed"):
            reason = "signal: killed" if end.status == "crash" else "exit status 1\nRuntime.ExitError"
            lines.append((at, "crash", f"RequestId: {end.request_id} Error: Runtime exited with error: {reason}"))
        return lines
    suffix = {
        "timeout": "Status: timeout",
        "crash": f"Status: error\tError Type: {end.crash_type}",
        "init_failed": "Status: error\tError Type: Runtime.ImportModuleError",
    }.get(end.status, "")
    report = _report(end, end.duration_ms + (0 if end.status == "timeout" else 0.37), suffix)
    return [(at, "end", closing), (at, "report", report)]


def _report(end: RunEnd, duration_ms: float, status: str) -> str:
    billed = int(min(duration_ms, end.timeout_ms)) + 1
    used_mb = end.memory_mb if end.status == "crash" else 91
    restored = f"Restore Duration: {end.init_ms:.2f} ms\tBilled Restore Duration: 182 ms\t" if _is_restored(end) else ""
    init_ms = None if end.is_restored else end.init_ms
    return report_line(end.request_id, duration_ms, billed, end.memory_mb, used_mb, init_ms, restored + status)


def _is_restored(end: RunEnd) -> bool:
    return end.is_restored and end.init_ms is not None


def _json_end(end: RunEnd, log_level: str) -> list[tuple[int, str, str]]:
    status = {"success": "success", "timeout": "timeout", "error": end.reported_as}.get(end.status, "error")
    record: dict = {"requestId": end.request_id, "status": status}
    if end.status == "error" and status != "success":
        record["errorType"] = end.error_type
    elif end.status == "crash":
        record["errorType"] = end.crash_type
    elif end.status == "init_failed":
        record["errorType"] = "Runtime.ImportModuleError"
    at = end.ended_ms
    lines = []
    if status != "success":
        done = {**record, "metrics": {"durationMs": end.duration_ms + 1.182, "producedBytes": 0}}
        lines.append((at, "end", _json(at, "runtimeDone", done)))
    elif log_level == "WARN":
        return []
    metrics: dict = {
        "durationMs": end.duration_ms,
        "billedDurationMs": int(end.duration_ms) + 1,
        "memorySizeMB": end.memory_mb,
        "maxMemoryUsedMB": 91,
    }
    if _is_restored(end):
        metrics |= {"restoreDurationMs": end.init_ms, "billedRestoreDurationMs": 182}
    elif end.init_ms is not None:
        metrics["initDurationMs"] = end.init_ms
    lines.append((at, "report", _json(at, "report", {**record, "metrics": metrics})))
    return lines


def _json(at_ms: int, kind: str, record: dict) -> str:
    return loglines.platform_event(iso(at_ms), kind, record)
