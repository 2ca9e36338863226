"""What a file holds, told from its first bytes and its path: nobody has to say it."""

import json
import os
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from ingest import file_bytes, tool_exports
from ingest.line_times import LineClock, TimeUnclearError, of_container
from ingest.query_results import (
    COLUMNS,
    GROUP,
    MESSAGE,
    STREAM,
    TIME,
    columns_of,
    is_tailed,
    is_without_zone,
    lacks_zone,
    told_by_columns,
)
from ingest.time_forms import TimeHints
from ingest.twins import FROM_FILE


class Form(StrEnum):
    """The kinds of file that can be imported."""

    EXPORT = "CloudWatch export"
    DELIVERY = "subscription delivery"
    SAVED_EVENTS = "saved log events"
    TABLE = "table of log events"
    QUERY_REPLY = "query results"
    TAILED = "tailed log"
    TOOL_EXPORT = "export of a log tool"
    SETTINGS = "saved settings"
    RECORDS = "saved records"
    GUARD_TABLE = "idempotency table"
    WORKER_LOG = "worker log"
    NOTHING = "with nothing to import"
    UNKNOWN = "unknown"

    def of(self, count: int) -> str:
        """Return what so many files of it are called."""
        return self.value if count == 1 else _PLURALS.get(self, self.value)


_PLURALS = {
    Form.EXPORT: "CloudWatch exports",
    Form.DELIVERY: "subscription deliveries",
    Form.TABLE: "tables of log events",
    Form.TAILED: "tailed logs",
    Form.TOOL_EXPORT: "exports of a log tool",
    Form.GUARD_TABLE: "idempotency tables",
    Form.WORKER_LOG: "worker logs",
}
"""What several files of a form are called, where that is another word."""


@dataclass(frozen=True)
class FoundFile:
    """One file: where it is, what it is called inside what the person named, and what it holds.

    ``lacks_zone``: its times do not say their zone. ``log_stream`` is what the path says, for forms that do not name it;
    ``columns`` are those of a table or a query, as queries name them; ``damage`` says why nothing of it can be read;
    ``is_archive``: other files are packed in it; ``hints`` are what its lines tell of times that do not say all.
    """

    path: Path
    name: str
    form: Form
    log_stream: str = ""
    lacks_zone: bool = False
    columns: frozenset[str] = frozenset()
    damage: str | None = None
    is_archive: bool = False
    hints: TimeHints = TimeHints()

    @property
    def size_bytes(self) -> int:
        """Bytes on the disk."""
        return self.path.stat().st_size

    @property
    def names_no_group(self) -> bool:
        """Tell whether its events do not say which log group they are from."""
        if self.form in (Form.TABLE, Form.QUERY_REPLY):
            return GROUP not in self.columns
        return self.form in (Form.EXPORT, Form.SAVED_EVENTS, Form.WORKER_LOG, Form.TAILED, Form.TOOL_EXPORT)

    @property
    def names_stream(self) -> bool:
        """Tell whether it says of every event which stream it is from; of saved replies each event may."""
        return self.form in (Form.EXPORT, Form.DELIVERY, Form.TAILED) or STREAM in self.columns


