import json
import re
import socket
import threading
from contextlib import suppress
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import SimpleNamespace

import pytest

import cli
import ingest.collect
import spark_jobs.context
import spark_jobs.runner
from forensics.people import Marks
from forensics.report.notice import WebhookError, news_of, notice_of, target_of
from forensics.report.opening import opening
from forensics.tables.findings import INCIDENTS
from forensics.tables.people import NOTICES
from tests.forensics.report import world

pytestmark = pytest.mark.slow


class Hook:
    """A webhook on loopback: what it got, and what it answers, at first as ``then`` lists."""

    def __init__(self):
        self.got, self.status, self.then = [], 200, []
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                hook.got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                hook.status = hook.then.pop(0) if hook.then else hook.status
                if hook.status is None:
                    self.wfile.write(b"this is not HTTP\r\n\r\n")
                    return
                self.send_response(hook.status)
                if hook.status == 302:
                    self.send_header("Location", hook.address)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/services/T0/SECRET"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def hook(monkeypatch, tmp_path):
    found = Hook()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOUBLETAKE_WEBHOOK", found.address)
    (tmp_path / "doubletake.toml").write_text("[notify]\nalerts = []\n")  # here only incidents are told
    yield found
    found.server.shutdown()
    found.server.server_close()


@pytest.fixture
def lake(tmp_path):
    return world.save(tmp_path / "lake")


def notify(lake, *more):
    return cli.main(["notify", "--lake", str(lake.root), *more])


def changed(**columns):
    return world.findings() | {"incidents": [world.incident() | columns]}


