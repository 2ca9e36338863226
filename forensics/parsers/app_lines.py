"""What an application writes: the prefix each runtime puts before a line, and errors nobody caught."""

from typing import NamedTuple

from forensics.parsers import json_lines
from forensics.parsers.grammar import BLANK, REQUEST_ID, SPACE, TIMESTAMP, Pattern, holds_any

_LEVELS = (
    r"(?:TRACE|DEBUG|INFO|NOTICE|WARNING|WARN|ERROR|CRITICAL|FATAL|SEVERE"  # Python, Node, Java
    r"|trce|dbug|info|warning|warn|fail|crit|trace|debug|notice|error|critical|fatal"  # .NET and others
    r"|Trace|Debug|Information|Info|Warning|Error|Critical|Fatal)"
    r"(?![A-Za-z0-9_])"
)

PREFIX = Pattern(
    "prefix",
    r"^" + SPACE + r"*+"
    r"(?:\[?" + _LEVELS + r"\]?[: \t\u00a0]*+)?+"  # Python puts the level first
    r"(?:\[?" + TIMESTAMP + r"\]?[ \t\u00a0,:-]*+){0,2}+"  # an export line shows two
    r"(?:(?:"
    + REQUEST_ID
    + r"|[0-9a-f]{4,12}(?:-[0-9a-f]{2,12}){4})(?![0-9A-Za-z-])"
    + BLANK
    + r"*+"  # or one cut short
    r"|(?:undefined|<[^<>\s]{1,40}>)" + BLANK + r"++)?+"
    r"(?:[\[(|-]?" + BLANK + r"*+" + _LEVELS + r")?+",  # Node and .NET put it last
)
"""Level, time and request id, whichever of them the runtime prints, in whichever order.

>>> PREFIX.find("2023-02-18T22:23:34.030Z\\t9f294aed-ba7e-49fe-a1b9-9a7ad6313712\\tINFO\\tcharged")
'2023-02-18T22:23:34.030Z\\t9f294aed-ba7e-49fe-a1b9-9a7ad6313712\\tINFO'
"""
PREFIX_SAYS = Pattern("prefix_says", r"[0-9A-Za-z]")
"""A prefix that is more than blanks and brackets."""
PREFIX_REQUEST_ID = Pattern("prefix_request_id", r"(?<![0-9A-Za-z-])(?P<request_id>" + REQUEST_ID + r")")
PREFIX_LEVEL = Pattern("prefix_level", r"(?<![A-Za-z0-9])(?P<level>" + _LEVELS + r")(?![0-9-])")

PYTHON_START = "[ERROR]"
PYTHON_UNHANDLED = Pattern(
    "python_unhandled",
    r"^\[ERROR\]" + BLANK + r"++"
    r"(?P<error_type>"
    r"(?:[A-Za-z_][A-Za-z0-9_]*+\.){0,6}+[A-Za-z_][A-Za-z0-9_]*+"
    r")"
    r"(?=[:\r\n]|(?![\s\S]))"
    r"(?::" + BLANK + r"*+(?P<error_text>[^\r\n]{0,300}+))?+",
)
"""Python's report of an unhandled exception: no time, no request id, indented with no-break spaces."""
ERROR_NAME = Pattern("error_name", r"^Runtime\.|Error|Exception|Warning|Interrupt|Exit|Timeout|Failure|Fault")
TRACEBACK = "Traceback (most recent call last)"

NODE_UNHANDLED = Pattern(
    "node_unhandled", r"(?:Invoke Error|Unhandled Promise Rejection|Uncaught Exception)" + SPACE + r"*+\{"
)
"""Node's report, behind a prefix with its level; the JSON that follows names the error."""
PHP_UNHANDLED = Pattern("php_unhandled", r"^" + REQUEST_ID + BLANK + r"++Invoke Error" + BLANK + r"++\{\"errorType\"")
"""Bref's report, in Node's words behind the request id alone."""
NODE_LEVEL = "ERROR"
NODE_NEEDLES = ("Invoke Error", "Unhandled Promise Rejection", "Uncaught Exception")

