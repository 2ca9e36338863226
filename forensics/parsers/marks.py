"""The marks a team configured for a consumer: effect, started, guard."""

import re
from dataclasses import dataclass
from functools import lru_cache

from forensics.parsers.grammar import Pattern

_NEVER_LITERAL = set("\\^$.|?*+()[]{}")


@dataclass(frozen=True)
class Mark:
    """What a configured pattern found: a message id, a business key, or both."""

    message_id: str | None
    key: str | None


@lru_cache(maxsize=256)
def mark_pattern(text: str) -> Pattern:
    """Return a configured expression as a pattern for both engines."""
    named = re.compile(text).groupindex
    for name, number in named.items():
        text = text.replace(f"(?P={name})", f"\\{number}")
    return Pattern("mark", text.replace(r"\Z", r"(?![\s\S])"))


def needle_of(text: str) -> str:
    """Return a text that every match starts with; empty where none is sure.

    >>> needle_of(r"charged payment_id=(?P<key>[a-z]+)")
    'charged payment_id='
    >>> needle_of(r"charged?|paid (?P<key>[a-z]+)")
    ''
    """
    if "|" in text:
        return ""
    literal = ""
    for place, character in enumerate(text):
        if character in _NEVER_LITERAL:
            return literal[:-1] if character in "?*{" else literal
        literal = text[: place + 1]
    return literal


def mark(text: str, expression: str) -> Mark | None:
    """Return the first match of a configured expression; None where nothing is named.

    >>> mark("charged payment_id=p-7 in 3 s", r"charged payment_id=(?P<key>[^ ]+)")
    Mark(message_id=None, key='p-7')
    """
    pattern = mark_pattern(expression)
    message_id = pattern.find(text, "message_id") if "message_id" in pattern.groups else None
    key = pattern.find(text, "key") if "key" in pattern.groups else None
    if message_id is None and key is None:
        return None
    return Mark(message_id.lower() if message_id else None, key)
