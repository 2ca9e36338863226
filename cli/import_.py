"""The command that fills the lake from files: import."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.ledger import count
from cli.options import Everywhere
from cli.output import say, say_lines, warn
from cli.said import count_text, in_words, phrase, term
from forensics.errors import BadTimeError, ForensicsError, SettingsError
from forensics.sentence import as_sentence, both_forms, said

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from forensics.window import TimeWindow
    from ingest.file_run import ImportReport


class BadOptionError(ForensicsError):
    """An option has a value that cannot be meant."""


def import_(
    chosen: Everywhere,
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH", help="Files and folders: CloudWatch exports, deliveries, saved replies, worker logs."
        ),
    ],
    log_group: Annotated[
        list[str] | None,
        typer.Option(
            "--log-group",
            metavar="GROUP[=QUEUE]",
            help="The log group of files that do not name theirs, and the queue whose consumer writes there.",
        ),
    ] = None,
    log_stream: Annotated[
        str | None,
        typer.Option("--log-stream", metavar="NAME", help="The log stream of a file. [default: from its name]"),
    ] = None,
    zone: Annotated[
        str | None,
        typer.Option(
            "--zone", metavar="ZONE", help="The zone of times that do not say theirs: UTC, Europe/Berlin, ..."
        ),
    ] = None,
    account: Annotated[
        str | None,
        typer.Option("--account", metavar="ID", help="The AWS account. [default: from the files or the lake]"),
    ] = None,
    complete_since: Annotated[
        str | None,
        typer.Option(
            "--complete-since",
            metavar="WHEN",
            help="The files hold everything their log groups have from then on, so that a missing line says something.",
        ),
    ] = None,
    complete_until: Annotated[
        str | None, typer.Option("--complete-until", metavar="WHEN", help="The end of that span. [default: now]")
    ] = None,
    guard_table: Annotated[
        str | None,
        typer.Option(
            "--guard-table",
            metavar="NAME",
            help="The idempotency table whose items a file holds. [default: from the export, or the settings' only one]",
        ),
    ] = None,
    observed_at: Annotated[
        str | None,
        typer.Option(
            "--observed-at", metavar="WHEN", help="When saved settings were saved. [default: each file's own time]"
        ),
    ] = None,
) -> int:
    """Read exported and saved files, or evidence bundles, into the lake; no account is needed."""
    from forensics.report.bundle import MANIFEST
    from ingest.bundles import is_bundle

    bundles = [path for path in paths if path.is_file() and is_bundle(path, MANIFEST)]
    for path in bundles:
        _import_bundle(chosen, path)
    if bundles and len(bundles) == len(paths):
        return 0
    paths = [path for path in paths if path not in bundles]
    from cli.progress import importing
    from ingest.file_run import ImportChoices
    from ingest.files import import_files

    now = datetime.now(UTC)
    if account is not None and not (len(account) == 12 and account.isdecimal()):
        raise BadOptionError(
            said("--account {account} is not an AWS account", account=repr(account)), "Give its 12 digits."
        )
    choices = ImportChoices(
        log_groups=tuple(log_group or ()),
        log_stream=log_stream,
        zone=zone_of(zone),
        account_id=account,
        region=chosen.region,
        guard_table=guard_table,
        complete=complete_window(complete_since, complete_until, now),
        observed_at=_moment(observed_at, "--observed-at", now),
        settings=chosen.settings(),
    )
    with importing() as progress:
        report = import_files(chosen.open_lake(), paths, choices, progress, now)
    tallies = report.groups.values()
    count(
        events_seen=sum(done.seen_count for done in tallies),
        events_stored=sum(done.stored_count for done in tallies),
        quarantined=sum(done.quarantined_count for done in tallies),
        gaps=len(report.gaps),
    )
    say_lines(imported(report))
    return report.exit_code


def _import_bundle(chosen: Everywhere, path: Path) -> None:
    """Put a bundle's rows into the lake, and its settings beside them where there are none yet."""
    from forensics.report.bundle import MOST_BYTES, naming
    from forensics.report.evidence_bundle import read_evidence
    from forensics.settings import NAME
    from ingest.bundles import store

    with path.open("rb") as file, naming(path):
        found = read_evidence(file.read(MOST_BYTES + 1))
    lake = chosen.open_lake()
    stored, already = store(lake, found.rows)
    say(
        "Read {name}, the evidence of {incident_id}: {stored} rows are new, {already} were there.",
        name=path.name,
        incident_id=found.incident_id,
        stored=stored,
        already=already,
    )
    if found.redactions:
        say("  Redacted before it was handed on: {names}.", names=", ".join(found.redactions))
    beside, settings = lake.root / NAME, _judged_by(found.settings)
    if settings and not beside.exists():
        beside.write_text(settings, encoding="utf-8")
        say("  Its settings: {beside}; `doubletake correlate` takes them where no others are named.", beside=beside)
    elif settings and beside.read_text(encoding="utf-8") != settings:
        warn("  {beside} holds other settings than the bundle: what is judged by them may differ.", beside=beside)


