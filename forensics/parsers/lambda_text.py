"""Lambda's own lines in text format: START, END, REPORT, INIT_REPORT and their kin, timeouts, crashes.

Every part of a REPORT is found by its name, never by its place: a custom runtime prints Init Duration first, copies
turn tabs into spaces, and parts come and go between years.
"""

from forensics.parsers.grammar import BLANK, NUMBER, REQUEST_ID, SPACE, TIMESTAMP, Pattern

KINDS = {
    "START": "start",
    "END": "end",
    "REPORT": "report",
    "INIT_START": "init_start",
    "INIT_REPORT": "init_report",
    "RESTORE_START": "restore_start",
    "RESTORE_REPORT": "restore_report",
    "EXTENSION": "extension",
    "TELEMETRY": "telemetry",
    "LOGS": "telemetry",
}
"""First word of a platform line to its kind."""

WORD = Pattern(
    "platform_word",
    r"^" + SPACE + r"*+"
    r"(?:" + TIMESTAMP + BLANK + r"++){0,2}+"  # exports and `aws logs tail` put the event's time in front
    r"(?P<word>"
    r"(?:START|END)(?=" + BLANK + r"++RequestId)"
    r"|START(?=" + BLANK + r"++Version:)"  # an id that was cut out
    r"|REPORT(?=" + BLANK + r"++(?:RequestId:|(?:Init" + BLANK + r")?Duration:))"
    r"|(?:INIT|RESTORE)_(?:START|REPORT)(?=" + BLANK + r")"
    r"|(?:EXTENSION|TELEMETRY|LOGS)(?=" + BLANK + r"++Name:)"
    r")",
)
"""What kind of platform line this is.

>>> WORD.find("REPORT RequestId: 9c-1  Duration: 3.0 ms", "word")
'REPORT'
>>> WORD.find("START processing the batch", "word") is None
True
"""

PLATFORM_REQUEST_ID = Pattern("platform_request_id", r"RequestId:" + BLANK + r"*+(?P<request_id>" + REQUEST_ID + r")")
"""The id after RequestId:; a placeholder such as <guid> is none."""


def _number(name: str, label: str, unit: str, not_after: tuple[str, ...] = ()) -> Pattern:
    others = "".join(rf"(?<!{word}{BLANK}{label}:)" for word in not_after)
    return Pattern(name, rf"{label}:{others}{BLANK}*+(?P<{name}>{NUMBER}){BLANK}*+{unit}")


DURATION = _number("duration_ms", "Duration", "ms", ("Billed", "Init", "Restore"))
"""Run time, not billed time: exactly the limit for a timed-out run today, above it in older logs.

>>> DURATION.find("Init Duration: 48.26 ms   Duration: 237.17 ms   Billed Duration: 300 ms", "duration_ms")
'237.17'
"""
INIT_DURATION = _number("init_ms", f"Init{BLANK}++Duration", "ms")
RESTORE_DURATION = _number("restore_ms", f"(?<!Billed{BLANK})Restore{BLANK}++Duration", "ms")
"""SnapStart's: for so long the environment was restored before its run.

>>> RESTORE_DURATION.find("Billed Restore Duration: 182 ms Restore Duration: 398.97 ms", "restore_ms")
'398.97'
"""

STATUS = Pattern("status", rf"Status:{BLANK}*+(?P<status>[A-Za-z]++)")
"""timeout or error; absent on success, and in logs of before about 2024 absent on failure too."""
ERROR_TYPE = Pattern("report_error_type", rf"Error{BLANK}++Type:{BLANK}*+(?P<error_type>[^\s\u00a0]++)")
PHASE = Pattern("phase", rf"Phase:{BLANK}*+(?P<phase>[a-z-]++)")