@pytest.mark.parametrize(
    ("begin", "code"), [(b"HTTP/1.1 200 OK\r\n", 3), (b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n", 0)]
)
def test_a_receiver_that_sends_a_byte_now_and_then_holds_nobody(hook, lake, monkeypatch, capsys, begin, code):
    monkeypatch.setattr("cli.webhook.WHOLE_CALL_S", 0.5)
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("DOUBLETAKE_WEBHOOK", f"http://127.0.0.1:{server.getsockname()[1]}/x")
        threading.Thread(target=dripping, args=(server, begin, over), daemon=True).start()

        assert notify(lake, "--test") == code
    over.set()
    assert ("in 0.5 s" in capsys.readouterr().err) == (code == 3)


def dripping(server, begin, over):
    client, _ = server.accept()
    with client, suppress(OSError):
        client.recv(65_536)
        client.sendall(begin)
        while not over.wait(0.05):
            client.sendall(b"X")


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_a_mistyped_lake_is_said_before_the_webhook_that_its_settings_file_would_name(
    capsys, monkeypatch, tmp_path, more
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DOUBLETAKE_WEBHOOK", raising=False)

    assert cli.main(["notify", "--lake", "typo", *more]) == 2
    assert "there is no lake at " in capsys.readouterr().err


def test_a_test_message_needs_no_lake(hook):
    assert cli.main(["notify", "--lake", "not-filled-yet", "--test"]) == 0
    assert len(hook.got) == 1


def test_an_incident_is_told_once(hook, lake):
    assert notify(lake) == 0
    assert notify(lake) == 0
    (said,) = hook.got

    assert world.incident()["headline"] in said["text"]
    assert "confirmed 1" in said["blocks"][0]["text"]["text"]


def test_a_change_is_told_again_and_a_later_end_alone_is_not(hook, lake):
    notify(lake)
    world.publish(lake, changed(ended_at=world.after(9000)), "run-2")
    notify(lake)

    assert len(hook.got) == 1

    world.publish(lake, changed(confirmed=2, probable=0), "run-3")
    notify(lake)

    assert "confirmed 2" in hook.got[1]["blocks"][0]["text"]["text"]


def test_a_dry_run_prints_and_neither_sends_nor_remembers(hook, lake, capsys):
    assert notify(lake, "--dry-run") == 0
    assert json.loads(capsys.readouterr().out)["blocks"]
    assert hook.got == []
    assert lake.count(NOTICES) == 0


@pytest.mark.parametrize("status", [302, 404, 500, None], ids=["redirect", "gone", "broken", "not even HTTP"])
def test_what_the_webhook_did_not_take_is_told_again_next_time(hook, lake, capsys, status):
    hook.status = status

    assert notify(lake) == 3
    assert "SECRET" not in capsys.readouterr().err
    assert len(hook.got) == 1

    hook.status = 204

    assert notify(lake) == 0
    assert len(hook.got) == 2


def test_nobody_listening_is_one_sentence_without_the_address(hook, lake, capsys):
    hook.server.shutdown()
    hook.server.server_close()

    assert notify(lake) == 3
    assert "SECRET" not in capsys.readouterr().err


def test_the_address_is_never_kept(hook, lake):
    notify(lake)
    (row,) = lake.read(NOTICES).to_pylist()

    assert row["target"].startswith("127.0.0.1~")
    assert "SECRET" not in str(row)


def test_without_an_address_it_says_which_variable_lacks_it(lake, monkeypatch, capsys):
    monkeypatch.delenv("DOUBLETAKE_WEBHOOK", raising=False)

    assert notify(lake) == 3
    assert "DOUBLETAKE_WEBHOOK" in capsys.readouterr().err


def test_an_unknown_incident_is_refused_before_anything_is_sent(hook, lake):
    assert notify(lake, "nobody-20250101T0000Z") == 2
    assert hook.got == []


def test_the_json_form_is_everything_but_the_evidence_ids(hook, lake):
    notify(lake, "--kind", "json")
    (said,) = hook.got

    assert said["incident"]["incident_id"] == world.INCIDENT
    assert said["news"] == news_of(lake.findings().read(INCIDENTS).to_pylist()[0])
    assert "evidence_ids" not in said["incident"]


def first_lines(incident):
    return opening(incident, [], [], [], 0, Marks(), (), True)


def test_a_name_from_a_log_cannot_mention_a_channel_or_make_a_link():
    hostile = world.incident() | {"headline": "<!channel> *x* <https://e.example|click>", "cause_sentence": "<@U1>"}
    text = notice_of(hostile, first_lines(hostile), "slack", None, "v").body["blocks"][0]["text"]["text"]

    assert "<" not in text


def again(n):
    """The world's incident, once more, some hours later."""
    moved = {c: world.incident()[c] + timedelta(hours=3 * n) for c in ("started_at", "ended_at", "first_repeat_at")}
    return world.incident() | moved | {"incident_id": f"{world.QUEUE}-again-{n}"}


def test_a_fault_that_came_back_is_told_once_and_all_its_incidents_count_as_told(hook, lake, tmp_path):
    world.publish(lake, {**world.findings(), INCIDENTS.name: [world.incident(), again(1), again(2)]}, "run-2")
    notify(lake)
    notify(lake)
    [said] = hook.got

    assert "It came back: 3 times in 6 h 10 min, 3 to 6 repeats in all" in said["blocks"][0]["text"]["text"]
    assert {n["incident_id"] for n in lake.read(NOTICES).to_pylist()} == {
        i["incident_id"] for i in (world.incident(), again(1), again(2))
    }


def test_a_link_leads_to_the_incident():
    told = notice_of(world.incident(), first_lines(world.incident()), "slack", "https://d.example.com/", "v")
    said = told.body["blocks"][0]["text"]["text"]

    assert f"<https://d.example.com/incident?incident={world.INCIDENT}|" in said


@pytest.mark.parametrize(
    "address", ["http://hooks.example.com/x", "ftp://x", "hooks.example.com", "file:///etc/passwd"]
)
def test_only_https_or_this_machine_is_told(address):
    with pytest.raises(WebhookError, match="not an https address"):
        target_of(address)


@pytest.fixture
def watch(lake, monkeypatch):
    """Return a watch of one run whose evidence is there already; what it judges is what the test has published."""
    monkeypatch.setattr(
        ingest.collect, "collect", lambda *_, **__: SimpleNamespace(stored_count=0, gaps=(), readings=())
    )
    monkeypatch.setattr(spark_jobs.context, "spark_context", lambda *_: None)
    monkeypatch.setattr(spark_jobs.runner, "correlate", lambda lake, *_, **__: lake.generation())
    monkeypatch.setattr("cli.watch.threading", SimpleNamespace(Event=lambda: SimpleNamespace(wait=lambda _: False)))

    def run(*more: str, runs: int = 1) -> int:
        said = ["watch", world.QUEUE, "--interval", "5s", "--runs", str(runs), "--region", "eu-west-1"]
        return cli.main([*said, "--lake", str(lake.root), *more])

    return run


def test_a_watch_tells_each_change_once(hook, lake, watch, capsys):
    assert watch("--notify") == watch("--notify") == 0

    world.publish(lake, changed(confirmed=2, probable=0), "run-2")
    watch("--notify")
    lines = capsys.readouterr().out.splitlines()

    assert ["1 notice sent" in line for line in lines] == [True, False, True]
    assert "confirmed 2" in hook.got[-1]["blocks"][0]["text"]["text"]
    assert len(hook.got) == 2


def test_what_a_watch_has_told_notify_does_not_tell_again(hook, lake, watch):
    watch("--notify")
    notify(lake)

    assert len(hook.got) == 1


def test_a_watch_tells_nobody_unless_it_is_asked_to(hook, watch):
    assert watch() == 0
    assert hook.got == []


def test_a_failing_webhook_is_one_line_and_the_watch_goes_on(hook, watch, capsys):
    hook.then = [500, 204]

    assert watch("--notify", runs=2) == 0
    said = capsys.readouterr()
    (refused,) = said.err.splitlines()

    assert "127.0.0.1 answered 500" in refused
    assert "SECRET" not in refused
    assert ["1 notice sent" in line for line in said.out.splitlines()] == [False, True]


def test_a_watch_without_an_address_says_so_before_its_first_round(watch, monkeypatch, capsys):
    monkeypatch.delenv("DOUBLETAKE_WEBHOOK", raising=False)

    assert watch("--notify") == 3
    said = capsys.readouterr()

    assert said.out == ""
    assert "DOUBLETAKE_WEBHOOK holds no webhook's address" in said.err


def test_a_test_message_comes_and_nothing_is_recorded(lake, hook, capsys):
    assert cli.main(["notify", "--test", "--lake", str(lake.root), "--kind", "teams"]) == 0
    assert "A test of Doubletake" in str(hook.got)
    assert lake.read(NOTICES).num_rows == 0


def test_a_pager_s_routing_key_goes_into_the_event_and_nowhere_else(lake, monkeypatch, capsys, tmp_path):
    from cli import webhook

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOUBLETAKE_WEBHOOK", "R0UT1NGKEY")
    sent = []
    monkeypatch.setattr(webhook, "post", lambda hook, notice: sent.append((hook.address, hook.routing_key)))
    assert cli.main(["notify", "--lake", str(lake.root), "--kind", "pagerduty"]) == 0

    assert set(sent) == {("https://events.pagerduty.com/v2/enqueue", "R0UT1NGKEY")}
    assert "R0UT1NGKEY" not in str(lake.read(NOTICES).to_pylist()) + str(capsys.readouterr())


class Mailbox:
    """An SMTP server on loopback that keeps what it gets."""

    def __init__(self):
        self.got = []
        self.server = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                link, _ = self.server.accept()
            except OSError:
                return
            with link, link.makefile("rwb") as talk:
                self._talk(talk)

    def _talk(self, talk):
        def say(text):
            talk.write(text + b"\r\n")
            talk.flush()

        say(b"220 ready")
        for line in talk:
            word = line[:4].upper()
            if word == b"DATA":
                say(b"354 go on")
                self.got.append(b"".join(iter(talk.readline, b".\r\n")).decode())
                say(b"250 taken")
            elif word == b"QUIT":
                say(b"221 bye")
                return
            else:
                say(b"250 fine")


def test_e_mail_goes_to_the_mailbox_once(lake, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    box = Mailbox()
    (tmp_path / "doubletake.toml").write_text(
        f'[notify]\nkind = "email"\nsmtp_host = "127.0.0.1"\nsmtp_port = {box.server.getsockname()[1]}\n'
        'alerts = []\nemail_from = "d@example.com"\nemail_to = ["oncall@example.com"]\n'
    )
    for _ in range(2):
        assert cli.main(["notify", "--lake", str(lake.root)]) == 0, capsys.readouterr().err
    box.server.close()

    assert (
        sum("Subject: [Doubletake] payments.fifo: 1 to 2" in re.sub(r"\r?\n ", " ", mail) for mail in box.got) == 1
    ), box.got
    assert all("To: oncall@example.com" in mail for mail in box.got)
