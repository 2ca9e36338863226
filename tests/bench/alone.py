"""A Chromium with no debugger in its pages, which tell by their own clock when they were drawn.

Playwright asks for every page's runtime (``Runtime.enable``). V8 then looks up source positions while scripts start, which took
0.7 s of the main thread's processor for an incident's page, and nobody has who opens it.
"""

import json
import subprocess
import time
import urllib.request
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from websockets.sync.client import ClientConnection, connect

from tests.pages.browser import FLAGS, browser_path

LIMIT_S = 180.0
_LOOK_EVERY_S = 0.2
_WINDOW = "--window-size=1360,900"


class NothingDrawnError(RuntimeError):
    """A page did not come to what was waited for in LIMIT_S."""


class Alone:
    """A browser with a profile of its own, for the length of a ``with``; what it keeps is warm at a second visit."""

    def __init__(self, profile: Path) -> None:
        self.profile = profile
        self._host = ""

    def __enter__(self) -> Self:
        told = self.profile / "DevToolsActivePort"
        told.unlink(missing_ok=True)
        command = [browser_path(), *FLAGS, f"--user-data-dir={self.profile}", "--remote-debugging-port=0", _WINDOW]
        self._process = subprocess.Popen(
            [*command, "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        until = time.monotonic() + LIMIT_S
        while not (told.exists() and told.read_text().count("\n")):
            if time.monotonic() > until or self._process.poll() is not None:
                self._process.kill()
                raise NothingDrawnError("the browser did not start")
            time.sleep(0.05)
        self._host = f"http://127.0.0.1:{told.read_text().splitlines()[0]}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.wait()

    def visit(self, address: str, watch: str, answer: str) -> dict[str, Any]:
        """Open a page in a new tab with ``watch`` as its first script, and close it once ``answer`` is an object.

        ``answer`` is an expression that is null until then. Adds ``processor_s``, what the main thread worked until then.
        """
        asked = urllib.request.Request(f"{self._host}/json/new?about:blank", method="PUT")  # noqa: S310 - loopback
        with urllib.request.urlopen(asked) as reply:  # noqa: S310
            tab = json.load(reply)
        with connect(tab["webSocketDebuggerUrl"], max_size=None) as socket:
            numbers = count(1)
            ask = lambda method, **values: _ask(socket, next(numbers), method, values)  # noqa: E731
            ask("Page.enable")  # and not Runtime.enable: see above
            ask("Performance.enable", timeDomain="threadTicks")
            ask("Page.addScriptToEvaluateOnNewDocument", source=watch)
            ask("Page.navigate", url=address)
            until = time.monotonic() + LIMIT_S
            found: dict[str, Any] | None = None
            while found is None:
                if time.monotonic() > until:
                    raise NothingDrawnError(f"{address} was not drawn in {LIMIT_S:.0f} s")
                time.sleep(_LOOK_EVERY_S)
                told = ask("Runtime.evaluate", expression=f"JSON.stringify({answer})")
                found = json.loads(told.get("result", {}).get("value") or "null")
            metrics = {m["name"]: m["value"] for m in ask("Performance.getMetrics")["metrics"]}
            ask("Page.close")
        return found | {"processor_s": metrics["TaskDuration"]}


def _ask(socket: ClientConnection, number: int, method: str, values: dict[str, Any]) -> dict[str, Any]:
    """Ask the tab, and wait for its answer; what it tells unasked is passed over."""
    socket.send(json.dumps({"id": number, "method": method, "params": values}))
    while True:
        reply = json.loads(socket.recv(timeout=LIMIT_S))
        if reply.get("id") == number:
            return dict(reply.get("result") or {})
