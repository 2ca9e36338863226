"""collect, correlate and investigate from the command line: bad input, gaps, and running twice."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import cli
from forensics.lake import Lake
from lab.loglines import start_line
from tests.forensics.health.rows import week_row
from tests.forensics.report import world as report_world
from tests.ingest import world as worlds
from tests.ingest.proxy import Proxy, refuse
from tests.ingest.world import CREDENTIALS, REGION, START, World
from tests.spark_jobs.small_lake import SmallLake, some_id

ROOT = Path(cli.__file__).parent.parent
UNTIL = (START + timedelta(hours=1)).isoformat()


@pytest.fixture(autouse=True)
def only_test_credentials(monkeypatch, tmp_path):
    for name in [n for n in os.environ if n.startswith(("AWS_", "DOUBLETAKE_"))]:
        monkeypatch.delenv(name)
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent/config")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent/credentials")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(capsys):
    def run_command(*args: str) -> tuple[int, str, str]:
        return cli.main(args), *capsys.readouterr()

    return run_command


@pytest.fixture(scope="module")
def emulator() -> Iterator[str]:
    """The emulator behind a proxy that answers what it lacks."""
    with worlds.ministack() as url:
        proxy = Proxy(url)
        yield proxy.url
        proxy.stop()


@pytest.fixture(scope="module")
def world(emulator) -> World:
    return World(emulator)


@pytest.fixture(scope="module")
def orders(world) -> str:
    """A queue whose function logged three lines."""
    queue = world.queue("orders")
    function = world.function("handle-order", [queue])
    world.log(f"/aws/lambda/{function}", [(at, f"line {at}") for at in (1000, 2000, 3000)])
    return queue


@pytest.fixture(scope="module")
def faulty(emulator) -> Iterator[Proxy]:
    proxy = Proxy(emulator)
    yield proxy
    proxy.stop()


def collect(queue: str, url: str, *more: str) -> list[str]:
    window = ["--since", START.isoformat(), "--until", UNTIL]
    return ["collect", "--queue", queue, *window, "--region", REGION, "--endpoint-url", url, "--lake", "lake", *more]


@pytest.mark.emulator
def test_collecting_says_what_was_read_and_a_second_time_adds_nothing(run, orders, emulator):
    first, second, third = (run(*collect(orders, emulator, *more)) for more in ((), (), ("--again",)))

    assert (first[0], second[0], third[0]) == (0, 0, 0)
    assert "3 log events of 1 log group, 3 of them new" in first[2]
    assert "1 log group had been read before and settled" in second[2]
    assert "3 log events of 1 log group, 0 of them new" in third[2]
    assert first[1] == ""


@pytest.mark.emulator
def test_a_dry_run_says_the_cost_and_writes_nothing(run, orders, emulator):
    code, out, _ = run(*collect(orders, emulator, "--dry-run"))

    assert code == 0
    assert "size not known, at least 1 call" in out
    assert "Logs: 1 call of FilterLogEvents, 500 ms at our pace" in out
    assert not Path("lake").exists()


@pytest.mark.emulator
def test_several_queues_are_named_with_one_option_or_with_one_each(run, world, orders, emulator):
    other = world.queue("invoices")
    with_one = run(*collect(orders, emulator, other))
    with_each = run(*collect(orders, emulator, "--queue", other))

    assert (with_one[0], with_each[0]) == (0, 0)
    assert f"Read {orders}, {other} from" in with_one[2]
    assert f"Read {orders}, {other} from" in with_each[2]


@pytest.mark.emulator
def test_a_denied_source_is_a_named_gap_and_exit_code_3(run, orders, faulty):
    faulty.reset()
    faulty.fail("logs:FilterLogEvents", refuse("AccessDeniedException"))
    code, _, err = run(*collect(orders, faulty.url))
    status = json.loads(run("status", "--format", "json", "--lake", "lake")[1])

    assert code == 3
    assert "Gap: " in err
    assert "AccessDeniedException" in err
    assert {s["status"] for s in status["sources"] if s["source"] == "log_events"} == {"denied"}
    assert {s["status"] for s in status["sources"] if s["source"] == "queue_settings"} == {"ok"}


@pytest.mark.emulator
def test_an_unknown_queue_is_named_and_nothing_is_written(run, emulator):
    code, out, err = run(*collect("no-such-queue", emulator))

    assert (code, out) == (2, "")
    assert err.startswith("doubletake: ")
    assert "no-such-queue" in err
    assert not os.path.exists("lake")


@pytest.mark.emulator
def test_a_lake_that_cannot_be_written_is_named(run, orders, emulator, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    code, _, err = run(*collect(orders, emulator, "--lake", "file/lake"))

    assert code == 2
    assert "file/lake" in err
    assert "Traceback" not in err


@pytest.mark.emulator
def test_a_full_disk_is_said_and_the_next_run_completes_the_evidence(run, orders, emulator, tmp_path):
    def no_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))

    command = [sys.executable, str(ROOT / "doubletake"), *collect(orders, emulator)]
    full = subprocess.run(command, cwd=tmp_path, preexec_fn=no_room, capture_output=True, text=True, check=False)
    code, _, err = run(*collect(orders, emulator))
    rows = json.loads(run("status", "--format", "json", "--lake", "lake")[1])["evidence_rows"]

    assert full.returncode == 2
    assert full.stderr.startswith("doubletake: the disk is full: nothing is half-written")
    assert "Traceback" not in full.stderr
    assert code == 0
    assert rows["log_events"] == 3


BAD = {
    "no queue": (("collect",), "no queue was named", "doubletake collect payments.fifo"),
    "a queue and all queues": (("collect", "--queue", "a", "--all-queues"), "--all-queues", "doubletake collect"),
    "a time that is none": (("collect", "--queue", "a", "--since", "yesterday"), "'yesterday'", "6h"),
    "a span that is none": (("collect", "--queue", "a", "--since", "6x"), "'6x'", "6h"),
    "an end before the start": (("collect", "--queue", "a", "--since", "1h", "--until", "2h"), "'2h'", "--until"),
    "a time that is none, to investigate": (("investigate", "q", "--since", "soon"), "'soon'", "6h"),
    "a time after all evidence, to correlate": (
        ("correlate", "--lake", "full", "--since", "1h"),
        "the evidence ends at",
        "leave --since out",
    ),
    "a time that is none, to correlate": (("correlate", "--lake", "full", "--since", "soon"), "'soon'", "6h"),
    "no region": (("collect", "--queue", "a"), "region", "--region"),
    "an endpoint that is no address": (
        ("collect", "--queue", "a", "--region", REGION, "--endpoint-url", "nonsense"),
        "'nonsense'",
        "http://",
    ),
    "an endpoint where nothing answers": (
        ("collect", "--queue", "a", "--region", REGION, "--endpoint-url", "http://127.0.0.1:1"),
        "http://127.0.0.1:1",
        "--endpoint-url",
    ),
    "an unknown profile": (("collect", "--queue", "a", "--profile", "nobody"), "'nobody'", "profile"),
    "a settings file that is not there": (("collect", "--queue", "a", "--config", "no.toml"), "no.toml", "--config"),
    "a settings file that is broken": (("collect", "--queue", "a", "--config", "bad.toml"), "bad.toml", "TOML"),
    "a broken settings file for Spark": (("correlate", "--lake", "full", "--config", "bad.toml"), "bad.toml", "TOML"),
    "a broken settings file where it decides nothing": (
        ("incidents", "--lake", "full", "--config", "bad.toml"),
        "bad.toml",
        "TOML",
    ),
    "a lake elsewhere": (("correlate", "--lake", "s3://bucket/lake"), "s3://bucket/lake", "path"),
    "no lake to correlate": (("correlate", "--lake", "none"), "none", "doubletake collect"),
    "a queue missing": (("investigate",), "no queue was named", "doubletake status"),
}


@pytest.mark.parametrize(("command", "value", "hint"), BAD.values(), ids=BAD)
def test_bad_input_is_one_sentence_with_the_value_and_a_hint(run, tmp_path, command, value, hint):
    (tmp_path / "bad.toml").write_text("[[function]\nname = 1")
    if "full" in command:
        report_world.save(tmp_path / "full")
    before = sorted(os.listdir())
    code, out, err = run(*command)

    assert (code, out) == (2, "")
    assert err.startswith("doubletake: ")
    assert value in err
    assert hint in err
    assert len(err.splitlines()) == 2
    assert sorted(os.listdir()) == before


def test_no_credentials_is_said_before_anything_is_written(run, monkeypatch):
    for name in CREDENTIALS:
        monkeypatch.delenv(name)
    code, _, err = run("collect", "--queue", "a", "--region", REGION, "--endpoint-url", "http://127.0.0.1:1")

    assert code == 2
    assert "credentials" in err
    assert "--profile" in err
    assert os.listdir() == []


LEFT_OUT = "Log events before 2026-11-20 00:00:00.000 UTC are left out of data version run-2-012345, so what they show was not checked"


@pytest.mark.lake
def test_what_correlate_leaves_out_with_since_is_said(run, tmp_path, monkeypatch):
    lake = report_world.save(tmp_path / "lake")

    def published(*_, since, **__):
        report_world.publish(lake, {}, "run-2", data_since_at=since)
        return lake.generation()

    monkeypatch.setattr("spark_jobs.runner.correlate", published)
    code, _, err = run("correlate", "--lake", "lake", "--since", "2026-11-20T00:00:00Z")

    assert code == 0
    assert LEFT_OUT in err


@pytest.mark.lake
@pytest.mark.parametrize("command", ["incidents", "messages", "findings", "marks", "health", "ask still", "ask refund"])
def test_every_command_says_that_logs_were_left_out_also_with_quiet(run, tmp_path, command):
    lake = report_world.save(tmp_path / "lake")
    found = {"queue_weeks": [week_row(report_world.QUEUE, "2026-W47")]}
    report_world.publish(lake, found, "run-2", data_since_at=datetime(2026, 11, 20, tzinfo=UTC))
    code, out, err = run(*command.split(), "--lake", "lake", "--quiet")

    assert code == 0
    assert LEFT_OUT in err
    assert "no work was done" not in out + err
    assert ".." not in out.replace("...", "")


def test_a_lake_that_another_process_writes_is_busy(run, tmp_path):
    report_world.save(tmp_path / "lake")
    with Lake(tmp_path / "lake").writing("correlate"):
        code, _, err = run("correlate", "--lake", "lake")

    assert code == 75
    assert "another `doubletake correlate`" in err


@pytest.mark.process
def test_correlate_says_only_what_we_have_to_say(tmp_path):
    """A process of its own, as a person has it: nothing of Java's or Spark's, from the first word to the last.

    Python tells besides what it loads: pyspark would bring pandas, and nothing of ours asks for it.
    """
    lake = SmallLake()
    lake.queue("orders")
    lake.function("orders", "charge", (0, start_line(some_id("run"))))
    lake.write(tmp_path / "lake")
    environment = {k: v for k, v in os.environ.items() if k not in ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS")}

    python = [sys.executable, "-X", "importtime"]
    command = [*python, str(ROOT / "doubletake"), "correlate", "--lake", str(tmp_path / "lake")]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    told = done.stderr.splitlines()
    loaded = {line.rpartition("|")[2].strip() for line in told if line.startswith("import time:")}
    said = [line for line in told if not line.startswith("import time:")]
    assert "pyspark.core.context" in loaded and "pandas.core.api" not in loaded
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert said[0].startswith("  Spark runs on Java ")
    assert [line for line in said[1:] if not line.startswith("  ")] == said[-2:], done.stderr
    assert said[1:-2] == [
        "  reading 1 log event",
        "  judging what was redelivered",
        "  weighing incidents, settings and the health of the queues",
    ]
    assert said[-2].startswith("Correlated: 0 deliveries")
    assert said[-1].startswith("No line of charge names a message: what it got of orders was not checked.")
    assert not (tmp_path / "spark-warehouse").exists()
