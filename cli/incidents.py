"""The command that lists incidents, and the faults they belong to."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.options import Everywhere, QueueOption, WithoutMarksOption
from cli.output import FormatOption, RowFormat, print_rows, say
from cli.rows import say_nothing_found
from forensics.errors import ForensicsError
from forensics.verdict.interval import VERDICTS

if TYPE_CHECKING:
    from forensics.lake import Findings
    from forensics.people import People
    from forensics.people.counting import Row
    from forensics.report.faults import Fault

_INCIDENT_TABLE = ("incident_id", "started_at", "headline", *VERDICTS, "primary_cause", "marks")
_FAULT_TABLE = ("fault_id", "times", "last", "state", "headline", "repeats", "newest_incident")


class FaultUnknownError(ForensicsError):
    """A fault that this data version does not have."""


def incidents(
    chosen: Everywhere,
    how: FormatOption = RowFormat.TABLE,
    queue: QueueOption = None,
    fault: Annotated[str | None, typer.Option("--fault", metavar="ID", help="Only incidents of this fault.")] = None,
    each: Annotated[
        bool, typer.Option("--each", help="A row per incident, newest first, instead of per fault.")
    ] = False,
    without_marks: WithoutMarksOption = False,
) -> None:
    """List faults, the worst first: incidents of one queue with the same trigger and settings. Other formats list incidents."""
    from forensics.people import aside_text, judged, marks_text, people_of
    from forensics.report.faults import fault_of
    from forensics.report.prevention import by_incident
    from forensics.report.queue_lookup import check_queue
    from forensics.report.records import counted_record, incident_record
    from forensics.tables.findings import INCIDENTS
    from forensics.words import count_text

    findings = chosen.open_lake().findings()
    check_queue(findings, queue)
    people = people_of(findings, not without_marks)
    everything = people.counted(findings.read(INCIDENTS).to_pylist())
    ranked = _faults(findings, everything, people)
    faults = fault_of(ranked)
    if fault is not None and fault not in {f.fault_id for f in ranked}:
        raise FaultUnknownError(
            f"no fault {fault!r} in data version {findings.generation.data_version}",
            "`doubletake incidents` lists them.",
        )
    rows = [r for r in everything if queue in (None, r["queue"]) and fault in (None, faults[r["incident_id"]].fault_id)]
    rows.sort(
        key=lambda r: (
            r["started_at"] is None,
            -r["started_at"].timestamp() if r["started_at"] else 0,
            r["incident_id"],
        )
    )
    if not rows:
        print_rows([], how, _INCIDENT_TABLE, _columns())
        say_nothing_found(findings, queue)
        return
    if how is RowFormat.TABLE and fault is None and not each:
        mine = {faults[r["incident_id"]].fault_id for r in rows}
        until = findings.generation.data_until_at
        print_rows([_line(f, until) for f in ranked if f.fault_id in mine], how, _FAULT_TABLE, _FAULT_TABLE)
        if len(rows) > len(mine):
            say(
                f"{count_text(len(rows), 'incident')} of {count_text(len(mine), 'fault')}; --fault ID lists those of one, --each lists all."
            )
        if aside := aside_text(work for f in ranked if f.fault_id in mine for work in f.set_aside):
            say(f"Set aside, --without-marks counts them: {aside}.")
        return
    is_table = how is RowFormat.TABLE
    records: list[dict[str, Any]] = [
        incident_record(r if is_table else judged(r))
        | {
            "fault_id": faults[r["incident_id"]].fault_id,
            "marks": marks_text(people.of(r["incident_id"]).whole),
            "counted": counted_record(r),
        }
        for r in rows
    ]
    if how in (RowFormat.JSON, RowFormat.JSONL):
        prevention = by_incident(findings)
        records = [r | {"counterfactuals": prevention.get(r["incident_id"], [])} for r in records]
    print_rows(records, how, _INCIDENT_TABLE, _columns())


def _columns() -> tuple[str, ...]:
    from forensics.report.records import incident_record

    return (*incident_record({}), "fault_id", "marks", "counted")


def _faults(findings: "Findings", rows: "list[Row]", people: "People") -> "list[Fault]":
    from forensics.lake.filters import one_of
    from forensics.report.faults import faults, shares_works
    from forensics.tables.findings import MESSAGES

    ids = shares_works(rows)
    columns = ["incident_id", "queue_arn", "work_id", "verdict"]
    shared = findings.read(MESSAGES, columns, one_of("incident_id", ids)).to_pylist() if len(ids) > 1 else []
    return faults(rows, findings.generation.data_until_at, people.messages(shared))


def _line(fault: "Fault", until: Any) -> dict[str, Any]:
    from forensics.words import clock_text, interval_text

    return {
        "fault_id": fault.fault_id,
        "times": len(fault.incidents),
        "last": clock_text(fault.newest["started_at"])[:16],
        "state": fault.state(until),
        "headline": fault.headline,
        "repeats": interval_text(*fault.repeats),
        "newest_incident": fault.newest["incident_id"],
    }
