"""Import: files that somebody saved or exported, into the same evidence tables that a collection fills."""

import contextlib
import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from forensics.errors import ForensicsError
from forensics.lake import Lake
from forensics.lake.handle_mark import hold_to_key
from forensics.privacy import redacting
from forensics.sentence import joined, said
from forensics.tables import ALL_TABLES, BY_NAME
from ingest import file_bytes, saved_guard_tables
from ingest.file_bytes import FileDamagedError, FileTooLargeError
from ingest.file_consumers import LogGroups, consumer_rows
from ingest.file_events import read_events
from ingest.file_forms import Form, FoundFile, recognise, utf8_name
from ingest.file_run import ImportChoices, ImportReport, Progress, Run, of_file, saved_at
from ingest.query_results import MESSAGE, QUERY, TIME, do_runs_overlap, shows_runs
from ingest.saved_records import read_records
from ingest.saved_settings import read_settings
from ingest.untimed_lines import survey

CONSUMERS = BY_NAME["consumers"]
_LAYERS = frozenset(table.layer for table in ALL_TABLES)
_ARCHIVE = "a packed archive: unpack it, and import the folder"
NO_LOGS = (Form.SETTINGS, Form.RECORDS, Form.GUARD_TABLE, Form.NOTHING, Form.UNKNOWN)


class FileNotThereError(ForensicsError):
    """A path on the command line cannot be read, or holds nothing that can be imported."""


class ImportUnclearError(ForensicsError):
    """The files lack something that only a person knows: their log group, or the zone of their times."""


def import_files(
    lake: Lake,
    paths: Sequence[Path],
    choices: ImportChoices | None = None,
    progress: Progress | None = None,
    now: datetime | None = None,
) -> ImportReport:
    """Read files and folders into the lake; what is there already, from whatever source, is not stored again.

    Raises, with nothing written: FileNotThereError, ImportUnclearError, TableUnclearError, LakeBusyError, LakeMissingError.
    Raises ConservationError if an event was lost on the way.
    """
    choices, now = choices or ImportChoices(), now or datetime.now(UTC)
    whole = _find(paths, lake.root)
    outside = whole.outside
    found, notes = _surveyed(list(whole.files.values()), choices, now)
    _check_clear(found, choices)
    _check_runs(found, choices)
    saved = {f.name: read_settings(f) for f in found if f.form is Form.SETTINGS}
    settings_rows = [row for s in saved.values() for row in s.rows]
    place, moments = (choices.account_id, choices.region), {f: saved_at(f, choices, now) for f in found}
    is_moment_known = choices.observed_at is not None
    tables = saved_guard_tables.sources(found, choices.settings, choices.guard_table, place, moments, is_moment_known)
    groups = LogGroups.of(lake, choices.log_groups, settings_rows, choices.settings)
    report = ImportReport(Counter(f.form for f in found))
    lake.versions()  # a lake that this release cannot read is said before anything is written
    with redacting(choices.settings) as rules, lake.writing("collect"):
        hold_to_key(lake.root, rules.handle_key, choices.settings.handle_key_file)
        run = Run(lake, choices, groups, report, now, progress or _Silence())
        for file in sorted((f for f in found if f.form is Form.SETTINGS), key=moments.__getitem__):
            run.store_settings(file, saved[file.name])
        for file in sorted((f for f in found if f.form is Form.RECORDS), key=moments.__getitem__):
            run.store_records(file, read_records(file, now))
        tally = saved_guard_tables.store(lake, tables, now)
        report.records_seen_count += tally.seen_count
        report.records_stored_count += tally.stored_count
        report.gaps += tally.gaps
        run.read_logs([f for f in found if f.form not in NO_LOGS or f.damage])
        lake.append(CONSUMERS, consumer_rows(lake, groups, report.read_groups), "consumers|import")
        run.record_coverage()
    report.gaps += whole.gaps
    report.gaps += [of_file(f, _why_unknown(f)) for f in found if _is_unknown(f)]
    report.notes += [*notes, *groups.notes(report.read_groups), *_without_sends(report)]
    if outside:
        report.notes.append(
            said(
                "{file} is a link that leads out of the folder ({count} in all): what it leads to was not read",
                file=repr(outside[0].name),
                count=len(outside),
            )
        )
    return report


