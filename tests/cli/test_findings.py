import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
from datetime import timedelta
from functools import partial
from itertools import permutations
from pathlib import Path

import pytest

import cli
from forensics.lake import Lake
from forensics.report import case as case_module
from forensics.report.formats import ENDINGS
from forensics.tables.evidence import COVERAGE
from forensics.tables.findings import DELIVERIES
from tests.forensics.redrive.test_plan import again
from tests.forensics.report import world
from tests.forensics.report.test_log_readiness import consumer
from tests.tables import take_over
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.slow

ROOT = Path(cli.__file__).parent.parent
MESSAGE_FIELDS = [
    "queue",
    "message_id",
    "incident_id",
    "verdict",
    "certainty",
    "effects_at_least",
    "effects_at_most",
    "deliveries",
    "receive_count",
    "causes",
    "origin",
    "work_id",
    "first_received_at",
    "last_received_at",
    "dead_lettered",
    "business_keys",
    "related_message_ids",
    "evidence_ids",
]
INCIDENT_FIELDS = [
    "incident_id",
    "queue",
    "started_at",
    "ended_at",
    "messages",
    "messages_at_most",
    "confirmed",
    "probable",
    "possible",
    "absorbed",
    "harmless",
    "causes",
    "primary_cause",
]


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Lake:
    return world.save(tmp_path_factory.mktemp("cli") / "lake")


@pytest.fixture
def run(lake, capsys):
    def run_command(*args: str) -> tuple[int, str, str]:
        code = cli.main(["--lake", str(lake.root), *args])
        return code, *capsys.readouterr()

    return run_command


@pytest.fixture
def data(run):
    def lines_of(*args: str) -> list[dict]:
        code, out, _ = run(*args, "--format", "jsonl")
        assert code == 0
        return [json.loads(line) for line in out.splitlines()]

    return lines_of


def test_messages_have_the_contracts_fields_with_the_contracts_kinds(data):
    confirmed, probable, harmless = data("messages")

    assert list(confirmed)[: len(MESSAGE_FIELDS)] == MESSAGE_FIELDS
    assert (confirmed["verdict"], confirmed["effects_at_least"], confirmed["effects_at_most"]) == ("confirmed", 2, 2)
    assert (probable["verdict"], harmless["verdict"]) == ("probable", "harmless")
    assert confirmed["dead_lettered"] is False
    assert confirmed["causes"] == ["batch_collateral"]
    assert confirmed["origin"] is None
    assert re.fullmatch(r"2026-11-20T05:12:00\.200Z", confirmed["first_received_at"])


def test_incidents_have_the_contracts_fields_and_causes_as_an_object(data):
    (incident,) = data("incidents")

    assert list(incident)[: len(INCIDENT_FIELDS)] == INCIDENT_FIELDS
    assert incident["causes"] == {"batch_collateral": 1, "function_timeout": 1}
    assert (incident["confirmed"], incident["probable"], incident["harmless"]) == (1, 1, 1)


def test_incidents_are_listed_by_fault_and_a_fault_lists_its_incidents(tmp_path, capsys):
    lake = world.save(tmp_path / "lake")
    moved = {c: world.incident()[c] + timedelta(hours=3) for c in ("started_at", "ended_at", "first_repeat_at")}
    later = world.incident() | moved | {"incident_id": f"{world.QUEUE}-later"}
    world.publish(lake, {**world.findings(), "incidents": [world.incident(), later]}, "run-2")

    def printed(*more):
        assert cli.main(["incidents", "--lake", str(lake.root), *more]) == 0
        return capsys.readouterr()

    by_fault = printed()
    [fault_id] = {json.loads(line)["fault_id"] for line in printed("--format", "jsonl").out.splitlines()}
    [row] = [line.split() for line in by_fault.out.splitlines() if fault_id in line]

    assert row[:2] == [fault_id, "2"]
    assert row[-1] == later["incident_id"]
    assert row[2:4] == f"{later['ended_at']:%Y-%m-%d %H:%M}".split(), "when it was last active, not when that began"
    assert "2 incidents of 1 fault;" in by_fault.err
    for more in (("--each",), ("--fault", fault_id)):
        assert all(name in printed(*more).out for name in (world.INCIDENT, later["incident_id"]))
    assert cli.main(["incidents", "--lake", str(lake.root), "--fault", "nope"]) == 2


