"""What other log tools export: Datadog, Elastic and Kibana, Grafana and Loki, journald, New Relic, OpenTelemetry, Splunk.

Each keeps an event as fields of which one is its time, one its text and one the machine it came from, in names of its own.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from forensics.clock import MONTHS
from forensics.parsers import parse_line
from ingest.json_stream import REST, BadJsonError, JsonStream, UnreadableValue
from ingest.line_times import TIME_FIELDS, LineClock, TimeUnclearError, epoch_ms
from ingest.twins import FROM_FILE

TIMES = (
    "@timestamp",
    "timestamp",
    "_time",
    "date",
    *(name.lower() for name in TIME_FIELDS),
    "__realtime_timestamp",
    "timeunixnano",
    "observedtimeunixnano",
)
TEXTS = ("@message", "message", "_raw", "content", "line", "body", "msg", "log", "text")
SOURCES = (
    "kubernetes.pod.name",
    "kubernetes.pod_name",
    "pod_name",
    "pod",
    "host.name",
    "hostname",
    "host",
    "_hostname",
    "host.hostname",
    "instance",
)
STREAMS = (
    "@logstream",
    "logstreamname",
    "logstream",
    "log_stream",
    "aws.awslogs.logstream",
    "awscloudwatch.log_stream",
    "aws.cloudwatch.log_stream",
)
"""Names of fields, the surest first, in lower case; the last are CloudWatch's own streams."""
WALKED = frozenset({"hits", "data", "result", "results", "resourceLogs", "logs", "events"})
"""Keys of documents whose arrays hold events, at whatever depth."""
_OF_THE_TOOL = re.compile(
    r"(?:_.*|@version|@log\w*|@ingestionTime|agent|ecs|host|hostname|input|kubernetes|container|cloud|stream|tags?|ddtags|ddsource|event|"
    r"data_stream|service|source|sourcetype|index|linecount|splunk_server|punct|level|levelname|log\.level|severity\w*|status|"
    r"labels?|labeltypes|id|ts_?ns|tsns|date|priority|syslog_.*|code_.*|tid|message_id|invocation_id|unit|entity\..*|"
    r"newrelic\..*|plugin\..*|droppedattributescount|flags|traceid|spanid|observedtimeunixnano|scope|resource\..*|fields|sort)"
    r"(?:\..*)?",
    re.IGNORECASE,
)
"""Fields that say where an event came from, and nothing that its writer said."""
NO_EVENT = "no field of it is a time, or none a text"
_EMPTY = (None, "", "-", "(null)")
_KIBANA_TIME = re.compile(r"([A-Z][a-z]{2}) (\d{1,2}), (\d{4}) @ (\d\d:\d\d:\d\d(?:\.\d{1,9})?)")
_MOST_DEEP = 6
_LATEST = 1e19
"""No time in nanoseconds is as large; NaN and what lies before 1970 are none either."""
_PLATFORM = frozenset({"start", "end", "report"})

Row = Mapping[str, Any]


class Names(NamedTuple):
    """Which of an event's fields are its time, its text, the machine it came from and its stream in CloudWatch."""

    time: str
    text: str
    source: str | None
    stream: str | None


def names_of(fields: Iterable[str]) -> Names | None:
    """Tell the fields of an event by their names; None where time or text is missing.

    >>> names_of(["Date", "Host", "Service", "Message"])
    Names(time='Date', text='Message', source='Host', stream=None)
    """
    by_lower = {name.lower(): name for name in reversed(list(fields))}
    time, text, source, stream = (
        next((by_lower[n] for n in of if n in by_lower), None) for of in (TIMES, TEXTS, SOURCES, STREAMS)
    )
    return None if time is None or text is None else Names(time, text, source, stream)


