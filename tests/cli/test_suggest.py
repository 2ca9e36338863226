import json
from datetime import timedelta

import pytest

import cli
from forensics.identity import evidence_id
from forensics.settings import Settings
from tests.forensics.report import world

pytestmark = pytest.mark.lake

RUNS = 100


def told():
    """Return deliveries and lines of runs that ended well, of one message each."""
    deliveries, lines = [], []
    for n in range(RUNS):
        at = world.after(5_000 + 60 * n)
        message = f"00000000-0000-4000-8000-{n + 100:012d}"
        name = f"{world.GROUP}|{world.STREAM}|request-{n}|{int(at.timestamp() * 1000)}"
        deliveries.append(
            {
                "queue_arn": world.QUEUE_ARN,
                "queue": world.QUEUE,
                "item_id": message,
                "message_id": message,
                "delivery_index": 1,
                "is_seen": True,
                "consumer": name,
                "consumer_kind": "lambda",
                "log_group": world.GROUP,
                "log_stream": world.STREAM,
                "function_name": world.FUNCTION,
                "batch_position": 1,
                "batch_count": 1,
                "received_at": at,
                "run_ended_at": at + timedelta(seconds=1),
                "run_status": "success",
                "effect": "yes",
                "basis": "returned",
                "ended_by": "deleted",
                "business_keys": [],
                "evidence_ids": [],
            }
        )
        for place, (ms, text) in enumerate(((2, f"begin {message}"), (990, f"booked message {message}"))):
            lines.append(
                {
                    "evidence_id": evidence_id("log", "111122223333", "eu-west-1", world.GROUP, f"more {n} {place}"),
                    "account_id": "111122223333",
                    "region": "eu-west-1",
                    "log_group": world.GROUP,
                    "log_stream": world.STREAM,
                    "event_id": f"more {n} {place}",
                    "logged_at": at + timedelta(milliseconds=ms),
                    "ingested_at": at,
                    "order_in_ms": 0,
                    "line": text,
                    "collected_at": at,
                }
            )
    return deliveries, lines


