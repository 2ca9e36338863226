"""Printed Lambda events in their commonest forms, found without the grammar.

What is in no such form is for the grammar. Values are taken as they are printed: whether the grammar would take them, too, is for the caller
to see.
"""

import re
from functools import lru_cache

from forensics.body_shape import body_shape
from forensics.parsers import app_lines, sqs_records
from forensics.parsers.printed_lists import PROBLEMS, PrintedRecord, listed
from forensics.streams.business_keys import BusinessKeys
from forensics.streams.model import LogGroup
from forensics.streams.shapes import SILENT, ask

_LIST = sqs_records.LIST.compiled
_PLAIN_PREFIX = re.compile(
    r"(?:\[[A-Z]{3,11}\]\t)?[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,15}Z\t[0-9a-f]{8}-[0-9a-f-]{27}\t(?:[A-Z]{3,11}\t)?(?=\{[\"']R)"
)
"""Python's and Node's own prefix, known without asking the grammar."""
_OPENINGS = ('{"Records": [', '{"Records":[', "{'Records': [")


def printed_records(line: str, group: LogGroup, keys: BusinessKeys) -> list[PrintedRecord] | None:
    """Return the records of a printed event, in their order; None where it is in no common form, or holds none."""
    try:
        records = _listed_in(line, group)
        queue_arn, key_in = None, None
        for record in records:
            if key_in is None or record.queue_arn != queue_arn:
                queue_arn = record.queue_arn
                key_in = keys.reader(queue_arn or None, group.queue_name)
            if record.body is not None:
                record.key = key_in(record.body)
            if not record.key:
                record.body_shape = _shape_of(record)
    except PROBLEMS:
        return None
    return records or None


def _shape_of(record: PrintedRecord) -> str | None:
    if record.attributes.deduplication_id is None:
        return None
    sent_ms = record.attributes.sent_ms
    return body_shape(record.body, int(sent_ms) if sent_ms else None)


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
    return listed(line[opened:end])


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
