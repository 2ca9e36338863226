"""Printed Lambda events in their commonest forms, JSON and Python's repr, read as a whole: ten times as fast as the grammar reads them.

What is in no such form is for the grammar. Values are taken as they are printed: whether the grammar would take them, too, is for the caller
to see.
"""

import ast
import re
from functools import lru_cache

import msgspec

from forensics.parsers import app_lines, sqs_records
from forensics.streams.business_keys import BusinessKeys
from forensics.streams.model import LogGroup
from forensics.streams.shapes import SILENT, ask

_LIST = sqs_records.LIST.compiled
_PLAIN_PREFIX = re.compile(
    r"(?:\[[A-Z]{3,11}\]\t)?[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,15}Z\t[0-9a-f]{8}-[0-9a-f-]{27}\t(?:[A-Z]{3,11}\t)?(?=\{[\"']R)"
)
"""Python's and Node's own prefix, known without asking the grammar."""
_OPENINGS = ('{"Records": [', '{"Records":[', "{'Records': [")


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
    """One record of a printed event, its values as they are printed; ``key`` is the business key of its body."""

    message_id: str = msgspec.field(name="messageId")
    receipt_handle: str = msgspec.field(name="receiptHandle")
    attributes: Attributes
    body: str | None = None
    body_md5: str | None = msgspec.field(name="md5OfBody", default=None)
    queue_arn: str | None = msgspec.field(name="eventSourceARN", default=None)
    key: str | None = None


_DECODE = msgspec.json.Decoder(list[PrintedRecord]).decode


def printed_records(line: str, group: LogGroup, keys: BusinessKeys) -> list[PrintedRecord] | None:
    """Return the records of a printed event, in their order; None where it is in no common form, or holds none."""
    try:
        records = _listed_in(line, group)
        for record in records:
            arn = record.queue_arn
            record.key = keys.key_of_body(record.body, arn.rpartition(":")[2] if arn else group.queue_name)
    except (
        msgspec.MsgspecError,
        LookupError,
        TypeError,
        AttributeError,
        ValueError,
        SyntaxError,
        RecursionError,
        MemoryError,
    ):
        return None
    return records or None


def _listed(text: str) -> list[PrintedRecord]:
    if "'" not in text[:3]:
        return _DECODE(text)
    return msgspec.convert(ast.literal_eval(text), list[PrintedRecord])


def _listed_in(line: str, group: LogGroup) -> list[PrintedRecord]:
    """Return the records of a printed event; raises where it is in no common form."""
    prefix = _PLAIN_PREFIX.match(line)
    begin = prefix.end() if prefix else 0
    opened = line.find("[", begin, begin + 16)
    if line[begin : opened + 1] not in _OPENINGS:
        begin, opened = _opening(line, group)
    end = line.rindex("}]") + 2
    if line[end:].strip("} \t\r\n"):
        raise ValueError
    return _listed(line[opened:end])


def _opening(line: str, group: LogGroup) -> tuple[int, int]:
    """Return where an event begins whose line begins otherwise, and its bracket; ValueError unless it says nothing before it."""
    begin = _LIST.search(line)
    if begin is None or not _is_silent(_without_prefix(line[: begin.start()]), group):
        raise ValueError
    return begin.start(), begin.end() - 1


def _without_prefix(before: str) -> str:
    return before if before[:1] == "{" else before[len(app_lines.PREFIX.find(before) or "") :]


@lru_cache(maxsize=10_000)
def _is_silent(before: str, group: LogGroup) -> bool:
    """Tell that what stands between a line's prefix and its event says nothing; a JSON line has nothing there at all."""
    if before.strip() in ('{"R', "{'R"):
        return True
    return "{" not in before.rstrip("{\"'R ") and ask(before, group) == SILENT
