"""What other log tools export, each in a file of two events, and what is told from a worker's own lines."""

import json
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from forensics.clock import EPOCH
from ingest.file_events import read_events
from ingest.file_forms import Form, recognise
from ingest.quarantine import what_is_wrong
from ingest.query_results import do_runs_overlap
from ingest.tool_exports import NO_EVENT

EXPORTS = Path(__file__).parents[1] / "data" / "exports"
FIRST, SECOND = "5bc8fbbc-bde5-4099-8164-d8399f767c45", "3fd42359-92ed-4f45-9a1a-fe878b33e968"
RECEIVED, CHARGED = f"Received message {FIRST}", f"Charged order ord-7 for message {SECOND}"
AT = datetime(2026, 11, 20, 5, 12, 0, 250_000, UTC), datetime(2026, 11, 20, 5, 12, 1, 500_000, UTC)
IN_HEAD = "2026-11-20 05:12:0"


def found_in(path):
    return recognise(path, path.name)


def events_of(path, zone=None):
    return [item.event for item in read_events(found_in(path), ZoneInfo(zone) if zone else None)]


BESIDE = {
    "datadog.csv": '{"@messageId":"%s"}',
    "datadog-api.json": '{"messageId":"%s"}',
    "elastic.json": '{"sqs.id":"%s"}',
    "otlp.jsonl": '{"messaging.message.id":"%s"}',
}
"""What the writer said in fields of its own stands behind the text."""
SOURCES = {
    "datadog.csv": ("ip-10-0-0-1", "ip-10-0-0-2"),
    "datadog-api.json": ("ip-10-0-0-1", "ip-10-0-0-2"),
    "splunk.csv": ("w1", "w2"),
    "splunk.jsonl": ("w1", "w2"),
    "kibana.csv": ("worker-1", "worker-2"),
    "elastic.json": ("w1", "w2"),
    "loki-api.json": ("worker-1", "worker-2"),
    "logcli.jsonl": ("worker-1", "worker-2"),
    "grafana.json": ("worker-1", "worker-2"),
    "new-relic.json": ("w1", "w2"),
    "journal.jsonl": ("w1", "w2"),
    "otlp.jsonl": ("w1", "w2"),
}
TEXTS = {
    "splunk.csv": (
        f"{IN_HEAD}0,250 INFO worker {RECEIVED}",
        f"{IN_HEAD}1,500 INFO worker {CHARGED}\nand a second line",
    )
}


def test_every_export_there_is_is_read():
    assert {path.name for path in EXPORTS.iterdir()} == set(SOURCES)


@pytest.mark.parametrize("name", SOURCES)
def test_an_export_is_read_with_time_text_and_machine_of_each_event(name):
    beside = BESIDE.get(name)
    texts = TEXTS.get(name, (RECEIVED, CHARGED))
    if beside:
        texts = tuple(f"{text} {beside % of}" for text, of in zip(texts, (FIRST, SECOND), strict=True))
    found = found_in(EXPORTS / name)
    events = events_of(EXPORTS / name, "UTC")

    assert found.form is (Form.TABLE if name.endswith(".csv") else Form.TOOL_EXPORT)
    assert found.lacks_zone is (name == "kibana.csv")
    assert found.names_no_group
    assert sorted((e["timestamp"], e["logStreamName"], e["message"]) for e in events) == [
        (round((at - EPOCH).total_seconds() * 1000), f"file:{source}", text)
        for at, source, text in zip(AT, SOURCES[name], texts, strict=True)
    ]


WORKERS_OWN = {
    "a line with a list of events": '{"time": 1795151520250, "msg": "got 2", "events": [{"time": 1, "message": "a"}]}',
    "a line with data": '{"timestamp": "2026-11-20T05:12:00Z", "message": "done", "data": {"message": "m", "time": 1795151520250}}',
    "a line of Docker's": '{"log": "done\\n", "stream": "stdout", "time": "2026-11-20T05:12:00.250000000Z"}',
    "a line of nested fields": '{"text": "done", "record": {"time": {"timestamp": 1795151520.25}, "message": "done"}}',
    "Serilog's, with a list": '{"@t": "2026-11-20T05:12:00Z", "@mt": "got {Records}", "Records": [{"id": "m"}]}',
    "a line with the printed batch": '{"time": 1795151520250, "event": {"Records": [{"messageId": "m"}]}}',
}