def test_deliveries_of_one_message_come_in_the_order_of_the_receive_count(data):
    ledger = data("deliveries", "--message", world.IDS[0])

    assert [(d["receive_count"], d["effect"], d["basis"]) for d in ledger] == [
        (1, "yes", "marker"),
        (2, "yes", "marker"),
    ]


@pytest.mark.parametrize(("chars", "code"), [(8, 0), (35, 0), (7, 2)])
def test_the_beginning_of_a_message_id_is_enough_where_one_alone_begins_so(tmp_path, capsys, chars, code):
    found = world.findings()
    found["deliveries"] = [row for row in found["deliveries"] if row["message_id"] == world.IDS[1]]
    lake = world.save(tmp_path / "lake", found)
    command = ["deliveries", "--lake", str(lake.root), "--format", "jsonl", "--message", world.IDS[1][:chars]]

    assert cli.main(command) == code
    assert len(capsys.readouterr().out.splitlines()) == (0 if code else 2)


FILTERS = {
    "messages of the incident": (("messages", "--incident", world.INCIDENT), 3),
    "messages with one verdict": (("messages", "--verdict", "confirmed"), 1),
    "messages of the queue": (("messages", "--queue", world.QUEUE), 3),
    "deliveries of the incident": (("deliveries", "--incident", world.INCIDENT), 6),
    "deliveries of one message in the queue": (("deliveries", "--queue", world.QUEUE, "--message", world.IDS[1]), 2),
}


@pytest.mark.parametrize(("command", "count"), FILTERS.values(), ids=FILTERS)
def test_filters_keep_their_rows(data, command, count):
    assert len(data(*command)) == count


def test_every_format_prints_the_same_rows(run):
    printed = {how: run("messages", "--format", how)[1] for how in ("json", "jsonl", "csv", "table")}
    ids = [m["message_id"] for m in json.loads(printed["json"])]

    assert ids == [json.loads(line)["message_id"] for line in printed["jsonl"].splitlines()]
    assert ids == [row["message_id"] for row in csv.DictReader(io.StringIO(printed["csv"]))]
    assert all(i in printed["table"] for i in ids)


def test_a_table_that_is_piped_cuts_no_id(run):
    _, out, _ = run("deliveries")

    assert f"{world.GROUP}|{world.STREAM}|{world.RUNS[0][0]}|1" in out


def test_where_no_message_has_a_verdict_it_is_said_among_how_many_and_on_stderr(run):
    code, out, err = run("messages", "--queue", world.QUEUE, "--verdict", "absorbed", "--format", "jsonl")

    assert (code, out) == (0, "")
    assert err == "None of 3 messages is absorbed.\n"


@pytest.mark.parametrize(
    ("command", "said"),
    {
        "messages --verdict absorbed": "None of 3 messages is absorbed.\n",
        "messages --dead-lettered": "No dead-lettered message is known in this data version.\n",
        "findings --code out_of_order_commit": "No finding is out_of_order_commit; of other kinds: 1.\n",
        "marks": "Nobody has marked anything.\n",
        "views": "No view is kept",
    }.items(),
)
def test_a_table_without_rows_is_a_sentence_and_no_head(run, command, said):
    code, out, err = run(*command.split())

    assert (code, out) == (0, "")
    assert err.startswith(said)


def test_of_a_queue_without_findings_it_is_said_that_nothing_went_wrong_with_this_one(tmp_path, capsys):
    found = {DELIVERIES.name: [d | {"queue": "orders"} for d in world.deliveries()]}
    lake = world.save(tmp_path / "lake", found)

    assert cli.main(["findings", "orders", "--lake", str(lake.root)]) == 0
    assert capsys.readouterr().err.startswith("Nothing went wrong with orders or its message groups")


