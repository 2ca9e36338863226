"""Importing files: every form, each event once, whatever was there before, and what is wrong said in a sentence."""

import bz2
import contextlib
import gzip
import io
import json
import lzma
import os
import random
import socket
import tarfile
import zipfile
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from forensics.identity import evidence_id
from forensics.lake import Lake
from forensics.sentence import plain
from forensics.tables import BY_NAME
from forensics.window import TimeWindow
from ingest import file_bytes, file_run
from ingest.file_forms import Form, FoundFile
from ingest.file_run import ImportChoices
from ingest.files import FileNotThereError, ImportUnclearError, import_files
from ingest.saved_settings import read_settings
from tests.ingest import saved_files
from tests.ingest.world import HANDLE

pytestmark = pytest.mark.slow

ACCOUNT, REGION, GROUP = "123456789012", "eu-west-1", "/aws/lambda/charge-card"
START = datetime(2026, 11, 20, 5, 12, tzinfo=UTC)
LOG_EVENTS = BY_NAME["log_events"]
COVERAGE = BY_NAME["coverage"]
QUEUE_ARN = f"arn:aws:sqs:{REGION}:{ACCOUNT}:payments.fifo"
SAID = ImportChoices(log_groups=(f"{GROUP}={QUEUE_ARN}",), zone=ZoneInfo("UTC"))
STREAMS = ["2026/11/20/[$LATEST]" + 32 * "a", "2026/11/20/[$LATEST]" + 32 * "b"]


def row(number: int, line: str, stream: str = STREAMS[0], after_ms: int | None = None, order: int = 0) -> dict:
    event_id = f"{number:056d}"
    return {
        "evidence_id": evidence_id("log", ACCOUNT, REGION, GROUP, event_id),
        "account_id": ACCOUNT,
        "region": REGION,
        "log_group": GROUP,
        "log_stream": stream,
        "event_id": event_id,
        "logged_at": START + timedelta(milliseconds=number if after_ms is None else after_ms),
        "ingested_at": START + timedelta(seconds=5),
        "order_in_ms": order,
        "line": line,
        "collected_at": START + timedelta(hours=1),
    }


ROWS = [
    row(0, "INIT_START Runtime Version: python:3.12.v36\n"),
    row(1, "START RequestId: 3f2504e0-4f89-51d3-9a0c-0305e82c3301 Version: $LATEST\n"),
    row(2, "[ERROR] KeyError: 'x'\nTraceback (most recent call last):\n\n\u00a0\u00a0File handler.py\n"),
    row(3, "same line", after_ms=3, order=0),
    row(4, "same line", after_ms=3, order=1),
    row(5, "same line", stream=STREAMS[1], after_ms=3),
    row(6, f"{{'receiptHandle': '{HANDLE}', 'body': 'ünïcode \u2028 line'}}", stream=STREAMS[1]),
    row(7, "REPORT RequestId: 3f2504e0-4f89-51d3-9a0c-0305e82c3301\tDuration: 1.0 ms\t\n"),
]
FORMS = {
    "export": lambda folder: saved_files.export(ROWS, folder / "export"),
    "delivery": lambda folder: saved_files.delivery(ROWS, folder / "delivery.gz", batch=2),
    "filter-log-events": lambda folder: saved_files.filtered(ROWS, folder / "filtered.json"),
    "get-log-events": lambda folder: saved_files.got(ROWS, folder / "got"),
    "query-table": lambda folder: saved_files.queried(ROWS, folder / "logs-insights-results.csv"),
    "query-table-json": lambda folder: saved_files.queried_as_json(ROWS, folder / "logs-insights-results.json"),
    "get-query-results": lambda folder: saved_files.query_reply(ROWS, folder / "results.json"),
    "tail": lambda folder: saved_files.tailed(ROWS, folder / "tail.txt"),
}


def events_of(lake, *columns: str) -> list[tuple]:
    wanted = columns or ("log_group", "logged_at", "line")
    rows = lake.read(LOG_EVENTS).to_pylist()
    return sorted(tuple(r[c].rstrip() if c == "line" else r[c] for c in wanted) for r in rows)


def expected(*columns: str) -> list[tuple]:
    from forensics.redaction import redact_handles

    wanted = columns or ("log_group", "logged_at", "line")
    return sorted(tuple(redact_handles(r[c]).rstrip() if c == "line" else r[c] for c in wanted) for r in ROWS)


