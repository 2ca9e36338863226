"""The parts an import is made of: forms told apart, times read, JSON in pieces."""

import itertools
import json
import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest import file_bytes
from ingest.file_events import exported, written
from ingest.file_forms import Form, recognise
from ingest.file_places import NEAR_MOMENTS, Places
from ingest.json_stream import MOST_DEEP, BadJsonError, JsonStream, UnreadableValue
from ingest.line_times import LineClock, ZoneUnknownError

MOMENT = datetime(2026, 11, 20, 5, 12, tzinfo=UTC)


def utc(ms: int | None) -> str | None:
    return None if ms is None else datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")


TIMES = {
    "ISO with Z": ("2026-11-20T05:12:00.250Z took", "2026-11-20T05:12:00.250+00:00"),
    "nine digits": ("2026-11-20T05:12:00.250999999Z took", "2026-11-20T05:12:00.250+00:00"),
    "offset": ("2026-11-20 06:12:00,250 +0100 took", "2026-11-20T05:12:00.250+00:00"),
    "offset behind": ("2026-11-20T01:12:00-04:00 took", "2026-11-20T05:12:00.000+00:00"),
    "Laravel": ("[2026-11-20 05:12:00] production.INFO: took", "2026-11-20T05:12:00.000+00:00"),
    "Laravel's worker": ("  2026-11-20 05:12:00 App\\Jobs\\Charge ..... RUNNING", "2026-11-20T05:12:00.000+00:00"),
    "Python logging": ("2026-11-20 05:12:00,250 INFO took", "2026-11-20T05:12:00.250+00:00"),
    "Celery": ("[2026-11-20 05:12:00,250: INFO/MainProcess] took", "2026-11-20T05:12:00.250+00:00"),
    "Ruby": ("I, [2026-11-20T05:12:00.250123 #7]  INFO -- : took", "2026-11-20T05:12:00.250+00:00"),
    "Go": ("2026/11/20 05:12:00 took", "2026-11-20T05:12:00.000+00:00"),
    "compose": ("worker-1  | 2026-11-20T05:12:00.250Z took", "2026-11-20T05:12:00.250+00:00"),
    "JSON text": ('{"level":"info","time":"2026-11-20T05:12:00.250Z"}', "2026-11-20T05:12:00.250+00:00"),
    "JSON milliseconds": ('{"level":30,"time":1795151520250,"msg":"took"}', "2026-11-20T05:12:00.250+00:00"),
    "JSON seconds": ('{"ts":1795151520.25,"msg":"took"}', "2026-11-20T05:12:00.250+00:00"),
    "an indented line": ("    at 2026-11-20T05:12:00.250Z", None),
    "an indented line that begins with a date alone": ("  2026-11-20: took", None),
    "no such day": ("2026-13-20T05:12:00.250Z took", None),
    "a date far in": ("took the message " + 40 * "." + " 2026-11-20T05:12:00.250Z", None),
    "JSON without a time": ('{"msg":"took"}', None),
}


@pytest.mark.parametrize(("line", "expected"), TIMES.values(), ids=TIMES)
def test_a_line_with_a_time_begins_an_event(line, expected):
    assert utc(LineClock(ZoneInfo("UTC")).read_ms(line)) == expected


def test_a_time_without_a_zone_is_not_guessed():
    with pytest.raises(ZoneUnknownError):
        LineClock().read_ms("2026-11-20 05:12:00 took")


def test_the_hour_that_a_clock_shows_twice_is_told_by_the_order_of_lines():
    clock = LineClock(ZoneInfo("Europe/Berlin"))
    read = [utc(clock.read_ms(f"2026-10-25 {t} took"))[11:19] for t in ("02:50:00", "02:10:00", "02:50:00", "03:10:00")]

    assert read == ["00:50:00", "01:10:00", "01:50:00", "02:10:00"]


DRIVERS = {
    "containerd": ("2026-11-20T05:12:00.123456789Z stdout F [2026-11-20 05:12:00] took", "[2026-11-20 05:12:00] took"),
    "docker -t": ("2026-11-20T05:12:00.123456789Z took it", "took it"),
    "docker's files": ('{"log":"took it\\n","stream":"stdout","time":"2026-11-20T05:12:00.123456789Z"}', "took it"),
    "the handler's own": ('{"log":"x","msg":"took","ts":1795151520.25}', '{"log":"x","msg":"took","ts":1795151520.25}'),
}


@pytest.mark.parametrize(("line", "expected"), DRIVERS.values(), ids=DRIVERS)
def test_what_a_container_runtime_put_around_a_line_is_taken_away(line, expected):
    (event,) = written(iter([line + "\n"]), "s", LineClock())

    assert event.event["message"] == expected