def test_no_delivery_is_a_sentence_that_says_where_to_look(tmp_path, capsys):
    lake = world.save(tmp_path / "lake", {})

    assert cli.main(["deliveries", "--lake", str(lake.root)]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"No delivery is known here: `doubletake status --lake {lake.root}`")


@pytest.mark.parametrize(
    ("status", "more"), [("ok", ""), ("denied", "`doubletake status --lake {lake}` says what was not read in full.\n")]
)
def test_an_all_clear_speaks_of_what_was_not_read_only_where_something_was_not(tmp_path, capsys, status, more):
    read = [r | {"status": status} for r in world.settings()[COVERAGE] if r["status"] == "ok"][:1]
    lake = world.save(tmp_path / "lake", {DELIVERIES.name: world.deliveries()})
    shutil.rmtree(lake.path(COVERAGE))
    lake.append(COVERAGE, read, "t|c")
    again(lake)

    assert cli.main(["incidents", world.QUEUE, "--lake", str(lake.root)]) == 0
    assert capsys.readouterr().err == (
        f"No incidents of queue {world.QUEUE!r}; 6 deliveries of it checked in this data version.\n"
        + more.format(lake=lake.root)
    )


def test_why_without_a_key_says_what_it_lacks(run):
    code, out, err = run("ask", "why")

    assert (code, out) == (2, "")
    assert err.startswith("doubletake: this question is about one message or key\n")


@pytest.mark.parametrize("command", ["incidents", "messages", "findings"])
def test_where_no_line_names_a_message_nothing_is_called_free_of_suspicion(tmp_path, capsys, command):
    blind = consumer(world.GROUP, "blind")
    lake = world.save(tmp_path / "lake", {"logging_readiness": [blind]})
    code = cli.main([command, "--lake", str(lake.root)])
    err = capsys.readouterr().err

    assert code == 0
    assert f"what it got of {world.QUEUE} was not checked" in err
    assert "No incidents" not in err
    assert "Nothing went wrong" not in err


@pytest.mark.parametrize("command", [["incidents"], ["messages"], ["ask", "still"], ["ask", "refund"]], ids=" ".join)
def test_without_a_delivery_nothing_is_called_free_of_suspicion(tmp_path, capsys, command):
    lake = world.save(tmp_path / "lake", {})
    code = cli.main([*command, "--lake", str(lake.root)])
    told = "".join(capsys.readouterr())

    assert code == 0
    assert "No delivery was found, so nothing was checked" in told
    assert "suspicion" not in told
    assert "no work was done" not in told


@pytest.mark.parametrize(
    "command",
    [
        "incidents",
        "messages",
        "findings",
        "deliveries",
        "ask still",
        "ask refund",
        "health",
        "check",
        "waiting",
        "balance",
        "sequence",
        "suggest",
        "what-if",
    ],
)
def test_a_mistyped_queue_is_never_called_clean(run, command):
    code, out, err = run(*command.split(), "--queue", "paymets.fifo")

    assert (code, out) == (2, "")
    assert "knows no queue 'paymets.fifo'" in err
    assert f"Did you mean {world.QUEUE}?" in err


def test_the_status_of_a_mistyped_queue_names_the_nearest(run):
    code, out, err = run("status", "paymets.fifo")

    assert (code, out) == (2, "")
    assert f"Did you mean {world.QUEUE}?" in err


@pytest.mark.parametrize(
    ("asked", "said"), [("pay-nobody", "names no message"), (world.QUEUE, "is a queue, and no message")]
)
def test_why_something_nobody_knows_was_charged_twice_is_an_error(run, asked, said):
    code, out, err = run("ask", "why", asked)

    assert (code, out) == (2, "")
    assert f"'{asked}' {said}" in err


