"""The options every command takes, before or after its name."""

import functools
import getpass
import inspect
import os
import stat
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import complete
from cli.complete import DEFAULT_LAKE
from cli.ledger import kept_run
from cli.output import be_quiet, be_wide, is_disk_full, warn
from cli.said import in_words, speak
from forensics.choices import LANGUAGES
from forensics.errors import ForensicsError
from forensics.sentence import said

if TYPE_CHECKING:
    from forensics.lake import Findings, Lake
    from forensics.settings import Settings
    from ingest.clients import Aws

_PANEL = "Everywhere"
_DEFAULT_OF = {"demo": "demo-lake"}
"""Commands that have a lake of their own where none is named."""

LakeOption = Annotated[
    str | None,
    typer.Option(
        "--lake",
        metavar="FOLDER",
        envvar="DOUBLETAKE_LAKE",
        help=f"The lake's folder. [default: ./{DEFAULT_LAKE}]",
        rich_help_panel=_PANEL,
    ),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        envvar="DOUBLETAKE_CONFIG",
        help="The settings file. [default: ./doubletake.toml, then LAKE/doubletake.toml]",
        rich_help_panel=_PANEL,
    ),
]
ProfileOption = Annotated[
    str | None,
    typer.Option("--profile", metavar="NAME", help="AWS profile. [default: AWS_PROFILE]", rich_help_panel=_PANEL),
]
RegionOption = Annotated[
    str | None,
    typer.Option("--region", metavar="NAME", help="AWS region. [default: AWS_REGION]", rich_help_panel=_PANEL),
]
EndpointOption = Annotated[
    str | None,
    typer.Option(
        "--endpoint-url",
        metavar="URL",
        help="Another AWS endpoint. [default: AWS_ENDPOINT_URL]",
        rich_help_panel=_PANEL,
    ),
]
QuietOption = Annotated[
    bool | None,
    typer.Option("--quiet", "-q", help="On stderr only what went wrong or lacks.", rich_help_panel=_PANEL),
]
WideOption = Annotated[
    bool | None,
    typer.Option(
        "--wide",
        help="Tables with every column, a line for each row, in a narrow terminal too.",
        rich_help_panel=_PANEL,
    ),
]
LanguageChoice = StrEnum("LanguageChoice", {code.upper(): str(code) for code in LANGUAGES})  # type: ignore[misc]
LanguageOption = Annotated[
    LanguageChoice | None,
    typer.Option(
        "--language",
        envvar="DOUBLETAKE_LANGUAGE",
        help="The language of what is printed and of reports. [default: [team] language of the settings file, else en]",
        rich_help_panel=_PANEL,
    ),
]
QueueOption = Annotated[
    str | None, typer.Option("--queue", metavar="NAME", autocompletion=complete.queues, help="Only this queue.")
]
QueueArgument = Annotated[
    str | None, typer.Argument(metavar="QUEUE", autocompletion=complete.queues, help="The queue's name or ARN.")
]
OnlyQueueArgument = Annotated[
    str | None, typer.Argument(metavar="[QUEUE]", autocompletion=complete.queues, help="Only this queue.")
]
SameQueueOption = Annotated[
    str | None, typer.Option("--queue", metavar="NAME", autocompletion=complete.queues, help="The same as QUEUE.")
]
WithoutMarksOption = Annotated[
    bool, typer.Option("--without-marks", help="The logs' own figures, without what people set aside.")
]
WeekOption = Annotated[
    str | None, typer.Option("--week", metavar="WEEK", help="An ISO week like 2026-W47. [default: the newest]")
]
SinceOption = Annotated[
    str | None,
    typer.Option("--since", metavar="WHEN", help="Start: a span back from now (90m, 6h, 2d) or a time with a zone."),
]
UntilOption = Annotated[
    str | None, typer.Option("--until", metavar="WHEN", help="End, written like --since. [default: now]")
]
LogGroupOption = Annotated[
    list[str] | None,
    typer.Option(
        "--log-group", metavar="GROUP[=QUEUE]", help="A worker's log group, and the queue it consumes; repeatable."
    ),
]
MasterOption = Annotated[
    str | None,
    typer.Option(
        "--master", metavar="URL", help="A Spark cluster, e.g. spark://host:7077. [default: inside this process]"
    ),
]
SHARED: dict[str, Any] = {
    "lake": LakeOption,
    "config": ConfigOption,
    "profile": ProfileOption,
    "region": RegionOption,
    "endpoint_url": EndpointOption,
    "quiet": QuietOption,
    "wide": WideOption,
    "language": LanguageOption,
}


