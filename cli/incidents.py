"""The command that lists incidents, and the faults they belong to."""

from typing import Annotated, Any

import typer

from cli import complete
from cli.faults import FAULT_TABLE, fault_row, faults_of
from cli.options import Everywhere, OnlyQueueArgument, SameQueueOption, WithoutMarksOption, either_queue
from cli.output import FormatOption, RowFormat, print_rows, say
from cli.rows import say_nothing_found
from cli.said import count_text, in_words
from cli.table import Layout
from forensics.errors import ForensicsError
from forensics.sentence import said
from forensics.verdict.interval import VERDICTS

_INCIDENT_TABLE = Layout(
    ("incident_id", "started_at", "headline", *VERDICTS, "primary_cause", "marks"),
    row=("incident_id", "started_at", "primary_cause"),
    facts=("confirmed", "probable", "possible", "marks"),
    sentences=("headline",),
)


class FaultUnknownError(ForensicsError):
    """A fault that this data version does not have."""


def incidents(
    chosen: Everywhere,
    how: FormatOption = RowFormat.TABLE,
    queue: OnlyQueueArgument = None,
    fault: Annotated[
        str | None,
        typer.Option("--fault", metavar="ID", autocompletion=complete.faults, help="Only incidents of this fault."),
    ] = None,
    each: Annotated[
        bool, typer.Option("--each", help="A row per incident, newest first, instead of per fault.")
    ] = False,
    without_marks: WithoutMarksOption = False,
    same_queue: SameQueueOption = None,
) -> None:
    """List faults, the worst first: incidents of one queue with the same trigger and settings. Other formats list incidents."""
    queue = either_queue(queue, same_queue)
    from forensics.people import aside_text, judged, marks_text, people_of
    from forensics.report.faults import fault_of
    from forensics.report.prevention import by_incident
    from forensics.report.records import counted_record, incident_record
    from forensics.report.standing import standing_incidents

    findings = chosen.findings(queue)
    people = people_of(findings, not without_marks)
    everything = standing_incidents(findings, people)
    ranked = faults_of(findings, everything, people, chosen.settings().weights)
    faults = fault_of(ranked)
    if fault is not None and fault not in {f.fault_id for f in ranked}:
        raise FaultUnknownError(
            said(
                "no fault {fault} in data version {version}",
                fault=repr(fault),
                version=findings.generation.data_version,
            ),
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
        print_rows([fault_row(f, until) for f in ranked if f.fault_id in mine], how, FAULT_TABLE, FAULT_TABLE.columns)
        if len(rows) > len(mine):
            say(
                "{incident} of {fault}; --fault ID lists those of one, --each lists all.",
                incident=count_text(len(rows), "incident"),
                fault=count_text(len(mine), "fault"),
            )
        if aside := aside_text(work for f in ranked if f.fault_id in mine for work in f.set_aside):
            say("Set aside, --without-marks counts them: {aside}.", aside=in_words(aside))
        return
    is_table = how is RowFormat.TABLE
    records: list[dict[str, Any]] = [
        incident_record({**judged(r), "headline": r["headline"]} if is_table else judged(r))
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
    works_aside = {(work.queue_arn, work.work_id): work for r in rows for work in r.get("set_aside") or ()}
    if is_table and (aside := aside_text(works_aside.values())):
        say("Set aside, --without-marks counts them: {aside}.", aside=in_words(aside))
    if is_table and fault is not None:
        from forensics.report.fault_case import load_fault

        if compared := load_fault(findings, next(f for f in ranked if f.fault_id == fault), people).comparison:
            say("Before and since the change: {what}", what=in_words(compared.sentence))


def _columns() -> tuple[str, ...]:
    from forensics.report.records import incident_record

    return (*incident_record({}), "fault_id", "marks", "counted")