def test_what_late_lines_may_still_change_is_said_to_whoever_asks_why(tmp_path, capsys):
    found = world.findings()
    found["messages"][2] |= {"is_provisional": True, "final_at": world.after(86_400)}
    lake = world.save(tmp_path / "lake", found)
    told = {}
    for key in ("pay-1003", "pay-1001"):
        assert cli.main(["ask", "why", key, "--lake", str(lake.root)]) == 0
        told[key] = capsys.readouterr().out

    assert "Provisional: the verdict on 1 work rests on lines that are missing" in told["pay-1003"]
    assert "Provisional" not in told["pay-1001"]


def test_the_status_tells_sources_gaps_and_data_version(run):
    code, out, _ = run("status", "--format", "json")
    status = json.loads(out)

    assert code == 0
    assert status["data_version"] == "run-1-012345"
    assert [(s["source"], s["status"], s["gaps"]) for s in status["sources"]] == [
        ("log_events", "ok", 1),
        ("metric_points", "denied", 0),
    ]


def test_the_status_in_words_names_the_gap(run):
    _, out, _ = run("status")

    assert "Gap: log_events /aws/lambda/charge-card was not read" in out


def test_a_report_is_written_whole_and_leaves_nothing_else(run, tmp_path):
    file = tmp_path / "case.html"
    code, out, err = run("report", world.INCIDENT, "-o", str(file))

    assert (code, out) == (0, "")
    assert file.read_text().startswith("<!doctype html>")
    assert str(file) in err
    assert os.listdir(tmp_path) == ["case.html"]


def test_the_ending_of_the_file_chooses_the_format(run, tmp_path):
    run("report", world.INCIDENT, "-o", str(tmp_path / "case.json"))

    assert json.loads((tmp_path / "case.json").read_text())["schema_version"] == 1


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        (f"{world.INCIDENT}-trace.json", '{ "traceEvents"'),
        (f"{world.INCIDENT}-Timesketch.csv", '"message","datetime"'),
        (f"{world.INCIDENT}-messages.csv", '"message_id","business_keys"'),
        ("x.trace.json", '{ "traceEvents"'),
        ("timesketch.csv", '"message","datetime"'),
        ("backtrace.json", '{ "schema"'),
    ],
)
def test_a_file_is_of_the_format_that_its_name_ends_in(run, tmp_path, name, begins):
    run("report", world.INCIDENT, "-o", str(tmp_path / name))

    assert (tmp_path / name).read_text(encoding="utf-8-sig").replace("\n", "").startswith(begins)


ENDED = {kind: f"x{ending}" for kind, ending in ENDINGS.items()} | {
    "timesketch": "x.timesketch.csv",
    "trace": "x.trace.json",
}
NAMED_OTHERWISE = [(kind, ENDED[other]) for kind, other in permutations(ENDED, 2)]
NAMED_OTHERWISE = [
    pair for pair in NAMED_OTHERWISE if pair not in (("trace", "x.json"), ("timesketch", "x-messages.csv"))
]


@pytest.mark.parametrize(("kind", "name"), NAMED_OTHERWISE)
def test_an_ending_that_contradicts_the_format_is_refused_and_nothing_written(run, tmp_path, kind, name):
    code, _, err = run("report", world.INCIDENT, "--format", kind, "-o", str(tmp_path / name))

    assert code == 2
    assert name in err
    assert f"--format says {kind}" in err
    assert [path.name for path in tmp_path.glob("x*")] == []


def test_the_csv_of_all_works_is_not_written_over_a_report_that_leaves_some_out(run, tmp_path, monkeypatch):
    monkeypatch.setattr(case_module, "load_case", partial(case_module.load_case, most=1))
    run("report", world.INCIDENT, "-o", str(tmp_path / "x.timesketch.csv"))

    assert (tmp_path / "x.timesketch.csv").read_text().startswith('"message","datetime"')
    assert '"message_id"' in (tmp_path / "x.timesketch-messages.csv").read_text().splitlines()[0]