DOTNET_UNHANDLED = Pattern(
    "dotnet_unhandled",
    r"^[^\n\r]{0,100}?" + BLANK + r"(?:fail|crit)" + BLANK + r"++"
    r"(?P<error_type>(?:[A-Za-z_][A-Za-z0-9_]*+\.){1,8}+[A-Za-z_][A-Za-z0-9_]*+)"
    r":" + BLANK + r"*+(?P<error_text>[^\r\n]{0,300}+)",
)
""".NET's report: level fail or crit, then the exception's full name and message."""
DOTNET_LEVELS = ("fail", "crit")

RUBY_UNHANDLED = Pattern("ruby_unhandled", r"^" + SPACE + r"*+Error raised from handler method")
RUBY_START = "Error raised from"

JAVA_UNHANDLED = Pattern(
    "java_unhandled",
    r"^(?P<error_text>[^\r\n]{1,300}?): (?P<error_type>(?:[a-z][A-Za-z0-9_]*+\.){1,8}+[A-Z][A-Za-z0-9_$]*+)[\r\n]++\2(?![A-Za-z0-9_$])",
)
"""Java's report prints the exception's class twice: at the end of the first line and at the start of the second."""
JAVA_NEEDLE = "\tat "


class Unhandled(NamedTuple):
    """An error as a runtime reports one that nobody caught. ``is_certain``: an application's logger writes no such line."""

    error_type: str | None
    error_text: str | None
    is_certain: bool = True


def unhandled_error(line: str, level: str | None, has_json: bool) -> Unhandled | None:
    """Return an error that nobody caught, as the runtime reports it; None for every other line.

    Node's ``console.error(error)`` in the JSON format, and .NET's logger in the text format, write of an error that was
    caught just what the runtime writes of one that was not: those are not certain. Nor is Go's, which is an answer like any function's.

    >>> unhandled_error("[ERROR] KeyError: 'id'\\nTraceback (most recent call last):", "ERROR", False)
    Unhandled(error_type='KeyError', error_text="'id'", is_certain=True)
    """
    if json_lines.GO_NEEDLE in line and (go := _by_go(line)):
        return go
    if has_json:
        return _in_json(line, level)
    if line.startswith(PYTHON_START) and (name := PYTHON_UNHANDLED.find(line, "error_type")):
        if TRACEBACK in line or ERROR_NAME.find(name):
            return Unhandled(name, PYTHON_UNHANDLED.find(line, "error_text"))
        return None
    if level in DOTNET_LEVELS and (name := DOTNET_UNHANDLED.find(line, "error_type")):
        return Unhandled(name, DOTNET_UNHANDLED.find(line, "error_text"), False)
    if JAVA_NEEDLE in line and level is None and (name := JAVA_UNHANDLED.find(line, "error_type")):
        return Unhandled(name, JAVA_UNHANDLED.find(line, "error_text"))
    by_node = holds_any(line, NODE_NEEDLES) and (
        NODE_UNHANDLED.find(line) if level == NODE_LEVEL else PHP_UNHANDLED.find(line)
    )
    if by_node or (line.startswith(RUBY_START) and RUBY_UNHANDLED.find(line)):
        return _named_in(line)
    return None


def _by_go(line: str) -> Unhandled | None:
    found = json_lines.GO_ERROR.compiled.search(line) or json_lines.GO_ERROR_INSIDE.compiled.search(line)
    return Unhandled(found["error_type"], found["error_text"], False) if found else None


def _in_json(line: str, level: str | None) -> Unhandled | None:
    by_python = holds_any(line, json_lines.UNHANDLED_NEEDLES) and json_lines.UNHANDLED_MARK.find(line)
    if by_python or json_lines.DOTNET_UNHANDLED.find(line):
        return _named_in(line)
    if json_lines.JAVA_NEEDLE in line and (name := json_lines.JAVA_UNHANDLED.find(line, "error_type")):
        return Unhandled(name, json_lines.JAVA_UNHANDLED.find(line, "error_text"))
    if json_lines.NODE_ERROR.find(line):
        return _named_in(line)._replace(is_certain=False)
    by_node = level == NODE_LEVEL and holds_any(line, NODE_NEEDLES) and NODE_UNHANDLED.find(line)
    return _named_in(line) if by_node else None


def _named_in(line: str) -> Unhandled:
    return Unhandled(json_lines.error_type_in(line), json_lines.ERROR_MESSAGE.find(line, 1))
