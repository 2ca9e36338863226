"""serve and demo from the command line: the dashboard's process, and the demo's own lake."""

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

import cli
from cli import dashboard
from cli.demo import DEMO_MARK, DemoLakeError, fresh_demo_lake, only_this_aws
from tests.forensics.report import world
from tests.pages.browser import free_port
from tests.waiting import PATIENCE_S

ROOT = Path(cli.__file__).parent.parent


def address_in(process: subprocess.Popen, limit_s: float = PATIENCE_S) -> str:
    """Return the address a command prints."""
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline and (line := process.stdout.readline()):
        if found := re.match(r"Dashboard: (http://\S+:\d+)$", line):
            return found[1]
    raise AssertionError(f"no address; stderr: {process.stderr.read()}")


def answers(address: str) -> bool:
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address, timeout=PATIENCE_S) as reply:
            return reply.status == 200
    except OSError:
        return False


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def children_of(pid: int) -> list[int]:
    return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


FAR = ("--host", "doubletake.example.com", "--trusted-proxy", "--address")
SERVES = {"by itself": (), **{listens: (*FAR, listens) for listens in ("127.0.0.2", "::1", "::")}}
"""Options with which `serve` is started here."""
ENDS = {
    "Ctrl-C": (signal.SIGINT, "127.0.0.2"),
    "SIGTERM": (signal.SIGTERM, "::1"),
    "a closed terminal": (signal.SIGHUP, "::"),
}
"""What ends which of them."""


def ends_as_usual() -> None:
    """Undo what a test run was told to ignore: under nohup a closed terminal is nobody's end."""
    for number, _ in ENDS.values():
        signal.signal(number, signal.SIG_DFL)


@pytest.fixture(scope="module")
def serving(tmp_path_factory):
    """Return a function from the options' name to a `serve` that runs with them, and the address that it printed.

    To start one takes longer than what is asked of it. A test may end it: who asks next has another.
    """
    running = {}

    def serve(options: str) -> tuple[subprocess.Popen, str]:
        if options not in running or running[options][0].poll() is not None:
            folder = tmp_path_factory.mktemp("serving")
            port = str(free_port())  # the usual one is taken by the next server of another test as soon as one ends
            command = [sys.executable, str(ROOT / "doubletake"), "serve", "--lake", str(folder / "not yet")]
            process = subprocess.Popen(
                [*command, "--port", port, *SERVES[options]],
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                preexec_fn=ends_as_usual,
            )
            running[options] = process, address_in(process)
        return running[options]

    yield serve
    for process, _ in running.values():
        process.terminate()
        process.communicate(timeout=PATIENCE_S)


@pytest.mark.process
@pytest.mark.parametrize(("listens", "url"), [("127.0.0.2", "127.0.0.2"), ("::1", "[::1]"), ("::", "[::1]")])
def test_it_answers_at_the_address_it_was_told_to_listen_at(serving, listens, url):
    _, address = serving(listens)

    assert re.match(rf"http://{re.escape(url)}:\d+$", address)
    assert answers(address)


@pytest.mark.process
@pytest.mark.parametrize(("number", "options"), ENDS.values(), ids=ENDS)
def test_the_dashboard_ends_cleanly_with_its_process(serving, number, options):
    process, address = serving(options)
    (child,) = children_of(process.pid)

    assert answers(address)
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    assert "Traceback" not in err and "WARNING" not in err
    assert not Path(f"/proc/{child}").exists()
    assert not answers(address)


def test_an_address_of_another_machine_is_named():
    with pytest.raises(dashboard.DashboardError, match="'192.0.2.1' is not an address of this machine"):
        dashboard.listening(None, "192.0.2.1")


