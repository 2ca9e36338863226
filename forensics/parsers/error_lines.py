"""Lines in which an application says that something went wrong: by their level, or by the stack that they print.

A handler that catches an error, logs it and goes on ends in success all the same: such a line makes doubtful that it did the work.
"""

from typing import TYPE_CHECKING

from forensics.parsers.app_lines import TRACEBACK
from forensics.parsers.grammar import Pattern
from forensics.parsers.json_lines import ERROR_LEVEL_NEEDLES

if TYPE_CHECKING:
    from forensics.parsers.line import ParsedLine

_LEVELS = frozenset({"error", "critical", "fatal", "severe", "fail", "crit"})
_KINDS = frozenset({"app", "other", "logged_error"})
NEEDLES = ("ERROR", "CRIT", "FATAL", "SEVERE", "rror", "atal", "ritical", TRACEBACK, *ERROR_LEVEL_NEEDLES)
"""A line with none of these, ``fail`` and ``crit`` aside, is none of them."""

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
    return (said.level or "").lower() in _LEVELS or (said.level is None and TRACEBACK in line)


def may_hide_an_effect(line: str) -> bool:
    """Tell whether work may have been done where an error stands in place of its line: a request went out, and its answer is not known.

    Where a line does not say what failed it may have been that.

    >>> [may_hide_an_effect(text) for text in ("read timed out", "charge failed", "KeyError: 'amount'")]
    [True, True, False]
    """
    return UNANSWERED.find(line) is not None or LOCAL.find(line) is None
