"""The platform's lines that begin and end a run: seen in a log group, they tell that a function writes it."""

from forensics.parsers import json_lines, lambda_text

_WORDS, _KINDS = ("START", "END", "REPORT"), ("start", "end", "report")
MARK_NEEDLES = (*_WORDS, json_lines.PLATFORM_NEEDLE)
"""A line with none of these is no such line."""


def is_mark(line: str) -> bool:
    """Tell whether a line is a START, END or REPORT, as text or as JSON.

    >>> is_mark("START RequestId: 9f294aed-ba7e-49fe-a1b9-9a7ad6313712 Version: 7"), is_mark("START of the batch")
    (True, False)
    """
    word = lambda_text.WORD.find(line, "word")
    if word:
        return word in _WORDS
    if json_lines.PLATFORM_NEEDLE not in line or not json_lines.START.compiled.search(line):
        return False
    event = json_lines.PLATFORM_TYPE.find(line, "platform_type")
    return bool(event) and json_lines.PLATFORM_KINDS.get(str(event).removeprefix("platform.")) in _KINDS
