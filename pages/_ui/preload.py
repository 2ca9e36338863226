"""Lets the browser load what draws charts and tables while the server still makes the page.

Streamlit asks for Plotly, the largest of its parts, only when the first chart arrives, and to run it takes a browser longer than
to draw any chart of ours: the page waits for that after it has waited for the server. Told at once, it does both together.
"""

from collections.abc import MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit

from pages._ui.popovers import INTO_POPOVERS

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

PARTS = ("PlotlyChart", "DataFrame")
"""Streamlit's parts, by the beginnings of their files' names, in the order in which pages need them."""
WITH_CHART = ("/incident", "/queue_health", "/fault")
"""Ends of addresses of pages that begin with a chart; the others load the parts once they are at rest."""
_END_OF_HEAD = b"</head>"
_MOST_BYTES = 200_000
"""A page's frame is far smaller; what is larger is not one."""


def parts() -> list[str]:
    """Return the addresses of Streamlit's parts, as its own frame of a page writes them; empty where it names them otherwise."""
    folder = Path(streamlit.__file__).parent / "static" / "static" / "js"
    found = [file.name for part in PARTS for file in sorted(folder.glob(f"{part}.*.js"))]
    return [f"./static/js/{name}" for name in found]


def told(path: str, files: list[str]) -> bytes:
    """Write what the frame of a page says of its parts: which to fetch, and when to run them.

    On a page with a chart they run once the page has asked the server for its content: running Plotly takes a browser
    0.5 s, in which it can ask nothing.
    """
    links = "".join(f'<link rel="modulepreload" crossorigin href="{file}">' for file in files)
    imports = "; ".join(f'import("{file}")' for file in files)
    run = f"() => {{ {imports} }}"
    if path.rstrip("/").endswith(WITH_CHART):
        return f"{links}<script>{INTO_POPOVERS}{_ONCE_ASKED % run}</script>".encode()
    later = f'<script type="module">(self.requestIdleCallback || setTimeout)({run})</script>'
    return f"<script>{INTO_POPOVERS}</script>{later}".encode()


_ONCE_ASKED = """
const Socket = self.WebSocket;
self.WebSocket = class extends Socket {
  send(data) {
    super.send(data);
    if (self.WebSocket === Socket) return;
    self.WebSocket = Socket;
    setTimeout(%s);
  }
};
"""


class Preload:
    """Adds to the frame of every page which of Streamlit's parts it will need."""

    def __init__(self, app: "ASGIApp") -> None:
        self.app = app
        self.files = parts()

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer one request; only what a browser opens as a page is read and added to."""
        asked = dict(scope.get("headers") or ())
        if not self.files or scope["type"] != "http" or asked.get(b"sec-fetch-dest") != b"document":
            await self.app(scope, receive, send)
            return
        plain = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]
        start: MutableMapping[str, Any] = {}
        body = b""

        async def adding(message: MutableMapping[str, Any]) -> None:
            nonlocal body
            if message["type"] == "http.response.start" and _is_page(message):
                start.update(message)
                return
            if message["type"] != "http.response.body" or not start:
                await send(message)
                return
            body += message.get("body", b"")
            if message.get("more_body"):
                return
            whole = body.replace(_END_OF_HEAD, told(scope["path"], self.files) + _END_OF_HEAD, 1)
            kept = [
                (name, value) for name, value in start["headers"] if name.lower() not in (b"content-length", b"etag")
            ]
            await send({**start, "headers": [*kept, (b"content-length", str(len(whole)).encode())]})
            await send({"type": "http.response.body", "body": whole})

        await self.app({**scope, "headers": plain}, receive, adding)


def _is_page(message: MutableMapping[str, Any]) -> bool:
    headers = {name.lower(): value for name, value in message.get("headers", ())}
    length = headers.get(b"content-length", b"0")
    is_html = headers.get(b"content-type", b"").startswith(b"text/html") and b"content-encoding" not in headers
    return message["status"] == 200 and is_html and int(length) < _MOST_BYTES
