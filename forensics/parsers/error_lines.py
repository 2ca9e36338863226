"""Lines in which an application says that something went wrong: by their level, or by the stack that they print.

A handler that catches an error, logs it and goes on ends in success all the same: such a line makes doubtful that it did the work.
"""

from typing import TYPE_CHECKING

from forensics.parsers.app_lines import TRACEBACK
from forensics.parsers.grammar import TIMESTAMP, Pattern, holds_any
from forensics.parsers.json_lines import ERROR_LEVEL_NEEDLES

if TYPE_CHECKING:
    from forensics.parsers.line import ParsedLine

_LEVELS = frozenset({"error", "critical", "fatal", "severe", "fail", "crit"})
_KINDS = frozenset({"app", "other", "logged_error"})
NEEDLES = ("ERR", "FTL", "CRIT", "FATAL", "SEVERE", "rror", "atal", "ritical", TRACEBACK, *ERROR_LEVEL_NEEDLES)
"""A line with none of these, ``fail`` and ``crit`` aside, is none of them."""

_UPPER = r"(?:ERROR|FATAL|SEVERE|CRITICAL|CRIT|ERR|FTL)"
LEVEL_IN_TEXT = Pattern(
    "error_level_in_text",
    r"^(?:[EF], )?\[?(?:"
    + TIMESTAMP
    + r"|[0-9]{2}:[0-9]{2}:[0-9]{2}[.,0-9]{0,10})(?: ?(?:UTC|Z|[+-][0-9]{2}:?[0-9]{2}))?(?: #[0-9]{1,9})?\]?"
    r"(?:[ \t]{0,3}\[[^\]\n\r]{1,80}\]|[ \t]{1,3}[-|][ \t]{1,3}[\w.:/@-]{1,60}(?=[ \t]{1,3}[-|])){0,6}[ \t]{0,3}(?:[-|:][ \t]{1,3})?"
    r"(?:(?:[\w-]{1,40}\.)?" + _UPPER + r"(?![A-Za-z0-9_-])|\[(?i:" + _UPPER + r")\])",
)
"""An error's level behind time and tags: Ruby's logger, Monolog's channel, Logback with its thread first, Serilog's short names, Python's dashes."""
LEVEL_IN_FIELD = Pattern(
    "error_level_in_field",
    r"(?:\"(?:severity(?:_?text)?|@l|log\.level|lvl)\": ?\"|(?:^|[ \t])(?:level|lvl|severity)=\"?)(?i:"
    + _UPPER
    + r"|EROR)(?![A-Za-z0-9_-])",
)
"""The same as a field: logfmt, and JSON that calls it other than level."""
_HEAD = 2_000

LOCAL = Pattern(
    "local_error",
    r"(?<![A-Za-z])(?:[A-Z][A-Za-z]*?)??"
    r"(?:Validation|Schema|Key|Value|Type|Attribute|Index|Name|Assertion|Argument|Reference|NullPointer|Range|Lookup)"
    r"(?:Error|Exception)(?![A-Za-z])",
)
"""An error that arises in the handler itself: it knows whether it had done the work by then.

>>> LOCAL.find("message 17: pydantic.ValidationError: amount is missing")
'ValidationError'
"""
UNANSWERED = Pattern(
    "unanswered",
    r"(?i:time(?:d|s)?[ _-]?out|deadline|connection|socket|broken pipe|E(?:CONN|PIPE|TIMED)|network"
    r"|respon(?:se|d)|answer|reply|gateway|unavailable|upstream|hang ?up|reset by|aborted|cancel)"
    r"|(?<![0-9A-Za-z.:-])(?<!line )5[0-9][0-9](?![0-9A-Za-z-])",  # no part of a time, an id or a stack
)
"""Words of one who asked another and does not know whether that one did as asked."""


def is_error_line(said: "ParsedLine", line: str) -> bool:
    """Tell whether an application logs an error of its own: no guard that refused, no call to SQS that failed, no mark of the settings.

    >>> from forensics.parsers import parse_line
    >>> [is_error_line(parse_line(text), text) for text in ("ERROR card provider: read timed out", "errors: 0")]
    [True, False]
    """
    if said.kind not in _KINDS or said.idempotency is not None or said.batch_item_failures is not None:
        return False
    if said.effect or said.started or said.guard_mark or said.deleted_mark or said.visibility_mark:
        return False
    if said.kind == "logged_error":  # whatever its writer's level is
        return True
    if said.level is not None:
        return said.level.lower() in _LEVELS
    return TRACEBACK in line or (holds_any(line, NEEDLES) and _has_level(line[:_HEAD]))


def _has_level(head: str) -> bool:
    return LEVEL_IN_TEXT.find(head) is not None or LEVEL_IN_FIELD.find(head) is not None


def may_hide_an_effect(line: str) -> bool:
    """Tell whether work may have been done where an error stands in place of its line: a request went out, and its answer is not known.

    Where a line does not say what failed it may have been that.

    >>> [may_hide_an_effect(text) for text in ("read timed out", "charge failed", "KeyError: 'amount'")]
    [True, True, False]
    """
    return UNANSWERED.find(line) is not None or LOCAL.find(line) is None