_SAID = (ForensicsError, typer.Abort, typer.Exit, typer.TyperException)
"""What says by itself what happened."""


class ReaderGoneError(Exception):
    """Whoever read our output has stopped reading."""


class QueueNotNamedError(ForensicsError):
    """The command line does not say which queues, or says it twice."""


def one_queue(argument: str | None, option: str | None) -> str:
    """Return the queue that an argument or --queue names; raises QueueNotNamedError for none, or for two."""
    if (named := either_queue(argument, option)) is None:
        raise QueueNotNamedError("no queue was named", "Give its name: `doubletake status` lists those in the lake.")
    return named


def either_queue(argument: str | None, option: str | None) -> str | None:
    """Return the queue that an argument or --queue names, None for none; raises QueueNotNamedError for two."""
    if argument is not None and option is not None and argument != option:
        raise QueueNotNamedError(
            said("two queues are named, {one} and --queue {other}", one=repr(argument), other=repr(option)),
            "This command takes one: ask twice.",
        )
    return option if argument is None else argument


def _follow_owner(root: Path) -> None:
    """Make new files of a lake as open to its group as its owner made the folder, and to nobody else.

    Only where they become that group's: the folder hands its group on (setgid), or it is this process's own.
    """
    try:
        status = root.stat()
    except OSError:
        return
    hands_on = bool(status.st_mode & stat.S_ISGID) or status.st_gid == os.getegid()
    if hands_on and not status.st_mode & 0o007:
        os.umask(0o077 & ~(status.st_mode & 0o070))


@dataclass(frozen=True)
class Everywhere:
    """What was chosen with the options every command takes; None where nothing was said."""

    lake: str | None = None
    config: Path | None = None
    profile: str | None = None
    region: str | None = None
    endpoint_url: str | None = None
    quiet: bool | None = None
    wide: bool | None = None
    language: str | None = None

    def over(self, earlier: "Everywhere") -> "Everywhere":
        """Return these choices, with those made before the command's name where these say nothing."""
        mine = {f.name: getattr(self, f.name) for f in fields(self)}
        return Everywhere(**{name: getattr(earlier, name) if mine[name] is None else mine[name] for name in mine})

    def lake_folder(self, default: str = DEFAULT_LAKE) -> str:
        """Return the chosen folder, else the default."""
        return self.lake or default

    def open_lake(self) -> "Lake":
        """Return the chosen lake, which need not exist yet; raises LakeMissingError for what cannot be one."""
        from forensics.lake import Lake

        lake = Lake(self.lake_folder())
        _follow_owner(lake.root)
        return lake

    def findings(self, queue: str | None = None) -> "Findings":
        """Return the chosen lake's newest findings, and warn where they leave logs out.

        Raises QueueUnknownError where they know nothing of ``queue``.
        """
        from forensics.report.freshness import logs_left_out
        from forensics.report.queue_lookup import check_queue

        found = self.open_lake().findings()
        check_queue(found, queue)
        for sentence in logs_left_out(found.generation):
            warn("{sentence}", sentence=in_words(sentence))
        return found

    def one_queue(self, argument: str | None, option: str | None) -> str:
        """Return the queue that an argument or --queue names, or the lake's only one; raises QueueNotNamedError with their names."""
        if (named := either_queue(argument, option)) is not None:
            return named
        from forensics.nearest import queues_hint
        from forensics.report.queue_lookup import known_queues

        known = known_queues(self.open_lake().findings())
        if len(known) != 1:
            raise QueueNotNamedError("no queue was named", queues_hint("", known))
        return known[0]

    def check_lake(self) -> None:
        """Read the lake's files to the end after a failure nobody foresaw; raises LakeDamagedError if damage explains it.

        Whoever works over files in bulk (Spark, polars) only says that something cannot be decoded, and not where.
        """
        lake = self.open_lake()
        if lake.root.is_dir():
            lake.check_files()

    def settings_file(self) -> Path | None:
        """Return the chosen settings file, else ./doubletake.toml, else the lake's own; None where there is none."""
        from forensics.settings import place_of_settings

        return place_of_settings(self.config, Path(self.lake_folder()))

    def language_code(self) -> str | None:
        """Return the chosen language, else the team's; None where neither is named or the settings file cannot be read."""
        if self.language:
            return str(self.language)
        from forensics.settings import settings_file_text

        with suppress(
            ForensicsError, OSError, ValueError, AttributeError
        ):  # what is wrong with the file, or with its place, is said by whoever reads all of it
            file = self.settings_file()
            return tomllib.loads(settings_file_text(file)).get("team", {}).get("language") if file else None
        return None

    def settings(self) -> "Settings":
        """Read the settings file, or the defaults where there is none; raises SettingsError."""
        from forensics.settings import Settings

        return Settings.load(self.settings_file())