@pytest.mark.parametrize("form", FORMS)
def test_every_event_of_a_file_is_stored_once_and_a_second_import_adds_none(form, lake, tmp_path):
    path = FORMS[form](tmp_path)
    first = import_files(lake, [path], SAID).groups[GROUP]
    second = import_files(lake, [path], SAID).groups[GROUP]

    assert events_of(lake) == expected()
    assert (first.seen_count, first.stored_count) == (len(ROWS), len(ROWS))
    assert (second.seen_count, second.already_count, second.stored_count) == (len(ROWS), len(ROWS), 0)


@pytest.mark.parametrize("form", [form for form in FORMS if form != "get-log-events"])
def test_account_region_stream_and_place_are_those_of_the_source(form, lake, tmp_path):
    import_files(lake, [FORMS[form](tmp_path)], SAID)
    columns = ("account_id", "region", "log_stream", "logged_at", "order_in_ms", "line")

    assert events_of(lake, *columns) == expected(*columns)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("export", "filter-log-events"),
        ("export", "get-log-events"),
        ("filter-log-events", "export"),
        ("filter-log-events", "delivery"),
        ("delivery", "get-log-events"),
        ("get-log-events", "delivery"),
        ("get-log-events", "export"),
        ("query-table", "filter-log-events"),
        ("filter-log-events", "query-table"),
        ("get-query-results", "export"),
        ("delivery", "tail"),
        ("tail", "query-table"),
    ],
)
def test_two_forms_of_the_same_events_do_not_double(first, second, lake, tmp_path):
    import_files(lake, [FORMS[first](tmp_path)], SAID)
    import_files(lake, [FORMS[second](tmp_path)], SAID)

    assert events_of(lake) == expected()


def test_events_that_the_api_gave_before_are_known_again_and_their_stream_too(lake, tmp_path):
    from forensics.redaction import redact_handles

    lake.append(LOG_EVENTS, [r | {"line": redact_handles(r["line"])} for r in ROWS], "log_events|api")
    for form in FORMS.values():
        assert import_files(lake, [form(tmp_path)], SAID).groups[GROUP].stored_count == 0


def test_without_account_and_region_an_event_id_still_tells_that_an_event_is_known(lake, tmp_path):
    import_files(lake, [FORMS["filter-log-events"](tmp_path)], ImportChoices(log_groups=(GROUP,)))
    import_files(lake, [FORMS["delivery"](tmp_path)], SAID)

    assert events_of(lake) == expected()


def test_a_file_that_shows_more_equal_lines_than_the_lake_adds_the_difference(lake, tmp_path):
    few = [row(0, "charged"), row(1, "charged", after_ms=0, order=1)]
    lake.append(LOG_EVENTS, few[:1], "log_events|api")
    import_files(lake, [saved_files.export(few, tmp_path / "export")], SAID)

    assert len(events_of(lake)) == 2


def test_copies_of_a_file_under_other_names_add_nothing(lake, tmp_path):
    log = tmp_path / "host" / "worker.log"
    log.parent.mkdir()
    log.write_text(
        "2026-11-20T05:12:00.000Z took 1\n2026-11-20T05:12:01.000Z took 2\n2026-11-20T05:12:01.000Z took 2\n"
    )
    (tmp_path / "host" / "copy of worker.log").write_bytes(log.read_bytes())
    (tmp_path / "host" / "packed.log.gz").write_bytes(gzip.compress(log.read_bytes()))
    report = import_files(lake, [tmp_path / "host"], ImportChoices(log_groups=("workers",)))

    assert len(events_of(lake)) == 3
    assert len({r["log_stream"] for r in lake.read(LOG_EVENTS).to_pylist()}) == 1
    assert any("its events are those of log stream" in note for note in report.notes)


def test_a_log_that_has_grown_since_adds_what_is_new_under_the_stream_it_had(lake, tmp_path):
    lines = [f"2026-11-20T05:12:{second:02d}.000Z took {second}" for second in range(20)]
    old, new = tmp_path / "monday.log", tmp_path / "tuesday.log"
    old.write_text("\n".join(lines[:10]))
    new.write_text("\n".join(lines))
    for path in (old, new):
        import_files(lake, [path], ImportChoices(log_groups=("workers",)))

    assert len(events_of(lake)) == 20
    assert {r["log_stream"] for r in lake.read(LOG_EVENTS).to_pylist()} == {"file:monday"}


