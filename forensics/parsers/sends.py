"""What a producer's line says of a send, as the settings tell where it stands."""

import re
from hashlib import sha256
from typing import NamedTuple

from forensics.parsers.marks import mark_pattern, placed
from forensics.settings import Producer

_NUMBER = re.compile(r"[0-9]{9,13}(?:\.[0-9]+)?")
_LEAST_MS = 1e11
"""Seconds reach it in the year 5138, milliseconds did in 1973."""
_READ_BY = ("sent", "message_id", "key", "deduplication_id", "request_id", "sent_at")


class Send(NamedTuple):
    """One send that a line tells of; None where it does not say. ``sent_at`` is as it was printed."""

    message_id: str | None
    key: str | None
    deduplication_id: str | None
    request_id: str | None
    sent_at: str | None


def send_of(line: str, producer: Producer) -> Send | None:
    """Return what a line says of a send; None where it tells of none, or neither which message nor which work was sent.

    >>> send_of("sent a1 for p-7", Producer("/ecs/shop", "pay", sent=r"sent (?P<message_id>[^ ]+) for (?P<key>[^ ]+)"))
    Send(message_id='a1', key='p-7', deduplication_id=None, request_id=None, sent_at=None)
    >>> send_of('INFO {"id": "A1", "job": 7}', Producer("/ecs/shop", "pay", message_id="$.id", request_id="$.job"))
    Send(message_id='a1', key=None, deduplication_id=None, request_id='7', sent_at=None)
    """
    found = {}
    if producer.sent is not None:
        match = mark_pattern(producer.sent).compiled.search(line)
        if match is None:
            return None
        found = match.groupdict()
    start = line.find("{")
    json = line[start:] if start >= 0 else ""

    def told(name: str) -> str | None:
        place = getattr(producer, name)
        return found.get(name) or placed(json if place and place.startswith("$") else line, place, name)

    message_id = told("message_id")
    send = Send(message_id and message_id.lower(), *map(told, ("key", "deduplication_id", "request_id", "sent_at")))
    return send if send.message_id or send.key else None


def pattern_of(producer: Producer) -> str:
    """Name the settings that read a producer's lines: those that other settings read say something else.

    >>> pattern_of(Producer("/ecs/shop", "pay", key="$.id")) == pattern_of(Producer("/ecs/shop", "pay", key="$.order"))
    False
    """
    return sha256(repr([getattr(producer, name) for name in _READ_BY]).encode()).hexdigest()[:12]


def read_as(producer: Producer) -> str:
    """Name a producer's log group as these settings read it: what coverage calls it."""
    return f"{producer.log_group} (pattern {pattern_of(producer)})"


def epoch_ms_in(text: str) -> int | None:
    """Read seconds or milliseconds since 1970 as milliseconds; None for anything else.

    >>> epoch_ms_in("1795245766.5"), epoch_ms_in("1795245766891"), epoch_ms_in("2026-11-20T05:12:00Z")
    (1795245766500, 1795245766891, None)
    """
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return round(value if value >= _LEAST_MS else value * 1000)
