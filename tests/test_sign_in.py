"""Signing in at a real OpenID provider on this machine: who comes in, who does not, and how it ends."""

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from oidc_provider_mock import User, run_server_in_thread
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value, decode_signed_value

import cli
from tests.forensics.report import world
from tests.signing_in import Visitor, without_authorities
from tests.waiting import PATIENCE_S

pytestmark = [pytest.mark.process, pytest.mark.page]
SECRET = "only-for-this-test-and-long-enough-for-it"
CLAIMS = "_streamlit_user"
PEOPLE = [
    User(sub="ana", claims={"email": "ana@example.com", "email_verified": True}),
    User(sub="ben", claims={"email": "ben@team.example.com"}),
    User(sub="eve", claims={"email": "eve@example.org", "email_verified": True}),
    User(sub="unsure", claims={"email": "ana@example.com", "email_verified": False}),
    User(sub="nobody", claims={}),
]


@dataclass
class Served:
    """A dashboard behind a login, at the address its command printed."""

    address: str

    def visitor(self, who: str = "") -> Visitor:
        visitor = Visitor(self.address)
        if who:
            visitor.sign_in(who)
        return visitor


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Serve a lake as a person does; the client's secrets lie beside the settings file, the command runs elsewhere."""
    lake = world.save(tmp_path_factory.mktemp("lake") / "lake").root
    folder, elsewhere = tmp_path_factory.mktemp("settings"), tmp_path_factory.mktemp("elsewhere")
    settings = folder / "doubletake.toml"
    settings.write_text('[access]\nmode = "oidc"\nemails = ["ana@example.com", "@team.example.com"]\n')
    with run_server_in_thread(user_claims=PEOPLE) as provider:
        (folder / ".streamlit").mkdir()
        (folder / ".streamlit" / "secrets.toml").write_text(
            f"""[auth]
redirect_uri = "http://127.0.0.1:{{port}}/oauth2callback"
cookie_secret = "{SECRET}"
client_id = "doubletake"
client_secret = "known to both"
server_metadata_url = "http://localhost:{provider.server_port}/.well-known/openid-configuration"
"""
        )
        command = [
            sys.executable,
            str(Path(cli.__file__).parents[1] / "doubletake"),
            "serve",
            "--lake",
            str(lake),
            "--config",
            str(settings),
        ]
        log = elsewhere / "stderr.txt"
        with log.open("w") as words:
            process = subprocess.Popen(
                command,
                cwd=elsewhere,
                env=os.environ | {"HOME": str(elsewhere)} | without_authorities(elsewhere),
                stdout=subprocess.PIPE,
                stderr=words,
                text=True,
            )
        try:
            address = re.match(r"Dashboard: (http://127\.0\.0\.1:\d+)$", process.stdout.readline())
            assert address, log.read_text()
            yield Served(address[1])
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE_S) == 0
            assert "Traceback" not in log.read_text()
        finally:
            process.kill()
            process.communicate()


def test_a_visitor_is_asked_to_sign_in_and_sees_nothing_else(served):
    seen = served.visitor().look()

    assert list(seen.buttons) == ["Sign in"]
    assert seen.words.split() == ["Doubletake"]


@pytest.mark.parametrize(("who", "email"), [("ana", "ana@example.com"), ("ben", "ben@team.example.com")])
def test_whoever_is_on_the_list_signs_in_and_sees_the_incidents(served, who, email):
    visitor = served.visitor()
    back = visitor.sign_in(who)
    seen = visitor.look()

    assert (back.status_code, back.headers["location"]) == (302, "/")
    assert f"Signed in as {email}" in seen.words
    assert "payments.fifo" in seen.words


REFUSED = {"eve": "eve@example.org is not on the list", "unsure": "is not verified", "nobody": "gave no e-mail address"}


@pytest.mark.parametrize(("who", "why"), REFUSED.items())
def test_whoever_is_not_on_the_list_signs_in_and_sees_why_and_nothing_else(served, who, why):
    seen = served.visitor(who).look()

    assert why in seen.words
    assert "payments" not in seen.words
    assert list(seen.buttons) == ["Sign out"]


def test_whoever_signs_out_is_signed_out_here_and_at_the_provider(served):
    visitor = served.visitor("ana")
    at_the_provider = visitor.get(visitor.look("Sign out").sent_to).headers["location"]

    assert "/oauth2/end_session?" in at_the_provider
    assert not visitor.http.cookies.get(CLAIMS)
    assert list(visitor.look().buttons) == ["Sign in"]


def test_signing_out_comes_back_to_the_dashboard(served):
    back = served.visitor("ana").sign_out()

    assert (back.status_code, back.headers["location"]) == (302, "/")


def with_claims(visitor: Visitor, secret: str = SECRET, **changed: object) -> Visitor:
    """Let the cookie of somebody who signed in say something else, signed with this secret."""
    (cookie,) = (c for c in visitor.http.cookies.jar if c.name == CLAIMS)
    claims = json.loads(decode_signed_value(SECRET, CLAIMS, cookie.value.strip('"')))
    changed = {k: v(claims) if callable(v) else v for k, v in changed.items()}
    cookie.value = create_signed_value(secret, CLAIMS, json.dumps(claims | changed)).decode()
    return visitor


def test_a_sign_in_of_yesterday_is_over_and_a_new_one_lets_in_again(served):
    visitor = with_claims(served.visitor("ana"), iat=lambda claims: claims["iat"] - 13 * 3600)
    seen = visitor.look()

    assert "older than 12 h" in seen.words
    assert "payments" not in seen.words
    assert list(seen.buttons) == ["Sign in"]
    visitor.sign_in("ana")
    assert "payments.fifo" in visitor.look().words


def test_a_cookie_that_somebody_else_signed_is_nobodys(served):
    right = with_claims(served.visitor("eve"), email="ana@example.com")
    forged = with_claims(served.visitor("eve"), "guessed" * 6, email="ana@example.com")

    assert "payments.fifo" in right.look().words, "the cookie is read at all"
    assert list(forged.look().buttons) == ["Sign in"]


def test_whoever_declines_at_the_provider_is_not_signed_in(served):
    visitor = served.visitor()
    form = visitor.get(visitor.get(visitor.look("Sign in").sent_to).headers["location"])
    answer = visitor.http.post(form.url, data={"action": "deny"})
    back = visitor.get(answer.headers["location"])

    assert "error=access_denied" in answer.headers["location"]
    assert back.headers["location"] == "/"
    assert list(visitor.look().buttons) == ["Sign in"]


def test_without_the_providers_client_nothing_is_served(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    Path("doubletake.toml").write_text('[access]\nmode = "oidc"\nemails = ["ana@example.com"]\n')
    code = cli.main(["serve", "--lake", str(tmp_path / "lake")])
    err = capsys.readouterr().err

    assert code == 2
    assert str(tmp_path / ".streamlit" / "secrets.toml") in err
    assert "secrets.example.toml" in err