def told_by(row: Row, log_stream: str, clock: LineClock) -> dict[str, Any] | None:
    """Return an event shaped as from FilterLogEvents; None if the fields hold no time or no text.

    What the writer said in fields of its own stands behind its text, as JSON: an id may stand there and nowhere else. A time
    that cannot be read comes as it is.
    """
    names = names_of(row)
    if names is None or (text := row[names.text]) is None:
        return None
    if isinstance(text, list):  # bytes, where the text is not UTF-8
        text = bytes(b for b in text if isinstance(b, int) and 0 <= b < 256).decode("utf-8", "replace")
    if not isinstance(text, str):
        text = json.dumps(text, ensure_ascii=False)
    text = text.rstrip("\n")
    said = {
        name: value
        for name, value in row.items()
        if name not in names and value not in _EMPTY and not _OF_THE_TOOL.fullmatch(name) and name.lower() not in TIMES
    }
    if said and names.text.lower() not in ("_raw", "line") and not _is_whole(text):
        text = f"{text} {json.dumps(said, ensure_ascii=False, separators=(',', ':'))}"
    return {
        "logStreamName": _stream_of(row, names) or log_stream,
        "timestamp": time_ms(row[names.time], clock),
        "message": text,
    }


def _stream_of(row: Row, names: Names) -> str | None:
    for name, lead in ((names.stream, ""), (names.source, FROM_FILE)):
        value = row[name] if name else None
        if isinstance(value, str) and value not in _EMPTY:
            return lead + value
    return None


def time_ms(value: Any, clock: LineClock) -> Any:
    """Return milliseconds since 1970 of a time as text or number; what cannot be read comes back as it is.

    >>> time_ms("1795147920250000000", LineClock()), time_ms(1795147920, LineClock()), time_ms("soon", LineClock())
    (1795147920250, 1795147920000, 'soon')
    """
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _LATEST:
        return epoch_ms(value)
    if not isinstance(value, str):
        return value
    if re.fullmatch(r"\d{9,19}(?:\.\d{1,9})?", value):
        return epoch_ms(float(value) if "." in value else int(value))
    if found := _KIBANA_TIME.fullmatch(value):
        month, day, year, time = found.groups()
        if month in MONTHS:
            value = f"{year}-{MONTHS.index(month) + 1:02d}-{int(day):02d} {time}"
    try:
        at = clock.read_ms(value)
    except TimeUnclearError:
        return value
    return value if at is None else at


def rows_in(content: Iterator[str]) -> Iterator[Row | UnreadableValue]:
    """Yield the events in documents of a tool, as flat fields; a document or item without any as an UnreadableValue.

    Raises BadJsonError where the text is not JSON from there on.
    """
    is_empty = True
    for key, value in JsonStream(content).documents(WALKED):
        if isinstance(value, UnreadableValue):
            yield value
            continue
        rows = list(_rows_of(value))
        yield from rows
        is_rest = key is not None and key.endswith(REST)
        if not rows and not is_rest and (key is not None or is_empty):
            yield UnreadableValue(NO_EVENT, json.dumps(value, ensure_ascii=False))
        is_empty = key is None or (is_empty and is_rest and not rows)


def is_export(text: str) -> bool:
    """Tell by the head of a file whether it holds events that a log tool exported, and no JSON lines of a worker's own.

    A worker's line is one object that holds its time and text itself.
    """
    first = next(_readable(text), None)
    if first is None:
        return False
    try:
        whole, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return True
    return not (isinstance(whole, dict) and is_own_line(whole))


def is_own_line(whole: dict[str, Any]) -> bool:
    """Tell whether an object is a line of a worker's, whatever else it holds."""
    return names_of(flat(whole)) is not None and not _is_wrapped(whole)


def holds_times_in_lists_alone(text: str) -> bool:
    """Tell whether a file's first line is one document about many events, in a form that is not known: no line of a log."""
    try:
        whole, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return False
    if not isinstance(whole, dict):
        return False
    fields = flat(whole)
    is_dated = any(name.rpartition(".")[2].lower() in TIMES for name in fields)
    return not is_dated and any(isinstance(v, list) and any(isinstance(i, dict) for i in v) for v in fields.values())


def lacks_zone(text: str) -> bool:
    """Tell whether the time of the first event does not say its zone."""
    first = next(_readable(text), None)
    names = names_of(first) if first else None
    return first is not None and names is not None and isinstance(time_ms(first[names.time], LineClock()), str)