def test_beside_a_report_that_leaves_messages_out_lies_the_csv_of_all(run, tmp_path, monkeypatch):
    monkeypatch.setattr(case_module, "load_case", partial(case_module.load_case, most=1))
    _, _, err = run("report", world.INCIDENT, "-o", str(tmp_path / "case.html"))

    assert "The report tells of the first 1 messages; 2 are left out of it." in err
    assert (tmp_path / "case.csv").read_text().count("\n") == 1 + 2


def test_a_report_to_stdout_is_the_file_and_nothing_more(run):
    _, out, err = run("report", world.INCIDENT, "--format", "md", "-o", "-")

    assert out.startswith("# payments.fifo-20261120T0512Z")
    assert err == ""


def test_options_after_the_command_win_over_those_before_it_and_over_the_environment(lake, capsys, monkeypatch):
    monkeypatch.setenv("DOUBLETAKE_LAKE", "/nowhere/at/all")

    assert cli.main(["--lake", "/nowhere", "incidents", "--lake", str(lake.root)]) == 0
    assert cli.main(["--lake", str(lake.root), "incidents"]) == 0
    assert cli.main(["incidents"]) == 2
    assert "/nowhere/at/all" in capsys.readouterr().err


def refuse(*parts: str):
    return list(parts)


BAD = {
    "an unknown incident": (
        refuse("report", "payments.fifo-20261120T0513Z"),
        "payments.fifo-20261120T0513Z",
        "Did you mean",
    ),
    "an unknown incident as a filter": (refuse("messages", "--incident", "nope"), "nope", "doubletake incidents"),
    "a beginning of several messages' ids": (
        refuse("deliveries", "--message", world.IDS[0][:-1]),
        world.IDS[0][:-1],
        "whole message id",
    ),
    "an unknown message": (refuse("deliveries", "--message", "no-such-id"), "no-such-id", "doubletake status"),
    "an unknown queue": (refuse("status", "--queue", "payment"), "payment", world.QUEUE),
    "an unknown option": (refuse("messages", "--incidnt", "x"), "--incidnt", "--incident"),
    "an unknown command": (refuse("mesages"), "mesages", "messages"),
    "an unknown format": (refuse("messages", "--format", "xml"), "xml", "jsonl"),
    "an unknown verdict": (refuse("messages", "--verdict", "sure"), "sure", "confirmed"),
    "an ending that no report has": (refuse("report", world.INCIDENT, "-o", "r.txt"), "'r.txt'", "html"),
    "a missing argument": (refuse("report"), "name an incident", "--week"),
}


@pytest.mark.parametrize(("command", "value", "hint"), BAD.values(), ids=BAD)
def test_bad_input_is_one_sentence_with_the_value_and_a_hint(run, command, value, hint):
    code, out, err = run(*command)

    assert (code, out) == (2, "")
    assert err.startswith("doubletake: ")
    assert value in err
    assert hint in err
    assert len(err.splitlines()) <= 2
    assert "Traceback" not in err


LAKES = {
    "no lake": (lambda path: None, "there is no lake"),
    "an empty folder": (lambda path: path.mkdir(), "is empty"),
    "evidence without findings": (lambda path: _evidence_only(path), "no findings"),
}


def _evidence_only(path: Path) -> None:
    from forensics.tables.evidence import LOG_EVENTS

    Lake(path).append(LOG_EVENTS, world.lines(), "test|world")


@pytest.mark.parametrize(("make", "words"), LAKES.values(), ids=LAKES)
@pytest.mark.parametrize("command", ["incidents", "messages", "deliveries", "report"])
def test_a_lake_that_cannot_answer_says_what_to_run(tmp_path, capsys, make, words, command):
    make(tmp_path / "lake")
    args = [command, "x"] if command == "report" else [command]

    assert cli.main([*args, "--lake", str(tmp_path / "lake")]) == 2
    err = capsys.readouterr().err
    assert words in err
    assert "`doubletake " in err
    assert f" --lake {tmp_path / 'lake'}`" in err, "else what is pasted asks or fills another lake"