CONTAINERS = {
    "docker compose logs": ('pay-worker-1   | {"ts":1795151520.25,"msg":"took"}', "file:pay-worker-1"),
    "docker compose logs -t": ("pay_worker_12 | 2026-11-20T05:12:00.250000000Z {}", "file:pay_worker_12"),
    "a container with a name of its own": ('payer   | {"ts":1795151520.25}', "file:payer"),
    "kubectl logs --prefix": (
        "[pod/pay-6c9f7d8b54-x2x7k/app] 2026-11-20T05:12:00.250Z took",
        "file:pay-6c9f7d8b54-x2x7k",
    ),
    "stern": ('pay-6c9f7d8b54-x2x7k app {"ts":1795151520.25}', "file:pay-6c9f7d8b54-x2x7k"),
    "a level in its column": ("INFO     | 2026-11-20T05:12:00.250Z took", "s"),
    "a date in its column": ("2026-11-20 | 2026-11-20T05:12:00.250Z took", "s"),
    "a time in its column": ("2026-11-20T05:12:00.250Z | INFO | took", "s"),
    "words before a time": ("first-class worker 2026-11-20T05:12:00.250Z took", "s"),
}


@pytest.mark.parametrize(("line", "stream"), CONTAINERS.values(), ids=CONTAINERS)
def test_lines_of_several_containers_are_of_a_stream_each(line, stream, tmp_path):
    (tmp_path / "x.log").write_text(f"{line}\n")
    (event,) = written(iter([line + "\n"]), "s", LineClock())

    assert (event.event["logStreamName"], event.event["timestamp"]) == (stream, 1795151520250)
    assert ("pay" in event.event["message"]) is False
    assert recognise(tmp_path / "x.log", "x.log").form is Form.WORKER_LOG


def test_further_lines_of_a_container_go_on_with_its_event():
    text = "pay-worker-1  | 2026-11-20T05:12:00.250Z Error: no\npay-worker-1  |     at pay.js:7\n"
    (event,) = written(iter([text]), "s", LineClock())

    assert event.event["message"] == "2026-11-20T05:12:00.250Z Error: no\n    at pay.js:7"


def test_lines_of_one_event_stay_together_and_blank_ones_between_events_go():
    text = (
        "2026-11-20T05:12:00.001Z one\n\n2026-11-20T05:12:00.002Z two\n\n  of two\n\n\n2026-11-20T05:12:00.003Z three"
    )
    events = [e.event["message"] for e in exported(iter([text]), "s")]

    assert events == ["one", "two\n\n  of two", "three"]


def test_lines_above_the_first_time_and_lines_too_long_are_poison():
    text = "no time yet\n2026-11-20T05:12:00.001Z " + "x" * 3_000_000 + "\n2026-11-20T05:12:00.002Z fine\n"
    events = list(exported(iter([text[n : n + 65_536] for n in range(0, len(text), 65_536)]), "s"))

    assert [e.reason for e in events] == [
        "no line with a time stands above these lines",
        "the event is longer than 1,048,576 characters",
        None,
    ]


FILES = {
    "export": ("t/2026-11-20-x/000000", "2026-11-20T05:12:00.000Z any\n", Form.EXPORT),
    "export taken out of its folder": (
        "x.log",
        "2026-11-20T05:12:00.000Z START RequestId: 1 Version: 1\n",
        Form.EXPORT,
    ),
    "worker log with Z": ("x.log", "2026-11-20T05:12:00.000Z took\n", Form.WORKER_LOG),
    "worker log of JSON lines": ("x.log", '{"time":"2026-11-20T05:12:00Z","message":"took"}\n' * 2, Form.WORKER_LOG),
    "delivery": ("x", '{"messageType":"DATA_MESSAGE","logGroup":"g","logStream":"s","logEvents":[]}', Form.DELIVERY),
    "Lambda's subscription event": ("x.json", '{"awslogs": {"data": "H4sI"}}', Form.DELIVERY),
    "filter-log-events": ("x.json", '{"searchedLogStreams": [], "events": []}', Form.SAVED_EVENTS),
    "a list of events": ("x.json", '[{"timestamp": 1, "message": "m"}]', Form.SAVED_EVENTS),
    "queue attributes": ("x.json", '{"Attributes": {"QueueArn": "a"}}', Form.SETTINGS),
    "mappings": ("x.json", '{"EventSourceMappings": []}', Form.SETTINGS),
    "function": ("x.json", '{"FunctionName": "f", "FunctionArn": "a", "Timeout": 3}', Form.SETTINGS),
    "an empty reply": ("x.json", "{}\n", Form.NOTHING),
    "what an export task tried": ("aws-logs-write-test", "Permission Check Successful", Form.NOTHING),
    "prose": ("README.md", "# About\nNothing here has a time.\n", Form.UNKNOWN),
}


