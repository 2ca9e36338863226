"""The command that plays an incident on an embedded AWS and shows it: demo."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated

import typer

from cli.collect import collected
from cli.dashboard import PortOption, dashboard, ending_on_sigterm
from cli.options import Everywhere
from cli.output import say, say_lines
from cli.said import in_words, phrase
from cli.verdict import print_verdict
from forensics.errors import ForensicsError
from forensics.extras import need
from forensics.sentence import said
from forensics.window import TimeWindow

if TYPE_CHECKING:
    from forensics.lake import Lake
    from lab.aws import EmbeddedAws
    from lab.played import Played

DEMO_LAKE = "demo-lake"
BOOKS = "charges.csv"
"""In the demo's lake: the ledger of whoever did the work, for `doubletake reconcile`."""
DEMO_MARK = ".doubletake-demo"
"""A file in the demo's lake: only a folder that has it is ever emptied."""


class DemoLakeError(ForensicsError):
    """The demo's lake would replace something that is not a demo's."""


class NotLiveError(ForensicsError):
    """The scenario cannot be played live."""


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
            said("scenario {name} cannot be played live", name=repr(scenario)),
            said(
                "Live there are: {names}; without --live: {others}.", names=", ".join(LIVE), others=", ".join(SCENARIOS)
            ),
        )
    lake = Lake(fresh_demo_lake(Path(chosen.lake_folder(DEMO_LAKE))))
    with ending_on_sigterm():
        played, code = _play_and_judge(found, lake, live)
        window = TimeWindow(played.window_start, played.window_end)
        if no_serve:
            print_verdict(lake.findings(), played.queues, window, chosen_lake=lake.root)
            return code
        from spark_jobs.context import end_spark

        end_spark()
        with dashboard(lake.root, lake.root / "doubletake.toml", port) as running:
            print_verdict(lake.findings(), played.queues, window, running.address, chosen_lake=lake.root)
            print(phrase("Dashboard: {address}", address=running.address), flush=True)
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
            said("{folder} is there and was not made by a demo", folder=repr(str(folder))),
            said("Let the demo have another folder: {command}", command=f"--lake ./{DEMO_LAKE}"),
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

    say("Playing {name}: {about}.", name=found.NAME, about=in_words(found.ABOUT))
    with EmbeddedAws() as aws, only_this_aws(aws):
        with steps() as tell:
            if live:
                tell.step(
                    phrase(
                        "embedded AWS at {address}: it happens now, which takes a minute or so",
                        address=aws.endpoint_url,
                    )
                )
                played: Played = LIVE[found.NAME](aws)
            else:
                tell.step(
                    phrase(
                        "embedded AWS at {address}: writing what the incident left behind",
                        address=aws.endpoint_url,
                    )
                )
                played = found.play(aws, datetime.now(UTC))
        settings = Settings.parse(played.settings_text, f"the settings of {found.NAME}")
        (lake.root / "doubletake.toml").write_text(played.settings_text, encoding="utf-8")
        if played.books:
            (lake.root / BOOKS).write_text(played.books, encoding="utf-8")
        say("Collecting over HTTP.")
        window = TimeWindow(played.window_start, played.window_end)
        with collecting() as progress:
            report = collect(lake, Aws(), list(played.queues), window, played.log_groups, settings, progress)
    say_lines(collected(report))
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