def _without_sends(report: ImportReport) -> list[str]:
    """Say which groups of producers hold no send that the settings can tell."""
    return [
        said(
            "no line of {group} is a send as its [[producer]] in the settings describes one, so that none of it was kept",
            group=group,
        )
        for group, done in sorted(report.groups.items())
        if done.other_count and not done.sends_seen_count
    ]


@dataclass
class _Found:
    """What stands below the paths. ``outside`` are links that lead elsewhere, which nobody asked to read; ``gaps`` say in words
    what could not be read.
    """  # noqa: D205

    files: dict[Path, FoundFile] = field(default_factory=dict)
    outside: list[Path] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)


def _find(paths: Sequence[Path], lake_folder: Path) -> _Found:
    found = _Found()
    for given in paths:
        try:
            whole = Path(os.path.realpath(given, strict=True))  # of a loop of links pathlib makes no OSError
            if whole.is_dir():
                list(whole.iterdir())
                _look_through(whole, lake_folder, found)
            elif whole.is_file():
                found.files.setdefault(whole, recognise(whole, utf8_name(Path(whole.name))))
            else:
                raise FileNotThereError(
                    said("{file} is a pipe or a device, which cannot be read twice", file=repr(str(given))),
                    "Save it as a file first.",
                )
        except OSError as problem:
            met = problem.filename or given
            shown = (
                given if Path(met) == given.absolute() else met
            )  # as it was typed; from Python 3.13 on it comes whole
            raise FileNotThereError(
                said("{file} cannot be read: {why}", file=repr(str(shown)), why=problem.strerror or str(problem)),
                "Check the path and its permissions.",
            ) from problem
    if found.outside and not found.files:
        raise FileNotThereError(
            said(
                "{file} and whatever else is there are links that lead out of the folder",
                file=repr(str(found.outside[0])),
            ),
            "Name the folder or the files that they lead to.",
        )
    if all(f.form in (Form.UNKNOWN, Form.NOTHING) for f in found.files.values()):
        shown = ", ".join(repr(str(p)) for p in paths[:3])
        empty = said("nothing that can be imported is in {where}", where=shown)
        gaps = [
            *found.gaps,
            *(of_file(f, f.damage or _ARCHIVE) for f in found.files.values() if f.damage or f.is_archive),
        ]
        if not gaps and not any(f.size_bytes for f in found.files.values()):
            gaps = ["it is empty"]
        raise FileNotThereError(
            joined([empty, gaps[0]], ": ") if gaps else empty,
            "Give CloudWatch exports, deliveries, saved replies of the AWS command line, or logs with times.",
        )
    return found


def _look_through(whole: Path, lake_folder: Path, found: _Found) -> None:
    """Find the files of a folder, but neither hidden ones nor those of a lake: the one that is written, or any other."""
    tables = {log.parent for log in whole.rglob("_delta_log") if log.is_dir()}
    lakes = {table.parents[1] for table in tables if table.parent.name in _LAYERS} - {whole, *whole.parents}
    skipped = tables | lakes | {lake_folder}

    def not_read(path: Path, why: str) -> None:
        found.gaps.append(said("{name}: {why}, so it was not read", name=utf8_name(path.relative_to(whole)), why=why))

    def not_listed(problem: OSError) -> None:
        not_read(Path(problem.filename), said("the folder cannot be listed ({why})", why=problem.strerror))

    here_found: dict[Path, FoundFile] = {}
    for folder, folders, names in os.walk(whole, onerror=not_listed):
        here = Path(folder)
        linked = sorted(name for name in folders if (here / name).is_symlink())
        folders[:] = sorted(f for f in folders if not f.startswith(".") and here / f not in skipped)
        if here in skipped:
            folders.clear()
            continue
        for path in (here / name for name in sorted([*names, *linked]) if not name.startswith(".")):
            try:
                mode = path.stat().st_mode
                if not path.resolve().is_relative_to(whole):
                    found.outside.append(path)
                elif stat.S_ISREG(mode):
                    here_found[path] = recognise(path, utf8_name(path.relative_to(whole)))
                elif not stat.S_ISDIR(mode):
                    not_read(path, next(kind for told, kind in _NO_FILES if told(mode)))
            except OSError as problem:
                not_read(path, said("it cannot be read ({why})", why=problem.strerror or str(problem)))
    for path in sorted(here_found.keys() - found.files.keys()):
        found.files[path] = here_found[path]


