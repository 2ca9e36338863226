"""The event id inside the envelope of a body: SNS, EventBridge and S3 say themselves which event a message is about.

They deliver at least once, so one event can come as two messages. Whoever published it named it once.
"""

import json
from typing import Any

_MOST_CHARS = 262_144 * 4
"""Longer than any body: SQS takes a mebibyte at most."""
_NEEDLES = ("TopicArn", "detail-type", "aws:s3")
_READ = {"sns": ("Type", "MessageId", "TopicArn"), "eventbridge": ("id", "detail-type", "source")}
MOST_ID_CHARS = 256
"""Of anything kept of an envelope: what is longer names nothing."""


def event_id_of(body: str | None) -> str | None:
    """Return the publisher's id of the event in a body, named by its kind; None where the body is no known envelope.

    The outermost envelope counts. An S3 notification is named by bucket, key, the sequence of its write, and what happened.

    >>> event_id_of('{"Type": "Notification", "MessageId": "22b8", "TopicArn": "arn:aws:sns:eu-west-1:1:orders", "Message": ""}')
    'sns:22b8'
    >>> event_id_of('{"version": "0", "id": "17793124", "detail-type": "Order", "source": "shop", "account": "1", "detail": {}}')
    'eventbridge:17793124'
    """
    if body is None or len(body) > _MOST_CHARS or not may_hold_event_id(body):
        return None
    try:
        whole = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return _of(whole) if isinstance(whole, dict) else None


def may_hold_event_id(text: str) -> bool:
    """Tell whether text may hold an envelope; False is sure."""
    return any(needle in text for needle in _NEEDLES)


def without_event(whole: Any) -> dict[str, Any] | None:
    """Return of an envelope what its event id is read from and nothing else; None where whoever published gave no id.

    An S3 notification names its event by the object's key, which may hold anything: nothing of it is returned.

    >>> without_event({"Type": "Notification", "MessageId": "22b8", "TopicArn": "arn:aws:sns:eu-west-1:1:orders", "Message": "…"})
    {'Type': 'Notification', 'MessageId': '22b8', 'TopicArn': 'arn:aws:sns:eu-west-1:1:orders'}
    """
    event_id = (_of(whole) if isinstance(whole, dict) else None) or ""
    kind = event_id.partition(":")[0]
    kept = {name: whole[name] for name in _READ.get(kind, ())}
    if not kept or any(not isinstance(value, str) or len(value) > MOST_ID_CHARS for value in kept.values()):
        return None
    return kept | ({"detail": {}} if kind == "eventbridge" else {})


def is_event_id(key: str) -> bool:
    """Tell whether a key was made of an event's id."""
    return key.startswith(("sns:", "eventbridge:", "s3:"))


def _of(whole: dict[str, Any]) -> str | None:
    if whole.get("Type") == "Notification" and "TopicArn" in whole:
        return _named("sns", whole.get("MessageId"))
    if "detail-type" in whole and "source" in whole and "detail" in whole:
        return _named("eventbridge", whole.get("id"))
    records = whole.get("Records")
    if isinstance(records, list) and len(records) == 1 and isinstance(records[0], dict):
        return _of_s3(records[0])
    return None


def _of_s3(record: dict[str, Any]) -> str | None:
    """Return the id of one S3 record: the sequencer tells the writes of one key apart, and of no other."""
    s3 = record.get("s3")
    bucket, item = (s3.get("bucket"), s3.get("object")) if isinstance(s3, dict) else (None, None)
    if record.get("eventSource") != "aws:s3" or not isinstance(bucket, dict) or not isinstance(item, dict):
        return None
    parts = (bucket.get("name"), item.get("key"), item.get("sequencer"), record.get("eventName"))
    if not all(isinstance(part, str) and part for part in parts):
        return None
    name, key, sequencer, what = parts
    return f"s3:{name}/{key}#{sequencer}:{what}"


def _named(kind: str, event_id: Any) -> str | None:
    return f"{kind}:{event_id}" if isinstance(event_id, str) and event_id else None
