"""What the console and the command line show of logs, saved: tables of query results, and lines that were tailed.

They name less than AWS keeps: often not the stream, sometimes not the group. Who asks a query for them gets both.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from forensics.parsers import parse_line
from forensics.sentence import said
from ingest import file_bytes, insights, tool_exports
from ingest.json_stream import BadJsonError, JsonStream, UnreadableValue
from ingest.line_times import LineClock, TimeUnclearError

TIME, MESSAGE, STREAM, GROUP, INGESTED = "@timestamp", "@message", "@logStream", "@log", "@ingestionTime"
COLUMNS = (TIME, MESSAGE, STREAM, GROUP, INGESTED)
QUERY = "fields @timestamp, @message, @logStream, @log | sort @timestamp asc"
"""The query whose results say all that is needed."""
_OF_VIEWER = {"timestamp": TIME, "message": MESSAGE, "logStreamName": STREAM, "ingestionTime": INGESTED}
"""Columns of the console's log events, which it downloads without ``@``."""
_ACCOUNT_AND_GROUP = re.compile(r"(?:(?P<account>\d{12}):)?(?P<group>.+)")
MOST_FIELD_CHARS = 2 * 1024**2
_TAILED = re.compile(
    r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) "
    r"(?P<stream>\d{4}/\d\d/\d\d/[^\s\[\]]*\[[^\s\[\]]+\][0-9a-f]{32}|[^\s/]+/[^\s/]+/[0-9a-f-]{32,36})"
    r"(?: (?P<text>.*))?",
    re.DOTALL,
)
"""A line of ``aws logs tail``: time, stream (Lambda's, or a container's), text."""

Event = Mapping[str, Any]
_PLATFORM = re.compile(r"RequestId|requestId")


class Told(NamedTuple):
    """An event shaped as from FilterLogEvents, its log group and account where it names them, or why it is no evidence."""

    event: Any
    log_group: str | None = None
    account_id: str | None = None
    reason: str | None = None
    is_gap: bool = False


def columns_of(head: str) -> list[str] | None:
    """Return the columns of a table of log events by its first line, as queries name them; None for any other text.

    >>> columns_of('timestamp,message\\n1795147920250,START RequestId')
    ['@timestamp', '@message']
    >>> columns_of("2026-11-20 05:12:00 INFO timestamp,message") is None
    True
    """
    first = head.split("\n", 1)[0].strip()
    try:
        names = next(csv.reader([first]), [])
    except csv.Error:
        return None
    queried = [_OF_VIEWER.get(name, name) for name in names] if set(names) <= _OF_VIEWER.keys() else names
    if {TIME, MESSAGE} <= set(queried):
        return queried
    return names if tool_exports.names_of(names) or TIME in names else None


def told_by_columns(columns: Sequence[str]) -> frozenset[str]:
    """Return what a table's columns tell of each event, as queries name it."""
    return frozenset({*columns, TIME, MESSAGE} if tool_exports.names_of(columns) else columns)


def is_tailed(line: str) -> bool:
    """Tell whether a line is one of ``aws logs tail``."""
    return _TAILED.match(line) is not None


def lacks_zone(head: str, columns: Sequence[str]) -> bool:
    """Tell whether the time in a table's first row does not say its zone."""
    row = dict(zip(columns, next(csv.reader(head.split("\n")[1:]), []), strict=False))
    if MESSAGE in row or (names := tool_exports.names_of(columns)) is None:
        return is_without_zone(row.get(TIME, ""))
    return isinstance(tool_exports.time_ms(row.get(names.time, ""), LineClock()), str)


def is_without_zone(time: str) -> bool:
    """Tell whether a time does not say its zone; milliseconds since 1970 do."""
    try:
        return not time.isdigit() and LineClock().read_ms(time) is None
    except TimeUnclearError:
        return True


def of_table(content: Iterator[str], log_stream: str, clock: LineClock) -> Iterator[Told]:
    """Read a table of events, the newest or the oldest first; a time that names no zone is in the clock's."""
    csv.field_size_limit(max(csv.field_size_limit(), MOST_FIELD_CHARS))
    lines = (f"{line}\n" for line in file_bytes.lines(content, MOST_FIELD_CHARS))
    header = columns_of(next(lines, "")) or []

    def events() -> Iterator[Told]:
        try:
            for row in csv.reader(lines):
                if row:
                    cells = dict(zip(header, row, strict=False))
                    yield (
                        _told(cells, log_stream, _time_of(cells.get(TIME), clock))
                        if MESSAGE in header
                        else _of_tool(cells, log_stream, clock)
                    )
        except csv.Error as problem:
            yield Told(None, reason=said("the table cannot be read: {problem}", problem=str(problem)), is_gap=True)

    yield from _in_order(events())