def _readable(text: str) -> Iterator[Row]:
    try:
        yield from (row for row in rows_in(iter([text])) if isinstance(row, Mapping))
    except BadJsonError:
        return


def _rows_of(value: Any) -> Iterator[Row]:
    """Yield the events of an array's item or of a whole document."""
    if not isinstance(value, dict):
        return
    if isinstance(value.get("scopeLogs"), list):
        yield from _of_telemetry(value)
    elif "timeUnixNano" in value and isinstance(value.get("attributes"), list):
        yield _of_record(value)
    elif isinstance(several := value.get("events"), list):
        yield from (row for one in several for row in _rows_of(one))
    elif isinstance(value.get("stream"), dict) and isinstance(value.get("values"), list):
        for pair in value["values"]:
            if isinstance(pair, list) and len(pair) >= 2:
                yield {**flat(value["stream"]), "timestamp": pair[0], "line": pair[1]}
    elif isinstance(value.get("line"), str) and isinstance(labels := value.get("labels", value.get("fields")), dict):
        yield {**flat(labels), "timestamp": value.get("timestamp"), "line": value["line"]}
    else:
        row = flat(_unwrapped(value))
        if names_of(row):
            yield row


def _of_telemetry(resource: Mapping[str, Any]) -> Iterator[Row]:
    of_resource = _attributes(resource.get("resource"))
    names = [of_resource[name] for name in ("k8s.pod.name", "host.name") if name in of_resource]
    source = {"host.name": names[0]} if names else {}
    for scope in resource["scopeLogs"]:
        for record in scope.get("logRecords", ()) if isinstance(scope, dict) else ():
            if isinstance(record, dict):
                yield {**source, **_of_record(record)}


def _of_record(record: Mapping[str, Any]) -> Row:
    rest = {k: v for k, v in record.items() if k not in ("attributes", "body")}
    return {**rest, **_attributes(record), "body": _plain(record.get("body"))}


def _attributes(of: Any) -> dict[str, Any]:
    listed = of.get("attributes") if isinstance(of, dict) else None
    pairs = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    return {str(one.get("key")): _plain(one.get("value")) for one in pairs}


def _plain(value: Any) -> Any:
    """Return a value that OpenTelemetry wrote under its type."""
    return next(iter(value.values())) if isinstance(value, dict) and len(value) == 1 else value


def _unwrapped(value: dict[str, Any]) -> dict[str, Any]:
    """Return the event itself where a tool put it under a key of its own."""
    if names_of(name for name, held in value.items() if not isinstance(held, dict)):
        return value
    for key in ("_source", "result", "attributes", "content"):
        inner = value.get(key)
        if isinstance(inner, dict) and names_of(flat(inner)):
            own = inner.get("attributes")
            return {**{k: v for k, v in inner.items() if k != "attributes"}, **own} if isinstance(own, dict) else inner
    return value


def _is_wrapped(value: dict[str, Any]) -> bool:
    is_loki = isinstance(value.get("line"), str) and isinstance(value.get("labels"), dict)
    return is_loki or "__REALTIME_TIMESTAMP" in value or _unwrapped(value) is not value


def flat(value: Mapping[str, Any], lead: str = "", depth: int = 0) -> dict[str, Any]:
    """Return nested fields under dotted names; a list stays as it is.

    >>> flat({"host": {"name": "w1"}, "message": "done"})
    {'host.name': 'w1', 'message': 'done'}
    """
    found: dict[str, Any] = {}
    for name, inner in value.items():
        if isinstance(inner, dict) and inner and depth < _MOST_DEEP:
            found |= flat(inner, f"{lead}{name}.", depth + 1)
        else:
            found[f"{lead}{name}"] = inner
    return found


def _is_whole(text: str) -> bool:
    """Tell whether a text needs nothing beside it: a JSON line of its writer's, or a line of Lambda's own."""
    return text.lstrip().startswith("{") or parse_line(text).kind in _PLATFORM