_NO_FILES = ((stat.S_ISFIFO, "it is a pipe"), (stat.S_ISSOCK, "it is a socket"), (bool, "it is a device"))


def _surveyed(found: list[FoundFile], choices: ImportChoices, now: datetime) -> tuple[list[FoundFile], list[str]]:
    """Return the files with what the lines of plain logs tell of their times, and notes; refuse lines whose time nothing tells."""
    known, notes = [], []
    for file in found:
        if file.form is Form.WORKER_LOG:
            told = survey(file, now)
            if told.unclear:
                raise ImportUnclearError(*told.unclear)
            notes += [of_file(file, note) for note in told.notes]
            file = replace(file, hints=told.hints, lacks_zone=file.lacks_zone or told.lacks_zone)
        known.append(file)
    return known, notes


def _check_clear(found: list[FoundFile], choices: ImportChoices) -> None:
    nameless = [f for f in found if f.names_no_group]
    if nameless and len(choices.log_groups) != 1:
        raise ImportUnclearError(
            said(
                "{file} ({form}) does not say which log group it is from, and {said}",
                file=repr(nameless[0].name),
                form=nameless[0].form,
                said="several were given" if choices.log_groups else "none was given",
            ),
            "Give --log-group GROUP, or GROUP=QUEUE; import each group's files by themselves.",
        )
    zoneless = next((f for f in found if f.lacks_zone), None)
    if zoneless and choices.zone is None:
        raise ImportUnclearError(
            said("the times in {file} do not say their time zone", file=repr(zoneless.name)),
            "Give --zone, for example --zone UTC or --zone Europe/Berlin.",
        )
    for table in (f for f in found if f.form in (Form.TABLE, Form.QUERY_REPLY) and not {TIME, MESSAGE} <= f.columns):
        raise ImportUnclearError(
            said(
                "{file} ({form}) does not hold {time} and {message}, which log events are read from",
                file=repr(table.name),
                form=table.form,
                time=TIME,
                message=MESSAGE,
            ),
            said("Ask for them: {query}", query=QUERY),
        )
    streamless = [f for f in found if f.form not in NO_LOGS and not f.names_stream]
    if choices.log_stream and len(streamless) != 1:
        raise ImportUnclearError(
            said(
                "--log-stream {stream} names one stream, but {count} files could be it",
                stream=repr(choices.log_stream),
                count=len(streamless),
            ),
            "Import that file by itself.",
        )


def _check_runs(found: list[FoundFile], choices: ImportChoices) -> None:
    """Refuse lines of several environments that nothing tells apart: a run would be given another one's lines."""
    for file in found:
        may_hold_runs = (
            file.form in (Form.TABLE, Form.QUERY_REPLY, Form.TOOL_EXPORT, Form.WORKER_LOG) and not file.names_stream
        )
        if may_hold_runs and shows_runs(file_bytes.head(file.path)) and do_runs_overlap(_whole_events(file, choices)):
            raise ImportUnclearError(
                said(
                    "runs of a function overlap in {file}, and it does not say the log stream of its lines: which run wrote a line cannot be told",
                    file=repr(file.name),
                ),
                said("Save it with the streams: {query}", query=QUERY),
            )


def _whole_events(file: FoundFile, choices: ImportChoices) -> Iterator[Any]:
    """Yield the events of a file up to where it is damaged, which is told when it is read into the lake."""
    with contextlib.suppress(FileDamagedError, FileTooLargeError):
        yield from (e.event for e in read_events(file, choices.zone) if e.reason is None)


def _why_unknown(found: FoundFile) -> str:
    return _ARCHIVE if found.is_archive else "not a log, an export or a saved reply that is known"


def _is_unknown(found: FoundFile) -> bool:
    return found.form is Form.UNKNOWN and found.damage is None


class _Silence:
    def size(self, byte_count: int) -> None:
        pass

    def file(self, name: str) -> None:
        pass

    def bytes(self, byte_count: int) -> None:
        pass
