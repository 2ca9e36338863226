"""What is left of a body without what differs at each send: its times, attempts, trace and request ids.

A producer that puts the time into what it sends again makes another body of the same work. So does a customer's next order, but that
has another order's id or amount, which stay.
"""

import hashlib
import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import msgspec

from forensics.bodies import REMOVED
from forensics.privacy import REDACTED

_BEFORE_MS, _AFTER_MS = 2 * 86_400_000, 14 * 3_600_000
"""A time of a send lies so near to SentTimestamp: of an earlier attempt, or written without its time zone."""
_OF_SEND = re.compile(
    r"(?:x?amzn|xray)?trace(?:id|parent|state|header)?|spanid|requestid|correlationid|nonce"
    r"|[a-z]*(?:attempts?|retry|retries|tries)(?:count|number|no|id)?"
)
_OF_TIME = re.compile(r".*(?:time|timestamp|ts|at|date|ms|epoch|now|on|when)")
_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}")
_UNITS_MS = ((10**18, 1e-6), (10**15, 1e-3), (10**12, 1.0), (10**9, 1000.0))
"""Numbers so high are nanoseconds, microseconds, milliseconds and seconds since 1970, until the year 2033."""
_SENT, _TIME, _OTHER = range(3)
_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder(order="sorted").encode
_GONE = object()
_LOOKED_INTO = frozenset({dict, list, str})


def body_shape(body: str | None, sent_ms: int | None) -> str | None:
    """Return a digest of a JSON body without what differs at each send; ``sent_ms`` is its SentTimestamp.

    None where nothing tells: no JSON object, nothing left of it, or something was taken out of it before it was kept.

    >>> body_shape('{"order": 7, "sent_at": "2026-01-08T12:00:00Z"}', 1_767_873_600_000) == body_shape('{"order": 7, "attempt": 2}', None)
    True
    >>> body_shape('{"order": 7}', None) == body_shape('{"order": 8}', None)
    False
    """
    if body is None or body[:1] != "{" or REDACTED in body or REMOVED in body:
        return None
    try:
        left = _without_send(_decode(body), sent_ms)
        return None if left is _GONE else hashlib.blake2b(_encode(left), digest_size=8).hexdigest()
    except (ValueError, RecursionError, OverflowError):  # msgspec's own are ValueErrors
        return None


def _without_send(value: Any, sent_ms: int | None) -> Any:
    """Return a decoded value without what differs at each send, _GONE where that is all there is."""
    kind = type(value)
    if kind is dict:
        left = {}
        for name, one in value.items():
            about = _kind_of(name)
            if about is not _OTHER and _differs(about, one, sent_ms):
                continue
            kept = _without_send(one, sent_ms) if type(one) in _LOOKED_INTO else one
            if kept is not _GONE:
                left[name] = kept
        return left or _GONE
    if kind is list:
        return [None if (kept := _without_send(one, sent_ms)) is _GONE else kept for one in value]
    if kind is str:
        if value[:1] == "{":
            return _inner(value, sent_ms)
        if value[4:5] == "-" and _ISO.match(value) and _is_near(_ms_of(value), sent_ms):
            return _GONE
    return value


def _differs(about: int, value: Any, sent_ms: int | None) -> bool:
    """Tell whether a value whose name speaks of the send, or of a time, differs at each send."""
    if type(value) in (dict, list):
        return False
    if about == _SENT:
        return True
    return type(value) in (int, float, str) and _is_near(_ms_of_number(value), sent_ms)


def _inner(text: str, sent_ms: int | None) -> Any:
    """Return JSON inside a string, without what differs; other text as it is."""
    try:
        return _without_send(_decode(text), sent_ms)
    except ValueError:
        return text


@lru_cache(maxsize=10_000)
def _kind_of(name: str) -> int:
    plain = re.sub("[^a-z]", "", name.lower())
    return _SENT if _OF_SEND.fullmatch(plain) else _TIME if _OF_TIME.fullmatch(plain) else _OTHER


def _is_near(at_ms: float | None, sent_ms: int | None) -> bool:
    return at_ms is not None and (sent_ms is None or sent_ms - _BEFORE_MS <= at_ms <= sent_ms + _AFTER_MS)


def _ms_of(text: str) -> float | None:
    """Return a date and time as milliseconds since 1970; without a time zone as if it were UTC."""
    try:
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000
    except ValueError:
        return None


def _ms_of_number(value: float | str) -> float | None:
    """Return a number of seconds since 1970, or of thousandths of them, as milliseconds."""
    if isinstance(value, str) and not (value.isascii() and value.isdigit() and len(value) <= 19):
        return None
    number = float(value)
    return next((number * unit for low, unit in _UNITS_MS if low <= number < 2 * low), None)