def _judged_by(text: str) -> str:
    """Return the settings of a bundle that findings rest on, none if they cannot be used.

    Whoever made it has no say in who may look at this lake, where incidents are told, and which account is asked.
    """
    from forensics.settings import Settings
    from forensics.settings_text import bearing_text

    try:
        return bearing_text(Settings.parse(text, "doubletake.toml"))
    except SettingsError as problem:
        warn("  Its settings cannot be used and were left out: {problem}", problem=in_words(problem.sentence))
        return ""


def imported(report: "ImportReport") -> Iterator[str]:
    """Yield what an import read, and what it lacks, in words."""
    from forensics.words import clock_text

    kinds = [
        phrase("{count} {name}", count=count, name=term(form.of(count))) for form, count in sorted(report.files.items())
    ]
    yield phrase("Read {file}: {names}.", file=count_text(sum(report.files.values()), "file"), names=", ".join(kinds))
    for group, done in sorted(report.groups.items()):
        set_aside = done.quarantined_count
        if done.first_at and done.other_count:
            yield phrase(
                "  {group}: {event} of a producer from {start} to {end} UTC, {send} among them, {stored_count} of these new.",
                group=group,
                event=count_text(done.seen_count - set_aside, "log event"),
                start=clock_text(done.first_at),
                end=clock_text(done.last_at),
                send=count_text(done.sends_seen_count, "send"),
                stored_count=done.sends_stored_count,
            )
        elif done.first_at:
            yield (
                phrase(
                    "  {group}: {event} from {start} to {end} UTC, {stored_count} of them new; {n} more could not be read as one and are in quarantine."
                    if set_aside
                    else "  {group}: {event} from {start} to {end} UTC, {stored_count} of them new.",
                    group=group,
                    event=count_text(done.seen_count - set_aside, "log event"),
                    start=clock_text(done.first_at),
                    end=clock_text(done.last_at),
                    stored_count=done.stored_count,
                    **({"n": set_aside} if set_aside else {}),
                )
            )
            if done.sends_seen_count:
                yield phrase(
                    "  {group}: {send} of a producer, {stored_count} of them new.",
                    group=group,
                    send=count_text(done.sends_seen_count, "send"),
                    stored_count=done.sends_stored_count,
                )
        elif set_aside:
            yield phrase(
                "  {group}: no log event was read; {n} could not be read as one and are in quarantine.",
                group=group,
                n=set_aside,
            )
    if report.cleared_count:
        yield phrase(
            "  {piece} that stood in quarantine cleared: the files hold them mended, or no longer.",
            piece=count_text(report.cleared_count, "piece"),
        )
    if report.settings_seen_count:
        yield (
            phrase(
                "  {setting} of queues, functions and mappings, {settings_stored_count} of them new.",
                setting=count_text(report.settings_seen_count, "setting"),
                settings_stored_count=report.settings_stored_count,
            )
        )
    if report.records_seen_count:
        yield (
            phrase(
                "  {redrives}, {records_stored_count} of them new.",
                redrives=count_text(
                    report.records_seen_count,
                    "metric point, change, call, redrive and guard record",
                    "metric points, changes, calls, redrives and guard records",
                ),
                records_stored_count=report.records_stored_count,
            )
        )
    for gap in report.gaps:
        yield f"  {phrase('Gap: ')}{in_words(gap)}"
    for note in report.notes:
        yield f"  {phrase('Note: ')}{in_words(note)}"


def zone_of(name: str | None) -> "ZoneInfo | None":
    """Return the zone that --zone names; raises BadOptionError."""
    from zoneinfo import ZoneInfo

    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as problem:
        raise BadOptionError(
            said("{text} is not a time zone", text=f"--zone {name!r}"),
            "Use an IANA name like UTC, Europe/Berlin or Asia/Tokyo.",
        ) from problem


def complete_window(since: str | None, until: str | None, now: datetime) -> "TimeWindow | None":
    """Return the span that --complete-since and --complete-until name; raises BadOptionError and BadTimeError."""
    from forensics.window import TimeWindow

    if since is None:
        if until is not None:
            raise BadOptionError(
                said("--complete-until {until} is an end without a start", until=repr(until)),
                "Give --complete-since as well.",
            )
        return None
    try:
        return TimeWindow.parse(since, until, now)
    except BadTimeError as problem:
        names = {"--since": "--complete-since", "--until": "--complete-until"}
        raise BadTimeError(_renamed(problem.sentence, names), _renamed(problem.hint, names)) from problem


def _renamed(sentence: str, names: dict[str, str]) -> str:
    """Return a sentence with options named otherwise."""
    english, form = both_forms(sentence)
    for before, after in names.items():
        english, form = english.replace(before, after), form and form.replace(before, after)
    return as_sentence(english, form)


def _moment(text: str | None, option: str, now: datetime) -> datetime | None:
    from forensics.window import TimeWindow

    if text is None:
        return None
    try:
        return min(TimeWindow.parse(text, None, now).start_at, now)
    except BadTimeError as problem:
        raise BadTimeError(_renamed(problem.sentence, {"--since": option}), problem.hint) from problem
