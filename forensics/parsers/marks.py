"""What a team configured for a consumer: its marks (effect, started, guard, deleted, failed, visibility_set), and where ids stand."""

import re
from dataclasses import dataclass
from functools import lru_cache

from forensics.json_path import value_in
from forensics.parsers.expressions import bounded
from forensics.parsers.grammar import Pattern, holds_any

_NEVER_LITERAL = set("\\^$.|?*+()[]{}")


@dataclass(frozen=True)
class Mark:
    """What a configured pattern found: a message id, a business key, or both; and seconds, where it has a group for them."""

    message_id: str | None
    key: str | None
    seconds: int | None = None


_SECONDS = re.compile("[0-9]{1,9}")


@lru_cache(maxsize=256)
def mark_pattern(text: str) -> Pattern:
    """Return a configured expression as a pattern."""
    return Pattern("mark", bounded(text))


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


_needle = lru_cache(maxsize=256)(needle_of)


def mark(text: str, expression: str, message_id: str | None = None) -> Mark | None:
    """Return the first match of a configured expression; None where nothing is named.

    ``message_id`` is what the line's configured place holds; a match that names no message is about that one.

    >>> mark("charged payment_id=p-7 in 3 s", r"charged payment_id=(?P<key>[^ ]+)")
    Mark(message_id=None, key='p-7', seconds=None)
    """
    found = mark_pattern(expression).compiled.search(text) if _needle(expression) in text else None
    if found is None:
        return None
    groups = found.groupdict()
    named, key = groups.get("message_id") or None, groups.get("key") or None
    message_id = named.lower() if named else message_id
    if message_id is None and key is None:
        return None
    if (seconds := groups.get("seconds")) is None:
        return Mark(message_id, key)
    return Mark(message_id, key, int(seconds)) if _SECONDS.fullmatch(seconds) else None


_DENYING = Pattern(
    "denying",
    r"(?i:(?<![a-z])(?:already|previously|not|never|cannot|[a-z]{2,8}n't)(?:[ _-](?:be|been|yet)){0,2}[ _-])(?![\s\S])",
)
_DENYING_NEEDLES = ("lready", "LREADY", "reviously", "REVIOUSLY", "ot", "OT", "ever", "EVER", "n't", "N'T")
_LONGEST_DENIAL = 40


def is_denied(text: str, expression: str) -> bool:
    """Tell whether words right before an expression's first match say that this was done before, or not at all.

    >>> [is_denied(f"{words}charged p-7", "charged (?P<key>[^ ]+)") for words in ("", "already ", "not yet ", "re")]
    [False, True, True, False]
    """
    if not holds_any(text, _DENYING_NEEDLES):
        return False
    found = mark_pattern(expression).compiled.search(text)
    before = text[max(found.start() - _LONGEST_DENIAL, 0) : found.start()] if found else ""
    return _DENYING.compiled.search(before) is not None


def placed(text: str, place: str | None, group: str) -> str | None:
    """Return what stands at a configured place: a JSON path, or a regular expression with one named group.

    >>> placed('{"sqs": {"id": "A1"}}', "$.sqs.id", "message_id")
    'A1'
    """
    if place is None:
        return None
    if not place.startswith("$"):
        return mark_pattern(place).find(text, group)
    value = value_in(text, place)
    return str(value) or None if isinstance(value, str | int) and not isinstance(value, bool) else None
