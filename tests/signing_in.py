"""Somebody who visits the dashboard with cookies and a WebSocket, as a browser does, and presses its buttons."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NewSession_pb2 import Config
from websockets.sync.client import connect

from tests.waiting import PATIENCE_S

XSRF = "_streamlit_xsrf"
SAID = ("markdown", "heading", "alert", "text")


def without_authorities(folder: Path) -> dict[str, str]:
    """Return what lets a dashboard look for certificate authorities in a folder without any: the provider here asks for none.

    Else it reads those of the machine for each question to the provider, two thirds of its work.
    """
    return {"SSL_CERT_FILE": "", "SSL_CERT_DIR": str(folder)}


@dataclass
class Seen:
    """What a page showed: its words, its buttons by label, where it sent the visitor, and how the browser is configured."""

    words: str = ""
    buttons: dict[str, str] = field(default_factory=dict)
    sent_to: str = ""
    config: Config = field(default_factory=Config)


class Visitor:
    """One browser's worth of cookies, at one dashboard."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.http = httpx2.Client(timeout=PATIENCE_S, trust_env=False, verify=False)

    def get(self, url: str) -> httpx2.Response:
        """Open an address, here or at the identity provider, and keep its cookies."""
        return self.http.get(url if url.startswith("http") else self.address + url)

    def look(self, press: str = "") -> Seen:
        """Open the first page and, if one is named, press a button on it."""
        self.get("/_stcore/health")  # brings the cookie that guards the others
        token = self.http.cookies.get(XSRF, domain=urlsplit(self.address).hostname)
        cookies = "; ".join(f"{c.name}={c.value}" for c in self.http.cookies.jar if c.path == "/")
        with connect(
            self.address.replace("http", "ws", 1) + "/_stcore/stream",
            origin=self.address,
            subprotocols=["streamlit", token],
            additional_headers={"Cookie": cookies},
            max_size=None,
            proxy=None,
        ) as socket:
            seen = self._run(socket, BackMsg())
            if press:
                question = BackMsg()
                widget = question.rerun_script.widget_states.widgets.add()
                widget.id, widget.trigger_value = seen.buttons[press], True
                seen = self._run(socket, question)
        return seen

    def _run(self, socket, question: BackMsg) -> Seen:
        question.rerun_script.SetInParent()
        socket.send(question.SerializeToString())
        seen = Seen()
        while True:
            reply = ForwardMsg.FromString(socket.recv(PATIENCE_S))
            kind = reply.WhichOneof("type")
            if kind == "auth_redirect":
                seen.sent_to = reply.auth_redirect.url
            elif kind == "new_session":
                seen.config = reply.new_session.config
            elif kind == "delta" and reply.delta.WhichOneof("type") == "new_element":
                element = reply.delta.new_element
                said = element.WhichOneof("type")
                if said == "button":
                    seen.buttons[element.button.label] = element.button.id
                elif said in SAID:
                    seen.words += getattr(element, said).body.replace("\\", "") + "\n"
            elif kind == "script_finished":
                return seen

    def sign_in(self, who: str) -> httpx2.Response:
        """Press the button, name oneself at the identity provider, and come back."""
        at_the_provider = self.get(self.get(self.look("Sign in").sent_to).headers["location"])
        assert at_the_provider.status_code == 200, at_the_provider.text
        answer = self.http.post(at_the_provider.url, data={"sub": who})
        return self.get(answer.headers["location"])

    def sign_out(self) -> httpx2.Response:
        """Press the button, confirm at the identity provider, and come back."""
        asked = self.get(self.get(self.look("Sign out").sent_to).headers["location"])
        back = re.search(r'name="redirect_uri"\s+value="([^"]+)"', asked.text)
        answer = self.http.post(str(asked.url.join("/oauth2/end_session/confirm")), data={"redirect_uri": back[1]})
        return self.get(answer.headers["location"])