def of_reply(content: Iterator[str], log_stream: str, clock: LineClock) -> Iterator[Told]:
    """Read replies of GetQueryResults, whose times are UTC, and the console's tables in JSON, whose times are as in others."""
    documents = JsonStream(content)

    def events() -> Iterator[Told]:
        try:
            for key, value in documents.documents(frozenset({"results"})):
                if isinstance(value, UnreadableValue):
                    yield Told(value.text, reason=value.reason)
                elif key is None and isinstance(value, dict) and TIME in value:
                    yield _told(value, log_stream, _time_of(value[TIME], clock))
                elif key is not None:
                    fields = value if isinstance(value, list) else []
                    cells = {f.get("field"): f.get("value") for f in fields if isinstance(f, dict)}
                    yield _told(cells, log_stream, insights.epoch_ms(cells.get(TIME)))
        except BadJsonError as problem:
            yield Told(problem.text, reason=problem.sentence, is_gap=True)

    yield from _in_order(events())


def of_tool(content: Iterator[str], log_stream: str, clock: LineClock) -> Iterator[Told]:
    """Read the JSON that a log tool exported, the newest or the oldest event first."""

    def events() -> Iterator[Told]:
        try:
            for row in tool_exports.rows_in(content):
                if isinstance(row, UnreadableValue):
                    yield Told(row.text, reason=row.reason)
                else:
                    yield _of_tool(row, log_stream, clock)
        except BadJsonError as problem:
            yield Told(problem.text, reason=problem.sentence, is_gap=True)

    yield from _in_order(events())


def _of_tool(row: tool_exports.Row, log_stream: str, clock: LineClock) -> Told:
    event = tool_exports.told_by(row, log_stream, clock)
    if event is None:
        return Told(dict(row), reason=tool_exports.NO_EVENT)
    return Told(event)


def shows_runs(head: str) -> bool:
    """Tell whether a function's own runs are in a file, by its first lines."""
    return _PLATFORM.search(head) is not None


def do_runs_overlap(events: Iterable[Event]) -> bool:
    """Tell whether a run of a function starts while another is on, as lines of several streams in one do."""
    spans: dict[tuple[str, str], list[int]] = {}
    for event in events:
        text, at = event["message"], event["timestamp"]
        if not isinstance(text, str) or not isinstance(at, int) or not _PLATFORM.search(text):
            continue
        parsed = parse_line(text)
        if parsed.kind in ("start", "end", "report") and parsed.request_id:
            spans.setdefault((event["logStreamName"], parsed.request_id), []).append(at)
    reached: dict[str, int] = {}
    for start, end, stream in sorted((min(times), max(times), stream) for (stream, _), times in spans.items()):
        if start < reached.get(stream, -1):
            return True
        reached[stream] = max(reached.get(stream, -1), end)
    return False


def tailed_line(line: str) -> tuple[int, str, str] | None:
    """Return time (ms since 1970), stream and text of a line of ``aws logs tail``; None for a further line of an event.

    >>> tailed_line("2026-11-20T05:12:00.250000+00:00 orders/web/0123456789abcdef0123456789abcdef got 7")
    (1795151520250, 'orders/web/0123456789abcdef0123456789abcdef', 'got 7')
    """
    found = _TAILED.match(line)
    if found is None:
        return None
    at = LineClock().read_ms(found["time"])
    return None if at is None else (at, found["stream"], found["text"] or "")


def _time_of(text: str | None, clock: LineClock) -> int | str | None:
    """Return milliseconds since 1970 of a table's time; what is none comes back as it is."""
    at = insights.epoch_ms(text) if text and text.isdigit() else None
    if at is None and text:
        try:
            at = clock.read_ms(text)
        except TimeUnclearError:
            return text
    return text if at is None else at


def _told(said: Mapping[Any, Any], log_stream: str, at: int | str | None) -> Told:
    event = {"logStreamName": said.get(STREAM) or log_stream, "timestamp": at, "message": said.get(MESSAGE)}
    ingested = insights.epoch_ms(said.get(INGESTED))
    if isinstance(ingested, int):
        event["ingestionTime"] = ingested
    named = _ACCOUNT_AND_GROUP.fullmatch(str(said.get(GROUP) or ""))
    return Told(event, named["group"], named["account"]) if named else Told(event)


def _in_order(told: Iterable[Told]) -> Iterator[Told]:
    """Turn the events of each moment round where the newest stand first: within it they stand backwards, too."""
    first: list[Told] | None = None
    at: Any = None
    is_newest_first = False
    for moment, same in groupby(
        told, key=lambda one: one.event.get("timestamp") if isinstance(one.event, dict) else None
    ):
        block = list(same)
        if first is not None:
            is_newest_first = isinstance(at, int) and isinstance(moment, int) and moment < at
            yield from reversed(first) if is_newest_first else first
            first = None
        elif at is None:
            first, at = block, moment
            continue
        yield from reversed(block) if is_newest_first else block
    yield from first or ()