def test_the_same_line_of_two_hosts_stays_two_events(lake, tmp_path):
    for host in ("a", "b"):
        lines = ["2026-11-20T05:12:00.000Z worker started"]
        lines += [f"2026-11-20T05:12:{s:02d}.000Z {host} took {s}" for s in range(1, 30)]
        (tmp_path / f"{host}.log").write_text("\n".join(lines))
    import_files(lake, [tmp_path], ImportChoices(log_groups=("workers",)))

    assert len(events_of(lake)) == 60
    assert {r["log_stream"] for r in lake.read(LOG_EVENTS).to_pylist()} == {"file:a", "file:b"}


def test_a_lake_inside_the_folder_is_not_imported_into_itself(tmp_path):
    lake = Lake(tmp_path / "lake")
    saved_files.delivery(ROWS, tmp_path / "d.gz")
    for _ in range(2):
        report = import_files(lake, [tmp_path], SAID)

    assert sum(report.files.values()) == 1


def test_nothing_of_another_lake_is_imported_not_even_what_lies_beside_its_tables(lake, tmp_path):
    folder = tmp_path / "given"
    folder.mkdir()
    saved_files.delivery(ROWS, folder / "d.gz")
    other = Lake(folder / "old" / "lake")
    other.append(LOG_EVENTS, [{"evidence_id": "log:1", "logged_at": START, "line": "x"}], "log_events|/g")
    (other.root / "charges.csv").write_text("charge_id,charged_at\nch_1,2026-11-20T05:12:00Z\n")
    (other.root / "runs.jsonl").write_text('{"started_at": "2026-11-20T05:12:00Z"}\n')
    report = import_files(lake, [folder], SAID)

    assert sum(report.files.values()) == 1
    assert not report.gaps


def test_times_in_a_named_zone_become_utc(lake, tmp_path):
    (tmp_path / "w.log").write_text("[2026-11-20 06:12:00] local.INFO: Processing: Charge\n  with a second line\n")
    import_files(lake, [tmp_path / "w.log"], ImportChoices(log_groups=("w",), zone=ZoneInfo("Europe/Berlin")))

    assert events_of(lake) == [
        ("w", START, "[2026-11-20 06:12:00] local.INFO: Processing: Charge\n  with a second line")
    ]


def test_receipt_handles_and_environment_variables_reach_no_table(lake, tmp_path):
    saved_files.queue_attributes(QUEUE, tmp_path / "queue.json")
    saved_files.function_configuration(FUNCTION, tmp_path / "function.json")
    saved_files.filtered(ROWS, tmp_path / "events.json")
    import_files(lake, [tmp_path], SAID)
    everything = "".join(str(lake.read(table).to_pylist()) for table in BY_NAME.values())

    assert HANDLE not in everything
    assert HANDLE[:24] in everything
    assert "canary" not in everything


QUEUE = {
    "account_id": ACCOUNT,
    "region": REGION,
    "queue_arn": QUEUE_ARN,
    "queue_name": "payments.fifo",
    "is_fifo": True,
    "visibility_timeout_s": 600,
    "message_retention_s": 345_600,
    "delay_s": 0,
    "receive_wait_s": 0,
    "content_based_deduplication": False,
    "deduplication_scope": "queue",
    "fifo_throughput_limit": "perQueue",
    "dead_letter_queue_arn": QUEUE_ARN.replace("payments.fifo", "payments-dlq.fifo"),
    "max_receive_count": 3,
    "created_at": START,
    "last_modified_at": START,
}
FUNCTION = {
    "account_id": ACCOUNT,
    "region": REGION,
    "function_arn": f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:charge-card",
    "function_name": "charge-card",
    "timeout_s": 30,
    "memory_mb": 256,
    "runtime": "python3.12",
    "log_group": GROUP,
    "log_format": "Text",
    "application_log_level": None,
    "system_log_level": None,
    "reserved_concurrency": None,
    "is_durable": None,
    "last_modified_at": START,
}
MAPPING = {
    "account_id": ACCOUNT,
    "region": REGION,
    "mapping_uuid": "0a0a0a0a-0000-4000-8000-000000000001",
    "queue_arn": QUEUE_ARN,
    "function_arn": FUNCTION["function_arn"],
    "function_name": "charge-card",
    "qualifier": "",
    "batch_size": 10,
    "batching_window_s": 0,
    "reports_batch_item_failures": True,
    "maximum_concurrency": None,
    "counts_events": False,
    "state": "Enabled",
    "filter_patterns": None,
    "last_modified_at": START,
}


