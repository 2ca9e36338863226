"""The command that checks settings against each other and against what was observed."""

import json
from enum import StrEnum
from typing import Annotated, Any

import typer

from cli.options import Everywhere, OnlyQueueArgument, SameQueueOption, either_queue
from cli.output import RowFormat, print_rows, say
from cli.said import count_text, in_words, phrase
from cli.table import Layout
from forensics.errors import EXIT_CHECK_FAILED, EXIT_OK, ForensicsError, QueueUnknownError
from forensics.sentence import said

_CHECK_TABLE = Layout(
    ("queue", "consumer", "severity", "code", "sentence", "advice"),
    row=("queue", "severity", "code"),
    facts=("consumer",),
    sentences=("sentence", "advice"),
)
_GRAVITY = ("critical", "warning", "note")


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


def check(
    chosen: Everywhere,
    how: Annotated[CheckFormat, typer.Option("--format", help="How to print the answers.")] = CheckFormat.TABLE,
    queue: OnlyQueueArgument = None,
    every: Annotated[bool, typer.Option("--all", help="Also checks that passed.")] = False,
    fail_on: Annotated[
        FailOn, typer.Option("--fail-on", help="Exit with 5 if a check of this severity or a graver one failed.")
    ] = FailOn.WARNING,
    same_queue: SameQueueOption = None,
) -> int:
    """Check the settings of queues, mappings and functions against each other and against what was observed."""
    queue = either_queue(queue, same_queue)
    from forensics.nearest import queues_hint
    from forensics.report.sarif import to_sarif
    from forensics.report.week import CHECK_FIELDS, check_records

    findings = chosen.findings(queue)
    records = check_records(findings, chosen.settings())
    if not records:
        raise ChecksMissingError(
            "this data version holds no settings to check",
            "Collect the queues, then run `doubletake correlate`: nothing checked is not the same as nothing wrong.",
        )
    known = sorted({r["queue"] for r in records})
    if queue is not None and queue not in known:
        raise QueueUnknownError(
            said("queue {queue} has no checked settings", queue=repr(queue)), queues_hint(queue, known)
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
        "{answer}: {critical} critical, {warning}, {note}, {accepted} accepted, {unknown} unknown.",
        answer=count_text(len(records), "answer"),
        critical=counts["critical"],
        warning=count_text(counts["warning"], "warning"),
        note=count_text(counts["note"], "note"),
        accepted=accepted,
        unknown=unknown,
    )
    if fail_on is FailOn.NEVER:
        return EXIT_OK
    grave = _GRAVITY[: _GRAVITY.index(fail_on) + 1]
    return EXIT_CHECK_FAILED if any(counts[s] for s in grave) else EXIT_OK


def _in_words(record: dict[str, Any]) -> dict[str, Any]:
    """Put what a reader of the table needs into its columns: accepted risks, unknown and passed answers."""
    if record["accepted_until"]:
        return record | {
            "severity": "accepted",
            "advice": phrase(
                "until {day}: {reason}",
                day=record["accepted_until"],
                reason=record["accepted_reason"],
            ),
        }
    if record["status"] != "fails":
        needs = record["would_decide"]
        return record | {
            "severity": record["status"],
            "advice": phrase("needs {needs}", needs=in_words(needs)) if needs else None,
        }
    return record
