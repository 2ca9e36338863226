"""Files to log events: one reader per form, each yielding events shaped as FilterLogEvents gives them."""

import base64
import binascii
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from forensics.clock import EPOCH
from forensics.sentence import said
from ingest import file_bytes
from ingest.file_forms import Form, FoundFile
from ingest.json_stream import BadJsonError, JsonStream, UnreadableValue
from ingest.line_times import LineClock, TimeUnclearError, of_container, without_driver_prefix
from ingest.query_results import of_reply, of_table, of_tool, tailed_line
from ingest.time_forms import syslog_prefix
from ingest.twins import FROM_FILE

MOST_EVENT_CHARS = 1024**2
"""CloudWatch Logs takes no event larger than 1 MB."""
MOST_LINE_CHARS = MOST_EVENT_CHARS + 256
"""The time that files put before an event does not count."""
CONTROL_MESSAGE = "CONTROL_MESSAGE"

_EXPORT_START = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3})Z ?")
_NEXT_DELIVERY = '{"messageType"'


class FileEvent(NamedTuple):
    """One event of a file. ``log_group`` and ``account_id`` are None where the file does not name them.

    ``reason`` says why it cannot be evidence; ``event`` is then what was found, else a dict as from FilterLogEvents.
    ``is_gap``: what follows in the file could not be read either. ``line_number`` is the line it begins in, from 1, where
    lines are read.
    """

    event: Any
    log_group: str | None = None
    account_id: str | None = None
    reason: str | None = None
    is_gap: bool = False
    line_number: int | None = None


def read_events(
    found: FoundFile, zone: ZoneInfo | None = None, heard: Callable[[int], None] = lambda byte_count: None
) -> Iterator[FileEvent]:
    """Yield every event of a file in its order; raises FileDamagedError or FileTooLargeError after what is good."""
    file_bytes.check_size(found.path)
    content = file_bytes.texts(file_bytes.pieces(found.path, heard))
    if found.form is Form.EXPORT:
        yield from exported(content, found.log_stream)
    elif found.form is Form.DELIVERY:
        yield from delivered(content)
    elif found.form is Form.SAVED_EVENTS:
        yield from saved(content, found.log_stream)
    elif found.form is Form.TABLE:
        yield from (FileEvent(*told) for told in of_table(content, found.log_stream, LineClock(zone)))
    elif found.form is Form.QUERY_REPLY:
        yield from (FileEvent(*told) for told in of_reply(content, found.log_stream, LineClock(zone)))
    elif found.form is Form.TOOL_EXPORT:
        yield from (FileEvent(*told) for told in of_tool(content, found.log_stream, LineClock(zone)))
    elif found.form is Form.TAILED:
        yield from tailed(content)
    elif found.form is Form.WORKER_LOG:
        yield from written(content, found.log_stream, LineClock(zone, found.hints))


def exported(content: Iterator[str], log_stream: str) -> Iterator[FileEvent]:
    """Read an object of an export task: a time before each event, none before its further lines."""

    def start(line: str) -> Begun | None:
        found = _EXPORT_START.match(line)
        if not found:
            return None
        try:
            moment = datetime.fromisoformat(found[1]).replace(tzinfo=UTC)
        except ValueError:
            return None
        return (moment - EPOCH) // timedelta(milliseconds=1), log_stream, line[found.end() :]

    yield from _of_lines(content, start)


def tailed(content: Iterator[str]) -> Iterator[FileEvent]:
    """Read what ``aws logs tail`` printed: time, stream and text, none before an event's further lines."""
    yield from _of_lines(content, tailed_line)


def written(content: Iterator[str], log_stream: str, clock: LineClock) -> Iterator[FileEvent]:
    """Read a plain log: a line with a time begins an event, others belong to the one above.

    Of several containers' lines, printed together, each container's are a stream; of syslog's each process's.
    """

    def start(line: str) -> Begun | None:
        container, line = of_container(line)
        try:
            stamp_ms = clock.read_ms(line)
        except TimeUnclearError:
            return None
        if stamp_ms is None:
            return None
        if prefix := syslog_prefix(line):
            container, line = prefix.writer or container, line[prefix.end :]
        stream = log_stream if container is None else FROM_FILE + container
        return stamp_ms, stream, _without_driver_json(without_driver_prefix(line))

    yield from _of_lines(content, start, lambda line: of_container(line)[1])


def saved(content: Iterator[str], log_stream: str) -> Iterator[FileEvent]:
    """Read saved replies of FilterLogEvents or GetLogEvents; the latter do not name their stream."""
    documents = JsonStream(content)
    try:
        for key, value in documents.documents(frozenset({"events"})):
            if isinstance(value, UnreadableValue):
                yield FileEvent(value.text, reason=value.reason)
                continue
            if key is None and not (isinstance(value, dict) and {"timestamp", "message"} <= set(value)):
                continue  # what is left of a reply without its events
            yield FileEvent({"logStreamName": log_stream, **value} if isinstance(value, dict) else value)
    except BadJsonError as problem:
        yield FileEvent(problem.text, reason=problem.sentence, is_gap=True)


