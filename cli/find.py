"""The command that finds messages by any id: find."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.options import Everywhere
from cli.output import FormatOption, RowFormat, print_rows
from forensics.errors import MessageUnknownError

if TYPE_CHECKING:
    from forensics.lake import Findings
    from forensics.report.find import Work

_TABLE = ("queue", "message_id", "found_by", "verdict", "marks", "work_ids", "sentence")
_COLUMNS = (
    "queue",
    "message_id",
    "business_keys",
    "found_by",
    "first_received_at",
    "verdict",
    "marks",
    "incident_id",
    "sentence",
    "work_ids",
)


def find(
    chosen: Everywhere,
    text: Annotated[
        str,
        typer.Argument(
            metavar="ID", help="A message, deduplication or request id, business key, or receipt handle (or its start)."
        ),
    ],
    how: FormatOption = RowFormat.TABLE,
) -> None:
    """Say what happened to a message, by any id that names it, across all ids of the same work."""
    from forensics.report.find import asked_text, reader, works
    from forensics.report.find import find as find_messages

    findings = chosen.open_lake().findings()
    asked, read = asked_text(text), reader(findings)
    found = works(find_messages(asked, read), read)
    if not found:
        raise MessageUnknownError(
            f"{asked!r} names no message in this data version",
            "`doubletake status` shows which sources were read, and until when.",
        )
    print_rows([_record(work, findings) for work in found], how, _TABLE, _COLUMNS)


def _record(work: "Work", findings: "Findings") -> dict[str, Any]:
    from forensics.lake.filters import one_of
    from forensics.report.annotations import marks_beside
    from forensics.report.message_sentence import message_sentence
    from forensics.tables.findings import DELIVERIES, MESSAGES
    from forensics.words import time_text

    where = one_of("item_id", [item for _, item in work.items])
    rows = [d for d in findings.read(DELIVERIES, where=where).to_pylist() if _key(d) in work.items]
    verdicts = {_key(m): m for m in findings.read(MESSAGES, where=where).to_pylist()}
    verdict = verdicts.get(work.hit.key)
    return {
        "queue": work.hit.queue,
        "message_id": work.hit.message_id,
        "business_keys": list(work.hit.business_keys),
        "found_by": list(work.hit.found_by),
        "first_received_at": time_text(work.hit.received_at),
        "verdict": verdict["verdict"] if verdict else None,
        "marks": marks_beside(findings.lake)(verdict["incident_id"], verdict["item_id"]) if verdict else "",
        "incident_id": verdict["incident_id"] if verdict else None,
        "sentence": message_sentence(rows, verdict),
        "work_ids": sorted({item for _, item in work.items}),
    }


def _key(row: dict[str, Any]) -> tuple[str, str]:
    return row["queue_arn"], row["item_id"]