def test_saved_settings_become_the_rows_that_a_collection_would_store(lake, tmp_path):
    saved_files.queue_attributes(QUEUE, tmp_path / "queue.json")
    saved_files.function_configuration(FUNCTION, tmp_path / "function.json")
    saved_files.mappings([MAPPING], tmp_path / "mappings.json")
    saved_files.delivery(ROWS, tmp_path / "logs.gz")
    moment = START + timedelta(hours=2)
    for _ in range(2):
        report = import_files(lake, [tmp_path], ImportChoices(observed_at=moment))

    def stored(name: str) -> list[dict]:
        rows = lake.read(BY_NAME[name]).to_pylist()
        assert all(r.pop("evidence_id") for r in rows)
        return rows

    assert stored("queue_settings") == [{**QUEUE, "observed_at": moment}]
    assert stored("function_settings") == [{**FUNCTION, "observed_at": moment}]
    assert stored("event_source_mappings") == [{**MAPPING, "observed_at": moment}]
    assert [(r["queue_arn"], r["log_group"], r["kind"], r["found_by"]) for r in stored("consumers")] == [
        (QUEUE_ARN, GROUP, "lambda", "mapping")
    ]
    assert (report.settings_seen_count, report.settings_stored_count, report.notes) == (3, 0, [])


NOT_WHOLE = {
    "a mapping whose function is named without its ARN": (
        {"EventSourceMappings": [{"UUID": "u", "EventSourceArn": QUEUE_ARN, "FunctionArn": "charge-card:live"}]},
        "the event source mapping lacks its UUID, its source or its function's ARN",
    ),
    "a function whose ARN is that of another thing": (
        {"FunctionArn": f"arn:aws:sqs:{REGION}:{ACCOUNT}:function:charge-card", "Timeout": 3},
        "the configuration lacks the function's ARN or its timeout",
    ),
}


@pytest.mark.parametrize(("said", "reason"), NOT_WHOLE.values(), ids=NOT_WHOLE)
def test_saved_settings_that_do_not_name_their_function_are_no_settings(said, reason, tmp_path):
    (tmp_path / "said.json").write_text(json.dumps(said))

    read = read_settings(FoundFile(tmp_path / "said.json", "said.json", Form.SETTINGS))

    assert (read.rows, [why for why, _ in read.bad]) == ([], [reason])


PRINTED = json.dumps({"Records": [{"messageId": "m", "eventSourceARN": QUEUE_ARN}]})
WHOSE = {
    "named by its ARN": (f"g={QUEUE_ARN}", "a line", [(QUEUE_ARN, "option")]),
    "named, and printed with its ARN": ("g=payments.fifo", PRINTED, [(QUEUE_ARN, "option")]),
    "named, and printed inside JSON": ("g=payments.fifo", json.dumps({"message": PRINTED}), [(QUEUE_ARN, "option")]),
    "named, and another is printed": ("g=orders", PRINTED, [("orders", "option")]),
    "only printed": ("g", PRINTED, [(QUEUE_ARN, "printed event")]),
    "two are printed": ("g", PRINTED + PRINTED.replace("payments", "orders"), []),
    "nothing tells": ("g", "a line", []),
}


@pytest.mark.parametrize(("said", "line", "expected"), WHOSE.values(), ids=WHOSE)
def test_a_group_has_one_queue_whichever_way_its_lines_name_it(said, line, expected, lake, tmp_path):
    (tmp_path / "w.log").write_text(f"2026-11-20T05:12:00.000Z took {line}\n")
    report = import_files(lake, [tmp_path / "w.log"], ImportChoices(log_groups=(said,)))

    assert [(r["queue_arn"], r["found_by"]) for r in lake.read(BY_NAME["consumers"]).to_pylist()] == expected
    assert bool(report.notes) is (expected == [])


def test_a_name_that_two_queues_have_is_not_taken_for_one_of_them(lake, tmp_path):
    for region in (REGION, "us-east-1"):
        arn = QUEUE_ARN.replace(REGION, region)
        (tmp_path / f"{region}.json").write_text(
            json.dumps({"Attributes": {"QueueArn": arn, "VisibilityTimeout": "30"}})
        )
    (tmp_path / "w.log").write_text("2026-11-20T05:12:00.000Z took\n")
    import_files(lake, [tmp_path], ImportChoices(log_groups=("g=payments.fifo",)))

    assert lake.read(BY_NAME["consumers"])["queue_arn"].to_pylist() == ["payments.fifo"]