@pytest.mark.parametrize("line", WORKERS_OWN.values(), ids=WORKERS_OWN)
def test_a_workers_own_line_stays_as_it_is(line, tmp_path):
    path = tmp_path / "worker.log"
    path.write_text(f"{line}\n{line}\n")

    assert found_in(path).form is Form.WORKER_LOG


def test_a_document_of_many_events_in_no_known_form_is_no_line_of_a_log(tmp_path):
    path = tmp_path / "answer.json"
    path.write_text(json.dumps({"rows": [{"when": 1, "time": "2026-11-20T05:12:00Z", "what": "a"}] * 3}))

    assert found_in(path).form is Form.UNKNOWN


def test_an_event_without_time_or_text_is_kept_in_quarantine_and_the_others_are_read(tmp_path):
    whole = json.loads((EXPORTS / "elastic.json").read_text())
    del whole["hits"]["hits"][0]["_source"]["message"]
    path = tmp_path / "elastic.json"
    path.write_text(json.dumps(whole))
    read = list(read_events(found_in(path)))

    assert [item.reason for item in read] == [NO_EVENT, None]
    assert FIRST in read[0].event, "what it was is kept"


NO_TIMES = ("-5", "NaN", "Infinity", "1e300", "true", "null", '"soon"', '{"seconds": 1}', "[1]")


@pytest.mark.parametrize("time", NO_TIMES)
def test_a_time_that_is_none_costs_its_own_event_alone(time, tmp_path):
    good = json.dumps({"timestamp": 1795151520250, "message": RECEIVED, "hostname": "w1"})
    path = tmp_path / "logs.json"
    path.write_text(f'[{good}, {{"timestamp": {time}, "message": "b", "hostname": "w1"}}]')
    read = list(read_events(found_in(path)))

    wrong = [item.reason or what_is_wrong(item.event) for item in read]
    assert len(read) == 2
    assert wrong.count(None) == 1
    assert [item.event["message"] for item, why in zip(read, wrong, strict=True) if why is None] == [RECEIVED]


def test_an_event_whose_text_is_null_has_none(tmp_path):
    path = tmp_path / "logs.json"
    path.write_text('[{"timestamp": 1795151520250, "message": null, "hostname": "w1"}]')

    assert not [item for item in read_events(found_in(path)) if item.reason is None]


def test_an_answer_larger_than_one_value_may_be_is_read_event_by_event(tmp_path, monkeypatch):
    monkeypatch.setattr("ingest.json_stream.MOST_CHARS", 2_000)
    whole = json.loads((EXPORTS / "elastic.json").read_text())
    whole["hits"]["hits"] *= 500
    path = tmp_path / "elastic.json"
    path.write_text(json.dumps(whole))

    assert len(events_of(path)) == 1_000


def test_an_answer_that_breaks_off_gives_what_is_good_and_a_gap(tmp_path):
    text = (EXPORTS / "elastic.json").read_text()
    path = tmp_path / "elastic.json"
    path.write_text(text[: text.rindex('"_source"') + 30])
    read = list(read_events(found_in(path)))

    assert [item.is_gap for item in read] == [False, True]


def test_runs_of_two_streams_do_not_overlap_and_of_one_stream_they_do(tmp_path):
    lines = [(0, "one", "START"), (1, "two", "START"), (2, "one", "END"), (3, "two", "END")]
    for stream, overlaps in (("logStream", False), ("shard", True)):
        rows = [
            {
                "timestamp": 1795151520250 + second,
                "message": f"{word} RequestId: 0000000{len(of)}-0000-4000-8000-00000000000{'ab'[of == 'one']}",
                stream: f"2026/11/20/[$LATEST]{of}",
            }
            for second, of, word in lines
        ]
        path = tmp_path / "answer.json"
        path.write_text(json.dumps(rows))
        assert do_runs_overlap(events_of(path)) is overlaps


def test_lines_of_lambdas_own_get_nothing_behind_them(tmp_path):
    path = tmp_path / "answer.json"
    line = "END RequestId: 00000001-0000-4000-8000-00000000000a"
    path.write_text(json.dumps([{"timestamp": 1795151520250, "message": line, "requestId": "r-1"}]))

    assert [event["message"] for event in events_of(path)] == [line]
