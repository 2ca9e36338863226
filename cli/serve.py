"""The dashboard: serve it on loopback, and the demo that fills a lake of its own first."""

import errno
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import Everywhere
from cli.output import say
from cli.work import collected, print_verdict
from forensics.access import LOOPBACK, TRUSTED_PROXY
from forensics.errors import ForensicsError
from forensics.extras import need
from forensics.sign_in import read_sign_in, secrets_files
from forensics.window import TimeWindow

if TYPE_CHECKING:
    from forensics.lake import Lake
    from lab.aws import EmbeddedAws
    from lab.played import Played

HERE = LOOPBACK[0]
_ANY_ADDRESS = {"0.0.0.0": HERE, "::": "::1"}  # noqa: S104 - what answers there answers here
DEFAULT_PORT = 8501
START_LIMIT_S = 180.0
END_LIMIT_S = 10.0
DEMO_LAKE = "demo-lake"
DEMO_MARK = ".doubletake-demo"
"""A file in the demo's lake: only a folder that has it is ever emptied."""

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


class DemoLakeError(ForensicsError):
    """The demo's lake would replace something that is not a demo's."""


class NotLiveError(ForensicsError):
    """The scenario cannot be played live."""


def serve(
    chosen: Everywhere,
    port: PortOption = None,
    address: Annotated[
        str,
        typer.Option("--address", metavar="ADDRESS", help="Where to listen; beyond this machine only with a login."),
    ] = HERE,
    host: Annotated[
        list[str] | None, typer.Option("--host", metavar="NAME", help="A name people reach it by; repeatable.")
    ] = None,
    trusted_proxy: Annotated[
        bool, typer.Option("--trusted-proxy", help="A proxy in front decides who may look; no login of our own.")
    ] = False,
) -> None:
    """Serve the dashboard until Ctrl-C; on this machine only, unless a login or a proxy guards it."""
    mode, config = chosen.settings().access.mode, chosen.settings_file()
    sign_in = read_sign_in(config) if mode == "oidc" else None
    outside = check_exposure(address, mode, trusted_proxy, [*(host or []), *([sign_in.host] if sign_in else [])])
    with ending_on_sigterm(), dashboard(chosen.open_lake().root, config, port, outside) as running:
        print(f"Dashboard: {sign_in.address(running.port) if sign_in else running.address}", flush=True)
        say("Ctrl-C ends it.")
        running.wait()


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
                f"--address {address} reaches beyond this machine, and nothing guards the dashboard",
                'Set [access] mode = "oidc" in the settings file, or --trusted-proxy if a proxy asks for a login.',
            )
        if not hosts:
            raise ExposureError(
                f"--address {address} needs the name that people reach it by",
                "For example: --host doubletake.example.com. Other names are refused, against DNS rebinding.",
            )
    return Exposure(address, tuple(dict.fromkeys((HERE, "localhost", *hosts))), trusted_proxy)


def demo(
    chosen: Everywhere,
    scenario: Annotated[
        str, typer.Option("--scenario", metavar="NAME", help="Which incident to play.")
    ] = "double-billing",
    live: Annotated[
        bool, typer.Option("--live", help="Play it with a real queue and function, scaled down in time.")
    ] = False,
    no_serve: Annotated[bool, typer.Option("--no-serve", help="End after the verdict.")] = False,
    port: PortOption = None,
) -> int:
    """Play an incident on an embedded AWS, collect it over HTTP, correlate it, and show it."""
    need("demo", "the demo")
    from forensics.lake import Lake
    from lab.live import LIVE
    from lab.scenarios import SCENARIOS
    from lab.scenarios import scenario as find_scenario

    found = find_scenario(scenario)
    if live and scenario not in LIVE:
        raise NotLiveError(
            f"scenario {scenario!r} cannot be played live",
            f"Live there are: {', '.join(LIVE)}; without --live: {', '.join(SCENARIOS)}.",
        )
    lake = Lake(fresh_demo_lake(Path(chosen.lake_folder(DEMO_LAKE))))
    with ending_on_sigterm():
        played, code = _play_and_judge(found, lake, live)
        window = TimeWindow(played.window_start, played.window_end)
        if no_serve:
            print_verdict(lake.findings(), played.queues, window, chosen_lake=lake.root)
            return code
        from spark_jobs.session import end_session

        end_session()
        with dashboard(lake.root, lake.root / "doubletake.toml", port) as running:
            print_verdict(lake.findings(), played.queues, window, running.address, chosen_lake=lake.root)
            print(f"Dashboard: {running.address}", flush=True)
            say("Ctrl-C ends it.")
            running.wait()
    return code


def fresh_demo_lake(folder: Path) -> Path:
    """Return an empty folder marked as a demo's; raises DemoLakeError rather than empty one that is not."""
    if folder.is_dir() and (folder / DEMO_MARK).is_file():
        for child in folder.iterdir():
            shutil.rmtree(child) if child.is_dir() and not child.is_symlink() else child.unlink()
    elif folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise DemoLakeError(
            f"{str(folder)!r} is there and was not made by a demo",
            f"Let the demo have another folder: --lake ./{DEMO_LAKE}",
        )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / DEMO_MARK).write_text("doubletake demo made this folder and empties it when it runs again\n")
    return folder


