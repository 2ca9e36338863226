"""Commands of the weekly review: health and check, and the review as a file."""

import json
import sys
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.findings import QueueOption
from cli.options import Everywhere
from cli.output import FormatOption, RowFormat, print_rows, say, write_out
from forensics.errors import EXIT_CHECK_FAILED, EXIT_OK, ForensicsError, QueueUnknownError

if TYPE_CHECKING:
    from forensics.report import ReportOptions

_HEALTH_TABLE = (
    "week",
    "queue",
    "need",
    "why",
    "redelivered",
    "trend",
    "twice",
    "timeouts",
    "dead_lettered",
    "p95_age_s",
    "p99_handler_ms",
)
_CHECK_TABLE = ("queue", "consumer", "severity", "code", "sentence", "advice")
_GRAVITY = ("critical", "warning", "note")

WeekOption = Annotated[
    str | None, typer.Option("--week", metavar="WEEK", help="An ISO week like 2026-W47; the newest if not said.")
]


class ReportNotNamedError(ForensicsError):
    """The command line does not say which report, or asks for what it cannot be."""


class ChecksMissingError(ForensicsError):
    """No settings were read: there is nothing a check could look at."""


class CheckFormat(StrEnum):
    """How the checks' answers are printed."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    SARIF = "sarif"


class FailOn(StrEnum):
    """From which severity on a failed check is an exit code."""

    CRITICAL = "critical"
    WARNING = "warning"
    NOTE = "note"
    NEVER = "never"


def health(
    chosen: Everywhere,
    how: FormatOption = RowFormat.TABLE,
    weeks: Annotated[int, typer.Option("--weeks", min=1, max=60, help="How many weeks, the newest first.")] = 1,
    week: WeekOption = None,
    queue: QueueOption = None,
) -> None:
    """Rank the queues by need, week by week: why each needs work, and the numbers behind it."""
    from forensics.health import weeks_before
    from forensics.report.week import WEEK_COLUMNS, load_week, spark_line, week_record, weeks_read
    from forensics.report.week_render import headline
    from forensics.report.words import interval_text

    findings, settings = chosen.open_lake().findings(), chosen.settings()
    newest = load_week(findings, settings, week)
    read = set(weeks_read(findings))
    asked = [w for w in reversed(weeks_before(newest.week, weeks)) if w in read]
    reviews = [newest, *(load_week(findings, settings, w) for w in asked[1:])]
    known = sorted({q.queue for q in newest.queues})
    if queue is not None and queue not in known:
        raise QueueUnknownError(
            f"nothing was read for queue {queue!r}", f"There is: {', '.join(known) or 'no queue at all'}."
        )
    records = [week_record(r, q) for r in reviews for q in r.queues if queue in (None, q.queue)]
    if how is not RowFormat.TABLE:
        print_rows(records, how, (), WEEK_COLUMNS)
        return
    from forensics.health.signals import percent

    shown = [
        record
        | {
            "redelivered": percent(record["redelivered_share"]),
            "trend": spark_line(record["redelivered_trend"]),
            "twice": None
            if record["twice_at_most"] is None
            else interval_text(record["twice_at_least"], record["twice_at_most"]),
            "timeouts": record["timeout_count"],
            "dead_lettered": record["dead_lettered_count"],
            "p95_age_s": record["age_p95_s"],
            "p99_handler_ms": record["handler_p99_ms"],
        }
        for record in records
    ]
    print_rows(shown, how, _HEALTH_TABLE, ())
    until = f", evidence to {newest.data_until_at:%Y-%m-%d %H:%M} UTC" if newest.data_until_at else ""
    say(f"{headline(newest)} in {newest.week} ({newest.zone}{until}).")


def check(
    chosen: Everywhere,
    how: Annotated[CheckFormat, typer.Option("--format", help="How to print the answers.")] = CheckFormat.TABLE,
    queue: QueueOption = None,
    every: Annotated[bool, typer.Option("--all", help="Also checks that passed.")] = False,
    fail_on: Annotated[
        FailOn, typer.Option("--fail-on", help="Exit with 5 if a check of this severity or a graver one failed.")
    ] = FailOn.WARNING,
) -> int:
    """Check the settings of queues, mappings and functions against each other and against what was observed."""
    from forensics.report.sarif import to_sarif
    from forensics.report.week import CHECK_FIELDS, check_records
    from forensics.report.words import count_text

    findings = chosen.open_lake().findings()
    records = check_records(findings, chosen.settings())
    if not records:
        raise ChecksMissingError(
            "this data version holds no settings to check",
            "Collect the queues, then run `doubletake correlate`: nothing checked is not the same as nothing wrong.",
        )
    known = sorted({r["queue"] for r in records})
    if queue is not None and queue not in known:
        raise QueueUnknownError(
            f"queue {queue!r} has no checked settings", f"There is: {', '.join(known) or 'no queue at all'}."
        )
    records = [r for r in records if queue in (None, r["queue"])]
    shown = records if every else [r for r in records if r["status"] != "passes"]
    if how is CheckFormat.SARIF:
        print(to_sarif(shown, findings.generation.data_version))
    elif how is CheckFormat.JSON:
        print(json.dumps(shown, indent=1, allow_nan=False))
    elif how is CheckFormat.TABLE:
        print_rows([_in_words(r) for r in shown], RowFormat.TABLE, _CHECK_TABLE, ())
    else:
        print_rows(shown, RowFormat(how), _CHECK_TABLE, CHECK_FIELDS)
    failed = [r for r in records if r["status"] == "fails" and not r["accepted_until"]]
    counts = {s: sum(r["severity"] == s for r in failed) for s in _GRAVITY}
    accepted = sum(bool(r["accepted_until"]) for r in records)
    unknown = sum(r["status"] == "unknown" for r in records)
    say(
        f"{count_text(len(records), 'answer')}: {counts['critical']:,} critical, "
        f"{count_text(counts['warning'], 'warning')}, {count_text(counts['note'], 'note')}, "
        f"{accepted:,} accepted, {unknown:,} unknown."
    )
    if fail_on is FailOn.NEVER:
        return EXIT_OK
    grave = _GRAVITY[: _GRAVITY.index(fail_on) + 1]
    return EXIT_CHECK_FAILED if any(counts[s] for s in grave) else EXIT_OK


def week_report(
    chosen: Everywhere,
    incident: str | None,
    week: str | None,
    kind: str,
    output: str | None,
    options: "ReportOptions",
) -> None:
    """Write the weekly review as HTML, Markdown or CSV; raises ReportNotNamedError for what it cannot be."""
    from forensics.report.week import load_week
    from forensics.report.week_render import WEEK_FORMATS, render_week

    if week is None:
        raise ReportNotNamedError(
            "the report of what is not said",
            "Name an incident (`doubletake incidents` lists them), or --week 2026-W47.",
        )
    if incident is not None:
        raise ReportNotNamedError(
            f"both an incident, {incident!r}, and a week, {week!r}, are asked for", "Ask for one of them."
        )
    if kind not in WEEK_FORMATS:
        raise ReportNotNamedError(
            f"the weekly review cannot be written as {str(kind)!r}", f"Formats: {', '.join(WEEK_FORMATS)}."
        )
    if replace(options, language="en") != type(options)():
        raise ReportNotNamedError(
            "--zone, --all-events and --short-ids are for an incident's report",
            "The weekly review's days are those of zone under [team] in the settings file.",
        )
    content = render_week(load_week(chosen.open_lake().findings(), chosen.settings(), week), kind, options.language)
    if output is None and kind == "html" and sys.stdout.isatty():
        output = f"queue-health-{week}.html"
    write_out(content, output)


def _in_words(record: dict[str, Any]) -> dict[str, Any]:
    """Put what a reader of the table needs into its columns: accepted risks, unknown and passed answers."""
    if record["accepted_until"]:
        return record | {
            "severity": "accepted",
            "advice": f"until {record['accepted_until']}: {record['accepted_reason']}",
        }
    if record["status"] != "fails":
        needs = record["would_decide"]
        return record | {"severity": record["status"], "advice": f"needs {needs}" if needs else None}
    return record
