"""What is printed after an investigation: the verdict, and where to look further."""

import shlex
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.faults import FAULT_TABLE, fault_row, faults_of
from cli.output import RowFormat, answer, print_rows
from cli.said import count_text, in_words, language, phrase, term

if TYPE_CHECKING:
    from forensics.lake import Findings
    from forensics.window import TimeWindow

DASHBOARD = "http://127.0.0.1:8501"


def print_verdict(
    findings: "Findings",
    queues: tuple[str, ...],
    window: "TimeWindow",
    dashboard: str | None = None,
    chosen_lake: Path | None = None,
) -> None:
    """Print the verdict on some queues in a window: what is well, the faults, and last, where eyes are, the worst incident."""
    from forensics.lake.filters import one_of
    from forensics.people import people_of
    from forensics.report.case import load_case
    from forensics.report.standing import standing_incidents
    from forensics.report.summary import verdict_text

    people = people_of(findings)
    rows = [
        dict(r)
        for r in standing_incidents(findings, people, one_of("queue", queues))
        if r["started_at"] and r["started_at"] < window.end_at and (r["ended_at"] or r["started_at"]) >= window.start_at
    ]
    lake = f" --lake {shlex.quote(_short(chosen_lake))}" if chosen_lake else ""
    print()
    for queue in queues:
        if queue not in {r["queue"] for r in rows}:
            answer("{queue}: no sign that a message was processed twice in this window.", queue=queue)
    for line in _beside(findings, queues, window, lake):
        answer(line)
    if not rows:
        return
    until = findings.generation.data_until_at
    found = faults_of(findings, rows, people)
    if len(rows) > 1:
        print()
        print_rows([fault_row(fault, until) for fault in found], RowFormat.TABLE, FAULT_TABLE, ())
        answer(
            "{incident} of {fault}; the worst in full follows, all of them with:\n  doubletake incidents --each{lake}",
            incident=count_text(len(rows), "incident"),
            fault=count_text(len(found), "fault"),
            lake=lake,
        )
    worst = _worst(rows, until)["incident_id"]
    serve_first = "" if dashboard else phrase("  (after: doubletake serve{lake})", lake=lake)
    answer(f"\n{verdict_text(load_case(findings, worst, people=people), language())}\n")
    answer(
        "  Timeline: {link}{serve_first}",
        link=timeline_link(dashboard or DASHBOARD, worst),
        serve_first=serve_first,
    )
    answer("  Messages: doubletake messages --incident {incident}{lake}", incident=shlex.quote(worst), lake=lake)
    answer("  Report:   doubletake report {incident} -o report.html{lake}", incident=shlex.quote(worst), lake=lake)


def _worst(rows: list[dict[str, Any]], until: datetime | None) -> dict[str, Any]:
    """Return the incident that needs somebody first: open before over, then by repeats for sure, then the newest."""
    from forensics.report.activity import is_open

    return max(
        rows, key=lambda r: (is_open(r, until), r["extra_effects_at_least"] or 0, r["started_at"], r["incident_id"])
    )


MOST_BESIDE = 2


def _beside(findings: "Findings", queues: tuple[str, ...], window: "TimeWindow", lake: str) -> Iterator[str]:
    """Yield what went wrong with the queues themselves, the newest few of each kind."""
    from forensics.lake.filters import one_of
    from forensics.lake.findings import rows_of
    from forensics.report.prevention import FINDING_WORDS
    from forensics.tables.findings import QUEUE_FINDINGS
    from forensics.words import clock_text

    found = [
        r
        for r in rows_of(findings.read(QUEUE_FINDINGS, where=one_of("queue", queues)))
        if r["from_at"] < window.end_at and (r["until_at"] or r["from_at"]) >= window.start_at
    ]
    for queue in queues:
        for code, words in FINDING_WORDS.items():
            of_code = sorted((r for r in found if (r["queue"], r["code"]) == (queue, code)), key=lambda r: r["from_at"])
            for r in of_code[-MOST_BESIDE:]:
                doubt = phrase("maybe ") if r["stance"] == "undecidable" else ""
                is_of_message = r["message_id"] and code != "fifo_group_blocked"
                which = ", ".join(r["business_keys"] or []) or r["message_id"] if is_of_message else ""
                yield phrase(
                    "{queue}: {doubt}{words}{which}, from {at} UTC: {sentence}.",
                    queue=queue,
                    doubt=doubt,
                    words=term(words),
                    which=f" {which}" if which else "",
                    at=clock_text(r["from_at"]),
                    sentence=in_words(r["sentence"]),
                )
            if len(of_code) > MOST_BESIDE:
                yield phrase(
                    "{queue}: {words}, {n} more before:", queue=queue, words=term(words), n=len(of_code) - MOST_BESIDE
                )
                yield f"  doubletake findings --queue {shlex.quote(queue)} --code {code}{lake}"


def _short(folder: Path) -> str:
    here = Path.cwd()
    return str(folder.relative_to(here)) if folder.is_relative_to(here) else str(folder)


def timeline_link(dashboard: str, incident_id: str) -> str:
    """Return the address of an incident's page."""
    from urllib.parse import quote

    return f"{dashboard}/incident?incident={quote(incident_id, safe='')}"