@pytest.mark.parametrize(
    "args", [["incidents"], ["messages"], ["deliveries"], ["report", "x"]], ids=lambda args: args[0]
)
def test_a_lake_that_is_a_file_is_not_to_be_filled(tmp_path, capsys, args):
    (tmp_path / "lake").write_text("x")

    assert cli.main([*args, "--lake", str(tmp_path / "lake")]) == 2
    err = capsys.readouterr().err
    assert "is a file, and a lake is a folder" in err
    assert "`doubletake " not in err


def test_a_lake_of_a_newer_release_is_not_read(tmp_path, capsys):
    lake = world.save(tmp_path / "lake")
    take_over(lake.root / "findings" / "incidents")

    assert cli.main(["incidents", "--lake", str(lake.root)]) == 2
    assert "has schema 99" in capsys.readouterr().err


def test_a_report_that_cannot_be_written_says_where_and_leaves_nothing(run, tmp_path):
    code, _, err = run("report", world.INCIDENT, "-o", str(tmp_path / "no" / "folder.md"))

    assert code == 2
    assert "no/folder.md" in err
    assert os.listdir(tmp_path) == []


def test_an_interrupted_write_leaves_the_old_report(run, tmp_path, monkeypatch):
    file = tmp_path / "case.md"
    file.write_text("the old one")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    code, _, err = run("report", world.INCIDENT, "-o", str(file))

    assert (code, file.read_text()) == (2, "the old one")
    assert "No space left" in err
    assert os.listdir(tmp_path) == ["case.md"]


def test_a_bug_is_one_sentence_and_its_trace_comes_on_demand(run, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("forensics.report.case.load_case", broken)
    code, _, err = run("report", world.INCIDENT)
    monkeypatch.setenv("DOUBLETAKE_DEBUG", "1")
    _, _, traced = run("report", world.INCIDENT)

    assert code == 1
    assert "ZeroDivisionError: by zero" in err
    assert "DOUBLETAKE_DEBUG=1" in err
    assert "Traceback" not in err
    assert "Traceback" in traced


def test_text_from_a_log_cannot_drive_the_terminal(tmp_path, capsys):
    found = world.findings()
    found["messages"][0] |= {"business_keys": ["\x1b[2J\u202egnp"]}
    lake = world.save(tmp_path / "lake", found)
    cli.main(["messages", "--lake", str(lake.root)])
    out = capsys.readouterr().out

    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "\\x1b[2J\\u202egnp" in out


def test_a_key_with_a_line_separator_stays_on_its_line(tmp_path, capsys):
    found = world.findings()
    found["messages"][0] |= {"business_keys": ["a\u2028b\x85c\nd"]}
    lake = world.save(tmp_path / "lake", found)
    cli.main(["messages", "--format", "jsonl", "--lake", str(lake.root)])
    lines = capsys.readouterr().out.splitlines()

    assert len(lines) == 3
    assert json.loads(lines[0])["business_keys"] == ["a\u2028b\x85c\nd"]


def test_without_arguments_the_commands_are_listed(capsys):
    assert cli.main([]) == 0
    assert "incidents" in capsys.readouterr().out


def start(lake: Lake, *args: str, **options) -> subprocess.Popen:
    command = [sys.executable, "-m", "cli", *args, "--lake", str(lake.root)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


@pytest.mark.process
def test_a_reader_that_stops_reading_is_no_error(tmp_path):
    found = world.findings()
    found["messages"] = [m | {"item_id": f"{m['item_id']}-{n}"} for m in found["messages"] for n in range(2000)]
    lake = world.save(tmp_path / "lake", found)
    process = start(lake, "messages", "--format", "jsonl")
    process.stdout.readline()
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()

    assert (process.wait(PATIENCE_S), err) == (0, b"")


@pytest.mark.process
def test_the_command_line_ends_with_the_commands_exit_code(lake):
    out, err = (process := start(lake, "messages", "--incident", "nope")).communicate(timeout=PATIENCE_S)

    assert (process.returncode, out) == (2, b"")
    assert b"there is no incident 'nope'" in err
