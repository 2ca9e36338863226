"""Pages of FilterLogEvents as CloudWatch serves them; the emulator cuts at 10,000 events without a token."""

import base64
import binascii
import hashlib
import json
from collections import Counter
from typing import Any

PAGE_EVENTS = 10_000
PAGE_BYTES = 1_048_576
EVENT_OVERHEAD_BYTES = 26


class BadTokenError(ValueError):
    """A nextToken that no page of ours gave."""


class CrowdedMillisecondError(RuntimeError):
    """More events share one millisecond than the emulator hands out in one reply."""


def upstream_request(request: dict[str, Any]) -> dict[str, Any]:
    """Return what to ask the emulator for: everything from where the page before stopped."""
    start_ms, _ = _read_token(request)
    left_out = ("nextToken", "logStreamNamePrefix")
    asked = {key: value for key, value in request.items() if key not in left_out}
    return asked | {"startTime": start_ms, "limit": PAGE_EVENTS}


def page(request: dict[str, Any], raw: list[dict[str, Any]]) -> dict[str, Any]:
    """Cut the emulator's events (ordered by time) to one page, with the token of the next one if there is more.

    A page resumes in the millisecond in which the last one ended, without the events it already gave.
    """
    start_ms, given = _read_token(request)
    prefix = request.get("logStreamNamePrefix", "")
    limit = min(request.get("limit", PAGE_EVENTS), PAGE_EVENTS)
    group = request.get("logGroupName") or request.get("logGroupIdentifier", "")

    events: list[dict[str, Any]] = []
    size = 0
    more = len(raw) == PAGE_EVENTS
    for event in _with_ids(group, raw):
        if event["eventId"] in given or not event["logStreamName"].startswith(prefix):
            continue
        size += len(event["message"].encode()) + EVENT_OVERHEAD_BYTES
        if len(events) == limit or (events and size > PAGE_BYTES):
            more = True
            break
        events.append(event)

    reply: dict[str, Any] = {"events": events, "searchedLogStreams": []}
    if more:
        last_ms = (events or raw)[-1]["timestamp"]
        if not events and last_ms == start_ms:
            raise CrowdedMillisecondError(f"{PAGE_EVENTS} events at {last_ms} in {group}")
        at_last_ms = [e["eventId"] for e in events if e["timestamp"] == last_ms]
        reply["nextToken"] = _token(last_ms, at_last_ms + (sorted(given) if last_ms == start_ms else []))
    return reply


def _with_ids(group: str, raw: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give events ids like CloudWatch's: 56 digits, the time in front, the same in every reply."""
    twins: Counter[tuple[str, int, str]] = Counter()
    named = []
    for event in raw:
        what = (event["logStreamName"], event["timestamp"], event["message"])
        twins[what] += 1
        digest = hashlib.sha256(repr((group, what, twins[what])).encode()).digest()
        named.append(event | {"eventId": str((event["timestamp"] << 144) | int.from_bytes(digest[:18], "big"))})
    return named


def _token(start_ms: int, given: list[str]) -> str:
    return base64.urlsafe_b64encode(json.dumps([start_ms, given]).encode()).decode()


def _read_token(request: dict[str, Any]) -> tuple[int, set[str]]:
    token = request.get("nextToken")
    if not token:
        return request.get("startTime", 0), set()
    try:
        start_ms, given = json.loads(base64.urlsafe_b64decode(token))
        return int(start_ms), set(given)
    except (binascii.Error, ValueError, TypeError) as problem:
        raise BadTokenError("The specified nextToken is invalid.") from problem