def test_a_saved_setting_is_as_old_as_its_file(lake, tmp_path):
    path = saved_files.queue_attributes(QUEUE, tmp_path / "queue.json")
    os.utime(path, (START.timestamp(), START.timestamp()))
    import_files(lake, [path])

    assert lake.read(BY_NAME["queue_settings"]).to_pylist()[0]["observed_at"] == START


def test_files_vouch_for_no_more_than_a_person_says(lake, tmp_path):
    path = FORMS["export"](tmp_path)
    import_files(lake, [path], SAID)
    hour = TimeWindow(START - timedelta(minutes=30), START + timedelta(minutes=30))
    import_files(lake, [path], ImportChoices(log_groups=SAID.log_groups, complete=hour))

    spans = [(r["status"], r["window_start_at"], r["window_end_at"]) for r in lake.read(COVERAGE).to_pylist()]
    assert sorted(spans) == [
        ("ok", hour.start_at, hour.end_at),
        ("partial", START, START + timedelta(milliseconds=8)),
    ]


# -- what is wrong ---------------------------------------------------------------------------------------------


def test_poison_in_every_form_is_counted_and_kept_and_stops_nothing(lake, tmp_path):
    good = {"timestamp": saved_files.ms(START), "message": "good", "logStreamName": "s", "eventId": "1"}
    bad = [good | {"timestamp": "soon"}, good | {"message": None}, good | {"message": "half \ud800"}, 7, "text"]
    (tmp_path / "a.json").write_text(json.dumps({"events": [*bad, good]}))
    report = import_files(lake, [tmp_path], ImportChoices(log_groups=("g",)))
    done = report.groups["g"]

    assert (done.seen_count, done.stored_count, done.quarantined_count) == (6, 1, 5)
    assert lake.count(BY_NAME["quarantine"]) == 5


def test_a_file_that_breaks_off_gives_what_is_good_and_is_a_gap(lake, tmp_path):
    path = tmp_path / "2026-11-20-x" / "000000.gz"
    path.parent.mkdir()
    rng = random.Random(7)
    lines = [f"2026-11-20T05:12:00.{n % 1000:03d}Z line {n} {rng.random()}\n" for n in range(20_000)]
    path.write_bytes(gzip.compress("".join(lines).encode())[:-50_000])
    report = import_files(lake, [tmp_path], ImportChoices(log_groups=("g",)))

    assert 1_000 < lake.count(LOG_EVENTS) < 20_000
    assert report.exit_code == 3
    assert "breaks off" in report.gaps[0]
    assert lake.read(COVERAGE).to_pylist()[0]["status"] == "failed"


RUN = "START RequestId: {n:08}-0000-0000-0000-000000000000 Version: 1"
CUT = {
    "a short log": ("w.log.gz", "".join(f"2026-11-20T05:12:0{n}.000Z took m-{n}\n" for n in range(9)), 1),
    "a table of runs without their streams": (
        "t.csv.gz",
        "@timestamp,@message\n" + "".join(f'2026-11-20 05:12:0{n}.000,"{RUN.format(n=n)}"\n' for n in range(9)),
        1,
    ),
    "the head of a stream alone": ("w.log.gz", "", 0),
}


@pytest.mark.parametrize(("name", "text", "at_least"), CUT.values(), ids=CUT)
def test_whatever_file_breaks_off_is_named_and_the_others_are_read(name, text, at_least, lake, tmp_path):
    whole = gzip.compress(text.encode())
    (tmp_path / name).write_bytes(whole[:-20] if text else whole[:12])
    (tmp_path / "whole.log").write_text("2026-11-20T05:10:00.000Z took m-0\n")
    report = import_files(lake, [tmp_path], ImportChoices(log_groups=("g",), zone=ZoneInfo("UTC")))

    assert lake.count(LOG_EVENTS) >= 1 + at_least
    assert [gap.partition(": ")[0] for gap in map(plain, report.gaps)] == [name]
    assert "breaks off" in report.gaps[0]
    assert report.exit_code == 3
    assert lake.count(BY_NAME["quarantine"]) == 1
    assert lake.read(COVERAGE).to_pylist()[0]["status"] == "failed"


def test_a_file_of_which_nothing_can_be_read_is_named_where_it_is_the_only_one(lake, tmp_path):
    (tmp_path / "w.log.gz").write_bytes(gzip.compress(b"")[:12])
    with pytest.raises(FileNotThereError, match="w.log.gz: the gzip stream breaks off"):
        import_files(lake, [tmp_path], SAID)