@pytest.fixture
def lake(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    deliveries, lines = told()
    found = world.findings()
    saved = world.save(
        tmp_path / "lake", {**found, "deliveries": [*found["deliveries"], *deliveries]}, [*world.lines(), *lines]
    )
    return str(saved.root)


def test_what_the_lines_show_is_printed_with_how_far_it_fits(lake, capsys):
    assert cli.main(["suggest", world.QUEUE, "--lake", lake, "--format", "json"]) == 0
    records = {r["key"]: r for r in json.loads(capsys.readouterr().out)}

    assert records["effect"]["value"] == r"booked message (?P<message_id>\S+)"
    assert records["started"]["value"] == r"begin (?P<message_id>\S+)"
    assert (records["effect"]["fits_count"], records["effect"]["of_count"]) == (RUNS, RUNS + 3)


def test_what_is_accepted_is_written_with_its_evidence_and_the_rest_is_not(lake, tmp_path):
    assert cli.main(["suggest", world.QUEUE, "--lake", lake, "--write", "--accept", "effect"]) == 0
    text = (tmp_path / "doubletake.toml").read_text()

    (function,) = Settings.parse(text).functions
    assert function.effect == r"booked message (?P<message_id>\S+)"
    assert function.started is None
    assert "# fits 97.1 % of 103 messages" in text


def saved(tmp_path, ends=None, says=None):
    """Save the runs under other ends, and with other lines in the place of ``booked``; return the lake's folder."""
    deliveries, lines = told()
    for row in deliveries:
        row |= ends or {}
    for row in lines:
        row["line"] = says(row["line"]) if says else row["line"]
    found = world.findings() | {"deliveries": deliveries, "messages": [], "redeliveries": []}
    return str(world.save(tmp_path / "lake", found, lines).root)


def test_where_no_line_tells_how_runs_ended_that_is_said_and_no_count_of_those_that_ended_well(tmp_path, capsys):
    """At SystemLogLevel WARN a run leaves neither START nor REPORT, unless it failed."""
    lake = saved(tmp_path, {"run_status": "unknown", "run_ended_at": None})

    assert cli.main(["suggest", world.QUEUE, "--lake", lake]) == 0
    printed = capsys.readouterr()

    assert f"no line tells how {RUNS} runs ended" in printed.err
    assert "ended well and whose" not in printed.err
    assert "Nothing to propose" in printed.out


def test_where_a_start_is_proposed_and_no_effect_it_is_said_to_ask_again(tmp_path, capsys):
    """A run that was cut off may have begun a message that no known word names: with the start known, its line is the last."""
    lake = saved(tmp_path, says=lambda line: line if line.startswith("begin") else "booked")

    assert cli.main(["suggest", world.QUEUE, "--lake", lake]) == 0

    told = capsys.readouterr()
    assert "started" in told.out
    assert "once more: where more lines name their message" in told.err


def test_messages_that_a_logged_response_names_as_failed_need_no_effect_line(tmp_path, capsys):
    def says(line):
        message = line.rpartition(" ")[2]
        is_failed = line.startswith("booked") and message.endswith("3")
        return json.dumps({"batchItemFailures": [{"itemIdentifier": message}]}) if is_failed else line

    assert cli.main(["suggest", world.QUEUE, "--lake", saved(tmp_path, says=says), "--format", "json"]) == 0
    records = {r["key"]: r for r in json.loads(capsys.readouterr().out)}

    assert records["effect_is_exhaustive"]["value"] is True
    assert (records["effect"]["fits_count"], records["effect"]["of_count"]) == (RUNS - 10, RUNS - 10)


def test_a_start_that_tells_the_key_is_proposed_with_it(tmp_path, capsys):
    def says(line):
        message = line.rpartition(" ")[2]
        key = f"ord-{message[-5:]}"
        return f"{line} order_id={key}" if line.startswith("begin") else f"booked {key} ref=r-{int(message[-5:]) * 7}"

    assert cli.main(["suggest", world.QUEUE, "--lake", saved(tmp_path, says=says), "--format", "json"]) == 0
    records = {r["key"]: r for r in json.loads(capsys.readouterr().out)}

    assert records["effect"]["value"] == r"booked (?P<key>\S+)"
    assert records["started"]["value"] == r"begin (?P<message_id>\S+).*?\border_id=(?P<key>[\w.@+/-]+)"


def two_ways(line):
    """Let messages end as booked or as backordered."""
    message = line.rpartition(" ")[2]
    return line.replace("booked", "backordered") if int(message[-1]) % 2 else line


@pytest.mark.parametrize("accepted", ["all", "effect"])
def test_of_several_ways_in_which_work_ends_none_is_written_unless_one_is_chosen(
    tmp_path, monkeypatch, capsys, accepted
):
    monkeypatch.chdir(tmp_path)
    lake = saved(tmp_path, says=two_ways)

    assert cli.main(["suggest", world.QUEUE, "--lake", lake, "--write", "--accept", accepted]) == 2
    printed = capsys.readouterr()
    assert printed.out.count(" effect ") == 2
    assert "has 2 lines that may be its effect, and one can be written" in printed.err
    assert "which line means that work was done is to be said first" in printed.out
    assert not (tmp_path / "doubletake.toml").exists()


def test_whoever_takes_one_way_is_not_asked_of_the_others(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lake = saved(tmp_path, says=two_ways)
    asked = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("typer.confirm", lambda text, err: asked.append(text) or "booked" in text)

    assert cli.main(["suggest", world.QUEUE, "--lake", lake, "--write"]) == 0
    assert [text.partition(" ")[0] for text in asked].count("effect") <= 2
    (function,) = Settings.parse((tmp_path / "doubletake.toml").read_text()).functions
    assert function.effect.startswith("booked message")


def test_nothing_is_written_where_nobody_says_what(lake, tmp_path, capsys):
    assert cli.main(["suggest", world.QUEUE, "--lake", lake, "--write"]) == 2
    assert "nobody is here to be asked" in capsys.readouterr().err
    assert not (tmp_path / "doubletake.toml").exists()


def test_accepting_without_writing_is_one_sentence(lake, capsys):
    assert cli.main(["suggest", world.QUEUE, "--lake", lake, "--accept", "all"]) == 2
    assert "--write was not given" in capsys.readouterr().err


def test_a_queue_that_is_not_there_is_named(lake, capsys):
    assert cli.main(["suggest", "no-such-queue", "--lake", lake]) == 2
    assert "'no-such-queue'" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["suggest", "what-if", "sequence"])
def test_the_only_queue_of_a_lake_need_not_be_named_and_of_several_the_names_are_told(tmp_path, capsys, command):
    found = world.findings()
    one = world.save(tmp_path / "one", found)
    found["deliveries"][0] |= {"queue": "mail", "queue_arn": "arn:aws:sqs:eu-west-1:111122223333:mail"}
    several = world.save(tmp_path / "several", found)

    cli.main([command, "--lake", str(one.root)])
    assert "no queue was named" not in capsys.readouterr().err
    assert cli.main([command, "--lake", str(several.root)]) == 2
    assert "no queue was named" in (told := capsys.readouterr().err)
    assert f"There is: mail, {world.QUEUE}" in told


def test_a_settings_file_that_is_not_there_yet_is_made(lake, tmp_path):
    file = tmp_path / "new.toml"

    assert cli.main(["suggest", world.QUEUE, "--lake", lake, "--config", str(file), "--write", "--accept", "all"]) == 0
    assert "effect = " in file.read_text(encoding="utf-8")
