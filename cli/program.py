"""The subcommands as one program: each parses, calls one function, prints, and ends with an exit code."""

import gc
import logging
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.ask import ask
from cli.balance import balance
from cli.bundle import bundle
from cli.check import check
from cli.collect import collect
from cli.correlate import correlate
from cli.deliveries import deliveries
from cli.demo import demo
from cli.doctor import doctor
from cli.find import find
from cli.findings import findings
from cli.health import health
from cli.helping import SpokenCommand, SpokenGroup
from cli.import_ import import_
from cli.incidents import incidents
from cli.investigate import investigate
from cli.mark import mark
from cli.marks import marks
from cli.messages import messages
from cli.notify import notify
from cli.options import (
    ConfigOption,
    EndpointOption,
    Everywhere,
    LakeOption,
    LanguageOption,
    ProfileOption,
    QuietOption,
    ReaderGoneError,
    RegionOption,
    WideOption,
    everywhere,
)
from cli.output import (
    OutputUnwritableError,
    about_file,
    be_quiet,
    complain,
    is_disk_full,
    make_streams_ready,
    say,
)
from cli.reconcile import reconcile
from cli.redrive_plan import redrive_plan
from cli.report import report
from cli.runs import runs
from cli.said import speak
from cli.seal import seal
from cli.sequence import sequence
from cli.serve import serve
from cli.settings import settings
from cli.status import status
from cli.suggest import suggest
from cli.usage import of_problem
from cli.verify import verify
from cli.views import views
from cli.waiting import waiting
from cli.watch import watch
from cli.what_if import what_if
from forensics.errors import EXIT_OK, EXIT_USAGE, ForensicsError
from forensics.extras import DISTRIBUTION
from forensics.sentence import said
from forensics.without_pandas import leave_pandas_out

EXIT_BUG = 1
_PANIC = "PanicException"
"""What libraries written in Rust end with where they have a bug; it is no Exception to Python."""
EXIT_INTERRUPTED = 130