def delivered(content: Iterator[str]) -> Iterator[FileEvent]:
    """Read batches that a subscription delivered, one document after another; control messages are left out.

    A damaged one is one piece of poison, and reading goes on at the next.
    """
    documents = JsonStream(content)
    while True:
        try:
            for _, document in documents.documents():
                if isinstance(document, UnreadableValue):
                    yield FileEvent(document.text, reason=document.reason)
                else:
                    yield from _of_delivery(document)
            return
        except BadJsonError as problem:
            yield FileEvent(problem.text, reason=problem.sentence, is_gap=True)
            if not documents.skip_to(_NEXT_DELIVERY):
                return


def _of_delivery(document: Any) -> Iterator[FileEvent]:
    if isinstance(document, dict) and set(document) == {"awslogs"}:
        yield from _of_lambda_event(document["awslogs"])
        return
    if isinstance(document, dict) and document.get("messageType") == CONTROL_MESSAGE:
        return
    named = isinstance(document, dict) and isinstance(document.get("logEvents"), list)
    if not named or not all(isinstance(document.get(k), str) and document[k] for k in ("logGroup", "logStream")):
        yield FileEvent(document, reason="the document is no batch of log events that names its group and stream")
        return
    owner = document.get("owner")
    account_id = owner if isinstance(owner, str) and re.fullmatch(r"\d{12}", owner) else None
    for event in document["logEvents"]:
        if isinstance(event, dict):
            event = {
                "logStreamName": document["logStream"],
                "timestamp": event.get("timestamp"),
                "message": event.get("message"),
                "eventId": event.get("id"),
            }
        yield FileEvent(event, document["logGroup"], account_id)


def _of_lambda_event(data: Any) -> Iterator[FileEvent]:
    """Read what a function that is subscribed to a log group gets: base64 of gzip of one batch."""
    try:
        unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
        text = unpacker.decompress(base64.b64decode(data["data"], validate=True), 64 * 1024**2)
    except (KeyError, TypeError, ValueError, binascii.Error, zlib.error) as problem:
        yield FileEvent(data, reason=said("the data is not base64 of gzip: {problem}", problem=str(problem)))
        return
    yield from delivered(iter([text.decode("utf-8", "surrogateescape")]))


Begun = tuple[int, str, str]
"""What a line that begins an event tells: its time (ms since 1970), log stream and text."""


def _of_lines(
    content: Iterator[str], start: Callable[[str], Begun | None], further: Callable[[str], str] = str
) -> Iterator[FileEvent]:
    """Gather lines into events: ``start`` tells of a line that begins one, None of any other, which ``further`` goes on with as."""
    stamp_ms: int | None = None
    log_stream = ""
    gathered: list[str] = []
    held_chars = 0
    begun_in = 1
    end: Iterable[str | None] = (None,)
    for number, line in enumerate(chain(file_bytes.lines(content, MOST_LINE_CHARS), end), 1):
        begun = start(line) if line is not None else None
        if line is not None and begun is None:
            if gathered or line.strip():
                begun_in = begun_in if gathered else number
                held_chars += len(line) + 1
                if held_chars <= 2 * MOST_EVENT_CHARS:
                    gathered.append(further(line))
            continue
        if gathered:
            yield _event(stamp_ms, "\n".join(gathered).rstrip(), held_chars, log_stream, begun_in)
        if begun is not None:
            begun_in = number
            stamp_ms, log_stream, text = begun
            gathered, held_chars = [text], len(text)


def _event(stamp_ms: int | None, text: str, held_chars: int, log_stream: str, number: int) -> FileEvent:
    if stamp_ms is None:
        return FileEvent(text, reason="no line with a time stands above these lines", line_number=number)
    if held_chars > MOST_EVENT_CHARS:
        return FileEvent(
            text, reason=said("the event is longer than {n} characters", n=MOST_EVENT_CHARS), line_number=number
        )
    return FileEvent({"logStreamName": log_stream, "timestamp": stamp_ms, "message": text}, line_number=number)


_DRIVER_JSON = re.compile(r'\{"log": ?"')


def _without_driver_json(line: str) -> str:
    """Take the text out of a line that Docker's json-file driver wrapped."""
    if not _DRIVER_JSON.match(line):
        return line
    try:
        ((_, wrapped),) = JsonStream(iter([line])).documents()
    except (BadJsonError, ValueError):
        return line
    text = wrapped.get("log") if isinstance(wrapped, dict) and "time" in wrapped else None
    return text.rstrip("\n") if isinstance(text, str) else line