def test_a_damaged_delivery_costs_one_batch(lake, tmp_path):
    path = saved_files.delivery(ROWS, tmp_path / "d.gz", batch=2)
    documents = gzip.decompress(path.read_bytes()).decode().replace('"logStream": "2026', '"logStream": 2026', 1)
    path.write_bytes(gzip.compress(documents.encode()))
    report = import_files(lake, [path], SAID)

    assert len(events_of(lake)) == len(ROWS) - 2
    assert (report.exit_code, lake.count(BY_NAME["quarantine"])) == (3, 1)


def test_a_bomb_is_turned_away_whole(lake, tmp_path, monkeypatch):
    monkeypatch.setattr(file_bytes, "RATIO_FREE_BYTES", 100_000)
    monkeypatch.setattr(file_run, "APPEND_ROWS", 10)
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "000000.gz").write_bytes(gzip.compress(b"2026-11-20T05:12:00.000Z x\n" * 100_000))
    (tmp_path / "good.log").write_text("2026-11-20T05:12:00.000Z fine\n")
    report = import_files(lake, [tmp_path], ImportChoices(log_groups=("g",)))

    assert [line for _, _, line in events_of(lake)] == ["2026-11-20T05:12:00.000Z fine"]
    assert "200 times its size" in report.gaps[0]


def test_an_archive_inside_an_archive_is_turned_away(lake, tmp_path):
    good = saved_files.filtered(ROWS, tmp_path / "good.json")
    inner = gzip.compress(good.read_bytes())
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "000000.gz").write_bytes(gzip.compress(inner))
    report = import_files(lake, [tmp_path], SAID)

    assert report.gaps == ["s/000000.gz: a packed archive: unpack it, and import the folder"]


def in_tar(data):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        entry = tarfile.TarInfo("worker.log")
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return packed.getvalue()


def in_zip(data):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("worker.log", data)
    return packed.getvalue()


PACKED = {
    "zip": in_zip,
    "tar": in_tar,
    "tar.gz": lambda data: gzip.compress(in_tar(data)),
    "bz2": bz2.compress,
    "xz": lzma.compress,
}


@pytest.mark.parametrize("packed", PACKED.values(), ids=PACKED)
def test_logs_in_an_archive_are_to_be_unpacked_first(lake, tmp_path, packed):
    (tmp_path / "logs").write_bytes(packed(b"2026-11-20T05:12:00.000Z fine\n" * 99))

    with pytest.raises(FileNotThereError, match="logs: a packed archive: unpack it, and import the folder"):
        import_files(lake, [tmp_path / "logs"], SAID)


def test_a_file_in_another_encoding_is_told_by_its_bytes(lake, tmp_path):
    lines = b"2026-11-20T05:12:00.000Z fine\n2026-11-20T05:12:01.000Z ung\xfcltige PLZ\n"
    (tmp_path / "worker.log").write_bytes(lines)
    report = import_files(lake, [tmp_path], ImportChoices(log_groups=("g",)))

    assert [line for _, _, line in events_of(lake)] == ["2026-11-20T05:12:00.000Z fine"]
    assert "the message holds bytes that are not UTF-8: save the file as UTF-8" in plain(report.notes[0])


UNCLEAR = {
    "no log group": ({}, "does not say which log group", "--log-group GROUP"),
    "two log groups": ({"log_groups": ("a", "b")}, "does not say which log group", "--log-group GROUP"),
    "no zone": ({"log_groups": ("a",)}, "do not say their time zone", "--zone UTC"),
    "one stream for two files": (
        {"log_groups": ("a",), "zone": ZoneInfo("UTC"), "log_stream": "s"},
        "2 files could be it",
        "by itself",
    ),
}


@pytest.mark.parametrize(("choices", "sentence", "hint"), UNCLEAR.values(), ids=UNCLEAR)
def test_what_only_a_person_knows_is_asked_for_before_anything_is_written(choices, sentence, hint, lake, tmp_path):
    for name in ("one.log", "two.log"):
        (tmp_path / name).write_text("2026-11-20 05:12:00 took a message\n")
    with pytest.raises(ImportUnclearError) as caught:
        import_files(lake, [tmp_path / "one.log", tmp_path / "two.log"], ImportChoices(**choices))

    assert sentence in str(caught.value)
    assert hint in caught.value.hint
    assert not lake.root.exists()


