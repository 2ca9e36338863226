"""The dashboard as a process of its own: where it may listen, and that it ends with the command."""

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from forensics.access import LOOPBACK, TRUSTED_PROXY
from forensics.errors import ForensicsError
from forensics.sentence import said
from forensics.sign_in import secrets_files

HERE = LOOPBACK[0]
_ANY_ADDRESS = {"0.0.0.0": HERE, "::": "::1"}  # noqa: S104 - what answers there answers here
DEFAULT_PORT = 8501
START_LIMIT_S = 180.0
END_LIMIT_S = 10.0
PortOption = Annotated[
    int | None,
    typer.Option(
        "--port", min=1, max=65535, help=f"The dashboard's port; {DEFAULT_PORT}, or a free one if it is taken."
    ),
]


class DashboardError(ForensicsError):
    """The dashboard did not start."""


class ExposureError(ForensicsError):
    """The dashboard would be open to people that nobody let in."""


@dataclass(frozen=True)
class Exposure:
    """Where the dashboard listens, the names it answers to, and whether somebody in front decides who may look."""

    address: str = HERE
    hosts: tuple[str, ...] = (HERE, "localhost")
    behind_proxy: bool = False


def check_exposure(address: str, mode: str, trusted_proxy: bool, hosts: list[str]) -> Exposure:
    """Return how the dashboard may be reached; raises ExposureError where nothing would guard it."""
    if address not in LOOPBACK:
        if mode != "oidc" and not trusted_proxy:
            raise ExposureError(
                said(
                    "--address {address} reaches beyond this machine, and nothing guards the dashboard", address=address
                ),
                'Set [access] mode = "oidc" in the settings file, or --trusted-proxy if a proxy asks for a login.',
            )
        if not hosts:
            raise ExposureError(
                said("--address {address} needs the name that people reach it by", address=address),
                "For example: --host doubletake.example.com. Other names are refused, against DNS rebinding.",
            )
    near = _ANY_ADDRESS.get(address, address)  # no name of somebody else's can lead to an address that is written out
    return Exposure(address, tuple(dict.fromkeys((HERE, "localhost", near, *hosts))), trusted_proxy)


@dataclass(frozen=True)
class Running:
    """A dashboard that answers at ``address``."""

    address: str
    port: int
    process: "subprocess.Popen[bytes]"

    def wait(self) -> None:
        """Wait until it ends by itself, and raise DashboardError then."""
        code = self.process.wait()
        raise DashboardError(
            said("the dashboard ended by itself with exit code {code}", code=str(code)), "Its last lines are above."
        )


@contextmanager
def dashboard(lake: Path, config: Path | None, port: int | None, outside: Exposure | None = None) -> Iterator[Running]:
    """Run the dashboard as a process of its own, on loopback if nothing else is said, and end it with the block.

    A person's Ctrl-C ends the block, and with it what runs; that is how it is meant to end.
    """
    outside = outside or Exposure()
    near = _ANY_ADDRESS.get(outside.address, outside.address)
    server = listening(port, outside.address)
    port = int(server.getsockname()[1])
    app = Path(__file__).parents[1] / "app.py"
    options = {
        "server.address": outside.address,
        "server.port": port,
        "server.headless": True,
        "server.fileWatcherType": "none",
        "server.enableCORS": True,
        "server.enableXsrfProtection": True,
        "server.allowedHosts": list(outside.hosts),
        "browser.gatherUsageStats": False,
        "logger.level": "warning",
        "secrets.files": [str(file) for file in secrets_files(config)],
    }
    start = str(app.parent / "pages" / "_ui" / "start.py")
    # Its socket is handed over: a port that were only looked for could be another's by the time it listens there.
    command = [sys.executable, "-P", start, str(app), json.dumps(options), str(server.fileno())]
    environment = {name: value for name, value in os.environ.items() if not name.upper().startswith("AWS_")}
    environment["DOUBLETAKE_LAKE"] = str(lake.absolute())  # it reads the lake: with credentials it could do no more
    environment.pop(TRUSTED_PROXY, None)
    if outside.behind_proxy:
        environment[TRUSTED_PROXY] = "1"
    if config:
        environment["DOUBLETAKE_CONFIG"] = str(config.absolute())
    with server:
        process = subprocess.Popen(
            command,
            cwd=app.parent,  # where its own .streamlit/config.toml is
            env=environment,
            stdin=subprocess.PIPE,  # which ends with us, however we end
            stdout=subprocess.DEVNULL,
            pass_fds=[server.fileno()],
            start_new_session=True,  # a Ctrl-C at the terminal is ours to handle
        )
    try:
        running = Running(f"http://{f'[{near}]' if ':' in near else near}:{port}", port, process)
        _wait_until_healthy(running)
        try:
            yield running
        except KeyboardInterrupt:
            return  # once it answers a person ends it wherever we are, be it before anybody waits
    finally:
        process.terminate()
        if process.stdin:
            process.stdin.close()
        try:
            process.wait(END_LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_healthy(running: Running) -> None:
    """Return when it answers: what asks before it does waits at its socket, which closes with its process."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    question = urllib.request.Request(f"{running.address}/_stcore/health", headers={"Host": "localhost"})  # noqa: S310
    try:
        with direct.open(question, timeout=START_LIMIT_S):
            return
    except OSError as problem:
        raise DashboardError("the dashboard did not start", "Its last lines are above.") from problem


def listening(wanted: int | None, address: str = HERE) -> socket.socket:
    """Listen on the wanted port, else on the default one, else on any that is free.

    Raises DashboardError if it is taken, or if the address is none of this machine's.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    for port in [wanted] if wanted else [DEFAULT_PORT, 0]:
        server = socket.socket(family)
        try:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family is socket.AF_INET6:
                server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            server.bind((address, port))
            server.listen()
        except OSError as problem:
            server.close()
            if isinstance(problem, socket.gaierror) or problem.errno == errno.EADDRNOTAVAIL:
                raise DashboardError(
                    said("{address} is not an address of this machine", address=repr(address)),
                    "Leave --address out, or use 0.0.0.0.",
                ) from problem
            continue
        return server
    raise DashboardError(said("port {port} is taken", port=str(wanted)), "Choose another with --port, or leave it out.")


@contextmanager
def ending_on_sigterm() -> Iterator[None]:
    """Let SIGTERM and a closed terminal end the block as Ctrl-C does, so that every process started inside is ended too.

    A SIGHUP that is ignored stays so: nohup says that a closed terminal ends nothing.
    """

    def end(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    numbers = [n for n in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(n) is not signal.SIG_IGN]
    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
