"""The command that writes a report: an incident's, or a week's."""

import sys
from dataclasses import replace
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli import complete
from cli.options import Everywhere, WithoutMarksOption
from cli.output import check_place, say, write_out
from cli.said import language
from forensics.errors import ForensicsError
from forensics.report.formats import ENDINGS, FORMATS, WEEK_FORMATS, format_of, may_be
from forensics.sentence import said

if TYPE_CHECKING:
    from forensics.report.options import ReportOptions


class ReportNotNamedError(ForensicsError):
    """The command line does not say which report, or asks for what it cannot be."""


ReportFormat = StrEnum("ReportFormat", {name.upper(): name for name in FORMATS})  # type: ignore[misc]
_FILES = ("html", "pdf", "zip")
"""Reports that no terminal can show: written to a file of their own name if none is said."""


def report(
    chosen: Everywhere,
    incident: Annotated[
        str | None, typer.Argument(metavar="INCIDENT", autocompletion=complete.incidents, help="The incident's id.")
    ] = None,
    week: Annotated[
        str | None,
        typer.Option("--week", metavar="WEEK", help="The weekly review of an ISO week like 2026-W47 instead."),
    ] = None,
    format: Annotated[
        ReportFormat | None, typer.Option("--format", help="The kind of file. [default: taken from -o's ending]")
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write it; - is stdout.")
    ] = None,
    zone: Annotated[
        str | None, typer.Option("--zone", metavar="NAME", help="Local times of this zone beside UTC, e.g. Asia/Tokyo.")
    ] = None,
    all_events: Annotated[
        bool, typer.Option("--all-events", help="Every event in the appendix, not only key moments.")
    ] = False,
    short_ids: Annotated[
        bool, typer.Option("--short-ids", help="Only the last 8 characters of message ids in tables.")
    ] = False,
    without_marks: WithoutMarksOption = False,
) -> None:
    """Write the report of an incident, or of a week's queue health, to attach or to send."""
    from forensics.people import people_of
    from forensics.report.case import load_case
    from forensics.report.options import ReportOptions
    from forensics.report.render import file_name, render

    kind = _kind_of(format, output)
    check_place(output)
    options = ReportOptions(language().code, zone, all_events, short_ids)
    if week is not None or incident is None:
        _week_report(chosen, incident, week, kind, output, options, not without_marks)
        return
    findings = chosen.findings()
    case = load_case(findings, incident, people=people_of(findings, not without_marks))
    content = render(case, kind, options)
    if output is None and kind in _FILES and sys.stdout.isatty():
        output = file_name(case, kind)
    write_out(content, output)
    if case.left_out:
        say(
            "The report tells of the first {n} messages; {left_out} are left out of it.",
            n=len(case.messages),
            left_out=case.left_out,
        )
        if output not in (None, "-") and kind not in ("csv", "zip"):
            beside = Path(str(output)).with_suffix(".csv")
            if beside == Path(str(output)):
                beside = beside.with_name(beside.stem + ENDINGS["csv"])
            write_out(render(case, "csv", options), str(beside))
            say("{beside} lists the work of every affected one.", beside=beside)
    if kind == "zip":
        say("SHA-256 of the ZIP: {digest}", digest=sha256(content).hexdigest())


def _kind_of(asked: ReportFormat | None, output: str | None) -> ReportFormat:
    """Return the format that --format or the file's ending names; raises ReportNotNamedError where both name another one."""
    name = "" if output in (None, "-") else Path(str(output)).name
    kind = format_of(name)
    if asked:
        if not may_be(asked, name):
            raise ReportNotNamedError(
                said(
                    "{file} ends as {kind}, and --format says {other}", file=repr(output), kind=kind, other=str(asked)
                ),
                "Leave --format out, or give the file another ending.",
            )
        return asked
    if kind is None and (ending := Path(name).suffix.lstrip(".")):
        raise ReportNotNamedError(
            said("no report is a .{ending} file, as {file} asks", ending=ending, file=repr(output)),
            said("Endings: {names}; or say --format.", names=", ".join(FORMATS)),
        )
    return ReportFormat(kind or "html")


def _week_report(
    chosen: Everywhere,
    incident: str | None,
    week: str | None,
    kind: str,
    output: str | None,
    options: "ReportOptions",
    with_marks: bool,
) -> None:
    """Write the weekly review in one of its forms; raises ReportNotNamedError for what it cannot be."""
    from forensics.health import week_bounds
    from forensics.people import people_of
    from forensics.report.week import load_week
    from forensics.report.week_render import render_week

    if week is None:
        raise ReportNotNamedError(
            "name an incident or --week",
            "`doubletake incidents` lists the incidents; a week is written like --week 2026-W47.",
        )
    week_bounds(week)  # an option that stands where the week was forgotten is told as such
    if incident is not None:
        raise ReportNotNamedError(
            said(
                "both an incident, {incident}, and a week, {week}, are asked for",
                incident=repr(incident),
                week=repr(week),
            ),
            "Ask for one of them.",
        )
    if kind not in WEEK_FORMATS:
        raise ReportNotNamedError(
            said("the weekly review cannot be written as {kind}", kind=repr(str(kind))),
            said("Formats: {names}.", names=", ".join(WEEK_FORMATS)),
        )
    if replace(options, language="en") != type(options)():
        raise ReportNotNamedError(
            "--zone, --all-events and --short-ids are for an incident's report",
            "The weekly review's days are those of zone under [team] in the settings file.",
        )
    findings = chosen.findings()
    review = load_week(findings, chosen.settings(), week, people_of(findings, with_marks))
    content = render_week(review, kind, options.language)
    if output is None and kind == "html" and sys.stdout.isatty():
        output = f"queue-health-{week}.html"
    write_out(content, output)
