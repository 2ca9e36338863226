"""The command that serves the dashboard: serve."""

from typing import Annotated

import typer

from cli.dashboard import HERE, PortOption, check_exposure, dashboard, ending_on_sigterm
from cli.options import Everywhere
from cli.output import complain, say, warn
from cli.said import in_words, phrase
from forensics.commands import in_lake
from forensics.errors import ForensicsError
from forensics.sign_in import read_sign_in


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
    lake = chosen.open_lake()
    try:
        lake.findings()
    except ForensicsError as problem:
        complain(problem.sentence)
        hint = in_lake(in_words(problem.hint), lake.root)
        warn(f"  {phrase('Until then every page says only that.')} {hint}")
    with ending_on_sigterm(), dashboard(lake.root, config, port, outside) as running:
        print(
            phrase("Dashboard: {address}", address=sign_in.address(running.port) if sign_in else running.address),
            flush=True,
        )
        say("Ctrl-C ends it.")
        running.wait()