RUN = "861bec95-b670-4f2a-acf9-19d5bdd7cbe{}"
OVERLAPPING = [(0, f"START RequestId: {RUN.format(1)} Version: 1"), (1, f"START RequestId: {RUN.format(2)} Version: 1")]
OVERLAPPING += [(2, f"END RequestId: {RUN.format(1)}"), (3, f"END RequestId: {RUN.format(2)}")]


@pytest.mark.parametrize("shape", ["timestamp,message", "@timestamp,@message"])
def test_a_table_without_streams_is_read_where_its_runs_come_one_after_another(shape, lake, tmp_path):
    told = [OVERLAPPING[0], OVERLAPPING[2]]
    (tmp_path / "log-events-viewer-result.csv").write_text(
        "\n".join([shape, *(f'{1795147920000 + at},"{text}\nand on"' for at, text in told)])
    )
    import_files(lake, [tmp_path], SAID)

    assert [line for (line,) in events_of(lake, "line")] == sorted(f"{text}\nand on" for _, text in told)


@pytest.mark.parametrize("name", ["table.csv", "short.txt"])
def test_lines_of_runs_that_overlap_without_a_stream_are_refused(name, lake, tmp_path):
    lines = {
        "table.csv": ["timestamp,message", *(f"{1795147920000 + at},{text}" for at, text in OVERLAPPING)],
        "short.txt": [f"2026-11-20T05:12:0{at} {text}" for at, text in OVERLAPPING],
    }
    (tmp_path / name).write_text("\n".join(lines[name]))
    with pytest.raises(ImportUnclearError, match="runs of a function overlap") as caught:
        import_files(lake, [tmp_path / name], SAID)

    assert "@logStream" in caught.value.hint
    assert not lake.root.exists()


def test_a_table_without_the_whole_message_says_what_to_ask_for(lake, tmp_path):
    (tmp_path / "counts.csv").write_text("@timestamp,level\n2026-11-20 05:12:00.000,ERROR\n")
    with pytest.raises(ImportUnclearError, match="does not hold @timestamp and @message") as caught:
        import_files(lake, [tmp_path / "counts.csv"], SAID)

    assert "fields @timestamp, @message, @logStream, @log" in caught.value.hint


def test_a_table_whose_times_name_no_zone_asks_for_it(lake, tmp_path):
    (tmp_path / "results.csv").write_text("@timestamp,@message\n2026-11-20 05:12:00.000,took one\n")
    with pytest.raises(ImportUnclearError, match="do not say their time zone"):
        import_files(lake, [tmp_path / "results.csv"], ImportChoices(log_groups=("a",)))


@pytest.mark.parametrize("name", ["nothing-here", "empty", "picture.png"])
def test_a_path_without_evidence_is_said_and_nothing_is_written(name, lake, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8)
    with pytest.raises(FileNotThereError) as caught:
        import_files(lake, [tmp_path / name], SAID)

    assert name in str(caught.value)
    assert not lake.root.exists()


def test_an_import_does_not_hold_a_large_file_in_memory(lake, tmp_path, monkeypatch):
    monkeypatch.setattr(file_run, "APPEND_ROWS", 500)
    most = []
    original = file_run.Run._flush

    def flush(self):
        most.append(sum(len(rows) for rows in self._rows.values()))
        original(self)

    monkeypatch.setattr(file_run.Run, "_flush", flush)
    lines = "".join(f"2026-11-20T05:12:00.{n % 1000:03d}Z line {n}\n" for n in range(3_000))
    (tmp_path / "w.log").write_text(lines)
    import_files(lake, [tmp_path], ImportChoices(log_groups=("g",)))

    assert lake.count(LOG_EVENTS) == 3_000
    assert max(most) == 500


def test_a_pipe_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileNotThereError, match="is a pipe or a device"):
        import_files(Lake(tmp_path / "lake"), [tmp_path / "pipe"], ImportChoices(log_groups=("/g",)))


def a_socket(path):
    with socket.socket(socket.AF_UNIX) as made, contextlib.chdir(path.parent):  # a socket's path has 108 bytes at most
        made.bind(path.name)


NO_FILES = {
    "a pipe": (os.mkfifo, "odd.log: it is a pipe, so it was not read"),
    "a socket": (a_socket, "odd.log: it is a socket, so it was not read"),
    "a link to nowhere": (
        lambda path: path.symlink_to("gone"),
        "odd.log: it cannot be read (No such file or directory)",
    ),
    "a link to itself": (lambda path: path.symlink_to(path), "odd.log: it cannot be read (Too many levels of symbolic"),
}