def _play_and_judge(found: ModuleType, lake: "Lake", live: bool) -> tuple["Played", int]:
    """Play, collect and correlate; returns what was played and the collection's exit code."""
    from cli.progress import collecting, steps
    from forensics.settings import Settings
    from ingest.clients import Aws
    from ingest.collect import collect
    from lab.aws import EmbeddedAws
    from lab.live import LIVE
    from spark_jobs.runner import correlate

    say(f"Playing {found.NAME}: {found.ABOUT}.")
    with EmbeddedAws() as aws, only_this_aws(aws):
        with steps() as tell:
            if live:
                tell.step(f"embedded AWS at {aws.endpoint_url}: it happens now, which takes a minute or so")
                played: Played = LIVE[found.NAME](aws)
            else:
                tell.step(f"embedded AWS at {aws.endpoint_url}: writing what the incident left behind")
                played = found.play(aws, datetime.now(UTC))
        settings = Settings.parse(played.settings_text, f"the settings of {found.NAME}")
        (lake.root / "doubletake.toml").write_text(played.settings_text, encoding="utf-8")
        say("Collecting over HTTP.")
        window = TimeWindow(played.window_start, played.window_end)
        with collecting() as progress:
            report = collect(lake, Aws(), list(played.queues), window, played.log_groups, settings, progress)
    for line in collected(report):
        say(line)
    say("Correlating.")
    with steps() as progress:
        correlate(lake, settings, progress=progress)
    return played, report.exit_code


@contextmanager
def only_this_aws(aws: "EmbeddedAws") -> Iterator[None]:
    """Point every AWS client of this process at the embedded AWS, whatever account the shell is signed in to."""
    before = dict(os.environ)
    for name in [
        n for n in os.environ if n.startswith("AWS_") or n.upper() in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    ]:
        del os.environ[name]
    os.environ.update(aws.environment())
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@dataclass(frozen=True)
class Running:
    """A dashboard that answers at ``address``."""

    address: str
    port: int
    process: "subprocess.Popen[bytes]"

    def wait(self) -> None:
        """Return when the person ends it; raises DashboardError if it ends by itself."""
        try:
            code = self.process.wait()
        except KeyboardInterrupt:
            return
        raise DashboardError(f"the dashboard ended by itself with exit code {code}", "Its last lines are above.")


@contextmanager
def dashboard(lake: Path, config: Path | None, port: int | None, outside: Exposure | None = None) -> Iterator[Running]:
    """Run the dashboard as a process of its own, on loopback if nothing else is said, and end it with the block."""
    outside = outside or Exposure()
    near = _ANY_ADDRESS.get(outside.address, outside.address)
    port = free_port(port, near)
    app = Path(__file__).parents[1] / "app.py"
    options = {
        "server.address": outside.address,
        "server.port": port,
        "server.headless": "true",
        "server.fileWatcherType": "none",
        "server.enableCORS": "true",
        "server.enableXsrfProtection": "true",
        "browser.gatherUsageStats": "false",
        "logger.level": "warning",
    }
    start = str(app.parent / "pages" / "_ui" / "start.py")
    command = [sys.executable, "-P", start, "run", str(app), *(f"--{k}={v}" for k, v in options.items())]
    for name in outside.hosts:
        command += ["--server.allowedHosts", name]
    for file in secrets_files(config):
        command += ["--secrets.files", str(file)]
    environment = os.environ | {"DOUBLETAKE_LAKE": str(lake.absolute())}
    environment.pop(TRUSTED_PROXY, None)
    if outside.behind_proxy:
        environment[TRUSTED_PROXY] = "1"
    if config:
        environment["DOUBLETAKE_CONFIG"] = str(config.absolute())
    process = subprocess.Popen(
        command,
        cwd=app.parent,  # where its own .streamlit/config.toml is
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,  # a Ctrl-C at the terminal is ours to handle
    )
    try:
        running = Running(f"http://{f'[{near}]' if ':' in near else near}:{port}", port, process)
        _wait_until_healthy(running)
        yield running
    finally:
        process.terminate()
        try:
            process.wait(END_LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_healthy(running: Running) -> None:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    question = urllib.request.Request(f"{running.address}/_stcore/health", headers={"Host": "localhost"})  # noqa: S310
    deadline = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline and running.process.poll() is None:
        try:
            with direct.open(question, timeout=5):
                return
        except OSError:
            time.sleep(0.05)  # it tells nobody when it listens; a process that ended is seen above
    raise DashboardError("the dashboard did not start", "Its last lines are above.")


def free_port(wanted: int | None, address: str = HERE) -> int:
    """Return the wanted port, else the default one, else any that is free.

    Raises DashboardError if it is taken, or if the address is none of this machine's.
    """
    for port in [wanted] if wanted else [DEFAULT_PORT, 0]:
        with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((address, port))
            except OSError as problem:
                if isinstance(problem, socket.gaierror) or problem.errno == errno.EADDRNOTAVAIL:
                    raise DashboardError(
                        f"{address!r} is not an address of this machine", "Leave --address out, or use 0.0.0.0."
                    ) from problem
                continue
            return int(probe.getsockname()[1])
    raise DashboardError(f"port {wanted} is taken", "Choose another with --port, or leave it out.")


@contextmanager
def ending_on_sigterm() -> Iterator[None]:
    """Let SIGTERM end the block as Ctrl-C does, so that every process started inside is ended too."""

    def end(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
