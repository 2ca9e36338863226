"""Lists of SQS records in their commonest forms, JSON and Python's repr, read as a whole: ten times as fast as by patterns.

What is in no such form, or holds a value that the patterns of ``sqs_records`` might read otherwise, is for those.
"""

import ast
import re

import msgspec

from forensics.parsers.grammar import UUID


class Attributes(msgspec.Struct, gc=False):
    """What SQS says of a message that it hands out; each None where it is not printed."""

    receive_count: str | None = msgspec.field(name="ApproximateReceiveCount", default=None)
    sent_ms: str | None = msgspec.field(name="SentTimestamp", default=None)
    first_receive_ms: str | None = msgspec.field(name="ApproximateFirstReceiveTimestamp", default=None)
    group_id: str | None = msgspec.field(name="MessageGroupId", default=None)
    deduplication_id: str | None = msgspec.field(name="MessageDeduplicationId", default=None)
    dead_letter_source_arn: str | None = msgspec.field(name="DeadLetterQueueSourceArn", default=None)
    sender_id: str | None = msgspec.field(name="SenderId", default=None)


class PrintedRecord(msgspec.Struct, gc=False):
    """One record of a printed event, its values as they are printed; ``key`` is the business key of its body, ``body_shape`` what is
    left of one without a key that may be sent again under its deduplication id."""

    message_id: str = msgspec.field(name="messageId")
    receipt_handle: str = msgspec.field(name="receiptHandle")
    attributes: Attributes
    body: str | None = None
    body_md5: str | None = msgspec.field(name="md5OfBody", default=None)
    queue_arn: str | None = msgspec.field(name="eventSourceARN", default=None)
    key: str | None = None
    body_shape: str | None = None


_TEXT = r"[A-Za-z0-9_.:/@+=#-]{1,300}"
_ARN = r"arn:[A-Za-z0-9_.:/@+=#-]{1,300}"
OF_RECORD = {
    "message_id": UUID,
    "receipt_handle": r"[A-Za-z0-9+/=~_.-]+",
    "body_md5": r"[0-9a-fA-F]{32}",
    "queue_arn": _ARN,
}
OF_ATTRIBUTES = {
    "receive_count": r"[0-9]{1,9}",
    "sent_ms": r"[0-9]{1,14}",
    "first_receive_ms": r"[0-9]{1,14}",
    "group_id": _TEXT,
    "deduplication_id": _TEXT,
    "dead_letter_source_arn": _ARN,
    "sender_id": _TEXT,
}
"""What the whole of a printed value must look like to be read as the patterns would read it."""

PROBLEMS = (
    msgspec.MsgspecError,
    LookupError,
    TypeError,
    AttributeError,
    ValueError,
    SyntaxError,
    RecursionError,
    MemoryError,
)
"""What a text in no common form raises."""

_DECODE = msgspec.json.Decoder(list[PrintedRecord]).decode
_OF_RECORD, _OF_ATTRIBUTES = (
    [(name, re.compile(rule).fullmatch) for name, rule in rules.items()] for rules in (OF_RECORD, OF_ATTRIBUTES)
)


def listed(text: str) -> list[PrintedRecord]:
    """Return the records of a printed list, from its bracket to its bracket; raises one of PROBLEMS."""
    if "'" not in text[:3]:
        return _DECODE(text)
    return msgspec.convert(ast.literal_eval(text), list[PrintedRecord])


def is_plain(record: PrintedRecord) -> bool:
    """Tell whether the patterns would read the same values."""
    for said, rules in ((record, _OF_RECORD), (record.attributes, _OF_ATTRIBUTES)):
        for name, fits in rules:
            value = getattr(said, name)
            if value is not None and fits(value) is None:
                return False
    return True