@pytest.mark.parametrize(("make", "gap"), NO_FILES.values(), ids=NO_FILES)
def test_what_is_no_file_in_a_folder_is_named_as_a_gap_and_the_rest_is_read(tmp_path, make, gap):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "worker.log").write_text("2026-11-20T05:12:00Z took 1\n")
    make(folder / "odd.log")

    report = import_files(Lake(tmp_path / "lake"), [folder], ImportChoices(log_groups=("/g",)))

    assert report.groups["/g"].stored_count == 1
    assert [said[: len(gap)] for said in report.gaps] == [gap]
    assert report.exit_code == 3


def test_a_file_whose_name_is_not_utf_8_is_imported_under_an_escaped_one(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / os.fsdecode(b"w-\xfe.log")).write_text("2026-11-20T05:12:00Z took 1\n")
    lake = Lake(tmp_path / "lake")

    assert import_files(lake, [folder], ImportChoices(log_groups=("/g",))).groups["/g"].stored_count == 1
    assert lake.read(BY_NAME["log_events"], ["log_stream"])["log_stream"].to_pylist() == ["file:w-\\xfe"]


def test_a_linked_folder_that_leads_out_is_not_followed_and_said(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "other.log").write_text("2026-11-20T05:12:00Z other\n")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "worker.log").write_text("2026-11-20T05:12:00Z took 1\n")
    (folder / "linked").symlink_to(tmp_path / "elsewhere")

    report = import_files(Lake(tmp_path / "lake"), [folder], ImportChoices(log_groups=("/g",)))

    assert report.groups["/g"].stored_count == 1
    assert any("linked" in note and "leads out of the folder" in note for note in report.notes)


def lines_of(lake: Lake) -> list[str]:
    return sorted(lake.read(BY_NAME["log_events"], ["line"])["line"].to_pylist())


def test_events_after_one_that_cannot_be_read_are_imported_and_it_is_quarantined_without_a_gap(tmp_path):
    event = {"logStreamName": "s", "timestamp": 1795151520250, "message": "took"}
    texts = [json.dumps(event | {"message": f"took {n}"}) for n in range(3)]
    texts[1] = texts[1].replace("1795151520250", "9" * 6_000)
    path = tmp_path / "saved.json"
    path.write_text('{"events": [' + ",".join(texts) + "]}")
    lake = Lake(tmp_path / "lake")
    report = import_files(lake, [path], ImportChoices(log_groups=("/g",)))

    assert lines_of(lake) == ["took 0", "took 2"]
    assert (report.gaps, report.groups["/g"].quarantined_count) == ([], 1)


def test_another_lake_in_the_folder_is_no_log(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "worker.log").write_text("2026-11-20T05:12:00Z took 1\n")
    import_files(Lake(folder / "old-lake"), [folder / "worker.log"], ImportChoices(log_groups=("/g",)))
    lake = Lake(tmp_path / "lake")
    report = import_files(lake, [folder], ImportChoices(log_groups=("/g",)))

    assert (lines_of(lake), report.gaps) == (["2026-11-20T05:12:00Z took 1"], [])


def test_links_that_lead_to_one_another_are_said(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")

    with pytest.raises(FileNotThereError, match=r"loop' cannot be read: Too many levels of symbolic links"):
        import_files(Lake(tmp_path / "lake"), [tmp_path / "loop"], ImportChoices(log_groups=("/g",)))


def test_a_link_that_leads_out_of_the_folder_is_not_followed_and_said(tmp_path):
    folder, elsewhere = tmp_path / "folder", tmp_path / "elsewhere"
    for each in (folder, elsewhere):
        each.mkdir()
        (each / f"{each.name}.log").write_text(f"2026-11-20T05:12:00Z of {each.name}\n")
    (folder / "link.log").symlink_to(elsewhere / "elsewhere.log")
    (folder / "links").symlink_to(elsewhere)
    (folder / "inside.log").symlink_to(folder / "folder.log")
    lake = Lake(tmp_path / "lake")
    report = import_files(lake, [folder], ImportChoices(log_groups=("/g",)))

    assert set(lines_of(lake)) == {"2026-11-20T05:12:00Z of folder"}
    assert any("'link.log' is a link that leads out" in note for note in report.notes)
    with pytest.raises(FileNotThereError, match="links that lead out"):
        only = tmp_path / "only"
        only.mkdir()
        (only / "link.log").symlink_to(elsewhere / "elsewhere.log")
        import_files(lake, [only], ImportChoices(log_groups=("/g",)))
