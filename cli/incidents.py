"""The command that lists incidents."""

from typing import Any

from cli.options import Everywhere, QueueOption
from cli.output import FormatOption, RowFormat, print_rows
from cli.rows import all_of, say_nothing_found
from forensics.verdict.interval import VERDICTS

_INCIDENT_TABLE = ("incident_id", "started_at", "headline", *VERDICTS, "primary_cause", "marks")


def incidents(chosen: Everywhere, how: FormatOption = RowFormat.TABLE, queue: QueueOption = None) -> None:
    """List incidents, newest first."""
    from forensics.report.annotations import marks_beside
    from forensics.report.prevention import by_incident
    from forensics.report.queue_lookup import check_queue
    from forensics.report.records import incident_record
    from forensics.tables.findings import INCIDENTS

    findings = chosen.open_lake().findings()
    check_queue(findings, queue)
    rows = findings.read(INCIDENTS, where=all_of({"queue": queue})).to_pylist()
    rows.sort(
        key=lambda r: (
            r["started_at"] is None,
            -r["started_at"].timestamp() if r["started_at"] else 0,
            r["incident_id"],
        )
    )
    marks = marks_beside(findings.lake)
    records: list[dict[str, Any]] = [incident_record(r) | {"marks": marks(r["incident_id"])} for r in rows]
    if how in (RowFormat.JSON, RowFormat.JSONL):
        prevention = by_incident(findings)
        records = [r | {"counterfactuals": prevention.get(r["incident_id"], [])} for r in records]
    print_rows(records, how, _INCIDENT_TABLE, (*incident_record({}), "marks"))
    if not records:
        say_nothing_found(findings, queue)