@pytest.mark.parametrize(("name", "text", "form"), FILES.values(), ids=FILES)
def test_the_form_of_a_file_is_told_from_its_head_and_path(name, text, form, tmp_path):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)

    assert recognise(path, name).form is form


def test_a_reply_that_powershell_saved_is_read(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"events": [{"timestamp": 1, "message": "grüße"}]}', encoding="utf-16")

    assert recognise(path, "x.json").form is Form.SAVED_EVENTS
    assert "grüße" in "".join(file_bytes.texts(file_bytes.pieces(path)))


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=6,
)


@given(
    documents=st.lists(st.dictionaries(st.text(), JSON_VALUES, max_size=4), max_size=4),
    events=st.lists(JSON_VALUES, max_size=6),
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=5),
    indent=st.sampled_from([None, 1]),
)
def test_documents_come_out_whole_however_the_text_is_cut(documents, events, sizes, indent):
    whole = [d | {"events": events} for d in documents]
    text = "\n".join(json.dumps(d, indent=indent) for d in whole)
    cuts, at = [], 0
    for size in itertools.cycle(sizes):
        if at >= len(text):
            break
        cuts.append(text[at : at + size])
        at += size
    read = list(JsonStream(iter(cuts)).documents())
    streamed = list(JsonStream(iter([text])).documents(frozenset({"events"})))

    assert [d for _, d in read] == whole
    assert [item for key, item in streamed if key] == events * len(whole)
    assert [d for key, d in streamed if not key] == [{k: v for k, v in d.items() if k != "events"} for d in whole]


BROKEN = ['{"a": 1', '{"a": tru}', "[1, 2", "{'a': 1}", '{"a": "' + "x" * 100, "nonsense", '{"a" 1}', "[" * 100_000]


@pytest.mark.parametrize("text", BROKEN, ids=lambda t: t[:12])
@pytest.mark.parametrize("streamed", [frozenset(), frozenset({"a"})], ids=["whole", "streamed"])
def test_what_is_no_json_is_said_with_its_place(text, streamed):
    with pytest.raises(BadJsonError) as caught:
        list(JsonStream(iter([text])).documents(streamed))

    assert "not JSON at character" in str(caught.value)


def test_moments_stay_numbered_while_their_events_stand_close():
    places = Places()
    for n in range(4 * NEAR_MOMENTS):
        assert [places.of("s", MOMENT + timedelta(milliseconds=n), "", "id")[0] for _ in range(2)] == [0, 1]

    assert places.of("s", MOMENT + timedelta(milliseconds=3 * NEAR_MOMENTS), "", "id")[0] == 2
    assert places.of("s", MOMENT, "", "id")[0] == 0


UNREADABLE = {
    "nested too deep": "[" * 30_000 + "]" * 30_000,
    "nested one too deep": "[" * (MOST_DEEP + 1) + "]" * (MOST_DEEP + 1),
    "nested too deep, with brackets in strings": '{"a": "]}", "b": ' + "[" * 30_000 + '"]\\"]"' + "]" * 30_000 + "}",
    "a number of 6,000 digits": "9" * 6_000,
    "an object with such a number": '{"timestamp": ' + "9" * 6_000 + ', "message": "x"}',
}


@pytest.mark.parametrize("size", [7, 4096, 10**6])
@pytest.mark.parametrize("value", UNREADABLE.values(), ids=UNREADABLE)
def test_what_follows_a_value_that_cannot_be_read_is_read(value, size):
    text = '{"events": [{"n": 1}, ' + value + ', {"n": 2}], "nextToken": null}{"events": [{"n": 3}]}'
    pieces = iter([text[at : at + size] for at in range(0, len(text), size)])
    found = [item for key, item in JsonStream(pieces).documents(frozenset({"events"})) if key]

    assert [item for item in found if isinstance(item, dict)] == [{"n": 1}, {"n": 2}, {"n": 3}]
    (bad,) = [item for item in found if isinstance(item, UnreadableValue)]
    assert value.startswith(bad.text)
    assert re.search("nested more than 500 deep$|a number of more than 4,300 digits$", bad.reason)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"events": [{"a": 1', "has no end"),
        ('{"events": ["a', "has no end"),
        ('{"events": [{"a": x}]}', "Expecting value"),
    ],
)
def test_what_ends_too_early_is_told_from_what_is_no_json(text, reason):
    with pytest.raises(BadJsonError, match=reason):
        list(JsonStream(iter([text])).documents(frozenset({"events"})))


def test_a_value_that_cannot_be_read_and_has_no_end_is_damage():
    with pytest.raises(BadJsonError, match="has no end"):
        list(JsonStream(iter(['{"events": [' + "[" * 30_000])).documents(frozenset({"events"})))