app = typer.Typer(
    name="doubletake",
    cls=SpokenGroup,
    help="Incident forensics for Amazon SQS: which messages were processed more than once, how sure that is, and why.",
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        try:
            print(f"doubletake {version(DISTRIBUTION)}")
        except PackageNotFoundError:
            print("doubletake, not installed")
        raise typer.Exit


@app.callback()
def _before(
    ctx: typer.Context,
    lake: LakeOption = None,
    config: ConfigOption = None,
    profile: ProfileOption = None,
    region: RegionOption = None,
    endpoint_url: EndpointOption = None,
    quiet: QuietOption = None,
    wide: WideOption = None,
    language: LanguageOption = None,
    _version: Annotated[
        bool,
        typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Print the version and stop."),
    ] = False,
) -> None:
    ctx.obj = Everywhere(lake, config, profile, region, endpoint_url, quiet, wide, language)


_FILL, _ASK, _REVIEW, _SHOW, _KEEP = (
    "Fill the lake",
    "Ask what happened",
    "Review the week",
    "Show and tell",
    "Look after lake and settings",
)
_KEPT = (
    bundle,
    collect,
    correlate,
    demo,
    doctor,
    import_,
    investigate,
    mark,
    notify,
    reconcile,
    redrive_plan,
    report,
    seal,
    views,
    watch,
)
"""Commands of which the lake keeps a line: they change it, or hand on what is in it."""
_COMMANDS: dict[str, tuple[Callable[..., Any], ...]] = {
    _FILL: (collect, import_, correlate, investigate, watch),
    _ASK: (ask, incidents, messages, deliveries, findings, find, reconcile, redrive_plan),
    _REVIEW: (health, check, waiting, balance, sequence, suggest, what_if),
    _SHOW: (demo, serve, report, bundle, notify, mark, marks, views),
    _KEEP: (status, runs, doctor, seal, verify, settings),
}


def _leave_pandas_out() -> None:
    import pyarrow as pa

    leave_pandas_out(pa.scalar)


for _panel, _commands in _COMMANDS.items():
    for _command in _commands:
        _ready = everywhere(_command, before=_leave_pandas_out, is_kept=_command in _KEPT)
        _name = _command.__name__.rstrip("_").replace("_", "-")
        app.command(name=_name, cls=SpokenCommand, rich_help_panel=_panel)(_ready)


@cache
def whole() -> Any:
    """Return the commands put together, which takes longer than most of them do: once in a process."""
    return typer.main.get_command(app)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; a traceback is only ever shown for a bug, and on demand."""
    args = list(sys.argv[1:] if argv is None else argv)
    if not os.environ.get("DOUBLETAKE_DEBUG"):
        logging.getLogger().addHandler(logging.NullHandler())  # libraries that log have nothing to say to a person
    before = os.umask(0o077)  # evidence is for whoever collects it: lakes, reports, and what Spark writes on the way
    os.umask(before | 0o077)
    make_streams_ready()
    speak(_asked(args).language_code())  # help, and what the command line cannot mean, end before a command could do so
    try:
        code = whole()(args=args or ["--help"], prog_name="doubletake", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else EXIT_OK
    except ForensicsError as problem:
        complain(problem.sentence, problem.hint)
        return problem.exit_code
    except typer.TyperException as problem:
        complain(of_problem(problem), _usage_hint(args))
        return EXIT_USAGE
    except (KeyboardInterrupt, typer.Abort) as problem:
        if isinstance(problem.__cause__, EOFError):  # of a module or a file cut short, which Typer takes for a person's
            return _about_bug(problem.__cause__)
        say("doubletake: stopped; nothing is half-written, and the next run goes on from there")
        return EXIT_INTERRUPTED
    except (ReaderGoneError, BrokenPipeError):
        return _reader_has_enough()
    except SystemExit as problem:
        if isinstance(problem.__context__, BrokenPipeError):  # what draws tables and help ends so
            return _reader_has_enough()
        raise
    except OSError as problem:
        return _about_full_disk(problem) if is_disk_full(problem) else _about_file(problem)
    except BaseException as problem:
        if is_disk_full(problem):
            return _about_full_disk(problem)
        if not isinstance(problem, Exception) and type(problem).__name__ != _PANIC:
            raise
        return _about_bug(problem)
    finally:
        os.umask(before)
        be_quiet(False)
        speak(None)


LOOK_EVERY = 50_000
"""New objects after which a command looks for garbage."""


def whole_process() -> int:
    """Run the command of this process, which ends with it; returns the exit code.

    At its end Python would look twice through all that was loaded for garbage: a fifth of the work of a short command. While
    things are loaded and made it looks less often, another tenth; and numpy's threads for matrices, of which nothing here
    multiplies any, would cost a sixth to start. What this process starts does without them, too.
    """
    gc.set_threshold(LOOK_EVERY)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        return main()
    finally:
        gc.freeze()


def _asked(args: Sequence[str]) -> Everywhere:
    """Return what decides on the language as a command line names it, which need not be one that can be read as a whole."""

    def named(option: str) -> str | None:
        values = [after for before, after in pairwise(args) if before == option]
        values += [arg.partition("=")[2] for arg in args if arg.startswith(f"{option}=")]
        return values[-1] if values else os.environ.get(option.replace("--", "DOUBLETAKE_").upper())

    config = named("--config")
    return Everywhere(lake=named("--lake"), config=Path(config) if config else None, language=named("--language"))


def _reader_has_enough() -> int:
    """Have what is still buffered not fail once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return EXIT_OK


def _usage_hint(args: Sequence[str]) -> str:
    known = {c.name or getattr(c.callback, "__name__", "") for c in app.registered_commands}
    named = next((a for a in args if a in known), None)
    return (
        said("`doubletake {command} --help` shows its options.", command=named)
        if named
        else "`doubletake --help` lists the commands."
    )


def _about_file(problem: OSError) -> int:
    if os.environ.get("DOUBLETAKE_DEBUG"):
        traceback.print_exception(problem)
    complain(
        about_file(problem),
        "Check the path, its permissions and free space, then run it again: nothing is stored twice.",
    )
    return OutputUnwritableError.exit_code


def _about_full_disk(problem: BaseException) -> int:
    if os.environ.get("DOUBLETAKE_DEBUG"):
        traceback.print_exception(problem)
    complain(
        "the disk is full: nothing is half-written, and what was stored before is still there",
        said(
            "Free space for the lake and for temporary files ({where}), then run it again: nothing is stored twice.",
            where=tempfile.gettempdir(),
        ),
    )
    return OutputUnwritableError.exit_code


def _about_bug(problem: BaseException) -> int:
    if os.environ.get("DOUBLETAKE_DEBUG"):
        traceback.print_exception(problem)
    complain(
        said("this is a bug of ours: {what}", what=f"{type(problem).__name__}: {problem}"[:477]),
        "Run it again with DOUBLETAKE_DEBUG=1 to see where, and report that.",
    )
    return EXIT_BUG