class NotTextError(ForensicsError):
    """What was given on the command line cannot be read as text."""


_FILES = ("lake", "output")
"""Options that name files and are text: a file's name may hold any bytes."""


def login_name() -> str:
    """Return the name of who runs the command; its number where the machine knows no name, as in a container."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}"


def accesses(chosen: Everywhere, settings: "Settings") -> "list[Aws]":
    """Return access to every account and region: those of the settings file, unless the command line names one.

    Raises CredentialsError for a profile that is not there.
    """
    from ingest.clients import Aws

    if chosen.profile or chosen.region or not settings.accounts:
        return [Aws(profile=chosen.profile, region=chosen.region, endpoint_url=chosen.endpoint_url)]
    return [
        Aws(profile=account.profile, region=region, endpoint_url=chosen.endpoint_url or account.endpoint_url)
        for account in settings.accounts
        for region in account.regions or (None,)
    ]


def everywhere(
    command: Callable[..., Any], before: Callable[[], None] | None = None, is_kept: bool = False
) -> Callable[..., Any]:
    """Give a command the shared options, which it gets as its first argument, an Everywhere; ``before`` is called first.

    Of a command that ``is_kept`` the lake keeps a line.
    """
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    keyword = inspect.Parameter.KEYWORD_ONLY
    shared = [inspect.Parameter(name, keyword, default=None, annotation=kind) for name, kind in SHARED.items()]
    context = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)

    @functools.wraps(command)
    def with_shared(ctx: typer.Context, **given: Any) -> Any:
        mine = {name: given.pop(name) for name in SHARED}
        for name in mine:  # what is written before the command's name is nearer than the environment
            if (source := ctx.get_parameter_source(name)) and source.name == "ENVIRONMENT":
                mine[name] = None
        chosen = Everywhere(**mine).over(ctx.obj or Everywhere())
        _check_text({**vars(chosen), **given})
        be_quiet(bool(chosen.quiet))
        be_wide(bool(chosen.wide))
        folder = chosen.lake_folder(_DEFAULT_OF.get(command.__name__, DEFAULT_LAKE))
        speak(chosen.language_code(), None if folder == DEFAULT_LAKE else folder)
        if chosen.config and not (given.get("write") and not chosen.config.exists()):
            chosen.settings()  # whoever names a file wants to hear what is wrong with it, also where it decides nothing
        if before:
            before()
        try:
            if not is_kept:
                return command(chosen, **given)
            shared_too = {
                f.name: getattr(chosen, f.name)
                for f in fields(chosen)
                if f.name not in ("lake", "quiet", "wide", "language")
            }
            with kept_run(Path(folder), command.__name__.rstrip("_"), given | shared_too) as exit_codes:
                code = command(chosen, **given)
                exit_codes.append(code if isinstance(code, int) else 0)
                return code
        except BrokenPipeError as problem:  # Typer would end with 1 before main could decide
            raise ReaderGoneError from problem
        except Exception as problem:
            if not (isinstance(problem, _SAID) or getattr(problem, "errno", None) or is_disk_full(problem)):
                chosen.check_lake()
            raise

    parameters = [context, *(p.replace(kind=keyword) for p in own), *shared]
    with_shared.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_shared.__annotations__ = {p.name: p.annotation for p in parameters}
    del with_shared.__wrapped__
    return with_shared


def _check_text(given: Mapping[str, Any]) -> None:
    """Raise NotTextError for a value with bytes that are no text in the terminal's encoding; files may be named so."""
    for name, value in given.items():
        for one in value if isinstance(value, list | tuple) else [value]:
            if isinstance(one, str) and name not in _FILES and any("\ud800" <= char <= "\udfff" for char in one):
                raise NotTextError(
                    said("{text} holds bytes that are no text", text=repr(one)),
                    "Write it in the terminal's own encoding; nearly always that is UTF-8.",
                )
