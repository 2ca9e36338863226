"""Expressions of the settings file that take long to search a line: a correlation asks them of every line."""

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from forensics.lake import Lake
from forensics.lake.filters import equals
from forensics.lake.rows import plain_rows
from forensics.parsers.marks import mark_pattern, needle_of
from forensics.parsers.needles import MARKS
from forensics.sentence import said
from forensics.settings import Settings
from forensics.tables.evidence import CONSUMERS, LOG_EVENTS

SLOW_S = 0.002
"""So much of the processor for one line, a million lines take half an hour."""
STEP = 4
"""By so many characters a line grows while it is tried: where each of them doubles the time, the first slow try is over soon."""
_MOST_KINDS, _MOST_CHARS = 30, 2_000
_MOST_BATCHES = 8
"""So much of the evidence is looked at for lines of a group."""
_KEYS = (*MARKS, "message_id", "receive_count")
_OF_PRODUCERS = ("sent", "message_id", "key", "deduplication_id", "request_id", "sent_at")
_CHANGES = re.compile(r"[0-9a-f]*[0-9][0-9a-f]*")


def slow_expressions(lake: Lake, settings: Settings) -> list[str]:
    """Return a sentence per expression that takes long for a line of its log group, as stored lines show."""
    found = []
    rows = plain_rows(lake.read(CONSUMERS, ["function_name", "log_group"]))
    groups = {row["function_name"]: row["log_group"] for row in rows}
    for group, who, expressions in _expressions(settings, groups):
        lines = list(_kinds_of_lines(lake, group)) if expressions and lake.exists(LOG_EVENTS) else []
        for key, expression in expressions:
            if (slow := slowest(expression, lines)) is not None:
                found.append(slow_text(who, key, expression, *slow))
    return found


def slow_text(who: str, key: str, expression: str, seconds: float, characters: int) -> str:
    """Say that an expression takes long, and how to write one that does not.

    >>> print(slow_text("ship", "effect", "(a+)+b", 0.0152, 72))
    ship: effect = '(a+)+b' takes 15 ms for the first 72 characters of a line that the lake holds, so that a correlation may take hours. Begin it with words of the line, put no repeat inside a repeated group, and [^" ]+ in place of .*
    """
    return said(
        "{who}: {key} = {expression} takes {ms} ms for the first {n} characters of a line that the lake holds, so that a correlation may take"
        ' hours. Begin it with words of the line, put no repeat inside a repeated group, and [^" ]+ in place of .*',
        who=who,
        key=key,
        expression=repr(expression),
        ms=round(1000 * seconds),
        n=characters,
    )


def slowest(expression: str, lines: Iterable[str]) -> tuple[float, int] | None:
    """Return in how many seconds an expression searches the beginning of a line, and how many characters that are; None where it is quick.

    Lines are tried from their beginning on, a few characters more each time: of one that takes for ever nothing would be told.
    """
    compiled, needle = mark_pattern(expression).compiled, needle_of(expression)
    for line in lines:
        for end in range(STEP, len(line) + STEP, STEP):
            text = line[:end]
            if needle not in text:
                continue
            if _seconds(compiled, text) >= SLOW_S and (took := _seconds(compiled, text)) >= SLOW_S:
                return took, len(text)
    return None


def _seconds(compiled: re.Pattern[str], text: str) -> float:
    began = time.thread_time()
    compiled.search(text)
    return time.thread_time() - began


def _expressions(settings: Settings, groups: Mapping[str, str]) -> Iterator[tuple[str, str, Sequence[tuple[str, str]]]]:
    """Yield log group, name, and expressions by key, of each section; ``groups`` are those of functions."""
    for section in (*settings.functions, *settings.workers):
        name = section.name or ""
        group = section.log_group or groups.get(name, f"/aws/lambda/{name}")
        yield group, section.name or group, _of_section(section, _KEYS)
    for producer in settings.producers:
        yield producer.log_group, producer.log_group, _of_section(producer, _OF_PRODUCERS)


def _of_section(section: object, keys: Iterable[str]) -> list[tuple[str, str]]:
    told = ((key, getattr(section, key, None)) for key in keys)
    return [(key, text) for key, text in told if isinstance(text, str) and not text.startswith("$")]


def _kinds_of_lines(lake: Lake, group: str) -> Iterator[str]:
    """Yield one line of each kind that a log group has, as far as a few batches show: the longest."""
    longest: dict[str, str] = {}
    for batch in islice(lake.scan(LOG_EVENTS, ["line"], where=equals("log_group", group)), _MOST_BATCHES):
        for row in plain_rows(batch):
            kind = _CHANGES.sub("0", row["line"][:200])
            if kind in longest or len(longest) < _MOST_KINDS:
                longest[kind] = max(longest.get(kind, ""), row["line"][:_MOST_CHARS], key=len)
    yield from longest.values()