TIMEOUT_NEEDLE = "Task timed out after"
TIMEOUT = Pattern(
    "timeout",
    r"^" + SPACE + r"*+(?:" + TIMESTAMP + BLANK + r"++){0,2}+"
    r"(?:RequestId:" + BLANK + r"*+)?+"
    r"(?:(?P<request_id>" + REQUEST_ID + r")" + BLANK + r"++"
    r"|(?:<[^<>\s]{1,40}>|undefined)" + BLANK + r"++)?+"  # a placeholder, or nothing at all
    r"(?:Error:" + BLANK + r"*+)?+"
    r"Task timed out after" + BLANK + r"*+(?P<timeout_s>" + NUMBER + r")",
)
"""The timeout line of older functions; today only the REPORT's status says it.

>>> TIMEOUT.find("2024-01-29T16:41:15.998Z <guid> Task timed out after 45.05 seconds", "timeout_s")
'45.05'
"""

_TYPE = r"\"errorType\"" + SPACE + r"*+:" + SPACE + r"*+\"[^\"\\]{0,100}+\""
_COMMA = SPACE + r"*+," + SPACE + r"*+"
TIMEOUT_PAYLOAD = Pattern(
    "timeout_payload",
    r"^\{" + SPACE + r"*+(?:" + _TYPE + _COMMA + r")?+\"errorMessage\"" + SPACE + r"*+:" + SPACE + r"*+\""
    r"(?:" + TIMESTAMP + r" )?+(?:RequestId: )?+(?P<request_id>" + REQUEST_ID + r") (?:Error: )?+"
    r"Task timed out after (?P<timeout_s>" + NUMBER + r") seconds?+\"(?:" + _COMMA + _TYPE + r")?+"
    r"" + SPACE + r"*+\}" + SPACE + r"*+(?![\s\S])",
)
"""The answer that Lambda gives to whoever invoked a run that timed out, alone: it tells of that run, wherever it is printed.

>>> TIMEOUT_PAYLOAD.find('{"errorMessage":"2022-10-25T16:47:22.617Z 8bf047ff-04a7-493f-aefa-fe68804f9a61 Task timed out after 60.06 seconds"}', 1)
'8bf047ff-04a7-493f-aefa-fe68804f9a61'
"""

RUNTIME_ERROR_NEEDLE = "xited"
RUNTIME_ERROR_START = "RequestId:"
RUNTIME_ERROR = Pattern(
    "runtime_error",
    r"^" + SPACE + r"*+(?:" + TIMESTAMP + BLANK + r"++){0,2}+"
    r"(?:RequestId:" + BLANK + r"*+(?:(?P<request_id>" + REQUEST_ID + r")|[^\s\u00a0]{1,60})" + BLANK + r"++)?+"
    r"(?:Error:" + BLANK + r"*+)?+"
    r"(?:Runtime exited with error:"
    + BLANK
    + r"*+(?P<cause>[^\n\r]{1,300}?)(?="
    + BLANK
    + r"*+(?:Runtime\.[A-Za-z]++"
    + SPACE
    + r"*+)?(?:[\n\r]|(?![\s\S])))"
    r"|(?P<sentence>Runtime exited[^\n\r]{0,300}+|Process exited before completing[^\n\r]{0,300}+))",
)
"""The runtime died: exit status, signal, or no reason given.

>>> RUNTIME_ERROR.find("RequestId: 5 Error: Runtime exited with error: signal: killed", "cause")
'signal: killed'
"""
RUNTIME_ERROR_FRAME = Pattern(
    "runtime_error_frame",
    r"^"
    + SPACE
    + r"*+RequestId:"
    + BLANK
    + r"*+(?:(?P<request_id>"
    + REQUEST_ID
    + r")|[^\s\u00a0]{1,60})"
    + BLANK
    + r"++"
    r"Error:" + BLANK + r"*+(?P<sentence>[^\n\r]{1,300}+)",
)
"""The same frame around a reason nobody has listed yet."""
RUNTIME_ERROR_TYPE = Pattern(
    "runtime_error_type",
    r"(?:[\n\r]" + SPACE + r"*+(?P<error_type>[A-Z][A-Za-z]++\.[A-Za-z]++)"
    r"|[^\n\r]" + BLANK + r"++(?P<same_line>Runtime\.[A-Z][A-Za-z]++)" + SPACE + r"*+(?![\s\S]))",
)
"""The second line of the same event, such as Runtime.ExitError; copies put it at the end of the first."""