def test_a_port_that_is_taken_is_named(tmp_path, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code = cli.main(["serve", "--port", str(port), "--lake", str(tmp_path)])

    assert code == 2
    assert f"port {port} is taken" in capsys.readouterr().err


def test_without_a_wish_another_free_port_is_found(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setattr(dashboard, "DEFAULT_PORT", taken.getsockname()[1])

        with dashboard.listening(None) as found:
            assert found.getsockname()[1] != taken.getsockname()[1]


def test_two_that_start_at_one_moment_listen_on_two_ports(monkeypatch):
    monkeypatch.setattr(dashboard, "DEFAULT_PORT", free_port())

    with dashboard.listening(None) as one, dashboard.listening(None) as other:
        assert one.getsockname()[1] == dashboard.DEFAULT_PORT != other.getsockname()[1]


def test_a_dashboard_that_cannot_start_is_said(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(dashboard.sys, "executable", "/bin/false")
    code = cli.main(["serve", "--lake", str(tmp_path)])

    err = capsys.readouterr().err

    assert code == 2
    assert "the dashboard did not start" in err
    assert str(tmp_path) in err.splitlines()[0], "a mistyped folder is said before anybody opens an empty page"
    assert "Until then every page says only that." in err
    assert f"`doubletake collect QUEUE --lake {tmp_path}`" in err, "else what is pasted fills another lake"


def test_the_demo_makes_its_own_folder_and_marks_it(tmp_path):
    folder = fresh_demo_lake(tmp_path / "demo-lake")

    assert os.listdir(folder) == [DEMO_MARK]


def test_a_demo_before_is_emptied_and_nothing_that_it_points_to(tmp_path):
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "evidence").write_text("keep me")
    folder = fresh_demo_lake(tmp_path / "demo-lake")
    (folder / "evidence").mkdir()
    (folder / "evidence" / "old").write_text("x")
    (folder / "link").symlink_to(precious)

    fresh_demo_lake(folder)

    assert os.listdir(folder) == [DEMO_MARK]
    assert (precious / "evidence").read_text() == "keep me"


def test_a_lake_that_no_demo_made_is_never_emptied(tmp_path, capsys):
    lake = world.save(tmp_path / "lake")
    before = lake.versions()
    code = cli.main(["demo", "--no-serve", "--lake", str(lake.root)])
    err = capsys.readouterr().err

    assert code == 2
    assert "was not made by a demo" in err
    assert "--lake ./demo-lake" in err
    assert lake.versions() == before


def test_a_file_in_the_demos_place_is_left_alone(tmp_path):
    (tmp_path / "demo-lake").write_text("mine")

    with pytest.raises(DemoLakeError):
        fresh_demo_lake(tmp_path / "demo-lake")
    assert (tmp_path / "demo-lake").read_text() == "mine"


def test_the_demo_never_speaks_to_the_account_of_the_shell(monkeypatch):
    class Embedded:
        def environment(self):
            return {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_REGION": "here"}

    monkeypatch.setenv("AWS_PROFILE", "production")
    monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", "http://elsewhere")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    with only_this_aws(Embedded()):
        inside = {n: v for n, v in os.environ.items() if n.startswith("AWS_") or n == "HTTPS_PROXY"}

    assert inside == Embedded().environment()
    assert os.environ["AWS_PROFILE"] == "production"


BAD = {
    "an unknown scenario": (("demo", "--scenario", "nope"), "'nope'", "double-billing"),
    "a scenario that is never live": (
        ("demo", "--live", "--scenario", "producer-and-consumer"),
        "cannot be played live",
        "double-billing, fifo-order",
    ),
    "a port that is none": (("serve", "--port", "99999"), "--port", "--help"),
    "a lake elsewhere": (("serve", "--lake", "s3://bucket/lake"), "s3://bucket/lake", "path"),
    "a settings file that is not there": (("serve", "--config", "no.toml"), "no.toml", "--config"),
}


@pytest.mark.parametrize(("command", "value", "hint"), BAD.values(), ids=BAD)
def test_bad_input_is_one_sentence_with_the_value_and_a_hint(capsys, tmp_path, monkeypatch, command, value, hint):
    monkeypatch.chdir(tmp_path)
    code = cli.main(command)
    out, err = capsys.readouterr()

    assert (code, out) == (2, "")
    assert value in err
    assert hint in err
    assert os.listdir() == []


@pytest.fixture(scope="module")
def served(serving):
    """Return the port of a dashboard on this machine."""
    return int(serving("by itself")[1].rpartition(":")[2])


def asked(port: int, path: str, host: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    connection.request("GET", path, headers={"Host": host})
    reply = connection.getresponse()
    reply.read()
    connection.close()
    return reply


@pytest.mark.process
@pytest.mark.parametrize("path", ["/", "/incident", "/_stcore/health", "/_stcore/host-config", "/static/none.js"])
def test_no_other_site_may_frame_a_page_or_learn_its_address(served, path):
    reply = asked(served, path, f"localhost:{served}")

    assert "frame-ancestors 'none'" in reply.headers["Content-Security-Policy"]
    assert reply.headers["X-Frame-Options"] == "DENY"
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert reply.headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.process
@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "localhost@evil.example", "", "127.0.0.1:x"]
)
def test_a_request_to_another_host_is_refused_also_without_a_websocket(served, host):
    assert asked(served, "/", host).status in (400, 421)


@pytest.mark.process
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "LOCALHOST"])
def test_its_own_names_are_answered(served, host):
    assert asked(served, "/", f"{host}:{served}").status == 200


@pytest.mark.process
def test_whoever_balances_load_may_ask_by_an_address_whether_it_is_up(served):
    assert asked(served, "/_stcore/health", "10.1.2.3").status == 200


@pytest.mark.process
def test_the_dashboard_ends_although_the_command_was_killed(serving):
    process, _ = serving("by itself")
    (child,) = children_of(process.pid)
    process.kill()
    process.communicate(timeout=PATIENCE_S)

    deadline = time.monotonic() + PATIENCE_S
    while is_running(child) and time.monotonic() < deadline:
        time.sleep(0.05)  # nobody is told when a process ends that is no child of ours
    assert not is_running(child)