EXPORT_SUMMARY = "manifest-summary.json"
"""What DynamoDB says of a whole export, beside its files."""
WRITE_TEST = "aws-logs-write-test"
"""What an export task puts beside its objects to see whether it may write."""
_EXPORT_PATH = re.compile(r"(?:^|/)(?P<stream>[^/]+)/\d{6}(?:\.gz)?$")
_EXPORT_LINE = re.compile(r"\s*\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ")
_EXPORTED_RUN = re.compile(
    r"(?m)^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z "
    r"(?:(?:START|END|REPORT) RequestId: |INIT_START |\{\"time\":\"[^\"]+\",\"type\":\"platform\.)"
)
_LAMBDA_STREAM = re.compile(r"(\d{4})-(\d\d)-(\d\d)-([^\[\]/]*\[[^\[\]]+\][0-9a-f]{32})")
_SETTINGS_KEYS = {"Attributes", "EventSourceMappings", "Configuration", "EventSourceArn", "FunctionArn"}
_EVENT_KEYS = {"timestamp", "message", "ingestionTime", "logStreamName", "eventId"}
_TYPED = re.compile(r'"Items"\s*:\s*\[\s*(?:\]|\{\s*"[^"]+"\s*:\s*\{\s*"(?:S|N|B|BOOL|M|L|NULL|SS|NS|BS)"\s*:)')
"""Items as DynamoDB writes them: each value under its type."""
_TOP_KEY = re.compile(r'"([A-Za-z]+)"\s*:')
_PACKED = tuple(
    magic.decode("utf-8", "surrogateescape")
    for magic in (b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf\x27\x1c")
)
"""How gzip inside gzip, ZIP, bzip2, xz, zstd and 7z begin; of a tar file the name of its form stands further in."""
_SUFFIXES = (".gz", ".json", ".jsonl", ".log", ".txt", ".csv")


def recognise(path: Path, name: str) -> FoundFile:
    """Look at the head of a file; raises OSError if it cannot be read.

    ``name`` is the path below what the person named: a stream's name is in it.
    """
    if path.name == WRITE_TEST:
        return FoundFile(path, name, Form.NOTHING)
    try:
        head = file_bytes.head(path)
    except file_bytes.FileDamagedError as problem:
        return FoundFile(path, name, Form.UNKNOWN, damage=problem.sentence)
    text = head.lstrip()
    if not text:
        return FoundFile(path, name, Form.NOTHING if path.stat().st_size < 64 else Form.UNKNOWN)
    if head.startswith(_PACKED) or head[257:262] == "ustar":
        return FoundFile(path, name, Form.UNKNOWN, is_archive=True)
    if _EXPORT_LINE.match(head):
        if exported := _EXPORT_PATH.search(utf8_name(path)):
            return FoundFile(path, name, Form.EXPORT, exported_stream(exported["stream"]))
        if _EXPORTED_RUN.search(head):  # taken out of its folder
            return FoundFile(path, name, Form.EXPORT, _stream_of(name))
    if text[0] in "{[" and (form := _json_form(text)):
        columns = frozenset(c for c in COLUMNS if f'"{c}"' in head) if form is Form.QUERY_REPLY else frozenset()
        first = _first_object(text) if form is Form.QUERY_REPLY else None
        without_zone = first is not None and is_without_zone(str(first.get(TIME, "0")))
        return FoundFile(path, name, form, _stream_of(name), without_zone, columns)
    if text[0] in "{[" and tool_exports.is_export(text):
        return FoundFile(path, name, Form.TOOL_EXPORT, _stream_of(name), tool_exports.lacks_zone(text))
    if columns_told := columns_of(text):
        without_zone = lacks_zone(text, columns_told)
        return FoundFile(path, name, Form.TABLE, _stream_of(name), without_zone, told_by_columns(columns_told))
    if is_tailed(text):
        return FoundFile(path, name, Form.TAILED, _stream_of(name))
    if _is_binary(head):
        return FoundFile(path, name, Form.UNKNOWN)
    return _worker_log(path, name, head)


def utf8_name(path: Path) -> str:
    """Return a path as text; bytes that are not UTF-8, which no name of a stream may hold, as escapes."""
    return os.fsencode(path.as_posix()).decode("utf-8", "backslashreplace")


def exported_stream(folder: str) -> str:
    """Return a log stream's name from its folder in an export, where each "/" became "-".

    Lambda's names can be told again; of others the folder's name is kept.

    >>> exported_stream("2022-01-18-[$LATEST]2f2faf726d06475489c93fe6f5a69d21")
    '2022/01/18/[$LATEST]2f2faf726d06475489c93fe6f5a69d21'
    """
    return "/".join(found.groups()) if (found := _LAMBDA_STREAM.fullmatch(folder)) else folder


def _json_form(text: str) -> Form | None:
    """Tell saved replies and deliveries from a worker's JSON lines by the keys of their first object."""
    first = _first_object(text)
    keys = set(first) if first is not None else set(_TOP_KEY.findall(text[:4096]))
    if {"messageType", "logEvents"} <= keys or {"messageType", "logGroup"} <= keys or keys == {"awslogs"}:
        return Form.DELIVERY
    if keys & {"dataFileS3Key"}:  # which files an export of a table has
        return Form.NOTHING
    if text[0] == "[" and {TIME, MESSAGE} <= keys:
        return Form.QUERY_REPLY
    if "results" in keys and '"field"' in text[:8192] and '"@' in text[:8192]:
        return Form.QUERY_REPLY
    if _are_items(keys, text):
        return Form.GUARD_TABLE
    if _are_records(keys, text):
        return Form.RECORDS
    if "events" in keys and not (first and tool_exports.is_own_line(first)):
        return Form.SAVED_EVENTS
    if text[0] == "[" and {"timestamp", "message"} <= keys <= _EVENT_KEYS:
        return Form.SAVED_EVENTS
    if keys & _SETTINGS_KEYS and not keys & {"message", "msg", "level"}:
        return Form.SETTINGS
    if first is not None and not first and text.strip() == "{}":
        return Form.NOTHING
    return None


def _are_items(keys: set[str], text: str) -> bool:
    """Tell items of a DynamoDB table, and what describes it or its export, by their keys."""
    if "Items" in keys or '"Items"' in text[:256]:
        return '"ScannedCount"' in text or _TYPED.search(text[:8192]) is not None
    return (
        keys in ({"Item"}, {"TimeToLiveDescription"})
        or {"Keys", "Metadata"} <= keys
        or {"tableArn", "exportArn"} <= keys
    )


def _are_records(keys: set[str], text: str) -> bool:
    """Tell metrics, CloudTrail events, CloudTrail Lake's answers, events of ECS and move tasks by their keys."""
    if {"detail-type", "source", "detail"} <= keys:
        return True
    if keys & {"metric_stream_name", "MetricDataResults", "QueryResultRows"} or {"metric_name", "dimensions"} <= keys:
        return True
    head = text[:8192]
    if "Events" in keys:
        return '"CloudTrailEvent"' in head
    if "Records" in keys:
        return '"eventID"' in head and '"eventVersion"' in head and '.amazonaws.com"' in head
    return "Results" in keys and '"SourceArn"' in head


def _first_object(text: str) -> dict[str, Any] | None:
    try:
        found, _ = json.JSONDecoder().raw_decode(text.lstrip("[ \r\n\t"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _worker_log(path: Path, name: str, head: str) -> FoundFile:
    clock = LineClock()
    if tool_exports.holds_times_in_lists_alone(head):
        return FoundFile(path, name, Form.UNKNOWN)
    for line in head.split("\n"):
        try:
            if clock.read_ms(of_container(line)[1]) is not None:
                return FoundFile(path, name, Form.WORKER_LOG, _stream_of(name))
        except TimeUnclearError:
            return FoundFile(path, name, Form.WORKER_LOG, _stream_of(name), lacks_zone=True)
    return FoundFile(path, name, Form.UNKNOWN)


def _stream_of(name: str) -> str:
    """Return a stream's name for a file; the parts that a log was rotated into are one stream.

    >>> _stream_of("host-1/worker.log.2.gz"), _stream_of("host-1/worker.log")
    ('file:host-1/worker', 'file:host-1/worker')
    """
    name = re.sub(r"(?<=\.log)[.-]\d{1,8}(?=(?:\.gz)?$)", "", name)
    while name.endswith(_SUFFIXES):
        name = name[: name.rindex(".")]
    return FROM_FILE + name


def _is_binary(head: str) -> bool:
    sample = head[:4096]
    odd = sum(c == "\0" or "\udc80" <= c <= "\udcff" for c in sample)
    return odd * 10 > len(sample)
