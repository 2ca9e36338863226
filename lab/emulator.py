"""The embedded AWS's own process: MiniStack behind the layer that answers as AWS does. `lab.aws` starts and ends it.

Protocol with the parent: one line of JSON on stdout names the port; end of file on stdin means "the parent is gone",
however it went, so no emulator outlives the program that wanted it.
"""

import asyncio
import json
import os
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, cast

from lab.function_logs import log_writer
from lab.proxy import Application, LikeAws

ENDING_GRACE_S = 2.0
METRICS_KEPT_S = 455 * 86_400
"""How long AWS keeps metrics; MiniStack would forget them after two weeks."""


class Clock:
    """The emulator's wall clock: real time plus an offset that the lab may set. Sleeps stay real."""

    def __init__(self) -> None:
        self._real = time.time
        self.offset_s = 0.0

    def time(self) -> float:
        """Return the emulated time in seconds since the epoch."""
        return self._real() + self.offset_s

    def iso(self) -> str:
        """Return the emulated time as Lambda writes LastModified."""
        return datetime.fromtimestamp(self.time(), UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "+0000"


def main() -> None:
    """Serve on a free loopback port until stdin ends."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    port = listener.getsockname()[1]
    os.environ["GATEWAY_PORT"] = str(port)  # MiniStack reads it on import and puts it into queue URLs

    clock = Clock()
    time.time = clock.time
    app = _emulated_aws(clock)
    print(json.dumps({"port": port}), flush=True)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    asyncio.run(_serve(app, listener))
    _end_with_children()


def _emulated_aws(clock: Clock) -> Application:
    from ministack.app import app
    from ministack.core import lambda_runtime
    from ministack.services import cloudwatch, lambda_svc

    lambda_svc._emit_lambda_logs = log_writer()
    lambda_runtime.Worker._drain_stderr_bounded = _patient(lambda_runtime.Worker._drain_stderr_bounded)
    cloudwatch.TWO_WEEKS_SECONDS = METRICS_KEPT_S
    lambda_svc._esm_response = _as_played(lambda_svc._esm_response)
    lambda_svc._now_iso = clock.iso  # the one stamp MiniStack does not take from time.time
    return LikeAws(app, clock)


def _as_played(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Show mappings as enabled: a play only keeps the emulator's own poller out, in its story they feed their function."""

    def played(mapping: dict[str, Any]) -> dict[str, Any]:
        told = answer(mapping)
        return told | {"State": "Enabled"} if told.get("State") == "Disabled" else told

    return played


def _patient(lines_of_run: Callable[..., str]) -> Callable[..., str]:
    """Wait longer for what a run printed: on a busy machine lines came after 50 ms, and were lost or the next run's."""

    def wait(worker: Any, **_: float) -> str:
        return lines_of_run(worker, first_line_wait=2.0, idle_confirm=0.2, hard_cap=5.0)

    return wait


async def _serve(app: Application, listener: socket.socket) -> None:
    from hypercorn.asyncio import serve
    from hypercorn.config import Config

    config = Config()
    config.bind = [f"fd://{listener.fileno()}"]
    config.keep_alive_timeout = 75
    config.graceful_timeout = 0.2
    config.loglevel = "WARNING"

    parent_gone = asyncio.Event()
    loop = asyncio.get_running_loop()

    def watch_parent() -> None:
        sys.stdin.buffer.read()
        deadline = threading.Timer(ENDING_GRACE_S, _end_with_children)
        deadline.daemon = True
        deadline.start()
        loop.call_soon_threadsafe(parent_gone.set)

    threading.Thread(target=watch_parent, daemon=True).start()
    await serve(cast(Any, app), config, shutdown_trigger=parent_gone.wait)  # its own ASGI types are narrower


def _end_with_children() -> None:
    """End this process and the function runs it started (they share its process group); leave no files."""
    shutil.rmtree(os.environ["LAB_HOME"], ignore_errors=True)
    if os.getpgrp() == os.getpid():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.killpg(os.getpid(), signal.SIGTERM)
    os._exit(0)


if __name__ == "__main__":
    main()
